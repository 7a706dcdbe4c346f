"""Rehearses a build on a cluster that is not here: the schedule of a real build, with the seconds
that the model predicts.

    a node is free -> placements (schedule.py) -> each domain goes through its parts -> a node ...

The domains share the store: as many bytes a second as it has are divided among those that read or
write at the moment.  A team keeps its nodes until its table is proved.  So the time of a closure is
at least that of the store, and that of the nodes at work all the time.
"""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from kingpair.coordinator.machine.runs import runs_of
from kingpair.coordinator.machine.schedule import placements
from kingpair.coordinator.machine.state import PRESENT, BuildJob, Team
from kingpair.coordinator.plan.closure import domain_for, layout, winners_of
from kingpair.coordinator.plan.cluster import Cluster, Constants
from kingpair.coordinator.plan.domain_work import Part, smaller_slots
from kingpair.coordinator.plan.domains import BuildPlan, Node, WorkerPlacement
from kingpair.coordinator.plan.model import Prediction, predict
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import TableKey

NEVER = float("inf")
_LEAST = 1e-9  # seconds and bytes that count as nothing


class ClosureForecast(NamedTuple):
    """The forecast for a closure: its domains, and all of them together."""

    domains: tuple[Prediction, ...]
    seconds: float
    shared: float
    """Seconds if all nodes shared the work perfectly: those of one node with the store, over their
    number."""
    one_node: Prediction
    """The last domain with one worker, whether it fits there or not."""
    stored: float
    """Bytes that go to the store and come from it."""

    @property
    def ratio(self) -> float:
        """How many times as long as with perfect sharing."""
        return self.seconds / self.shared

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
) -> ClosureForecast:
    """Predicts a closure; `passes` are those of its largest materials."""
    materials = list(chain.from_iterable(waves))
    most = max(material.men for material in materials)
    named = {str(TableKey(material, metric)): material for material in materials}
    depths = {m: passes if m.men == most else None for m in materials}
    predictor = _Predictor(metric, cluster, constants, named, depths)
    build = _begun(materials, metric, cluster)
    clock, found = _Clock(cluster.store), dict[str, Prediction]()
    while True:
        for name, shares in placements(build):
            run = build.runs[name]
            team = Team(1, shares, ())
            build = build._replace(runs={**build.runs, name: run._replace(team=team)})
            found[name] = predictor.of(name, shares)
            clock.begin(name, found[name].parts)
        if not clock.waiting:
            break
        for name in clock.advance():
            run = build.runs[name]._replace(team=None, table=PRESENT)
            build = build._replace(runs={**build.runs, name: run})
    rest = {name: predictor.alone(name) for name in named if name not in found}  # they fit nowhere
    seconds = clock.now + sum(each.seconds for each in rest.values())
    ones = [predictor.on_one(name) for name in named]
    whole = sum(one.seconds for one in ones)
    domains = tuple((found | rest)[name] for name in named)
    stored = sum(part.stored for domain in domains for part in domain.parts)
    return ClosureForecast(domains, seconds, whole / cluster.nodes, ones[-1], stored)


def _begun(materials: Iterable[Material], metric: Metric, cluster: Cluster) -> BuildJob:
    """A build of these materials whose nodes are free."""
    domains = tuple(domain_for(TableKey(m, metric), cluster.cores) for m in materials)
    plan = BuildPlan(domains, (layout(),))
    names = [f"node{number:03}" for number in range(cluster.nodes)]
    nodes = {name: Node(name, cluster.cores, cluster.offered) for name in names}
    return BuildJob("rehearsal", plan=plan, nodes=nodes, runs=runs_of(plan, {}))


class _Predictor:
    """Predicts the domains of a closure, like ones once."""

    def __init__(
        self,
        metric: Metric,
        cluster: Cluster,
        constants: Constants,
        named: dict[str, Material],
        depths: dict[Material, int | None],
    ) -> None:
        self._metric, self._cluster, self._constants = metric, cluster, constants
        self._named, self._depths = named, depths
        self._known = dict[object, Prediction]()

    def of(self, name: str, shares: tuple[WorkerPlacement, ...]) -> Prediction:
        cores, cluster = shares[0].cores, self._cluster
        if cores < cluster.cores:  # it shares a node with others
            cluster = cluster._replace(nodes=1, cores=cores)
        return self._predicted(name, cluster, len(shares))

    def alone(self, name: str) -> Prediction:
        return self._predicted(name, self._cluster, None)

    def on_one(self, name: str) -> Prediction:
        return self._predicted(name, self._cluster._replace(nodes=1), 1)

    def _predicted(self, name: str, cluster: Cluster, workers: int | None) -> Prediction:
        material = self._named[name]
        kind = material.men, winners_of(material), smaller_slots(material), cluster, workers
        if kind not in self._known:
            self._known[kind] = self._of(material, cluster, workers)
        return self._known[kind]._replace(material=material)

    def _of(self, material: Material, cluster: Cluster, workers: int | None) -> Prediction:
        depth = self._depths[material]
        return predict(material, self._metric, cluster, self._constants, depth, workers)


class _Work:
    """The rest of a part: seconds, and bytes of the store."""

    def __init__(self, part: Part) -> None:
        self.seconds, self.bytes, self.beside = part.seconds, part.stored, part.beside

    @property
    def stores(self) -> bool:
        """Whether it uses the store now."""
        return self.bytes > _LEAST and (self.beside or self.seconds <= _LEAST)

    def ends_in(self, rate: float) -> float:
        """The seconds until its cores or the store have done what they do now."""
        storing = self.bytes / rate if self.stores else NEVER
        return min(self.seconds if self.seconds > _LEAST else NEVER, storing)

    def go_on(self, seconds: float, rate: float) -> None:
        if self.stores:
            self.bytes = max(0.0, self.bytes - seconds * rate)
        self.seconds = max(0.0, self.seconds - seconds)

    @property
    def is_done(self) -> bool:
        return self.seconds <= _LEAST and self.bytes <= _LEAST


class _Clock:
    """The domains at work, and the time."""

    def __init__(self, store: float) -> None:
        self._store, self.now = store, 0.0
        self.waiting: dict[str, list[_Work]] = {}  # the parts that are left, by domain

    def begin(self, name: str, parts: Iterable[Part]) -> None:
        self.waiting[name] = list(map(_Work, parts))

    def advance(self) -> list[str]:
        """Goes on until domains are solved, and returns them."""
        while not (done := [name for name, parts in self.waiting.items() if not parts]):
            at_work = [parts[0] for parts in self.waiting.values()]
            rate = self._store / max(1, sum(work.stores for work in at_work))
            seconds = min((work.ends_in(rate) for work in at_work), default=NEVER)
            for work in at_work:
                work.go_on(0.0 if seconds == NEVER else seconds, rate)
            self.now += 0.0 if seconds == NEVER else seconds
            for parts in self.waiting.values():
                while parts and parts[0].is_done:
                    parts.pop(0)
        for name in done:
            del self.waiting[name]
        return done
