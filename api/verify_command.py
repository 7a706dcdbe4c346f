"""Verifying finished tables: which ones, a line for each as it is done, and what is wrong first.

On a terminal it also says how far the table under way has come.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from api.text import clock, count, duration
from workers.errors import (
    BadMaterial,
    DamagedTable,
    ForeignTable,
    KingpairError,
    MissingTableError,
)
from workers.material import Material
from workers.metric import Metric
from workers.probe import Tablebase
from workers.threads import Threads
from workers.verdict import Verdict
from workers.verify import Listener, verify

Echo = Callable[[str], None]


class Wanted(NamedTuple):
    material: Material
    metric: Metric


class Verified(NamedTuple):
    """A table, and what its verification found or why there was nothing to verify."""

    wanted: Wanted
    verdict: Verdict | None
    problem: KingpairError | None


def chosen(
    tablebase: Tablebase, names: Sequence[str], everything: bool, metrics: Sequence[Metric] | None
) -> list[Wanted]:
    """The tables that are asked for, smaller materials first."""
    if everything == bool(names):
        raise BadMaterial("name a material, such as KQvKR, or say --all, not both")
    if not everything:
        materials = dict.fromkeys(map(Material.parse, names))
        return [Wanted(m, metric) for metric in metrics or [Metric.DTC] for m in materials]
    present = [_wanted_of(path) for path in tablebase.paths]
    found = [wanted for wanted in present if not metrics or wanted.metric in metrics]
    if not found:
        where = ", ".join(map(str, tablebase.directories))
        raise MissingTableError(f"no tables in {where}; kingpair build KQvKR makes some")
    return sorted(found, key=lambda wanted: (wanted.material.men, wanted))


def _wanted_of(path: Path) -> Wanted:
    material, metric, _ = path.name.split(".")
    return Wanted(Material.parse(material), Metric(metric))


def verified(
    tablebase: Tablebase, wanted: Sequence[Wanted], threads: int, echo: Echo
) -> list[Verified]:
    """Verify one table after another, and tell of each when it is done."""
    found = []
    with Threads(threads) as pool:
        for each in wanted:
            with _watched(each) as listen:
                found.append(_verified(tablebase, each, pool, listen))
            echo(_line(found[-1]))
    return found


@contextmanager
def _watched(wanted: Wanted) -> Iterator[Listener]:
    """A line that is gone when the table is done; none where nobody would see it change."""
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


def _verified(tablebase: Tablebase, wanted: Wanted, pool: Threads, listen: Listener) -> Verified:
    try:
        table = tablebase.table(*wanted)
        verdict = verify(
            table, lambda smaller: tablebase.table(smaller, wanted.metric), pool, listen
        )
    except (DamagedTable, ForeignTable, MissingTableError) as error:
        return Verified(wanted, None, error)
    if verdict.fault is None:
        return Verified(wanted, verdict, None)
    return Verified(wanted, verdict, DamagedTable(f"{table.path}: {verdict.fault}"))


def _line(found: Verified) -> str:
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


def verified_json(found: Sequence[Verified]) -> list[dict[str, Any]]:
    return [dict(_entry(each)) for each in found]


def _entry(found: Verified) -> Iterator[tuple[str, Any]]:
    yield "material", str(found.wanted.material)
    yield "metric", str(found.wanted.metric)
    yield "sound", found.problem is None
    yield "problem", None if found.problem is None else str(found.problem)
    if (verdict := found.verdict) is not None:
        yield "positions", {"white": verdict.white, "black": verdict.black}
        yield "rows", verdict.rows
        yield "contradictions", verdict.contradictions
        if verdict.fault is not None:
            kind = type(verdict.fault).__name__.lower()
            yield "fault", {"kind": kind} | verdict.fault._asdict()
        yield "seconds", verdict.seconds
