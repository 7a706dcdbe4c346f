"""Folders of a run of the tests, below the directory for temporary files.

The process that makes a folder locks it until it ends.  A process that is killed removes nothing:
the next run removes the folders that no process has locked.
"""

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "kingpair-test-run-"
_YOUNG = 60.0  # seconds in which a folder may not be locked yet
_locks: list[int] = []


def made() -> Path:
    """A new folder, which this process has locked."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    _locks.append(os.open(folder, os.O_RDONLY))
    fcntl.flock(_locks[-1], fcntl.LOCK_EX)
    return folder


def remove_abandoned(among: Path | None = None) -> None:
    """Removes the folders of runs that have ended without doing so."""
    for folder in (among or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime > _YOUNG and not _is_locked(folder):
                shutil.rmtree(folder)
        except OSError:
            continue  # another run removes it, or it is another user's


def _is_locked(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)
