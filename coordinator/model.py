"""What a build will take on machines that are not here.

    pass       = overhead + units held x scan + units found x unit, over the cores with any to do,
                 + what others found, sent and taken in
    exchange   = what a pass finds, once for each worker that holds a copy of its partition
    memory     = sets of a worker's own partitions and their neighbours, and the smaller tables
    domain     = opening + passes + painting + joining + proof
    closure    = wave by wave, the domains of a wave side by side

What is found where is a guess (course.py); what machines do with it is a calculation: from the cut
of the graph of partitions that a build really makes, the memory that its workers really reserve,
and constants that `kingpair bench --constants` measures.  Nothing here knows a clock or a network.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from coordinator.closure import layout
from coordinator.course import DEEPEST, Found, course, occupied, stream_bytes
from coordinator.cut import cut, halo
from coordinator.domains import Policy
from coordinator.plan import BASE, TABLE_BYTES_PER_VALUE, estimate, memory_of
from workers.geometry import PAIRS
from workers.material import STRONGER, WEAKER, Material
from workers.metric import Metric
from workers.table import rows_of
from workers.threads import chunk_size

UNIT_SLOTS = 512
NEAR_AXES = 3
STEPS = 2  # of a pass, in each of which all workers are asked and waited for
GRAIN = Policy().grain


class Cluster(NamedTuple):
    """Equal nodes; bytes and bytes a second.  The store's are shared by all of them."""

    nodes: int
    cores: int
    memory: int
    network: float
    store: float

    @property
    def offered(self) -> int:
        """The memory of a node that is for workers: a process to spare has the rest."""
        return self.memory - BASE


class Constants(NamedTuple):
    """Seconds on one core, as measured; see `kingpair bench --constants`."""

    partition: float = 3.6e-6  # a pass, for each partition
    scan: float = 3.0e-10  # a pass, for each unit that is held
    unit: float = 4.9e-7  # a unit in which a pass finds anything
    near: float = 2.4e-7  # the same where a partition stays in a core's cache, up to five men
    opening: float = 4.5e-10  # a slot, before the first pass of a winner
    exit: float = 2.7e-9  # a slot of a smaller table, read and brought into the larger one's frame
    take: float = 5.6e-9  # a byte of what another worker found, taken into the copies
    paint: float = 3.0e-9  # a slot of both sides, painted and compressed
    proof: float = 8.0e-9  # a slot of both sides, proved
    step: float = 7.0e-4  # a step: asking all workers and waiting for them
    worker: float = 8.0e-4  # the same, more for each worker


class Pass(NamedTuple):
    """A pass: seconds, and bytes exchanged among all workers."""

    seconds: float
    exchanged: float


class Prediction(NamedTuple):
    """What a domain will take.  Memory and disk are bounds, times and the exchange are likely."""

    material: Material
    metric: Metric
    workers: int
    memory: int  # of the node that needs most
    memory_there: int
    passes: tuple[Pass, ...]
    opening: float
    logging: float  # what the store needs to take the log; it does so behind the passes
    painting: float
    proof: float
    table: int
    log: int

    @property
    def fits(self) -> bool:
        return self.memory <= self.memory_there

    @property
    def solving(self) -> float:
        return max(sum(p.seconds for p in self.passes), self.logging)

    @property
    def seconds(self) -> float:
        return self.opening + self.solving + self.painting + self.proof

    @property
    def exchanged(self) -> float:
        return sum(p.exchanged for p in self.passes)


class Closure(NamedTuple):
    """What a closure will take: its domains, and all of them together."""

    domains: tuple[Prediction, ...]
    seconds: float

    @property
    def fits(self) -> bool:
        return all(domain.fits for domain in self.domains)

    @property
    def memory(self) -> int:
        return max(domain.memory for domain in self.domains)

    @property
    def exchanged(self) -> float:
        return sum(domain.exchanged for domain in self.domains)

    @property
    def disk(self) -> int:
        return sum(d.table for d in self.domains) + max(d.log for d in self.domains)


def predict_all(
    waves: Iterable[Iterable[Material]],
    metric: Metric,
    cluster: Cluster,
    constants: Constants,
    passes: int | None = None,
) -> Closure:
    """A closure, wave by wave; `passes` are those of its largest materials."""
    materials = [material for wave in waves for material in wave]
    most = max(material.men for material in materials)
    domains = tuple(
        predict(m, metric, cluster, constants, passes if m.men == most else None) for m in materials
    )
    by_wave = groupby(domains, lambda domain: domain.material.men)
    return Closure(domains, sum(_side_by_side(list(wave), cluster.nodes) for _, wave in by_wave))


def _side_by_side(domains: Sequence[Prediction], nodes: int) -> float:
    """No faster than its longest domain, nor than all nodes at work all the time."""
    return max(max(d.seconds for d in domains), sum(d.seconds * d.workers for d in domains) / nodes)


def predict(
    material: Material,
    metric: Metric,
    cluster: Cluster,
    constants: Constants,
    passes: int | None = None,
) -> Prediction:
    workers, memory = _team(material, metric, cluster)
    work = _Work(material, cluster, constants, Sharing.of(workers))
    deepest = DEEPEST[metric][material.men] if passes is None else passes
    courses = [course(material.men, metric, winner, deepest) for winner in _winners(material)]
    found = [each for course in courses for each in course]
    whole = estimate(material, cluster.cores, metric)
    logged = sum(map(work.bytes, found)) / cluster.store
    return Prediction(
        material,
        metric,
        workers,
        memory,
        cluster.offered,
        tuple(map(work.a_pass, found)),
        opening=work.opening(len(courses)),
        logging=logged,
        painting=work.painting(whole.table) + logged,
        proof=work.proof(whole.table),
        table=whole.table,
        log=whole.log,
    )


def _winners(material: Material) -> tuple[int, ...]:
    sides = ((STRONGER, material.stronger), (WEAKER, material.weaker))
    return tuple(side for side, men in sides if men)


# ---- a team: how many workers, what each of them holds ----


class Sharing(NamedTuple):
    """What the cut among so many workers comes to, in partitions."""

    workers: int
    own: int  # of the worker that has most
    each: tuple[tuple[int, int], ...]  # own and copied, by every worker
    copied: int  # by the worker that copies most
    copies: int  # by all workers

    @staticmethod
    @lru_cache(maxsize=512)
    def of(workers: int) -> "Sharing":
        owners, graph = cut(layout(), workers), layout()
        shares = [[p for p, o in enumerate(owners) if o == w] for w in range(workers)]
        halos = [len(halo(graph, share)) for share in shares]
        return Sharing(
            workers,
            max(map(len, shares)),
            tuple(zip(map(len, shares), halos, strict=True)),
            max(halos),
            sum(halos),
        )

    def busy(self, cores: int, together: int) -> float:
        """Seconds that a second's work on all partitions takes, as chunks of so many together."""
        chunks = -(-self.own // together)
        return -(-chunks // cores) * min(together, self.own) / len(PAIRS)


def _team(material: Material, metric: Metric, cluster: Cluster) -> tuple[int, int]:
    """As many workers as the domain deserves, or more if their memory does not suffice; and the
    memory that the largest of them needs.
    """
    most = min(cluster.nodes, len(PAIRS))
    needs = memory_of(estimate(material, cluster.cores, metric), metric)
    alone = _memory(needs, 1)
    deserved = min(-(-estimate(material, 1, metric).bitmap // GRAIN), most)
    if deserved == 1 and (alone <= cluster.offered or most == 1):
        return 1, alone
    fixed, own, _ = needs
    for count in range(max(2, deserved), most + 1):
        if fixed + own * -(-len(PAIRS) // count) > cluster.offered:
            continue  # its own partitions alone are too many
        needed = _memory(needs, count)
        if needed <= cluster.offered:
            return count, needed
    return most, _memory(needs, most)


def _memory(needs: tuple[int, int, int], workers: int) -> int:
    """That of the largest share, by what `memory_of` says."""
    fixed, own, copied = needs
    shares = Sharing.of(workers).each
    return fixed + max(own * mine + copied * around for mine, around in shares)


# ---- what it does, in seconds ----


class _Work(NamedTuple):
    """A domain in the hands of a team."""

    material: Material
    cluster: Cluster
    constants: Constants
    share: Sharing

    @property
    def slots(self) -> int:
        return rows_of(self.material)

    @property
    def busy(self) -> float:
        return self.share.busy(self.cluster.cores, chunk_size(len(self.material.letters)))

    def opening(self, winners: int) -> float:
        """Every worker reads all of the smaller tables; each opens its own partitions."""
        smaller, c = smaller_slots(self.material), self.constants
        read = self.share.workers * smaller * TABLE_BYTES_PER_VALUE / self.cluster.store
        return (
            read
            + smaller * c.exit / self.cluster.cores
            + winners * self.slots * c.opening * (self.busy)
        )

    def a_pass(self, found: Found) -> Pass:
        c, size = self.constants, self.bytes(found) / len(PAIRS)
        unit = c.near if len(self.material.letters) <= NEAR_AXES else c.unit
        units = self.slots / UNIT_SLOTS
        work = len(PAIRS) * c.partition + units * (c.scan + occupied(found.won) * unit)
        waiting = STEPS * (c.step + self.share.workers * c.worker)
        taken = size * self.share.copied * (c.take / self.cluster.cores + 1 / self.cluster.network)
        return Pass(work * self.busy + waiting + taken, size * self.share.copies)

    def bytes(self, found: Found) -> float:
        """Of the streams of what a pass found."""
        return sum(self.slots * part * stream_bytes(part) for part in found if part)

    def painting(self, table: int) -> float:
        """Each worker paints parts; one of them joins the parts, if there are several."""
        joining = 2 * table / min(self.cluster.store, self.cluster.network)
        joined = joining if self.share.workers > 1 else 0.0
        return self.slots * self.constants.paint * self.busy + table / self.cluster.store + joined

    def proof(self, table: int) -> float:
        """By one worker."""
        return self.slots * self.constants.proof / self.cluster.cores + table / self.cluster.store


def smaller_slots(material: Material) -> int:
    """Slots of the columns that captures lead to."""
    columns = {
        (capture.material, capture.swapped, material.sides[capture.man])
        for capture in material.captures()
    }
    return len(columns) * rows_of(material) // 64
