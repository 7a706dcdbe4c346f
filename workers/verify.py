"""The proof of a finished table: every value follows, by one forward move, from values that are
proved as well.

The values of a table are fixed by what each says of the next:

    win in n      the best move leads to a position lost in n - 1, or takes into a lost one (n = 1)
    loss in n     every move leads to a won position, the longest of them won in n; captures count 0
    draw          neither

(metric dtc; in dtm captures count as all other moves.)  Put wins in n before losses in n before
wins in n + 1.  If up to some place in this order no value contradicts its successors, all of them
are true, for each rests on earlier ones alone; and what no win or loss reaches is a draw.  So a
table without contradiction is right.  And of all values that contradict their successors the
earliest in this order is wrong beyond doubt, while a later one may only have believed it: the
earliest is named, and of several the one in the lowest row.

The file is read back, not what made it: every byte is checked against a digest, the smaller
tables against the digests that this one was built on, the positions counted anew.  The moves are
played in C++ (kernels/verify.hpp), which shares nothing with the un-move kernels, not even the
index.

While one king stays where it is, the moves of the other stay within one of ten walks of at most
58 partitions.  So the successors held at any time are those of one walk, an eighth of a column.
Each column is needed twice, to be verified and as successors of the other: a table of up to five
men is kept until then, a larger one read twice.

Cost: 1 to 3 ns a row and thread for five men, of which 0.3 to 0.8 to read it, and less than
building for each of their materials; twice that for six men.  0.3 GB held for five men, 1.8 GB
for six.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import zeros
from workers.errors import ForeignTable, MissingTableError
from workers.geometry import PAIRS
from workers.material import STRONGER, WEAKER, Capture, Material
from workers.metric import Metric
from workers.painting import fen_of
from workers.recount import Found, Side, Tally
from workers.table import COLUMNS, Counts, Table, Values
from workers.threads import Pool, Threads
from workers.verdict import Verdict, Wrong, miscounted

Find = Callable[[Material], Table]
"""Where the smaller tables come from: raises MissingTableError or FileNotFoundError."""

Listener = Callable[[float], None]
"""Told again and again which share of a table is done."""

Keys = NDArray[np.uint8] | NDArray[np.uint16]
Pairs = NDArray[np.int16]

NARROW_MAX = 126  # of a byte's values the longest that the verifier can tell from a draw
TOGETHER = 1 << 20  # slots worth a job
KEPT_BYTES = 512 << 20  # values of a table that is read only once


def verify(
    table: Table, find: Find, threads: Threads, listen: Listener = lambda share: None
) -> Verdict:
    """Prove a table, given those it rests on.

    Raises DamagedTable, ForeignTable or MissingTableError where there is nothing to be proved.
    """
    start = time.monotonic()
    table.check()
    smaller = _smaller(table, find)
    verification = Verification(table, smaller, threads, listen)
    for mover in (STRONGER, WEAKER):
        verification.judge(mover)
    return verification.verdict(start)


def _smaller(table: Table, find: Find) -> dict[Material, Table]:
    """The tables that this one rests on, which must be those that it was built on."""
    materials = sorted({c.material for c in table.material.captures() if c.material.letters})
    if (stated := sorted(table.smaller)) != (needed := [str(m) for m in materials]):
        raise ForeignTable(f"{table.path}: names {stated} as what it rests on, not {needed}")
    return {material: _founded(table, material, find) for material in materials}


def _founded(table: Table, material: Material, find: Find) -> Table:
    try:
        found = find(material)
    except FileNotFoundError as error:
        raise MissingTableError(
            f"{table.path}: rests on {material}, which has no {table.metric} table there; "
            f"kingpair build {material} --metric {table.metric}"
        ) from error
    if found.digest != table.smaller[str(material)]:
        raise ForeignTable(
            f"{table.path}: built on another {material} than {found.path}, whose digest is "
            f"{found.digest}, not {table.smaller[str(material)]}; build {table.material} again"
        )
    return found


class Verification:
    """A table under verification."""

    def __init__(
        self, table: Table, smaller: dict[Material, Table], threads: Threads, listen: Listener
    ) -> None:
        self.table, self.threads, self.material = table, threads, table.material
        self.listen, self.done = listen, 0  # partitions read or checked
        self.slots = int(64 ** len(self.material.letters))
        self.rows = len(COLUMNS) * len(PAIRS) * self.slots
        self.dtype = _dtype(table, smaller)
        self.key = np.dtype(f"u{self.dtype.itemsize}")
        self.carries_depth = table.metric == Metric.DTM
        men = list(zip(self.material.letters, self.material.sides, strict=True))
        self.kernel = _kernels.Verifier(men, self.carries_depth, _last(men))
        self.readers = _readers(table, threads)
        keeps = self.rows * self.dtype.itemsize <= KEPT_BYTES
        self._kept: Values | None = zeros(self.rows, self.dtype.type) if keeps else None
        self._read_already: set[tuple[int, int]] = set()
        self.sides = [Side(1 << 8 * self.dtype.itemsize) for _ in COLUMNS]
        self.taken = self._taken(smaller)

    def values(self, pair: int, side: int) -> Values:
        """Of a partition, in the kernel's order of men."""
        if self._kept is None:
            return self._arranged(pair, side, np.empty(self.slots, self.dtype))
        at = (side * len(PAIRS) + pair) * self.slots
        here = self._kept[at : at + self.slots]
        if (pair, side) not in self._read_already:
            self._arranged(pair, side, here)
            self._read_already.add((pair, side))
        return here

    def _arranged(self, pair: int, side: int, out: Values) -> Values:
        with self.readers.lend() as table:
            pieces = [rows.astype(self.dtype, copy=False) for rows in table.pieces(pair, side)]
            self.kernel.arrange(pair, pieces, out)
        return out

    # ---- captures ----

    def _taken(self, smaller: dict[Material, Table]) -> list[Keys]:
        """For each man what taking it is worth, in every partition; like men are worth the same."""
        known: dict[tuple[str, int], Keys] = {}
        taken = []
        for capture in self.material.captures():
            side = self.material.sides[capture.man]
            man = self.material.letters[capture.man], side
            if man not in known:
                known[man] = self._worths(capture, side, smaller.get(capture.material))
            taken.append(known[man])
        return taken

    def _worths(self, capture: Capture, side: int, smaller: Table | None) -> Keys:
        size = self.slots // 64
        worths: Keys = zeros(len(PAIRS) * size, self.key.type)
        if smaller is None:
            assert not capture.material.letters, "bare kings alone need no table"
            worths[:] = _kernels.Verifier.draw(self.key.itemsize)
            return worths
        column = self._column(smaller, side ^ capture.swapped)

        def job(pairs: Pairs) -> None:
            for pair in map(int, pairs):
                here = worths[pair * size : (pair + 1) * size]
                self.kernel.taken(capture.man, pair, column, here)

        self.threads.map(job, _jobs(range(len(PAIRS)), size))
        return worths

    def _column(self, smaller: Table, side: int) -> Values:
        """All values of a smaller table with one side to move, in our type."""
        size = 64 ** len(smaller.material.letters)
        column: Values = zeros(len(PAIRS) * size, self.dtype.type)
        readers = _readers(smaller, self.threads)

        def job(pairs: Pairs) -> None:
            for pair in map(int, pairs):
                with readers.lend() as table:
                    values = table.values(pair, side)
                # Where a capture ends the phase only the winner matters, and that fits any type.
                column[pair * size : (pair + 1) * size] = (
                    values if self.carries_depth else np.sign(values)
                )

        self.threads.map(job, _jobs(range(len(PAIRS)), size))
        return column

    # ---- all moves ----

    def judge(self, mover: int) -> None:
        """Verify all positions with one side to move."""
        walks = _kernels.Verifier.walks(mover)
        quiet: Keys = zeros(max(map(len, walks)) * self.slots, self.key.type)
        for walk in walks:
            place = np.full(len(PAIRS), -1, np.int16)
            place[walk] = np.arange(len(walk))
            self._read(1 - mover, walk, place, quiet)
            self._tell(len(walk))
            self._check(mover, walk, place, quiet)
            self._tell(len(walk))

    def _tell(self, partitions: int) -> None:
        """So many more have been read, or checked: each is, with either side to move."""
        self.done += partitions
        self.listen(self.done / (2 * len(COLUMNS) * len(PAIRS)))

    def _read(self, side: int, walk: list[int], place: Pairs, quiet: Keys) -> None:
        def job(pairs: Pairs) -> None:
            for pair in map(int, pairs):
                at = int(place[pair]) * self.slots
                here = quiet[at : at + self.slots]
                self.kernel.quiet(pair, side, self.values(pair, side), here, self.taken)

        self.threads.map(job, _jobs(walk, self.slots))

    def _check(self, mover: int, walk: list[int], place: Pairs, quiet: Keys) -> None:
        side = self.sides[mover]

        def job(pairs: Pairs) -> list[tuple[int, Found, Tally]]:
            found = []
            for pair in map(int, pairs):
                tally = np.zeros_like(side.tally)
                values = self.values(pair, mover)
                said = self.kernel.check(pair, mover, values, quiet, place, tally)
                found.append((pair, Found(*said), tally))
            return found

        for found in self.threads.map(job, _jobs(walk, self.slots)):
            for pair, said, tally in found:
                side.enter(pair, self.slots, said, tally)

    # ---- what comes of it ----

    def verdict(self, start: float) -> Verdict:
        fault = self._wrong() or next(miscounted(self.table.counts, self._counts()), None)
        return Verdict(
            self.material,
            self.table.metric,
            rows=self.rows,
            white=self.sides[STRONGER].legal,
            black=self.sides[WEAKER].legal,
            contradictions=sum(side.wrong for side in self.sides),
            fault=fault,
            seconds=time.monotonic() - start,
        )

    def _wrong(self) -> Wrong | None:
        earliest = [
            (*s.earliest[:2], i, s.earliest[2]) for i, s in enumerate(self.sides) if s.earliest
        ]
        if not earliest:
            return None
        _, row, side, found = min(earliest)
        fen = fen_of(self.material, row // self.slots, row % self.slots, side)
        return Wrong(fen, COLUMNS[side], found.value, found.expected, row)

    def _counts(self) -> Counts:
        """What the table's counts should be, going by its values."""
        counts: Counts = {
            name: side.counts() for name, side in zip(COLUMNS, self.sides, strict=True)
        }
        counts["longest"] = {name: self._longest(side) for side, name in enumerate(COLUMNS)}
        return counts

    def _longest(self, side: int) -> dict[str, Any]:
        found = self.sides[side].by_value()
        longest = {}
        if (win := max(found, default=0)) > 0:
            longest["win"] = {"moves": win, "fen": self._first(side, win)}
        if (loss := min(found, default=0)) < 0:
            longest["loss"] = {"moves": -loss - 1, "fen": self._first(side, loss)}
        return longest

    def _first(self, side: int, value: int) -> str:
        pair = self.sides[side].first_with(value)
        slot = self.kernel.find(pair, side, self.values(pair, side), value)
        return fen_of(self.material, pair, slot, side)


def _readers(table: Table, threads: Threads) -> Pool[Table]:
    """One for each thread: a reader of Arrow is not promised to bear two at once."""
    return threads.pool(table.again)


def _last(men: Sequence[tuple[str, int]]) -> int:
    """The man that the kernel has last: the last one that is like no other, if any is."""
    single = [i for i, man in enumerate(men) if men.count(man) == 1]
    return max(single, default=len(men) - 1)


def _dtype(table: Table, smaller: dict[Material, Table]) -> np.dtype[Any]:
    """Bytes, unless something is too deep for them or says that it is."""
    depths = [int(n) for c in COLUMNS for r in ("win", "loss") for n in table.counts[c][r]]
    carried = smaller.values() if table.metric == Metric.DTM else ()
    wide = any(t.dtype == np.int16 for t in (table, *carried))
    return np.dtype(np.int16 if wide or max(depths, default=0) > NARROW_MAX else np.int8)


def _jobs(pairs: Sequence[int], slots: int) -> list[Pairs]:
    size = max(1, TOGETHER // slots)
    return [np.array(pairs[at : at + size], np.int16) for at in range(0, len(pairs), size)]
