"""The plan of a build before it is submitted: the numbers of `kingpair estimate`, the time, the
tables that exist, and whether it fits.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from kingpair.api.answers.estimates import (
    PlannedTable,
    disk,
    seconds_json,
    sets_json,
    sets_line,
)
from kingpair.api.answers.levels import slices_of
from kingpair.api.machine_pace import stored_pace
from kingpair.api.settings import Settings
from kingpair.coordinator.execute.planning import sorted_tables
from kingpair.coordinator.execute.room import memory_room
from kingpair.coordinator.journal.forecast import Pace, work_under
from kingpair.coordinator.plan.amounts import amount as size
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.closure import estimates, tables_of
from kingpair.coordinator.plan.estimate import Estimate, estimate, waves
from kingpair.workers.errors import DamagedTable, ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.store.filesystem import store_at, uri_of
from kingpair.workers.table.directory import find_tables
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

Json = dict[str, Any]


class PlanRow(NamedTuple):
    """A table that a build would write."""

    subject: TableKey
    estimate: Estimate
    exists: bool
    work: float  # seconds of the machine of reference; none if it is there

    def in_room(self, memory: int) -> "PlanRow":
        """Returns the row for so much memory: the sets are on disk if they do not fit."""
        return self._replace(estimate=self.estimate.in_room(memory))


def planned(
    spec: BuildSpec, out: Path, threads: int, cap: int | None, scratch: Path | None = None
) -> Json:
    """Returns the plan of a build as JSON."""
    entries, pace = rows_of_plan(spec, out, threads), stored_pace(threads)
    memory = memory_room(cap).bytes
    entries = [entry.in_room(memory) for entry in entries]
    room = {"memory_bytes": memory, "disk_bytes": _free(out), "scratch_bytes": _free(scratch)}
    totals = _totals(entries, pace, is_scratch_apart=scratch is not None)
    reasons = list(_reasons(totals, room))
    planned_waves = waves(spec.materials)
    number = {material: n for n, wave in enumerate(planned_waves) for material in wave}
    return {
        "materials": [_material(entry, number[entry.subject.material], pace) for entry in entries],
        "waves": [list(map(str, wave)) for wave in planned_waves],
        "totals": totals,
        "room": room,
        "fits": not reasons,
        "reasons": reasons,
    }


def estimated(
    waves: Iterable[Sequence[Material]], metric: Metric, settings: Settings, memory: int
) -> list[PlannedTable]:
    """Returns what each table takes, and what it takes in so much memory; those that are in the
    directory take no work.
    """
    names = {path.name for path in find_tables(settings.tables).values()}
    materials = tuple(chain(*waves))
    spec, found = BuildSpec(materials, (metric,)), []
    for material in materials:
        key = TableKey(material, metric)
        exists = key.file_name in names
        work = 0.0 if exists else _work(spec, key)
        needs = estimate(material, settings.threads, metric)
        found.append(PlannedTable(needs, metric, exists, work, needs.in_room(memory)))
    return found


def sets_lines(spec: BuildSpec, settings: Settings) -> Iterator[str]:
    """Yields what each table takes that a build of this process keeps sets on disk for, or whose
    levels it divides; nothing if one of them fits in no way, for which the build is refused.
    """
    memory, workers = memory_room(settings.memory).bytes, settings.workers or 1
    keys = list(chain(*tables_of(spec)))
    if all(each.memory <= memory // workers for each in estimates(keys, settings.threads)):
        return
    rows = rows_of_plan(spec, settings.tables, settings.threads)
    fitting = [(row, row.estimate.among(workers, memory)) for row in rows if not row.exists]
    if any(needs.memory > memory // needs.workers for _, needs in fitting):
        return
    for row, needs in fitting:
        if needs.mode is not SetsMode.ALL or needs.most is not None:
            yield sets_line(needs, row.subject.metric)


def rows_of_plan(spec: BuildSpec, out: Path, threads: int) -> list[PlanRow]:
    """Returns the tables of a build, and whether each is there."""
    there, every = _there(spec, out), list(chain(*tables_of(spec)))
    needed = estimates(every, threads)
    return [
        PlanRow(key, size, key in there, 0.0 if key in there else _work(spec, key))
        for key, size in zip(every, needed, strict=True)
    ]


def _work(spec: BuildSpec, key: TableKey) -> float:
    return sum(work_under(spec, key))


def _there(spec: BuildSpec, out: Path) -> set[TableKey]:
    if uri_of(out) is None and not out.is_dir():
        return set()
    with closing(TableStore(out)) as tables:
        try:
            return set(sorted_tables(spec, tables).present)
        except (DamagedTable, ForeignTable):
            return set()  # the build will say which one


def _material(entry: PlanRow, wave: int, pace: Pace) -> Json:
    (material, metric), needed, exists, _ = entry
    return {
        "material": str(material),
        "metric": str(metric),
        "men": material.men,
        "pawns": sum(material.pawns),
        "wave": wave,
        "exists": exists,
        "bitmap_bytes": needed.bitmap,
        "memory_bytes": needed.memory,
        **sets_json(needed, metric),
        "sets_on_disk": needed.mode.filed > 0,
        "slices": slices_of(needed) if material.has_pawns else None,
        "table_bytes": needed.table,
        "log_bytes": needed.log,
        "scratch_bytes": needed.scratch,
        "seconds": seconds_json(pace, entry.work),
    }


def _totals(entries: Sequence[PlanRow], pace: Pace, is_scratch_apart: bool) -> Json:
    """Returns the sums.  The disk has the sets that are not in memory, unless they lie apart."""
    todo = [entry.estimate for entry in entries if not entry.exists]
    here = [replace(each, scratch=0) for each in todo] if is_scratch_apart else todo
    return {
        "memory_bytes": max((e.memory for e in todo), default=0),
        "disk_bytes": disk(here) if here else 0,
        "scratch_bytes": max((e.scratch for e in todo), default=0),
        "table_bytes": sum(e.table for e in todo),
        "seconds": seconds_json(pace, sum(entry.work for entry in entries)),
        "to_build": len(todo),
        "exists": len(entries) - len(todo),
    }


def _reasons(totals: Json, room: Json) -> Iterator[str]:
    words = {
        "memory_bytes": "of memory",
        "disk_bytes": "on the disk",
        "scratch_bytes": "for sets on disk",
    }
    for what, word in words.items():
        if room[what] is not None and totals[what] > room[what]:
            yield f"needs {size(totals[what])} {word}, {size(room[what])} are free"


def _free(out: Path | None) -> int | None:
    """Room on the disk that the directory is on, or will be; a store elsewhere need not tell."""
    if out is None:
        return None
    if uri_of(out) is not None:
        with closing(store_at(out)) as store:
            return store.free_bytes()
    there = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free
