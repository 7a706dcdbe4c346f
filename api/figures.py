"""Figures of tables and of what is yet to be built, for people and for programs."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from api.text import columns, count, percent
from coordinator.domains import Node
from coordinator.plan import Estimate
from coordinator.plan import gib as size
from coordinator.schedule import Room
from workers.directory import called, glanced, opened, size_of
from workers.errors import DamagedTable, ForeignTable
from workers.limits import memory
from workers.material import Material
from workers.subject import Subject
from workers.table import COLUMNS, Counts, Table

MOVERS = {"white": "White to move", "black": "Black to move"}

# ---- estimate ----


def disk(estimates: Sequence[Estimate]) -> int:
    """At the fullest: all tables, and the logs of the material that is being solved."""
    return sum(e.table for e in estimates) + max(e.log for e in estimates)


def estimate_text(estimates: Sequence[Estimate]) -> Iterator[str]:
    head = ("material", "men", "slots a side", "a bitmap", "peak memory", "table", "log")
    yield from columns([head, *map(_estimate_row, estimates)], "<>>>>>>")
    yield ""
    peak = size(max(e.memory for e in estimates))
    available = size(memory().bytes)
    yield f"{count(len(estimates), 'material')}: peak memory {peak}, now available {available};"
    yield f"disk about {size(disk(estimates))}: a log is dropped once its table is written."


def _estimate_row(e: Estimate) -> tuple[str, ...]:
    amounts = map(size, (e.bitmap, e.memory, e.table, e.log))
    return str(e.material), str(e.material.men), f"{e.slots:,}", *amounts


def estimate_json(estimates: Sequence[Estimate]) -> dict[str, Any]:
    return {
        "materials": [
            {
                "material": str(e.material),
                "men": e.material.men,
                "slots": e.slots,
                "bitmap": e.bitmap,
                "memory": e.memory,
                "table": e.table,
                "log": e.log,
            }
            for e in estimates
        ],
        "total": {"memory": max(e.memory for e in estimates), "disk": disk(estimates)},
    }


def rooms_text(nodes: Sequence[Node], rooms: Sequence[Room]) -> Iterator[str]:
    """What a cluster can take, and by how much it falls short."""
    head = ("material", "nodes", "memory a node", "it has", "short of")
    yield from columns([head, *map(_room_row, rooms)], "<>>>>")
    yield ""
    cores, memory = sum(n.cores for n in nodes), sum(n.memory for n in nodes)
    yield f"{count(len(nodes), 'node')}, {count(cores, 'core')}, {size(memory)} for workers;"
    short = [_material_of(room) for room in rooms if room.short]
    yield f"too small for {', '.join(short)}." if short else "all of it fits."


def _room_row(room: Room) -> tuple[str, ...]:
    lacks = size(room.short) if room.short else "-"
    return _material_of(room), str(room.workers), size(room.needed), size(room.there), lacks


def rooms_json(nodes: Sequence[Node], rooms: Sequence[Room]) -> dict[str, Any]:
    return {
        "nodes": [{"name": n.name, "cores": n.cores, "memory": n.memory} for n in nodes],
        "fits": not any(room.short for room in rooms),
        "materials": [
            {
                "material": _material_of(room),
                "nodes": room.workers,
                "memory": room.needed,
                "there": room.there,
                "short": room.short,
            }
            for room in rooms
        ],
    }


def _material_of(room: Room) -> str:
    return str(Subject.parse(room.name).material)


# ---- stats ----


def stats_json(material: Material, metric: str, counts: Counts) -> dict[str, Any]:
    return {"material": str(material), "metric": metric, **counts}


def stats_text(material: Material, counts: Counts, labelled: bool) -> Iterator[str]:
    what = "positions, like men counted as different" if labelled else "distinct positions"
    white, black = str(material).split("v")
    yield f"{material}: {what}; White has {white}, Black {black}"
    yield ""
    yield from columns(_totals(counts), "<>>>>")
    if longest := list(_longest(counts)):
        yield ""
        yield from columns(longest, "<><")
    if depths := list(by_moves(counts)):
        yield ""
        yield from columns(depths, ">>>>>")
        yield ""
        yield "Moves are the winner's, to mate or to the capture that decides (DTC)."
        yield "Who loses in 0 is mated, or must convert at once (forced capture)."


def total(found: int | dict[str, int]) -> int:
    return found if isinstance(found, int) else sum(found.values())


def legal(side: Counts) -> int:
    return sum(total(side[result]) for result in ("win", "loss", "draw"))


def _totals(counts: Counts) -> Iterator[tuple[str, ...]]:
    white, black = (counts[name] for name in COLUMNS)
    yield "", MOVERS["white"], "", MOVERS["black"], ""
    for result, word in (("win", "won"), ("loss", "lost"), ("draw", "drawn")):
        w, b = total(white[result]), total(black[result])
        yield word, f"{w:,}", percent(w, legal(white)), f"{b:,}", percent(b, legal(black))
    yield "legal", f"{legal(white):,}", "", f"{legal(black):,}", ""
    yield "illegal", f"{white['illegal']:,}", "", f"{black['illegal']:,}", ""


def _longest(counts: Counts) -> Iterator[tuple[str, ...]]:
    for name, mover in (("white", "White"), ("black", "Black")):
        for result, word in (("win", "wins"), ("loss", "loses")):
            if entry := counts["longest"][name].get(result):
                yield f"{mover} {word} in at most", count(entry["moves"], "move"), entry["fen"]


def by_moves(counts: Counts) -> Iterator[list[str]]:
    shown = [
        (f"{mover} {word}", counts[side][result])
        for side, mover in (("white", "White"), ("black", "Black"))
        for result, word in (("win", "wins"), ("loss", "loses"))
        if counts[side][result]
    ]
    if not shown:
        return
    yield ["moves", *(name for name, _ in shown)]
    for moves in sorted({int(n) for _, found in shown for n in found}):
        cells = (found.get(str(moves), 0) for _, found in shown)
        yield [str(moves), *(f"{cell:,}" if cell else "-" for cell in cells)]


# ---- tables ----


class Listed(NamedTuple):
    """A table of a directory, or what is wrong with the file of that name."""

    path: Path
    table: Table | None
    problem: DamagedTable | ForeignTable | None


def listed(paths: Iterable[Path], verify: bool) -> Iterator[Listed]:
    """What each table says of itself; it is read whole if it is to be verified."""
    for path in paths:
        try:
            table = opened(path) if verify else glanced(path)
            if verify:
                read_whole(table)
            yield Listed(path, table, None)
        except (DamagedTable, ForeignTable) as error:
            yield Listed(path, None, error)


def read_whole(table: Table) -> None:
    """Check every byte and every block against its digest."""
    table.check()
    for block in range(table.blocks):
        for column in range(len(COLUMNS)):
            table.block(block, column)


def tables_text(found: Sequence[Listed], verified: bool) -> Iterator[str]:
    if not found:
        yield "no tables yet; kingpair build KQvKR makes some"
        return
    head = ("material", "men", "size", "type", "longest win", "drawn")
    yield from columns([head, *map(_table_row, found)], "<>>>>>")
    yield ""
    sound = [entry.table for entry in found if entry.table is not None]
    every = "; every byte agrees with its digest" if verified and len(sound) == len(found) else ""
    yield f"{count(len(sound), 'table')}, {size(sum(t.bytes for t in sound))}{every}"


def _table_row(entry: Listed) -> tuple[str, ...]:
    table = entry.table
    if table is None:
        return entry.path.name.split(".")[0], "", size(size_of(entry.path)), "unusable"
    longest = longest_win(table.counts)
    sides = [table.counts[name] for name in COLUMNS]
    drawn = percent(sum(side["draw"] for side in sides), sum(map(legal, sides)))
    kind = str(table.dtype)
    return (
        str(table.material),
        str(table.material.men),
        size(table.bytes),
        kind,
        str(longest) if longest else "-",
        drawn,
    )


def longest_win(counts: Counts) -> int:
    """In moves; 0 if no side can win."""
    return max((int(n) for name in COLUMNS for n in counts[name]["win"]), default=0)


def tables_json(found: Sequence[Listed]) -> list[dict[str, Any]]:
    return [_table_json(entry) for entry in found]


def _table_json(entry: Listed) -> dict[str, Any]:
    table = entry.table
    if table is None:
        return {"path": called(entry.path), "problem": str(entry.problem)}
    return {
        "path": called(entry.path),
        "material": str(table.material),
        "metric": table.metric,
        "men": table.material.men,
        "bytes": table.bytes,
        "type": str(table.dtype),
        "longest_win": longest_win(table.counts) or None,
        "draws": {name: table.counts[name]["draw"] for name in COLUMNS},
        "digest": table.digest,
    }
