"""The nodes of a Ray cluster that a build may use, in parts: as many as workers are wanted there.

Each node that comes is asked whether it is fit, by a task that runs on it.  What others have taken
of it then is not ours; of the memory that is left, each part keeps what a process to spare takes.
People read the name of a part: the address of its node, and what tells nodes of one address apart.
"""

import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray._private.state import available_resources_per_node

from api.fitness import lack, said, terms
from api.ray_cluster import line
from api.ray_holdings import Place, on
from coordinator.crew import Site
from coordinator.domains import Node
from coordinator.plan import BASE
from workers.errors import CannotBuild
from workers.store import uri_of

_LACK: Any = ray.remote(num_cpus=0, max_retries=0)(lack)


class Changes(NamedTuple):
    """Parts that have come, the names of those that are gone, and what new nodes lack that cannot
    be used.
    """

    come: tuple[Node, ...]
    gone: list[str]
    unfit: str


class Roster:
    """The nodes that may be used, each in as many parts as there are to be workers on it.

    What others have taken of a node when it comes is not ours.  There are no more parts than
    workers are wanted: what comes when there are enough waits until a node leaves.
    """

    def __init__(self, site: Site, workers: int | None, limit: float) -> None:
        self._workers, self._limit = workers, limit
        self._parts: dict[str, list[Node]] = {}  # by node, as Ray calls it
        self._asked: dict[str, tuple[Any, float]] = {}  # since when
        self._fit: set[str] = set()
        self._unfit: dict[str, str] = {}
        self._where = site.out
        # What a node can read and write if it shares the directory.
        self._mark: Path | None = None
        if site.out and uri_of(site.out) is None:
            self._mark = Path(site.out) / f".kingpair.{secrets.token_hex(8)}"
            self._mark.touch()

    def close(self) -> None:
        if self._mark is not None:
            self._mark.unlink(missing_ok=True)

    def first(self) -> tuple[Node, ...]:
        """The nodes at the beginning; one that is not fit is a mistake of whoever set it up."""
        alive = self._alive()
        self._ask(alive)
        if asked := [asked for asked, _ in self._asked.values()]:
            ray.wait(asked, num_returns=len(asked), timeout=self._limit)
        self._hear(time.monotonic() + self._limit)
        if self._unfit:
            self.close()
            raise CannotBuild(self._lacks(alive, self._unfit))
        return self._come(alive)

    def changes(self) -> Changes:
        alive, before = self._alive(), set(self._unfit)
        gone = [node for node in self._parts if node not in alive]
        names = [part.name for node in gone for part in self._parts.pop(node)]
        self._fit &= alive.keys()
        self._ask(alive)
        self._hear(time.monotonic())
        unfit = self._lacks(alive, self._unfit.keys() & alive.keys() - before)
        return Changes(self._come(alive), names, unfit)

    def _lacks(self, alive: dict[str, Any], nodes: Iterable[str]) -> str:
        named = ((alive[node]["NodeManagerAddress"], self._unfit[node]) for node in sorted(nodes))
        return said(named)

    def place(self, name: str) -> Place | None:
        """The part of that name, if it is ours."""
        for machine, parts in self._parts.items():
            for part in parts:
                if part.name == name:
                    return Place(machine, part)
        return None

    def drop(self, name: str) -> None:
        """It is not ours any more; the node comes again once none of its parts is."""
        if (place := self.place(name)) is not None:
            self._parts[place.machine].remove(place.part)
            if not self._parts[place.machine]:
                del self._parts[place.machine]

    def _alive(self) -> dict[str, Any]:
        return {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}

    def _ask(self, alive: dict[str, Any]) -> None:
        for node in alive.keys() - self._fit - self._asked.keys() - self._unfit.keys():
            if alive[node]["Resources"].get("CPU", 0) >= 1:
                what = terms(self._where, str(self._mark or ""))
                asked = _LACK.options(scheduling_strategy=on(node)).remote(what)
                self._asked[node] = asked, time.monotonic()

    def _hear(self, now: float) -> None:
        """Who is fit, of those that have answered or should have."""
        for node, (asked, since) in list(self._asked.items()):
            if ray.wait([asked], timeout=0)[0]:
                what = self._answer(asked)
            elif now > since + self._limit:
                what = f"does not answer within {self._limit:.0f} s; see ray status"
            else:
                continue
            del self._asked[node]
            if what:
                self._unfit[node] = what
            else:
                self._fit.add(node)

    @staticmethod
    def _answer(asked: Any) -> str:
        try:
            return str(ray.get(asked))
        except Exception as error:
            if "No module named 'api'" in str(error):
                return "has no kingpair; install kingpair[cluster] on every node"
            if "No module named 'api." in str(error):
                return "has another kingpair; install the same version on every node"
            return f"cannot be used: {line(error)}"

    def _come(self, alive: dict[str, Any]) -> tuple[Node, ...]:
        """Divide the nodes that are new, as far as workers are wanted."""
        new = sorted(self._fit - self._parts.keys())
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
        """How many parts the next of so many nodes should have."""
        if self._workers is None:
            return 1
        have = sum(map(len, self._parts.values()))
        return max(0, -(-(self._workers - have) // nodes))
