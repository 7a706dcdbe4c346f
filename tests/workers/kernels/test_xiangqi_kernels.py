"""The kernels of Chinese chess against plain twins, on random sets, at every instruction-set level.

The materials put each kind of man on each kind of axis: bit, lane and outer.  Sets reach over all
blocks, so that steps of the frame, elephants' eyes, horses' legs and cannons' screens all matter.
"""

import random
from functools import cache

import numpy as np
import pytest
from xiangqi_sets import BlockSets, Positions, is_legal, quiet_moves, uncaptured, unmoved

from kingpair.workers import _kernels
from kingpair.workers.game.xiangqi.material import FREE_MAX, XiangqiCapture, XiangqiMaterial
from kingpair.workers.number_types import SIDES, STRONGER, Side, opponent
from kingpair.workers.sets.memory import Layer, Words

pytestmark = pytest.mark.usefixtures("level")

EXITS = FREE_MAX + 4
MEN = [
    ("R", "B"),  # bits
    ("N", "A"),
    ("C", "B"),
    ("P", "AB"),
    ("PA", "P"),  # lanes: a pawn of either side
    ("NB", "N"),
    ("RA", "RB"),
    ("CA", "CB"),
    ("CC", "B"),  # like men
    ("NP", "C"),  # outer men
    ("RN", "PB"),
    ("RC", "R"),
    ("AB", ""),  # no free man
]
BOTH = [(men, mover) for men in MEN for mover in SIDES]
SOME = 24


def named(value: object) -> str:
    return "v".join(f"K{men}" for men in value) if isinstance(value, tuple) else str(value)


@cache
def drawn(men: tuple[str, str], to_move: Side) -> Positions:
    return BlockSets(*men).draw(random.Random(f"{men} {to_move}"), to_move, SOME)


@cache
def unmoved_once(men: tuple[str, str], mover: Side) -> Positions:
    return unmoved(drawn(men, opponent(mover)), mover)


@pytest.mark.parametrize(("men", "mover"), BOTH, ids=named)
def test_positions_are_legal_where_the_twin_says_so(men: tuple[str, str], mover: Side) -> None:
    chance, sets = random.Random(f"{men}"), BlockSets(*men)
    words, size = sets.legal(mover).words, sets.domain.words
    for _ in range(3):
        block = chance.randrange(len(sets.blocks))
        held = sets.domain.slots_of(words[block * size : (block + 1) * size])
        for _ in range(200):
            slot = chance.randrange(sets.index.slots_used)
            position = sets.position(block, slot)
            assert held[slot] == (position is not None and is_legal(position, mover)), position


@pytest.mark.parametrize(("men", "mover"), BOTH, ids=named)
def test_un_moves_are_those_of_the_twin(men: tuple[str, str], mover: Side) -> None:
    sets, won = BlockSets(*men), BlockSets(*men).empty()
    counts = np.zeros(len(sets.blocks), np.uint64)
    lost, open_w = sets.layer(drawn(men, opponent(mover))), sets.legal(mover)
    none: list[None] = [None] * EXITS
    _kernels.win(
        sets.domain.kernel,
        sets.blocks,
        mover,
        none,
        lost.kernel,
        open_w.kernel,
        won.kernel,
        sets.domain.canonical,
        counts,
        sets.scratch,
    )
    expected = unmoved_once(men, mover)
    assert sets.positions(won) == expected
    assert counts.sum() == len(expected)


@pytest.mark.parametrize(("men", "mover"), BOTH, ids=named)
def test_a_loser_with_a_way_out_is_not_lost(men: tuple[str, str], mover: Side) -> None:
    sets, lost = BlockSets(*men), BlockSets(*men).empty()
    counts = np.zeros(len(sets.blocks), np.uint64)
    escapes, expected = helpless(men, mover)
    won, open_w = sets.layer(drawn(men, opponent(mover))), sets.layer(escapes)
    _kernels.lose(
        sets.domain.kernel,
        sets.blocks,
        opponent(mover),
        won.kernel,
        open_w.kernel,
        sets.legal(mover).kernel,
        lost.kernel,
        sets.domain.canonical,
        counts,
        sets.scratch,
    )
    assert sets.positions(lost) == expected
    assert counts.sum() == len(expected)


@cache
def helpless(men: tuple[str, str], mover: Side) -> tuple[Positions, Positions]:
    """Some positions that moves lead to, and those of the un-moved that have no move there."""
    chance = random.Random(f"{men} {mover}")
    might = unmoved_once(men, mover)
    some = chance.sample(sorted(might), min(len(might), SOME))
    after = sorted({after for position in some for after in quiet_moves(position, mover)})
    escapes = frozenset(chance.sample(after, len(after) // 4)) - drawn(men, opponent(mover))
    return escapes, might - unmoved(escapes, mover)


@pytest.mark.parametrize(("men", "mover"), BOTH, ids=named)
def test_a_side_without_a_quiet_move_into_open_positions_loses_at_once(
    men: tuple[str, str], mover: Side
) -> None:
    sets, lost = BlockSets(*men), BlockSets(*men).empty()
    counts = np.zeros(len(sets.blocks), np.uint64)
    escapes, expected = helpless(men, mover)
    open_w, open_l = sets.layer(escapes), sets.layer(unmoved_once(men, mover))
    none: list[None] = [None] * EXITS
    _kernels.lose_at_once(
        sets.domain.kernel,
        sets.blocks,
        opponent(mover),
        none,
        open_w.kernel,
        open_l.kernel,
        lost.kernel,
        sets.domain.canonical,
        counts,
        sets.scratch,
    )
    assert sets.positions(lost) == expected


@pytest.mark.parametrize(("men", "mover"), BOTH, ids=named)
def test_un_captures_are_those_of_the_twin(men: tuple[str, str], mover: Side) -> None:
    sets = BlockSets(*men)
    for letter, side, smaller in {(c.letter, c.side, c.sides) for c in captures_of(men)}:
        if side == mover:
            continue
        after = BlockSets(*smaller).words(drawn(smaller, opponent(mover)))
        exits: list[Words | None] = [None] * EXITS
        for capture in captures_of(men):
            if (capture.letter, capture.side) == (letter, side):
                exits[capture.exit] = after
        out = sets.empty()
        _kernels.collect_captures(
            sets.domain.kernel, sets.blocks, mover, exits, out.kernel, sets.scratch
        )
        assert sets.positions(both(out, sets.legal(mover))) == taken_back(men, mover, letter)


def captures_of(men: tuple[str, str]) -> tuple[XiangqiCapture, ...]:
    return XiangqiMaterial(*men).men_taken()


@cache
def taken_back(men: tuple[str, str], mover: Side, letter: str) -> Positions:
    smaller = next(c.sides for c in captures_of(men) if (c.letter, c.side) == (letter, 1 - mover))
    captive = letter.lower() if mover == STRONGER else letter
    return uncaptured(drawn(smaller, opponent(mover)), mover, captive)


def both(one: Layer, other: Layer) -> Layer:
    one.words[:] = one.dense() & other.dense()
    one.mark()
    return one
