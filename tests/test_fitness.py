"""Facts about which nodes may build together, and how those that may not are named."""

from pathlib import Path

import pytest

from api.fitness import Terms, lack, other, said, terms

OURS = Terms("1.0", "0123456789ab", "", "")


def test_a_node_like_this_machine_is_fit(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    assert lack(terms(str(tmp_path), str(mark))) == ""


def test_a_directory_that_a_node_does_not_share_is_said_with_what_to_do() -> None:
    assert lack(terms("/shared", "/nowhere/mark")).startswith("cannot write /shared; build to a")


@pytest.mark.parametrize(
    ("version", "commit", "said"),
    [
        ("1.0", "0123456789ab", ""),
        ("1.0", "unknown", ""),
        (
            "1.1",
            "0123456789ab",
            "has kingpair 1.1, this machine 1.0; install the same version on every node",
        ),
        (
            "1.0",
            "0123456789ab-dirty",
            "has kingpair of commit 0123456789ab-dirty, this machine of 0123456789ab; install the "
            "same build on every node",
        ),
    ],
    ids=["ours", "who knows", "another version", "another commit"],
)
def test_another_program_is_said_with_what_to_do(version: str, commit: str, said: str) -> None:
    assert other(version, commit, OURS) == said


def test_every_lack_is_said_once_and_whose_it_is() -> None:
    alike = [(f"10.0.0.{i}", "has no kingpair; install it") for i in range(2, 8)]
    assert said(alike[:1]) == "node 10.0.0.2 has no kingpair; install it"
    assert said([*alike, ("10.0.0.9", "cannot write /shared")]) == (
        "node 10.0.0.2 has no kingpair; install it (the same of 10.0.0.3, 10.0.0.4 and 3 more); "
        "node 10.0.0.9 cannot write /shared"
    )
