"""What a build would take, before it is asked for: the numbers of `kingpair estimate`, how long,
what is there already, and whether it fits.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from api.figures import disk
from coordinator.closure import estimates, sorted_out, subjects
from coordinator.forecast import Range, total, unseen
from coordinator.plan import Estimate, waves
from coordinator.plan import gib as size
from coordinator.request import Request
from coordinator.wanted import Wanted, parsed
from workers.errors import DamagedTable, ForeignTable
from workers.limits import memory
from workers.metric import Metric
from workers.store import store_at, uri_of
from workers.subject import Subject
from workers.workshop import Library

Json = dict[str, Any]


class Entry(NamedTuple):
    """A table that a build is to leave behind."""

    subject: Subject
    estimate: Estimate
    exists: bool

    def seconds(self, threads: int) -> Range:
        material, metric = self.subject
        return Range(0.0, 0.0) if self.exists else unseen(str(material), metric, threads)


def planned(wanted: Wanted, out: Path, threads: int, cap: int | None) -> Json:
    """The plan of a build as JSON."""
    entries = _entries(wanted, out, threads)
    room = {"memory_bytes": cap or memory().bytes, "disk_bytes": _free(out)}
    totals = _totals(entries, threads)
    reasons = list(_reasons(totals, room))
    return {
        "materials": [_material(entry, threads) for entry in entries],
        "waves": _waves(wanted),
        "totals": totals,
        "room": room,
        "fits": not reasons,
        "reasons": reasons,
    }


def _entries(wanted: Wanted, out: Path, threads: int) -> list[Entry]:
    metrics = tuple(map(Metric, wanted.metrics))
    materials = parsed(wanted.materials)
    request = Request(materials, out, metrics, threads=threads, force=wanted.force)
    there, every = _there(request), subjects(request)
    return [
        Entry(subject, needed, subject in there)
        for subject, needed in zip(chain(*every), estimates(request, every), strict=True)
    ]


def _there(request: Request) -> set[Subject]:
    if uri_of(request.out) is None and not request.out.is_dir():
        return set()
    with closing(Library(request.out)) as library:
        try:
            return set(sorted_out(request, library)[1])
        except (DamagedTable, ForeignTable):
            return set()  # the build will say which one


def _material(entry: Entry, threads: int) -> Json:
    (material, metric), needed, exists = entry
    return {
        "material": str(material),
        "metric": str(metric),
        "men": material.men,
        "wave": material.men - 3,
        "exists": exists,
        "bitmap_bytes": needed.bitmap,
        "memory_bytes": needed.memory,
        "table_bytes": needed.table,
        "log_bytes": needed.log,
        "seconds": _rounded(entry.seconds(threads)),
    }


def _waves(wanted: Wanted) -> list[list[str]]:
    return [[str(m) for m in wave] for wave in waves(parsed(wanted.materials))]


def _totals(entries: Sequence[Entry], threads: int) -> Json:
    todo = [entry.estimate for entry in entries if not entry.exists]
    return {
        "memory_bytes": max((e.memory for e in todo), default=0),
        "disk_bytes": disk(todo) if todo else 0,
        "table_bytes": sum(e.table for e in todo),
        "seconds": _rounded(total(entry.seconds(threads) for entry in entries)),
        "to_build": len(todo),
        "exists": len(entries) - len(todo),
    }


def _reasons(totals: Json, room: Json) -> Iterator[str]:
    for what, word in (("memory_bytes", "of memory"), ("disk_bytes", "on the disk")):
        if room[what] is not None and totals[what] > room[what]:
            yield f"needs {size(totals[what])} {word}, {size(room[what])} are free"


def _free(out: Path) -> int | None:
    """Room on the disk that the directory is on, or will be; a store elsewhere need not tell."""
    if uri_of(out) is not None:
        with closing(store_at(out)) as store:
            return store.room()
    there = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def _rounded(found: Range) -> list[float]:
    return [round(found.low, 1), round(found.high, 1)]
