"""Facts about refusals of the kernels: they trust what lies in an array, but no array's shape.

The steps take the same arguments and check them in the same way, so one stands for all three.
"""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from bitmaps import Held, Words
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import Partition, Side, Symmetry
from kingpair.workers.sets.memory import zeros

HELD = Held(Material.parse("KQvKR"), [5, 3])
OTHER = Held(Material.parse("KQQvKR"), [5, 3])
KINGS, STEPS = TURNED.arrays
SLOTS = np.arange(len(TURNED), dtype=np.int16)
HALVED = TURNED.diagonal
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
    _kernels.refresh(HELD.domain, Partition(pair), kernel)


def painting(
    side: int = 0, value: int = 1, ends: tuple[int, ...] = (8,), place: int = 0
) -> _kernels.Painting:
    streams, at = np.zeros(8, np.uint8), np.array(ends, np.uint64)
    return _kernels.Painting(HELD.domain, pairs(5), [(side, value, streams, at, pairs(place))])


def paint_all(
    layers: _kernels.Painting,
    first: int = 0,
    partitions: int = 1,
    masks: int = 128,
    slots: int = 4096,
) -> None:
    columns, counted = (
        np.zeros((2, partitions * slots), np.int8),
        np.zeros((2, partitions), np.int64),
    )
    layers.paint(HELD.domain, first, words(masks), columns, counted, HELD.scratch)


REFUSED: dict[str, Refused] = {
    "six men": lambda: _kernels.Domain(MEN * 3, KINGS, STEPS, SLOTS, HALVED),
    "a pawn": lambda: _kernels.Domain([("P", 0)], KINGS, STEPS, SLOTS, HALVED),
    "two letters": lambda: _kernels.Domain([("QR", 0)], KINGS, STEPS, SLOTS, HALVED),
    "no letter": lambda: _kernels.Domain([("", 0)], KINGS, STEPS, SLOTS, HALVED),
    "a third side": lambda: _kernels.Domain([("Q", 2)], KINGS, STEPS, SLOTS, HALVED),
    "kings of one side": lambda: _kernels.Domain(MEN, KINGS[:1], STEPS, SLOTS, HALVED),
    "too many pairs": lambda: _kernels.Domain(
        MEN, np.tile(KINGS, 8), np.tile(STEPS, (1, 8, 1, 1)), np.tile(SLOTS, 8), np.tile(HALVED, 8)
    ),
    "steps of fewer pairs": lambda: _kernels.Domain(MEN, KINGS, STEPS[:, 1:].copy(), SLOTS, HALVED),
    "seven steps": lambda: _kernels.Domain(MEN, KINGS, STEPS[:, :, 1:].copy(), SLOTS, HALVED),
    "a step to nowhere": lambda: _kernels.Domain(
        MEN, KINGS, np.where(STEPS == 7, np.int16(462), STEPS), SLOTS, HALVED
    ),
    "structures without pawns": lambda: _kernels.Domain(
        MEN, KINGS, STEPS, SLOTS, HALVED, (2, words(1), words(2), words(0), words(0))
    ),
    "no structure": lambda: _kernels.Domain(
        MEN, KINGS, STEPS, SLOTS, HALVED, (0, words(0), words(0), words(0), words(0))
    ),
    "slots of fewer pairs": lambda: _kernels.Domain(MEN, KINGS, STEPS, SLOTS[1:], HALVED),
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
        HELD.domain, Partition(0), 0, words(128), HELD.scratch
    ),
    "legal positions out of line": lambda: _kernels.legal(
        HELD.domain, Partition(0), 0, misaligned(64), HELD.scratch
    ),
    "legal positions of no partition": lambda: _kernels.legal(
        HELD.domain, Partition(462), 0, words(64), HELD.scratch
    ),
    "legal positions of no side": lambda: _kernels.legal(
        HELD.domain, Partition(0), cast(Side, 2), words(64), HELD.scratch
    ),
    "packing what is not held": lambda: _kernels.pack(HELD.domain, pairs(4), HELD.empty().kernel),
    "painting a short column": lambda: _kernels.paint(
        HELD.domain, np.zeros(8, np.uint8), 1, np.zeros(64, np.int8)
    ),
    "painting a short wide column": lambda: _kernels.paint(
        HELD.domain, np.zeros(8, np.uint8), 1, np.zeros(64, np.int16)
    ),
    "a layer with a third side to move": lambda: painting(side=2),
    "a stream that ends beyond the buffer": lambda: painting(ends=(9,)),
    "a stream that ends before it begins": lambda: painting(ends=(8, 0)),
    "a stream that is not there": lambda: painting(place=1),
    "painting more partitions than the layers have": lambda: paint_all(painting(), partitions=2),
    "painting from behind the last partition": lambda: paint_all(painting(), first=2),
    "painting with one mask of two": lambda: paint_all(painting(), masks=64),
    "painting short columns": lambda: paint_all(painting(), slots=64),
    "a value too large for a column": lambda: paint_all(painting(value=128)),
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
        HELD.domain, Symmetry(0), [0, 1], words(64), words(63)
    ),
    "reframing one man of two": lambda: _kernels.reframe(
        HELD.domain, Symmetry(0), [0], words(64), words(64)
    ),
    "reframing a third man of two": lambda: _kernels.reframe(
        HELD.domain, Symmetry(0), [0, 2], words(64), words(64)
    ),
    "marks of fewer pairs": lambda: _kernels.Reader(
        np.zeros((64, 64), np.int16),
        np.zeros((64, 64), np.uint8),
        TURNED.diagonal[1:],
        np.zeros((64, 64), np.int16),
    ),
    "no such level": lambda: _kernels.use_level("v0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arrays_that_do_not_fit_are_refused(case: str) -> None:
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
