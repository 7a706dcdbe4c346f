"""Probing: the values of positions from finished tables, without a cluster or a server.

    with open_tablebase("tables") as tablebase:
        tablebase.probe_wdl("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1")  # 1: White wins
        tablebase.probe_dtc("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1")  # 31: moves to mate or conversion

Positions are FEN strings, or objects with a `fen()` method such as python-chess's Board.  Values
are those of the side to move, in the form of python-chess's probers: `wdl` is 1, 0 or -1; `dtc`
and `dtm` are positive in a win and negative in a loss.  They are 0 in a draw and in a loss in 0
moves (mate, or a forced conversion); `wdl` tells these apart.

The first probe of a page maps the file, decodes the page and checks it.  Decoded pages stay in a
cache of bounded size that all threads share.  A batch reads its FENs in C++, sorts them by page and
gathers the values with numpy.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.ask.addresses import (
    BARE_KINGS,
    GOOD,
    AddressReader,
    PositionSource,
    RowAddress,
    Rows,
)
from kingpair.workers.ask.answer import (
    Answer,
    Answers,
    D,
    answer_of,
    or_default,
    value_with_right,
)
from kingpair.workers.ask.answers_at import answers_at
from kingpair.workers.ask.batch import add_captures, gather
from kingpair.workers.ask.derived_answer import derived_answer
from kingpair.workers.errors import BadPosition, MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import material_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.packed_material import pack_material, unpack_material
from kingpair.workers.game.rules import position_of
from kingpair.workers.store.filesystem import printable
from kingpair.workers.table.directory import (
    PackedKey,
    build_command,
    find_tables,
    is_table_directory,
    missing_table,
    open_table,
    was_replaced,
)
from kingpair.workers.table.format import Table
from kingpair.workers.table.page_cache import NotCached, PageCache, PageKey
from kingpair.workers.table.value import signed_moves, wdl

if TYPE_CHECKING:
    from kingpair.workers.syzygy.distance import SyzygyAnswer
    from kingpair.workers.syzygy.prober import SyzygyTables

CACHE_BYTES = 256 << 20


class Tablebase:
    """The tables of some directories.  A table is opened when a probe first needs it."""

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self.directories: list[Path] = []
        self.syzygy: SyzygyTables | None = None
        self.cache = PageCache(cache_bytes)
        self._reader = AddressReader()
        self._paths: dict[PackedKey, Path] = {}
        self._tables: dict[PackedKey, Table] = {}
        self._lock = Lock()

    def add_directory(self, directory: str | Path) -> int:
        """Adds the tables of a directory.  Returns how many of them no earlier directory had."""
        directory = Path(directory)
        if not is_table_directory(directory):
            raise MissingTableError(
                f"no directory of tables at {printable(directory)}; see that the name is right, or "
                f"build there: {build_command('KQvKR', directory)}"
            )
        before = len(self._paths)
        self._paths = find_tables(directory) | self._paths
        self.directories.append(directory)
        return len(self._paths) - before

    def add_syzygy_directory(self, directory: str | Path) -> None:
        """Adds the Syzygy files of a directory.  Their reader is imported here, as few need it."""
        from kingpair.workers.syzygy.prober import SyzygyTables

        self.syzygy = self.syzygy or SyzygyTables()
        self.syzygy.add_directory(directory)

    def refresh(self) -> bool:
        """Lists the directories again.  Returns whether a file was added, removed or replaced.

        Threads that read a removed table can finish, because a mapped file stays readable.
        """
        found: dict[PackedKey, Path] = {}
        for directory in self.directories:
            found = find_tables(directory) | found
        with self._lock:
            gone = [key for key, was in self._tables.items() if was_replaced(was, found.get(key))]
            for table in map(self._tables.pop, gone):
                self.cache.forget(table)
            different = found != self._paths
            self._paths = found
        return (self.syzygy is not None and self.syzygy.refresh()) or different or bool(gone)

    @property
    def paths(self) -> list[Path]:
        return list(self._paths.values())

    # ---- one position ----

    def probe(self, source: PositionSource, metric: str = Metric.DTC) -> Answer:
        """The value of a position; raises MissingTableError if no table has it."""
        return self._answer(self._reader.address(source), Metric(metric), alone=True)

    def probe_wdl(self, source: PositionSource) -> int:
        """1, 0 or -1, by the first metric that has a table, else by a Syzygy file."""
        if (found := self.get_syzygy(source)) is not None:
            return found.sign
        place = self._reader.address(source)
        return self._answer(place, self._metric_of(place.material) or Metric.default()).wdl

    def _metric_of(self, key: int) -> Metric | None:
        return next((metric for metric in Metric if self.has_table(metric, key)), None)

    def has_table(self, metric: Metric, key: int) -> bool:
        return (metric, key) in self._paths

    def get_syzygy(self, source: PositionSource) -> "SyzygyAnswer | None":
        """The answer of a Syzygy file; None if there is a table of ours, or no such file."""
        if self.syzygy is None:
            return None
        position = position_of(source)
        ours = self._metric_of(pack_material(material_of(position)[0]))
        return None if ours else self.syzygy.get(position)

    def probe_dtc(self, source: PositionSource) -> int:
        return self.probe(source, Metric.DTC).signed

    def probe_dtm(self, source: PositionSource) -> int:
        return self.probe(source, Metric.DTM).signed

    def probe_dtz(self, source: PositionSource) -> int:
        return self.probe(source, Metric.DTZ).signed

    def get_wdl(self, source: PositionSource, default: D | None = None) -> int | D | None:
        return or_default(self.probe_wdl, source, default)

    def get_dtc(self, source: PositionSource, default: D | None = None) -> int | D | None:
        return or_default(self.probe_dtc, source, default)

    def get_dtm(self, source: PositionSource, default: D | None = None) -> int | D | None:
        return or_default(self.probe_dtm, source, default)

    def get_dtz(self, source: PositionSource, default: D | None = None) -> int | D | None:
        return or_default(self.probe_dtz, source, default)

    def _answer(self, place: RowAddress, metric: Metric, *, alone: bool = False) -> Answer:
        if place.material == BARE_KINGS:
            return Answer(0, 0)
        table = self._table(metric, place.material)
        if place.weaker_to_move in table.stored:
            page, at = divmod(place.row, table.page_rows)
            own = answer_of(self.cache.value(PageKey(table, page, place.weaker_to_move), at, alone))
        else:
            answer_at = partial(self._answer, metric=metric)
            derived = derived_answer(place, metric, self._reader.addresses, answer_at)
            assert derived is not None, "a missing table raises an error"
            own = derived
        if place.en_passant is None:
            return own
        after = tuple(self._answer(each, metric) for each in place.en_passant.captures)
        return value_with_right(own, place.en_passant.only_moves, after, metric)

    def addresses(self, fens: list[str]) -> list[RowAddress | None]:
        """The addresses of legal positions; None for men or rights that no table covers."""
        return self._reader.addresses(fens)

    def look_up(
        self, places: Sequence[RowAddress | None], metric: Metric, *, wait: bool = True
    ) -> list[Answer | None]:
        """The values at some addresses, None without a table.

        Raises NotCached if a page must be read or a table opened and `wait` is false.
        """
        return answers_at(self, places, metric, wait)

    def find_table(self, metric: Metric, material: int, wait: bool) -> Table | None:
        if not self.has_table(metric, material):
            return None
        with suppress(MissingTableError):  # it was deleted since the directory was last listed
            return self._table(metric, material, wait)
        return None

    def _table(self, metric: Metric, key: int, wait: bool = True) -> Table:
        if (table := self._tables.get((metric, key))) is not None:
            return table
        if not wait:
            raise NotCached
        with self._lock:
            if (metric, key) not in self._tables:
                if (path := self._paths.get((metric, key))) is None:
                    raise missing_table(unpack_material(key), metric, self.directories)
                try:
                    self._tables[metric, key] = open_table(path)
                except FileNotFoundError as error:
                    raise missing_table(unpack_material(key), metric, self.directories) from error
            return self._tables[metric, key]

    def table(self, material: Material, metric: Metric = Metric.DTC) -> Table:
        """The opened table of a material; MissingTableError if there is none."""
        return self._table(metric, pack_material(material))

    # ---- many positions ----

    def probe_batch(self, fens: Sequence[str], metric: str = Metric.DTC) -> Answers:
        """The values of many FENs.  An error about an impossible position names its number."""
        fens, metric = list(fens), Metric(metric)
        columns = self._reader.read(fens)
        rows, refused = columns.at, columns.status != GOOD
        known = ~refused
        values = self._values(rows, known, metric)
        answers = Answers(wdl(values), signed_moves(values), known)
        if columns.after.row.size:
            known_after = np.ones(len(columns.after.row), bool)
            after = self._values(columns.after, known_after, metric)
            add_captures(columns, answers, after, known_after, metric)
        for i in map(int, np.flatnonzero(refused)):
            if (found := self._look_closer(fens, i, metric)) is not None:
                answers.wdl[i], answers.moves[i], known[i] = found.wdl, found.signed, True
        return answers

    def _values(self, rows: Rows, known: NDArray[np.bool_], metric: Metric) -> NDArray[np.int16]:
        """The values of some rows; `known` becomes false for those without a table."""
        values = np.zeros(len(known), np.int16)
        for key in map(int, np.unique(rows.material[known])):
            chosen = np.flatnonzero(known & (rows.material == key))
            if key == BARE_KINGS:
                continue
            if not self.has_table(metric, key):
                known[chosen] = False
            else:
                table, sides = self._table(metric, key), rows.weaker_to_move[chosen]
                values[chosen] = (
                    gather(self.cache, table, rows.row[chosen], sides)
                    if table.is_whole
                    else [self._answer(place, metric).value for place in rows.addresses(chosen)]
                )
        return values

    def _look_closer(self, fens: list[str], i: int, metric: Metric) -> Answer | None:
        """The value of a FEN that the kernel refused; None without a table."""
        try:
            return self.look_up([self._reader.address(fens[i])], metric)[0]
        except MissingTableError:
            return None
        except BadPosition as error:
            raise BadPosition(f"position {i}: {error}") from error

    # ---- closing ----

    def close(self) -> None:
        with self._lock:
            self.cache.clear()
            for table in self._tables.values():
                table.close()
            self._tables.clear()
            self._paths.clear()
            if self.syzygy is not None:
                self.syzygy.close()

    def __enter__(self) -> "Tablebase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_tablebase(
    directory: str | Path, *, cache_bytes: int = CACHE_BYTES, syzygy: str | Path | None = None
) -> Tablebase:
    """Opens the tables of a directory; Syzygy files answer for materials without a table."""
    tablebase = Tablebase(cache_bytes)
    if syzygy is not None:
        tablebase.add_syzygy_directory(syzygy)
    if syzygy is None or is_table_directory(Path(directory)):
        tablebase.add_directory(directory)
    return tablebase
