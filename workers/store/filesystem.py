"""Stores of files: a directory, or an object store behind a URI.

    /data/tables                          a directory, on this machine or on a shared file system
    s3://bucket/prefix                    an S3 store; or gs://, hdfs://, as pyarrow knows them
    s3://bucket/prefix?endpoint_override=host:port&scheme=https&region=...

A build writes and reads local files by name and publishes them with the store:

    local_path    the path at which a file is written
    fetch         a local path with the contents of a file of the store
    publish       gives the store a file that was written: all of it or nothing
    sync_log      makes the complete beginning of a growing log durable
    open_log      the bytes of a log that were made durable, to be read range by range
    hold          keeps every other build out of the store

In a directory, the local path of a file is its final place.  An object store has whole objects, to
which no one can append.  So there a log is a folder of segments, one for each call of `sync_log`
(segments.py), and files that are written or read have local copies in a cache directory.

Only the address of a URI is ever printed, because the rest may contain a key.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from kingpair.workers.errors import CannotBuild
from kingpair.workers.store.segments import LogBytes, LogInFile, Range

_URI = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


class StoreHeld(CannotBuild):
    """Another build writes to the store; this one can wait for its end."""


class Store(Protocol):
    """The operations of a store that builds use."""

    root: Path  # the directory of its files, or of their local copies

    @property
    def is_local(self) -> bool: ...
    def __str__(self) -> str:
        """The path or URI without secrets, for messages."""

    def local_path(self, name: str) -> Path: ...
    def fetch(self, name: str) -> Path:
        """A local path with the file's contents; FileNotFoundError if the store has none."""

    def cached_path(self, name: str) -> Path:
        """The path that `fetch` returned, or would have, when the names were last listed."""

    def open_input(self, name: str) -> Any:
        """A pyarrow file that reads only the ranges it is asked for."""

    def has(self, name: str) -> bool: ...
    def names(self, folder: str) -> list[str]:
        """The names directly below a folder; an empty list if there is no such folder."""

    def fetch_draft(self, name: str) -> Path:
        """A local path with a published file, which the caller changes and then publishes again or
        renames.
        """

    def publish(self, name: str) -> None: ...
    def rename(self, name: str, new: str) -> None:
        """Publishes a local file under another name and replaces any file of that name."""

    def sync_log(self, name: str, fd: int, end: int, heads: Sequence[Range]) -> None:
        """Makes the first `end` bytes of a log durable; other threads may write behind them.
        Readers get `heads` first: the ranges that were added to it that tell what it has.
        """

    def open_log(self, name: str) -> LogBytes: ...
    def remove(self, name: str) -> None: ...
    def make_folder(self, folder: str) -> None: ...
    def remove_folder(self, folder: str) -> None: ...
    def check(self) -> None:
        """Raises CannotBuild unless the store is there and writable."""

    def free_bytes(self) -> int | None:
        """Free bytes, or None if the store cannot tell."""

    def hold(self) -> AbstractContextManager[None]:
        """Holds the store while a build writes to it; raises StoreHeld if another build does."""

    def close(self) -> None:
        """Removes the local files of this process; the store is not used again."""


def uri_of(where: str | Path) -> str | None:
    """The URI that a path was made from, or None.  A `Path` keeps one of two slashes."""
    if (matched := _URI.fullmatch(str(where))) is None:
        return None
    return f"{matched[1]}://{'/' if matched[1] == 'file' else ''}{matched[2]}"


def printable(where: str | Path) -> str:
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
    from kingpair.workers.store.remote import RemoteStore

    return RemoteStore.at(uri)


def sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class LocalStore:
    """A directory.  Files are written in their final place."""

    is_local = True

    def __init__(self, root: Path) -> None:
        self.root = root

    def __str__(self) -> str:
        return str(self.root)

    def local_path(self, name: str) -> Path:
        return self.root / name

    fetch = cached_path = fetch_draft = local_path

    def open_input(self, name: str) -> Any:
        import pyarrow as pa  # loading it takes longer than most commands do

        return pa.memory_map(str(self.local_path(name)))

    def has(self, name: str) -> bool:
        return self.local_path(name).exists()

    def names(self, folder: str) -> list[str]:
        place = self.local_path(folder)
        return sorted(os.listdir(place)) if place.is_dir() else []

    def publish(self, name: str) -> None:
        sync_directory(self.local_path(name).parent)

    def rename(self, name: str, new: str) -> None:
        os.replace(self.local_path(name), self.local_path(new))
        sync_directory(self.local_path(new).parent)

    def sync_log(self, name: str, fd: int, end: int, heads: Sequence[Range]) -> None:
        os.fdatasync(fd)

    def open_log(self, name: str) -> LogBytes:
        return LogInFile(os.open(self.local_path(name), os.O_RDONLY))

    def remove(self, name: str) -> None:
        self.local_path(name).unlink(missing_ok=True)

    def make_folder(self, folder: str) -> None:
        self.local_path(folder).mkdir(exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        shutil.rmtree(self.local_path(folder), ignore_errors=True)

    def check(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotBuild(
                f"cannot make {self.root}: {error.strerror}; choose another --tables"
            ) from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise CannotBuild(f"{self.root} is not writable; choose another --tables")

    def free_bytes(self) -> int | None:
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
                f"another build is writing to {self.root}; wait for it or choose another --tables"
            ) from None
        finally:
            os.close(fd)
