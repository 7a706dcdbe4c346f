"""The pass logs of the machines of a build: each on a disk of its own, with a copy on another.
The parts of a table lie there, too.

    written    to this machine's directory, and at every commit the bytes since the last one go to
               the next machine in a ring.  The commit is durable when both have synced it
    read       from this machine's directory if the log or a copy is there, else by range from a
               machine that has it: its index first, then the ranges that are wanted, in pieces
    lost       with one machine: nothing, another one has the copy.  Before an analysis goes on,
               each log of it that only one machine has is copied to a second
    damaged    bytes whose checksum does not hold are read from the other machine
    lost       with both machines: the passes from the log's first one on are found again

    ring       = the machines in the order of the names of their directories
    disk       = 2 x the log, over all machines
    network    = 1 x the log, and what is read of other machines' logs

The log of a worker that has a domain to itself, with all sets in memory, is not copied as it grows:
to begin such a domain again takes minutes, and two writes of each log would slow down every one.
Other levels read the logs of a level of pawns, so these are copied once the level is solved.

A part of a table that stays in parts lies on the disk of the machine that painted it, beside the
store.  A machine that proves the table copies the parts that it needs from those that have them,
once, and has them for others then.  The store has each part, too, so none is lost with a machine.

A machine that does not take a copy is skipped, and the next one in the ring gets the log from its
beginning.  If no other machine takes it, the log is on one disk, and each commit says so.

Invariant: a committed pass of several workers is whole on two machines, if there are two.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from shutil import copyfile
from tempfile import mkstemp
from typing import TypeVar

from kingpair.workers.passlog.keeper import LogHolder, LogKeeper
from kingpair.workers.passlog.log import LogFile
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.store.segments import LogBytes, LogInFile, Range, Segment, SegmentedLog

PIECE = 8 << 20
_ASKED_AT_ONCE = 16
_SENT_AT_ONCE = 4
_Said = TypeVar("_Said")


class MachineLogs:
    """The logs of this machine, and those of others that it reads and copies."""

    def __init__(self, directory: Path, others: Sequence[LogHolder] = ()) -> None:
        self.own, self._named = LogKeeper(directory), others
        self._ring: list[LogHolder] | None = None
        self._held: dict[str, list[LogHolder]] = {}  # by log: the other machines that have it

    def knows(self, others: Sequence[LogHolder]) -> None:
        """Takes the machines that are there now."""
        self._named, self._ring = others, None
        self._held.clear()

    @property
    def others(self) -> list[LogHolder]:
        """The other machines that answer, in the order of the ring from this one on."""
        if self._ring is None:
            found = dict(zip(self._ask(_identity, self._named), self._named, strict=True))
            own = self.own.identity() if self._named else ""
            names = sorted(name for name in found if name and name != own)
            after = [name for name in names if name > own]
            self._ring = [found[name] for name in (*after, *names[: len(names) - len(after)])]
        return self._ring

    def begin(self, name: str, identity: dict[str, object], is_copied: bool) -> PassLog:
        """Begins a log, and removes any earlier one of its name."""
        path = self.own.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if not (is_copied and self._named):
            return PassLog(path, identity)
        return PassLog(path, identity, CopiedLog(name, self.others))

    def opened(self, name: str) -> Iterator[LogFile]:
        """Opens the log or its copies, one after the other, until one is what the caller needs."""
        with suppress(FileNotFoundError):
            path = self.own.path(name)
            own = LogInFile(os.open(path, os.O_RDONLY))
            yield LogFile(path, LogWithCopies(own, name, lambda: self._holders(name)))
        for holder in self._holders(name):
            with suppress(OSError):
                yield self._opened_far(name, holder)

    def secure(self, name: str) -> None:
        """Copies a log that only one machine has whole to a second, if there is one."""
        self._list(str(PurePosixPath(name).parent))
        every: list[LogHolder] = [self.own, *self.others]
        found = self._ask(lambda holder: holder.index(name).size, every)
        whole = max((size for size in found if size is not None), default=0)
        sources = [holder for holder, size in zip(every, found, strict=True) if size == whole]
        if whole and len(sources) == 1:
            _copy_on(name, sources[0], [each for each in every if each != sources[0]], whole)

    def keep(self, name: str, path: Path) -> None:
        """Keeps a copy of a file on this machine if there are others that may need it."""
        if not self._named:
            return
        with _written_whole(self.own.path(name)) as draft:
            copyfile(path, draft)

    def fetched(self, name: str) -> Path | None:
        """The path of a file that never changes, which another machine may have; None if none has
        it.
        """
        path = self.own.path(name)
        for holder in () if path.exists() else self._holders(name):
            with suppress(OSError):
                self._copy_here(name, holder)
                break
        return path if path.exists() else None

    def _copy_here(self, name: str, holder: LogHolder) -> None:
        """Copies a whole file; it has its name when all of it is here."""
        with _written_whole(self.own.path(name)) as draft, draft.open("wb") as file:
            while data := holder.read(name, file.tell(), file.tell() + PIECE):
                file.write(data)

    def names(self, folder: str) -> list[str]:
        return self.own.names(folder)

    def remove(self, beginning: str) -> None:
        """Removes a folder on this machine, or logs of it (keeper.py)."""
        self._held.clear()
        self.own.remove(beginning)

    def _holders(self, name: str) -> list[LogHolder]:
        if name not in self._held:
            self._list(str(PurePosixPath(name).parent))
        return self._held.get(name, [])

    def _list(self, folder: str) -> None:
        """Asks the other machines what they have; those that do not answer have nothing."""
        self._held = {name: held for name, held in self._held.items() if not _is_in(folder, name)}
        listed = self._ask(lambda holder: holder.names(folder), self.others)
        for holder, names in zip(self.others, listed, strict=True):
            for name in names or ():
                self._held.setdefault(f"{folder}/{name}", []).append(holder)

    def _ask(
        self, question: Callable[[LogHolder], _Said], holders: Iterable[LogHolder]
    ) -> list[_Said | None]:
        """The answers of all machines, None of those that do not answer."""

        def answer(holder: LogHolder) -> _Said | None:
            with suppress(OSError):
                return question(holder)
            return None

        with ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="logs") as asking:
            return list(asking.map(answer, holders))

    def _opened_far(self, name: str, holder: LogHolder) -> LogFile:
        size, heads = holder.index(name)
        held = [holder, *(other for other in self._holders(name) if other != holder)]
        far = SegmentedLog([Segment(FarLog(name, held, size), heads)], self._spool())
        return LogFile(Path(name), LogWithCopies(far, name, lambda: [*held, self.own]))

    def _spool(self) -> int:
        """A file for what is read of other machines' logs; its space is given back when closed."""
        self.own.directory.mkdir(parents=True, exist_ok=True)
        fd, path = mkstemp(prefix=".read.", dir=self.own.directory)
        os.unlink(path)
        return fd


class CopiedLog:
    """Makes the complete beginning of a log durable, here and on another machine."""

    def __init__(self, name: str, others: Iterable[LogHolder]) -> None:
        self._name, self._others = name, iter(others)
        self._copy, self._copied = next(self._others, None), 0
        self._refusal = "no other machine answers from a directory of its own"

    def __call__(self, fd: int, end: int, heads: Sequence[Range]) -> str | None:
        while self._copy is not None:
            try:
                self._extend(self._copy, fd, end)
                break
            except OSError as error:
                self._refusal = f"the last one asked: {error}"
                self._copy, self._copied = next(self._others, None), 0
        os.fdatasync(fd)
        return None if self._copy is not None else self._refusal

    def _extend(self, copy: LogHolder, fd: int, end: int) -> None:
        """Sends the pieces since the last commit, several at once but for the first of a log, which
        makes the file, and the last one, after which the file is synced.
        """

        def send(at: int) -> None:
            stop = min(end, at + PIECE)
            copy.append(self._name, at, os.pread(fd, stop - at, at), stop == end)

        pieces = [*range(self._copied, end, PIECE)]
        if pieces[0] == 0:
            send(pieces.pop(0))
        if len(pieces) > 1:
            with ThreadPoolExecutor(_SENT_AT_ONCE, thread_name_prefix="logs") as sending:
                list(sending.map(send, pieces[:-1]))
        for last in pieces[-1:]:
            send(last)
        self._copied = end


class LogWithCopies:
    """The bytes of a log, and other machines that have them too."""

    def __init__(
        self, data: LogBytes, name: str, others: Callable[[], Iterable[LogHolder]]
    ) -> None:
        self._data, self._name, self._others = data, name, others
        self.size = data.size
        self.read, self.bring, self.close = data.read, data.bring, data.close

    def copies(self, size: int, at: int) -> Iterator[bytes]:
        for holder in self._others():
            with suppress(OSError):
                yield holder.read(self._name, at, at + size)


class FarLog:
    """A log on other machines, read by range; the second is asked if the first does not answer."""

    def __init__(self, name: str, holders: Sequence[LogHolder], size: int) -> None:
        self._name, self._holders, self._size = name, list(holders), size

    def size(self) -> int:
        return self._size

    def read_at(self, size: int, at: int) -> bytes:
        """Returns fewer bytes if no machine has them: then the checksum fails, and the log counts
        as damaged there.
        """
        for holder in self._holders:
            with suppress(OSError):
                if len(data := holder.read(self._name, at, at + size)) == size:
                    return data
        return b""

    def close(self) -> None:
        """Leaves the machines as they are."""


@contextmanager
def _written_whole(path: Path) -> Iterator[Path]:
    """A draft of a file, which has the file's name at the end, or is removed.  Several workers of a
    machine may write the same file at once.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = mkstemp(prefix=".copy.", dir=path.parent)
    os.close(fd)
    draft = Path(name)
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _identity(holder: LogHolder) -> str:
    return holder.identity()


def _copy_on(name: str, source: LogHolder, targets: Iterable[LogHolder], size: int) -> None:
    """Copies a log to the first machine that takes it."""
    for target in targets:
        with suppress(OSError):
            for at in range(0, size, PIECE):
                stop = min(size, at + PIECE)
                target.append(name, at, source.read(name, at, stop), stop == size)
            return


def _is_in(folder: str, name: str) -> bool:
    return name.startswith(f"{folder}/")
