"""Facts about sweeps: what a batch needs is held, each partition comes once, and few are held."""

from collections import Counter

import pytest

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.sweeps import (
    LEAST,
    SMALL,
    WHOLE,
    ProofNeeds,
    SweepShape,
    held_by,
    most_held,
    room_of,
    sweep,
)
from kingpair.workers.number_types import SIDES

SHAPES = [SweepShape(8, 1), SweepShape(8, 2), SweepShape(4, 3), SweepShape(1, 1), WHOLE]
SIX = 64**4  # slots of a partition of six men


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_batch_has_read_what_its_partitions_lead_to(shape: SweepShape) -> None:
    for mover in SIDES:
        for walk in _kernels.Verifier.walks(mover):
            held, found = set[int](), Counter[int]()
            batches = sweep(mover, walk, shape)
            for batch in batches:
                assert held.isdisjoint(batch.read)
                held.update(batch.read)
                assert TURNED.around(batch.pairs, mover).union(batch.pairs) <= held <= {*walk}
                assert len(held) <= most_held(batches)
                found.update(batch.pairs)
                held.difference_update(batch.gone)
            assert not held
            assert found == Counter(walk)


@pytest.mark.parametrize(("files", "held"), [(8, 19), (4, 13), (2, 11), (1, 9)])
def test_narrow_strips_hold_few_partitions(files: int, held: int) -> None:
    assert held_by(SweepShape(files, 1)) == held


def test_a_strip_of_all_files_reads_each_partition_once() -> None:
    for mover in SIDES:
        for walk in _kernels.Verifier.walks(mover):
            read = [pair for batch in sweep(mover, walk, SweepShape(8, 2)) for pair in batch.read]
            assert sorted(read) == sorted(walk)


@pytest.mark.parametrize(
    ("item", "threads", "room", "shape"),
    [
        (1, 2, 1 << 40, WHOLE),
        (1, 1, room_of(SIX), SweepShape(8, 1)),
        (1, 2, room_of(SIX), SweepShape(4, 2)),
        (2, 2, room_of(SIX), SweepShape(1, 1)),
        (1, 2, 0, SweepShape(1, 1)),
    ],
)
def test_a_shape_fits_the_room_with_as_many_threads_as_possible(
    item: int, threads: int, room: int, shape: SweepShape
) -> None:
    assert ProofNeeds(SIX, item, 4, threads).shape_within(room) == shape


def test_a_proof_may_take_as_much_as_the_sets_did() -> None:
    assert room_of(64**3) == SMALL
    assert room_of(SIX) == LEAST * SIX
    assert room_of(SIX, 462) == (462 + 2 * 58) // 8 * SIX
