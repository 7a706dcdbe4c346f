"""What a build is to do: the closure of its materials, what of it is there, what is begun.

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
from workers.threads import chunk_size
from workers.workshop import Tables

Waves = tuple[tuple[Material, ...], ...]


def sorted_out(request: Request, directory: Tables) -> tuple[Waves, tuple[Material, ...]]:
    """The waves of what is missing, and what is there.  What rests on a table to be built is
    built again.
    """
    todo: list[tuple[Material, ...]] = []
    present: list[Material] = []
    missing: set[Material] = set()
    for wave in waves(request.materials):
        for material in wave:
            forced = request.force and material in request.materials
            stale = any(capture.material in missing for capture in material.captures())
            if forced or stale or not directory.has(material):
                missing.add(material)
            else:
                present.append(material)
        if left := tuple(m for m in wave if m in missing):
            todo.append(left)
    return tuple(todo), tuple(present)


def estimates(request: Request, todo: Iterable[Iterable[Material]]) -> list[Estimate]:
    return [
        estimate(material, request.threads, request.metric) for wave in todo for material in wave
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
    request = Request((), Path(), metric)
    cores = max(node.cores for node in nodes)
    return [
        room_for(described(request, material, cores), layout(), Policy(), nodes)
        for material in materials
    ]


def plan_of(
    request: Request,
    directory: Tables,
    todo: Waves,
    present: Iterable[Material],
    policy: Policy,
    given_out: Callable[[str], int],
    cores: int,
) -> Plan:
    """The closure as the coordinator knows it: numbers.  `given_out` has the last incarnation that
    a domain is known to have had; `cores` are those of the node that has most.
    """
    names = tuple(map(str, present))
    materials = [material for wave in waves(request.materials) for material in wave]
    missing = {material for wave in todo for material in wave}
    return Plan(
        tuple(described(request, material, cores) for material in materials),
        (layout(),),
        names,
        tuple(
            _logged(directory, material, missing, given_out(str(material)))
            for material in materials
            if material in missing
        ),
        policy,
    )


@cache
def layout() -> Layout:
    return Layout((1,) * len(PAIRS), neighbours())


def described(request: Request, material: Material, cores: int) -> Domain:
    """A material as the coordinator knows it.  Each thread of a worker takes memory, and it has as
    many as its node has cores.
    """
    fixed, a_set = memory_of(estimate(material, cores, request.metric), request.metric)
    needs = {str(c.material) for c in material.captures() if c.material.letters}
    sides = ((STRONGER, material.stronger), (WEAKER, material.weaker))
    return Domain(
        str(material),
        wave=len(material.letters),
        needs=tuple(sorted(needs)),
        winners=tuple(side for side, men in sides if men),
        layout=0,
        size=estimate(material, 1, request.metric).bitmap,
        threads=-(-len(PAIRS) // chunk_size(len(material.letters))),
        together=_together(request, material),
        base=fixed,
        held=a_set,
        copied=a_set,
        verify=request.verify,
    )


def _together(request: Request, material: Material) -> int:
    """The partitions of a part: all of them, or whole chunks so that several workers can paint."""
    if request.workers == 1:
        return len(PAIRS)
    chunk = chunk_size(len(material.letters))
    return max(chunk, len(PAIRS) // (4 * request.workers) // chunk * chunk)


def _logged(
    directory: Tables, material: Material, missing: set[Material], given_out: int
) -> Logged:
    """What earlier builds logged, if it rests on the smaller tables that are there."""
    workshop = directory.workshop(material)
    last = max(given_out, workshop.last_incarnation())
    passes, workers = [], dict[int, int]()
    if any(capture.material in missing for capture in material.captures()):
        return Logged(str(material), last, (), ())
    smaller = directory.smaller(material)
    for winner in (STRONGER, WEAKER):
        logged = workshop.logged(winner, smaller)
        workers |= logged.workers
        found = tuple(Pass(p.depth, p.won, p.lost, by, p.over) for p, by in logged.passes)
        passes.append((winner, found))
    return Logged(str(material), last, tuple(passes), tuple(workers.items()))
