"""Measures builds and probes on this machine, each figure next to its target.

Builds run as users run them: tables are written, digested and synced, into a temporary directory
(TMPDIR).  What takes minutes is measured with --full only: all materials of up to five men, one of
six men, a compact table.
"""

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kingpair.api.bench.bandwidth import best_of
from kingpair.api.bench.steps import NoLog, Unlogged, solve
from kingpair.api.bench.streams import some_fens
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import OpenExecutor
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import Assigned, PaintingBegan, PassCommitted, Record
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure, every
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import Exits, exits_of
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

METRIC = Metric.DTC
FIVE_MEN = ("KQRvKR", "KRBvKR", "KBBvKN")
SIX_MEN = "KRBvKBN"
PROBED = "KRBvKR"


class Figure(NamedTuple):
    """A measured value and its target: an upper limit or, of a rate, a lower one."""

    name: str
    value: float
    unit: str
    target: float
    is_rate: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.target if self.is_rate else self.value <= self.target


def figures(threads: int, quick: bool, full: bool) -> Iterator[Figure]:
    """Yields the figures as they are measured: only quick ones, or also those that take minutes."""
    repeats = 2 if quick else 3
    yield _command(repeats)
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out = Path(at)
        if not quick:
            yield from _five_men(out, threads, repeats)
            yield from _log_and_journal(out, "KBBvKN", threads, repeats)
            yield _exchanged(out, "KBBvKN", threads)
            yield from _recovery(out, "KBBvKN", threads)
        yield from probes(out, "KQvKR" if quick else PROBED, threads)
        if full:
            yield from _slow(out, threads)


# ---- builds ----


def kingpair_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kingpair", *arguments]


def _command(repeats: int) -> Figure:
    """Measures the whole command, Python's start included, each time in an empty directory."""

    def run() -> None:
        with TemporaryDirectory(prefix="kingpair-bench-") as out:
            run_to_end(kingpair_command("build", "KQvKR", "--out", out))

    return Figure("kingpair build KQvKR, the command", best_of(repeats, run), "s", 1.0)


def _five_men(out: Path, threads: int, repeats: int) -> Iterator[Figure]:
    for name in FIVE_MEN:
        build_smaller(out, name, threads)
        rebuild = partial(_build, out, (name,), threads, force=True)
        yield Figure(f"{name}, smaller tables present", best_of(repeats, rebuild), "s", 1.5)
        yield from _beside_building(out, name, threads, repeats)
    yield Figure("KRBvKR, the table", _megabytes(out, "KRBvKR"), "MB", 14)


def _beside_building(out: Path, name: str, threads: int, repeats: int) -> Iterator[Figure]:
    """Compares the processor time of verifying, and of building to mate, with a build."""
    rebuild = partial(_build, out, (name,), threads, force=True)
    building = _work_of(repeats, rebuild)
    tables = TableStore(out)
    with closing(tables), Threads(threads) as pool:
        table = tables.table(TableKey(Material.parse(name), METRIC))
        proving = _work_of(repeats, lambda: verify(table, tables.table, pool))
    yield Figure(f"{name}, verifying beside building", proving / building, "x", 1)
    build_smaller(out, name, threads, Metric.DTM)
    to_mate = _work_of(repeats, partial(rebuild, metric=Metric.DTM))
    yield Figure(f"{name}, to mate beside to conversion", to_mate / building, "x", 2.5)


def _work_of(times: int, run: Callable[[], object]) -> float:
    """Returns the least processor time of all threads, which other programs hardly affect."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def _slow(out: Path, threads: int) -> Iterator[Figure]:
    _build(out, ("KRBvKR",), threads, force=True, compact=True)
    yield Figure("KRBvKR, the table with --compact", _megabytes(out, "KRBvKR"), "MB", 6)
    with TemporaryDirectory(prefix="kingpair-bench-") as empty:
        names = [str(m) for men in (3, 4, 5) for m in every(men)]
        seconds = best_of(1, lambda: _build(Path(empty), names, threads))
        yield Figure(f"all {len(names)} materials of 3 to 5 men", seconds, "s", 120)
    yield from _six_men(out, threads)


def _six_men(out: Path, threads: int) -> Iterator[Figure]:
    """Builds in a process of its own, so that its peak memory is that of the build."""
    build_smaller(out, SIX_MEN, threads)
    start = time.perf_counter()
    command = kingpair_command("build", SIX_MEN, "--out", str(out), "--threads", str(threads))
    peak = peak_of(command)
    seconds = time.perf_counter() - start
    yield Figure(f"{SIX_MEN}, smaller tables present", seconds, "s", 150)
    yield Figure(f"{SIX_MEN}, peak resident", peak / (1 << 30), "GiB", 12)
    if _has_ray():
        yield from on_ray(out, SIX_MEN)
    yield from _recovery(out, SIX_MEN, threads)


# ---- several workers ----


def _has_ray() -> bool:
    return importlib.util.find_spec("ray") is not None


def _recovery(out: Path, name: str, threads: int) -> Iterator[Figure]:
    if _has_ray():
        from kingpair.api.bench.cluster import recovery

        yield from recovery(out, name, threads)


def _exchanged(out: Path, name: str, threads: int) -> Figure:
    """Measures the exchange between two workers of this process; it is the same on a cluster."""
    material, passes = Material.parse(name), list[PassCommitted]()
    domain = str(TableKey(material, Metric.DTC))

    def listen(row: Row) -> None:
        if isinstance(row.record, PassCommitted) and row.record.domain == domain:
            passes.append(row.record)

    request = BuildRequest(
        BuildSpec((material,), force=True, verify=False), out, threads=threads, workers=2, grain=1
    )
    build(request, listen)
    return _share_exchanged(material, sum(each.exchanged for each in passes), len(passes))


def _share_exchanged(material: Material, exchanged: int, passes: int) -> Figure:
    share = 100 * exchanged / (passes * estimate(material, 1).bitmap)
    return Figure(f"{material}, exchanged by 2 workers a pass, of a bitmap", share, "%", 10)


def on_ray(out: Path, name: str) -> Iterator[Figure]:
    """A local cluster of two workers with a thread each, against two threads of one process.  The
    start of Ray does not count.
    """
    options = ("build", name, "--out", str(out), "--threads", "2", "--force", "--json")
    alone = _events(*options)
    together = _events(*options, "--cluster", "local", "--workers", "2")
    seconds = [_only(events, name, "published")["seconds"] for events in (alone, together)]
    yield Figure(f"{name} on Ray, of the time in process", seconds[1] / seconds[0], "x", 1.25)
    passes = [e for e in together if e["event"] == "committed" and e["material"] == name]
    exchanged = sum(event["exchanged"] for event in passes)
    yield _share_exchanged(Material.parse(name), exchanged, len(passes))


def _events(*arguments: str) -> list[dict[str, Any]]:
    lines = run_to_end(kingpair_command(*arguments)).splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def _only(events: list[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    (found,) = [e for e in events if e["event"] == kind and e["material"] == name]
    return found


def run_to_end(command: Sequence[str]) -> str:
    """Runs a command and returns its output; raises CannotBuild if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip() or f"ended with {done.returncode}"
        raise CannotBuild(f"{' '.join(command[-4:])}: {said}")
    return done.stdout


_LAUNCHER = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


def peak_of(command: Sequence[str]) -> int:
    """Returns the peak memory of a command, in bytes.

    Linux counts the memory of the parent at the start as the child's own, so a small process starts
    the command.
    """
    return int(run_to_end([sys.executable, "-c", _LAUNCHER, *command])) << 10


def _build(
    out: Path,
    names: Sequence[str],
    threads: int,
    force: bool = False,
    compact: bool = False,
    metric: Metric = METRIC,
) -> None:
    materials = tuple(map(Material.parse, names))
    request = BuildRequest(
        BuildSpec(materials, (metric,), force=force, compact=compact, verify=False),
        out,
        threads=threads,
    )
    build(request, lambda event: None)


def build_smaller(out: Path, name: str, threads: int, metric: Metric = METRIC) -> None:
    material = Material.parse(name)
    smaller = [str(m) for wave in closure((material,)) for m in wave if m != material]
    _build(out, smaller, threads, metric=metric)


def _megabytes(out: Path, name: str) -> float:
    return (out / TableKey(Material.parse(name), METRIC).file_name).stat().st_size / 1e6


# ---- what the log and the journal cost ----


def _log_and_journal(out: Path, name: str, threads: int, repeats: int) -> Iterator[Figure]:
    """Compares the processor time of pass log and journal with that of solving.

    Builds on a cluster have a journal; it costs the same with threads of this process.
    """
    material, directory = Material.parse(name), TableStore(out)
    with Threads(threads) as pool:
        exits = exits_of(TableKey(material, METRIC), directory, pool)
        unlogged = partial(_solve_unlogged, material, exits, pool)
        logged = partial(_solve_logged, out, material, exits, pool)
        solving, log = _beyond(
            3 * repeats, partial(_work_of, 1, unlogged), partial(_work_of, 1, logged)
        )
    directory.close()
    yield Figure(f"{name}, the log beyond solving", 100 * log / solving, "%", 100 / 3)
    forgotten, journaled = (
        partial(_solving, out, material, threads, open_executor)
        for open_executor in (None, lambda site, library: InProcess(site, library, 1, threads))
    )
    _, journal = _beyond(3 * repeats, forgotten, journaled)
    kept = 100 * (log + journal) / solving
    yield Figure(f"{name}, log and journal beyond solving", kept, "%", 100 / 3)


def _beyond(
    times: int, less: Callable[[], float], more: Callable[[], float]
) -> tuple[float, float]:
    """Returns the median of the one, and the median of what the other takes beyond it.

    Both run in turns, because the speed of a machine changes from second to second.
    """
    rounds = [(less(), more()) for _ in range(times)]
    return median(a for a, _ in rounds), median(b - a for a, b in rounds)


def _solving(
    out: Path, material: Material, threads: int, open_executor: OpenExecutor | None
) -> float:
    """Returns the processor time of a build from the start of its workers until it paints."""
    at = dict[type[Record], float]()

    def listen(row: Row) -> None:
        at[type(row.record)] = time.process_time()

    build(
        BuildRequest(BuildSpec((material,), force=True, verify=False), out, threads=threads),
        listen,
        open_executor,
    )
    return at[PaintingBegan] - at[Assigned]


def _solve_unlogged(material: Material, exits: Sequence[Exits], threads: Threads) -> None:
    for winner in SIDES:
        solve(Unlogged(domain_of(material), winner, exits[winner], threads, NoLog()))


def _solve_logged(out: Path, material: Material, exits: Sequence[Exits], threads: Threads) -> None:
    for winner in SIDES:
        log = PassLog(out / "bench.log", {})
        solve(Analysis(domain_of(material), winner, exits[winner], threads, log))
        log.close()
        log.path.unlink()


# ---- probes ----


def probes(out: Path, name: str, threads: int) -> Iterator[Figure]:
    """Measures cold probes (table not opened, file cached) and warm ones (block decoded)."""
    _build(out, (name,), threads)
    fens = some_fens(Material.parse(name), 20_000)
    yield Figure(f"{name}, cold probe", 1e3 * _cold(out, fens[:50]), "ms", 1)
    with open_tablebase(out) as tablebase:
        tablebase.probe_batch(fens)
        few = fens[:1000]
        warm = best_of(5, lambda: [tablebase.probe(fen) for fen in few]) / len(few)
        yield Figure(f"{name}, warm probe", 1e6 * warm, "µs", 50)
        batch = best_of(5, lambda: tablebase.probe_batch(fens)) / len(fens)
        yield Figure(f"{name}, batch on one core", 1e-6 / batch, "M/s", 1, is_rate=True)


def _cold(out: Path, fens: Sequence[str]) -> float:
    """Returns the median time of the first probe of a tablebase."""
    seconds = []
    for fen in fens:
        with open_tablebase(out) as tablebase:
            seconds.append(best_of(1, partial(tablebase.probe, fen)))
    return median(seconds)
