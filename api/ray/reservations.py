"""Parts of nodes that a build has reserved, and the processes on them.

    reserved    cores and memory of a part, through Ray, from the first worker there until no worker
                has been there for a while; another build that needs them waits or skips the part.
                On a cluster of our own a build reserves nothing: it is alone there
    spare       a process that has imported everything and works for no domain; it maps the memory
                of the workers beside it, so that it can replace one
                (`kingpair.workers.solve.open_sets`)

Starting a process takes a second or two, longer than solving a small material.  So the process of a
worker that has answered every call is kept for the next worker; a process with unanswered calls is
ended.  From time to time each reserved part is brought to exactly one spare process: for the next
domain, and for the replacement of a worker that dies.

A spare process that has died is noticed when it is needed, and then another is started.  BASE bytes
of each part are left for the spare process; one that keeps more memory is ended at the next look,
and of several spare processes all but one.  All reservations end with the executor; on a cluster of
our own, spare processes are kept for the next build (kept_processes.py).
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import ray
from ray._private.state import available_resources_per_node
from ray.exceptions import RayError

from kingpair.api.ray.kept_processes import (
    LEAST_SHARED,
    START_SECONDS,
    KeptProcesses,
    SpareProcess,
    resting,
    started,
)
from kingpair.api.ray.resource_holder import holder
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.plan.domains import Node
from kingpair.coordinator.plan.estimate import BASE
from kingpair.workers.solve.open_sets import Address

IDLE_SECONDS = 10.0  # that a part without workers stays reserved
FREE_SECONDS = 3.0
ANSWER_SECONDS = 0.05


class NodePart(NamedTuple):
    """A part of a node, and Ray's name of the node."""

    machine: str
    part: Node


def _addresses(actors: Iterable[Any]) -> dict[Any, Address | None]:
    """Returns the addresses of open sets; processes that are stopped or dead do not answer."""
    asked = {actor.open_sets_address.remote(): actor for actor in actors}
    found: dict[Any, Address | None] = {}
    for answer in (
        ray.wait([*asked], num_returns=len(asked), timeout=ANSWER_SECONDS)[0] if asked else ()
    ):
        with suppress(RayError):
            found[asked[answer]] = ray.get(answer)
    return found


class Reservation:
    """A reserved part of a node, until it is given back."""

    def __init__(self, place: NodePart, site: Site, kept: KeptProcesses | None = None) -> None:
        self.place, self._kept, part = place, kept, place.part
        self._site = site if kept is None else site._replace(least_shared=LEAST_SHARED)
        needed = part.cores, part.memory + BASE
        self._holders = [holder(place.machine, *needed)] if kept is None else []
        self.held = [each.is_held.remote() for each in self._holders]
        """Has a value when the part is reserved, if it has to be."""
        self._working: dict[Any, Address | None] = {}  # and the address of its memory
        # The last that came to rest is first.
        self._spares = self._taken()
        self._keeping: Any = None
        self._left = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Whether no worker has been here for a while."""
        return not self._working and time.monotonic() > self._left + IDLE_SECONDS

    def worker(self) -> Any:
        """Returns a process for a worker: a spare one if there is any, else a new one."""
        actor = self._spared() or self._start()
        self._working[actor] = None
        return actor

    def leave(self, actor: Any, is_sound: bool) -> None:
        """Releases a worker's process.  A sound one, which answered every call, becomes spare."""
        if actor not in self._working:
            return  # the reservation was given back
        del self._working[actor]
        self._left = time.monotonic()
        if is_sound:
            self._spares.insert(0, resting(actor))
        else:
            ray.kill(actor)

    def level(self) -> None:
        """Keeps exactly one spare process, preferably one at rest."""
        fit = [spare for spare in self._spares if spare.is_on_its_way() or spare.rests()]
        kept = sorted(fit, key=SpareProcess.is_on_its_way)[:1]
        for spare in self._spares:
            if spare not in kept:
                ray.kill(spare.actor)
        self._spares = kept or self._taken() or [resting(self._start())]
        self._working |= _addresses(self._working)
        addresses = [*filter(None, self._working.values())]
        self._keeping = self._spares[0].actor.keep.remote(addresses)

    def spare(self) -> SpareProcess:
        """Returns the spare process, after waiting until it is at rest and maps the workers'
        memory.
        """
        self.level()
        (spare,) = self._spares
        ray.wait([spare.kept, self._keeping], num_returns=2, timeout=START_SECONDS)
        return spare

    def give_back(self) -> None:
        """Ends all processes, or leaves the spare ones to the next build."""
        for spare in sorted(self._spares, key=SpareProcess.is_on_its_way):
            if self._kept is None:
                ray.kill(spare.actor)
            else:
                self._kept.keep(self.place.machine, spare.actor)
        for actor in self._working:
            ray.kill(actor)
        self._working, self._spares = {}, []
        for each in self._holders:
            ray.kill(each)

    def _spared(self) -> Any:
        """Takes a spare process, preferably one at rest, or None if there is none."""
        for spare in sorted(self._spares, key=SpareProcess.is_on_its_way):
            self._spares.remove(spare)
            if spare.is_on_its_way() or (spare.rests() and spare.lives()):
                return spare.actor
            ray.kill(spare.actor)
        return None

    def _taken(self) -> list[SpareProcess]:
        """Takes a process that is kept from an earlier build, if there is one."""
        return [] if self._kept is None else self._kept.take(self.place.machine, self._site)

    def _start(self) -> Any:
        actor = started(self.place.machine)
        actor.serve.remote(self._site)
        return actor


def give_back(held: Collection[Reservation], is_awaited: bool) -> None:
    """Gives all of them back.  Waits, within a limit, until Ray shows them as free, which takes a
    tenth of a second.
    """
    places = {reservation.place for reservation in held}
    for reservation in held:
        reservation.give_back()
    end = time.monotonic() + FREE_SECONDS
    while is_awaited and not _are_free(places) and time.monotonic() < end:
        time.sleep(0.01)


def _are_free(places: Iterable[NodePart]) -> bool:
    """Whether the cores of these parts are free, as far as their nodes are still there."""
    cores = Counter[str]()
    for machine, part in places:
        cores[machine] += part.cores
    free = available_resources_per_node()
    return all(free[m].get("CPU", 0) >= cores[m] for m in cores.keys() & free.keys())
