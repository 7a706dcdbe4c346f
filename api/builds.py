"""Builds as JSON: what the ledger has of them, and what happens to them as events.

An event is made of a row of the journal alone and what the ledger knows of its build, so that one
that is replayed says what it said at first.
"""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from math import factorial, prod
from typing import Any, NamedTuple

from coordinator.commands import (
    Assigned,
    Became,
    Deleted,
    NodesLacking,
    NodesPassedOver,
    PartWritten,
    PassCommitted,
    Repeated,
    SetBack,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from coordinator.forecast import Range, eta, fraction
from coordinator.journal import Row
from coordinator.ledger import Chapter, Ledger, Story, Verse, hitch
from coordinator.state import State
from workers.errors import BadRequest
from workers.material import Material
from workers.subject import Subject
from workers.table import COLUMNS, rows_of

Json = dict[str, Any]


def time_of(seconds: float | None) -> str | None:
    """As RFC 3339 has it."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


# ---- a build ----


def summary(ledger: Ledger, story: Story, threads: int, now: float) -> Json:
    wanted = story.wanted
    return {
        "id": story.name,
        "state": str(story.state),
        "reason": story.reason,
        "materials": list(wanted.materials),
        "metrics": list(wanted.metrics),
        "priority": wanted.priority,
        "compact": wanted.compact,
        "verify": wanted.verify,
        "force": wanted.force,
        "by": wanted.by or None,
        "submitted": time_of(story.submitted),
        "started": time_of(story.began),
        "ended": time_of(story.ended),
        "ahead": ledger.ahead(story),
        "progress": {
            "fraction": fraction(story),
            "decided": sum(chapter.decided for chapter in story.chapters.values()),
            "eta": _range(eta(story, threads, now)),
        },
        "last_event": str(story.row),
    }


def whole(ledger: Ledger, story: Story, workers: Sequence[Json], threads: int, now: float) -> Json:
    return summary(ledger, story, threads, now) | {
        "waves": [
            {
                "men": story.chapters[wave[0]].men,
                "materials": [_material(story.chapters[key]) for key in wave],
            }
            for wave in story.waves
        ],
        "history": [
            {"time": time_of(line.time), "what": line.what, "reason": line.reason}
            for line in story.history
        ],
        "workers": list(workers),
    }


def _material(chapter: Chapter) -> Json:
    longest = {side: chapter.longest().get(number, 0) for number, side in enumerate(COLUMNS)}
    return {
        "material": chapter.material,
        "metric": chapter.metric,
        "state": chapter.state,
        "bytes": chapter.bytes,
        "seconds": _rounded(chapter.seconds),
        "positions": positions(chapter.material),
        "decided": chapter.decided,
        "longest": longest if chapter.verses else None,
        "passes": [_pass(verse) for verse in chapter.verses],
    }


def _pass(verse: Verse) -> Json:
    return {
        "winner": COLUMNS[verse.winner],
        "depth": verse.depth,
        "won": verse.won,
        "lost": verse.lost,
        "seconds": _rounded(verse.seconds),
        "exchanged_bytes": verse.exchanged,
        "event": verse.row,  # 0 if an earlier build found it
        "time": time_of(verse.time) if verse.time else None,
    }


@cache
def positions(material: str) -> int:
    """Places of the men, both sides to move, like men not told apart: not all of them legal."""
    found = Material.parse(material)
    alike = (Counter(men).values() for men in (found.stronger, found.weaker))
    return 2 * rows_of(found) // prod(factorial(n) for counts in alike for n in counts)


def _range(found: Range | None) -> list[float] | None:
    return None if found is None else [round(found.low, 1), round(found.high, 1)]


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


# ---- the list ----


class Asked(NamedTuple):
    """Which builds, and how many at once."""

    states: frozenset[State]
    material: str | None
    limit: int


def page(ledger: Ledger, asked: Asked, cursor: str | None) -> tuple[list[Story], str | None]:
    """The newest first; and where the next page begins."""
    before = len(ledger.stories) if cursor is None else _number(cursor)
    fit = [s for s in ledger.there() if s.number < before and _fits(s, asked)]
    found = sorted(fit, key=lambda s: -s.number)[: asked.limit]
    return found, cursor_of(found[-1].number) if len(fit) > len(found) else None


def _fits(story: Story, asked: Asked) -> bool:
    if asked.states and story.state not in asked.states:
        return False
    if asked.material is None:
        return True
    built = {chapter.material for chapter in story.chapters.values()}
    return asked.material in built.union(story.wanted.materials)


def cursor_of(number: int) -> str:
    return base64.urlsafe_b64encode(f"before {number}".encode()).decode().rstrip("=")


def _number(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        word, number = text.split(" ")
        if word == "before" and number.isdecimal() and len(number) < 12:
            return int(number)
    except (binascii.Error, UnicodeError, ValueError):
        pass
    raise BadRequest("the cursor is none of ours; use the `next` of an answer as it is")


# ---- what happens ----


class Event(NamedTuple):
    """What is sent: `number` is a row's, 0 for what is of the moment.  Of all that a row says the
    last alone carries it: who has seen that has seen the others.
    """

    number: int
    name: str
    build: str | None
    data: Json
    is_last: bool = True

    def encoded(self) -> bytes:
        identity = f"id: {self.number}\n" if self.number and self.is_last else ""
        data = json.dumps(self.data, separators=(",", ":"))
        return f"{identity}event: {self.name}\ndata: {data}\n\n".encode()


def events_of(ledger: Ledger, row: Row) -> Iterator[Event]:
    """What a row says, to whoever watches."""
    story = ledger.stories.get(row.build)
    if story is None:
        return
    head = {"build": row.build, "time": time_of(row.time)}
    said = list(_said(ledger, story, row))
    for left, (kind, data) in zip(reversed(range(len(said))), said, strict=True):
        yield Event(row.id, kind, row.build, head | data, is_last=not left)


def _said(ledger: Ledger, story: Story, row: Row) -> Iterator[tuple[str, Json]]:
    match row.record:
        case Became(state, reason):
            ahead = ledger.ahead(story) if state == State.QUEUED else None
            yield "build", {"state": state, "reason": reason, "ahead": ahead}
        case Deleted(reason):
            yield "build", {"state": "deleted", "reason": reason, "ahead": None}
        case SetBack() | Repeated() | NodesLacking() | NodesPassedOver():
            what, reason = hitch(row.record)
            yield "hitch", {"what": what, "reason": reason}
        case WavesPlanned():
            for metric in story.wanted.metrics:
                yield "planned", _planned(row.record, metric)
        case PassCommitted():
            yield "pass", _committed(row.record, ledger.verse(row))
        case Assigned(domain):
            yield _state(domain, "solving")
        case PartWritten(domain, part_number, _, _) if part_number == 0:
            yield _state(domain, "painting")
        case TablePublished(domain, size):
            if story.wanted.verify:
                yield _state(domain, "verifying", {"bytes": size})
            else:
                yield _state(domain, "done", _at_the_end(story, domain))
        case TableVerified(domain):
            yield _state(domain, "done", _at_the_end(story, domain))


def _planned(plan: WavesPlanned, metric: str) -> Json:
    waves = [_of_metric(wave, metric) for wave in plan.waves]
    exists = _of_metric(plan.present, metric)
    return {"waves": [wave for wave in waves if wave], "exists": exists, "metric": metric}


def _of_metric(domains: Sequence[str], metric: str) -> list[str]:
    """The materials of the domains that are for a metric."""
    found = map(Subject.parse, domains)
    return [str(subject.material) for subject in found if subject.metric == metric]


def _named(domain: str) -> Json:
    material, metric = Subject.parse(domain)
    return {"material": str(material), "metric": str(metric)}


def _state(domain: str, state: str, more: Json | None = None) -> tuple[str, Json]:
    return "material", {**_named(domain), "state": state, **(more or {})}


def _at_the_end(story: Story, domain: str) -> Json:
    chapter = story.chapters.get(domain)
    if chapter is None:
        return {}
    found = _material(chapter)
    return {key: found[key] for key in ("bytes", "seconds", "longest", "decided")}


def _committed(record: PassCommitted, verse: Verse | None) -> Json:
    won, lost = sum(record.won), sum(record.lost)
    found = verse or Verse(0, record.winner, record.depth, won, lost, record.exchanged, 0, 0, 0)
    named = _named(record.domain)
    return {
        **named,
        **_pass(found),
        "decided": found.decided if verse else None,
        "positions": positions(named["material"]),
        "cells": {"won": record.won, "lost": record.lost},
    }


def moment(name: str, build: str | None, now: float, data: Mapping[str, Any]) -> Event:
    """What is so now, and is not kept."""
    return Event(0, name, build, {"build": build, "time": time_of(now), **data})


def eta_event(story: Story, threads: int, now: float) -> Event:
    found = {"fraction": fraction(story), "eta": _range(eta(story, threads, now))}
    return moment("eta", story.name, now, found)
