"""Builds and their events as JSON.

An event is made only from a row of the journal and the record of its build, so that a replayed
event equals the first one.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from math import factorial, prod
from typing import Any, NamedTuple

from kingpair.api.answers.plan_event import plan_told
from kingpair.coordinator.journal.build_records import BuildRecord, BuildRecords, hitch
from kingpair.coordinator.journal.countdown import Left
from kingpair.coordinator.journal.domain_record import (
    DomainRecord,
    PassRecord,
)
from kingpair.coordinator.journal.forecast import fraction
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    Became,
    Deleted,
    ExportBegan,
    ExportDone,
    LevelSolved,
    LogUncopied,
    NodesLacking,
    NodesPassedOver,
    PaintingBegan,
    PassCommitted,
    Repeated,
    SetBack,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from kingpair.coordinator.machine.state import State
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import rows_of
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.table.format import COLUMNS
from kingpair.workers.table.key import DomainKey

Json = dict[str, Any]
PHASES = ("solving", "painting", "verifying", "done")


def time_of(seconds: float | None) -> str | None:
    """Formats a time as RFC 3339 has it."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


# ---- a build ----


def summary(records: BuildRecords, build: BuildRecord, left: Left | None) -> Json:
    spec = build.spec
    return {
        "id": build.name,
        "state": str(build.state),
        "reason": build.reason,
        "materials": list(map(str, spec.materials)),
        "metrics": list(map(str, spec.metrics)),
        "priority": spec.priority,
        "compact": spec.compact,
        "verify": spec.verify,
        "force": spec.force,
        "spread": spec.spread,
        "syzygy": spec.syzygy,
        "by": spec.by or None,
        "submitted": time_of(build.submitted),
        "started": time_of(build.began),
        "ended": time_of(build.ended),
        "ahead": records.ahead(build),
        "progress": {
            "decided": sum(domain.decided for domain in build.domains.values()),
            **_progress(build, left),
        },
        "last_event": str(build.row),
    }


def details(records: BuildRecords, build: BuildRecord, left: Left | None) -> Json:
    return summary(records, build, left) | {
        "waves": [
            {
                "men": build.domains[wave[0]].wave[0],
                "pawns": build.domains[wave[0]].wave[1],
                "materials": [_material(build.domains[key]) for key in wave],
            }
            for wave in build.waves
        ],
        "history": [
            {"time": time_of(line.time), "what": line.what, "reason": line.reason}
            for line in build.history
        ],
    }


def _material(domain: DomainRecord) -> Json:
    longest = {side: domain.longest().get(number, 0) for number, side in enumerate(COLUMNS)}
    return {
        "material": str(domain.material),
        "metric": domain.metric,
        "state": domain.state,
        "bytes": domain.bytes,
        "seconds": _rounded(domain.seconds),
        "positions": positions(domain.material),
        "decided": domain.decided,
        "syzygy": domain.syzygy or None,
        "longest": longest if any(domain.every_pass()) else None,
        "passes": [_pass(pass_) for pass_ in domain.passes],
        "levels": list(map(_level, domain.levels)),
        "phases": {state: time_of(domain.phases.get(state)) for state in PHASES},
        "shares": shares_told(domain.shares),
    }


def shares_told(shares: Iterable[tuple[str, int]]) -> list[Json]:
    """Returns the node of each worker of a domain and how many partitions it has."""
    return [{"node": node, "partitions": partitions} for node, partitions in shares]


def _level(level: DomainRecord) -> Json:
    told = {name: getattr(level, name) for name in ("level", "structures", "state", "decided")}
    return {**told, "passes": [_pass(pass_) for pass_ in level.passes]}


def _pass(pass_: PassRecord) -> Json:
    return {
        "winner": COLUMNS[pass_.winner],
        "depth": pass_.depth,
        "won": pass_.won,
        "lost": pass_.lost,
        "seconds": _rounded(pass_.seconds),
        "exchanged_bytes": pass_.exchanged,
        "read_bytes": pass_.disk.read,
        "written_bytes": pass_.disk.written,
        "disk_seconds": _rounded(pass_.disk.seconds),
        "event": pass_.row,  # 0 if an earlier build found it
        "time": time_of(pass_.time) if pass_.time else None,
        **_places(pass_.slice),
    }


@cache
def positions(material: Material) -> int:
    """The placements of the men with either side to move, like men alike; some are illegal."""
    alike = (Counter(men).values() for men in (material.stronger, material.weaker))
    return 2 * rows_of(material) // prod(factorial(n) for counts in alike for n in counts)


def _progress(build: BuildRecord, left: Left | None) -> Json:
    """The progress of a build and the seconds that are left; `eta` is a range of them."""
    told: Json = {"left": None, "eta": None, "why_longer": None}
    if left is not None:
        eta = [round(seconds, 1) for seconds in left.range]
        told = {"left": round(left.seconds, 1), "eta": eta, "why_longer": left.reason or None}
    return {"fraction": fraction(build), **told}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


# ---- what happens ----


class SentEvent(NamedTuple):
    """An event as it is sent.  `number` is that of its row, 0 for an event of the moment.  Of the
    events of one row the last alone carries it: a reader that has seen it has seen the others.
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


def events_of(records: BuildRecords, row: Row) -> Iterator[SentEvent]:
    """Yields the events that a row becomes."""
    build = records.builds.get(row.build)
    if build is None:
        return
    head = {"build": row.build, "time": time_of(row.time)}
    said = list(_said(records, build, row))
    for left, (kind, data) in zip(reversed(range(len(said))), said, strict=True):
        yield SentEvent(row.id, kind, row.build, head | data, is_last=not left)


def _said(records: BuildRecords, build: BuildRecord, row: Row) -> Iterator[tuple[str, Json]]:
    match row.record:
        case Became(state, reason):
            ahead = records.ahead(build) if state == State.QUEUED else None
            yield "build", {"state": state, "reason": reason, "ahead": ahead}
        case Deleted(reason):
            yield "build", {"state": "deleted", "reason": reason, "ahead": None}
        case SetBack() | Repeated() | NodesLacking() | NodesPassedOver() | LogUncopied():
            what, reason = hitch(row.record)
            yield "hitch", {"what": what, "reason": reason}
        case WavesPlanned():
            for metric in build.spec.metrics:
                yield "planned", plan_told(row.record, metric)
            for domain in row.record.exports:
                yield _export(build, domain)
        case PassCommitted():
            yield "pass", _committed(row.record, records.pass_of(row))
        case Assigned(domain, shares=shares):
            yield _state(domain, "solving", {"shares": shares_told(shares)})
        case PaintingBegan(domain):
            yield _state(domain, "painting")
        case LevelSolved(domain):
            level = build.record_of(domain)
            yield _state(domain, "done" if level is None else level.state)
        case TablePublished(domain, size):
            if build.spec.verify:
                yield _state(domain, "verifying", {"bytes": size})
            else:
                yield _state(domain, "done", _at_the_end(build, domain))
        case TableVerified(domain) if not _was_there(build, domain):
            yield _state(domain, "done", _at_the_end(build, domain))
        case ExportBegan(domain) | ExportDone(domain):
            yield _export(build, domain)


def _named(key: DomainKey) -> Json:
    material, metric = key.table
    named = {"material": str(material), "metric": str(metric)}
    return named if key.level is None else {**named, "level": key.level, **_places(key.slice)}


def _places(slice_: LevelSlice | None) -> Json:
    """The structures of a slice that is a part of its level, by their places in it."""
    if slice_ is None or slice_.places is None:
        return {}
    return {"slice": slice_.places}


def _state(domain: str, state: str, more: Json | None = None) -> tuple[str, Json]:
    return "material", {**_named(DomainKey.parse(domain)), "state": state, **(more or {})}


def _export(build: BuildRecord, domain: str) -> tuple[str, Json]:
    record = build.record_of(domain)
    return "export", {
        **_named(DomainKey.parse(domain)),
        "syzygy": record.syzygy if record else None,
    }


def _at_the_end(build: BuildRecord, domain: str) -> Json:
    record = build.record_of(domain)
    if record is None:
        return {}
    found = _material(record)
    return {key: found[key] for key in ("bytes", "seconds", "longest", "decided")}


def _was_there(build: BuildRecord, domain: str) -> bool:
    return domain in build.domains and build.domains[domain].state == "exists"


def _committed(record: PassCommitted, pass_: PassRecord | None) -> Json:
    won, lost = sum(record.won), sum(record.lost)
    found = pass_ or PassRecord(
        0, record.winner, record.depth, won, lost, record.exchanged, 0, 0, 0, disk=record.disk
    )
    key = DomainKey.parse(record.domain)
    return {
        **_named(key),
        **_pass(found),
        "decided": found.decided if pass_ else None,
        "positions": positions(key.table.material),
        "cells": {"won": record.won, "lost": record.lost},
    }


def moment(name: str, build: str | None, now: float, data: Mapping[str, Any]) -> SentEvent:
    """An event of the moment, which is not kept."""
    return SentEvent(0, name, build, {"build": build, "time": time_of(now), **data})


def eta_event(build: BuildRecord, left: Left | None, now: float) -> SentEvent:
    return moment("eta", build.name, now, _progress(build, left))
