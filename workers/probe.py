"""Asking finished tables: nothing is built, no cluster and no server is needed.

    with open_tablebase("tables") as tablebase:
        tablebase.probe_wdl("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1")  # 1: White wins
        tablebase.probe_dtc("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1")  # 31: moves to mate or conversion

Positions are FEN strings, or anything with a `fen()` method such as python-chess's Board.  Values
are those of the side to move, as python-chess's probers give them: `wdl` is 1, 0 or -1; `dtc`
and `dtm` are positive in a win, negative in a loss, and 0 in a draw or where the loss is already
there (mate, or a forced conversion): `wdl` tells these apart.

A cold probe maps the file, decompresses one block and checks its digest; decoded blocks stay in a
cache of bounded size that all threads share.  A batch reads its FENs in C++, sorts them by block
and gathers with numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.blockcache import BlockCache, BlockKey, Cold
from workers.directory import Key, changed, is_there, material_key, opened, tables_in
from workers.errors import BadPosition, MissingTableError
from workers.fen import fen, parse_fen
from workers.geometry import DIAGONAL, PLACEMENTS
from workers.material import MEN_MAX, Material
from workers.metric import Metric
from workers.position import Position, material_of
from workers.store import shown
from workers.table import BLOCK, Table, Values

CACHE_BYTES = 256 << 20
_GOOD = 0
BARE_KINGS = 0  # the key of KvK: always a draw, and no table


class HasFen(Protocol):
    """Such as chess.Board."""

    def fen(self) -> str: ...


Source = str | HasFen | Position
Default = TypeVar("Default")


class Answer(NamedTuple):
    """The value of a position for the side to move: 1, 0 or -1, and in how many moves."""

    wdl: int
    moves: int

    @property
    def signed(self) -> int:
        """Positive in a win, negative in a loss; 0 in a draw and in a loss that is there."""
        return self.wdl * self.moves


class Answers(NamedTuple):
    """The values of many positions; where `known` is false there was no table."""

    wdl: NDArray[np.int8]
    moves: NDArray[np.int16]  # signed as `Answer.signed`
    known: NDArray[np.bool_]


@lru_cache(4096)
def answer_of(value: int) -> Answer:
    """The table's number as an answer: n wins in n, 0 draws, -n - 1 loses in n."""
    if value > 0:
        return Answer(1, value)
    return Answer(-1, -value - 1) if value < 0 else Answer(0, 0)


def make_reader() -> _kernels.Reader:
    pair = np.full((64, 64), -1, np.int16)
    symmetry = np.zeros((64, 64), np.uint8)
    for kings, placement in PLACEMENTS.items():
        pair[kings], symmetry[kings] = placement
    return _kernels.Reader(pair, symmetry, DIAGONAL)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a position's value stands."""

    material: int
    weaker_to_move: int
    row: int


class Tablebase:
    """The tables of some directories, opened when they are first asked."""

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self.directories: list[Path] = []
        self.cache = BlockCache(cache_bytes)
        self._reader = make_reader()
        self._paths: dict[Key, Path] = {}
        self._tables: dict[Key, Table] = {}
        self._lock = Lock()

    def add_directory(self, directory: str | Path) -> int:
        """Add the tables of a directory; how many there were that no earlier directory had."""
        directory = Path(directory)
        if not is_there(directory):
            raise MissingTableError(f"no directory of tables at {shown(directory)}")
        before = len(self._paths)
        self._paths = tables_in(directory) | self._paths
        self.directories.append(directory)
        return len(self._paths) - before

    def refresh(self) -> bool:
        """Look at the directories again; whether any table has come, gone or been replaced.

        Who is in the middle of reading a table that is gone reads on: a file that is mapped stays.
        """
        found: dict[Key, Path] = {}
        for directory in self.directories:
            found = tables_in(directory) | found
        with self._lock:
            gone = [key for key, table in self._tables.items() if changed(table, found.get(key))]
            for table in map(self._tables.pop, gone):
                self.cache.forget(table)
            different = found != self._paths
            self._paths = found
        return different or bool(gone)

    @property
    def paths(self) -> list[Path]:
        return list(self._paths.values())

    # ---- one position ----

    def probe(self, source: Source, metric: Metric = Metric.DTC) -> Answer:
        """The value of a position; MissingTableError if no table has it."""
        return self._answer(self._place(source), metric)

    def probe_wdl(self, source: Source) -> int:
        """Who wins, by whichever table there is."""
        place = self._place(source)
        known = (Metric.DTM, place.material) in self._paths
        missing = (Metric.DTC, place.material) not in self._paths
        return self._answer(place, Metric.DTM if known and missing else Metric.DTC).wdl

    def probe_dtc(self, source: Source) -> int:
        return self.probe(source, Metric.DTC).signed

    def probe_dtm(self, source: Source) -> int:
        return self.probe(source, Metric.DTM).signed

    def get_wdl(self, source: Source, default: Default | None = None) -> int | Default | None:
        return _or_else(self.probe_wdl, source, default)

    def get_dtc(self, source: Source, default: Default | None = None) -> int | Default | None:
        return _or_else(self.probe_dtc, source, default)

    def get_dtm(self, source: Source, default: Default | None = None) -> int | Default | None:
        return _or_else(self.probe_dtm, source, default)

    def _place(self, source: Source) -> Place:
        text = _text(source)
        status, side, material, row = self._reader.read([text])
        if status[0] != _GOOD:
            status, side, material, row = self._reader.read([_coverable(text)])
        return Place(int(material[0]), int(side[0]), int(row[0]))

    def _answer(self, place: Place, metric: Metric) -> Answer:
        if place.material == BARE_KINGS:
            return Answer(0, 0)
        table = self._table(metric, place.material)
        block, at = divmod(place.row, BLOCK)
        return answer_of(int(self.cache.get(BlockKey(table, block, place.weaker_to_move))[at]))

    def places(self, texts: list[str]) -> list[Place | None]:
        """Where the values of lawful positions stand; None for men or rights that no table has."""
        read = self._reader.read(texts)
        status, side, material, row = (column.tolist() for column in read)
        return [
            Place(material[i], side[i], row[i]) if status[i] == _GOOD else None
            for i in range(len(texts))
        ]

    def look(
        self, places: Sequence[Place | None], metric: Metric, *, wait: bool = True
    ) -> list[Answer | None]:
        """The values at places, None without a table; Cold if any would take longer than a look
        and the caller does not `wait`.
        """
        blocks: dict[tuple[int, int, int], Values | None] = {}
        return [self._seen(place, metric, wait, blocks) for place in places]

    def _seen(
        self,
        place: Place | None,
        metric: Metric,
        wait: bool,
        blocks: dict[tuple[int, int, int], Values | None],
    ) -> Answer | None:
        """The value at a place; neighbours often share a block, so those seen are remembered."""
        if place is None:
            return None
        if place.material == BARE_KINGS:
            return Answer(0, 0)
        block, at = divmod(place.row, BLOCK)
        key = place.material, place.weaker_to_move, block
        if key not in blocks:
            blocks[key] = self._block(metric, *key, wait)
        values = blocks[key]
        return None if values is None else answer_of(int(values[at]))

    def _block(
        self, metric: Metric, material: int, column: int, block: int, wait: bool
    ) -> Values | None:
        if (metric, material) not in self._paths:
            return None
        try:
            table = self._table(metric, material, wait)
        except MissingTableError:
            # Deleted since the directory was last looked at.
            return None
        return self.cache.get(BlockKey(table, block, column), wait=wait)

    def _table(self, metric: Metric, key: int, wait: bool = True) -> Table:
        if (table := self._tables.get((metric, key))) is not None:
            return table
        if not wait:
            raise Cold
        with self._lock:
            if (metric, key) not in self._tables:
                if (metric, key) not in self._paths:
                    raise self._missing(metric, _material(key))
                try:
                    self._tables[metric, key] = opened(self._paths[metric, key])
                except FileNotFoundError as error:
                    raise self._missing(metric, _material(key)) from error
            return self._tables[metric, key]

    def table(self, material: Material, metric: Metric = Metric.DTC) -> Table:
        """The opened table of a material; MissingTableError if there is none."""
        return self._table(metric, material_key(material))

    def _missing(self, metric: Metric, material: Material) -> MissingTableError:
        where = ", ".join(map(str, self.directories)) or "no directory"
        if metric is Metric.DTC:
            return MissingTableError(
                f"no table of {material} in {where}; kingpair build {material}"
            )
        return MissingTableError(
            f"no {metric} table of {material} in {where}; "
            f"kingpair build {material} --metric {metric}"
        )

    # ---- many positions ----

    def probe_batch(self, fens: Sequence[str], metric: Metric = Metric.DTC) -> Answers:
        """The values of many FENs at once.  A position that cannot be is an error that names its
        number.
        """
        fens = list(fens)
        status, side, material, row = self._reader.read(fens)
        known = np.ones(len(fens), bool)
        for i in np.flatnonzero(status != _GOOD):
            known[i] = self._look_closer(fens, int(i), side, material, row)
        values = np.zeros(len(fens), np.int16)
        for key in map(int, np.unique(material[known])):
            chosen = np.flatnonzero(known & (material == key))
            if key == BARE_KINGS:
                continue
            if (metric, key) not in self._paths:
                known[chosen] = False
            else:
                values[chosen] = self._gather(metric, key, row[chosen], side[chosen])
        wdl = np.sign(values).astype(np.int8)
        return Answers(wdl, np.where(wdl < 0, values + 1, values), known)

    def _look_closer(
        self,
        fens: list[str],
        i: int,
        side: NDArray[np.uint8],
        material: NDArray[np.uint32],
        row: NDArray[np.int64],
    ) -> bool:
        try:
            place = self._place(fens[i])
        except MissingTableError:
            return False
        except BadPosition as error:
            raise BadPosition(f"position {i}: {error}") from error
        side[i], material[i], row[i] = place.weaker_to_move, place.material, place.row
        return True

    def _gather(
        self, metric: Metric, key: int, rows: NDArray[np.int64], sides: NDArray[np.uint8]
    ) -> NDArray[np.int16]:
        table = self._table(metric, key)
        blocks = (rows // BLOCK) * 2 + sides
        order = np.argsort(blocks, kind="stable")
        out = np.empty(len(rows), np.int16)
        starts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
            chosen = order[start:stop]
            block, side = divmod(int(blocks[chosen[0]]), 2)
            values = self.cache.get(BlockKey(table, block, side))
            out[chosen] = values[rows[chosen] - block * BLOCK]
        return out

    # ---- closing ----

    def close(self) -> None:
        with self._lock:
            self.cache.drop()
            for table in self._tables.values():
                table.close()
            self._tables.clear()
            self._paths.clear()

    def __enter__(self) -> "Tablebase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_tablebase(directory: str | Path, *, cache_bytes: int = CACHE_BYTES) -> Tablebase:
    """The tables of a directory; more can be added."""
    tablebase = Tablebase(cache_bytes)
    tablebase.add_directory(directory)
    return tablebase


def _or_else(
    probe: Callable[[Source], int], source: Source, default: Default | None
) -> int | Default | None:
    try:
        return probe(source)
    except MissingTableError:
        return default


def _text(source: Source) -> str:
    if isinstance(source, str):
        return source
    return fen(source) if isinstance(source, Position) else source.fen()


def _coverable(text: str) -> str:
    """What the quick reader did not take: say why, or spell it so that it does."""
    position = parse_fen(text)
    material, _ = material_of(position)
    if "P" in material.letters:
        raise MissingTableError(f"no table of {material}: pawns are not yet solved")
    if material.men > MEN_MAX:
        raise MissingTableError(f"no table of {material}: {material.men} men, at most {MEN_MAX}")
    if position.castling:
        raise MissingTableError(f"no table of {material} covers castling rights")
    return fen(position)


def _material(key: int) -> Material:
    counts = [key >> shift & 15 for shift in range(28, -1, -4)]
    letters = "".join(letter * n for letter, n in zip("QRBNQRBN", counts, strict=True))
    first = sum(counts[:4])
    return Material(letters[:first], letters[first:])
