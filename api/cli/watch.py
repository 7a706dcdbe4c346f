"""Shows a build: a live display on a terminal, a line a material elsewhere, or JSON lines.

All three are views of the build's record.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kingpair.api.answers.plan_event import planned_materials
from kingpair.api.answers.progress import (
    exported_line,
    planned_lines,
    published_line,
    set_back_line,
    status,
    summary,
    wave_line,
    wave_number,
)
from kingpair.api.machine_pace import note_pace, stored_pace
from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.countdown import Countdown
from kingpair.coordinator.journal.domain_record import DomainRecord
from kingpair.coordinator.journal.rows import Listener, Row
from kingpair.coordinator.machine.records import (
    Assigned,
    ExportDone,
    LogUncopied,
    NodesLacking,
    NodesPassedOver,
    PaintingBegan,
    PassCommitted,
    SetBack,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.directory import open_metadata
from kingpair.workers.table.format import COLUMNS

if TYPE_CHECKING:
    from rich.console import RenderableType

Echo = Callable[[str], None]
Json = dict[str, Any]


@contextmanager
def watching(
    echo: Echo, spec: BuildSpec, out: Path, threads: int, as_json: bool
) -> Iterator[Listener]:
    """Yields a listener that fits the reader of the output; with several metrics it names them.

    The pace of a build that ends well is kept, for the estimates of later ones.
    """
    build = BuildRecord("build", 0, spec, time.time(), is_queued=False)
    with _shown(echo, build, out, threads, as_json) as listen:
        yield listen
    note_pace(build, threads)


@contextmanager
def _shown(
    echo: Echo, build: BuildRecord, out: Path, threads: int, as_json: bool
) -> Iterator[Listener]:
    spec = build.spec
    if as_json:
        yield JsonLines(echo, build, out)
        return
    for metric in spec.metrics if len(spec.metrics) > 1 else ():
        echo(f"{metric}: {metric.unit} to {metric.counts_to}")
    if sys.stdout.isatty():
        with _live(build, out, threads) as lines:
            yield lines
    else:
        yield MaterialLines(echo, build)
        echo(summary(build, out, time.time()))


# ---- lines ----


class MaterialLines:
    """Prints a line when a material is done; a terminal keeps these lines."""

    def __init__(self, echo: Echo, build: BuildRecord) -> None:
        self._echo, self._build = echo, build
        self._wave = 0

    def __call__(self, row: Row) -> None:
        build = self._build
        build.apply(row)
        match row.record:
            case WavesPlanned() as plan:
                for line in planned_lines(plan):
                    self._echo(line)
            case Assigned() if self._wave != wave_number(build):
                self._wave = wave_number(build)
                self._echo(wave_line(build))
            case TablePublished(domain):
                self._echo(published_line(build, build.domains[domain]))
            case ExportDone(domain) if build.domains[domain].state == "exists":
                self._echo(exported_line(build, build.domains[domain]))
            case SetBack() as setback:
                self._echo(set_back_line(build, setback))
            case NodesLacking(reason):
                self._echo(f"waiting for nodes: {reason}")
            case NodesPassedOver(reason):
                self._echo(f"not used: {reason}")
            case LogUncopied(reason):
                self._echo(f"no other machine takes a copy of {reason}")


# ---- on a terminal ----


@contextmanager
def _live(build: BuildRecord, out: Path, threads: int) -> Iterator[Listener]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    countdown = Countdown(stored_pace(threads))

    def display() -> "RenderableType":
        now = time.time()
        lines = status(build, now, countdown.left(build, now))
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    console = Console(highlight=False, markup=False)
    with Live(get_renderable=display, console=console, refresh_per_second=8, transient=True):
        yield MaterialLines(console.print, build)
    console.print(summary(build, out, time.time()))


# ---- as JSON ----


class JsonLines:
    """Prints a line for each event; with several metrics each names its own, and the plan comes
    metric by metric.
    """

    def __init__(self, echo: Echo, build: BuildRecord, out: Path) -> None:
        self._echo, self._build, self._out = echo, build, out

    def __call__(self, row: Row) -> None:
        was_painted = {name for name, domain in self._build.domains.items() if domain.is_painted}
        self._build.apply(row)
        match row.record:
            case WavesPlanned() as plan:
                for metric in self._build.spec.metrics:
                    self._say(_planned(plan, metric), metric)
            case NodesLacking(reason):
                self._say({"event": "waiting", "lacking": reason})
            case NodesPassedOver(reason):
                self._say({"event": "not used", "reason": reason})
            case LogUncopied(reason):
                self._say({"event": "no copy", "reason": reason})
            case Assigned(domain) as assigned:
                record = self._build.record_of(domain)
                is_first = record is not None and record.teams == 1
                self._say_of(domain, "started" if is_first else "restaffed", _workers_of(assigned))
            case PassCommitted(domain) as committed:
                self._say_of(domain, "committed", self._committed(committed))
            case SetBack(domain, _, reason):
                self._say_of(domain, "set back", {"reason": reason})
            case PaintingBegan(domain) if domain not in was_painted:
                self._say_of(domain, "painting", {})
            case TablePublished(domain) as table:
                self._say_of(domain, "published", self._published(table))
            case TableVerified(domain, seconds):
                published = self._build.domains[domain].published
                seconds = seconds or row.time - (published or row.time)
                self._say_of(domain, "verified", {"seconds": round(seconds, 6)})
            case ExportDone(domain):
                self._say_of(domain, "exported", {})

    def _say(self, said: Json, metric: Metric | None = None) -> None:
        named = {"metric": metric} if metric and len(self._build.spec.metrics) > 1 else {}
        self._echo(json.dumps(said | named))

    def _say_of(self, domain: str, kind: str, rest: Json) -> None:
        record = self._record_of(domain)
        material, metric, level = record.material, record.metric, record.level
        levels = {} if level is None else {"level": level}
        self._say({"event": kind, "material": str(material), **levels, **rest}, metric)

    def _record_of(self, domain: str) -> DomainRecord:
        record = self._build.record_of(domain)
        assert record is not None, f"{domain} is not in the plan"
        return record

    def _committed(self, record: PassCommitted) -> Json:
        domain = self._record_of(record.domain)
        last = domain.passes[-1]
        return {
            "winner": COLUMNS[record.winner],
            "depth": last.depth,
            "won": last.won,
            "lost": last.lost,
            "over": record.over,
            "decided": domain.decided_for(record.winner),
            "seconds": round(last.seconds, 6),
            "exchanged": record.exchanged,
            "disk": record.disk._asdict(),
            "work": [{"seconds": round(s, 6), "memory": memory} for s, memory in record.work],
        }

    def _published(self, record: TablePublished) -> Json:
        domain = self._record_of(record.domain)
        table = open_metadata(self._out / domain.key.table.file_name)
        seconds = domain.seconds or 0.0
        longest = table.counts["longest"]
        return {"bytes": record.bytes, "seconds": round(seconds, 6), "longest": longest}


def _planned(plan: WavesPlanned, metric: Metric) -> Json:
    waves, present = planned_materials(plan, metric)
    return {
        "event": "planned",
        "waves": [list(map(str, wave)) for wave in waves],
        "present": list(map(str, present)),
    }


def _workers_of(record: Assigned) -> Json:
    """The workers that share a domain, and the links cut; empty for a single worker."""
    if len(record.shares) == 1:
        return {}
    workers = [
        {"node": node, "cores": cores, "memory": memory, "partitions": partitions}
        for (node, partitions), (cores, memory) in zip(record.shares, record.given, strict=True)
    ]
    return {"workers": workers, "cut": record.links_cut}
