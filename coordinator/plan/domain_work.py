"""The parts of a domain's solution: the seconds and the stored bytes that each of them takes.

    opening    every worker reads the smaller tables, as far as its partitions and those around
               them go, and opens its own partitions
    passes     steps on all partitions, barriers, what others found; the log goes to the store, or
               to the node's own disk, and if several workers write it as a copy to another's
    painting   all painters paint parts of the table, as many at once as they have cores; the log is
               read from the store, or from their own disks and over the network from others';
               parts go to the store, and if they stay to the own disk, too
    joining    one worker reads the parts of the others and writes the table; of a table that stays
               in parts it reads the notes and writes the trailer
    proof      all painters prove parts of the table, and read it and the smaller tables for that;
               if parts are on the disks of machines, they are copied from there

The painters are the workers of the passes, or more of them: then a new team begins.  A worker alone
reads from its own memory what it has written, if that fits; several read it from the store.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kingpair.coordinator.plan.amounts import PARTS_FROM
from kingpair.coordinator.plan.closure import part_size
from kingpair.coordinator.plan.cluster import Cluster, Constants
from kingpair.coordinator.plan.domains import proof_part_count
from kingpair.coordinator.plan.estimate import TABLE_BYTES_PER_VALUE
from kingpair.coordinator.plan.pass_statistics import PassShares, occupied, stream_bytes
from kingpair.coordinator.plan.sharing import (
    Sharing,
    paint_shares,
    proof_copies,
    proof_shares,
)
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.material_index import index_of
from kingpair.workers.index.sweeps import WALK
from kingpair.workers.index.walk_parts import WALKS
from kingpair.workers.number_types import Side, opponent
from kingpair.workers.solve.sets_mode import SetsMode

UNIT_SLOTS = 512
NEAR_AXES = 3
STEPS = 2  # of a pass, in each of which all workers are asked and waited for
TABLE_DENSITY = 0.093  # bytes a value, the mean of the pawnless tables of five men (conversion)
STREAM = 3.5e-11  # seconds of a core for a byte of a set that is read from a disk or written
AGAIN = 4e-7  # seconds of a core for a unit found that is read again from the log, into a window
IN_A_BATCH = 2  # columns, both of which are read with one
BLOCK = 1 << 16  # rows of a table that have a digest
NOTED, TRAILER = 59, 72  # bytes for a block in the note of its part, and in the table's trailer
TRAILED = 8e-7  # seconds to read what is noted of a block and write it to the trailer
TRAILER_OPENED = 3.3e-7  # seconds for a block when a table is opened
COPIES_MOVED = 2  # a copy of open_w is read and written in a pass
COPYING = 2.6e8  # bytes of its log that a node gives another in a second, as measured on two cores
FETCHING = 3.4e8  # bytes that it takes of others if it asks for eight pieces at once, so measured
TEAM_BEGUN = 3.0  # seconds until processes that are new on their nodes have a worker
NARROW = 126  # the longest distance of which a value is a byte in a proof


class Part(NamedTuple):
    """The seconds of a part on the cores and the network of its team, and the bytes that it reads
    from the store and writes there; `beside` if the store works beside the cores.
    """

    name: str
    seconds: float
    stored: float
    beside: bool = False

    def alone(self, rate: float) -> float:
        """The seconds of the part if nothing else uses the store."""
        storing = self.stored / rate
        return max(self.seconds, storing) if self.beside else self.seconds + storing


class PassForecast(NamedTuple):
    """A pass: seconds, and bytes exchanged among all workers."""

    seconds: float
    exchanged: float

    def longer(self, seconds: float) -> "PassForecast":
        return PassForecast(self.seconds + seconds, self.exchanged)


class DomainWork(NamedTuple):
    """A domain in the hands of a team."""

    material: Material
    cluster: Cluster
    constants: Constants
    share: Sharing
    painters: int

    @property
    def slots(self) -> int:
        return index_of(self.material).size

    @property
    def busy(self) -> float:
        return self.share.busy(self.cluster.cores, index_of(self.material).together)

    @property
    def table(self) -> float:
        """The bytes that its table is likely to have."""
        return 2 * self.slots * TABLE_DENSITY

    @property
    def workers(self) -> int:
        return self.share.workers

    def parts(self, winners: int, passes: Sequence[PassForecast], log: float) -> tuple[Part, ...]:
        """All parts, in their order."""
        solving, painting = self.passes(passes, log), self.painting(log)
        return self.opening(winners), solving, painting, self.joining(), self.proof()

    def opening(self, winners: int) -> Part:
        """Each worker reads of the smaller tables its partitions and those around them."""
        smaller, c = smaller_slots(self.material), self.constants
        opened = winners * self.slots * c.opening * self.busy
        seconds = max(self.share.held) * smaller * c.exit / self.cluster.cores + opened
        return Part("opening", seconds, sum(self.share.held) * smaller * IN_A_BATCH * TABLE_DENSITY)

    def moving(self, mode: SetsMode, a_set: int) -> float:
        """The seconds in which a pass reads and writes the sets that lie in files: each worker its
        own, and the copies of open_w that `lose` reads; on disks of the nodes, or in the store.
        """
        per_set, share = mode.read + mode.written, self.share
        copies = COPIES_MOVED * (mode.held == 0)
        copied = [max(counts) for counts in zip(*share.read, strict=True)]
        most = a_set * (per_set * share.own + copies * copied[0]) / len(TURNED)
        every = a_set * (per_set + copies * copied[1] / len(TURNED))
        disk = self.cluster.disk
        return most * STREAM / self.cluster.cores + (
            most / disk if disk else every / self.cluster.store
        )

    def a_pass(self, winner: Side, found: PassShares, mode: SetsMode) -> PassForecast:
        c, read = self.constants, self.share.read
        won, lost = (self._stream(part) / len(TURNED) for part in found)
        unit = c.near if len(self.material.letters) <= NEAR_AXES else c.unit
        unit += AGAIN * (mode is not SetsMode.ALL)
        units = self.slots / UNIT_SLOTS
        work = len(TURNED) * c.partition + units * (c.scan + occupied(found.won) * unit)
        waiting = STEPS * (c.step + self.workers * c.worker)
        most, all_of_them = (
            won * along_loser + lost * along_winner
            for along_loser, along_winner in zip(read[opponent(winner)], read[winner], strict=True)
        )
        taken = most * (c.take / self.cluster.cores + 1 / self.cluster.network)
        return PassForecast(work * self.busy + waiting + taken, all_of_them)

    def passes(self, forecasts: Iterable[PassForecast], log: float) -> Part:
        """All passes, whose log is written meanwhile."""
        each = list(forecasts)
        seconds, part = sum(one.seconds for one in each), log / self.workers
        if not self.cluster.disk:
            return Part("passes", seconds, log, beside=True)
        copied = part if self.workers > 1 else 0.0
        sent = copied + sum(one.exchanged for one in each) / self.workers
        moved = max((part + copied) / self.cluster.disk, sent / self.cluster.network)
        return Part("passes", max(seconds, moved, copied / COPYING), 0.0)

    def log(self, found: PassShares) -> float:
        """Bytes of the streams of what a pass found."""
        return sum(map(self._stream, found))

    def _stream(self, part: float) -> float:
        """The bytes of the streams of so large a part of all slots."""
        return self.slots * part * stream_bytes(part) if part else 0.0

    def painting(self, log: float) -> Part:
        """A worker alone makes the table at once.  What others have logged is read over the
        network into a file, and from there.
        """
        if self.painters == 1:
            seconds, again = self.slots * self.constants.paint * self.busy, self._read_again(log)
            own, others = again, 0.0
        else:
            seconds, own, others = self._shared_painting(log)
        begun = TEAM_BEGUN if self.painters > self.workers else 0.0
        if not self.cluster.disk:
            return Part("painting", begun + seconds, own + others + self.table)
        kept = (2 * others + (self.table if self.stays_in_parts else 0.0)) / self.painters
        given = (own + others) / self.workers
        disk, network = (given + kept) / self.cluster.disk, others / self.workers
        seconds = max(seconds, disk, network / self.cluster.network)
        return Part("painting", begun + seconds, self.table)

    def _shared_painting(self, log: float) -> tuple[float, float, float]:
        """The seconds of the worker with most parts, and the bytes of the log that all of them read
        of their own and of others.
        """
        size, together = part_size(self.material, self.painters), index_of(self.material).together
        chunks = -(-size // together)
        at_once = max(1, self.cluster.cores // chunks)
        shares = paint_shares(self.workers, self.painters, size, together, at_once)
        rounds = shares.turns * -(-chunks // self.cluster.cores)
        painted = rounds * min(size, together) / len(TURNED)
        seconds = self.slots * self.constants.paint * painted
        return seconds, log * shares.own / len(TURNED), log * shares.others / len(TURNED)

    def _read_again(self, size: float) -> float:
        """Bytes that a team reads from the store of what it has written there: a worker alone has
        as much in memory as fits half of it.
        """
        return 0.0 if self.painters == 1 and size <= self.cluster.memory / 2 else size

    @property
    def blocks(self) -> float:
        return self.slots / BLOCK

    @property
    def stays_in_parts(self) -> bool:
        return self.painters > 1 and 2 * self.slots * TABLE_BYTES_PER_VALUE >= PARTS_FROM

    def joining(self) -> Part:
        if self.stays_in_parts:
            return Part("joining", self.blocks * TRAILED, self.blocks * (NOTED + TRAILER))
        through = 2 * self.table if self.painters > 1 else 0.0
        return Part("joining", through / self.cluster.network, through, beside=True)

    def proof(self) -> Part:
        """One half of the work is to read partitions and those around, one to check them."""
        units = self.constants.proof * self.slots / (2 * len(TURNED)) / 2  # a partition and mover
        if self.painters == 1:
            seconds = self.slots * self.constants.proof / self.cluster.cores
            return Part("proof", seconds, 2 * self._read_again(self.table))
        parts = proof_part_count(WALKS, self.painters)
        pairs, around, read = proof_shares(parts // WALKS)
        rounds = -(-pairs // self.cluster.cores) + -(-around // self.cluster.cores)
        turns = -(-parts // self.painters)
        seconds = turns * rounds * units + self.blocks * TRAILER_OPENED
        stored = min(parts, self.painters) * self.blocks * TRAILER
        stored += read * smaller_slots(self.material) * IN_A_BATCH * TABLE_DENSITY / len(TURNED)
        part = self.table / len(TURNED)
        if self.stays_in_parts and self.cluster.disk:
            others = proof_copies(parts // WALKS, self.painters) * (1 - 1 / self.painters)
            return Part("proof", seconds + self._copied(others * part), stored)
        return Part("proof", seconds, stored + read * part)

    def _copied(self, size: float) -> float:
        """The seconds in which a prover copies so much from the disks of others to its own, and
        gives others as much.
        """
        return size * max(1 / FETCHING, 1 / self.cluster.network, 2 / self.cluster.disk)

    def proof_memory(self, longest: int) -> int:
        """Bytes of a worker: the values of its partitions, and the captures that lead from them."""
        around = WALK if self.painters == 1 else proof_shares(self._finer)[1]
        held = len(TURNED) if self.painters == 1 else around
        a_set = index_of(self.material).slots * (1 if longest <= NARROW else 2)
        captures = (len(self.material.letters) + 1) * held * a_set // 64
        return around * a_set + captures

    @property
    def _finer(self) -> int:
        return proof_part_count(WALKS, self.painters) // WALKS


def smaller_slots(material: Material) -> int:
    """Slots of the columns that captures lead to."""
    columns = {
        (capture.material, capture.swapped, material.sides[capture.captive])
        for capture in material.captures()
    }
    return len(columns) * index_of(material).size // 64
