"""Facts about the first lines of `kingpair serve`."""

from pathlib import Path

import pytest

from kingpair.api.cli.first_steps import first_steps
from kingpair.api.settings import Settings

ADDRESS = "http://127.0.0.1:8000/"


def lines_of(tables: Path, make: bool = True) -> list[str]:
    lines: list[str] = []
    announce = first_steps(Settings(tables=tables), lines.append)
    if make:
        tables.mkdir(exist_ok=True)  # as the service does before it prints its address
    announce(ADDRESS)
    return lines


def test_a_directory_with_tables_needs_no_advice(tables: Path) -> None:
    assert lines_of(tables) == [ADDRESS]


def test_an_empty_directory_is_told_how_to_make_the_first_table(tmp_path: Path) -> None:
    assert lines_of(tmp_path) == [
        ADDRESS,
        f"The directory {tmp_path} has no tables.",
        "To make the first table, build KQvKR on the page, or in another terminal:",
        f"    kingpair build KQvKR --tables {tmp_path}",
    ]


def test_a_directory_that_was_not_there_is_not_made_in_silence(tmp_path: Path) -> None:
    typo = tmp_path / "tabels"
    assert lines_of(typo)[1] == f"There was no directory {typo}: it was made, and is empty."


def test_the_usual_directory_needs_no_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lines_of(Path("tables"))[-1] == "    kingpair build KQvKR"
