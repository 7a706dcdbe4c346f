"""The ledger: what the journal says of every build, for whoever looks.  A fold of its rows.

    Story                    a build: what was wanted, its state, its history
      Chapter                a domain, a material for a metric: its state, its table
        Verse                a committed pass: what it found, how long it took

Chapters go by the names of their domains, such as `KRBvKR.dtm`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from coordinator.commands import (
    Assigned,
    Became,
    Deleted,
    NodesLacking,
    NodesPassedOver,
    PartWritten,
    PassCommitted,
    Record,
    Repeated,
    SetBack,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from coordinator.journal import Row, Submitted
from coordinator.state import State
from coordinator.wanted import Wanted, is_a_foremans, was_wanted
from workers.subject import Subject

ACTIVE = {State.PLANNING, State.RUNNING, State.PAUSED, State.CANCELLING}


@dataclass(slots=True)
class Verse:
    """A committed pass; `decided` counts what both analyses have decided so far."""

    row: int
    winner: int
    depth: int
    won: int
    lost: int
    exchanged: int
    seconds: float
    time: float
    decided: int


@dataclass(slots=True)
class Chapter:
    """A material for a metric, on its way to its table."""

    material: str
    metric: str
    men: int
    state: str = "waiting"
    bytes: int | None = None
    began: float | None = None
    seconds: float | None = None
    painting: float | None = None
    published: float | None = None
    decided: int = 0
    parts: tuple[int, int] = (0, 1)
    shares: int = 1
    is_to_be_verified: bool = True
    verses: list[Verse] = field(default_factory=list)
    last: float = 0.0

    @staticmethod
    def of(domain: str) -> "Chapter":
        material, metric = Subject.parse(domain)
        return Chapter(str(material), metric, material.men)

    def longest(self) -> dict[int, int]:
        """The longest win of each side, in moves."""
        found: dict[int, int] = {}
        for verse in self.verses:
            if verse.won:
                found[verse.winner] = max(found.get(verse.winner, 0), verse.depth)
        return found


@dataclass(slots=True)
class Line:
    """A line of a build's history."""

    row: int
    time: float
    what: str
    reason: str


@dataclass(slots=True)
class Story:
    """A build."""

    name: str
    number: int
    wanted: Wanted
    submitted: float
    is_queued_here: bool
    state: State = State.QUEUED
    reason: str = ""
    began: float | None = None
    ended: float | None = None
    deleted: bool = False
    falls: int = 0  # times that its builder was lost since something was committed
    chapters: dict[str, Chapter] = field(default_factory=dict)  # by domain
    waves: list[list[str]] = field(default_factory=list)  # of domains
    history: list[Line] = field(default_factory=list)
    row: int = 0

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE


class Ledger:
    """All builds, by name, in the order in which they were asked for."""

    def __init__(self) -> None:
        self.stories: dict[str, Story] = {}
        self.row = 0

    def enter(self, submitted: Submitted) -> None:
        if submitted.name not in self.stories:
            self.stories[submitted.name] = Story(
                submitted.name,
                len(self.stories),
                was_wanted(submitted),
                submitted.time,
                is_a_foremans(submitted),
            )

    def apply(self, row: Row) -> Story | None:
        """Take in a row; the build that it is about."""
        self.row = max(self.row, row.id)
        story = self.stories.get(row.build)
        if story is not None:
            story.row = row.id
            _tell(story, row)
        return story

    def verse(self, row: Row) -> Verse | None:
        """What was made of the row of a pass, unless that was found again since."""
        story = self.stories.get(row.build)
        if story is None or not isinstance(row.record, PassCommitted):
            return None
        chapter = story.chapters.get(row.record.domain)
        verses = reversed(chapter.verses) if chapter is not None else iter(())
        return next((verse for verse in verses if verse.row == row.id), None)

    def there(self) -> Iterator[Story]:
        """Builds that nobody has deleted."""
        return (story for story in self.stories.values() if not story.deleted)

    def queue(self) -> list[Story]:
        """Who waits, in the order of their turns: by priority, then by age."""
        waiting = [s for s in self.there() if s.state is State.QUEUED and s.is_queued_here]
        return sorted(waiting, key=lambda s: (-s.wanted.priority, s.number))

    def ahead(self, story: Story) -> int | None:
        """How many builds are to be over before this one's turn comes; None if it has come."""
        queue = self.queue()
        if story not in queue:
            return None
        return queue.index(story) + sum(s.is_active and s.is_queued_here for s in self.there())


def _tell(story: Story, row: Row) -> None:
    match row.record:
        case Became(state, reason):
            _became(story, State(state), reason, row)
        case WavesPlanned():
            _planned(story, row.record)
            for chapter in story.chapters.values():
                chapter.is_to_be_verified = story.wanted.verify
        case Deleted(reason):
            story.deleted = True
            # Nobody can ask for it any more: what remains is that it was there.
            story.chapters, story.waves = {}, []
            story.history = [Line(row.id, row.time, "deleted", reason)]
        case SetBack() | Repeated() | NodesLacking() | NodesPassedOver():
            story.history.append(Line(row.id, row.time, *hitch(row.record)))
        case record:
            story.falls = 0 if not isinstance(record, Assigned) else story.falls
            found = story.chapters.get(record.domain)
            if found is not None:
                _TOLD[type(record)](found, record, row)


def hitch(record: SetBack | Repeated | NodesLacking | NodesPassedOver) -> tuple[str, str]:
    """What holds a build up without ending it, and why."""
    match record:
        case SetBack(domain, _, reason):
            return "set back", f"{domain}: {reason}"
        case Repeated(domain, _, task, attempt, reason):
            return "repeated", f"{domain}: {task}, for the {attempt}. time: {reason}"
        case NodesLacking(reason):
            return "waiting for nodes", reason
        case NodesPassedOver(reason):
            return "nodes not used", reason


def _became(story: Story, state: State, reason: str, row: Row) -> None:
    story.history.append(Line(row.id, row.time, state.value, reason))
    if state is State.INTERRUPTED and story.is_active:
        # Not when the next foreman finds a build on a cluster as it was left.
        story.falls += 1
    if state is State.PLANNING and story.began is None:
        story.began = row.time
    story.state, story.reason = state, reason
    story.ended = row.time if state.has_ended else None
    if state.has_ended:
        _leave(story, state)


def _leave(story: Story, state: State) -> None:
    """What was under way is so no more."""
    for chapter in story.chapters.values():
        if chapter.state in ("solving", "painting", "verifying"):
            chapter.state = "failed" if state is State.FAILED else "waiting"


def _planned(story: Story, plan: WavesPlanned) -> None:
    """What was seen of a domain before is kept, unless it begins anew."""
    for wave in plan.waves:
        for domain in wave:
            if domain not in story.chapters:
                story.chapters[domain] = _begun(domain, plan)
    for domain in plan.present:
        chapter = story.chapters.setdefault(domain, Chapter.of(domain))
        if chapter.state != "done":
            chapter.state = "exists"
    story.waves = _waves(story)


def _begun(domain: str, plan: WavesPlanned) -> Chapter:
    """A domain, with the passes that an earlier build has logged."""
    chapter = Chapter.of(domain)
    for logged in plan.logged:
        for winner, passes in logged.passes if logged.domain == domain else ():
            for p in passes:
                chapter.decided += p.won + p.lost
                verse = Verse(0, winner, p.depth, p.won, p.lost, 0, 0.0, 0.0, chapter.decided)
                chapter.verses.append(verse)
    return chapter


def _waves(story: Story) -> list[list[str]]:
    """Domains by the number of their men."""
    men = sorted({chapter.men for chapter in story.chapters.values()})
    return [[name for name, c in story.chapters.items() if c.men == number] for number in men]


def _assigned(chapter: Chapter, record: Assigned, row: Row) -> None:
    chapter.state = "verifying" if chapter.published else "solving"
    chapter.began = chapter.began or row.time
    chapter.shares = len(record.shares)
    chapter.last = row.time


def _committed(chapter: Chapter, record: PassCommitted, row: Row) -> None:
    """A pass may be found again after a log was damaged: what came after it is gone."""
    again = [v for v in chapter.verses if (v.winner, v.depth) == (record.winner, record.depth)]
    if again:
        keep = [v for v in chapter.verses if v.winner != record.winner or v.depth < record.depth]
        chapter.verses = keep
        chapter.decided = sum(v.won + v.lost for v in keep)
    won, lost = sum(record.won), sum(record.lost)
    chapter.decided += won + lost
    chapter.verses.append(
        Verse(
            row.id,
            record.winner,
            record.depth,
            won,
            lost,
            record.exchanged,
            max(0.0, row.time - chapter.last),
            row.time,
            chapter.decided,
        )
    )
    chapter.last = row.time


def _painted(chapter: Chapter, record: PartWritten, row: Row) -> None:
    chapter.state = "painting"
    chapter.painting = chapter.painting or chapter.last
    chapter.parts = record.part + 1, record.parts


def _published(chapter: Chapter, record: TablePublished, row: Row) -> None:
    chapter.bytes, chapter.published = record.bytes, row.time
    chapter.state = "verifying" if chapter.is_to_be_verified else "done"
    chapter.seconds = None if chapter.began is None else row.time - chapter.began


def _verified(chapter: Chapter, record: TableVerified, row: Row) -> None:
    chapter.state = "done"
    chapter.seconds = None if chapter.began is None else row.time - chapter.began


_TOLD: Mapping[type[Record], Callable[[Chapter, Any, Row], None]] = {
    Assigned: _assigned,
    PassCommitted: _committed,
    PartWritten: _painted,
    TablePublished: _published,
    TableVerified: _verified,
}
