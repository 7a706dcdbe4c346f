"""Watching a build: a live display on a terminal, a line per material elsewhere, or JSON lines."""

import json
import sys
import time
from collections.abc import Callable, Iterator
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
    Verified,
    Waiting,
)
from workers.metric import Metric
from workers.table import COLUMNS

if TYPE_CHECKING:
    from rich.console import RenderableType

Echo = Callable[[str], None]


@contextmanager
def watching(
    echo: Echo, out: Path, as_json: bool, metric: Metric | None = None
) -> Iterator[Listener]:
    """A listener for as long as a build lasts, fit for whoever reads the output; with a metric, it
    is said, for there are builds of others before or after.
    """
    named = {} if metric is None else {"metric": metric}
    if metric is not None and not as_json:
        echo(f"{metric}: moves to {metric.counts_to}")
    if as_json:
        yield lambda event: echo(json.dumps(event_json(event) | named))
    elif sys.stdout.isatty():
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
            self.echo(published_line(event))
        elif isinstance(event, SetBack):
            self.echo(set_back_line(event))
        elif isinstance(event, Waiting):
            self.echo(f"waiting for nodes: {event.lacking}")


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


def event_json(event: Event) -> dict[str, Any]:
    match event:
        case Planned(waves, present):
            names = [[str(m) for m in wave] for wave in waves]
            return {"event": "planned", "waves": names, "present": [str(m) for m in present]}
        case Started(material, posts, cut):
            return {"event": "started", "material": str(material), **_staff(posts, cut)}
        case Restaffed(material, posts, cut):
            return {"event": "restaffed", "material": str(material), **_staff(posts, cut)}
        case Committed():
            return _committed(event)
        case SetBack(material, reason):
            return {"event": "set back", "material": str(material), "reason": reason}
        case Waiting(lacking):
            return {"event": "waiting", "lacking": lacking}
        case Painting(material):
            return {"event": "painting", "material": str(material)}
        case Published(material, written, seconds, counts):
            return {
                "event": "published",
                "material": str(material),
                "bytes": written,
                "seconds": round(seconds, 6),
                "longest": counts["longest"],
            }
        case Verified(material, seconds):
            return {"event": "verified", "material": str(material), "seconds": round(seconds, 6)}


def _staff(posts: tuple[Post, ...], cut: int) -> dict[str, Any]:
    """Who shares a material; one worker alone shares nothing."""
    if len(posts) == 1:
        return {}
    return {"workers": [post._asdict() for post in posts], "cut": cut}


def _committed(event: Committed) -> dict[str, Any]:
    return {
        "event": "committed",
        "material": str(event.material),
        "winner": COLUMNS[event.winner],
        **event.passed._asdict(),
        "decided": event.decided,
        "seconds": round(event.seconds, 6),
        "exchanged": event.exchanged,
        "work": [{"seconds": round(w.seconds, 6), "memory": w.memory} for w in event.work],
    }
