"""Little domains to solve, the workers that solve them and the store that outlives them, in memory.

A partition finds a hash of all that it and its neighbours found before.  So a step that is lost,
done twice or given the wrong pass changes the table.  A level begins with all that was found
in the levels it rests on, and a table of levels is made of their parts.  `slow_twin` computes the
same tables in a loop, without a coordinator.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from kingpair.coordinator.machine.commands import (
    Call,
    Conclude,
    Create,
    Export,
    Lose,
    LoseAtOnce,
    Paint,
    Prepare,
    Publish,
    Release,
    Seal,
    SentFrontier,
    Task,
    Verify,
    Win,
)
from kingpair.coordinator.machine.events import (
    Computed,
    Damaged,
    Done,
    Event,
    Failed,
    Fault,
    Painted,
    Prepared,
    Proved,
    Written,
)
from kingpair.coordinator.plan.domains import BuildPlan, DomainPlan, Layout, LoggedSpan, SolvedLevel
from kingpair.workers.number_types import Depth, Side

# ---- what is solved ----

Layer = dict[
    int, int
]  # partition -> what was found there; a partition that found nothing is not in


def mixed(*values: object) -> int:
    return crc32(repr(values).encode())


Passes = list[tuple[Layer, Layer]]


def opened(domain: str, winner: Side, smaller: tuple[int, ...], partition: int) -> int:
    """Returns what is known of a partition before anything is found."""
    return mixed(domain, winner, smaller, partition)


def found(known: int, around: list[int], depth: int, length: int) -> int:
    """Returns what a step finds: 0 is nothing.  Its count is `found % 4`, never 0."""
    value = mixed(known, around, depth)
    return value | 1 if depth < length and (value % 3 or around) else 0


def count(value: int) -> int:
    return value % 4


def length(domain: str, winner: Side) -> int:
    return 1 + mixed(domain, winner) % 5


def last_exit(domain: str, winner: Side) -> int:
    """The depth until which passes go on even if they find nothing."""
    return 1 + mixed(winner, domain) % 4


def slow_twin(plan: BuildPlan) -> dict[str, int]:
    """The tables of a plan, one partition after the other."""
    tables: dict[str, int] = {}
    layers: dict[str, dict[Side, Passes]] = {}
    parts: dict[str, list[int]] = {}
    for domain in plan.domains:
        layout, name = plan.layouts[domain.layout], domain.name
        below = [digest_of(layers[level]) for level in domain.rests_on]
        needs = (*smaller_of(domain, tables), *below)
        layers[name] = {w: _analysed(name, w, needs, layout) for w in domain.winners}
        own = parts[name] = parts_of(domain, layout, layers[name])
        if not domain.table:
            tables[name] = mixed([part for level in domain.rests_on for part in parts[level]] + own)
    return tables


def smaller_of(domain: DomainPlan, tables: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(tables[name] for name in domain.needs if name not in domain.rests_on)


def digest_of(layers: Mapping[Side, Passes]) -> int:
    """Returns a digest of all that was found in a level."""
    return mixed(
        [
            (w, [[sorted(layer.items()) for layer in both] for both in layers[w]])
            for w in sorted(layers)
        ]
    )


def _analysed(domain: str, winner: Side, smaller: tuple[int, ...], layout: Layout) -> Passes:
    known = {p: opened(domain, winner, smaller, p) for p in range(layout.partitions)}
    passes = [(Layer(), advance(layout, known, Layer(), 0, length(domain, winner)))]
    last = last_exit(domain, winner)
    while len(passes) <= last or passes[-1][1]:
        depth = len(passes)
        won = advance(layout, known, passes[-1][1], depth, length(domain, winner))
        goes_on = won or depth <= last
        lost = advance(layout, known, won, depth, length(domain, winner)) if goes_on else Layer()
        passes.append((won, lost))
    return passes


def advance(layout: Layout, known: Layer, frontier: Layer, depth: int, end: int) -> Layer:
    """One step over the partitions in `known`, which then know what was found."""
    layer = Layer()
    for p in known:
        around = [frontier[q] for q in (p, *layout.neighbours[p]) if q in frontier]
        if value := found(known[p], around, depth, end):
            layer[p] = value
    for p, value in layer.items():
        known[p] = mixed(known[p], value)
    return layer


def parts_of(domain: DomainPlan, layout: Layout, layers: Mapping[Side, Passes]) -> list[int]:
    size = domain.together
    end = layout.partitions if domain.painted is None else domain.painted
    return [part_of(range(at, min(at + size, end)), layers) for at in range(0, end, size)]


def part_of(partitions: Iterable[int], layers: Mapping[Side, Passes]) -> int:
    return mixed(
        [
            (winner, p, [(won.get(p), lost.get(p)) for won, lost in layers[winner]])
            for p in partitions
            for winner in sorted(layers)
        ]
    )


# ---- the store ----


class StoreFails(Exception):
    """The store does not take or give a thing at the moment."""


class Lost(Exception):
    """A frontier is gone with the node that had it."""


@dataclass
class EntryDamaged(Exception):
    winner: Side
    depth: int
    is_below: bool = False


class EntryCleared(Exception):
    """An entry that is read was cleared."""


@dataclass
class Store:
    """The store outlives every worker.  An entry or a table is there whole or not at all."""

    entries: dict[tuple[str, int, int, int, int], tuple[Layer, Layer]] = field(default_factory=dict)
    damaged: set[tuple[str, int, int, int, int]] = field(default_factory=set)
    parts: dict[tuple[str, int, int], int] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    refuses: int = 0  # so many of the next accesses

    def access(self) -> None:
        if self.refuses:
            self.refuses -= 1
            raise StoreFails

    def log(self, domain: str, winner: Side, log: Iterable[LoggedSpan]) -> Passes:
        """The passes of an analysis, of all its workers."""
        self.access()
        return [
            self._pass(domain, winner, depth, stretch)
            for stretch in log
            for depth in range(stretch.first, stretch.last + 1)
        ]

    def clear_logs(self, domain: str) -> None:
        self.entries = {key: of for key, of in self.entries.items() if key[0] != domain}
        self.damaged = {key for key in self.damaged if key[0] != domain}

    def _pass(self, domain: str, winner: Side, depth: int, at: LoggedSpan) -> tuple[Layer, Layer]:
        won, lost = Layer(), Layer()
        for worker in range(at.workers):
            key = (domain, winner, depth, at.incarnation, worker)
            if key in self.damaged:
                raise EntryDamaged(winner, depth)
            if key not in self.entries:
                raise EntryCleared
            entry = self.entries[key]
            won |= entry[0]
            lost |= entry[1]
        return won, lost


# ---- workers ----


@dataclass
class Worker:
    """One worker of one incarnation: sets in memory, tasks that wait, calls answered in order."""

    domain: DomainPlan
    layout: Layout
    incarnation: int
    number: int
    node: str
    owners: tuple[int, ...]
    store: Store
    objects: dict[str, tuple[str, Layer]]
    below: tuple[SolvedLevel, ...] = ()
    waiting: list[tuple[Call, Task]] = field(default_factory=list)
    hangs: bool = False
    known: Layer = field(default_factory=dict)
    won: Layer = field(default_factory=dict)
    lost: Layer = field(default_factory=dict)
    unsealed: dict[tuple[int, int], tuple[Layer, Layer]] = field(default_factory=dict)

    @property
    def own(self) -> list[int]:
        return [p for p, owner in enumerate(self.owners) if owner == self.number]

    def do(self, call: Call, task: Task) -> Event:
        try:
            return self._do(call, task)
        except StoreFails:
            return Failed(call, Fault.STORE, "the store refuses")
        except Lost:
            return Failed(call, Fault.WORKER, "a frontier is gone")
        except EntryDamaged as damage:
            depth = Depth(damage.depth - 1)
            return Damaged(call, damage.winner, depth, "a bit has flipped", damage.is_below)
        except EntryCleared:
            return Failed(call, Fault.FINAL, "an entry was cleared")

    def _do(self, call: Call, task: Task) -> Event:
        match task:
            case Create() | Release():
                return Done(call)
            case Verify() | Conclude() | Export():
                return self._proved(call, task)
            case Prepare(winner, log):
                self._prepare(winner, log)
                last = last_exit(self.domain.name, winner)
                return Prepared(call, last, self._send(call, self.lost))
            case LoseAtOnce(winner):
                self.lost = self._advance(winner, 0, {})
                self.unsealed[winner, 0] = ({}, self.lost)
                return self._computed(call, self.lost)
            case Win(winner, depth, inbound):
                self.won = self._advance(winner, depth, self._receive(inbound) | self.lost)
                self.unsealed[winner, depth] = (self.won, {})
                return self._computed(call, self.won)
            case Lose(winner, depth, inbound):
                self.lost = self._advance(winner, depth, self._receive(inbound) | self.won)
                self.unsealed[winner, depth] = (self.won, self.lost)
                return self._computed(call, self.lost)
            case Seal(winner, depth):
                self.store.access()
                at = (self.domain.name, winner, depth, self.incarnation, self.number)
                self.store.entries[at] = self.unsealed[winner, depth]
                return Done(call)
            case Paint(parts, logs):
                layers = {w: self.store.log(self.domain.name, w, log) for w, log in logs}
                for part in parts:
                    painted = part_of(range(part.first, part.stop), layers)
                    self.store.parts[self.domain.name, part.number, self.incarnation] = painted
                return Painted(call, (8,) * len(parts))
            case Publish(parts):
                return self._publish(call, parts)

    def _proved(self, call: Call, task: Verify | Conclude | Export) -> Event:
        assert self.domain.name in self.store.tables, "nothing to verify"
        table = self.store.tables[self.domain.name]
        if isinstance(task, Verify) and task.parts > 1:
            return Proved(call, f"{task.part} of {task.parts}: {table}")
        if isinstance(task, Conclude):
            parts = len(task.findings)
            assert task.findings == tuple(f"{part} of {parts}: {table}" for part in range(parts))
        return Done(call)

    def _prepare(self, winner: Side, log: tuple[LoggedSpan, ...]) -> None:
        needs = (*smaller_of(self.domain, self.store.tables), *map(self._digest, self.below))
        self.known = {p: opened(self.domain.name, winner, needs, p) for p in self.own}
        self.won, self.lost, self.unsealed = {}, {}, {}
        for won, lost in self.store.log(self.domain.name, winner, log):
            for layer in (won, lost):
                for p in set(layer) & set(self.known):
                    self.known[p] = mixed(self.known[p], layer[p])
            self.lost = {p: value for p, value in lost.items() if p in self.known}

    def _digest(self, level: SolvedLevel) -> int:
        try:
            return digest_of({w: self.store.log(level.name, w, log) for w, log in level.logs})
        except EntryDamaged as damage:
            raise EntryDamaged(damage.winner, damage.depth, is_below=True) from damage

    def _advance(self, winner: Side, depth: int, frontier: Layer) -> Layer:
        end = length(self.domain.name, winner)
        return advance(self.layout, self.known, frontier, depth, end)

    def _computed(self, call: Call, layer: Layer) -> Event:
        counts = tuple(count(layer[p]) if p in layer else 0 for p in self.own)
        return Computed(call, counts, self._send(call, layer))

    def _send(self, call: Call, layer: Layer) -> tuple[SentFrontier, ...]:
        batches: dict[int, Layer] = {}
        for p, value in layer.items():
            for q in range(self.layout.partitions):
                if p in self.layout.neighbours[q] and self.owners[q] != self.number:
                    batches.setdefault(self.owners[q], {})[p] = value
        sent = []
        for receiver, batch in sorted(batches.items()):
            ref = f"{self.domain.name}.{self.incarnation}.{call.number}.{self.number}.{receiver}"
            self.objects[ref] = (self.node, batch)
            sent.append(SentFrontier(self.number, receiver, ref, 8 * len(batch)))
        return tuple(sent)

    def _receive(self, inbound: tuple[SentFrontier, ...]) -> Layer:
        layer = Layer()
        for batch in inbound:
            assert batch.receiver == self.number, f"{batch} came to worker {self.number}"
            if batch.ref not in self.objects:
                raise Lost
            layer |= self.objects[batch.ref][1]
        return layer

    def _publish(self, call: Call, parts: tuple[int, ...]) -> Event:
        self.store.access()
        name = self.domain.name
        written = [(level.name, *part) for level in self.below for part in level.parts]
        written += [(name, part, at) for part, at in enumerate(parts)]
        table = mixed([self.store.parts[part] for part in written])
        assert self.store.tables.get(name, table) == table, f"{name} was published otherwise"
        self.store.tables[name] = table
        return Written(call, 8 * len(parts), str(table))
