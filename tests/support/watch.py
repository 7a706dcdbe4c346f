"""Checks after every event of a build, after any harm to its cluster.

every incarnation is new, and its workers agree on the owner of each partition
a pass is committed once, in its turn, with every partition in it, every log entry durable
what is committed stays, but for a log that was damaged
a table is published once, after all passes and all parts
no node is given more than it has
whenever nodes are awaited, the journal says what for
"""

from collections import Counter

from toys import Store, count

from kingpair.coordinator.machine.commands import Call, Command, Create, Do
from kingpair.coordinator.machine.events import Damaged, Event
from kingpair.coordinator.machine.records import (
    Assigned,
    NodesLacking,
    PassCommitted,
    TablePublished,
)
from kingpair.coordinator.machine.state import BuildJob, State


class Watch:
    """Checks what must hold after every event."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.build = BuildJob("")
        self.depths: Counter[tuple[str, int]] = Counter()  # passes committed
        self.published: Counter[str] = Counter()
        self.reached: dict[str, tuple[int, int, int]] = {}
        self.owners: dict[tuple[str, int], tuple[int, ...]] = {}

    def after(self, event: Event, build: BuildJob, commands: list[Command]) -> None:
        before, self.build = self.build, build
        damaged = event if isinstance(event, Damaged) and build is not before else None
        if damaged is not None:
            self._damaged(damaged)
        for command in commands:
            match command:
                case Do(call, Create(owners=owners)):
                    self._created(call, owners)
                case PassCommitted():
                    self._committed(command)
                case TablePublished():
                    self._published(command)
        begins = build.awaiting and (build.waits > before.waits or not before.awaiting)
        assert begins == any(isinstance(command, NodesLacking) for command in commands)
        self._progress(before, self._reset_by(damaged))
        if any(isinstance(command, Assigned) for command in commands):
            self._nodes_hold_their_shares()

    def _damaged(self, event: Damaged) -> None:
        """Its own log is cut; if it was that of a level below, all levels below it begin again."""
        if not event.is_below:
            self.depths[event.call.domain, event.winner] = event.depth + 1
        for name in self._reset_by(event) if event.is_below else ():
            for winner in self.build.runs[name].domain.winners:
                self.depths[name, winner] = len(self.build.runs[name].passes.get(winner, ()))

    def _reset_by(self, event: Damaged | None) -> set[str]:
        """The domains that a damaged log sets back: one, or the levels of its table."""
        if event is None:
            return set()
        runs, name = self.build.runs, event.call.domain
        table = runs[name].domain.table if event.is_below else None
        return {name, *(other for other in runs if runs[other].domain.table == table)}

    def _created(self, call: Call, owners: tuple[int, ...]) -> None:
        """No incarnation is given out twice, and its workers agree on the owners of partitions."""
        assert self.owners.setdefault((call.domain, call.incarnation), owners) == owners
        newest = max(i for domain, i in self.owners if domain == call.domain)
        assert call.incarnation == newest, f"{call}, but there was {newest}"

    def _committed(self, record: PassCommitted) -> None:
        """A pass is committed once, in its turn, with every partition in it, all of it durable."""
        analysis = record.domain, record.winner
        assert record.depth == self.depths[analysis], (
            f"{record} after {self.depths[analysis]} passes"
        )
        self.depths[analysis] += 1
        entries = self.store.entries
        owners = self.owners[record.domain, record.incarnation]
        won, lost = [0] * len(record.won), [0] * len(record.lost)
        for worker in sorted(set(owners)):
            at = (record.domain, record.winner, record.depth, record.incarnation, worker)
            assert at in entries, f"{at} is not durable"
            for counts, layer in zip((won, lost), entries[at], strict=True):
                assert all(owners[p] == worker for p in layer), f"{at} has another's partitions"
                for p, value in layer.items():
                    counts[p] += count(value)
        assert (tuple(won), tuple(lost)) == (record.won, record.lost)

    def _published(self, record: TablePublished) -> None:
        self.published[record.domain] += 1
        run = self.build.runs[record.domain]
        assert self.published[record.domain] == 1, f"{record.domain} is published twice"
        assert all(run.is_analysed(winner) for winner in run.domain.winners)
        assert len(run.parts) == run.part_count
        assert str(self.store.tables[record.domain]) == record.digest

    def _progress(self, before: BuildJob, damaged: set[str]) -> None:
        """It never goes backwards, but for a log that was damaged."""
        for name, run in self.build.runs.items():
            if before.runs.get(name) is run:
                continue
            passes = sum(map(len, run.passes.values()))
            now = (int(run.table is not None), len(run.parts), passes)
            was = self.reached.get(name, (0, 0, 0))
            if name not in damaged:
                assert all(a >= b for a, b in zip(now, was, strict=True)), f"{name}: {was} -> {now}"
            self.reached[name] = now

    def _nodes_hold_their_shares(self) -> None:
        taken: Counter[tuple[str, str]] = Counter()
        for run in self.build.runs.values():
            for share in run.team.held if run.team else ():
                taken[share.node, "cores"] += share.cores
                taken[share.node, "memory"] += share.memory
        for (name, what), amount in taken.items():
            assert amount <= getattr(self.build.nodes[name], what), f"{what} of {name}"

    def at_the_end(self) -> None:
        """All tables are there; one whose publisher's answer was lost was found to be there."""
        if self.build.state is State.SUCCEEDED:
            runs = self.build.runs.items()
            assert set(self.store.tables) == {name for name, run in runs if not run.domain.table}
