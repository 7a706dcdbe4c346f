"""What a build is to do: the closure of its materials, what of it is there, what is begun.

    subject     a material for a metric: one table, and to the coordinator one domain of its name
    waves       the subjects of all metrics by the number of their men

A table rests on smaller ones of its own metric alone, so the metrics of a build meet nowhere but in
its plan: domains side by side, counted together for memory and disk.  Analyses of one material for
two metrics read other columns and log other passes; what they do alike is to open the sets of legal
positions, 1 % of KRBvKR's time, and each does it for itself.  Masks of slots a process makes once.

What is there already and sound is not built again; what rests on a table that is built again is.
What an interrupted build logged is gone on from, unless it was to begin anew: the logs say how far
it came, no other record is needed.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from coordinator.domains import Domain, Layout, Logged, Node, Pass, Plan, Policy
from coordinator.plan import Estimate, estimate, memory_of, waves
from coordinator.request import Request
from coordinator.schedule import Room, room_for
from workers.errors import CannotBuild
from workers.geometry import PAIRS, neighbours
from workers.material import STRONGER, WEAKER, Material
from workers.metric import Metric
from workers.subject import Subject
from workers.threads import chunk_size
from workers.workshop import Library

Waves = tuple[tuple[Subject, ...], ...]


def subjects(request: Request) -> Waves:
    """All that a build is to leave behind, wave by wave."""
    return tuple(
        tuple(Subject(material, metric) for material in wave for metric in request.metrics)
        for wave in waves(request.materials)
    )


def sorted_out(request: Request, library: Library) -> tuple[Waves, tuple[Subject, ...]]:
    """The waves of what is missing, and what is there.  What rests on a table to be built is
    built again.
    """
    todo: list[tuple[Subject, ...]] = []
    present: list[Subject] = []
    missing: set[Subject] = set()
    for wave in subjects(request):
        for subject in wave:
            forced = request.force and subject.material in request.materials
            stale = not missing.isdisjoint(subject.smaller())
            if forced or stale or not library.has(subject):
                missing.add(subject)
            else:
                present.append(subject)
        if left := tuple(subject for subject in wave if subject in missing):
            todo.append(left)
    return tuple(todo), tuple(present)


def estimates(request: Request, todo: Waves) -> list[Estimate]:
    return [
        estimate(subject.material, request.threads, subject.metric)
        for wave in todo
        for subject in wave
    ]


def check_nodes(plan: Plan, nodes: Sequence[Node]) -> None:
    """Refuse what the nodes of a cluster cannot hold, however many of them share it, before the
    smaller materials are built for nothing.  If there are none yet, they are waited for.
    """
    for domain in plan.domains if nodes else ():
        room = room_for(domain, plan.layouts[domain.layout], plan.policy, nodes)
        if domain.name not in plan.present and room.short:
            raise CannotBuild(f"{room.reason}; use more nodes or larger ones")


def rooms(materials: Iterable[Material], metric: Metric, nodes: Sequence[Node]) -> list[Room]:
    """How each material would fit on the nodes of a cluster."""
    request = Request((), Path())
    cores = max(node.cores for node in nodes)
    return [
        room_for(described(request, Subject(material, metric), cores), layout(), Policy(), nodes)
        for material in materials
    ]


def plan_of(
    request: Request,
    library: Library,
    todo: Waves,
    present: Iterable[Subject],
    policy: Policy,
    given_out: Callable[[str], int],
    cores: int,
) -> Plan:
    """The closure as the coordinator knows it: numbers.  `given_out` has the last incarnation that
    a domain is known to have had; `cores` are those of the node that has most.
    """
    names = tuple(map(str, present))
    missing = {subject for wave in todo for subject in wave}
    every = [subject for wave in subjects(request) for subject in wave]
    return Plan(
        tuple(described(request, subject, cores) for subject in every),
        (layout(),),
        names,
        tuple(
            _logged(library, subject, missing, given_out(str(subject)))
            for subject in every
            if subject in missing
        ),
        policy,
    )


@cache
def layout() -> Layout:
    return Layout((1,) * len(PAIRS), neighbours())


def described(request: Request, subject: Subject, cores: int) -> Domain:
    """A subject as the coordinator knows it.  Each thread of a worker takes memory, and it has as
    many as its node has cores.
    """
    material, metric = subject
    fixed, own, copy = memory_of(estimate(material, cores, metric), metric)
    sides = ((STRONGER, material.stronger), (WEAKER, material.weaker))
    return Domain(
        str(subject),
        wave=len(material.letters),
        needs=tuple(sorted(map(str, subject.smaller()))),
        winners=tuple(side for side, men in sides if men),
        layout=0,
        size=estimate(material, 1, metric).bitmap,
        threads=-(-len(PAIRS) // chunk_size(len(material.letters))),
        together=_together(request, material),
        base=fixed,
        held=own,
        copied=copy,
        verify=request.verify,
    )


def _together(request: Request, material: Material) -> int:
    """The partitions of a part: all of them, or whole chunks so that several workers can paint."""
    if request.workers == 1:
        return len(PAIRS)
    chunk = chunk_size(len(material.letters))
    return max(chunk, len(PAIRS) // (4 * request.workers) // chunk * chunk)


def _logged(library: Library, subject: Subject, missing: set[Subject], given_out: int) -> Logged:
    """What earlier builds logged, if it rests on the smaller tables that are there."""
    workshop = library.workshop(subject)
    last = max(given_out, workshop.last_incarnation())
    passes, workers = [], dict[int, int]()
    if not missing.isdisjoint(subject.smaller()):
        return Logged(str(subject), last, (), ())
    smaller = library.of(subject.metric).smaller(subject.material)
    for winner in (STRONGER, WEAKER):
        logged = workshop.logged(winner, smaller)
        workers |= logged.workers
        found = tuple(Pass(p.depth, p.won, p.lost, by, p.over) for p, by in logged.passes)
        passes.append((winner, found))
    return Logged(str(subject), last, tuple(passes), tuple(workers.items()))
