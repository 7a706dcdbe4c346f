"""The nodes of a Ray cluster that a build may use, each divided into a part for each worker on it.

    new, or answers again -> asked whether it is fit -> fit: its parts join
                                   |                      |
                                   v                      v
                         unfit: passed over    silent, or Ray lists it no more: its parts leave

A silent node (`raylet_watch`) is not placed on, however many free cores Ray lists for it, until it
has answered again.  Cores and memory that others have reserved when a node joins are left to them.
Each part leaves memory for a spare process.  The name of a part is shown to people: the address of
its node, and digits that tell nodes with one address apart.
"""

from collections.abc import Set
from typing import Any, NamedTuple

import ray
from ray._private.state import available_resources_per_node

from kingpair.api.ray.fitness import said
from kingpair.api.ray.fitness_questions import FitnessQuestions
from kingpair.api.ray.raylet_watch import RayletWatch
from kingpair.api.ray.reservations import NodePart
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.plan.domains import Node
from kingpair.coordinator.plan.estimate import BASE
from kingpair.workers.errors import CannotBuild


class Changes(NamedTuple):
    """Parts that joined, the names of parts that left, which of those are silent, and why nodes
    cannot be used.
    """

    come: tuple[Node, ...]
    gone: list[str]
    silent: set[str]
    unfit: str


class NodePool:
    """The nodes that may be used, each in as many parts as it has workers.

    Cores that others have reserved when a node joins are not used.  There are no more parts than
    workers: a further node waits until another one leaves.
    """

    def __init__(self, site: Site, workers: int | None, limit: float, is_own: bool = False) -> None:
        self._workers, self._limit, self._is_own = workers, limit, is_own
        self._spread = site.spread
        self._parts: dict[str, list[Node]] = {}  # by node, as Ray calls it
        self._questions = FitnessQuestions(site.out, limit)
        self._watch = RayletWatch()
        self._silent: set[str] = set()

    def close(self) -> None:
        self._questions.close()
        self._watch.close()

    def first(self) -> tuple[Node, ...]:
        """Returns the nodes at the start.  Raises CannotBuild if one of them is not fit; those that
        do not answer are waited for while the build goes on.
        """
        alive, self._silent = self._alive()
        self._ask(alive)
        self._questions.await_answers()
        if unfit := self._questions.hear():
            self.close()
            raise CannotBuild(self._lacks(alive, unfit))
        return self._come(alive)

    def changes(self) -> Changes:
        alive, self._silent = self._alive()
        gone = {node: self._parts.pop(node) for node in [*self._parts] if node not in alive}
        self._questions.forget_all_but(alive.keys())
        self._ask(alive)
        unfit = self._lacks(alive, self._questions.hear() | self._questions.late())
        names = [part.name for parts in gone.values() for part in parts]
        of_silent = {part.name for node in gone.keys() & self._silent for part in gone[node]}
        return Changes(self._come(alive), names, of_silent, unfit)

    def _lacks(self, alive: dict[str, Any], unfit: dict[str, str]) -> str:
        named = ((alive[node]["NodeManagerAddress"], unfit[node]) for node in sorted(unfit))
        return said(named)

    @property
    def expects_nodes(self) -> bool:
        """Whether nodes are silent or have not answered yet."""
        return bool(self._silent) or self._questions.are_open

    @property
    def machines(self) -> Set[str]:
        """The nodes that are used, as Ray calls them."""
        return self._parts.keys()

    def put_off(self, name: str) -> list[str]:
        """Does without the node of a part for a while; returns the names of all its parts."""
        if (place := self.place(name)) is None:
            return []
        self._questions.put_off(place.machine)
        return [part.name for part in self._parts.pop(place.machine)]

    def place(self, name: str) -> NodePart | None:
        """Returns the part of that name, or None if this build does not have it."""
        for machine, parts in self._parts.items():
            for part in parts:
                if part.name == name:
                    return NodePart(machine, part)
        return None

    def drop(self, name: str) -> None:
        """Removes a part.  When all parts of a node are removed, the node may join again."""
        if (place := self.place(name)) is not None:
            self._parts[place.machine].remove(place.part)
            if not self._parts[place.machine]:
                del self._parts[place.machine]

    def _alive(self) -> tuple[dict[str, Any], set[str]]:
        """Returns the nodes that Ray lists, without those that are silent; and the silent ones."""
        alive = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
        if self._is_own:
            return alive, set()
        raylets = {
            name: f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"
            for name, node in alive.items()
        }
        silent = self._watch.silent(raylets)
        return {name: node for name, node in alive.items() if name not in silent}, silent

    def _ask(self, alive: dict[str, Any]) -> None:
        if self._is_own:
            self._questions.fit |= alive.keys()
        building = [node for node in alive if alive[node]["Resources"].get("CPU", 0) >= 1]
        self._questions.ask(building)

    def _come(self, alive: dict[str, Any]) -> tuple[Node, ...]:
        """Divides the new nodes into parts, as far as workers are wanted."""
        new = sorted(self._questions.fit - self._parts.keys())
        free = available_resources_per_node() if new else {}
        come: list[Node] = []
        for at, node in enumerate(new):
            cores = int(free.get(node, {}).get("CPU", 0))
            if parts := min(self._wanted(len(new) - at), cores):
                memory = max(0, int(free[node].get("memory", 0)) // parts - BASE)
                called = f"{alive[node]['NodeManagerAddress']}-{node[:8]}"
                divided = [Node(f"{called}.{i}", cores // parts, memory) for i in range(parts)]
                self._parts[node] = divided
                come += divided
        return tuple(come)

    def _wanted(self, nodes: int) -> int:
        """Returns how many parts the next of so many nodes should have."""
        have = sum(map(len, self._parts.values()))
        if self._workers is None:
            return max(1, -(-(self._spread - have) // nodes))
        return max(0, -(-(self._workers - have) // nodes))
