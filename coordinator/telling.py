"""From the coordinator's commands and the answers it gets to what whoever watches is told."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable

from coordinator import request
from coordinator.commands import (
    Assigned,
    Call,
    Command,
    Create,
    Do,
    Lose,
    LoseAtOnce,
    NodesLacking,
    NodesPassedOver,
    Paint,
    PassCommitted,
    Prepare,
    SetBack,
    TablePublished,
    TableVerified,
    Verify,
    Win,
)
from coordinator.domains import Plan
from coordinator.events import Computed, Event
from coordinator.request import (
    Cells,
    Committed,
    Listener,
    Painting,
    Post,
    Published,
    Restaffed,
    Started,
    Unused,
    Verified,
    Waiting,
    Work,
)
from workers.passlog import Pass
from workers.subject import Subject
from workers.table import Table

Find = Callable[[Subject], Table]
Passing = tuple[str, int, int]  # domain, winner, depth


class Telling:
    """Tells a listener; remembers what it takes to say how much and how long."""

    def __init__(self, listen: Listener, find: Find) -> None:
        self._listen, self._find = listen, find
        self._decided: Counter[tuple[str, int]] = Counter()
        self._since: dict[tuple[str, type], float] = {}
        self._posts: dict[str, list[Post]] = {}
        self._assigned: dict[str, Assigned] = {}
        self._steps: dict[Call, Passing] = {}
        self._work: defaultdict[Passing, dict[int, Work]] = defaultdict(dict)

    def planned(self, plan: Plan) -> None:
        for logged in plan.logged:
            for winner, passes in logged.passes:
                self._decided[logged.domain, winner] = sum(p.won + p.lost for p in passes)

    def happened(self, event: Event) -> None:
        """Take note of what a step took of its worker."""
        if isinstance(event, Computed) and (passing := self._steps.pop(event.call, None)):
            so_far = self._work[passing].get(event.call.worker, Work(0.0, 0))
            seconds = so_far.seconds + event.seconds
            self._work[passing][event.call.worker] = Work(seconds, event.memory)

    def hear(self, command: Command) -> None:
        match command:
            case Assigned():
                self._assign(command)
            case Do(call, Create() as task):
                self._create(call, task)
            case Do(call, Prepare()):
                self._begin(call.domain, PassCommitted)
            case Do(call, LoseAtOnce(winner)):
                self._steps[call] = call.domain, winner, 0
            case Do(call, Win(winner, depth) | Lose(winner, depth)):
                self._steps[call] = call.domain, winner, depth
            case PassCommitted():
                self._committed(command)
            case SetBack(domain, _, reason):
                self._listen(request.SetBack(Subject.parse(domain), reason))
            case NodesLacking(reason):
                self._listen(Waiting(reason))
            case NodesPassedOver(reason):
                self._listen(Unused(reason))
            case Do(call, Paint()) if (call.domain, Paint) not in self._since:
                self._begin(call.domain, Paint)
                self._listen(Painting(Subject.parse(call.domain)))
            case TablePublished(domain):
                subject = Subject.parse(domain)
                seconds = self._seconds(domain, Assigned)
                counts = self._find(subject).counts
                self._listen(Published(subject, command.bytes, seconds, counts))
            case Do(call, Verify()):
                self._begin(call.domain, Verify)
            case TableVerified(domain):
                self._listen(Verified(Subject.parse(domain), self._seconds(domain, Verify)))

    def _assign(self, assigned: Assigned) -> None:
        self._assigned[assigned.domain], self._posts[assigned.domain] = assigned, []

    def _create(self, call: Call, task: Create) -> None:
        """All workers of an incarnation are created at once, in order."""
        assigned, posts = self._assigned[call.domain], self._posts[call.domain]
        if call.worker != len(posts):
            return  # it is asked for once more
        partitions = task.owners.count(call.worker)
        posts.append(Post(task.node, task.cores, task.memory, partitions))
        if len(posts) < len(assigned.shares):
            return
        is_new = (call.domain, Assigned) not in self._since
        if is_new:
            self._begin(call.domain, Assigned)
        event = Started if is_new else Restaffed
        self._listen(event(Subject.parse(call.domain), tuple(posts), assigned.links_cut))

    def _committed(self, done: PassCommitted) -> None:
        won, lost = sum(done.won), sum(done.lost)
        self._decided[done.domain, done.winner] += won + lost
        decided = self._decided[done.domain, done.winner]
        seconds = self._seconds(done.domain, PassCommitted)
        self._begin(done.domain, PassCommitted)
        work = self._work.pop((done.domain, done.winner, done.depth), {})
        self._listen(
            Committed(
                Subject.parse(done.domain),
                done.winner,
                Pass(done.depth, won, lost, done.over),
                decided,
                seconds,
                Cells(done.won, done.lost),
                done.exchanged,
                tuple(work[worker] for worker in sorted(work)),
            )
        )

    def _begin(self, domain: str, what: type) -> None:
        self._since[domain, what] = time.monotonic()

    def _seconds(self, domain: str, what: type) -> float:
        return time.monotonic() - self._since[domain, what]
