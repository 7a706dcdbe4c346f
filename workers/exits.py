"""Exits: captures into the smaller tables, as sets over the partitions of the larger one.

When a man of side s is taken, it is s that moves next, in the smaller material.  So of each
smaller table one column matters, that of s to move, and three sets of it:

    won       s wins       a forced conversion for the other side, if it has nothing else
    not_won   s does not   an escape for the other side
    lost      s loses      a capture that wins for the other side

They are in the frame of the larger material: its king pairs, its order of men, all slots and not
only canonical ones.

Cost: the smaller column is read once; three bitmaps of 462 x 64^(m-1) / 8 bytes for each man that
can be taken.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Words, zeros
from workers.domain import Domain, domain_of
from workers.geometry import DIAGONAL, PAIRS, PLACEMENTS
from workers.material import Capture, Material
from workers.threads import Chunk, Threads, chunks_of


class Columns(Protocol):
    """A finished table, as far as exits need it."""

    def values(self, pair: int, side: int) -> NDArray[np.int8] | NDArray[np.int16]:
        """The values of a partition, `side` (0 stronger, 1 weaker) to move."""


class Tables(Protocol):
    """Where the smaller tables come from."""

    def columns(self, material: Material) -> Columns:
        """The table of a material; MissingTableError if there is none."""


class Exits(NamedTuple):
    """For each man of the larger material the set that matters to an analysis, or None."""

    not_won: tuple[Words | None, ...]
    won: tuple[Words | None, ...]
    lost: tuple[Words | None, ...]


class _Sets(NamedTuple):
    won: Words
    not_won: Words
    lost: Words


def exits_of(material: Material, tables: Tables, threads: Threads) -> tuple[Exits, Exits]:
    """The exits for the analysis of each winner: stronger, weaker."""
    loaded: dict[tuple[Material, bool, int], _Sets] = {}
    sets = []
    for capture in material.captures():
        key = (capture.material, capture.swapped, material.sides[capture.man])
        if key not in loaded:
            loaded[key] = _load(material, capture, tables, threads)
        sets.append(loaded[key])
    return _for_winner(material, sets, 0), _for_winner(material, sets, 1)


def _for_winner(material: Material, sets: list[_Sets], winner: int) -> Exits:
    own = [s if side == winner else None for s, side in zip(sets, material.sides, strict=True)]
    other = [s if side != winner else None for s, side in zip(sets, material.sides, strict=True)]
    return Exits(
        not_won=tuple(s and s.not_won for s in own),
        won=tuple(s and s.won for s in own),
        lost=tuple(s and s.lost for s in other),
    )


def _load(material: Material, capture: Capture, tables: Tables, threads: Threads) -> _Sets:
    smaller = domain_of(capture.material)
    to_move = material.sides[capture.man] ^ capture.swapped
    sets = _smaller_sets(smaller, tables, to_move, threads)
    if not capture.swapped:
        return sets
    # `survivors` lists our men in the smaller table's order; we need the place of each of ours in
    # it.
    ours = sorted(capture.survivors)
    axes = [capture.survivors.index(man) for man in ours]
    return _Sets(*(_reframed(smaller, axes, words, threads) for words in sets))


def _smaller_sets(smaller: Domain, tables: Tables, to_move: int, threads: Threads) -> _Sets:
    size = smaller.words
    sets = _Sets(*(zeros(len(PAIRS) * size, np.uint64) for _ in range(3)))
    # Bare kings: never won, never lost, and no table is needed to know it.
    table = tables.columns(smaller.material) if smaller.axes else None
    scratches = threads.scratches(smaller)

    def job(chunk: Chunk) -> None:
        with scratches.lend() as scratch:
            for pair in map(int, chunk):
                part = _Sets(*(words[pair * size : (pair + 1) * size] for words in sets))
                _read(smaller, table, pair, to_move, part, scratch)

    threads.map(job, chunks_of(smaller.axes))
    return sets


def _read(
    smaller: Domain,
    table: Columns | None,
    pair: int,
    to_move: int,
    part: _Sets,
    scratch: _kernels.Scratch,
) -> None:
    legal = zeros(smaller.words, np.uint64)
    _kernels.legal(smaller.kernel, pair, to_move, legal, scratch)
    if table is not None:
        diagonal = bool(DIAGONAL[pair])
        canonical = smaller.canonical_of(diagonal)
        used = smaller.slots // 64
        _kernels.signs(table.values(pair, to_move), part.won[:used], part.lost[:used])
        others = legal & ~canonical
        for words in (part.won, part.lost):
            words &= legal & canonical
            if others.any():
                _kernels.spread(smaller.kernel, diagonal, others, words)
    part.not_won[:] = legal & ~part.won


def _reframed(smaller: Domain, axes: list[int], words: Words, threads: Threads) -> Words:
    size = smaller.words
    out = zeros(words.size, np.uint64)

    def job(chunk: Chunk) -> None:
        for pair in map(int, chunk):
            stronger, weaker = PAIRS[pair]
            source, symmetry = PLACEMENTS[weaker, stronger]
            _kernels.reframe(
                smaller.kernel,
                symmetry,
                axes,
                words[source * size : (source + 1) * size],
                out[pair * size : (pair + 1) * size],
            )

    threads.map(job, chunks_of(smaller.axes))
    return out
