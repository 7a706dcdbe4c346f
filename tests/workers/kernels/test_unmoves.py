"""Un-moves of a handful of positions, which hypothesis makes fewer and simpler when one is wrong.

A step with everything open is an un-move: `win` of the winner's men, `lose` with nothing open to
the winner of the loser's.
"""

from collections.abc import Iterable

import numpy as np
import pytest
from analysis_states import Bitmaps, State, run
from bitmaps import Held
from hypothesis import given, settings
from hypothesis import strategies as st

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every
from kingpair.workers.index.board import SQUARES
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition, Side, opponent
from kingpair.workers.sets.memory import Layer
from kingpair.workers.solve.reference import Position, is_legal, unmove

pytestmark = pytest.mark.usefixtures("level")
MATERIALS = st.sampled_from([m for men in (3, 4, 5) for m in every(men)])
EITHER = st.sampled_from(SIDES)


@st.composite
def few(draw: st.DrawFn, material: Material, to_move: Side, pair: int) -> set[Position]:
    """Up to four legal positions in a partition or those around it."""
    near = sorted(
        {step.pair for side in SIDES for step in TURNED.steps(Partition(pair), side)} | {pair}
    )
    squares = st.tuples(*[st.sampled_from(SQUARES)] * len(material.letters))
    drawn = draw(st.sets(st.tuples(st.sampled_from(near), squares), max_size=4))
    return {position for position in drawn if is_legal(material, to_move, position)}


def held_around(material: Material, pair: int) -> Held:
    return Held(
        material,
        sorted({s.pair for side in SIDES for s in TURNED.steps(Partition(pair), side)} | {pair}),
    )


def legal_in(
    pair: int, material: Material, to_move: Side, found: Iterable[Position]
) -> set[Position]:
    here = (position for position in found if position[0] == pair)
    return {position for position in here if is_legal(material, to_move, position)}


@settings(deadline=None, max_examples=60)
@given(MATERIALS, EITHER, st.integers(0, len(TURNED) - 1), st.data())
def test_a_few_positions_are_unmoved_as_the_twin_does(
    material: Material, winner: Side, pair: int, data: st.DataObject
) -> None:
    lost = data.draw(few(material, opponent(winner), pair))
    before = legal_in(pair, material, winner, unmove(material, lost, winner))
    held = held_around(material, pair)
    layers = Bitmaps(held.open(before), held.empty(), held.empty(), held.sparse(lost))
    counts = run("win", held, State(material, winner, (pair,), ()), layers)
    assert held.positions(layers.won, [pair]) == before
    assert counts.tolist() == [len(before)]


@settings(deadline=None, max_examples=60)
@given(MATERIALS, EITHER, st.integers(0, len(TURNED) - 1), st.data())
def test_a_loser_with_one_way_out_is_not_lost(
    material: Material, winner: Side, pair: int, data: st.DataObject
) -> None:
    won = data.draw(few(material, winner, pair))
    open_w = data.draw(few(material, winner, pair)) - won
    might = legal_in(pair, material, opponent(winner), unmove(material, won, opponent(winner)))
    held = held_around(material, pair)
    layers = Bitmaps(held.open(open_w), held.open(might), held.sparse(won), held.empty())
    run("lose", held, State(material, winner, (pair,), ()), layers)
    helpless = might - unmove(material, open_w, opponent(winner))
    assert held.positions(layers.lost, [pair]) == helpless


def test_an_empty_layer_unmoves_to_nothing() -> None:
    material = Material.parse("KQvKR")
    held = held_around(material, 7)
    nothing: Layer = held.empty()
    layers = Bitmaps(held.open({(7, (60, 61))}), held.empty(), held.empty(), nothing)
    assert run("win", held, State(material, 0, (7,), ()), layers).tolist() == [0]
    assert not np.any(layers.won.live)
