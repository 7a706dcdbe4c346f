"""mypy tells apart the numbers that functions take side by side: each swapped pair is an error."""

import re
import subprocess
import sys

import pytest
from test_layout import ROOT

NEEDED = """
from kingpair.workers import _kernels
from kingpair.workers.index.board import turn
from kingpair.workers.index.king_pairs import TURNED, Step
from kingpair.workers.number_types import Depth, Partition, Row, Side, Slot, Symmetry
from kingpair.workers.passlog.log import LayerChunk, PassResult
from kingpair.workers.sets.domain import Domain
from kingpair.workers.table.fens import fen_at, fen_of_row
from kingpair.workers.table.format import Table

def calls(
    domain: Domain, table: Table, scratch: _kernels.Scratch,
    partition: Partition, slot: Slot, row: Row, side: Side, symmetry: Symmetry, depth: Depth,
) -> None:
    """

RIGHT = [
    "TURNED.steps(partition, side)",
    "domain.counted(partition, side, scratch)",
    "fen_at(table.material, partition, slot, side)",
    "fen_of_row(table.material, row, side)",
    "table.values(partition, side)",
    "table.index.place(row)",
    "turn(symmetry, 63)",
    "Step(partition, symmetry, 63)",
    "PassResult(depth, 5, 3, False)",
    "LayerChunk(depth, True, 33)",
]

SWAPPED = [
    "TURNED.steps(side, partition)",
    "domain.counted(side, partition, scratch)",
    "fen_at(table.material, slot, partition, side)",
    "fen_at(table.material, partition, side, slot)",
    "fen_of_row(table.material, side, row)",
    "table.values(side, partition)",
    "table.index.place(slot)",
    "turn(63, symmetry)",
    "Step(symmetry, partition, 63)",
    "PassResult(5, depth, 3, False)",
    "LayerChunk(33, True, depth)",
]


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The first error of each line, counted from the first call."""
    text = NEEDED + "\n    ".join([*RIGHT, *SWAPPED]) + "\n"
    snippet = tmp_path_factory.mktemp("snippet") / "snippet.py"
    snippet.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(snippet)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    first, found = NEEDED.count("\n"), dict[int, str]()
    for at, message in re.findall(rf"{snippet.name}:(\d+): (error: .*)", said):
        found.setdefault(int(at) - first - 1, message)
    return found


def test_calls_in_order_pass(errors: dict[int, str]) -> None:
    assert {RIGHT[at]: said for at, said in errors.items() if at < len(RIGHT)} == {}


@pytest.mark.parametrize("call", SWAPPED)
def test_a_swapped_pair_is_an_error(errors: dict[int, str], call: str) -> None:
    assert "incompatible type" in errors[len(RIGHT) + SWAPPED.index(call)]


def test_the_types_cost_nothing_when_the_program_runs() -> None:
    from kingpair.workers.number_types import Partition, Side

    assert type(Partition(7)) is int
    assert Side.__args__ == (0, 1)  # type: ignore[attr-defined]
