"""The division of a material of six men with pawns among nodes: most of them take more memory, disk
and time than one machine has.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from kingpair.api.answers.estimates import seconds_json
from kingpair.api.text import count, span
from kingpair.coordinator.execute.room import fits
from kingpair.coordinator.journal.forecast import Pace
from kingpair.coordinator.plan.amounts import amount as size
from kingpair.coordinator.plan.domains import Node
from kingpair.coordinator.plan.workload import work_by_team
from kingpair.workers.game.chess.material import MEN_MAX, Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import TableKey

NODES = (1, 4, 16)
_ANY_MEMORY = 1 << 62


class Shared(NamedTuple):
    """A material among some nodes: those that have a share, the memory of the one that needs most,
    and the work that is left one after the other.
    """

    nodes: int
    used: int
    memory: int
    work: float


def shared(material: Material, metric: Metric, cores: int) -> list[Shared]:
    """The material alone, its smaller tables there, among 1, 4 and 16 nodes."""
    found = []
    for number in NODES:
        nodes = [Node(f"node{i}", cores, _ANY_MEMORY) for i in range(number)]
        *levels, proof = fits(TableKey(material, metric), nodes)
        solvers, provers = max(level.workers for level in levels), proof.workers
        work = work_by_team(TableKey(material, metric), solvers, provers)
        memory = max(fit.needed for fit in (*levels, proof))
        found.append(Shared(number, max(solvers, provers), memory, work))
    return found


def with_nodes(
    text: Iterable[str],
    data: dict[str, Any],
    materials: Iterable[Material],
    metric: Metric,
    pace: Pace,
    cores: int,
) -> tuple[Iterator[str], dict[str, Any]]:
    """An estimate as text and as JSON, and those of six men with pawns among nodes."""
    large = [
        (material, shared(material, metric, cores))
        for material in materials
        if material.has_pawns and material.men == MEN_MAX
    ]
    if not large:
        return iter(text), data
    nodes = {str(material): [_json(each, pace) for each in of] for material, of in large}
    lines = (line for material, of in large for line in _text(material, of, pace))
    return chain(text, lines), data | {"nodes": nodes}


def _text(material: Material, found: Iterable[Shared], pace: Pace) -> Iterator[str]:
    yield f"{material} alone, on nodes like this machine:"
    for each in found:
        used = "" if each.used == each.nodes else f", {each.used} of them in use"
        time = span(*pace.range_of(each.work))
        yield f"  {count(each.nodes, 'node')}{used}: {size(each.memory)} of memory each, {time}"


def _json(each: Shared, pace: Pace) -> dict[str, Any]:
    return {
        "nodes": each.nodes,
        "used": each.used,
        "memory": each.memory,
        "seconds": seconds_json(pace, each.work),
    }
