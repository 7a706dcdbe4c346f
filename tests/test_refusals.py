"""What the kernels refuse: they trust what lies in an array, but no array's shape.

The steps take the same arguments and check them in the same way, so one stands for all three.
"""

from collections.abc import Callable

import numpy as np
import pytest
from bitmaps import Held, Words
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import zeros
from workers.geometry import DIAGONAL, PAIRS, king_arrays
from workers.material import Material

HELD = Held(Material.parse("KQvKR"), [5, 3])
OTHER = Held(Material.parse("KQQvKR"), [5, 3])
KINGS, STEPS = king_arrays()
SLOTS = np.arange(len(PAIRS), dtype=np.int16)
MEN = [("R", 1), ("Q", 0)]
Refused = Callable[[], object]


def pairs(*numbers: int) -> NDArray[np.int16]:
    return np.array(numbers, np.int16)


def words(count: int) -> Words:
    return zeros(count, np.uint64)


def misaligned(count: int) -> Words:
    return zeros(count + 1, np.uint64)[1:]


def begin(exits: list[Words | None]) -> None:
    _kernels.prepare(HELD.domain, pairs(5), 0, exits, HELD.empty().kernel, HELD.scratch)


def win(
    at: NDArray[np.int16],
    *,
    counted: Words | None = None,
    counts: int = 1,
    scratch: _kernels.Scratch = HELD.scratch,
) -> None:
    lost, open_w, won = (HELD.empty().kernel for _ in range(3))
    masks = HELD.all_slots() if counted is None else counted
    _kernels.win(HELD.domain, at, 0, [], lost, open_w, won, masks, words(counts), scratch)


def layer(count: int, rows: int, partitions: int) -> _kernels.Layer:
    return _kernels.Layer(words(count), zeros(rows, np.uint8), zeros(partitions, np.uint32))


def refresh(kernel: _kernels.Layer, pair: int = 3) -> None:
    _kernels.refresh(HELD.domain, pair, kernel)


REFUSED: dict[str, Refused] = {
    "five men": lambda: _kernels.Domain(MEN * 2 + [("N", 0)], KINGS, STEPS, SLOTS),
    "a pawn": lambda: _kernels.Domain([("P", 0)], KINGS, STEPS, SLOTS),
    "two letters": lambda: _kernels.Domain([("QR", 0)], KINGS, STEPS, SLOTS),
    "no letter": lambda: _kernels.Domain([("", 0)], KINGS, STEPS, SLOTS),
    "a third side": lambda: _kernels.Domain([("Q", 2)], KINGS, STEPS, SLOTS),
    "kings of one side": lambda: _kernels.Domain(MEN, KINGS[:1], STEPS, SLOTS),
    "too many pairs": lambda: _kernels.Domain(
        MEN, np.tile(KINGS, 2), np.tile(STEPS, (1, 2, 1, 1)), np.tile(SLOTS, 2)
    ),
    "steps of fewer pairs": lambda: _kernels.Domain(MEN, KINGS, STEPS[:, 1:].copy(), SLOTS),
    "seven steps": lambda: _kernels.Domain(MEN, KINGS, STEPS[:, :, 1:].copy(), SLOTS),
    "a step to nowhere": lambda: _kernels.Domain(
        MEN, KINGS, np.where(STEPS == 7, np.int16(462), STEPS), SLOTS
    ),
    "slots of fewer pairs": lambda: _kernels.Domain(MEN, KINGS, STEPS, SLOTS[1:]),
    "too few words": lambda: refresh(layer(64, 2, 2)),
    "too many words": lambda: refresh(layer(192, 2, 2)),
    "too few rows": lambda: refresh(layer(128, 1, 2)),
    "fewer partitions than the domain": lambda: refresh(layer(64, 1, 1)),
    "words out of line": lambda: refresh(
        _kernels.Layer(misaligned(128), zeros(2, np.uint8), zeros(2, np.uint32))
    ),
    "a partition that is not held": lambda: refresh(HELD.empty().kernel, 4),
    "a partition past the last": lambda: refresh(HELD.empty().kernel, 462),
    "a partition before the first": lambda: refresh(HELD.empty().kernel, -1),
    "a layer of another domain": lambda: refresh(OTHER.empty().kernel),
    "a step into a partition not held": lambda: win(pairs(4)),
    "a step into partition -1": lambda: win(pairs(-1)),
    "too few counts": lambda: win(pairs(5, 3), counts=1),
    "one mask of two": lambda: win(pairs(5), counted=words(64)),
    "masks out of line": lambda: win(pairs(5), counted=misaligned(128)),
    "scratch space of another domain": lambda: win(pairs(5), scratch=OTHER.scratch),
    "one smaller set of two": lambda: begin([None]),
    "a smaller set of one partition": lambda: begin([words(64), None]),
    "a smaller set out of line": lambda: begin([misaligned(64 * 462), None]),
    "legal positions of too many words": lambda: _kernels.legal(
        HELD.domain, 0, 0, words(128), HELD.scratch
    ),
    "legal positions out of line": lambda: _kernels.legal(
        HELD.domain, 0, 0, misaligned(64), HELD.scratch
    ),
    "legal positions of no partition": lambda: _kernels.legal(
        HELD.domain, 462, 0, words(64), HELD.scratch
    ),
    "legal positions of no side": lambda: _kernels.legal(
        HELD.domain, 0, 2, words(64), HELD.scratch
    ),
    "packing what is not held": lambda: _kernels.pack(HELD.domain, pairs(4), HELD.empty().kernel),
    "painting a short column": lambda: _kernels.paint(
        HELD.domain, np.zeros(8, np.uint8), 1, np.zeros(64, np.int8)
    ),
    "painting a short wide column": lambda: _kernels.paint(
        HELD.domain, np.zeros(8, np.uint8), 1, np.zeros(64, np.int16)
    ),
    "filling a short column": lambda: _kernels.fill(np.zeros(64, np.int8), words(2)),
    "filling a long wide column": lambda: _kernels.fill(np.zeros(128, np.int16), words(1)),
    "signs of a short column": lambda: _kernels.signs(np.zeros(64, np.int8), words(2), words(2)),
    "signs into sets of two sizes": lambda: _kernels.signs(
        np.zeros(64, np.int16), words(1), words(2)
    ),
    "a mask of another size": lambda: _kernels.canonical_mask(HELD.domain, False, words(63)),
    "spreading over another size": lambda: _kernels.spread(
        HELD.domain, False, words(64), words(128)
    ),
    "reframing into another size": lambda: _kernels.reframe(
        HELD.domain, 0, [0, 1], words(64), words(63)
    ),
    "reframing one man of two": lambda: _kernels.reframe(HELD.domain, 0, [0], words(64), words(64)),
    "reframing a third man of two": lambda: _kernels.reframe(
        HELD.domain, 0, [0, 2], words(64), words(64)
    ),
    "marks of fewer pairs": lambda: _kernels.Reader(
        np.zeros((64, 64), np.int16), np.zeros((64, 64), np.uint8), DIAGONAL[1:]
    ),
    "no such level": lambda: _kernels.use_level("v0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        REFUSED[case]()


def test_an_unknown_level_is_refused_by_name_and_changes_nothing() -> None:
    before = _kernels.level()
    with pytest.raises(ValueError, match="no kernels of level v0 run here"):
        _kernels.use_level("v0")
    assert _kernels.level() == before
    assert before in _kernels.levels()


@given(st.integers(0, 300), st.integers(0, 4), st.integers(0, 4))
def test_a_layer_fits_by_all_three_of_its_arrays_or_not_at_all(
    count: int, rows: int, partitions: int
) -> None:
    kernel = layer(count, rows, partitions)
    if (count, rows) == (64 * partitions, partitions) and partitions >= 2:
        refresh(kernel)
    else:
        with pytest.raises(ValueError, match="layer"):
            refresh(kernel)
