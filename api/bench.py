"""The bench: kernels against the copy bandwidth, figures against their targets, the signature.

Nothing here fails because a machine is slow: numbers are printed, people judge.  Times are the best
of a few, for a machine is rarely idle.
"""

import json as json_
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from api import bench_constants, bench_service
from api.bandwidth import Rate, copy_bandwidth
from api.bench_figures import Figure, figures
from api.bench_steps import KING_ALONE, SUBJECT, Steps
from api.bench_streams import reading, some_fens
from api.options import say
from api.signature import Signature, signature
from api.text import columns, count
from api.version import versions
from coordinator.build import build
from coordinator.request import Request
from workers.limits import cores
from workers.material import Material, closure
from workers.metric import Metric
from workers.probe import open_tablebase
from workers.threads import Threads
from workers.workshop import Tables

READ = Material.parse("KQvKR")

Copies = dict[int, float]  # bytes a second, by threads


def run(
    json: bool,
    quick: bool,
    full: bool = False,
    signature: bool = False,
    constants: bool = False,
    service: float | None = None,
) -> None:
    """Measure and print, a section as soon as it is measured; as JSON, one object at the end."""
    if signature:
        _only_signature(json)
    elif constants:
        _only_constants(json, full)
    elif service is not None:
        _only_service(json, service)
    elif json:
        typer.echo(json_.dumps(_measured(quick, full), indent=2))
    else:
        for line in _text(quick, full):
            typer.echo(line)


def _only_signature(json: bool) -> None:
    """What tests/golden/signature.txt holds, alone on stdout; what built it, beside it."""
    found = signature(cores())
    say(found.lines(), _signature_json(found), json)
    if not json:
        typer.echo(versions(), err=True)


def _only_constants(json: bool, full: bool) -> None:
    """What `kingpair model --constants` reads, if as JSON."""
    found = bench_constants.measured(full)
    say(bench_constants.text(found), found._asdict(), json)


def _only_service(json: bool, minutes: float) -> None:
    """What a service does here; its soak takes so many minutes."""
    found = bench_service.figures(minutes)
    if json:
        typer.echo(json_.dumps([_figure_json(figure) for figure in found], indent=2))
        return
    for figure in found:
        typer.echo(_figure_text(figure))


# ---- measuring ----


def _counts() -> list[int]:
    """Of threads: one, and as many as there are cores."""
    return sorted({1, cores()})


def _rates(quick: bool) -> list[Rate]:
    repeats = 2 if quick else 4
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out, subjects = Path(at), (SUBJECT, KING_ALONE)
        smaller = [m for wave in closure(subjects) for m in wave if m not in subjects]
        build(Request((*smaller, READ), out, threads=cores()), lambda event: None)
        rates = [rate for n in _counts() for rate in _analysed(out, n, repeats)]
        with open_tablebase(out) as tablebase:
            rates += reading(some_fens(READ, 20_000), tablebase, 5)
    return rates


def _analysed(out: Path, n: int, repeats: int) -> Iterator[Rate]:
    directory = Tables(out, Metric.DTC)
    with Threads(n) as threads:
        yield from Steps(SUBJECT, directory, threads, repeats).all_kernels()
        yield from Steps(KING_ALONE, directory, threads, repeats).king_alone()
    directory.close()


def _copies() -> Copies:
    return {n: copy_bandwidth(n) for n in _counts()}


# ---- as text ----


def _text(quick: bool, full: bool) -> Iterator[str]:
    yield from versions().splitlines()
    yield f"cores    {cores()}, load {os.getloadavg()[0]:.1f} before the start"
    yield ""
    copies = _copies()
    yield from _rates_text(_rates(quick), copies)
    yield ""
    yield "Figures, the best of a few"
    for figure in figures(cores(), quick, full):
        yield _figure_text(figure)
    yield ""
    yield "The tables that the signature is over"
    yield from signature(cores()).lines()


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


def _figure_text(figure: Figure) -> str:
    limit = "at least" if figure.is_rate else "at most"
    measured = f"{figure.value:.3g} {figure.unit}"
    target = f"{limit} {figure.target:.3g} {figure.unit}"
    return f"{figure.name:<38}  {measured:>10}  {target:<16}  {'met' if figure.met else 'missed'}"


# ---- as JSON ----


def _measured(quick: bool, full: bool) -> dict[str, Any]:
    load, copies = os.getloadavg()[0], _copies()
    return {
        "versions": dict(line.split(maxsplit=1) for line in versions().splitlines()),
        "cores": cores(),
        "load_before": round(load, 2),
        "copy_bytes_per_second": {str(n): round(b) for n, b in copies.items()},
        "kernels": [_rate_json(rate, copies) for rate in _rates(quick)],
        "figures": [_figure_json(figure) for figure in figures(cores(), quick, full)],
        "signature": _signature_json(signature(cores())),
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


def _figure_json(figure: Figure) -> dict[str, Any]:
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
