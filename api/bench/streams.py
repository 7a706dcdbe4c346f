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

from kingpair.api.bench.bandwidth import Rate, best_of
from kingpair.workers import _kernels
from kingpair.workers.ask.addresses import AddressReader
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED, numbers_of
from kingpair.workers.number_types import STRONGER, Partition, Slot
from kingpair.workers.passlog.log import split
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.memory import Words, zeros
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.table.fens import fen_at

Pairwise = Callable[[Partition], object]


class StreamKernels:
    """The kernels that read and write a layer, in all partitions."""

    def __init__(self, analysis: Analysis, threads: Threads, repeats: int) -> None:
        self.domain, self.layer = analysis.domain, analysis.won
        self.winner, self.threads, self.repeats = analysis.winner, threads, repeats
        self._chunks = self.domain.index.chunks()
        self._column = zeros(self.domain.index.size, np.int8)
        self._sets = [
            zeros(self.domain.index.partitions * self.domain.words, np.uint64) for _ in range(2)
        ]
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

        def paint(pair: Partition) -> None:
            _kernels.paint(self.domain.kernel, streams[pair], 1, self._values(pair))

        self._column[:] = 0
        self.threads.map(self._each(paint), self._chunks)
        touched = sum(s.nbytes for s in streams) + int(np.count_nonzero(self._column))
        return self._rate("paint", state, touched, self._each(paint))

    def _whole(self) -> Iterator[Rate]:
        """Measures the kernels that read or write every position, equal in every state."""
        column, words = self._column.nbytes, self._sets[0].nbytes
        yield self._rate("legal", "dense", words, self._legal)
        yield self._rate("fill", "dense", column + words, self._each(self._fill))
        yield self._rate("signs", "dense", column + 2 * words, self._each(self._signs))

    def _legal(self, chunk: Chunk) -> None:
        with self._scratches.lend() as scratch:
            for pair in numbers_of(chunk):
                legal = self._set(0, pair)
                _kernels.legal(self.domain.kernel, pair, self.winner, legal, scratch)

    def _fill(self, pair: Partition) -> None:
        _kernels.fill(self._values(pair), self._set(0, pair))

    def _signs(self, pair: Partition) -> None:
        _kernels.signs(self._values(pair), self._set(0, pair), self._set(1, pair))

    def _streams(self) -> list[NDArray[np.uint8]]:
        streams, ends = _kernels.pack(self.domain.kernel, _ALL, self.layer.kernel)
        return list(split(np.frombuffer(bytes(streams), np.uint8), ends))

    def _values(self, pair: Partition) -> NDArray[np.int8]:
        return self._column[pair * self.domain.slots : (pair + 1) * self.domain.slots]

    def _set(self, which: int, pair: Partition) -> Words:
        return self._sets[which][pair * self.domain.words : (pair + 1) * self.domain.words]

    def _each(self, do: Pairwise) -> Callable[[Chunk], None]:
        def job(chunk: Chunk) -> None:
            for pair in numbers_of(chunk):
                do(pair)

        return job

    def _rate(self, kernel: str, state: str, touched: int, job: Callable[[Chunk], None]) -> Rate:
        seconds = best_of(self.repeats, lambda: self.threads.map(job, self._chunks))
        return Rate(kernel, state, self.threads.count, touched, seconds)


_ALL = np.arange(len(TURNED), dtype=np.int16)


# ---- positions ----


def some_fens(material: Material, number: int) -> list[str]:
    """Legal positions of a material, the same ones every time."""
    chance, domain = Random(number), domain_of(material)
    scratch = _kernels.Scratch(domain.kernel)
    count = domain.index.partitions
    pairs = [Partition(chance.randrange(count)) for _ in range(50)]
    legal = [np.flatnonzero(domain.slots_of(domain.counted(p, STRONGER, scratch))) for p in pairs]
    chosen = [chance.randrange(len(pairs)) for _ in range(number)]
    return [
        fen_at(material, pairs[i], Slot(int(legal[i][chance.randrange(len(legal[i]))])), STRONGER)
        for i in chosen
    ]


def reading(fens: Sequence[str], tablebase: Tablebase, repeats: int) -> Iterator[Rate]:
    """The reader of FENs alone, and what a batch takes beyond it, on warm blocks."""
    texts, reader = list(fens), AddressReader()
    tablebase.probe_batch(texts)
    read = best_of(repeats, lambda: reader.read(texts))
    whole = best_of(repeats, lambda: tablebase.probe_batch(texts))
    yield Rate("reader", "dense", 1, sum(map(len, texts)) + 14 * len(texts), read)
    yield Rate("gather", "dense", 1, 22 * len(texts), max(whole - read, 1e-9))
