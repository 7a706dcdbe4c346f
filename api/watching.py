"""Watching a build: a live display on a terminal, a line per material elsewhere, or JSON lines."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.progress import (
    Progress,
    planned_lines,
    published_line,
    set_back_line,
    status,
    summary,
    wave_line,
)
from coordinator.request import (
    Committed,
    Event,
    Listener,
    Painting,
    Planned,
    Post,
    Published,
    Restaffed,
    SetBack,
    Started,
    Unused,
    Verified,
    Waiting,
)
from workers.metric import Metric
from workers.table import COLUMNS

if TYPE_CHECKING:
    from rich.console import RenderableType

Echo = Callable[[str], None]


@contextmanager
def watching(echo: Echo, out: Path, as_json: bool, metrics: Sequence[Metric]) -> Iterator[Listener]:
    """A listener for as long as a build lasts, fit for whoever reads the output; of several metrics
    it is said which is meant.
    """
    if as_json:
        yield JsonLines(echo, metrics)
        return
    for metric in metrics if len(metrics) > 1 else ():
        echo(f"{metric}: moves to {metric.counts_to}")
    if sys.stdout.isatty():
        with _live(out) as log:
            yield log
    else:
        plain = Log(echo)
        yield plain
        echo(summary(plain.progress, out))


# ---- lines ----


class Log:
    """A line when a material is done, for a pipe or a file; also what a terminal keeps."""

    def __init__(self, echo: Echo) -> None:
        self.echo = echo
        self.progress = Progress()
        self._wave = 0

    def __call__(self, event: Event) -> None:
        self.progress.follow(event)
        if isinstance(event, Planned):
            for line in planned_lines(event):
                self.echo(line)
        elif isinstance(event, Started) and self._wave != self.progress.wave:
            self._wave = self.progress.wave
            self.echo(wave_line(self.progress))
        elif isinstance(event, Published):
            self.echo(published_line(self.progress, event))
        elif isinstance(event, SetBack):
            self.echo(set_back_line(self.progress, event))
        elif isinstance(event, Waiting):
            self.echo(f"waiting for nodes: {event.lacking}")
        elif isinstance(event, Unused):
            self.echo(f"not used: {event.reason}")


# ---- on a terminal ----


class _Display:
    """What rich asks for a few times a second."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __call__(self) -> "RenderableType":
        from rich.text import Text

        lines = status(self._log.progress, time.monotonic())
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


@contextmanager
def _live(out: Path) -> Iterator[Listener]:
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, markup=False)
    log = Log(console.print)
    with Live(get_renderable=_Display(log), console=console, refresh_per_second=8, transient=True):
        yield log
    console.print(summary(log.progress, out))


# ---- as JSON ----


class JsonLines:
    """A line for each event; with several metrics each says which it is of, and the plan is told
    metric by metric.
    """

    def __init__(self, echo: Echo, metrics: Sequence[Metric]) -> None:
        self._echo, self._metrics = echo, metrics

    def __call__(self, event: Event) -> None:
        if isinstance(event, Planned):
            for metric in self._metrics:
                self._say(_planned(event, metric), metric)
        elif isinstance(event, Waiting):
            self._say({"event": "waiting", "lacking": event.lacking}, None)
        elif isinstance(event, Unused):
            self._say({"event": "not used", "reason": event.reason}, None)
        else:
            material, metric = event.subject
            kind, rest = _happened(event)
            self._say({"event": kind, "material": str(material), **rest}, metric)

    def _say(self, said: dict[str, Any], metric: Metric | None) -> None:
        named = {"metric": metric} if metric and len(self._metrics) > 1 else {}
        self._echo(json.dumps(said | named))


def _planned(event: Planned, metric: Metric) -> dict[str, Any]:
    waves = [[str(s.material) for s in wave if s.metric == metric] for wave in event.waves]
    present = [str(s.material) for s in event.present if s.metric == metric]
    return {"event": "planned", "waves": [wave for wave in waves if wave], "present": present}


def _happened(
    event: Started | Restaffed | Committed | SetBack | Painting | Published | Verified,
) -> tuple[str, dict[str, Any]]:
    match event:
        case Started(_, posts, cut):
            return "started", _staff(posts, cut)
        case Restaffed(_, posts, cut):
            return "restaffed", _staff(posts, cut)
        case Committed():
            return "committed", _committed(event)
        case SetBack(_, reason):
            return "set back", {"reason": reason}
        case Painting():
            return "painting", {}
        case Published(_, written, seconds, counts):
            times = {"bytes": written, "seconds": round(seconds, 6)}
            return "published", {**times, "longest": counts["longest"]}
        case Verified(_, seconds):
            return "verified", {"seconds": round(seconds, 6)}


def _staff(posts: tuple[Post, ...], cut: int) -> dict[str, Any]:
    """Who shares a material; one worker alone shares nothing."""
    if len(posts) == 1:
        return {}
    return {"workers": [post._asdict() for post in posts], "cut": cut}


def _committed(event: Committed) -> dict[str, Any]:
    return {
        "winner": COLUMNS[event.winner],
        **event.passed._asdict(),
        "decided": event.decided,
        "seconds": round(event.seconds, 6),
        "exchanged": event.exchanged,
        "work": [{"seconds": round(w.seconds, 6), "memory": w.memory} for w in event.work],
    }
