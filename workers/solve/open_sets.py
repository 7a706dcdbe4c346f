"""The open sets of a worker's share, in memory that a replacement worker can take over.

    head      who owns them, and which analysis they belong to
    marks     how far each held partition has come
    sets      open_w and open_l
    undo      what the last passes removed from them, as packed streams
    exits     the sets that were read from the smaller tables

    step      0 prepared, 1 L_0, 2 W_1, 3 L_1, 4 W_2, ...
    mark      the last step that is in a partition's sets; TORN while a thread changes them

An analysis changes its open sets in place, a chunk at a time.  A worker that is killed leaves one
torn chunk for each thread.  Of the other chunks some lack positions that an uncommitted pass took
out; the rest are as they were at the last commit.  A replacement worker puts back what the undo
holds, and recomputes only the torn chunks, from the exits and the log: a fraction of a pass instead
of all passes so far.

The memory is a file without a name (memfd).  A spare process opens it too, through /proc, together
with a handle on the process that owns it (pidfd).  It kills the owner before it takes over, because
the owner might only have been stopped.  The system frees the memory when the last process closes
it, so nothing has to be cleaned up.  Without a spare process the memory is private and has no undo.

Cost: a copy of what is logged, a byte a position, of as many of the last passes as half of a
set has room for, four at most; and where the system has no huge pages for shared memory the first
touch of each small one.  The frontiers are not kept here: they are read out of order and would
suffer from small pages at every step, and the log has the last of them.
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

from kingpair.workers.number_types import Depth, Side
from kingpair.workers.passlog.log import LayerChunk, LayerStream, split
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer, copy_written
from kingpair.workers.solve.budget import UNDO
from kingpair.workers.solve.exits import Exits

TORN = -1
PREPARED = 0
PASSES_KEPT = 4
KEY_BYTES = 16
_NONE = -1
_LEAST_UNDO = 1 << 20
_WORD = 8
_END_SECONDS = 10.0  # a killed process ends within this time
_NAME = "kingpair"

_HEAD = np.dtype(
    [
        ("key", f"V{KEY_BYTES}"),
        ("winner", np.int64),
        ("is_released", np.int64),  # the owner will not touch them any more
        ("exits", np.int64),  # their size in bytes, 0 before they are written
        ("freed", "S1024"),  # the file of the layers freed(n), empty until it is complete
        ("depths", np.int64, PASSES_KEPT),  # the passes in the undo
        ("sizes", np.int64, PASSES_KEPT),  # the bytes of each, _NONE if some are missing
        ("rooms", np.int64, PASSES_KEPT),  # the bytes of each that have memory
    ]
)

Bytes = NDArray[np.uint8]
ArraySizes = list[tuple[Any, int]]  # types, and the number of elements of each
ExitsByWinner = tuple[Exits, Exits]  # by winner


def step_of(found: LayerChunk) -> int:
    return 2 * found.depth + (not found.won)


def step_after(depth: Depth) -> int:
    """Returns the last step of the pass of a depth; for depth -1 the step that prepares."""
    return max(PREPARED, 2 * depth + 1)


class PartitionStreams(Protocol):
    """Partitions, their streams in one buffer, and the end of each stream."""

    @property
    def partitions(self) -> Sequence[int] | NDArray[np.int16]: ...
    @property
    def ends(self) -> Sequence[int]: ...
    @property
    def streams(self) -> Any: ...


class Address(NamedTuple):
    """The address of open sets: a process, and the file descriptor of their memory in it."""

    process: int
    fd: int


class Removal(NamedTuple):
    """The positions that a step removed from the open set of a partition."""

    step: int
    stream: LayerStream

    @property
    def won(self) -> bool:
        return self.step % 2 == 0


class OpenSets:
    """The open sets of a worker's share, and how far each partition has come."""

    def __init__(self, domain: Domain, fd: int | None = None) -> None:
        """Maps the memory of a file as another process left it, or allocates private memory."""
        self._fd, self._lock = fd, Lock()
        plan = _plan(domain, is_shared=fd is not None)
        self._size = _size(plan)
        self._mapped = None if fd is None else mmap(fd, self._size)
        own: Any = domain.zeroed(self._size) if self._mapped is None else self._mapped
        memory: Bytes = np.frombuffer(own, np.uint8)
        self._start = memory.ctypes.data
        head, self.marks, *parts = _carved(memory, plan)
        self._head = head[0]
        self.open_w, self.open_l = Layer(*parts[:3]), Layer(*parts[3:6])
        self._undo: Sequence[Bytes] = parts[6:]

    @staticmethod
    def private(domain: Domain) -> "OpenSets":
        return OpenSets(domain)._initialised(b"")

    @staticmethod
    def shared(domain: Domain, key: bytes) -> "OpenSets":
        """Returns open sets that other processes can map, identified by a key."""
        fd = os.memfd_create(_NAME)
        os.ftruncate(fd, _size(_plan(domain, is_shared=True)))
        return OpenSets(domain, fd)._initialised(key)

    def _initialised(self, key: bytes) -> "OpenSets":
        self._head["key"], self._head["winner"] = key, _NONE
        return self

    @property
    def address(self) -> Address | None:
        return None if self._fd is None else Address(os.getpid(), self._fd)

    def begin(self, winner: Side) -> None:
        """Begins the analysis of a winner; invalidates what another winner's analysis left."""
        if self._head["winner"] != winner:
            self.invalidate()
            self._head["winner"] = winner

    def invalidate(self) -> None:
        """Marks all partitions as torn, so that an analysis recomputes them."""
        self.marks[:] = TORN
        self._head["freed"] = b""
        self._head["depths"] = _NONE

    # ---- the undo ----

    def begin_pass(self, depth: Depth) -> None:
        """Begins the undo of a pass, in place of that of the oldest pass."""
        at = depth % PASSES_KEPT
        self._head["depths"][at] = _NONE
        self._head["sizes"][at] = 0
        self._head["depths"][at] = depth

    def record(self, found: LayerChunk, removed: PartitionStreams) -> None:
        """Adds positions to the undo that a pass removes from an open set."""
        if not self._undo:
            return
        counts = step_of(found), len(removed.partitions), *removed.partitions, *removed.ends
        entry = np.array(counts, np.int64).tobytes()
        at = found.depth % PASSES_KEPT
        undo, sizes = self._undo[at], self._head["sizes"]
        with self._lock:
            start, size = int(sizes[at]), len(entry) + len(removed.streams)
            if start == _NONE or not self._has_room(at, start + size):
                sizes[at] = _NONE
                return
            undo[start : start + len(entry)] = np.frombuffer(entry, np.uint8)
            undo[start + len(entry) : start + size] = np.frombuffer(removed.streams, np.uint8)
            sizes[at] = _padded(start + size, _WORD)

    def _has_room(self, at: int, size: int) -> bool:
        """Reserves bytes for a pass, if need be those of the oldest passes."""
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
        """Returns the memory of pages to the system; they read as zeros from then on."""
        assert self._mapped is not None, "private memory has no undo"
        start = undo.ctypes.data - self._start
        self._mapped.madvise(MADV_REMOVE, start, _padded(undo.size))

    def removed(self, since: int) -> dict[int, list[Removal]] | None:
        """Returns what steps after `since` removed, by partition; None if the undo lacks a part."""
        last = int(self.marks.max())
        found: dict[int, list[Removal]] = {}
        for depth in range((since + 1) // 2, last // 2 + 1):
            at = depth % PASSES_KEPT
            size = int(self._head["sizes"][at])
            if not self._undo or self._head["depths"][at] != depth or size == _NONE:
                return None
            for pair, removal in _entries(self._undo[at][:size]):
                found.setdefault(pair, []).append(removal)
        return found

    # ---- what else a replacement worker needs ----

    @property
    def freed_file(self) -> Path | None:
        """The file of the layers freed(n), None until it is complete."""
        path = bytes(self._head["freed"])
        return Path(os.fsdecode(path)) if path else None

    @freed_file.setter
    def freed_file(self, path: Path) -> None:
        name = os.fsencode(path)
        if len(name) < _HEAD["freed"].itemsize:
            self._head["freed"] = name

    @property
    def exits(self) -> ExitsByWinner | None:
        """The exits in shared memory, None if there are none."""
        size = int(self._head["exits"])
        if self._fd is None or not size:
            return None
        memory = np.frombuffer(mmap(self._fd, size, offset=self._size), np.uint8)
        count = int(memory[:_WORD].view(np.int64)[0])
        sizes = memory[_WORD : _WORD * (1 + count)].view(np.int64).tolist()
        _, pickled, *arrays = _carved(memory, _listed(sizes))
        found: ExitsByWinner = pickle.loads(pickled.tobytes(), buffers=arrays)
        return found

    def share_exits(self, exits: ExitsByWinner) -> ExitsByWinner:
        """Copies exits into shared memory; with private memory they are returned unchanged."""
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
            copy_written(part, room)
        self._head["exits"] = size
        return self.exits or exits

    # ---- the owner: once it has released the sets, it does not touch them again ----

    def claim(self) -> None:
        """Makes this process the owner."""
        self._head["is_released"] = False

    def release(self) -> None:
        """Leaves the sets to a process that takes over, which then need not kill this one."""
        self._head["is_released"] = True
        self._close()

    def discard(self) -> None:
        """Frees the memory, even if other processes have it open."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
        self._close()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class OwnedSets(NamedTuple):
    """Open sets of another process: their memory, and a handle on the process."""

    fd: int
    process: int

    def is_of(self, domain: Domain, key: bytes) -> bool:
        is_whole = os.fstat(self.fd).st_size >= _size(_plan(domain, is_shared=True))
        return is_whole and bytes(self._head()["key"]) == key

    def evict_owner(self) -> bool:
        """Kills the owner unless it has released the sets; whether it is gone."""
        if self._head()["is_released"]:
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


class TakeoverPool:
    """The open sets of other processes that this process can take over."""

    def __init__(self) -> None:
        self._held: dict[Address, OwnedSets] = {}

    def hold(self, addresses: Iterable[Address]) -> None:
        """Opens the sets at these addresses, and closes all others."""
        before, self._held = self._held, {}
        for address in addresses:
            held = _opened(address)
            if held is None and address in before:  # its owner has just died
                held = before.pop(address)
            if held is not None:
                self._held[address] = held
        for held in before.values():
            held.close()

    def take_over(self, domain: Domain, key: bytes) -> OpenSets | None:
        """Takes over the sets of a key from their owner, if there are any; closes the others."""
        taken = None
        for held in self._held.values():
            if taken is None and held.is_of(domain, key) and held.evict_owner():
                taken = OpenSets(domain, os.dup(held.fd))
                taken.claim()
            held.close()
        self._held.clear()
        return taken


def _opened(address: Address) -> OwnedSets | None:
    with suppress(OSError):
        process = os.pidfd_open(address.process)
        try:
            place = f"/proc/{address.process}/fd/{address.fd}"
            if os.readlink(place).startswith(f"/memfd:{_NAME}"):
                return OwnedSets(os.open(place, os.O_RDWR), process)
        except OSError:
            pass
        os.close(process)
    return None


def _plan(domain: Domain, is_shared: bool) -> ArraySizes:
    """Returns the arrays of the memory, in their order."""
    held, own, rows = domain.share.held, len(domain.share.own), domain.kernel.rows
    layers = [
        part
        for count in (held, own)
        for part in ((np.uint64, count * rows * 64), (np.uint8, count * rows), (np.uint32, count))
    ]
    undo = max(_LEAST_UNDO, held * rows * 512 // UNDO)
    kept: ArraySizes = [(np.uint8, undo)] * (PASSES_KEPT if is_shared else 0)
    return [(_HEAD, 1), (np.int64, held), *layers, *kept]


def _listed(sizes: Sequence[int]) -> ArraySizes:
    """Returns the plan of a list of buffers: their number, their sizes, and the buffers."""
    return [(np.int64, 1 + len(sizes)), *((np.uint8, size) for size in sizes)]


def _carved(memory: Bytes, plan: ArraySizes) -> Iterator[NDArray[Any]]:
    """Yields the arrays of a plan, each on pages of its own."""
    at = 0
    for kind, count in plan:
        size = np.dtype(kind).itemsize * count
        yield memory[at : at + size].view(kind)
        at += _padded(size)


def _size(plan: ArraySizes) -> int:
    return sum(_padded(np.dtype(kind).itemsize * count) for kind, count in plan)


def _entries(room: Bytes) -> Iterator[tuple[int, Removal]]:
    at = 0
    while at < room.size:
        step, count = map(int, room[at : at + 16].view(np.int64))
        at += 16
        pairs, ends = room[at : at + 16 * count].view(np.int64).reshape(2, count)
        at += 16 * count
        for pair, stream in zip(pairs.tolist(), split(room[at:], ends.tolist()), strict=True):
            yield pair, Removal(step, stream)
        at = _padded(at + int(ends[-1]), _WORD)


def _padded(size: int, unit: int = PAGESIZE) -> int:
    return size + -size % unit
