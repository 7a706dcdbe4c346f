"""What a build and a probe take here, each figure next to its target.

Builds run as users run them: tables written, digested and synced.  They go to a directory for
temporary files (TMPDIR) that is removed afterwards.  What needs minutes is measured only if asked
for: all materials of up to five men, one of six men, a compact table.
"""

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from api.bandwidth import best_of
from api.bench_steps import NoLog, Unlogged
from api.bench_streams import some_fens
from coordinator.build import build
from coordinator.crew import Hire
from coordinator.local import Local
from coordinator.plan import estimate
from coordinator.request import Committed, Event, Painting, Request, Started
from workers.analysis import Analysis
from workers.domain import domain_of
from workers.errors import CannotBuild
from workers.exits import Exits, exits_of
from workers.material import STRONGER, WEAKER, Material, closure, every
from workers.metric import Metric
from workers.passlog import Pass, PassLog
from workers.probe import open_tablebase
from workers.table import table_name
from workers.threads import Threads
from workers.verify import verify
from workers.workshop import Tables

METRIC = Metric.DTC
FIVE_MEN = ("KQRvKR", "KRBvKR", "KBBvKN")
SIX_MEN = "KRBvKBN"
PROBED = "KRBvKR"


class Figure(NamedTuple):
    """Something measured, and what it must not exceed; a rate must not fall below it."""

    name: str
    value: float
    unit: str
    target: float
    is_rate: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.target if self.is_rate else self.value <= self.target


def figures(threads: int, quick: bool, full: bool) -> Iterator[Figure]:
    """In the order in which they are measured; the quick ones alone, or those of minutes too."""
    repeats = 2 if quick else 3
    yield _command(repeats)
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out = Path(at)
        if not quick:
            yield from _five_men(out, threads, repeats)
            yield from _kept(out, "KBBvKN", threads, repeats)
            yield _exchanged(out, "KBBvKN", threads)
            yield from _bereaved(out, "KBBvKN", threads)
        yield from _probes(out, "KQvKR" if quick else PROBED, threads)
        if full:
            yield from _slow(out, threads)


# ---- builds ----


def _kingpair(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "api.cli", *arguments]


def _command(repeats: int) -> Figure:
    """The whole command, Python's start included, from an empty directory each time."""

    def run() -> None:
        with TemporaryDirectory(prefix="kingpair-bench-") as out:
            run_to_end(_kingpair("build", "KQvKR", "--out", out))

    return Figure("kingpair build KQvKR, the command", best_of(repeats, run), "s", 1.0)


def _five_men(out: Path, threads: int, repeats: int) -> Iterator[Figure]:
    for name in FIVE_MEN:
        _build_smaller(out, name, threads)
        rebuild = partial(_build, out, (name,), threads, force=True)
        yield Figure(f"{name}, smaller tables present", best_of(repeats, rebuild), "s", 1.5)
        yield from _beside_building(out, name, threads, repeats)
    yield Figure("KRBvKR, the table", _megabytes(out, "KRBvKR"), "MB", 14)


def _beside_building(out: Path, name: str, threads: int, repeats: int) -> Iterator[Figure]:
    """What else takes processor time, as a multiple of what building to conversion takes."""
    rebuild = partial(_build, out, (name,), threads, force=True)
    building = _work_of(repeats, rebuild)
    tables = Tables(out, METRIC)
    with closing(tables), Threads(threads) as pool:
        table = tables.columns(Material.parse(name))
        proving = _work_of(repeats, lambda: verify(table, tables.columns, pool))
    yield Figure(f"{name}, verifying beside building", proving / building, "x", 1)
    _build_smaller(out, name, threads, Metric.DTM)
    to_mate = _work_of(repeats, partial(rebuild, metric=Metric.DTM))
    yield Figure(f"{name}, to mate beside to conversion", to_mate / building, "x", 2.5)


def _work_of(times: int, run: Callable[[], object]) -> float:
    """Seconds of processor time, of all threads: what other programs do hardly shows in it."""
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
    """In a process of its own, whose peak is then that of the build alone."""
    _build_smaller(out, SIX_MEN, threads)
    start = time.perf_counter()
    command = _kingpair("build", SIX_MEN, "--out", str(out), "--threads", str(threads))
    peak = peak_of(command)
    seconds = time.perf_counter() - start
    yield Figure(f"{SIX_MEN}, smaller tables present", seconds, "s", 150)
    yield Figure(f"{SIX_MEN}, peak resident", peak / (1 << 30), "GiB", 12)
    if _has_ray():
        yield from on_ray(out, SIX_MEN)
    yield from _bereaved(out, SIX_MEN, threads)


# ---- several workers ----


def _has_ray() -> bool:
    return importlib.util.find_spec("ray") is not None


def _bereaved(out: Path, name: str, threads: int) -> Iterator[Figure]:
    if _has_ray():
        from api.bench_cluster import recovery

        yield from recovery(out, name, threads)


def _exchanged(out: Path, name: str, threads: int) -> Figure:
    """Between two workers of this process: the bytes are the same wherever they are."""
    material, passes = Material.parse(name), list[Committed]()

    def listen(event: Event) -> None:
        if isinstance(event, Committed) and event.subject.material == material:
            passes.append(event)

    request = Request(
        (material,), out, threads=threads, workers=2, grain=1, force=True, verify=False
    )
    build(request, listen)
    return _share_exchanged(material, sum(event.exchanged for event in passes), len(passes))


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
    lines = run_to_end(_kingpair(*arguments)).splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def _only(events: list[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    (found,) = [e for e in events if e["event"] == kind and e["material"] == name]
    return found


def run_to_end(command: Sequence[str]) -> str:
    """What the command prints; CannotBuild if it fails."""
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
    """The most memory that a process held, in bytes.

    Linux counts what the parent held when it started the child as the child's own, so a small
    process starts it.
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
    request = Request(
        materials, out, (metric,), threads=threads, force=force, compact=compact, verify=False
    )
    build(request, lambda event: None)


def _build_smaller(out: Path, name: str, threads: int, metric: Metric = METRIC) -> None:
    material = Material.parse(name)
    smaller = [str(m) for wave in closure((material,)) for m in wave if m != material]
    _build(out, smaller, threads, metric=metric)


def _megabytes(out: Path, name: str) -> float:
    return (out / table_name(Material.parse(name), METRIC)).stat().st_size / 1e6


# ---- what the log and the journal cost ----


def _kept(out: Path, name: str, threads: int, repeats: int) -> Iterator[Figure]:
    """Processor time beyond that of solving with nothing kept, as a share of it.  Builds on a
    cluster have a journal, which costs the same if threads of this process are hired.
    """
    material, directory = Material.parse(name), Tables(out, METRIC)
    with Threads(threads) as pool:
        exits = exits_of(material, METRIC, directory, pool)
        unlogged = partial(_solve_unlogged, material, exits, pool)
        logged = partial(_solve_logged, out, material, exits, pool)
        solving, log = _beyond(
            3 * repeats, partial(_work_of, 1, unlogged), partial(_work_of, 1, logged)
        )
    directory.close()
    yield Figure(f"{name}, the log beyond solving", 100 * log / solving, "%", 100 / 3)
    forgotten, journaled = (
        partial(_solving, out, material, threads, hire)
        for hire in (None, lambda site, library: Local(site, library, 1, threads))
    )
    _, journal = _beyond(3 * repeats, forgotten, journaled)
    kept = 100 * (log + journal) / solving
    yield Figure(f"{name}, log and journal beyond solving", kept, "%", 100 / 3)


def _beyond(
    times: int, less: Callable[[], float], more: Callable[[], float]
) -> tuple[float, float]:
    """What the one takes, and what the other takes beyond it: in turns, for the speed of a machine
    changes from second to second, and the median.
    """
    rounds = [(less(), more()) for _ in range(times)]
    return median(a for a, _ in rounds), median(b - a for a, b in rounds)


def _solving(out: Path, material: Material, threads: int, hire: Hire | None) -> float:
    """Processor time of a build, from the start of its workers until it paints."""
    at = dict[type[Event], float]()

    def listen(event: Event) -> None:
        at[type(event)] = time.process_time()

    build(Request((material,), out, threads=threads, force=True, verify=False), listen, hire)
    return at[Painting] - at[Started]


def _solve_unlogged(material: Material, exits: Sequence[Exits], threads: Threads) -> None:
    for winner in (STRONGER, WEAKER):
        _solve(Unlogged(domain_of(material), winner, exits[winner], threads, NoLog()))


def _solve_logged(out: Path, material: Material, exits: Sequence[Exits], threads: Threads) -> None:
    for winner in (STRONGER, WEAKER):
        log = PassLog(out / "bench.log", {})
        _solve(Analysis(domain_of(material), winner, exits[winner], threads, log))
        log.close()
        log.path.unlink()


def _solve(analysis: Analysis) -> None:
    """All passes, one after the other."""
    analysis.prepare()
    won, lost = 0, analysis.lose_at_once().total
    analysis.log.commit(Pass(0, won, lost, False))
    for depth in count(1):
        won, lost = analysis.win(depth).total, analysis.lose(depth).total
        over = depth >= analysis.last_exit and not lost
        durable = analysis.log.commit(Pass(depth, won, lost, over))
        if over:
            break
    durable.result()
    analysis.close()


# ---- probes ----


def _probes(out: Path, name: str, threads: int) -> Iterator[Figure]:
    """Cold: a table not yet opened, its file in the system's cache.  Warm: its block decoded."""
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
    """The median: the first probe of a tablebase that has opened no table yet."""
    seconds = []
    for fen in fens:
        with open_tablebase(out) as tablebase:
            seconds.append(best_of(1, partial(tablebase.probe, fen)))
    return median(seconds)
