"""Tables without pawns for tests of verification: ways to alter them, and the verdict."""

import shutil
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import chess
import numpy as np
from building import publish
from made_once import locked
from numpy.typing import NDArray

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.board import TURN
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.prove.verdict import Verdict
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.fens import fen_at
from kingpair.workers.table.format import PLAIN, Table
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.writing import encode, table_schema

# Like men on either side, forced mates, equal sides, captures after which the weaker side is the
# stronger, and forced conversions.
BUILT = ("KNNvK", "KBBvK", "KRRvK", "KQvKQ", "KRvKN", "KQvKR", "KNvKN")
TABLES = ("KQvK", "KRvK", "KBvK", "KNvK", *BUILT)

Column = NDArray[np.int16]
Columns = list[Column]


def built_by_every_metric() -> Path:
    """The folder of the tables, built once in a run; only to be read."""
    materials = tuple(map(Material.parse, BUILT))
    with locked("verified") as folder:
        for metric in Metric:
            spec = BuildSpec(materials, (metric,))
            build(BuildRequest(spec, folder, threads=2), lambda event: None)
    return folder


def copied(built: Path, out: Path) -> Path:
    """A copy of all tables, which a test may change."""
    for path in built.glob("*.arrow"):
        shutil.copy(path, out)
    return out


def verified(
    out: Path, name: str, threads: Threads, metric: str = "dtc", room: int | None = None
) -> Verdict:
    opened: dict[TableKey, Table] = {}

    def find(key: TableKey) -> Table:
        return opened.setdefault(key, Table(out / key.file_name))

    return verify(find(TableKey.parse(f"{name}.{metric}")), find, threads, room=room)


# Tables that are consistent as files, and altered


def setting(side: Side, rows: int | list[int], value: int) -> Callable[[Columns], None]:
    def change(columns: Columns) -> None:
        columns[side][rows] = value

    return change


def columns_of(table: Table) -> Columns:
    return [
        np.concatenate([table.values(pair, side) for pair in range(len(TURNED))]).astype(np.int16)
        for side in SIDES
    ]


def rewrite(
    out: Path,
    name: str,
    values: Callable[[Columns], Any] = lambda columns: None,
    counts: Callable[[dict[str, Any]], Any] = lambda counts: None,
    metric: str = "dtc",
    dtype: type[np.signedinteger[Any]] | None = None,
    digests: Mapping[int, str] = MappingProxyType({}),
) -> None:
    """Write a table again with other values or counts, all digests in order but those given."""
    table = Table(out / f"{name}.{metric}.arrow")
    columns, stated = columns_of(table), table.counts
    values(columns)
    counts(stated)
    identity = TableIdentity(table.key, table.smaller)
    kind = np.dtype(dtype or table.dtype)
    white, black = (column.astype(kind) for column in columns)
    part = encode(table_schema(identity, kind), white, black, PLAIN)
    for place, digest in digests.items():
        part.blocks.digests[place] = digest
    publish(table.path, identity, kind, [part], stated)


def everything(column: Column) -> NDArray[np.bool_]:
    return np.ones(column.shape, np.bool_)


def legal_rows(
    path: Path, side: Side, count: int = 1, wanted: Callable[[Column], Any] = everything
) -> list[int]:
    """Some rows that hold a position and a value as wanted, by another program's rules of chess."""
    table = Table(path)
    rows = np.flatnonzero(wanted(columns_of(table)[side]))
    np.random.default_rng(len(rows)).shuffle(rows)
    sound = (
        row
        for row in map(int, rows)
        if is_canonical(table.material, row) and has_position(table.material, row, side)
    )
    return list(islice(sound, count))


def is_canonical(material: Material, row: int) -> bool:
    pair, slot = divmod(row, 64 ** len(material.letters))
    count = len(material.letters)
    squares = [slot >> 6 * (count - 1 - i) & 63 for i in range(count)]
    turned = [int(TURN[4][s]) for s in squares]
    for men in material.like_men:
        for placed in (squares, turned):
            ordered = sorted(placed[i] for i in men)
            if placed is squares and ordered != [placed[i] for i in men]:
                return False
            for man, square in zip(men, ordered, strict=True):
                placed[man] = square
    on_diagonal = all(king % 9 == 0 for king in TURNED.squares[pair])
    return not on_diagonal or squares <= turned


def has_position(material: Material, row: int, side: Side) -> bool:
    pair, slot = divmod(row, 64 ** len(material.letters))
    board = chess.Board(fen_at(material, pair, slot, side))
    return len(board.piece_map()) == material.men and not board.was_into_check()
