"""The pass logs on the disk of one machine: those of its own workers, and copies of others.
Parts of tables lie there, too, and are read by range as logs are.

    a log     and each of its copies is a file of one name, in a directory of every machine
    a copy    has the bytes of the log up to some commit; readers need not know which is which
    index     of a log: its bytes up to the last sound commit, the heads of all records, and the
              payloads of those that are no layers (segments.py has the form)

A keeper decides nothing.  Every call can be made again: a piece is written at its place, and the
first piece of a copy replaces any file of that name.  A directory has a name of its own in a file,
so that machines which see the same directory are not taken for two.

Cost: a copy is written once, in pieces of 8 MiB, and is synced at each commit.  The index of a log
costs 10 microseconds a record, once for all readers; a record of six men is a chunk of four
partitions in a pass.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from kingpair.workers.passlog.log import indexed
from kingpair.workers.store.segments import LogInFile, index_of

IDENTITY = ".machine"


class LogIndex(NamedTuple):
    """The bytes of a log up to its last sound commit, and its index."""

    size: int
    heads: bytes


class LogHolder(Protocol):
    """The logs of a machine, this one or another.  Every call may raise OSError."""

    def identity(self) -> str:
        """The name of the directory, which no other one has."""

    def names(self, folder: str) -> list[str]: ...
    def index(self, name: str) -> LogIndex: ...
    def read(self, name: str, first: int, stop: int) -> bytes: ...
    def append(self, name: str, at: int, data: bytes, is_last: bool) -> None:
        """Writes a piece of a copy; after the last one of a commit all of it is durable."""

    def remove(self, *beginnings: str) -> None:
        """Removes folders, and the logs whose names begin with FOLDER/BEGINNING."""


class LogKeeper:
    """The logs in a directory of this machine.  Threads may share it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._indexes: dict[str, tuple[int, LogIndex]] = {}  # by name: the file's size then

    def path(self, name: str) -> Path:
        return self.directory / name

    def identity(self) -> str:
        path = self.path(IDENTITY)
        with suppress(FileNotFoundError):
            return path.read_text(encoding="ascii")
        self.directory.mkdir(parents=True, exist_ok=True)
        draft = self.path(f"{IDENTITY}.{os.urandom(8).hex()}")
        draft.write_text(os.urandom(16).hex(), encoding="ascii")
        with suppress(FileExistsError):
            os.link(draft, path)  # the first of several processes names it
        draft.unlink()
        return path.read_text(encoding="ascii")

    def names(self, folder: str) -> list[str]:
        place = self.path(folder)
        return sorted(os.listdir(place)) if place.is_dir() else []

    def index(self, name: str) -> LogIndex:
        fd = os.open(self.path(name), os.O_RDONLY)
        try:
            log = LogInFile(fd)
            size, found = self._indexes.get(name, (-1, LogIndex(0, b"")))
            if size != log.size:
                end, heads = indexed(log)
                found = LogIndex(end, index_of(heads, 0, fd))
                self._indexes[name] = log.size, found
            return found
        finally:
            os.close(fd)

    def read(self, name: str, first: int, stop: int) -> bytes:
        fd = os.open(self.path(name), os.O_RDONLY)
        try:
            return os.pread(fd, stop - first, first)
        finally:
            os.close(fd)

    def append(self, name: str, at: int, data: bytes, is_last: bool) -> None:
        path = self.path(name)
        if at == 0:
            self._indexes.pop(name, None)
            path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | (0 if at else os.O_CREAT | os.O_TRUNC), 0o644)
        try:
            while data:
                written = os.pwrite(fd, data, at)
                at, data = at + written, data[written:]
            if is_last:
                os.fdatasync(fd)
        finally:
            os.close(fd)

    def remove(self, *beginnings: str) -> None:
        for beginning in beginnings:
            for name in [name for name in self._indexes if name.startswith(beginning)]:
                self._indexes.pop(name, None)
            folder, _, start = beginning.partition("/")
            if not start:
                shutil.rmtree(self.path(folder), ignore_errors=True)
            for name in self.names(folder):
                if name.startswith(start):
                    self.path(f"{folder}/{name}").unlink(missing_ok=True)
