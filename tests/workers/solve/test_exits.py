"""Facts about exits: what is read off the smaller tables, for both metrics."""

from pathlib import Path

import numpy as np
import pytest
from bitmaps import marked, squares_of
from shared_tables import unproved

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import STRONGER, WEAKER, Depth, Side
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve import reference
from kingpair.workers.solve.capture_sets import PositionSet
from kingpair.workers.solve.exits import Exits, Sets, exits_of
from kingpair.workers.solve.reference import Position
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

pytestmark = pytest.mark.slow

KRVKN = Material.parse("KRvKN")


def read(where: Path, metric: Metric, partitions: Chunk | None = None) -> tuple[Exits, Exits]:
    key = TableKey(KRVKN, metric)
    with Threads(2) as threads:
        return exits_of(key, TableStore(where), threads, partitions=partitions)


def positions(of: PositionSet) -> set[Position]:
    """Of a set over the partitions only what is marked is ever looked at."""
    words, live = of[0].reshape(len(TURNED), -1), of[1]
    return {
        (pair, squares_of(1, int(slot)))
        for pair in map(int, live.nonzero()[0])
        for slot in marked(words[pair])
    }


def by_man(sets: Sets) -> dict[int, set[Position]]:
    return {man: positions(of) for man, of in enumerate(sets) if of is not None}


@pytest.mark.parametrize("winner", [STRONGER, WEAKER])
def test_exits_of_a_conversion_are_those_of_the_twin(tables: Path, winner: Side) -> None:
    exits, twin = read(tables, Metric.DTC)[winner], reference.exits_of(KRVKN, winner)
    assert by_man(exits.escapes) == twin.not_won
    assert by_man(exits.forced) == twin.won
    assert by_man(exits.winning(Depth(1))) == twin.lost
    assert exits.winning(Depth(2)) == exits.freeing(Depth(1)) == exits.never == ()


@pytest.fixture(scope="module")
def mates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mates")
    build(BuildRequest(BuildSpec((KRVKN,), (Metric.DTM,)), out, threads=2), lambda event: None)
    return out


@pytest.mark.parametrize("winner", [STRONGER, WEAKER])
def test_exits_by_depth_are_together_those_of_the_twin(mates: Path, winner: Side) -> None:
    exits, twin = read(mates, Metric.DTM)[winner], reference.exits_of(KRVKN, winner)
    assert by_man(exits.never) == twin.not_won
    assert by_man(exits.escapes) == {m: twin.not_won[m] | twin.won[m] for m in twin.won}
    for at_depth, wanted in ((exits.freeing, twin.won), (exits.winning, twin.lost)):
        found: dict[int, set[Position]] = {man: set() for man in wanted}
        for depth in range(1, exits.last + 2):
            for man, layer in by_man(at_depth(Depth(depth))).items():
                assert found[man].isdisjoint(layer)
                found[man] |= layer
        assert found == wanted


@pytest.mark.parametrize("metric", [Metric.DTC, Metric.DTZ])
def test_exits_of_some_partitions_are_those_among_all(metric: Metric) -> None:
    own = np.array([pair for pair in range(len(TURNED)) if pair % 7 in (1, 4)], np.int16)
    capture_into = [capture.material for capture in KRVKN.captures()]
    where = unproved(capture_into, metric)
    some, every = read(where, metric, own), read(where, metric)
    for found, whole in zip(some, every, strict=True):
        for depth in (Depth(1), Depth(CLOCK_LIMIT + 1), Depth(CLOCK_LIMIT + 2)):
            pairs = [
                (found.winning(depth), whole.winning(depth)),
                (found.freeing(depth), whole.freeing(depth)),
                (found.escapes, whole.escapes),
                (found.never, whole.never),
                (found.forced, whole.forced),
            ]
            for a, b in pairs:
                assert by_man(a) == restricted(by_man(b), own)


def restricted(sets: dict[int, set[Position]], pairs: Chunk) -> dict[int, set[Position]]:
    wanted = {*pairs.tolist()}
    return {man: {at for at in of if at[0] in wanted} for man, of in sets.items()}
