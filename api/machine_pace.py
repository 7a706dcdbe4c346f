"""The pace of this machine, as its builds have measured it, kept between runs.

One small JSON file, `$XDG_STATE_HOME/kingpair/pace.json` (by default in ~/.local/state): seconds of
one thread for a second of the machine of reference, and by how much work that was seen.  Without
the file, or where it cannot be written, estimates are wide.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.countdown import run_of
from kingpair.coordinator.journal.forecast import THREADS_HELP, Pace, pace_of
from kingpair.coordinator.machine.state import State
from kingpair.workers.errors import CannotBuild
from kingpair.workers.store.atomic_file import atomic_file

LEAST = 0.5  # work that says something of a machine
MOST = 50.0  # work that is remembered: a machine may be busier today than it was


def stored_pace(threads: int) -> Pace:
    """Returns the pace of so many threads of this machine."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        return pace_of(threads, float(found["seconds"]), float(found["seen"]))
    except (OSError, ValueError, KeyError, TypeError):
        return pace_of(threads)


def note_pace(build: BuildRecord, threads: int) -> None:
    """Remembers the pace of a build that has succeeded, if it was long enough to say one."""
    seconds, work = run_of(build)
    if build.state is not State.SUCCEEDED or work < LEAST or seconds <= 0:
        return
    before = stored_pace(1)
    seen = min(MOST, before.seen)
    one_thread = (before.seconds * seen + seconds * threads**THREADS_HELP) / (seen + work)
    # What cannot be kept is measured again.
    found = {"seconds": round(one_thread, 4), "seen": round(min(MOST, seen + work), 2)}
    with suppress(OSError, CannotBuild):
        _file().parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(_file()) as file:
            file.write(json.dumps(found).encode())


def _file() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home, "kingpair", "pace.json")
