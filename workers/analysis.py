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
here.  The open sets stand in an estate, whose marks say how far each partition has come: an
analysis that goes on from one, or from the log, makes only those again that the estate does not
have.

A worker that owns some of the partitions does all this for its own.  Of those around them it keeps
copies of open_w and the frontiers: a step is given what the last one found there, packed, and takes
W_n out of the copy of open_w.  A copy that nothing came for is empty, for it is not live; whatever
else is in it is stale.  Nothing else of them is ever looked at, so open_l is its own.

Memory: bitmaps of 64^m / 8 bytes, four for each partition of its own, six while freed layers are
made, three for each copy; and 3 partitions of scratch a thread.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Layer
from workers.domain import Domain
from workers.estate import TORN, Estate, Taken, is_of_won, step_after, step_of
from workers.exits import Exits, Sets
from workers.history import NOTHING, History
from workers.passlog import Found, LogFile, Pass, PassLog, Stream, split
from workers.threads import Chunk, Threads, chunks_of

Tally = NDArray[np.uint64]  # distinct positions found, per partition
Step = Callable[[Chunk, Tally, _kernels.Scratch], None]


class Parcel(NamedTuple):
    """A frontier on its way to another worker: some partitions, their streams in one buffer, and
    where each ends.
    """

    partitions: list[int]
    ends: list[int]
    streams: pa.Buffer

    def each(self) -> Iterator[tuple[int, Stream]]:
        streams = np.frombuffer(self.streams, np.uint8)
        return zip(self.partitions, split(streams, self.ends), strict=True)


class Part(NamedTuple):
    """What was found in a chunk: its partitions, their streams in one buffer, where each ends.  The
    buffer is that of the thread, which packs into it again, unless other workers read of it.
    """

    partitions: Chunk
    streams: bytes | memoryview
    ends: list[int]


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
        self,
        domain: Domain,
        winner: int,
        exits: Exits,
        threads: Threads,
        log: PassLog,
        estate: Estate | None = None,
    ) -> None:
        self.domain, self.winner, self.exits, self.log = domain, winner, exits, log
        self._threads = threads
        self._scratches = threads.scratches(domain)
        self._share = domain.share
        self._chunks = chunks_of(domain.axes, self._share.own)
        self._around = chunks_of(domain.axes, self._share.halo)
        self.estate = estate or Estate.private(domain)
        self.open_w, self.open_l = self.estate.open_w, self.estate.open_l
        self.won, self.lost = (self._layer(self._share.held) for _ in range(2))
        self._freed: Freed | None = None

    def _layer(self, partitions: int) -> Layer:
        return Layer.empty(partitions, self.domain.kernel.rows)

    @property
    def last_exit(self) -> int:
        return self.exits.last

    # ---- the steps ----

    def prepare(self, history: History = NOTHING) -> dict[int, Parcel]:
        """open_w = legal_w;  open_l = legal_l - escapes;  the layers freed(n).  Then, and from what
        the estate has at once: the state after the last pass, and what of it other workers read.
        """
        self.estate.begin(self.winner)
        if self.exits.never:
            self._freed = self._sorted_before()
        self._go_back(history.depth)
        own, around = self._torn(self._chunks), self._torn(self._around)
        self._open(self.winner, (), self.open_w, (*own, *around))
        self._open(1 - self.winner, self.exits.escapes, self.open_l, own)
        if self.exits.never and self._freed is None:
            self._freed = self._sorted()
        self._replay(own, history)
        self._replay_copies(around, history)
        return self._recalled(history)

    def lose_at_once(self) -> Findings:
        """L_0."""
        self.estate.begin_pass(0)

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

        return self._find(step, self.lost, Found(0, False, 0))

    def win(self, depth: int, inbound: Sequence[Parcel] = ()) -> Findings:
        """W_n, given what others found of L_{n-1}."""
        self.estate.begin_pass(depth)
        self._receive(inbound, self.lost)
        step = partial(
            self._capture_or_come_from,
            self.winner,
            self.exits.winning(depth),
            self.lost,
            self.open_w,
            self.won,
        )
        return self._find(step, self.won, Found(depth, True, 0))

    def lose(self, depth: int, inbound: Sequence[Parcel] = ()) -> Findings:
        """L_n, given what others found of W_n."""
        self._receive(inbound, self.won, Found(depth, True, 0))

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

        return self._find(step, self.lost, Found(depth, False, 0))

    def close(self) -> None:
        if self._freed is not None:
            self._freed.log.close()

    def _find(self, step: Step, layer: Layer, found: Found) -> Findings:
        """Run a step over all chunks; log what it found the moment a chunk is done."""
        marks, after = self.estate.marks, step_of(found)

        def job(chunk: Chunk) -> tuple[Tally, Part | None]:
            place = self._place(chunk)
            marks[place] = TORN
            tally, part = self._stepped(step, layer, chunk)
            if part is not None:
                self.log.append(found.at(chunk), (part.streams, part.ends))
                self.estate.keep(found, part)
            marks[place] = after
            return tally, part if self._share.readers else None

        done = self._threads.map(job, self._chunks)
        counts = np.concatenate([tally for tally, _ in done])
        return Findings(counts.tolist(), self._parcels(part for _, part in done))

    def _place(self, chunk: Chunk) -> slice:
        """Where a chunk lies in the arrays: in one piece."""
        first = int(self._share.places[chunk[0]])
        return slice(first, first + len(chunk))

    def _stepped(self, step: Step, layer: Layer, chunk: Chunk) -> tuple[Tally, Part | None]:
        """What a step finds in a chunk, if anything."""
        tally = np.zeros(len(chunk), np.uint64)
        with self._scratches.lend() as scratch:
            step(chunk, tally, scratch)
        return tally, self._packed(chunk, layer) if tally.any() else None

    def _packed(self, chunk: Chunk, layer: Layer) -> Part:
        streams, ends = _kernels.pack(self.domain.kernel, chunk, layer.kernel)
        return Part(chunk, bytes(streams) if self._share.readers else streams, ends)

    def _parcels(self, found: Iterable[Part | None]) -> dict[int, Parcel]:
        """What is in some worker's halo and holds anything, in one parcel for each such worker."""
        readers = self._share.readers
        sent: dict[int, dict[int, memoryview]] = {reader: {} for reader in readers}
        empty = self.domain.empty_stream
        for part in filter(None, found):
            streams = split(memoryview(part.streams), part.ends)
            for pair, stream in zip(part.partitions.tolist(), streams, strict=True):
                for reader, wanted in readers.items():
                    if len(stream) > empty and pair in wanted:
                        sent[reader][pair] = stream
        return {reader: _parcel(of) for reader, of in sent.items() if of}

    def _receive(self, inbound: Sequence[Parcel], layer: Layer, taken: Found | None = None) -> None:
        """Take what others found into the copies of their partitions; if it was won, out of those
        of the open set.
        """
        kernel, threads = self.domain.kernel, self._threads
        marks, places = self.estate.marks, self._share.places
        less = None if taken is None else self.open_w.kernel
        layer.live[places[self._share.halo]] = 0
        if taken is not None:
            for parcel in inbound:
                self.estate.keep(taken, parcel)
                marks[places[parcel.partitions]] = TORN

        def job(items: Sequence[tuple[int, Stream]]) -> None:
            for pair, stream in items:
                sound = _kernels.restore(kernel, pair, stream, layer.kernel, less)
                assert sound, f"a frontier that does not unpack, of partition {pair}"

        came = [item for parcel in inbound for item in parcel.each()]
        threads.map(job, [came[first :: threads.count] for first in range(threads.count)])
        if taken is not None:
            for parcel in inbound:
                marks[places[parcel.partitions]] = step_of(taken)

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

    def _sorted_before(self) -> "Freed | None":
        """The layers freed(n) that the estate knows of; without them none of it can be used."""
        if (path := self.estate.freed) is not None:
            with suppress(FileNotFoundError):
                log = LogFile(path)
                if log.sound():
                    return Freed(self._layer(len(self._share.own)), log)
                log.close()
        self.estate.forget()
        return None

    def _sorted(self) -> "Freed":
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
        freed = self._layer(own)
        log = PassLog(self.log.path.with_suffix(".freed"), {"winner": self.winner})
        # Nothing is lost yet, so what is found comes from captures alone.
        for depth in range(self.exits.last, 0, -1):
            captured = self.exits.freeing(depth)
            if any(captured):
                step = partial(
                    self._capture_or_come_from, 1 - self.winner, captured, self.lost, bound, freed
                )
                self._sort(step, freed, Found(depth, False, 0), log)
        log.commit(Pass(self.exits.last, 0, 0, True))
        self.estate.freed = log.path
        return Freed(freed, log)

    def _sort(self, step: Step, layer: Layer, found: Found, log: PassLog) -> None:
        def job(chunk: Chunk) -> None:
            _, part = self._stepped(step, layer, chunk)
            if part is not None:
                log.append(found.at(chunk), (part.streams, part.ends))

        self._threads.map(job, self._chunks)

    # ---- going on ----

    def _go_back(self, depth: int) -> None:
        """Put back what passes beyond a depth took out, where the estate has kept it."""
        since, marks = step_after(depth), self.estate.marks
        taken = self.estate.taken(since)
        if taken is None:
            marks[marks > since] = TORN
            return

        def job(chunk: Chunk) -> None:
            for pair, place in zip(chunk.tolist(), self._share.places[chunk], strict=True):
                if (mark := int(marks[place])) > since:
                    marks[place] = TORN
                    self._put_back(pair, [t for t in taken.get(pair, ()) if t.step <= mark])
                    if self._freed is not None:
                        steps = range(since + 1, mark + 1)
                        self._freed.withhold(self.domain, chunk, pair, steps, self.open_l)
                    marks[place] = since

        self._threads.map(job, (*self._chunks, *self._around))

    def _put_back(self, pair: int, taken: Iterable[Taken]) -> None:
        for step, stream in taken:
            layer = self.open_w if is_of_won(step) else self.open_l
            _sound(_kernels.put_in(self.domain.kernel, pair, stream, layer.kernel))

    def _torn(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those that hold anything torn: all of them is made again."""
        marks = self.estate.marks
        torn = [chunk for chunk in chunks if (marks[self._place(chunk)] == TORN).any()]
        for chunk in torn:
            marks[self._place(chunk)] = TORN
        return torn

    def _replay(self, own: Iterable[Chunk], history: History) -> None:
        """Take out all that was found."""

        def job(chunk: Chunk) -> None:
            if self._freed is not None:
                self._freed.release(self.domain, history.depth, chunk, self.open_l)
            self._take_out(history.layers(chunk, won=False), self.open_l)

        self._threads.map(job, own)
        self._replay_copies(own, history)

    def _replay_copies(self, chunks: Iterable[Chunk], history: History) -> None:
        """Take out what the winner was found to win, which is all of a copy."""
        marks = self.estate.marks

        def job(chunk: Chunk) -> None:
            self._take_out(history.layers(chunk, won=True), self.open_w)
            marks[self._place(chunk)] = step_after(history.depth)

        self._threads.map(job, chunks)

    def _take_out(self, layers: Iterable[tuple[Found, dict[int, Stream]]], open_: Layer) -> None:
        for _, streams in layers:
            for pair, stream in streams.items():
                _sound(_kernels.take_out(self.domain.kernel, pair, stream, open_.kernel))

    def _recalled(self, history: History) -> dict[int, Parcel]:
        """Put back the last lost layer; what of it other workers read."""

        def job(chunk: Chunk) -> Part | None:
            for _, streams in history.layers(chunk, history.depth, won=False):
                for pair, stream in streams.items():
                    _sound(_kernels.restore(self.domain.kernel, pair, stream, self.lost.kernel))
            return self._packed(chunk, self.lost) if self._share.readers else None

        return self._parcels(self._threads.map(job, self._chunks)) if history.passes else {}


def _sound(unpacked: bool) -> None:
    assert unpacked, "a stream whose checksum held does not unpack"


def _parcel(streams: dict[int, memoryview]) -> Parcel:
    ends: list[int] = []
    for stream in streams.values():
        ends.append((ends[-1] if ends else 0) + len(stream))
    return Parcel(list(streams), ends, pa.py_buffer(b"".join(streams.values())))


class Freed:
    """The layers freed(n) in a file of their own, and the one at hand."""

    def __init__(self, layer: Layer, log: LogFile) -> None:
        self.layer, self.log = layer, log

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

    def withhold(
        self, domain: Domain, chunk: Chunk, pair: int, steps: range, open_l: Layer
    ) -> None:
        """Take out of the open set of a partition what was freed in some steps."""
        place = chunk.tolist().index(pair)
        for found, streams in self.log.streams(chunk):
            if step_of(found) in steps:
                _kernels.take_out(domain.kernel, pair, streams[place], open_l.kernel)
