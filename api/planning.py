"""What a build would take, before it is asked for: the numbers of `kingpair estimate`, how long,
what is there already, and whether it fits.
"""

import shutil
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

from api.figures import disk
from coordinator.closure import sorted_out
from coordinator.forecast import Range, total, unseen
from coordinator.plan import Estimate, estimate, waves
from coordinator.plan import gib as size
from coordinator.request import Request
from coordinator.wanted import Wanted, parsed
from workers.errors import DamagedTable, ForeignTable
from workers.limits import memory
from workers.material import Material
from workers.metric import Metric
from workers.store import store_at, uri_of
from workers.workshop import Tables

Json = dict[str, Any]


def planned(wanted: Wanted, out: Path, threads: int, cap: int | None) -> Json:
    """The plan of a build as JSON."""
    entries = [
        entry
        for metric in wanted.metrics
        for entry in _of_metric(wanted, Metric(metric), out, threads)
    ]
    todo = [e for e, metric, exists in entries if not exists]
    room = {"memory_bytes": cap or memory().bytes, "disk_bytes": _free(out)}
    totals = _totals(entries, todo, threads)
    reasons = list(_reasons(totals, room))
    return {
        "materials": [_material(*entry, threads) for entry in entries],
        "waves": _waves(wanted),
        "totals": totals,
        "room": room,
        "fits": not reasons,
        "reasons": reasons,
    }


def _of_metric(
    wanted: Wanted, metric: Metric, out: Path, threads: int
) -> Iterable[tuple[Estimate, Metric, bool]]:
    materials = parsed(wanted.materials)
    request = Request(materials, out, metric, threads=threads, force=wanted.force)
    there = _there(request)
    for wave in waves(materials):
        for material in wave:
            yield estimate(material, threads, metric), metric, material in there


def _there(request: Request) -> set[Material]:
    if uri_of(request.out) is None and not request.out.is_dir():
        return set()
    with closing(Tables(request.out, request.metric)) as tables:
        try:
            return set(sorted_out(request, tables)[1])
        except (DamagedTable, ForeignTable):
            return set()  # the build will say which one


def _material(e: Estimate, metric: Metric, exists: bool, threads: int) -> Json:
    name = str(e.material)
    return {
        "material": name,
        "metric": str(metric),
        "men": e.material.men,
        "wave": e.material.men - 3,
        "exists": exists,
        "bitmap_bytes": e.bitmap,
        "memory_bytes": e.memory,
        "table_bytes": e.table,
        "log_bytes": e.log,
        "seconds": [0.0, 0.0] if exists else _rounded(unseen(name, metric, threads)),
    }


def _waves(wanted: Wanted) -> list[list[str]]:
    every = [m for wave in waves(parsed(wanted.materials)) for m in wave]
    return [[str(m) for m in wave] for _, wave in groupby(every, key=lambda m: m.men)]


def _totals(
    entries: Sequence[tuple[Estimate, Metric, bool]], todo: Sequence[Estimate], threads: int
) -> Json:
    seconds = total(unseen(str(e.material), m, threads) for e, m, exists in entries if not exists)
    return {
        "memory_bytes": max((e.memory for e in todo), default=0),
        "disk_bytes": disk(todo) if todo else 0,
        "table_bytes": sum(e.table for e in todo),
        "seconds": _rounded(seconds),
        "to_build": len(todo),
        "exists": len(entries) - len(todo),
    }


def _reasons(totals: Json, room: Json) -> Iterable[str]:
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
