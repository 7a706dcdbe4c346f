"""Layers into streams, streams into columns, columns into sets, FENs into rows: against the copy
bandwidth.

    legal     writes a set                     pack     reads occupied units, writes the stream
    fill      reads a column and a set         paint    reads the stream, writes a value a position
    signs     reads a column, writes two sets  reader   reads text, writes 14 bytes a position
    gather    reads and writes these 14 bytes, a value read and 7 bytes of answer written
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from api.bandwidth import Rate, best_of
from workers import _kernels
from workers.analysis import Analysis
from workers.bits import Words, zeros
from workers.domain import domain_of
from workers.geometry import PAIRS
from workers.material import STRONGER, Material
from workers.painting import fen_of
from workers.passlog import split
from workers.probe import Tablebase, make_reader
from workers.threads import Chunk, Threads, chunks_of

Pairwise = Callable[[int], object]


class Streams:
    """What becomes of a layer that was found, in all partitions."""

    def __init__(self, analysis: Analysis, threads: Threads, repeats: int) -> None:
        self.domain, self.layer = analysis.domain, analysis.won
        self.winner, self.threads, self.repeats = analysis.winner, threads, repeats
        self._chunks = chunks_of(self.domain.axes)
        self._column = zeros(len(PAIRS) * self.domain.slots, np.int8)
        self._sets = [zeros(len(PAIRS) * self.domain.words, np.uint64) for _ in range(2)]
        self._scratches = threads.scratches(self.domain)

    def rates(self, state: str) -> Iterator[Rate]:
        yield self._packed(state)
        yield self._painted(state)
        if state == "dense":
            yield from self._whole()

    def _packed(self, state: str) -> Rate:
        def job(chunk: Chunk) -> None:
            _kernels.pack(self.domain.kernel, chunk, self.layer.kernel)

        units = int(np.bitwise_count(self.layer.occupied).sum(dtype=np.int64))
        touched = 64 * units + self.layer.occupied.nbytes + sum(s.nbytes for s in self._streams())
        return self._rate("pack", state, touched, job)

    def _painted(self, state: str) -> Rate:
        streams = self._streams()

        def paint(pair: int) -> None:
            _kernels.paint(self.domain.kernel, streams[pair], 1, self._values(pair))

        self._column[:] = 0
        self.threads.map(self._each(paint), self._chunks)
        touched = sum(s.nbytes for s in streams) + int(np.count_nonzero(self._column))
        return self._rate("paint", state, touched, self._each(paint))

    def _whole(self) -> Iterator[Rate]:
        """What reads or writes every position, the same in every state."""
        column, words = self._column.nbytes, self._sets[0].nbytes
        yield self._rate("legal", "dense", words, self._legal)
        yield self._rate("fill", "dense", column + words, self._each(self._fill))
        yield self._rate("signs", "dense", column + 2 * words, self._each(self._signs))

    def _legal(self, chunk: Chunk) -> None:
        with self._scratches.lend() as scratch:
            for pair in map(int, chunk):
                legal = self._set(0, pair)
                _kernels.legal(self.domain.kernel, pair, self.winner, legal, scratch)

    def _fill(self, pair: int) -> None:
        _kernels.fill(self._values(pair), self._set(0, pair))

    def _signs(self, pair: int) -> None:
        _kernels.signs(self._values(pair), self._set(0, pair), self._set(1, pair))

    def _streams(self) -> list[NDArray[np.uint8]]:
        streams, ends = _kernels.pack(self.domain.kernel, _ALL, self.layer.kernel)
        return list(split(np.frombuffer(bytes(streams), np.uint8), ends))

    def _values(self, pair: int) -> NDArray[np.int8]:
        return self._column[pair * self.domain.slots : (pair + 1) * self.domain.slots]

    def _set(self, which: int, pair: int) -> Words:
        return self._sets[which][pair * self.domain.words : (pair + 1) * self.domain.words]

    def _each(self, do: Pairwise) -> Callable[[Chunk], None]:
        def job(chunk: Chunk) -> None:
            for pair in map(int, chunk):
                do(pair)

        return job

    def _rate(self, kernel: str, state: str, touched: int, job: Callable[[Chunk], None]) -> Rate:
        seconds = best_of(self.repeats, lambda: self.threads.map(job, self._chunks))
        return Rate(kernel, state, self.threads.count, touched, seconds)


_ALL = np.arange(len(PAIRS), dtype=np.int16)


# ---- positions ----


def some_fens(material: Material, number: int) -> list[str]:
    """Legal positions of a material, the same ones every time."""
    chance, domain = Random(number), domain_of(material)
    scratch = _kernels.Scratch(domain.kernel)
    pairs = [chance.randrange(len(PAIRS)) for _ in range(50)]
    legal = [np.flatnonzero(_bits(domain.counted(p, STRONGER, scratch))) for p in pairs]
    chosen = [chance.randrange(len(pairs)) for _ in range(number)]
    return [
        fen_of(material, pairs[i], int(legal[i][chance.randrange(len(legal[i]))]), STRONGER)
        for i in chosen
    ]


def _bits(words: Words) -> NDArray[np.uint8]:
    return np.unpackbits(words.view(np.uint8), bitorder="little")


def reading(fens: Sequence[str], tablebase: Tablebase, repeats: int) -> Iterator[Rate]:
    """The reader of FENs alone, and what a batch takes beyond it, on warm blocks."""
    texts, reader = list(fens), make_reader()
    tablebase.probe_batch(texts)
    read = best_of(repeats, lambda: reader.read(texts))
    whole = best_of(repeats, lambda: tablebase.probe_batch(texts))
    yield Rate("reader", "dense", 1, sum(map(len, texts)) + 14 * len(texts), read)
    yield Rate("gather", "dense", 1, 22 * len(texts), max(whole - read, 1e-9))
