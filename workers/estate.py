"""What a worker leaves behind when its process dies: its open sets, in memory that another process
of its machine holds as well.

    head      whose it is, and which analysis it is in
    marks     how far each partition held has come
    sets      open_w and open_l
    undo      what the last passes took out of them, as packed streams
    exits     what was read of the smaller tables

    step      0 prepared, 1 L_0, 2 W_1, 3 L_1, 4 W_2, ...
    mark      the last step that is in a partition's sets; TORN while somebody is at work on it

An analysis changes its open sets in place, a chunk at a time.  Whoever is killed leaves a chunk for
each thread torn, some with what a pass that was never committed took out, the others as they were
at the last commit.  So who takes over puts back what the undo has, and makes only the torn ones
again, from the exits and the log: a fraction of a pass instead of all passes so far.

The memory is a file without a name (memfd).  A process to spare opens it too, through /proc, and a
handle on the process that works in it (pidfd), which it ends before it takes over: that one might
only have been stopped.  The memory is gone with the last process that holds it, and nothing has to
be cleared away.  Where there is nobody to spare an estate is private: the same, without undo.

Cost: a copy of what is logged, a byte a position, of as many of the last passes as half of a
set has room for, four at most; and where the system has no huge pages for shared memory the first
touch of each small one.  The frontiers, which are read out of order and would suffer from small
pages at every step, are not kept here: the log has the last of them.
"""

import os
import pickle
import select
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from mmap import MADV_REMOVE, PAGESIZE, mmap
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.bits import Layer, zeros
from workers.domain import Domain
from workers.exits import Exits
from workers.passlog import Found, Stream, split

TORN = -1
PREPARED = 0
PASSES_KEPT = 4
UNDO = 2  # all of it may take as much as a set, divided by this
KEY_BYTES = 16
_NONE = -1
_LEAST_UNDO = 1 << 20
_WORD = 8
_END_SECONDS = 10.0  # for a process that was killed to be gone
_NAME = "kingpair"

_HEAD = np.dtype(
    [
        ("key", f"V{KEY_BYTES}"),
        ("winner", np.int64),
        ("is_left", np.int64),  # whoever worked in it will not do so any more
        ("exits", np.int64),  # their bytes, 0 before they are there
        ("freed", "S1024"),  # the file of the layers freed(n), empty before it is complete
        ("depths", np.int64, PASSES_KEPT),  # the passes in the undo
        ("sizes", np.int64, PASSES_KEPT),  # how many bytes each has, _NONE if not all
        ("rooms", np.int64, PASSES_KEPT),  # and how many have memory
    ]
)

Bytes = NDArray[np.uint8]
Plan = list[tuple[Any, int]]  # types, and how many of each
Both = tuple[Exits, Exits]  # by winner


def step_of(found: Found) -> int:
    return 2 * found.depth + (not found.won)


def is_of_won(step: int) -> bool:
    return step % 2 == 0


def step_after(depth: int) -> int:
    """The last step of the pass of a depth; before the first, of -1, that which prepares."""
    return max(PREPARED, 2 * depth + 1)


class Streams(Protocol):
    """Some partitions, their streams in one buffer, and where each ends."""

    @property
    def partitions(self) -> Sequence[int] | NDArray[np.int16]: ...
    @property
    def ends(self) -> Sequence[int]: ...
    @property
    def streams(self) -> Any: ...


class Address(NamedTuple):
    """Where an estate is to be had: a process, and its descriptor there."""

    process: int
    fd: int


class Taken(NamedTuple):
    """What a step took out of the open set of a partition."""

    step: int
    stream: Stream


class Estate:
    """The open sets of a worker's share, and how far they have come."""

    def __init__(self, domain: Domain, fd: int | None = None) -> None:
        """In the memory of a file, as another process left it; else in memory of its own."""
        self._fd, self._lock = fd, Lock()
        plan = _plan(domain, is_shared=fd is not None)
        self._size = _size(plan)
        self._mapped = None if fd is None else mmap(fd, self._size)
        own: Any = zeros(self._size, np.uint8) if self._mapped is None else self._mapped
        memory: Bytes = np.frombuffer(own, np.uint8)
        self._start = memory.ctypes.data
        head, self.marks, *parts = _carved(memory, plan)
        self._head = head[0]
        self.open_w, self.open_l = Layer(*parts[:3]), Layer(*parts[3:6])
        self._undo: Sequence[Bytes] = parts[6:]

    @staticmethod
    def private(domain: Domain) -> "Estate":
        return Estate(domain)._anew(b"")

    @staticmethod
    def shared(domain: Domain, key: bytes) -> "Estate":
        """One that others may hold, and that is known by a key."""
        fd = os.memfd_create(_NAME)
        os.ftruncate(fd, _size(_plan(domain, is_shared=True)))
        return Estate(domain, fd)._anew(key)

    def _anew(self, key: bytes) -> "Estate":
        self._head["key"], self._head["winner"] = key, _NONE
        return self

    @property
    def address(self) -> Address | None:
        return None if self._fd is None else Address(os.getpid(), self._fd)

    def begin(self, winner: int) -> None:
        """Of what another winner's analysis left nothing counts."""
        if self._head["winner"] != winner:
            self.forget()
            self._head["winner"] = winner

    def forget(self) -> None:
        self.marks[:] = TORN
        self._head["freed"] = b""
        self._head["depths"] = _NONE

    # ---- what the last passes took out ----

    def begin_pass(self, depth: int) -> None:
        """Make room for what it takes out: the pass that is furthest back is forgotten."""
        at = depth % PASSES_KEPT
        self._head["depths"][at] = _NONE
        self._head["sizes"][at] = 0
        self._head["depths"][at] = depth

    def keep(self, found: Found, taken: Streams) -> None:
        """What was found is taken out of an open set, or is about to be."""
        if not self._undo:
            return
        counts = step_of(found), len(taken.partitions), *taken.partitions, *taken.ends
        entry = np.array(counts, np.int64).tobytes()
        at = found.depth % PASSES_KEPT
        undo, sizes = self._undo[at], self._head["sizes"]
        with self._lock:
            start, size = int(sizes[at]), len(entry) + len(taken.streams)
            if start == _NONE or not self._has_room(at, start + size):
                sizes[at] = _NONE
                return
            undo[start : start + len(entry)] = np.frombuffer(entry, np.uint8)
            undo[start + len(entry) : start + size] = np.frombuffer(taken.streams, np.uint8)
            sizes[at] = _padded(start + size, _WORD)

    def _has_room(self, at: int, size: int) -> bool:
        """Room for so much of a pass, if need be that of those furthest back."""
        rooms, depths = self._head["rooms"], self._head["depths"]
        wanted, most = max(int(rooms[at]), size), self._undo[at].size

        def fits() -> bool:
            return int(rooms.sum()) - int(rooms[at]) + wanted <= most

        for oldest in sorted(range(PASSES_KEPT), key=lambda other: int(depths[other])):
            if oldest != at and not fits():
                self._head["sizes"][oldest] = _NONE
                self._free(self._undo[oldest])
                rooms[oldest] = 0
        if fits():
            rooms[at] = wanted
        return fits()

    def _free(self, undo: Bytes) -> None:
        """Give the memory of pages back; zeroed ones take their place."""
        assert self._mapped is not None, "private memory has no undo"
        start = undo.ctypes.data - self._start
        self._mapped.madvise(MADV_REMOVE, start, _padded(undo.size))

    def taken(self, since: int) -> dict[int, list[Taken]] | None:
        """What later steps than one took out, by partition; None if not all of it was kept."""
        last = int(self.marks.max())
        found: dict[int, list[Taken]] = {}
        for depth in range((since + 1) // 2, last // 2 + 1):
            at = depth % PASSES_KEPT
            size = int(self._head["sizes"][at])
            if not self._undo or self._head["depths"][at] != depth or size == _NONE:
                return None
            for pair, taken in _entries(self._undo[at][:size]):
                found.setdefault(pair, []).append(taken)
        return found

    # ---- what else is left to others ----

    @property
    def freed(self) -> Path | None:
        path = bytes(self._head["freed"])
        return Path(os.fsdecode(path)) if path else None

    @freed.setter
    def freed(self, path: Path) -> None:
        name = os.fsencode(path)
        if len(name) < _HEAD["freed"].itemsize:
            self._head["freed"] = name

    @property
    def exits(self) -> Both | None:
        """As they are here, if they are."""
        size = int(self._head["exits"])
        if self._fd is None or not size:
            return None
        memory = np.frombuffer(mmap(self._fd, size, offset=self._size), np.uint8)
        count = int(memory[:_WORD].view(np.int64)[0])
        sizes = memory[_WORD : _WORD * (1 + count)].view(np.int64).tolist()
        _, pickled, *arrays = _carved(memory, _listed(sizes))
        found: Both = pickle.loads(pickled.tobytes(), buffers=arrays)
        return found

    def with_exits(self, exits: Both) -> Both:
        """The same, as they are here if others may hold this."""
        if self._fd is None:
            return exits
        arrays: list[pickle.PickleBuffer] = []
        pickled = pickle.dumps(exits, protocol=5, buffer_callback=arrays.append)
        raw = [memoryview(pickled), *(array.raw() for array in arrays)]
        parts = [np.frombuffer(part, np.uint8) for part in raw]
        plan = _listed([part.size for part in parts])
        size = _size(plan)
        os.ftruncate(self._fd, self._size + size)
        memory = np.frombuffer(mmap(self._fd, size, offset=self._size), np.uint8)
        listed, *rooms = _carved(memory, plan)
        listed[:] = len(parts), *(part.size for part in parts)
        for room, part in zip(rooms, parts, strict=True):
            room[:] = part
        self._head["exits"] = size
        return self.exits or exits

    # ---- who works in it: who does not any more touches nothing of it again ----

    def enter(self) -> None:
        self._head["is_left"] = False

    def leave(self) -> None:
        """To others, who need not end anybody before they take over."""
        self._head["is_left"] = True
        self._close()

    def give_up(self) -> None:
        """Nobody will want it: its memory is free, whoever holds it."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
        self._close()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Held(NamedTuple):
    """An estate that somebody works in, and the process that does."""

    fd: int
    process: int

    def is_of(self, domain: Domain, key: bytes) -> bool:
        is_whole = os.fstat(self.fd).st_size >= _size(_plan(domain, is_shared=True))
        return is_whole and bytes(self._head()["key"]) == key

    def is_left(self) -> bool:
        """Whoever worked in it has left, or ended, if need be now."""
        if self._head()["is_left"]:
            return True
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
        ended = select.poll()
        ended.register(self.process, select.POLLIN)
        return bool(ended.poll(1000 * _END_SECONDS))

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.process)

    def _head(self) -> Any:
        return np.frombuffer(os.pread(self.fd, _HEAD.itemsize, 0), _HEAD)[0]


class Heirlooms:
    """The estates that a process holds for whoever comes after those who work in them."""

    def __init__(self) -> None:
        self._held: dict[Address, Held] = {}

    def keep(self, addresses: Iterable[Address]) -> None:
        """These and no others."""
        before, self._held = self._held, {}
        for address in addresses:
            held = _held(address)
            if held is None and address in before:  # whoever works there has just died
                held = before.pop(address)
            if held is not None:
                self._held[address] = held
        for held in before.values():
            held.close()

    def taken(self, domain: Domain, key: bytes) -> Estate | None:
        """The one of such a key, if nobody works in it any more; the others are let go."""
        taken = None
        for held in self._held.values():
            if taken is None and held.is_of(domain, key) and held.is_left():
                taken = Estate(domain, os.dup(held.fd))
                taken.enter()
            held.close()
        self._held.clear()
        return taken


def _held(address: Address) -> Held | None:
    with suppress(OSError):
        process = os.pidfd_open(address.process)
        try:
            place = f"/proc/{address.process}/fd/{address.fd}"
            if os.readlink(place).startswith(f"/memfd:{_NAME}"):
                return Held(os.open(place, os.O_RDWR), process)
        except OSError:
            pass
        os.close(process)
    return None


def _plan(domain: Domain, is_shared: bool) -> Plan:
    """What an estate consists of."""
    held, own, rows = domain.share.held, len(domain.share.own), domain.kernel.rows
    layers = [
        part
        for count in (held, own)
        for part in ((np.uint64, count * rows * 64), (np.uint8, count * rows), (np.uint32, count))
    ]
    undo = max(_LEAST_UNDO, held * rows * 512 // UNDO)
    kept: Plan = [(np.uint8, undo)] * (PASSES_KEPT if is_shared else 0)
    return [(_HEAD, 1), (np.int64, held), *layers, *kept]


def _listed(sizes: Sequence[int]) -> Plan:
    """How many parts there are, the sizes of all, and the parts."""
    return [(np.int64, 1 + len(sizes)), *((np.uint8, size) for size in sizes)]


def _carved(memory: Bytes, plan: Plan) -> Iterator[NDArray[Any]]:
    """Each part on pages of its own."""
    at = 0
    for kind, count in plan:
        size = np.dtype(kind).itemsize * count
        yield memory[at : at + size].view(kind)
        at += _padded(size)


def _size(plan: Plan) -> int:
    return sum(_padded(np.dtype(kind).itemsize * count) for kind, count in plan)


def _entries(room: Bytes) -> Iterator[tuple[int, Taken]]:
    at = 0
    while at < room.size:
        step, count = map(int, room[at : at + 16].view(np.int64))
        at += 16
        pairs, ends = room[at : at + 16 * count].view(np.int64).reshape(2, count)
        at += 16 * count
        for pair, stream in zip(pairs.tolist(), split(room[at:], ends.tolist()), strict=True):
            yield pair, Taken(step, stream)
        at = _padded(at + int(ends[-1]), _WORD)


def _padded(size: int, unit: int = PAGESIZE) -> int:
    return size + -size % unit
