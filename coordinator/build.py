"""A build: the closure of some materials, wave by wave, each solved for both colours and
published as a table.

What is there already and sound is not built again; what an interrupted run logged is gone on
from.  A material's logs lie beside the tables in `.MATERIAL.METRIC.build/` until its table has
its name.

    for each material of each wave:
        exits from the smaller tables
        for each colour that has men: passes, logged and committed          (coordinator.solve)
        paint the columns from the logs, publish                            (workers.painting)
        verify what was published, drop the logs                            (workers.verify)
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coordinator.plan import Estimate, check_directory, check_memory, estimate, waves
from coordinator.solve import is_over, passes
from workers.analysis import Analysis
from workers.domain import Domain, domain_of
from workers.errors import CannotBuild, DamagedTable, ForeignTable
from workers.exits import Exits, exits_of
from workers.material import STRONGER, WEAKER, Material
from workers.metric import Metric
from workers.painting import Logs, Painter
from workers.passlog import Pass, PassLog
from workers.table import (
    COMPACT,
    PLAIN,
    Counts,
    Identity,
    Part,
    Table,
    partial_of,
    publish,
    table_name,
)
from workers.threads import Threads
from workers.verify import verify


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, and how it is to be built."""

    materials: tuple[Material, ...]
    out: Path
    metric: Metric = Metric.DTC
    threads: int = 1
    memory: int | None = None
    resume: bool = True
    force: bool = False
    compact: bool = False
    verify: bool = True


# ---- what happens, for whoever watches ----


class Planned(NamedTuple):
    """The waves of what is to be built, and what is there already."""

    waves: tuple[tuple[Material, ...], ...]
    present: tuple[Material, ...]


class Started(NamedTuple):
    material: Material


class Committed(NamedTuple):
    """A pass is in the log; `decided` counts all positions of this analysis so far."""

    material: Material
    winner: int
    passed: Pass
    decided: int
    seconds: float


class Painting(NamedTuple):
    material: Material


class Published(NamedTuple):
    material: Material
    bytes: int
    seconds: float
    counts: Counts


class Verified(NamedTuple):
    """Every value of a table follows from its successors."""

    material: Material
    seconds: float


Event = Planned | Started | Committed | Painting | Published | Verified
Listener = Callable[[Event], None]


# ---- the build ----


class Directory:
    """The tables of one directory, opened once each."""

    def __init__(self, path: Path, metric: str) -> None:
        self.path, self.metric = path, metric
        self._open: dict[Material, Table] = {}

    def columns(self, material: Material) -> Table:
        if material not in self._open:
            self._open[material] = Table(self.path / table_name(material, self.metric))
        return self._open[material]

    def smaller(self, material: Material) -> dict[str, str]:
        """The digests of the tables that a material rests on."""
        names = sorted({c.material for c in material.captures() if c.material.letters})
        return {str(m): self.columns(m).digest for m in names}

    def has(self, material: Material) -> bool:
        """Whether the material's table is there, sound, and rests on the smaller tables that are
        there.
        """
        path = self.path / table_name(material, self.metric)
        if not path.exists():
            return False
        try:
            return self.columns(material).smaller == self.smaller(material)
        except FileNotFoundError:
            return False
        except (DamagedTable, ForeignTable) as error:
            raise type(error)(f"{error} (kingpair build --force {material})") from error

    def forget(self, material: Material) -> None:
        """Another table has taken the name: what was open is not what is there."""
        if (table := self._open.pop(material, None)) is not None:
            table.close()

    def close(self) -> None:
        for table in self._open.values():
            table.close()


def build(request: Request, listen: Listener) -> None:
    """Build everything asked for that is not there; raise CannotBuild if it cannot be done."""
    if not request.out.exists():
        check_memory(_estimates(request, waves(request.materials)), request.memory)
    check_directory(request.out, ())
    with _alone(request.out):
        directory = Directory(request.out, request.metric)
        try:
            _build(request, directory, listen)
        finally:
            directory.close()


def _build(request: Request, directory: Directory, listen: Listener) -> None:
    todo, present = _sorted_out(request, directory)
    estimates = _estimates(request, todo)
    check_memory(estimates, request.memory)
    check_directory(request.out, estimates)
    listen(Planned(todo, present))
    with Threads(request.threads) as threads:
        solver = Solver(request, directory, threads, listen)
        for material in present:
            solver.clear_remains(material)
        for wave in todo:
            for material in wave:
                solver.solve(material)


def _estimates(request: Request, todo: Iterable[Iterable[Material]]) -> list[Estimate]:
    return [
        estimate(material, request.threads, request.metric) for wave in todo for material in wave
    ]


def _logs_at(request: Request, material: Material) -> Path:
    return request.out / f".{material}.{request.metric}.build"


def _sorted_out(
    request: Request, directory: Directory
) -> tuple[tuple[tuple[Material, ...], ...], tuple[Material, ...]]:
    """The waves of what is missing, and what is there.  What rests on a table to be built is
    built again.
    """
    todo: list[tuple[Material, ...]] = []
    present: list[Material] = []
    missing: set[Material] = set()
    for wave in waves(request.materials):
        for material in wave:
            forced = request.force and material in request.materials
            stale = any(capture.material in missing for capture in material.captures())
            if forced or stale or not directory.has(material):
                missing.add(material)
            else:
                present.append(material)
        if left := tuple(m for m in wave if m in missing):
            todo.append(left)
    return tuple(todo), tuple(present)


@dataclass
class Solver:
    """Solves one material after another with one pool of threads."""

    request: Request
    directory: Directory
    threads: Threads
    listen: Listener

    def solve(self, material: Material) -> None:
        start = time.monotonic()
        self.listen(Started(material))
        domain = domain_of(material)
        smaller = self.directory.smaller(material)
        logs_at = _logs_at(self.request, material)
        if not self.request.resume:
            shutil.rmtree(logs_at, ignore_errors=True)
        with _logs(logs_at, material, self.request.metric, smaller) as logs:
            self._analyse(domain, logs)
            self.listen(Painting(material))
            counts = self._publish(domain, logs, Identity(material, self.request.metric, smaller))
        self.directory.forget(material)
        size = self.directory.columns(material).bytes
        self.listen(Published(material, size, time.monotonic() - start, counts))
        self._verify(material)
        shutil.rmtree(logs_at)

    def clear_remains(self, material: Material) -> None:
        """A run that died after, or while replacing, a table that is there left what is not needed
        once the table has been verified.
        """
        logs_at = _logs_at(self.request, material)
        if logs_at.exists():
            self._verify(material)
            shutil.rmtree(logs_at)
        partial_of(self._path(material)).unlink(missing_ok=True)

    def _path(self, material: Material) -> Path:
        return self.request.out / table_name(material, self.request.metric)

    def _verify(self, material: Material) -> None:
        """A table that contradicts itself does not stay."""
        if not self.request.verify:
            return
        columns = self.directory.columns
        verdict = verify(columns(material), columns, self.threads)
        if verdict.fault is not None:
            path = self._path(material)
            self.directory.forget(material)
            path.unlink()
            raise DamagedTable(f"{path}: {verdict.fault}; removed, please report this")
        self.listen(Verified(material, verdict.seconds))

    def _analyse(self, domain: Domain, logs: Logs) -> None:
        waiting = [winner for winner, log in logs.items() if not is_over(log.passes)]
        if not waiting:
            return
        exits = exits_of(domain.material, self.request.metric, self.directory, self.threads)
        for winner in waiting:
            self._passes(domain, winner, exits[winner], logs[winner])

    def _passes(self, domain: Domain, winner: int, exits: Exits, log: PassLog) -> None:
        analysis = Analysis(domain, winner, exits, self.threads, log)
        analysis.prepare()
        if log.passes:
            analysis.replay()
        decided = sum(p.won + p.lost for p in log.passes)
        start = time.monotonic()
        with closing(analysis):
            for passed in passes(analysis, log.depth):
                decided += passed.won + passed.lost
                now = time.monotonic()
                self.listen(Committed(domain.material, winner, passed, decided, now - start))
                start = now
        log.flush()

    def _publish(self, domain: Domain, logs: Logs, identity: Identity) -> Counts:
        packing = COMPACT if self.request.compact else PLAIN
        painter = Painter(domain, logs, self.threads, packing)
        counts: Counts = {}

        def parts() -> Iterator[Part]:
            yield from painter.parts(identity)
            counts.update(painter.counts())

        publish(self._path(identity.material), identity, painter.dtype, parts(), counts)
        return counts


@contextmanager
def _logs(at: Path, material: Material, metric: str, smaller: dict[str, str]) -> Iterator[Logs]:
    """The logs of the analyses of each colour that has men to win with."""
    sides = [s for s, men in ((STRONGER, material.stronger), (WEAKER, material.weaker)) if men]
    logs: Logs = {}
    try:
        at.mkdir(exist_ok=True)
        for winner in sides:
            identity: dict[str, object] = {
                "material": str(material),
                "metric": metric,
                "winner": winner,
                "smaller": smaller,
            }
            logs[winner] = PassLog(
                at / f"{'stronger' if winner == STRONGER else 'weaker'}.log", identity
            )
        yield logs
    except DamagedTable:
        raise
    except OSError as error:
        raise CannotBuild(f"cannot write {at}: {error.strerror or error}") from error
    finally:
        for log in logs.values():
            log.close()


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """No two builds write to one directory: the second is refused, not queued."""
    fd = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CannotBuild(
            f"another build is writing to {out}; wait for it or choose another --out"
        ) from None
    finally:
        os.close(fd)
