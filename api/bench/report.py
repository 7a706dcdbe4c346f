"""The bench: kernels against the copy bandwidth, figures against their targets, the signature.

A slow machine is no failure: the bench prints numbers and people judge them.  Times are the best of
a few runs, because a machine is rarely idle.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kingpair.api.bench import constants as bench_constants
from kingpair.api.bench import reach
from kingpair.api.bench import service as bench_service
from kingpair.api.bench.bandwidth import Rate, copy_bandwidth
from kingpair.api.bench.figures import Figure, figures
from kingpair.api.bench.pawn_figures import with_pawns
from kingpair.api.bench.signature import LISTED, LISTED_WITH_PAWNS, Signature, signature
from kingpair.api.bench.steps import KING_ALONE, SUBJECT, Steps
from kingpair.api.bench.streams import reading, some_fens
from kingpair.api.bench.table_figures import of_tables
from kingpair.api.bench.xiangqi_figures import chinese_chess
from kingpair.api.text import columns, count
from kingpair.api.version import versions
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.limits import usable_cores
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.table_store import TableStore

READ = Material.parse("KQvKR")

Copies = dict[int, float]  # bytes a second, by threads


# ---- the parts that can be asked for alone ----


def signature_report(pawns: bool, held: int | None) -> tuple[Iterator[str], dict[str, Any]]:
    """The signature as its golden file has it, and as JSON; of the tables with pawns or without,
    with so many bytes of sets in memory.
    """
    found = signature(usable_cores(), LISTED_WITH_PAWNS if pawns else LISTED, held)
    return found.lines(), _signature_json(found)


def constants_report(full: bool) -> tuple[Iterable[str], dict[str, float]]:
    """The constants as text, and as the JSON that `kingpair model --constants` reads."""
    found = bench_constants.measured(full)
    return bench_constants.text(found), found._asdict()


def service_figures(minutes: float, tables: Path | None) -> Iterator[Figure]:
    """The figures of a service, whose soak takes so many minutes; with tables only what a service
    of these reaches.
    """
    return bench_service.figures(minutes) if tables is None else reach.figures(tables)


# ---- measuring ----


def _counts() -> list[int]:
    """The numbers of threads: one, and as many as there are cores."""
    return sorted({1, usable_cores()})


def _rates(quick: bool) -> list[Rate]:
    repeats = 2 if quick else 4
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out, subjects = Path(at), (SUBJECT, KING_ALONE)
        smaller = [m for wave in closure(subjects) for m in wave if m not in subjects]
        build(
            BuildRequest(BuildSpec((*smaller, READ)), out, threads=usable_cores()),
            lambda event: None,
        )
        rates = [rate for n in _counts() for rate in _analysed(out, n, repeats)]
        with open_tablebase(out) as tablebase:
            rates += reading(some_fens(READ, 20_000), tablebase, 5)
    return rates


def _analysed(out: Path, n: int, repeats: int) -> Iterator[Rate]:
    directory = TableStore(out)
    with Threads(n) as threads:
        yield from Steps(SUBJECT, directory, threads, repeats).all_kernels()
        yield from Steps(KING_ALONE, directory, threads, repeats).king_alone()
    directory.close()


def _copies() -> Copies:
    return {n: copy_bandwidth(n) for n in _counts()}


# ---- as text ----


def text(quick: bool, full: bool) -> Iterator[str]:
    """Everything, each line as soon as it is measured."""
    yield from versions().splitlines()
    yield f"cores    {usable_cores()}, load {os.getloadavg()[0]:.1f} before the start"
    yield ""
    copies = _copies()
    yield from _rates_text(_rates(quick), copies)
    yield ""
    yield "Figures, the best of a few"
    for figure in _figures(quick, full):
        yield figure_text(figure)
    yield ""
    yield "The tables that the signature is over"
    yield from signature(usable_cores()).lines()


def _figures(quick: bool, full: bool) -> Iterator[Figure]:
    yield from figures(usable_cores(), quick, full)
    if not quick:
        yield from of_tables(usable_cores())
    if full:
        yield from with_pawns(usable_cores())
        yield from chinese_chess(usable_cores())


def _rates_text(rates: Sequence[Rate], copies: Copies) -> Iterator[str]:
    """A line for each kernel and state, the numbers of threads side by side."""
    said = ", ".join(f"{b / 1e9:.1f} GB/s on {count(n, 'core')}" for n, b in copies.items())
    yield f"Kernels against copying memory (read and written: {said})"
    head = ["kernel", "state", "touched"]
    for n in copies:
        head += [count(n, "core"), "of copying"]
    keys = dict.fromkeys((rate.kernel, rate.state) for rate in rates)
    rows = [_rate_row([r for r in rates if (r.kernel, r.state) == k], copies) for k in keys]
    yield from columns([head, *rows], "<<>" + ">>" * len(copies))


def _rate_row(rates: Sequence[Rate], copies: Copies) -> list[str]:
    first = rates[0]
    row = [first.kernel, first.state, f"{first.touched / 1e6:.1f} MB"]
    for rate in rates:
        share = 100 * rate.bandwidth / copies[rate.threads]
        row += [f"{rate.bandwidth / 1e9:.2f} GB/s", f"{share:.1f} %"]
    return row


def figure_text(figure: Figure) -> str:
    limit = "at least" if figure.is_rate else "at most"
    measured = f"{figure.value:.3g} {figure.unit}"
    target = f"{limit} {figure.target:.3g} {figure.unit}"
    return f"{figure.name:<38}  {measured:>10}  {target:<16}  {'met' if figure.met else 'missed'}"


# ---- as JSON ----


def measured(quick: bool, full: bool) -> dict[str, Any]:
    """Everything, as one JSON object."""
    load, copies = os.getloadavg()[0], _copies()
    return {
        "versions": dict(line.split(maxsplit=1) for line in versions().splitlines()),
        "cores": usable_cores(),
        "load_before": round(load, 2),
        "copy_bytes_per_second": {str(n): round(b) for n, b in copies.items()},
        "kernels": [_rate_json(rate, copies) for rate in _rates(quick)],
        "figures": [figure_json(figure) for figure in _figures(quick, full)],
        "signature": _signature_json(signature(usable_cores())),
    }


def _rate_json(rate: Rate, copies: Copies) -> dict[str, Any]:
    return {
        "kernel": rate.kernel,
        "state": rate.state,
        "threads": rate.threads,
        "bytes": rate.touched,
        "seconds": round(rate.seconds, 7),
        "bytes_per_second": round(rate.bandwidth),
        "share_of_copy": round(rate.bandwidth / copies[rate.threads], 4),
    }


def figure_json(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "value": round(figure.value, 4),
        "unit": figure.unit,
        "target": round(figure.target, 4),
        "target_is": "at least" if figure.is_rate else "at most",
        "met": figure.met,
    }


def _signature_json(found: Signature) -> dict[str, Any]:
    return {"value": found.value, "tables": found.digests}
