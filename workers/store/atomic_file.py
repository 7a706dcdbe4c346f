"""Files that appear under their names only once they are complete, and directories for them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from kingpair.workers.errors import CannotBuild, KingpairError
from kingpair.workers.store.filesystem import sync_directory


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing.  It gets its name once all of it is synced; if writing fails,
    nothing of it is left.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        if path.exists() and not path.is_file():
            raise CannotBuild(f"cannot write {path}: it is not a file; choose another name")
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync_directory(path.parent)
    except KingpairError:
        # DamagedTable is an OSError too, but says nothing about this file.
        raise
    except OSError as error:
        reason = error.strerror or error
        raise CannotBuild(
            f"cannot write {path}: {reason}; make room or choose another file"
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def made_directory(path: Path) -> Iterator[None]:
    """Makes a directory and its parents.  Those that are still empty if the body fails go again."""
    made = [each for each in (path, *path.parents) if not each.exists()]
    try:
        _make(path)
        yield
    except BaseException:
        with suppress(OSError):
            for each in made:
                each.rmdir()
        raise


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotBuild(
            f"cannot write to {directory}: {error.strerror or error}; name another directory"
        ) from error
