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
    status,
    summary,
    wave_line,
)
from coordinator.build import (
    Committed,
    Event,
    Listener,
    Painting,
    Planned,
    Published,
    Started,
    Verified,
)
from workers.table import COLUMNS

if TYPE_CHECKING:
    from rich.console import RenderableType

Echo = Callable[[str], None]


@contextmanager
def watching(echo: Echo, out: Path, as_json: bool) -> Iterator[Listener]:
    """A listener for as long as a build lasts, fit for whoever reads the output."""
    if as_json:
        yield lambda event: echo(json.dumps(event_json(event)))
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
        case Started(material):
            return {"event": "started", "material": str(material)}
        case Committed(material, winner, passed, decided, seconds):
            return {
                "event": "committed",
                "material": str(material),
                "winner": COLUMNS[winner],
                **passed._asdict(),
                "decided": decided,
                "seconds": round(seconds, 6),
            }
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
