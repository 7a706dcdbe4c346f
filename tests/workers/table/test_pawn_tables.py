"""Facts about tables with pawns: each row holds the value of its position, and nothing but that."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import chess
import numpy as np
import pawn_oracle
import pyarrow as pa
import pytest
from building import build_unverified
from numpy.typing import NDArray
from pawn_tables import LoggedLevel, analysed, write_closure

from kingpair.workers.errors import ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index import table_index as index_module
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import SIDES, Depth, Row, Side
from kingpair.workers.passlog.history import History
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.format import BLOCK, PLAIN, Table
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.level_joining import join_levels
from kingpair.workers.table.level_parts import write_level_part, written_parts
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.table.value import outcome_of

GOLDEN = Path(__file__).parents[2] / "golden" / "histograms_pawns.csv"
PAWN = Material.parse("KPvK")
SLOW = pytest.mark.slow
BY_THE_ORACLE = ["KPvK", *(pytest.param(name, marks=SLOW) for name in ("KRPvK", "KQvKP"))]


class Written(NamedTuple):
    """A directory of tables."""

    directory: Path
    threads: Threads

    def table(self, name: str) -> Table:
        return Table(write_closure(self.directory, name))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    directory = tmp_path_factory.mktemp("tables")
    with Threads(2) as threads:
        write_closure(directory, "KPvK")
        yield Written(directory, threads)


def moves(plies: int) -> int:
    """A table's value for the oracle's number of plies."""
    return pawn_oracle.moves_of(plies)


# ---- values ----


def oracle_values(table: Table, side: Side) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of all positions with a side to move by our index, and the oracle's values."""
    solution = pawn_oracle.solve(str(table.material))
    nodes, plies = solution.nodes[side], solution.plain("dtc", side)
    men = {
        man: board[: nodes.plain]
        for man, board in zip(solution.endgame.men, nodes.board, strict=True)
    }
    assert len(men) == table.material.men, "like men would hide each other"
    wanted = [("K", 0), ("K", 1)]
    wanted += zip(table.material.letters, table.material.sides, strict=True)
    rows = table.index.rows_of(np.array([men[man] for man in wanted]))
    most = int(np.abs(plies).max())
    by_plies = np.array([moves(value) for value in range(-most, most + 1)])
    return rows, by_plies[plies.astype(np.int64) + most]


@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
@pytest.mark.parametrize("name", BY_THE_ORACLE)
def test_every_position_has_the_value_of_the_oracle(
    written: Written, name: str, side: Side
) -> None:
    table = written.table(name)
    rows, expected = oracle_values(table, side)
    found = table.rows(0, table.index.rows, side)[rows]
    assert len(np.unique(rows)) == len(rows)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
@pytest.mark.parametrize("name", [*BY_THE_ORACLE, pytest.param("KPPvK", marks=SLOW)])
def test_the_footer_counts_what_is_published(written: Written, name: str, side: Side) -> None:
    stated = written.table(name).counts[("white", "black")[side]]
    found = Counter({(r, int(n)): stated[r][n] for r in ("win", "loss") for n in stated[r]})
    expected: Counter[tuple[str, int]] = Counter()
    with GOLDEN.open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["material"], row["metric"], row["stm"]) == (name, "DTC", ("wtm", "btm")[side]):
                positions = int(row["unlabelled_orbits"])
                if row["result"] == "draw":
                    assert stated["draw"] == positions
                else:
                    plies = int(row["ply"]) + (row["result"] == "win")
                    expected[row["result"], plies // 2] += positions
    assert found == expected


def test_the_footer_counts_all_placings_of_the_men(written: Written) -> None:
    for side, stated in written.table("KPvK").counts.items():
        if side != "longest":
            decided = sum(n for r in ("win", "loss") for n in stated[r].values())
            placings = sum(
                1
                for pawn in range(8, 56)
                if pawn % 8 < 4
                for a in range(64)
                for b in range(64)
                if chess.square_distance(a, b) > 1 and pawn not in (a, b)
            )
            assert decided + stated["draw"] + stated["illegal"] == placings


@pytest.mark.parametrize("name", BY_THE_ORACLE)
def test_the_longest_is_the_first_of_its_value(written: Written, name: str) -> None:
    table = written.table(name)
    for side, column in zip(SIDES, ("white", "black"), strict=True):
        values = table.rows(0, table.index.rows, side)
        for result, longest in table.counts["longest"][column].items():
            value = max(values) if result == "win" else min(values)
            row = int(np.argmax(values == value))
            assert outcome_of(int(value)) == result
            assert longest["fen"] == fen_of_row(table.material, Row(row), side)
            assert moves(pawn_oracle.value(longest["fen"], "dtc")) == value


# ---- rows ----


@pytest.mark.parametrize("name", ["KPvK", "KPPvK", "KPvKP", "KRPvKBP", "KBBPvK", "KQvKP"])
def test_a_row_is_found_from_the_squares_of_its_men(name: str) -> None:
    index = table_index(Material.parse(name))
    rows = np.random.default_rng(1).integers(index.rows, size=2000)
    again = index.rows_of(index.squares(rows))
    assert np.array_equal(index.squares(again), index.squares(index.rows_of(index.squares(again))))
    assert np.array_equal(again, index.rows_of(index.squares(again)))
    mirrored = index.squares(rows) ^ 7
    assert np.array_equal(index.rows_of(mirrored), again)


def positions(index_rows: range, side: Side) -> list[bool]:
    """Whether rows of KPvK hold a position, by rules that are not ours."""
    found = []
    for white, black, pawn in table_index(PAWN).squares(np.array(index_rows)).T.tolist():
        board = chess.Board(None)
        for square, letter in ((pawn, "P"), (white, "K"), (black, "k")):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = side == 0
        found.append(len({pawn, white, black}) == 3 and not board.was_into_check())
    return found


@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
def test_a_row_without_a_position_repeats_the_row_before(written: Written, side: Side) -> None:
    values = written.table("KPvK").rows(21 * 3612, 22 * 3612, side)
    held = positions(range(21 * 3612, 22 * 3612), side)
    for row in range(3612):
        if not held[row]:
            assert values[row] == (values[row - 1] if row else 0)


def test_an_arrow_reader_opens_the_table(written: Written) -> None:
    table = written.table("KPvK")
    with pa.ipc.open_file(table.path) as reader:
        sizes = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
        assert sizes == [BLOCK, 24 * 3612 - BLOCK]
        identity = json.loads(reader.schema.metadata[b"kingpair"])
    assert identity["index"] == "24 structures x 3612 king pairs x 64^q"
    assert identity["structures"] == table_index(PAWN).structures.digest  # type: ignore[union-attr]
    assert set(identity["smaller"]) == {"KQvK", "KRvK", "KBvK", "KNvK"}
    table.check()


class OtherStructures(TableIdentity):
    """An identity that states the digest of another list of structures."""

    def json(self) -> str:
        return re.sub('"structures": "[0-9a-f]+"', '"structures": "00"', super().json())


def test_a_table_of_other_structures_is_refused(written: Written, tmp_path: Path) -> None:
    beside(written, tmp_path)
    parts = Parts(tmp_path, written.threads)
    for level in parts.levels:
        parts.write(level)
    table = written.table("KPvK")
    path = parts.join(OtherStructures(table.key, table.smaller))
    with pytest.raises(ForeignTable, match="pawn structures are not ours"):
        Table(path)


# ---- the example of the docstring ----


def test_the_example_of_the_docstring_is_in_its_row(written: Written) -> None:
    text = (index_module.__doc__ or "").partition("An example: ")[2]
    (position,) = re.findall(r"^the row of (.+)", text)
    said: dict[str, str] = dict(re.findall(r"^    (\w+) {2,}(.+)$", text, re.MULTILINE))
    board = chess.Board(position).mirror()
    assert said["colours"].endswith("White to move")
    assert board.turn
    board.apply_transform(chess.flip_horizontal)
    for letter, square in re.findall(r"(?:White )?([KP])([a-h]\d)", said["mirrored"].split(":")[1]):
        assert board.piece_at(chess.parse_square(square)).symbol().upper() == letter  # type: ignore[union-attr]
    kings = [board.king(chess.WHITE), board.king(chess.BLACK)]
    (pawn,) = board.pieces(chess.PAWN, chess.WHITE)
    index, row = table_index(PAWN), int(said["row"].rpartition("= ")[2])
    assert eval(said["row"].partition(" = ")[0]) == row
    assert index.squares(np.array([row]))[:, 0].tolist() == [*kings, pawn]
    place = index.place(Row(row))
    assert said["structure"].endswith(f": {place.structure}")
    assert said["pair"].endswith(f": {place.pair}")
    table = written.table("KPvK")
    assert said["table"] == f"{table.path.name}, column white"
    value = pa.ipc.open_file(table.path).read_all()["white"][row].as_py()
    assert said["value"] == f"{value}: the side to move wins in {value} moves"


# ---- the same bytes ----


def beside(written: Written, directory: Path) -> None:
    """Puts the tables that KPvK rests on into a directory."""
    for letter in "QRBN":
        name = f"K{letter}vK.dtc.arrow"
        (directory / name).symlink_to(written.directory / name)


@pytest.mark.parametrize("count", [1, 3])
def test_bytes_do_not_depend_on_the_number_of_threads(
    written: Written, count: int, tmp_path: Path
) -> None:
    beside(written, tmp_path)
    build_unverified(tmp_path, "KPvK", threads=count)
    path = tmp_path / written.table("KPvK").path.name
    assert path.read_bytes() == written.table("KPvK").path.read_bytes()


class Parts:
    """The levels of KPvK, analysed in a directory; their parts, and the table made of them."""

    def __init__(self, directory: Path, threads: Threads) -> None:
        self.store = TableStore(directory)
        self.key = TableKey(PAWN, Metric.DTC)
        self.identity = TableIdentity(self.key, self.store.smaller_digests(self.key))
        self.threads = threads
        self.levels = list(analysed(self.store, self.key, threads))
        self.written: list[tuple[BuildFolder, list[tuple[int, int]]]] = []

    def write(self, level: LoggedLevel, cuts: Sequence[int] = ()) -> None:
        """Writes a level in parts, cut before these structures."""
        of, ends = level.domain.index.structures, [0, *cuts]
        for number, (first, stop) in enumerate(pairwise([*ends, of])):
            write_level_part(
                level.folder,
                level.folder.part_name(number, 1),
                level.domain,
                level.logs,
                range(first, stop),
                self.identity,
                PLAIN,
                self.threads,
            )
        self.written.append((level.folder, [(number, 1) for number in range(len(ends))]))

    def join(self, identity: TableIdentity) -> Path:
        joined = self.store.build_folder(self.key).part_name(0, 1)
        join_levels(self.store.store, self.written, joined, identity, PLAIN, self.threads)
        return Path(str(self.store.store)) / self.key.file_name


@pytest.mark.parametrize("cuts", [(), (1, 2, 3)])
def test_bytes_do_not_depend_on_how_structures_are_divided(
    written: Written, cuts: tuple[int, ...], tmp_path: Path
) -> None:
    beside(written, tmp_path)
    parts = Parts(tmp_path, written.threads)
    for level in parts.levels:
        parts.write(level, cuts)
        smaller = dict(parts.identity.smaller)
        assert len(written_parts(level.folder, smaller)) == 1 + len(cuts)
        assert not written_parts(level.folder, {**smaller, "KQvK": "of another"})
    path = parts.join(parts.identity)
    assert path.read_bytes() == written.table("KPvK").path.read_bytes()


class Deeper:
    """The passes of an analysis, so many moves deeper."""

    def __init__(self, history: History, by: int) -> None:
        self._history, self._by = history, by
        self.passes = [p._replace(depth=Depth(p.depth + by)) for p in history.passes]
        self.seconds = {depth + by: seconds for depth, seconds in history.seconds.items()}

    def packed_layers(self, chunk: Any) -> Iterator[Any]:
        for found, *packed in self._history.packed_layers(chunk):
            yield found._replace(depth=Depth(found.depth + self._by)), *packed


@pytest.mark.parametrize("deep", [0, 5])
def test_a_value_too_large_for_a_byte_widens_all_rows(
    written: Written, deep: int, tmp_path: Path
) -> None:
    beside(written, tmp_path)
    parts = Parts(tmp_path, written.threads)
    for number, level in enumerate(parts.levels):
        logs: Any = {w: Deeper(logs, 200) for w, logs in level.logs.items()}
        parts.write(level._replace(logs=logs) if number == deep else level, (2,))
    table = Table(parts.join(parts.identity))
    table.check()
    assert table.dtype == np.int16
    size = 4 * 3612
    for side in SIDES:
        usual = written.table("KPvK").rows(0, 24 * 3612, side).astype(np.int16)
        level_rows = usual[deep * size : (deep + 1) * size]
        level_rows += 200 * np.sign(level_rows)
        assert np.array_equal(table.rows(0, 24 * 3612, side), usual)
