"""Where the tables are, and what is made of them: a directory, or a store behind a URI.

    /data/tables                          a directory, of this machine or shared by all
    s3://bucket/prefix                    what speaks S3; or gs://, hdfs://, as pyarrow knows them
    s3://bucket/prefix?endpoint_override=host:port&scheme=https&region=...

A build writes and reads files here, under their names, and then has the store keep them:

    here      where a file lies or is to be written
    fetch     the file of a name, here
    keep      a file written here is the store's from now on: all of it or nothing
    extend    a log has grown, and is to outlast a power cut as far as it is complete
    gather    a log, here, with all that it has grown by
    hold      nobody else builds into this store meanwhile

In a directory `here` is where the files are for good.  A store behind a URI keeps whole objects,
which nobody can append to: so a log is a folder of segments, one for each time that it was
extended, and a file that is written or read has a copy here, in a directory of the cache.

Nothing of a URI but its address is ever printed: there may be a key in it.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from workers.errors import CannotBuild

_URI = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


class StoreHeld(CannotBuild):
    """Another build writes there; it will end."""


class Store(Protocol):
    """What a build needs of the place it writes to."""

    root: Path  # where its files lie, or where their copies do

    @property
    def is_local(self) -> bool: ...
    def __str__(self) -> str:
        """As it may be shown."""

    def here(self, name: str) -> Path: ...
    def fetch(self, name: str) -> Path:
        """FileNotFoundError if there is none."""

    def copy_of(self, name: str) -> Path:
        """What `fetch` would have given when the store's names were last listed."""

    def reading(self, name: str) -> Any:
        """A file of pyarrow's, of which no more is read than is asked for."""

    def has(self, name: str) -> bool: ...
    def names(self, folder: str) -> list[str]:
        """What is directly below a folder, none if it is not there."""

    def draft(self, name: str) -> Path:
        """A file that is kept, here, to be changed before it is kept again or renamed."""

    def keep(self, name: str) -> None: ...
    def rename(self, name: str, new: str) -> None:
        """Keep what was written here under another name, in place of what had it."""

    def extend(self, name: str, fd: int, end: int) -> None:
        """So many bytes of a log are complete; behind them somebody may be writing."""

    def gather(self, name: str) -> Path: ...
    def remove(self, name: str) -> None: ...
    def make(self, folder: str) -> None: ...
    def clear(self, folder: str) -> None: ...
    def check(self) -> None:
        """CannotBuild if it is not there or may not be written."""

    def room(self) -> int | None:
        """Bytes that are free, if it can tell."""

    def hold(self) -> AbstractContextManager[None]:
        """StoreHeld if another build holds it."""

    def close(self) -> None:
        """Nothing more is asked of it: what lay here to be written can go."""


def uri_of(where: str | Path) -> str | None:
    """The URI that a path came from, if it did: of two slashes a path keeps one."""
    if (matched := _URI.fullmatch(str(where))) is None:
        return None
    return f"{matched[1]}://{'/' if matched[1] == 'file' else ''}{matched[2]}"


def shown(where: str | Path) -> str:
    """A path, or a URI without user, key and query."""
    if (uri := uri_of(where)) is None:
        return str(where)
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def store_at(where: str | Path) -> Store:
    """The store at a path or a URI."""
    uri = uri_of(where)
    if uri is None:
        return LocalStore(Path(where))
    if uri.startswith("file://"):
        return LocalStore(Path(uri.removeprefix("file://")))
    from workers.remote import RemoteStore

    return RemoteStore.at(uri)


def sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class LocalStore:
    """A directory: what is written is where it is kept."""

    is_local = True

    def __init__(self, root: Path) -> None:
        self.root = root

    def __str__(self) -> str:
        return str(self.root)

    def here(self, name: str) -> Path:
        return self.root / name

    fetch = copy_of = draft = gather = here

    def reading(self, name: str) -> Any:
        import pyarrow as pa  # takes longer to load than most commands to run

        return pa.memory_map(str(self.here(name)))

    def has(self, name: str) -> bool:
        return self.here(name).exists()

    def names(self, folder: str) -> list[str]:
        place = self.here(folder)
        return sorted(os.listdir(place)) if place.is_dir() else []

    def keep(self, name: str) -> None:
        sync_directory(self.here(name).parent)

    def rename(self, name: str, new: str) -> None:
        os.replace(self.here(name), self.here(new))
        sync_directory(self.here(new).parent)

    def extend(self, name: str, fd: int, end: int) -> None:
        os.fdatasync(fd)

    def remove(self, name: str) -> None:
        self.here(name).unlink(missing_ok=True)

    def make(self, folder: str) -> None:
        self.here(folder).mkdir(exist_ok=True)

    def clear(self, folder: str) -> None:
        shutil.rmtree(self.here(folder), ignore_errors=True)

    def check(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotBuild(
                f"cannot make {self.root}: {error.strerror}; choose another --out"
            ) from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise CannotBuild(f"{self.root} is not writable; choose another --out")

    def room(self) -> int | None:
        return shutil.disk_usage(self.root).free

    def close(self) -> None:
        pass

    @contextmanager
    def hold(self) -> Iterator[None]:
        fd = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise StoreHeld(
                f"another build is writing to {self.root}; wait for it or choose another --out"
            ) from None
        finally:
            os.close(fd)
