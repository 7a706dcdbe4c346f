"""A file in the state directory that tells the next service of a crash.

The file is locked while the service runs and emptied when it stops.  A file that is not empty and
not locked was left by a service that had no time to stop.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger("kingpair")
NAME = ".kingpair.serving"


@contextmanager
def logged(state: Path, **fields: object) -> Iterator[None]:
    """Logs the start and the stop of a service, and that the one before it crashed."""
    began = datetime.now(UTC)
    mark = _Mark(state / NAME)
    if mark.left is not None:
        crashed = {"running_since": mark.left}
        log.warning("the last service crashed or was killed", extra={"fields": crashed})
    mark.write(began.isoformat(timespec="seconds"))
    log.info("service started", extra={"fields": {"pid": os.getpid(), **fields}})
    try:
        yield
    except BaseException:
        log.error("service ended by an error", exc_info=True)
        raise
    else:
        mark.write("")
        seconds = round((datetime.now(UTC) - began).total_seconds(), 3)
        log.info("service stopped", extra={"fields": {"pid": os.getpid(), "seconds": seconds}})
    finally:
        mark.close()


class _Mark:
    """The file; without effect if it cannot be written or another service holds it."""

    def __init__(self, path: Path) -> None:
        self.left: str | None = None
        self._file: int | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.left = os.read(self._file, 100).decode("ascii", "replace") or None
        except OSError:
            self.close()

    def write(self, text: str) -> None:
        if self._file is None:
            return
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
