"""Facts about the bench of a part of a walk: it moves the bytes that the model has for it."""

from pathlib import Path

import pytest
from terminal import kingpair, told

from kingpair.api.bench.walk_pass import PASSES, passes_of_part
from kingpair.workers.game.chess.material import SOLVED_MEN_MAX, Material


@pytest.mark.parametrize("partitions", [1, 7, 58])
def test_a_part_of_a_walk_moves_the_sets_that_the_model_has(
    partitions: int, tmp_path: Path
) -> None:
    first, *others = passes_of_part(Material.parse("KQRvK"), partitions, tmp_path, 2)
    assert len(others) == PASSES - 2
    assert first.disk.read == first.most_read
    if partitions > 1:  # of a single one only one side finds anything
        assert first.disk.written == first.most_written
    for each in (first, *others):
        assert each.disk.read <= each.most_read
        assert each.disk.written <= each.most_written
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_passes_moved_and_took(tmp_path: Path) -> None:
    found = told("bench", "--walk", "KQRvK", "--partitions", "3", "--scratch", str(tmp_path))
    assert [each["pass"] for each in found] == list(range(1, PASSES))
    assert all(each["seconds"] > 0 < each["predicted_work"] for each in found)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("KRBNvKQNN", "8 men; at most 7"),
        ("KRPvKRN", "only chess without pawns is solved walk by walk"),
        ("xiangqi:KCvKR", "only chess without pawns is solved walk by walk"),
    ],
)
def test_only_chess_without_pawns_is_solved_walk_by_walk(
    name: str, reason: str, tmp_path: Path
) -> None:
    done = kingpair("bench", "--walk", name, "--scratch", str(tmp_path))
    assert done.exit_code == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_partition_of_seven_men_moves_the_sets_that_the_model_has(tmp_path: Path) -> None:
    first, *others = passes_of_part(Material.parse("KRBNvKQN", SOLVED_MEN_MAX), 1, tmp_path, 2)
    for each in (first, *others):
        assert each.disk.read == each.most_read
        assert each.disk.written == each.most_written
