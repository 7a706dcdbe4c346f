"""From the coordinator's commands and the answers it gets to what whoever watches is told."""

import time
from collections import Counter
from collections.abc import Callable

from coordinator.commands import (
    Assigned,
    Command,
    Do,
    Paint,
    PassCommitted,
    Prepare,
    TablePublished,
    TableVerified,
    Verify,
)
from coordinator.domains import Plan
from coordinator.request import Committed, Listener, Painting, Published, Started, Verified
from workers.material import Material
from workers.passlog import Pass
from workers.table import Table

Find = Callable[[Material], Table]


class Telling:
    """Tells a listener; remembers what it takes to say how much and how long."""

    def __init__(self, listen: Listener, find: Find) -> None:
        self._listen, self._find = listen, find
        self._decided: Counter[tuple[str, int]] = Counter()
        self._since: dict[tuple[str, type], float] = {}

    def planned(self, plan: Plan) -> None:
        for logged in plan.logged:
            for winner, passes in logged.passes:
                self._decided[logged.domain, winner] = sum(p.won + p.lost for p in passes)

    def hear(self, command: Command) -> None:
        match command:
            case Assigned(domain) if (domain, Assigned) not in self._since:
                self._begin(domain, Assigned)
                self._listen(Started(Material.parse(domain)))
            case Do(call, Prepare()):
                self._begin(call.domain, PassCommitted)
            case PassCommitted():
                self._committed(command)
            case Do(call, Paint()) if (call.domain, Paint) not in self._since:
                self._begin(call.domain, Paint)
                self._listen(Painting(Material.parse(call.domain)))
            case TablePublished(domain):
                material = Material.parse(domain)
                seconds = self._seconds(domain, Assigned)
                counts = self._find(material).counts
                self._listen(Published(material, command.bytes, seconds, counts))
            case Do(call, Verify()):
                self._begin(call.domain, Verify)
            case TableVerified(domain):
                self._listen(Verified(Material.parse(domain), self._seconds(domain, Verify)))

    def _committed(self, done: PassCommitted) -> None:
        won, lost = sum(done.won), sum(done.lost)
        self._decided[done.domain, done.winner] += won + lost
        decided = self._decided[done.domain, done.winner]
        seconds = self._seconds(done.domain, PassCommitted)
        self._begin(done.domain, PassCommitted)
        passed = Pass(done.depth, won, lost, done.over)
        self._listen(Committed(Material.parse(done.domain), done.winner, passed, decided, seconds))

    def _begin(self, domain: str, what: type) -> None:
        self._since[domain, what] = time.monotonic()

    def _seconds(self, domain: str, what: type) -> float:
        return time.monotonic() - self._since[domain, what]
