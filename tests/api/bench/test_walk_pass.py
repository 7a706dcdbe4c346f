"""Facts about the bench of a part of a walk: it moves the bytes that the model has for it."""

from pathlib import Path

import pytest
from terminal import kingpair, told

from kingpair.api.bench.walk_pass import PASSES, passes_of_part
from kingpair.workers.game.chess.material import Material


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


def test_seven_men_are_refused_in_one_line(tmp_path: Path) -> None:
    done = kingpair("bench", "--walk", "KRBNvKQN", "--scratch", str(tmp_path))
    assert done.exit_code == 2
    assert "7 men; at most 6" in done.stderr
    assert done.stderr.count("\n") == 1
