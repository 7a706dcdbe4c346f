"""Facts about children: the kernel reads the value of each legal position after an exit at the row
that the verifier's rules name, and no other value.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from placed_men import PlacedMan, are_legal
from rows_of_men import material_of, rows_of

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.index.structures import Numbers, structures
from kingpair.workers.number_types import SIDES, Side, opponent
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.exit_values import CarriedDomain, CarriedExits, ExitValues, words_after
from kingpair.workers.solve.families import Family, families
from kingpair.workers.solve.frames import Child, SeenChild, child_of, places_in

MATERIALS = "KPvK", "KPPvK", "KPvKP", "KRPvK", "KQPvK", "KPvKN", "KPPvKP"
PLACES = 5


def value_of(material: Material, rows: NDArray[np.int64], side: int) -> NDArray[Any]:
    """A value for each row of a table, which no other table shares."""
    mixed = (rows + 1) * 2654435761 + 40503 * side + 7919 * len(material.name)
    return ((mixed >> 11) % 255 - 127).astype(np.int8)


class Numbered:
    """A table in which every row has a value of its own, positions or not."""

    def __init__(self, material: Material) -> None:
        self._material, self._index = material, table_index(material)

    dtype = np.dtype(np.int8)

    @property
    def slots(self) -> int:
        return self._index.slots

    def column(self, side: Side, numbers: Numbers) -> NDArray[Any]:
        size = self._index.structure_rows
        rows = numbers.astype(np.int64)[:, None] * size + np.arange(size)
        found = value_of(self._material, rows, side)
        return found.reshape(len(numbers), -1, self.slots)

    def longest(self, side: Side) -> int:
        return 127

    def another_reader(self) -> "Numbered":
        return self

    def copy_partitions(self, first: int, out: NDArray[Any], side: Side) -> None:
        out[:] = value_of(self._material, first * self.slots + np.arange(len(out)), side)


def positions(
    domain: Domain, family: Family, child: Child, place: int, pair: int
) -> list[PlacedMan]:
    """The men after an exit, in every slot of the pieces that are left."""
    count = len(child.left)
    slots = np.arange(64**count)
    men = [PlacedMan("K", side, np.array(FIXED.squares[pair][side])) for side in SIDES]
    for at, axis in enumerate(child.left):
        letter, side = domain.material.pieces[axis]
        men.append(PlacedMan(letter, side, slots >> 6 * (count - 1 - at) & 63))
    for square, of in zip(family.squares[place], family.sides, strict=True):
        men.append(PlacedMan("P", of, np.array(int(square))))
    if family.exit.becomes is not None:
        square = np.array(int(family.promoted_on[place]))
        men.append(PlacedMan(family.exit.becomes, family.exit.side, square))
    return men


def expected(men: list[PlacedMan], to_move: int, slots: int) -> tuple[NDArray[Any], ...]:
    """Whether each slot holds a position, and its value."""
    legal = np.broadcast_to(are_legal(men, to_move), slots)
    material, shown = material_of(men)
    if not material.letters:
        return legal, np.zeros(slots, np.int8)
    side = to_move if shown is men else 1 - to_move
    # Slots on which men share a square have no row.
    there = [
        man._replace(square=man.square[legal] if man.square.ndim else man.square) for man in shown
    ]
    values = np.zeros(slots, np.int8)
    values[legal] = value_of(material, rows_of(material, there), side)
    return legal, values


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", MATERIALS)
def test_the_values_after_an_exit_are_those_of_its_positions(name: str, side: Side) -> None:
    material = Material.parse(name)
    kept = structures(*material.pawns)
    random = np.random.default_rng(5)
    for level in random.choice(len(kept.levels), 3, replace=False).tolist():
        domain = Domain(material, placings=LevelSlice(level).placings(kept))
        for family in families(domain, side):
            chosen = random.choice(len(family.on), min(PLACES, len(family.on)), replace=False)
            check(domain, sample(family, chosen), random)


def sample(family: Family, chosen: NDArray[np.intp]) -> Family:
    by_exit = ("squares", "made_from", "on", "promoted_on")
    return family._replace(**{name: getattr(family, name)[chosen] for name in by_exit})


def check(domain: Domain, family: Family, random: np.random.Generator) -> None:
    child, to_move = child_of(domain.material, family.exit), opponent(family.exit.side)
    places = places_in(child, family.squares, family.sides, family.promoted_on)
    pieces = [domain.material.pieces[axis] for axis in child.left]
    pawns = words_after(family.squares, family.sides, family.promoted_on)
    carried = CarriedDomain(pieces, pawns)
    seen = SeenChild(Numbered(child.material), child, to_move, places)
    exits = ExitValues(CarriedExits(carried, family, family.axis), seen)
    with Threads(1) as threads:
        values, sets = exits.values(threads), exits.judged(threads)
    for pair in random.choice(len(FIXED), 40, replace=False).tolist():
        found = [slots_of(each, pair) for each in sets]
        for place in range(len(places)):
            men = positions(domain, family, child, place, pair)
            slots = slice(place * 64 ** len(child.left), (place + 1) * 64 ** len(child.left))
            legal, wanted = expected(men, to_move, 64 ** len(child.left))
            assert np.array_equal(values[pair, slots], wanted), (str(family.exit), pair, place)
            lost, not_won, won = (each[slots] for each in found)
            assert np.array_equal(lost, legal & (wanted < 0))
            assert np.array_equal(won, legal & (wanted > 0))
            assert np.array_equal(not_won, legal & (wanted <= 0))


def slots_of(layer: Layer, pair: int) -> NDArray[np.bool_]:
    words = layer.dense().reshape(len(FIXED), -1)[pair]
    return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)


def view(**changed: Any) -> _kernels.ChildView:
    arrays: dict[str, Any] = {
        "rows": np.zeros((2, 2), np.int32),
        "views": np.zeros(2, np.int32),
        "seen": np.zeros((1, len(FIXED), 3), np.int32),
        "maps": np.zeros((1, 64), np.uint32),
        "child": [1, 462, 64],
    }
    return _kernels.ChildView(*(arrays | changed).values())


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": np.ones((2, 2), np.int32)},
        {"rows": np.full((2, 2), -1, np.int32)},
        {"rows": np.zeros((1, 2), np.int32)},
        {"views": np.ones(2, np.int32)},
        {"seen": np.full((1, len(FIXED), 3), 1, np.int32)},
        {"seen": np.zeros((1, len(FIXED), 2), np.int32)},
        {"maps": np.full((1, 64), 64, np.uint32)},
        {"child": [1, 0, 64]},
        {"child": [1, 462]},
    ],
)
def test_a_view_that_reads_beyond_its_child_is_refused(changed: dict[str, Any]) -> None:
    view()
    with pytest.raises(ValueError, match=r"\w"):
        view(**changed)


@pytest.mark.parametrize(
    ("shape", "slots"), [((1, 462, 63), 4096), ((2, 462, 64), 4096), ((1, 462, 64), 64)]
)
def test_a_column_that_does_not_fit_its_view_is_refused(
    shape: tuple[int, int, int], slots: int
) -> None:
    pawns = words_after(np.array([[8], [9]], np.uint8), (0,), np.array([-1, -1]))
    kernel = CarriedDomain([("Q", 0)], pawns).kernel
    column, out = np.zeros(shape, np.int8), np.zeros((len(FIXED), slots), np.int8)
    with pytest.raises(ValueError, match="fit"):
        view().values(kernel, np.zeros(1, np.int16), 0, column, 0, out, _kernels.Scratch(kernel))


@pytest.mark.parametrize(("first", "pair"), [(1, 0), (300, 462), (0, 200)])
def test_a_pair_that_a_part_of_a_column_does_not_have_is_refused(first: int, pair: int) -> None:
    pawns = words_after(np.array([[8], [9]], np.uint8), (0,), np.array([-1, -1]))
    kernel = CarriedDomain([("Q", 0)], pawns).kernel
    seen = np.zeros((1, len(FIXED), 3), np.int32)
    seen[:, :, 0] = min(pair, 461)
    column, out = np.zeros((1, 200, 64), np.int8), np.zeros((len(FIXED), 4096), np.int8)
    one, scratch = np.zeros(1, np.int16), _kernels.Scratch(kernel)
    with pytest.raises(ValueError, match="column"):
        view(seen=seen).values(kernel, one, 0, column, first, out, scratch)
