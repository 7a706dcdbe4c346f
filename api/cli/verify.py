"""Verifies finished tables: chooses them, and prints a line for each when it is done.

On a terminal it also shows how far the present table has come.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from kingpair.api.text import clock, count, duration
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import (
    BadMaterial,
    DamagedTable,
    ForeignTable,
    KingpairError,
    MissingTableError,
)
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.sweeps import room_in
from kingpair.workers.limits import free_memory
from kingpair.workers.pack.unpack import WholeTables
from kingpair.workers.prove.verdict import ReportProgress, Verdict
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.filesystem import printable, store_at
from kingpair.workers.table.directory import build_command
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.proof_note import write_proof_note

Echo = Callable[[str], None]


class VerifiedTable(NamedTuple):
    """A table, and what its verification found or why there was nothing to verify."""

    wanted: TableKey
    verdict: Verdict | None
    problem: KingpairError | None


def chosen(
    tablebase: Tablebase, names: Sequence[str], everything: bool, metrics: Sequence[Metric] | None
) -> list[TableKey]:
    """The tables that are asked for, smaller materials first."""
    if everything == bool(names):
        raise BadMaterial("name materials, such as KQvKR, or use --all, not both")
    if not everything:
        materials = dict.fromkeys(map(Material.parse, names))
        return [TableKey(m, metric) for metric in metrics or [Metric.default()] for m in materials]
    present = [TableKey.of_file(path.name) for path in tablebase.paths]
    found = [key for key in present if key and (not metrics or key.metric in metrics)]
    if not found:
        (at,) = tablebase.directories
        raise MissingTableError(
            f"no tables in {printable(at)}; {build_command('KQvKR', at)} makes some"
        )
    return sorted(found, key=lambda key: (key.material.men, key))


def verified(
    tablebase: Tablebase, wanted: Sequence[TableKey], threads: int, echo: Echo
) -> list[VerifiedTable]:
    """Verifies one table after another; yields each when it is done."""
    found = []
    with Threads(threads) as pool:
        for each in wanted:
            with _watched(each) as listen:
                found.append(_verified(tablebase, each, pool, listen))
            echo(_line(found[-1]))
    return found


@contextmanager
def _watched(wanted: TableKey) -> Iterator[ReportProgress]:
    """Shows progress on a line that is erased at the end, on a terminal alone."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    start, name = time.monotonic(), f"{wanted.material} {wanted.metric}"
    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def show(share: float) -> None:
            elapsed = clock(time.monotonic() - start)
            line = f"verifying {name}  {100 * share:.0f} %  elapsed {elapsed}"
            live.update(Text(line), refresh=True)

        show(0.0)
        yield show


def _verified(
    tablebase: Tablebase, wanted: TableKey, pool: Threads, listen: ReportProgress
) -> VerifiedTable:
    try:
        # A packed table is unpacked in memory and proved as any other.
        find = WholeTables(lambda key: tablebase.table(*key), pool)
        table = find(wanted)
        verdict = verify(table, find, pool, listen, room_in(free_memory().bytes))
    except (DamagedTable, ForeignTable, MissingTableError) as error:
        return VerifiedTable(wanted, None, error)
    if verdict.fault is None:
        write_proof_note(store_at(table.path.parent), table)
        return VerifiedTable(wanted, verdict, None)
    return VerifiedTable(wanted, verdict, DamagedTable(f"{table.path}: {verdict.fault}"))


def _line(found: VerifiedTable) -> str:
    name = f"{found.wanted.material} {found.wanted.metric}"
    if found.problem is None:
        assert found.verdict is not None
        checked = count(found.verdict.white + found.verdict.black, "position")
        return f"{name}: sound, {checked} in {duration(found.verdict.seconds)}"
    if found.verdict is None:
        return f"{name}: {found.problem}"
    contradictions = found.verdict.contradictions
    others = f" ({count(contradictions, 'contradiction')} in all)" if contradictions else ""
    return f"{name}: wrong, {found.verdict.fault}{others}"


def verified_json(found: Sequence[VerifiedTable]) -> list[dict[str, Any]]:
    return [dict(_entry(each)) for each in found]


def _entry(found: VerifiedTable) -> Iterator[tuple[str, Any]]:
    yield "material", str(found.wanted.material)
    yield "metric", str(found.wanted.metric)
    yield "sound", found.problem is None
    yield "problem", None if found.problem is None else str(found.problem)
    if (verdict := found.verdict) is not None:
        yield "positions", {"white": verdict.white, "black": verdict.black}
        yield "rows", verdict.rows
        yield "contradictions", verdict.contradictions
        if verdict.fault is not None:
            yield "fault", {"kind": verdict.fault.kind} | verdict.fault._asdict()
        yield "seconds", verdict.seconds
