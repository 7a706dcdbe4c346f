"""Facts about exits: what is read off the smaller tables, for both metrics."""

from pathlib import Path

import pytest
from bitmaps import marked, squares_of

from coordinator.build import build
from coordinator.request import Request
from workers import reference
from workers.exits import Exits, Marked, Sets, exits_of
from workers.geometry import PAIRS
from workers.material import STRONGER, WEAKER, Material
from workers.metric import Metric
from workers.reference import Position
from workers.threads import Threads
from workers.workshop import Tables

pytestmark = pytest.mark.slow

KRVKN = Material.parse("KRvKN")


def read(where: Path, metric: Metric) -> tuple[Exits, Exits]:
    with Threads(2) as threads:
        return exits_of(KRVKN, metric, Tables(where, metric.value), threads)


def positions(of: Marked) -> set[Position]:
    """Of a set over the partitions only what is marked is ever looked at."""
    words, live = of[0].reshape(len(PAIRS), -1), of[1]
    return {
        (pair, squares_of(1, int(slot)))
        for pair in map(int, live.nonzero()[0])
        for slot in marked(words[pair])
    }


def by_man(sets: Sets) -> dict[int, set[Position]]:
    return {man: positions(of) for man, of in enumerate(sets) if of is not None}


@pytest.mark.parametrize("winner", [STRONGER, WEAKER])
def test_exits_of_a_conversion_are_those_of_the_twin(tables: Path, winner: int) -> None:
    exits, twin = read(tables, Metric.DTC)[winner], reference.exits_of(KRVKN, winner)
    assert by_man(exits.escapes) == twin.not_won
    assert by_man(exits.forced) == twin.won
    assert by_man(exits.winning(1)) == twin.lost
    assert exits.winning(2) == exits.freeing(1) == exits.never == ()


@pytest.fixture(scope="module")
def mates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mates")
    build(Request((KRVKN,), out, (Metric.DTM,), threads=2), lambda event: None)
    return out


@pytest.mark.parametrize("winner", [STRONGER, WEAKER])
def test_exits_by_depth_are_together_those_of_the_twin(mates: Path, winner: int) -> None:
    exits, twin = read(mates, Metric.DTM)[winner], reference.exits_of(KRVKN, winner)
    assert by_man(exits.never) == twin.not_won
    assert by_man(exits.escapes) == {m: twin.not_won[m] | twin.won[m] for m in twin.won}
    for at_depth, wanted in ((exits.freeing, twin.won), (exits.winning, twin.lost)):
        found: dict[int, set[Position]] = {man: set() for man in wanted}
        for depth in range(1, exits.last + 2):
            for man, layer in by_man(at_depth(depth)).items():
                assert found[man].isdisjoint(layer)
                found[man] |= layer
        assert found == wanted
