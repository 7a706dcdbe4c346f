"""A table in parts: files that follow each other, read as the one file that they make.

    MATERIAL.METRIC.arrow       the manifest: a line, and behind it the trailer of the table
    MATERIAL.METRIC.parts/      the parts

    table = part | part | ... | trailer             the bytes of the same table in one file
    line  = kingpair.parts DIGEST LIST newline      with one space between the words
    LIST  = JSON: [["MATERIAL.METRIC.parts/NUMBER.CONTENTS", bytes of the part], ...]

DIGEST is xxh3-64 of LIST, 16 hex digits.  The first part begins with the header of the table, the
others with a record batch.  CONTENTS is a digest of the part, so a part is never replaced by
another one of its name: a table that is built again has other names where it has other bytes.

The manifest is published after its parts.  A part that no manifest names belongs to no table.

A directory's parts are opened with the table, so one that is removed can still be read.  Those of
an object store, or on disks of the machines of a build, are copied to this machine one by one, when
something is first read from each.
"""

import io
import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from kingpair.workers.errors import DamagedTable
from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.seal import digest_of

_WORD = b"kingpair.parts "
_LONGEST_LINE = 1 << 20
AGAIN = "build the table again"
Fetch = Callable[[str], Path]
"""Gives the path at which a file of the table's directory can be read."""


class ListedPart(NamedTuple):
    """A part as the manifest lists it."""

    name: str
    bytes: int


def manifest_line(parts: Iterable[ListedPart]) -> bytes:
    """The first line of a manifest."""
    listed = json.dumps(list(parts)).encode()
    return _WORD + digest_of(listed).encode() + b" " + listed + b"\n"


def is_manifest(file: pa.NativeFile) -> bool:
    return bytes(file.read_at(len(_WORD), 0)) == _WORD


def _parsed(file: pa.NativeFile) -> tuple[list[ListedPart], int]:
    """The parts that a manifest lists, and the length of its line; ValueError if it is damaged."""
    line, newline, _ = bytes(file.read_at(_LONGEST_LINE, 0)).partition(b"\n")
    _, digest, listed = line.split(b" ", 2)
    if not newline or digest_of(listed).encode() != digest:
        raise ValueError("a list of parts that does not match its digest")
    return [ListedPart(name, size) for name, size in json.loads(listed)], len(line) + 1


def listed_parts(store: Store, key: TableKey) -> list[ListedPart]:
    """The parts of a table; none if it is not there, is one file, or cannot be read."""
    try:
        with store.open_input(key.file_name) as file:
            return _parsed(file)[0] if is_manifest(file) else []
    except (OSError, ValueError, pa.ArrowException):
        return []


def require_parts(store: Store, key: TableKey) -> None:
    """Raises DamagedTable unless the store has each part of a table, in the size that is listed."""
    for name, size in listed_parts(store, key):
        there = store.open_input(name).size() if store.has(name) else None
        if there != size:
            said = "is missing" if there is None else f"has {there} bytes and not {size}"
            raise DamagedTable(f"{store}/{key.file_name}: its part {name} {said}; {AGAIN}")


def remove_table_file(store: Store, key: TableKey) -> None:
    """Removes a table, and then its parts."""
    store.remove(key.file_name)
    store.remove_folder(key.parts_folder)


def clear_unlisted_parts(store: Store, key: TableKey) -> None:
    """Removes the parts that the table does not have: a build left them."""
    folder = key.parts_folder
    if not (there := store.names(folder)):
        return
    listed = {part.name for part in listed_parts(store, key)}
    if not listed:
        store.remove_folder(folder)
    for name in there if listed else ():
        if f"{folder}/{name}" not in listed:
            store.remove(f"{folder}/{name}")


class FilePlace(NamedTuple):
    """A place in an open file of this machine."""

    fd: int
    at: int


class PlainFile:
    """A file of this machine that pyarrow has opened, read without pyarrow."""

    def __init__(self, file: pa.NativeFile) -> None:
        self._file = file

    def read_range(self, start: int, stop: int) -> bytes:
        return os.pread(self._file.fileno(), stop - start, start)

    def place(self, at: int) -> FilePlace:
        return FilePlace(self._file.fileno(), at)


class PartsFile:
    """The bytes of a table in parts.  Threads may share it."""

    def __init__(self, path: Path, manifest: pa.NativeFile, fetch: Fetch | None = None) -> None:
        """Opens the parts at once if they lie beside the manifest.  `fetch` gets others.

        Raises DamagedTable if a part is missing or has another size than is listed.
        """
        listed, self._line = _parsed(manifest)
        beside = path.parent.joinpath
        self._parts = [_OpenPart(path, part, fetch or beside) for part in listed]
        self._starts = list(accumulate((part.bytes for part in listed), initial=0))
        self._manifest = manifest
        for part in () if fetch else self._parts:
            part.file()

    def size(self) -> int:
        return int(self._starts[-1] + self._manifest.size() - self._line)

    def read_at(self, size: int, at: int) -> bytes:
        return self.read_range(at, min(at + size, self.size()))

    def read_range(self, start: int, stop: int) -> bytes:
        pieces = []
        while start < stop:
            part = bisect_right(self._starts, start) - 1
            begin = self._starts[part]
            if part == len(self._parts):
                pieces.append(self._manifest.read_at(stop - start, start - begin + self._line))
                break
            end = min(stop, self._starts[part + 1])
            pieces.append(self._parts[part].file().read_at(end - start, start - begin))
            start = end
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def place(self, at: int) -> FilePlace | None:
        """The place of a byte; None if it is in no file that is open here."""
        part = bisect_right(self._starts, at) - 1
        if part == len(self._parts) or (file := self._parts[part].opened) is None:
            return None
        return FilePlace(file.fileno(), at - self._starts[part])

    def stream(self) -> pa.NativeFile:
        """A file for Arrow's reader, with a position of its own."""
        return pa.PythonFile(_PartsStream(self), mode="r")

    def close(self) -> None:
        for part in self._parts:
            part.close()
        self._manifest.close()


AnyFile: TypeAlias = pa.NativeFile | PartsFile
"""A table of one file, or one in parts."""


def opened_file(path: Path, file: AnyFile | None, fetch: Fetch | None) -> AnyFile:
    """The file of a table, given the file of its name, which is mapped if it is not open."""
    if isinstance(file, PartsFile):
        return file
    file = pa.memory_map(str(path)) if file is None else file
    return PartsFile(path, file, fetch) if is_manifest(file) else file


def direct_file(file: AnyFile) -> PlainFile | PartsFile | None:
    """The file for reads without Arrow, if it is one of this machine."""
    if isinstance(file, pa.MemoryMappedFile | pa.OSFile):
        return PlainFile(file)
    return file if isinstance(file, PartsFile) else None


def arrow_file(file: AnyFile) -> pa.NativeFile:
    """The file for Arrow's reader."""
    return file.stream() if isinstance(file, PartsFile) else file


class _OpenPart:
    """A part, opened when it is first asked for."""

    def __init__(self, table: Path, part: ListedPart, fetch: Fetch) -> None:
        self._table, self._part, self._fetch = table, part, fetch
        self.opened: pa.OSFile | None = None
        self._lock = Lock()

    def file(self) -> pa.OSFile:
        with self._lock:
            if self.opened is None:
                self.opened = self._open()
            return self.opened

    def _open(self) -> pa.OSFile:
        name, size = self._part
        try:
            file = pa.OSFile(str(self._fetch(name)))
        except FileNotFoundError as error:
            raise self._damaged("is missing") from error
        except OSError as error:
            raise self._damaged(f"cannot be read ({error})") from error
        if file.size() != size:
            raise self._damaged(f"has {file.size()} bytes and not {size}")
        return file

    def _damaged(self, problem: str) -> DamagedTable:
        part = self._part.name
        return DamagedTable(f"{self._table}: its part {part} {problem}; {AGAIN}")

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()


class _PartsStream(io.RawIOBase):
    """A table in parts as a file of Python."""

    def __init__(self, file: PartsFile) -> None:
        self._parts_file, self._at = file, 0

    def readable(self) -> bool:
        return True

    seekable = readable

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._parts_file.size()}
        self._at = starts[whence] + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        rest = self._parts_file.size() - self._at
        found = self._parts_file.read_at(rest if size < 0 else size, self._at)
        self._at += len(found)
        return found
