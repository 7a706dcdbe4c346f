"""Predicts the time and memory of a domain on machines that are not here.

    pass       = overhead + units held x scan + units found x unit, over the cores with any to do,
                 + what others found, sent and taken in
    exchange   = what a pass finds, once for each worker that reads it: what is won along the
                 loser's moves, what is lost along the winner's
    memory     = sets of a worker's own partitions and their neighbours, and the smaller tables; or
                 what its part of the proof holds, if that is more
    domain     = opening + passes + painting + joining + proof (domain_work.py)

Machines on which a domain does not fit hold fewer of its sets (solve/sets_mode.py): then a pass
takes longer by the sets that it reads and writes at most, and by the copies of them.

The findings are a guess (pass_statistics.py); the rest is a calculation: from the cut of the graph
of partitions that a build makes, the memory that its workers reserve, and constants that
`kingpair bench --constants` measures.  machine/rehearsal.py has many domains side by side.
"""

from typing import NamedTuple

from kingpair.coordinator.plan.closure import winners_of
from kingpair.coordinator.plan.cluster import Cluster, Constants
from kingpair.coordinator.plan.domain_work import DomainWork, Part, PassForecast
from kingpair.coordinator.plan.domains import Policy, is_larger
from kingpair.coordinator.plan.estimate import BASE, Estimate, estimate, memory_of
from kingpair.coordinator.plan.pass_statistics import DEEPEST, pass_shares
from kingpair.coordinator.plan.sharing import Sharing
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.solve.sets_mode import SetsMode


class Prediction(NamedTuple):
    """The forecast for a domain.  Memory and disk are bounds, times and the exchange are likely."""

    material: Material
    metric: Metric
    workers: int  # that solve it
    painters: int  # that paint and prove its table
    memory: int  # of the node that needs most
    memory_there: int
    passes: tuple[PassForecast, ...]
    parts: tuple[Part, ...]
    store: float
    table: int
    log: int
    mode: SetsMode = SetsMode.ALL

    @property
    def fits(self) -> bool:
        return self.memory <= self.memory_there

    def part(self, name: str) -> float:
        """The seconds of a part if nothing else uses the store."""
        return sum(part.alone(self.store) for part in self.parts if part.name == name)

    @property
    def opening(self) -> float:
        return self.part("opening")

    @property
    def solving(self) -> float:
        return self.part("passes")

    @property
    def painting(self) -> float:
        return self.part("painting") + self.part("joining")

    @property
    def proof(self) -> float:
        return self.part("proof")

    @property
    def seconds(self) -> float:
        return sum(part.alone(self.store) for part in self.parts)

    @property
    def exchanged(self) -> float:
        return sum(p.exchanged for p in self.passes)


def predict(
    material: Material,
    metric: Metric,
    cluster: Cluster,
    constants: Constants,
    passes: int | None = None,
    workers: int | None = None,
) -> Prediction:
    """Predicts a domain on a cluster of its own, or in the hands of so many workers."""
    needs, workers = _shared(material, metric, cluster, workers)
    deepest = DEEPEST[metric][material.men] if passes is None else passes
    sharing, painters = Sharing.of(workers), _painters(needs, cluster, workers)
    work = DomainWork(material, cluster, constants, sharing, painters)
    winners = winners_of(material)
    found = [(w, each) for w in winners for each in pass_shares(material.men, metric, w, deepest)]
    needed = _memory(needs, metric, workers)
    if needs.mode is SetsMode.ALL:
        needed = max(needed, BASE + work.proof_memory(deepest))
        if cluster.nodes == 1 and needed > cluster.offered >= needs.streamed:
            needs = needs.modes(needs.sets - 1)[0].in_room(cluster.offered)
            needed = _memory(needs, metric, workers)
    moving = work.moving(needs.mode, needs.bitmap)
    forecasts = tuple(work.a_pass(*each, needs.mode).longer(moving) for each in found)
    log = min(needs.log, sum(work.log(each) for _, each in found))
    parts = work.parts(len(winners), forecasts, log)
    return Prediction(
        material,
        metric,
        workers,
        painters,
        needed,
        cluster.offered,
        forecasts,
        parts,
        cluster.store,
        table=needs.table,
        log=needs.log,
        mode=needs.mode,
    )


def _shared(
    material: Material, metric: Metric, cluster: Cluster, workers: int | None
) -> tuple[Estimate, int]:
    """The estimate in the first mode that fits, and the workers that share it if it is not said."""
    whole = estimate(material, cluster.cores, metric)
    for needs in whole.modes():
        count = _workers(needs, metric, cluster) if workers is None else workers
        if count is not None and _memory(needs, metric, count) <= cluster.offered:
            return needs, count
    return whole, workers or min(cluster.nodes, len(TURNED))


def _workers(needs: Estimate, metric: Metric, cluster: Cluster) -> int | None:
    """As many workers as the domain deserves, or more if their memory does not suffice; None if all
    are too few.
    """
    most = min(cluster.nodes, len(TURNED))
    deserved = min(Policy().solvers(needs.bitmap, len(TURNED), cluster.cores), most)
    if deserved == 1 and _memory(needs, metric, 1) <= cluster.offered:
        return 1
    fixed, own, _ = memory_of(needs, metric)
    for count in range(max(2, deserved), most + 1):
        if fixed + own * -(-len(TURNED) // count) > cluster.offered:
            continue  # its own partitions alone are too many
        if _memory(needs, metric, count) <= cluster.offered:
            return count
    return None


def _painters(needs: Estimate, cluster: Cluster, workers: int) -> int:
    """The workers that make the table of a solved domain: those of the passes, or a larger team."""
    policy, most = Policy(has_disks=cluster.disk > 0), min(cluster.nodes, len(TURNED))
    pay = min(policy.painters(needs.bitmap, len(TURNED), cluster.cores), most)
    return pay if is_larger(workers, pay) else workers


def _memory(needs: Estimate, metric: Metric, workers: int) -> int:
    """The memory of the largest share, by `memory_of`."""
    if workers == 1 and needs.mode is not SetsMode.ALL:
        return needs.memory
    fixed, own, copied = memory_of(needs, metric)
    shares = Sharing.of(workers).each
    return fixed + max(own * mine + copied * around for mine, around in shares)
