"""A file that somebody asked for by its name: all of it is there, or nothing is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from workers.errors import CannotBuild, KingpairError
from workers.store import sync_directory


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that has its name once all of it is written, and of which else nothing is left."""
    partial = path.with_name(path.name + ".partial")
    try:
        if path.exists() and not path.is_file():
            raise CannotBuild(f"cannot write {path}: it is no file; choose another name")
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync_directory(path.parent)
    except KingpairError:
        # A damaged table is an OSError too, and none of the file's.
        raise
    except OSError as error:
        reason = error.strerror or error
        raise CannotBuild(
            f"cannot write {path}: {reason}; make room or choose another file"
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink()
