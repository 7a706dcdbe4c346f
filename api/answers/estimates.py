"""Estimates of planned builds, and how they fit a cluster, as text and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from kingpair.api.answers.levels import level_lines, levels_json, slices_of
from kingpair.api.text import columns, count, duration, span
from kingpair.coordinator.journal.forecast import Pace
from kingpair.coordinator.machine.placement import NodeFit
from kingpair.coordinator.plan.amounts import amount as size
from kingpair.coordinator.plan.domains import Node
from kingpair.coordinator.plan.estimate import Estimate
from kingpair.coordinator.plan.sets_on_disk import disk_traffic
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.solve.sets_mode import SetsMode


def disk(estimates: Sequence[Estimate]) -> int:
    """Returns the peak use of the disk: all tables, and the logs of the material being solved."""
    return sum(e.table for e in estimates) + max(e.log + e.scratch for e in estimates)


class PlannedTable(NamedTuple):
    """A table of an estimate: whether it is there already, and the work that it is.  `fitting` is
    the estimate in the mode that fits in the memory that a build may take.
    """

    estimate: Estimate
    metric: Metric
    exists: bool
    work: float
    fitting: Estimate


def text_of(tables: Sequence[PlannedTable], pace: Pace, memory: int) -> Iterator[str]:
    estimates = [table.estimate for table in tables]
    head = ("material", "men", "slots a side", "a bitmap", "peak memory", "table", "log", "time")
    yield from columns([head, *(_table_row(table, pace) for table in tables)], "<>>>>>>>")
    yield ""
    peak = size(max(e.memory for e in estimates))
    yield f"{count(len(estimates), 'material')}: peak memory {peak}, now available {size(memory)};"
    yield f"disk about {size(disk(estimates))}: a log is dropped once its table is written."
    if (least := size(max(e.in_room(0).memory for e in estimates))) != peak:
        how = _less_memory(estimates)
        yield f"with less memory, down to {least}, {how}, which takes longer;"
    for table in tables:
        if not table.exists and table.estimate.memory > memory >= table.fitting.memory:
            yield f"in {size(memory)} {sets_line(table.fitting, table.metric)};"
    there = sum(table.exists for table in tables)
    besides = f"; {count(there, 'table')} {'is' if there == 1 else 'are'} there already"
    measured = "as its builds have shown" if pace.is_measured else "which no build has measured yet"
    time = span(*pace.range_of(sum(table.work for table in tables)))
    yield f"time {time} on this machine, {measured}{besides if there else ''}"
    yield from level_lines(e.material for e in estimates)


_MODES = {
    SetsMode.TWO: "both open sets are held, and frontiers are read from the log",
    SetsMode.ONE: "one open set is held, the other lies on disk",
    SetsMode.WALKS: "only the sets of a walk are held, both open sets lie on disk",
}


def _less_memory(estimates: Iterable[Estimate]) -> str:
    """Says how the materials do with less memory than they take."""
    needing = [each for each in estimates if each.in_room(0).memory < each.memory]
    ways = {bool(each.divisions) for each in needing}
    said = {True: "levels of pawns are divided into slices", False: "sets are kept on disk"}
    return " and ".join(said[way] for way in sorted(ways))


def sets_line(needs: Estimate, metric: Metric) -> str:
    """Says how much of its sets a material holds, and what the others cost."""
    if needs.most is not None:
        slices, most = count(slices_of(needs), "slice"), count(needs.most, "structure")
        return f"{needs.material} takes {size(needs.memory)}: solved in {slices} of at most {most}"
    name, moved = str(needs.material), disk_traffic(needs, metric)
    line = f"{name} takes {size(needs.memory)}: {_MODES[needs.mode]}"
    if not moved.written:
        return line
    of_pass = f"{size(moved.read_by_pass)} and writes {size(moved.written_by_pass)}"
    in_all = f"{size(moved.read)} and {size(moved.written)}"
    time = f"{duration(moved.seconds)} of a disk that moves 1 GB/s"
    return f"{line}; a pass reads at most {of_pass}, all of them {in_all}, {time}"


def sets_json(needs: Estimate, metric: Metric) -> dict[str, Any]:
    """Returns the mode of an estimate, and the bytes that its sets on disk move at most."""
    moved = disk_traffic(needs, metric)
    return {
        "sets": needs.mode,
        "pass_read_bytes": moved.read_by_pass,
        "pass_written_bytes": moved.written_by_pass,
        "read_bytes": moved.read,
        "written_bytes": moved.written,
    }


def _table_row(table: PlannedTable, pace: Pace) -> tuple[str, ...]:
    e = table.estimate
    amounts = map(size, (e.bitmap, e.memory, e.table, e.log))
    time = "is there" if table.exists else span(*pace.range_of(table.work))
    return str(e.material), str(e.material.men), f"{e.slots:,}", *amounts, time


def json_of(tables: Sequence[PlannedTable], pace: Pace) -> dict[str, Any]:
    estimates = [table.estimate for table in tables]
    return {
        "materials": [_table_json(table, pace) for table in tables],
        "total": {
            "memory": max(e.memory for e in estimates),
            "disk": disk(estimates),
            "seconds": seconds_json(pace, sum(table.work for table in tables)),
        },
    }


def _table_json(table: PlannedTable, pace: Pace) -> dict[str, Any]:
    e = table.estimate
    return {
        "material": str(e.material),
        "men": e.material.men,
        "slots": e.slots,
        "bitmap": e.bitmap,
        "memory": e.memory,
        "memory_with_sets_on_disk": e.in_room(0).memory,
        "fitting_memory": table.fitting.memory,
        **sets_json(table.fitting, table.metric),
        "table": e.table,
        "log": e.log,
        "exists": table.exists,
        "seconds": seconds_json(pace, table.work),
        **levels_json(table.fitting),
    }


def seconds_json(pace: Pace, work: float) -> list[float]:
    """Returns the seconds that work takes, at least and at most."""
    return [round(seconds, 1) for seconds in pace.range_of(work)]


def rooms_text(nodes: Sequence[Node], rooms: Mapping[Material, NodeFit]) -> Iterator[str]:
    """The room of a cluster, and by how much it falls short."""
    head = ("material", "nodes", "memory a node", "it has", "short of")
    yield from columns([head, *starmap(_room_row, rooms.items())], "<>>>>")
    yield ""
    cores, memory = sum(n.cores for n in nodes), sum(n.memory for n in nodes)
    yield f"{count(len(nodes), 'node')}, {count(cores, 'core')}, {size(memory)} for workers;"
    short = [str(material) for material, room in rooms.items() if room.short]
    yield f"too small for {', '.join(short)}." if short else "all of it fits."


def _room_row(material: Material, room: NodeFit) -> tuple[str, ...]:
    lacks = size(room.short) if room.short else "-"
    return str(material), str(room.workers), size(room.needed), size(room.there), lacks


def rooms_json(nodes: Sequence[Node], rooms: Mapping[Material, NodeFit]) -> dict[str, Any]:
    return {
        "nodes": [{"name": n.name, "cores": n.cores, "memory": n.memory} for n in nodes],
        "fits": not any(room.short for room in rooms.values()),
        "materials": [
            {
                "material": str(material),
                "nodes": room.workers,
                "memory": room.needed,
                "there": room.there,
                "short": room.short,
            }
            for material, room in rooms.items()
        ],
    }
