"""Facts about the order of a proof's walks: each comes once, and few partitions are kept."""

from kingpair.workers import _kernels
from kingpair.workers.index.walk_order import (
    ProofWalk,
    in_turns,
    kept_bytes,
    most_kept,
    partitions_kept,
)
from kingpair.workers.number_types import SIDES

WALKS = [ProofWalk(mover, pairs) for mover in SIDES for pairs in _kernels.Verifier.walks(mover)]


def test_every_walk_comes_once() -> None:
    assert sorted(in_turns(WALKS)) == sorted(WALKS)


def test_few_partitions_are_kept() -> None:
    assert most_kept(WALKS) == 462
    assert most_kept(in_turns(WALKS)) == partitions_kept() == 240


def test_values_of_five_men_are_kept_and_of_six_are_not() -> None:
    assert kept_bytes(240, 64**3, 1) == 480 << 18
    assert kept_bytes(240, 64**4, 1) == 0
