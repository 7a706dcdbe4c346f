"""Facts about verification: a miscount and a damaged, foreign or missing file are named."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from terminal import kingpair
from verified_tables import built_by_every_metric, copied, legal_rows, rewrite, setting, verified

from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import DamagedTable, ForeignTable, MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.prove.verdict import WrongCount
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import BLOCK, COLUMNS, Table


@pytest.fixture(scope="module")
def built() -> Path:
    return built_by_every_metric()


@pytest.fixture(scope="module")
def pool() -> Iterator[Threads]:
    with Threads(2) as threads:
        yield threads


@pytest.fixture
def out(built: Path, tmp_path: Path) -> Path:
    return copied(built, tmp_path)


# Wrong counts


@pytest.mark.parametrize(
    ("change", "figure"),
    [
        (lambda counts: counts["white"].update(illegal=counts["white"]["illegal"] + 1), "illegal"),
        (lambda counts: counts["white"].update(draw=counts["white"]["draw"] - 1), "draw"),
        (lambda counts: counts["white"]["win"].update({"7": 1}), "win 7"),
        (lambda counts: counts["white"]["win"].pop("7"), "win 7"),
        (lambda counts: counts["white"]["loss"].update({"999": 1}), "loss 999"),
        (lambda counts: counts["longest"]["white"]["win"].update(moves=99), "longest win moves"),
        (lambda counts: counts["longest"]["white"]["win"].update(fen="?"), "longest win fen"),
        (lambda counts: counts.pop("longest"), "longest"),
    ],
)
def test_a_miscount_is_found_and_named(
    out: Path, pool: Threads, change: Callable[[dict[str, Any]], Any], figure: str
) -> None:
    rewrite(out, "KRvKN", counts=change)
    fault = verified(out, "KRvKN", pool).fault
    assert isinstance(fault, WrongCount)
    assert fault.kind == "miscounted"
    assert (fault.to_move, fault.figure) == ("white", figure)


# Damaged, foreign and missing tables


def flip(path: Path, at: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def test_a_flipped_bit_in_a_block_is_found_and_named(out: Path, pool: Threads) -> None:
    path = out / "KRvKN.dtc.arrow"
    flip(path, path.stat().st_size // 2)
    with pytest.raises(DamagedTable, match=r"KRvKN\.dtc\.arrow: block \d+ of column (white|black)"):
        verified(out, "KRvKN", pool)


def test_every_block_is_read(out: Path, pool: Threads) -> None:
    """A digest that is not that of its block is noticed, though every byte is as it was written."""
    path = out / "KRvKN.dtc.arrow"
    last, kept = Table(path).blocks - 1, path.read_bytes()
    assert last == -(-len(TURNED) * 64**2 // BLOCK) - 1
    for block in (0, last):
        for column, name in enumerate(COLUMNS):
            rewrite(out, "KRvKN", digests={2 * block + column: "0123456789abcdef"})
            with pytest.raises(DamagedTable, match=f"block {block} of column {name} is damaged"):
                verified(out, "KRvKN", pool)
            path.write_bytes(kept)


@pytest.mark.parametrize(
    "what", ["layout", "counts", "blocks", "digest", "pieces", "seal", "smaller", "identity"]
)
def test_a_flipped_bit_in_metadata_or_digests_is_found_and_named(
    out: Path, pool: Threads, what: str
) -> None:
    path = out / "KRvKN.dtc.arrow"
    table, data = Table(path), path.read_bytes()
    said = pa.ipc.open_file(pa.py_buffer(data)).metadata
    parts = {
        "layout": b"kingpair.layout",
        "counts": b'"draw"',
        "smaller": table.smaller["KRvK"].encode(),
        "identity": b'"smaller"',
    }
    part = parts.get(what) or said[f"kingpair.{what}".encode()]
    places = {"footer": data.rindex(part)}
    if what in ("smaller", "identity"):
        # The schema stands at the beginning too, for programs that read the file as a stream.
        places["beginning"] = data.index(part)
    for where, at in places.items():
        for bit in range(7):
            flip(path, at + bit, bit)
            with pytest.raises(DamagedTable, match=f"{path}: its {where} "):
                verified(out, "KRvKN", pool)
            path.write_bytes(data)


def test_a_table_built_on_other_smaller_tables_is_refused(out: Path, pool: Threads) -> None:
    rewrite(out, "KRvK", setting(0, list(range(100)), 1))
    with pytest.raises(ForeignTable, match=r"KRvKN\.dtc\.arrow: built on another KRvK than"):
        verified(out, "KRvKN", pool)


def test_a_table_whose_smaller_tables_are_missing_is_not_judged(out: Path, pool: Threads) -> None:
    (out / "KRvK.dtc.arrow").unlink()
    with pytest.raises(MissingTableError, match=r"rests on KRvK.*kingpair build KRvK"):
        verified(out, "KRvKN", pool)
    material = Material.parse("KRvKN")
    with open_tablebase(out) as tablebase, pytest.raises(MissingTableError, match="KRvK"):
        verify(tablebase.table(material), lambda key: tablebase.table(*key), pool)


# The command


def test_the_command_proves_all_tables_of_a_directory(built: Path) -> None:
    done = kingpair("verify", "--all", "--tables", built)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(Metric) * len(list(built.glob("*.dtc.arrow")))
    assert all(": sound, " in line for line in lines)


def test_the_command_names_a_fault_and_verifies_the_next_table(out: Path) -> None:
    (row,) = legal_rows(out / "KNNvK.dtc.arrow", 0)
    rewrite(out, "KNNvK", setting(0, row, 77))
    done = kingpair("verify", "KNNvK", "KRvKN", "--tables", out)
    assert done.exit_code == 4
    assert f"row {row} of column white" in done.stderr
    assert "is 77 (win in 77)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "KRvKN dtc: sound" in done.stdout


@pytest.mark.parametrize("words", [(), ("KQvK", "--all")])
def test_the_command_needs_materials_or_all(built: Path, words: tuple[str, ...]) -> None:
    done = kingpair("verify", *words, "--tables", built)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "name materials, such as KQvKR, or use --all" in done.stderr
