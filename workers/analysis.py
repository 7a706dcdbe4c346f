"""One colour's analysis of one material: who wins as that colour, and in how many moves.

    L_0 = mates and forced conversions                                    `lose_at_once`
    W_n = (unmove_w(L_{n-1}) | winning exits(n)) & open_w                 `win`
    L_n = ((unmove_l(W_n) | freed(n)) & open_l) - unmove_l(open_w)        `lose`

Four bitmaps last from pass to pass: open_w and open_l, what each side may still be found to be, and
the frontiers W_n and L_n, of which only occupied rows are ever looked at.  A position of the loser
that can escape by a capture is not open; where exits carry a depth it is freed, and joins open_l,
in the pass in which its last escape is found won.  The layers freed(n) are made before the first
pass, deepest first so that each position is in one of them, and wait in a file.

What a pass finds goes to the pass log the moment a chunk of partitions is done; depths are not kept
here.

A worker that owns some of the partitions does all this for its own.  Of those around them it keeps
copies of open_w and the frontiers: a step is given what the last one found there, packed, and takes
W_n out of the copy of open_w.  A copy that nothing came for is empty, for it is not live; whatever
else is in it is stale.  Nothing else of them is ever looked at, so open_l is its own.

Memory: bitmaps of 64^m / 8 bytes, four for each partition of its own, six while freed layers are
made, three for each copy; and 3 partitions of scratch a thread.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Layer
from workers.domain import Domain
from workers.exits import Exits, Sets
from workers.history import History
from workers.passlog import Found, PassLog, Stream
from workers.threads import Chunk, Threads, chunks_of

Tally = NDArray[np.uint64]  # distinct positions found, per partition
Step = Callable[[Chunk, Tally, _kernels.Scratch], None]
Packed = tuple[bytes, list[int]]


class Parcel(NamedTuple):
    """A frontier on its way to another worker: some partitions, their streams in one buffer, and
    where each ends.
    """

    partitions: list[int]
    ends: list[int]
    streams: pa.Buffer

    def each(self) -> Iterator[tuple[int, Stream]]:
        data = np.frombuffer(self.streams, np.uint8)
        for pair, (start, end) in zip(self.partitions, pairwise([0, *self.ends]), strict=True):
            yield pair, data[start:end]


class Findings(NamedTuple):
    """What a step found: distinct positions in each partition of the share, and what of it other
    workers read.
    """

    counts: list[int]
    parcels: dict[int, Parcel]

    @property
    def total(self) -> int:
        return sum(self.counts)


class Analysis:
    """The state of one colour's analysis, and the steps that carry it on."""

    def __init__(
        self, domain: Domain, winner: int, exits: Exits, threads: Threads, log: PassLog
    ) -> None:
        self.domain, self.winner, self.exits, self.log = domain, winner, exits, log
        self._threads = threads
        self._scratches = threads.scratches(domain)
        self._share = domain.share
        self._chunks = chunks_of(domain.axes, self._share.own)
        self._around = chunks_of(domain.axes, self._share.halo)
        held = self._share.held
        self.open_w, self.won, self.lost = (self._layer(held) for _ in range(3))
        self.open_l = self._layer(len(self._share.own))
        self._freed: Freed | None = None

    def _layer(self, partitions: int) -> Layer:
        return Layer(partitions, self.domain.kernel.rows)

    @property
    def last_exit(self) -> int:
        return self.exits.last

    # ---- the steps ----

    def prepare(self) -> None:
        """open_w = legal_w;  open_l = legal_l - escapes;  the layers freed(n)."""
        self._open(self.winner, (), self.open_w, (*self._chunks, *self._around))
        self._open(1 - self.winner, self.exits.escapes, self.open_l, self._chunks)
        if self.exits.never:
            self._free()

    def lose_at_once(self) -> Findings:
        """L_0."""

        def step(chunk: Chunk, tally: Tally, scratch: _kernels.Scratch) -> None:
            _kernels.lose_at_once(
                self.domain.kernel,
                chunk,
                self.winner,
                self.exits.forced,
                self.open_w.kernel,
                self.open_l.kernel,
                self.lost.kernel,
                self.domain.canonical,
                tally,
                scratch,
            )

        return self._find(step, self.lost, Found(0, False, 0), self.log)

    def win(self, depth: int, inbound: Sequence[Parcel] = ()) -> Findings:
        """W_n, given what others found of L_{n-1}."""
        self._receive(inbound, self.lost)
        step = partial(
            self._capture_or_come_from,
            self.winner,
            self.exits.winning(depth),
            self.lost,
            self.open_w,
            self.won,
        )
        return self._find(step, self.won, Found(depth, True, 0), self.log)

    def lose(self, depth: int, inbound: Sequence[Parcel] = ()) -> Findings:
        """L_n, given what others found of W_n."""
        self._receive(inbound, self.won, self.open_w)

        def step(chunk: Chunk, tally: Tally, scratch: _kernels.Scratch) -> None:
            if self._freed is not None:
                self._freed.load(self.domain, depth, chunk)
            _kernels.lose(
                self.domain.kernel,
                chunk,
                self.winner,
                self.won.kernel,
                self.open_w.kernel,
                self.open_l.kernel,
                self.lost.kernel,
                self.domain.canonical,
                tally,
                scratch,
                None if self._freed is None else self._freed.layer.kernel,
            )

        return self._find(step, self.lost, Found(depth, False, 0), self.log)

    def close(self) -> None:
        if self._freed is not None:
            self._freed.log.close()

    def _find(self, step: Step, layer: Layer, found: Found, log: PassLog) -> Findings:
        """Run a step over all chunks; log what it found the moment a chunk is done."""

        def job(chunk: Chunk) -> tuple[Tally, Packed | None]:
            tally = np.zeros(len(chunk), np.uint64)
            with self._scratches.lend() as scratch:
                step(chunk, tally, scratch)
            if not tally.any():
                return tally, None
            packed = _kernels.pack(self.domain.kernel, chunk, layer.kernel)
            log.append(found._replace(chunk=int(chunk[0])), packed)
            return tally, packed if self._share.readers else None

        done = self._threads.map(job, self._chunks)
        counts = [int(count) for tally, _ in done for count in tally]
        return Findings(counts, self._parcels(packed for _, packed in done))

    def _parcels(self, found: Iterable[Packed | None]) -> dict[int, Parcel]:
        """What is in some worker's halo and holds anything, in one parcel for each such worker."""
        readers = self._share.readers
        sent: dict[int, dict[int, memoryview]] = {reader: {} for reader in readers}
        empty = self.domain.empty_stream
        for chunk, packed in zip(self._chunks, found, strict=True):
            if packed is None:
                continue
            streams, ends = memoryview(packed[0]), packed[1]
            for pair, (start, end) in zip(map(int, chunk), pairwise([0, *ends]), strict=True):
                for reader, wanted in readers.items():
                    if end - start > empty and pair in wanted:
                        sent[reader][pair] = streams[start:end]
        return {reader: _parcel(of) for reader, of in sent.items() if of}

    def _receive(self, inbound: Sequence[Parcel], layer: Layer, less: Layer | None = None) -> None:
        """Take what others found into the copies of their partitions."""
        kernel, threads = self.domain.kernel, self._threads
        layer.live[self._share.places[self._share.halo]] = 0

        def job(items: Sequence[tuple[int, Stream]]) -> None:
            for pair, stream in items:
                sound = _kernels.restore(
                    kernel, pair, stream, layer.kernel, None if less is None else less.kernel
                )
                assert sound, f"a frontier that does not unpack, of partition {pair}"

        came = [item for parcel in inbound for item in parcel.each()]
        threads.map(job, [came[first :: threads.count] for first in range(threads.count)])

    def _capture_or_come_from(
        self,
        mover: int,
        captured: Sets,
        source: Layer,
        among: Layer,
        found: Layer,
        chunk: Chunk,
        tally: Tally,
        scratch: _kernels.Scratch,
    ) -> None:
        """found = (unmove(source) | captures into `captured`) & among;  among -= found."""
        _kernels.win(
            self.domain.kernel,
            chunk,
            mover,
            captured,
            source.kernel,
            among.kernel,
            found.kernel,
            self.domain.canonical,
            tally,
            scratch,
        )

    def _open(self, mover: int, escapes: Sets, open_: Layer, chunks: Iterable[Chunk]) -> None:
        """open = legal - escapes."""

        def job(chunk: Chunk) -> None:
            with self._scratches.lend() as scratch:
                _kernels.prepare(self.domain.kernel, chunk, mover, escapes, open_.kernel, scratch)

        self._threads.map(job, chunks)

    # ---- exits that carry a depth ----

    def _free(self) -> None:
        """Sort the positions that have captures, all of them won, by the deepest of these."""
        own = len(self._share.own)
        bound = self._layer(own)
        self._open(1 - self.winner, self.exits.never, bound, self._chunks)
        size = self.domain.words

        def less_those_without(chunk: Chunk) -> None:
            for pair in map(int, chunk):
                at = int(self._share.places[pair]) * size
                part = slice(at, at + size)
                bound.words[part] &= ~self.open_l.words[part]
                _kernels.refresh(self.domain.kernel, pair, bound.kernel)

        self._threads.map(less_those_without, self._chunks)
        freed = self._freed = Freed(self._layer(own), self.winner, self.log)
        # Nothing is lost yet, so what is found comes from captures alone.
        for depth in range(self.exits.last, 0, -1):
            captured = self.exits.freeing(depth)
            if any(captured):
                step = partial(
                    self._capture_or_come_from,
                    1 - self.winner,
                    captured,
                    self.lost,
                    bound,
                    freed.layer,
                )
                self._find(step, freed.layer, Found(depth, False, 0), freed.log)

    # ---- going on from a log ----

    def replay(self, history: History) -> dict[int, Parcel]:
        """After `prepare`: take out all that was found, and put back the last lost layer; what of
        it other workers read.
        """
        last = history.depth

        def own(chunk: Chunk) -> None:
            if self._freed is not None:
                self._freed.release(self.domain, last, chunk, self.open_l)
            self._take_out(history.layers(chunk, won=False), self.open_l)
            around(chunk)

        def around(chunk: Chunk) -> None:
            self._take_out(history.layers(chunk, won=True), self.open_w)
            for _, streams in history.layers(chunk, last, won=False):
                for pair, stream in streams.items():
                    _sound(_kernels.restore(self.domain.kernel, pair, stream, self.lost.kernel))

        self._threads.map(own, self._chunks)
        self._threads.map(around, self._around)
        if not self._share.readers:
            return {}
        return self._parcels(
            _kernels.pack(self.domain.kernel, chunk, self.lost.kernel) for chunk in self._chunks
        )

    def _take_out(self, layers: Iterable[tuple[Found, dict[int, Stream]]], open_: Layer) -> None:
        for _, streams in layers:
            for pair, stream in streams.items():
                _sound(_kernels.take_out(self.domain.kernel, pair, stream, open_.kernel))


def _sound(unpacked: bool) -> None:
    assert unpacked, "a stream whose checksum held does not unpack"


def _parcel(streams: dict[int, memoryview]) -> Parcel:
    ends: list[int] = []
    for stream in streams.values():
        ends.append((ends[-1] if ends else 0) + len(stream))
    return Parcel(list(streams), ends, pa.py_buffer(b"".join(streams.values())))


class Freed:
    """The layers freed(n) in a file of their own, and the one at hand."""

    def __init__(self, layer: Layer, winner: int, log: PassLog) -> None:
        self.layer = layer
        self.log = PassLog(log.path.with_suffix(".freed"), {"winner": winner})

    def load(self, domain: Domain, depth: int, chunk: Chunk) -> None:
        """Make the layer that of a depth, for the partitions of a chunk."""
        streams = self.log.layer(Found(depth, False, int(chunk[0])))
        self.layer.live[domain.share.places[chunk]] = 0
        for pair, stream in zip(map(int, chunk), streams, strict=False):
            if stream.any():
                _kernels.restore(domain.kernel, pair, stream, self.layer.kernel)

    def release(self, domain: Domain, last: int, chunk: Chunk, open_l: Layer) -> None:
        """Put all that is freed up to a depth into the open set."""
        for found, streams in self.log.streams(chunk):
            if found.depth <= last:
                for pair, stream in zip(map(int, chunk), streams, strict=True):
                    _kernels.put_in(domain.kernel, pair, stream, open_l.kernel)
