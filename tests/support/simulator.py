"""A cluster that exists in memory alone, and everything that can befall it.

One seed is one cluster and one history.  Each turn delivers a message to the coordinator, lets a
worker do its next task, or does harm; which of them is drawn.

    worker       dies, hangs, is slow, is declared dead and works on, answers twice
    node         vanishes with the frontiers it produced, joins
    store        refuses writes and reads for a while, damages a log entry
    coordinator  is begun anew between any two events, its last commands performed or not
    user         pauses, resumes, cancels, asks for another try

Harm stops after a while, and then every build must end.  After every event `Watch` checks what
must hold at any moment.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from toys import Store, Worker
from watch import Watch

from kingpair.coordinator.machine.commands import (
    AwaitNodes,
    Call,
    ClearLogs,
    Command,
    Create,
    Do,
    MakePlan,
    Release,
    Seal,
    Task,
)
from kingpair.coordinator.machine.events import (
    Admitted,
    CancelRequested,
    Done,
    Event,
    Fault,
    Interrupted,
    LeaseExpired,
    NodeLeft,
    NodesAwaited,
    NodesJoined,
    PauseRequested,
    Planned,
    Queued,
    Restarted,
    ResumeRequested,
    RetryRequested,
    Unplannable,
    WorkerLost,
)
from kingpair.coordinator.machine.state import BuildJob, State
from kingpair.coordinator.machine.step import fold, step
from kingpair.coordinator.plan.domains import BuildPlan, DomainPlan, Layout, Node, Policy

QUIET_EVENTS_MAX = 3000
"""A build must have ended after so many events without harm."""


def little_plan(chance: random.Random) -> BuildPlan:
    """Two to four tables that rest on each other, of four to seven partitions; some have levels."""
    partitions = chance.randint(4, 7)
    links = {(p, (p + 1) % partitions) for p in range(partitions)}
    links |= {(chance.randrange(partitions), chance.randrange(partitions)) for _ in range(2)}
    both = {(p, q) for a, b in links for p, q in ((a, b), (b, a)) if p != q}
    layout = Layout(
        (1,) * partitions,
        tuple(tuple(q for q in range(partitions) if (p, q) in both) for p in range(partitions)),
    )
    names = [f"D{i}.{chance.randrange(1000)}" for i in range(chance.randint(2, 4))]
    tables = [_little_domain(chance, name, names[:i]) for i, name in enumerate(names)]
    domains = tuple(
        domain
        for table in tables
        for domain in (_with_levels(chance, table) if chance.random() < 0.4 else [table])
    )
    ahead, disks = chance.randint(1, 3), chance.random() < 0.5
    policy = Policy(grain=1, ahead=ahead, attempts=3, setbacks=4, has_disks=disks)
    return BuildPlan(domains, (layout,), policy=policy)


def _little_domain(chance: random.Random, name: str, smaller: list[str]) -> DomainPlan:
    return DomainPlan(
        name,
        wave=len(smaller),
        needs=tuple(chance.sample(smaller, min(len(smaller), chance.randint(0, 1)))),
        winners=chance.choice(((0,), (0, 1))),
        layout=0,
        size=chance.randint(1, 3),
        threads=chance.randint(1, 2),
        together=chance.randint(1, 3),
        verify=chance.random() < 0.5,
        proof=chance.choice((1, 2, 3)),
        held=chance.randint(1, 10),
        copied=1,
    )


def _with_levels(chance: random.Random, table: DomainPlan) -> list[DomainPlan]:
    """A table of one to four levels, each of which rests on the two below it."""
    names = [f"{table.name}.level{level}" for level in range(chance.randint(1, 4))]
    levels = [
        replace(
            table,
            name=name,
            needs=(*table.needs, *names[max(0, level - 2) : level]),
            together=chance.randint(1, 3),
            verify=False,
            table=table.name,
            rests_on=tuple(names[max(0, level - 2) : level]),
            painted=chance.randint(1, 5),
        )
        for level, name in enumerate(names)
    ]
    joined = replace(table, needs=tuple(names), winners=(), rests_on=tuple(names), painted=0)
    return [*levels, joined]


@dataclass
class Cluster:
    """A build, what performs its commands, and what is on its way to it."""

    chance: random.Random
    plan: BuildPlan
    harm: int = 150  # turns in which harm is done
    begin_anew_at: int = -1  # the coordinator, after so many events, harm or not
    build: BuildJob = field(default_factory=lambda: BuildJob("build"))
    events: list[Event] = field(default_factory=list)
    mail: list[Event] = field(default_factory=list)
    store: Store = field(default_factory=Store)
    objects: dict[str, tuple[str, dict[int, int]]] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    workers: dict[tuple[str, int, int], Worker] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)  # harm, by kind
    nodes_ever: int = 0
    timer: int = 0  # the last AwaitNodes that was performed
    advance: Callable[[BuildJob, Event], tuple[BuildJob, list[Command]]] = step
    refold: Callable[[list[Event]], BuildJob] = lambda events: fold("build", events)

    def __post_init__(self) -> None:
        self.watch = Watch(self.store)
        self.harm_rate = self.chance.choice((0.02, 0.06, 0.12))
        self.mail.append(Admitted())
        for _ in range(self.chance.randint(1, 3)):
            self._add_node()

    def run(self) -> None:
        """Until the build has ended for good."""
        for _ in range(self.harm):
            if self.chance.random() < self.harm_rate:
                self._harm()
            else:
                self._turn()
        self._make_whole()
        quiet = len(self.events)
        while not self._is_over():
            self._turn()
            assert len(self.events) - quiet < QUIET_EVENTS_MAX, "the build does not end"
        self.watch.at_the_end()

    # ---- what happens without harm ----

    def _turn(self) -> None:
        ready = [worker for worker in self.workers.values() if worker.waiting and not worker.hangs]
        pick = self.chance.randrange(len(self.mail) + len(ready) + 1)
        if pick < len(self.mail):
            self.deliver(self._post())
        elif pick < len(self.mail) + len(ready):
            self._work(ready[pick - len(self.mail)])
        elif not self.mail and not ready:
            self._wait()

    def _post(self) -> Event:
        """Any of the messages under way; some come twice."""
        at = self.chance.randrange(len(self.mail))
        if self.harm and self.chance.random() < 0.05:
            self.done["comes twice"] += 1
            return self.mail[at]
        return self.mail.pop(at)

    def _work(self, worker: Worker) -> None:
        """The next of its steps, or any of the entries it is to seal meanwhile."""
        seals = [i for i, (_, task) in enumerate(worker.waiting) if isinstance(task, Seal)]
        at = self.chance.choice([0, *seals])
        call, task = worker.waiting.pop(at)
        if isinstance(task, Release):
            del self.workers[call.domain, call.incarnation, call.worker]
        self.mail.append(worker.do(call, task))

    def _wait(self) -> None:
        """No message is under way: a timer ends, or the user asks for something."""
        if self._is_over():
            return
        timers: list[Event] = [LeaseExpired(call) for call in self._calls()]
        if self.build.awaiting:
            assert self.timer == self.build.waits, "nodes are awaited without a timer"
            timers.append(NodesAwaited(self.timer))
        if self.build.state is State.QUEUED:
            timers.append(Admitted())
        if self.build.state is State.PAUSED:
            timers.append(ResumeRequested())
        if self.build.state in (State.INTERRUPTED, State.FAILED):
            timers.append(RetryRequested())
        assert timers, f"nothing is waited for, and the build is {self.build.state}"
        self.deliver(self.chance.choice(timers))

    def _calls(self) -> list[Call]:
        teams = [run.team for run in self.build.runs.values() if run.team]
        calls = [call for team in teams for call in (*team.calls, *team.seals)]
        return [*calls, *sorted(self.build.releasing, key=repr)]

    def _is_over(self) -> bool:
        return self.build.state in (State.SUCCEEDED, State.CANCELLED)

    # ---- the coordinator ----

    def deliver(self, event: Event) -> None:
        self.build, commands = self.advance(self.build, event)
        self.events.append(event)
        self.watch.after(event, self.build, commands)
        falls = self.harm and self.chance.random() < 0.01
        if falls or len(self.events) == self.begin_anew_at:
            self._restart(commands if self.chance.random() < 0.5 else [])
        else:
            self._perform(commands)

    def _restart(self, performed: list[Command]) -> None:
        self.done["the coordinator is begun anew"] += 1
        self._perform(performed)
        rebuilt = self.refold(self.events)
        assert rebuilt == self.build, "the journal's fold is another build"
        self.timer = 0
        self.mail = [m for m in self.mail if self.chance.random() < 0.5]
        self.deliver(Restarted())
        self.mail.append(NodesJoined(tuple(self.nodes.values())))

    def _perform(self, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case MakePlan(attempt):
                    self.mail.append(self._planned(attempt))
                case Do(call, task):
                    self._do(call, task)
                case ClearLogs(domain):
                    self.store.clear_logs(domain)
                case AwaitNodes(number):
                    self.timer = number
                    if self.chance.random() < 0.5:
                        self._add_node()

    def _planned(self, attempt: int) -> Event:
        if self.harm and self.chance.random() < 0.1:
            self.done["the plan cannot be made"] += 1
            fault = self.chance.choice((Fault.STORE, Fault.FINAL))
            return Unplannable(attempt, fault, "a table cannot be read")
        present = tuple(self.store.tables)
        return Planned(
            attempt, BuildPlan(self.plan.domains, self.plan.layouts, present, (), self.plan.policy)
        )

    def _do(self, call: Call, task: Task) -> None:
        key = (call.domain, call.incarnation, call.worker)
        if isinstance(task, Create):
            self._create(call, task)
        elif key in self.workers:
            if isinstance(task, Release) and self.harm and self.chance.random() < 0.5:
                self.done["works on after its release"] += 1
            else:
                self.workers[key].waiting.append((call, task))
        elif isinstance(task, Release):
            self.mail.append(Done(call))
        else:
            self.mail.append(WorkerLost(*key, "it is not there"))

    def _create(self, call: Call, task: Create) -> None:
        key = (call.domain, call.incarnation, call.worker)
        if task.node not in self.nodes:
            self.mail.append(NodeLeft(task.node))
            return
        if key not in self.workers:
            domain = self.build.runs[call.domain].domain
            layout = self.plan.layouts[domain.layout]
            self.workers[key] = Worker(
                domain,
                layout,
                call.incarnation,
                call.worker,
                task.node,
                task.owners,
                self.store,
                self.objects,
                task.below,
            )
        self.workers[key].waiting.append((call, task))

    # ---- harm ----

    def _harm(self) -> None:
        harms = [
            self._worker_dies,
            self._worker_hangs,
            self._worker_is_declared_dead,
            self._lease_ends_early,
            self._node_vanishes,
            self._node_joins,
            self._store_refuses,
            self._entry_is_damaged,
            self._frontier_is_lost,
            self._answer_of_long_ago,
            self._user_asks,
        ]
        harm = self.chance.choice(harms)
        if harm():
            self.done[harm.__name__.strip("_").replace("_", " ")] += 1

    def _any_worker(self) -> tuple[tuple[str, int, int], Worker] | None:
        return self.chance.choice(list(self.workers.items())) if self.workers else None

    def _worker_dies(self) -> bool:
        if (found := self._any_worker()) is None:
            return False
        del self.workers[found[0]]
        if self.chance.random() < 0.8:
            self.mail.append(WorkerLost(*found[0], "killed"))
        return True

    def _worker_hangs(self) -> bool:
        if (found := self._any_worker()) is None:
            return False
        found[1].hangs = not found[1].hangs
        return True

    def _worker_is_declared_dead(self) -> bool:
        if (found := self._any_worker()) is None:
            return False
        self.mail.append(WorkerLost(*found[0], "declared dead"))
        return True

    def _lease_ends_early(self) -> bool:
        if not (calls := self._calls()):
            return False
        self.mail.append(LeaseExpired(self.chance.choice(calls)))
        return True

    def _node_vanishes(self) -> bool:
        if not self.nodes:
            return False
        name = self.chance.choice(sorted(self.nodes))
        del self.nodes[name]
        self.workers = {key: w for key, w in self.workers.items() if w.node != name}
        gone = [ref for ref, (node, _) in self.objects.items() if node == name]
        for ref in gone:
            del self.objects[ref]
        self.mail.append(NodeLeft(name))
        return True

    def _node_joins(self) -> bool:
        self._add_node()
        return True

    def _add_node(self) -> None:
        self.nodes_ever += 1
        node = Node(
            f"node{self.nodes_ever}", self.chance.randint(1, 3), self.chance.choice((40, 200))
        )
        self.nodes[node.name] = node
        self.mail.append(NodesJoined((node,)))

    def _store_refuses(self) -> bool:
        self.store.refuses = self.chance.choice((1, 2, 12))
        return True

    def _entry_is_damaged(self) -> bool:
        if not self.store.entries:
            return False
        self.store.damaged.add(self.chance.choice(list(self.store.entries)))
        return True

    def _frontier_is_lost(self) -> bool:
        if not self.objects:
            return False
        del self.objects[self.chance.choice(list(self.objects))]
        return True

    def _answer_of_long_ago(self) -> bool:
        if not self.events:
            return False
        event = self.chance.choice(self.events)
        if isinstance(event, (NodesJoined, NodeLeft, Restarted, PauseRequested, CancelRequested)):
            return False
        self.mail.append(event)
        return True

    def _user_asks(self) -> bool:
        asked = (
            PauseRequested(),
            ResumeRequested(),
            Interrupted("stopped"),
            RetryRequested(),
            Queued("asked for again"),
        )
        rarely = CancelRequested() if self.chance.random() < 0.3 else RetryRequested()
        self.mail.append(self.chance.choice((*asked, rarely)))
        return True

    def _make_whole(self) -> None:
        """Ends all harm.  Workers that hang go on hanging until their leases end."""
        self.harm = 0
        self.store.refuses = 0
        for _ in range(2):
            self.nodes_ever += 1
            node = Node(f"node{self.nodes_ever}", 2, 200)
            self.nodes[node.name] = node
            self.mail.append(NodesJoined((node,)))
