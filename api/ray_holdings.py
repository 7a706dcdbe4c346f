"""What a build holds of a cluster: parts of nodes, each reserved, each with a process to spare.

    held        from when the first worker is wanted there until nobody has worked there for a while
    reserved    its cores and its memory, through Ray: another build that wants them waits, or does
                without
    to spare    a process that has imported everything and belongs to no domain; it holds what
                those who work there would leave behind (`workers.estate`)

To start a process takes a second or two, for a small material longer than solving it.  So the
process of a worker that has answered everything is kept for the next one; what is still on its way
somewhere when it is released may be anything, and is ended.  Now and then each part that is held is
brought to one process to spare: for the next domain, and for the next incarnation of whoever dies.

A spare is nobody's.  That one has died is noticed by whoever would take it, and costs the start
that it was to save.  It has BASE bytes of the part, which are offered to no worker; one that keeps
more is ended, and of several all but one, at the next look.  Nothing here outlives the crew.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import ray
from ray._private.state import available_resources_per_node
from ray.exceptions import RayError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from api.ray_actor import REMOTE
from coordinator.crew import Site
from coordinator.domains import Node
from coordinator.plan import BASE
from workers.estate import Address

NODE_LABEL = "ray.io/node-id"
KEEP_SECONDS = 10.0  # a part where nobody works
START_SECONDS = 60.0
FREE_SECONDS = 3.0
SOON = 0.05
SIGN_SECONDS = 1.0  # for a spare to say that it lives; it takes a millisecond


class Place(NamedTuple):
    """A part of a node, and the node, as Ray calls it."""

    machine: str
    part: Node


class Spare(NamedTuple):
    """A process, and its answer to being told to rest: how much memory it keeps."""

    actor: Any
    kept: Any

    def is_on_its_way(self) -> bool:
        """Starting, or coming to rest."""
        return not ray.wait([self.kept], timeout=0)[0]

    def rests(self) -> bool:
        """Whether it has come to rest, and keeps no more than it may."""
        with suppress(RayError):
            return not self.is_on_its_way() and int(ray.get(self.kept)) <= BASE
        return False

    def lives(self) -> bool:
        with suppress(RayError):
            return process(self.actor, SIGN_SECONDS) > 0
        return False


def process(actor: Any, limit: float = START_SECONDS) -> int:
    """The number of an actor's process, where it is, which is its sign of life."""
    number: int = ray.get(actor.lives.remote(), timeout=limit)
    return number


def _estates(actors: Iterable[Any]) -> dict[Any, Address | None]:
    """Those of which it is known: whoever is stopped does not answer, the dead do not either."""
    asked = {actor.estate.remote(): actor for actor in actors}
    found: dict[Any, Address | None] = {}
    for answer in ray.wait([*asked], num_returns=len(asked), timeout=SOON)[0] if asked else ():
        with suppress(RayError):
            found[asked[answer]] = ray.get(answer)
    return found


def _resting(actor: Any) -> Spare:
    return Spare(actor, actor.rest.remote())


class Holding:
    """A part of a node, from when it is taken until it is given back."""

    def __init__(self, place: Place, site: Site) -> None:
        self.place, self._site, part = place, site, place.part
        bundle = {"CPU": part.cores, "memory": part.memory + BASE}
        self.room = placement_group([bundle], bundle_label_selector=[{NODE_LABEL: place.machine}])
        self._working: dict[Any, Address | None] = {}  # and where each has its estate
        self._spares: list[Spare] = []  # who rested last comes first
        self._keeping: Any = None
        self._left = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Whether nobody has worked here for a while."""
        return not self._working and time.monotonic() > self._left + KEEP_SECONDS

    def worker(self) -> Any:
        """A process to work in: one to spare if there is any, else a new one."""
        actor = self._spared() or self._start()
        self._working[actor] = None
        return actor

    def leave(self, actor: Any, is_sound: bool) -> None:
        """A worker is released; one that is sound has answered all that it was asked."""
        if actor not in self._working:
            return  # all of it was given back
        del self._working[actor]
        self._left = time.monotonic()
        if is_sound:
            self._spares.insert(0, _resting(actor))
        else:
            ray.kill(actor)

    def level(self) -> None:
        """Have one process to spare, at rest rather than on its way there."""
        fit = [spare for spare in self._spares if spare.is_on_its_way() or spare.rests()]
        kept = sorted(fit, key=Spare.is_on_its_way)[:1]
        for spare in self._spares:
            if spare not in kept:
                ray.kill(spare.actor)
        self._spares = kept or [_resting(self._start())]
        self._working |= _estates(self._working)
        estates = [*filter(None, self._working.values())]
        self._keeping = self._spares[0].actor.keep.remote(estates)

    def spare(self) -> Spare:
        """One that is at rest, if there can be, and holds what those who work here would leave."""
        self.level()
        (spare,) = self._spares
        ray.wait([spare.kept, self._keeping], num_returns=2, timeout=START_SECONDS)
        return spare

    def give_back(self) -> None:
        for actor in (*self._working, *(spare.actor for spare in self._spares)):
            ray.kill(actor)
        self._working, self._spares = {}, []
        remove_placement_group(self.room)

    def _spared(self) -> Any:
        """One that rests; one on its way there is still further than one yet to be started."""
        for spare in sorted(self._spares, key=Spare.is_on_its_way):
            self._spares.remove(spare)
            if spare.is_on_its_way() or (spare.rests() and spare.lives()):
                return spare.actor
            ray.kill(spare.actor)
        return None

    def _start(self) -> Any:
        return REMOTE.options(scheduling_strategy=on(self.place.machine)).remote(self._site)


def give_back(held: Collection[Holding], is_awaited: bool) -> None:
    """All of them; and wait, but not for long, until whoever comes next can see that they are free:
    Ray takes a tenth of a second.
    """
    places = {holding.place for holding in held}
    for holding in held:
        holding.give_back()
    end = time.monotonic() + FREE_SECONDS
    while is_awaited and not _are_free(places) and time.monotonic() < end:
        time.sleep(0.01)


def _are_free(places: Iterable[Place]) -> bool:
    """Those that are on nodes that are there."""
    cores = Counter[str]()
    for machine, part in places:
        cores[machine] += part.cores
    free = available_resources_per_node()
    return all(free[m].get("CPU", 0) >= cores[m] for m in cores.keys() & free.keys())


def on(machine: str) -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(machine, soft=False)
