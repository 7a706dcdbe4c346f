"""Predicts the time and memory of a domain on machines that are not here.

    pass       = overhead + units held x scan + units found x unit, over the cores with any to do,
                 + what others found, sent and taken in
    exchange   = what a pass finds, once for each worker that reads it: what is won along the
                 loser's moves, what is lost along the winner's
    memory     = sets of a worker's own partitions and their neighbours, and the smaller tables; or
                 what its part of the proof holds, if that is more
    domain     = opening + passes + painting + joining + proof (domain_work.py)

A single machine on which a domain does not fit holds fewer of its sets (solve/sets_mode.py): then a
pass takes longer by the sets that it reads and writes at most.

The findings are a guess (pass_statistics.py); the rest is a calculation: from the cut of the graph
of partitions that a build makes, the memory that its workers reserve, and constants that
`kingpair bench --constants` measures.  machine/rehearsal.py has many domains side by side.
"""

from typing import NamedTuple

from kingpair.coordinator.plan.closure import winners_of
from kingpair.coordinator.plan.cluster import Cluster, Constants
from kingpair.coordinator.plan.domain_work import DomainWork, Part, PassForecast
from kingpair.coordinator.plan.domains import Policy
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
    workers: int
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
    if workers is None:
        workers = _workers(material, metric, cluster)
    deepest = DEEPEST[metric][material.men] if passes is None else passes
    work = DomainWork(material, cluster, constants, Sharing.of(workers))
    analyses = [
        (winner, pass_shares(material.men, metric, winner, deepest))
        for winner in winners_of(material)
    ]
    found = [(winner, each) for winner, shares in analyses for each in shares]
    whole = estimate(material, cluster.cores, metric)
    needed = max(_memory(material, metric, cluster, workers), BASE + work.proof_memory(deepest))
    alone = _alone(whole, needed, cluster)
    moving = work.moving((alone.mode.read + alone.mode.written) * whole.bitmap)
    forecasts = tuple(work.a_pass(*each).longer(moving) for each in found)
    log = min(whole.log, sum(work.log(each) for _, each in found))
    solving = work.passes(forecasts, log)
    parts = work.opening(len(analyses)), solving, work.painting(log), work.joining(), work.proof()
    return Prediction(
        material,
        metric,
        workers,
        needed if alone is whole else alone.memory,
        cluster.offered,
        forecasts,
        parts,
        cluster.store,
        table=whole.table,
        log=whole.log,
        mode=alone.mode,
    )


def _alone(whole: Estimate, needed: int, cluster: Cluster) -> Estimate:
    """The estimate with fewer sets in memory, if a single machine can hold those and not all."""
    fewer = whole.in_room(cluster.offered)
    fits = needed > cluster.offered >= fewer.memory
    return fewer if cluster.nodes == 1 and fits else whole


def _workers(material: Material, metric: Metric, cluster: Cluster) -> int:
    """As many workers as the domain deserves, or more if their memory does not suffice."""
    most = min(cluster.nodes, len(TURNED))
    pays = Policy().deserved(estimate(material, 1, metric).bitmap, cluster.cores)
    deserved = min(pays, most)
    alone = _memory(material, metric, cluster, 1)
    if deserved == 1 and (alone <= cluster.offered or most == 1):
        return 1
    fixed, own, _ = memory_of(estimate(material, cluster.cores, metric), metric)
    for count in range(max(2, deserved), most + 1):
        if fixed + own * -(-len(TURNED) // count) > cluster.offered:
            continue  # its own partitions alone are too many
        if _memory(material, metric, cluster, count) <= cluster.offered:
            return count
    return most


def _memory(material: Material, metric: Metric, cluster: Cluster, workers: int) -> int:
    """The memory of the largest share, by `memory_of`."""
    fixed, own, copied = memory_of(estimate(material, cluster.cores, metric), metric)
    shares = Sharing.of(workers).each
    return fixed + max(own * mine + copied * around for mine, around in shares)
