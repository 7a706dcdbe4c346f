"""The proof of a finished table: every value follows by one forward move from proved values.

Each value must agree with the values of its successors:

    win in n      the best move leads to a position lost in n - 1, or takes into a lost one (n = 1)
    loss in n     every move leads to a won position, the longest of them won in n; captures count 0
    draw          neither

(metric dtc; in dtm captures count as all other moves.  In dtz both sides' moves count: a loss in n
leads to one won in n - 1.  A capture counts 1, or 101 if the 50-move rule does not let the position
after it be won.)  Order the values: wins in n before losses in n before wins in n + 1.
Each value rests on earlier ones alone.  So if no value up to some place contradicts its successors,
all of them are true, and a position that no win or loss reaches is a draw.  A table without a
contradiction is therefore right.  The earliest contradiction is certainly wrong, while a later one
may rest on a wrong value.  So the earliest is named, of equally early ones that of the lowest row.

Verification reads the finished file.  It checks every byte against a digest, the smaller tables
against the digests that this table was built on, and counts the positions again.  It plays the
moves in C++ (kernels/verify.hpp) and shares nothing with the un-move kernels, not even the index.
verify_structures.py verifies tables with pawns, verify_blocks.py those of Chinese chess.
proof_parts.py divides the proof of a table among several workers.

While one king stands still, the moves of the other stay within one of ten walks of at most 58
partitions.  So only the successors of one walk, an eighth of a column, are in memory at a time; or
those of a few ranks of it, if there is room for so many (index/sweeps.py).  Each column is used
twice, as the one that is verified and as successors of the other.  Values of a table of up to five
men are kept for this (index/walk_order.py); a larger one is read twice.

Cost: 1 to 3 ns a row and thread for five men, of which 0.3 to 0.8 to read it, and less than to
build it; twice that for six men.  0.2 GB held for five men, 1.8 GB for six, or 0.4 GB in ranks.
"""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED, numbers_of
from kingpair.workers.index.sweeps import WHOLE, ProofNeeds, SweepBatch, most_held, sweep
from kingpair.workers.index.walk_order import ProofWalk, in_turns, kept_bytes, partitions_kept
from kingpair.workers.index.walk_parts import walk_parts
from kingpair.workers.number_types import SIDES, Partition, Row, Side, opponent
from kingpair.workers.prove.capture_keys import (
    CaptureKeys,
    Partitions,
    ValueKeys,
    partition_jobs,
    readers_of,
)
from kingpair.workers.prove.conclusion import conclude
from kingpair.workers.prove.kept_values import KeptValues
from kingpair.workers.prove.recount import PartitionCheck, SideRecount, ValueCounts
from kingpair.workers.prove.smaller_tables import FindTable, smaller_tables
from kingpair.workers.prove.verdict import ReportProgress, Verdict
from kingpair.workers.prove.verify_blocks import BlockVerification
from kingpair.workers.prove.verify_structures import StructureVerification
from kingpair.workers.sets.memory import sparse_zeros, zeros
from kingpair.workers.sets.recycled import recycled_if_small, small_zeros
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.value import Values

Found = TypeVar("Found")
NARROW_MAX = 126  # the longest distance in a byte that the verifier can tell from a draw


def verify(
    table: Table,
    find: FindTable,
    threads: Threads,
    listen: ReportProgress = lambda share: None,
    room: int | None = None,
) -> Verdict:
    """Proves a table, given a way to open the tables that it rests on.

    If `room` says how many bytes it may take, the proof of a table without pawns goes in as small
    steps as it must.
    Raises DamagedTable, ForeignTable or MissingTableError if the proof cannot begin.
    """
    start = time.monotonic()
    table.check()
    smaller = smaller_tables(table, find)
    verification = begun(table, smaller, threads, listen, room)
    verification.verify_positions()
    return conclude(table, verification.sides, verification.first_row, start)


def begun(
    table: Table,
    smaller: dict[Material, Table],
    threads: Threads,
    listen: ReportProgress = lambda share: None,
    room: int | None = None,
) -> "Verification | StructureVerification | BlockVerification":
    """The verification of a table: nothing is verified yet."""
    if not (table.material.game.frame or table.material.has_pawns):
        return Verification(table, smaller, threads, listen, room)
    by_parts = BlockVerification if table.material.game.frame else StructureVerification
    return by_parts(table, smaller, proof_dtype(table, smaller), threads, listen)


class Verification:
    """A table without pawns under verification."""

    def __init__(
        self,
        table: Table,
        smaller: dict[Material, Table],
        threads: Threads,
        listen: ReportProgress,
        room: int | None = None,
    ) -> None:
        self.table, self.threads, self.material = table, threads, table.material
        self.listen, self.done, self.steps = listen, 0, 1  # partitions read or checked, of so many
        self.slots = int(64 ** len(self.material.letters))
        self.dtype = proof_dtype(table, smaller)
        self.key = np.dtype(f"u{self.dtype.itemsize}")
        self.carries_depth = table.metric.exits_carry_depth
        men = list(zip(self.material.letters, self.material.sides, strict=True))
        self.kernel = _kernels.Verifier(
            men, self.carries_depth, _last(men), deeper_by(table.metric)
        )
        self.readers = readers_of(table, threads)
        needs = ProofNeeds(
            self.slots, self.dtype.itemsize, len(self.material.letters), threads.count
        )
        self._shape = WHOLE if room is None else needs.shape_within(room)
        kept = kept_bytes(partitions_kept(), self.slots, self.dtype.itemsize)
        keeps = kept > 0 and (room is None or kept + needs.bytes_of(WHOLE) <= room)
        places = len(COLUMNS) * partitions_kept() if keeps else 0
        self._kept = KeptValues(places, self.slots, self.dtype)
        self.begin_recount()
        # In small steps few captures are held at once, here and there.
        new_array = small_zeros if self._shape == WHOLE else sparse_zeros
        self.captures = CaptureKeys(
            self.material, table.metric, self.kernel, smaller, self.dtype, threads, new_array
        )
        self._quiet: ValueKeys = np.empty(0, self.key)
        self._place = np.full(len(TURNED), -1, np.int16)
        self._free: list[int] = []  # places for keys that are not taken

    def begin_recount(self) -> None:
        """Forgets what was counted and found."""
        self.sides = [SideRecount(1 << 8 * self.dtype.itemsize) for _ in COLUMNS]

    def values(self, pair: Partition, side: Side) -> Values:
        """The values of a partition, in the kernel's order of men."""
        if (values := self._kept.find(pair, side)) is not None:
            return values
        return self._arranged(pair, side, self._kept.room_for(pair, side))

    def _arranged(self, pair: Partition, side: Side, out: Values) -> Values:
        with self.readers.lend() as table:
            pieces = [rows.astype(self.dtype, copy=False) for rows in table.pieces(pair, side)]
            self.kernel.arrange(pair, pieces, out)
        return out

    # ---- all moves ----

    def verify_positions(self) -> None:
        sweeps = [(mover, sweep(mover, on, self._shape)) for mover, on in _walks()]
        self.steps = sum(len(b.read) + len(b.pairs) for _, batches in sweeps for b in batches)
        self._make_room(max(most_held(batches) for _, batches in sweeps))
        if self._shape == WHOLE:
            self.captures.enter(range(len(TURNED)))
        for mover, batches in sweeps:
            self._verify(mover, batches)

    def verify_part(self, part: int, parts: int) -> None:
        """Verifies one of so many parts: some partitions of one walk of the mover's king, with one
        side to move.
        """
        mover, pairs, _ = walk_parts(parts)[part]
        self._verify(mover, sweep(mover, pairs, self._shape))

    def _verify(self, mover: Side, batches: Sequence[SweepBatch]) -> None:
        """Verifies the positions of some partitions of a walk with one side to move."""
        self._make_room(most_held(batches))
        for batch in batches:
            for pair in batch.read:
                self._place[pair] = self._free.pop()
            self._read(opponent(mover), batch.read, self._place, self._quiet)
            self._tell(len(batch.read))
            self._check(mover, batch.pairs, self._place, self._quiet)
            self._tell(len(batch.pairs))
            self._free += self._place[batch.gone].tolist()
            self._place[batch.gone] = -1
        self._kept.let_go()

    def _make_room(self, partitions: int) -> None:
        """Makes room for the keys of so many partitions."""
        if self._quiet.size < partitions * self.slots:
            self._quiet = np.empty(0, self.key)  # it goes before the next one is made
            make = recycled_if_small if self._shape == WHOLE else zeros
            self._quiet = make(partitions * self.slots, self.key.type)
            self._free = list(range(partitions))

    def _tell(self, partitions: int) -> None:
        """Reports progress."""
        self.done += partitions
        self.listen(self.done / self.steps)

    def _read(self, side: Side, walk: list[int], place: Partitions, quiet: ValueKeys) -> None:
        self.captures.enter(walk)

        def job(pairs: Partitions) -> None:
            for pair in numbers_of(pairs):
                at = int(place[pair]) * self.slots
                here = quiet[at : at + self.slots]
                self.kernel.quiet(pair, side, self.values(pair, side), here, self.captures.of_men)

        self._run(job, walk)
        if self._shape != WHOLE:
            self.captures.leave()

    def _run(self, job: Callable[[Partitions], Found], pairs: Sequence[int]) -> list[Found]:
        """Runs a job for partitions, with no more of them at a time than a batch has."""
        jobs = partition_jobs(pairs, self.slots)
        together = self._shape.together
        if together >= self.threads.count:
            return self.threads.map(job, jobs)
        some = (jobs[at : at + together] for at in range(0, len(jobs), together))
        return [found for each in some for found in self.threads.map(job, each)]

    def _check(self, mover: Side, pairs: list[int], place: Partitions, quiet: ValueKeys) -> None:
        side = self.sides[mover]

        def job(pairs: Partitions) -> list[tuple[Partition, PartitionCheck, ValueCounts]]:
            found = []
            for pair in numbers_of(pairs):
                tally = np.zeros(side.tally.shape, side.tally.dtype)
                values = self.values(pair, mover)
                said = self.kernel.check(pair, mover, values, quiet, place, tally)
                found.append((pair, PartitionCheck(*said), tally))
            return found

        for found in self._run(job, pairs):
            for pair, said, tally in found:
                side.add(pair, self.slots, said, tally)

    def first_row(self, side: Side, value: int) -> Row:
        """The first row that holds a position with a side to move and a value."""
        pair, to_move = Partition(self.sides[side].first_with(value)), SIDES[side]
        slot = self.kernel.find(pair, to_move, self.values(pair, to_move), value)
        return Row(pair * self.slots + slot)


@lru_cache(maxsize=1)
def _walks() -> list[ProofWalk]:
    """The walks of both kings in the order of a proof."""
    walks = (ProofWalk(mover, on) for mover in SIDES for on in _kernels.Verifier.walks(mover))
    return in_turns(walks)


def deeper_by(metric: Metric) -> int:
    """By how much a value of a loss is longer than the longest win that it leads to."""
    return 2 if metric.counts_plies else 1


def _last(men: Sequence[tuple[str, int]]) -> int:
    """The man that the kernel counts last: the last one without a like man, if there is one."""
    single = [i for i, man in enumerate(men) if men.count(man) == 1]
    return max(single, default=len(men) - 1)


def proof_dtype(table: Table, smaller: dict[Material, Table]) -> np.dtype[Any]:
    """int8, unless a value of the table, or of a table whose depths count, does not fit."""
    depths = [int(n) for c in COLUMNS for r in ("win", "loss") for n in table.counts[c][r]]
    carried = smaller.values() if table.metric.exits_carry_depth else ()
    wide = any(t.dtype == np.int16 for t in (table, *carried))
    longest = max(depths, default=0) + deeper_by(table.metric) - 1
    return np.dtype(np.int16 if wide or longest > NARROW_MAX else np.int8)
