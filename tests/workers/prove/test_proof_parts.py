"""Facts about a proof in parts: together they say what the whole proof says."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from altered_tables import Column, rewrite
from shared_tables import copied_closure, proved

from kingpair.workers.errors import DamagedTable
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES
from kingpair.workers.prove.proof_parts import PartialProof
from kingpair.workers.prove.verdict import Verdict
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey

MATERIALS = ("KQvKR", "KRvKN")
WITH_PAWNS = ("KPvKP", "KRPvK")


@pytest.fixture(scope="module")
def pool() -> Iterator[Threads]:
    with Threads(2) as threads:
        yield threads


@pytest.fixture(params=[Metric.DTC, Metric.DTM])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    tables = proved(MATERIALS, request.param)
    return copied_closure(tables, tmp_path / "out", *MATERIALS, metric=request.param)


def table_of(out: Path, name: str) -> Table:
    (path,) = out.glob(f"{name}.dt*.arrow")
    return Table(path)


def in_parts(out: Path, name: str, parts: int, threads: Threads, workers: int = 3) -> Verdict:
    """The verdict from parts that several workers prove in turn."""
    proofs = [
        PartialProof(table_of(out, name), lambda key: Table(out / key.file_name), threads)
        for _ in range(workers)
    ]
    findings = [proofs[part % workers].findings(part, parts) for part in range(parts)]
    return replace(proofs[0].conclude(findings[::-1]), seconds=0.0)


def whole(out: Path, name: str, threads: Threads) -> Verdict:
    def find(key: TableKey) -> Table:
        return Table(out / key.file_name)

    return replace(verify(table_of(out, name), find, threads), seconds=0.0)


@pytest.mark.parametrize("parts", [20, 60])
def test_parts_of_a_sound_table_prove_it(out: Path, pool: Threads, parts: int) -> None:
    for name in MATERIALS:
        found = in_parts(out, name, parts, pool)
        assert found.sound
        assert found == whole(out, name, pool)


@pytest.fixture(scope="module")
def with_pawns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_closure(
        proved(WITH_PAWNS, Metric.DTC), tmp_path_factory.mktemp("pawns") / "out", *WITH_PAWNS
    )


@pytest.mark.slow  # proves all that KPvKP rests on
@pytest.mark.parametrize("parts", [16, 48])
def test_parts_of_a_sound_table_with_pawns_prove_it(
    with_pawns: Path, pool: Threads, parts: int
) -> None:
    for name in WITH_PAWNS:
        found = in_parts(with_pawns, name, parts, pool)
        assert found.sound
        assert found == whole(with_pawns, name, pool)


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_parts_name_the_same_first_contradiction_with_pawns(
    with_pawns: Path, pool: Threads, side: int, tmp_path: Path
) -> None:
    def change(columns: list[Column]) -> None:
        column = columns[side]
        wrong = np.flatnonzero(column)[1000::7001]
        column[wrong] += 1

    altered = copied_closure(with_pawns, tmp_path / "altered", "KRPvK")
    rewrite(table_of(altered, "KRPvK").path, change)
    found = in_parts(altered, "KRPvK", 16, pool)
    assert not found.sound
    assert found == whole(altered, "KRPvK", pool)


@pytest.mark.parametrize("side", SIDES)
def test_parts_name_the_same_first_contradiction(out: Path, pool: Threads, side: int) -> None:
    def change(columns: list[Column]) -> None:
        column = columns[side]
        wrong = np.flatnonzero(column)[1000::7001]
        column[wrong] += 1

    rewrite(table_of(out, "KQvKR").path, change)
    found = in_parts(out, "KQvKR", 40, pool)
    assert not found.sound
    assert found == whole(out, "KQvKR", pool)


def test_parts_count_what_the_table_says(out: Path, pool: Threads) -> None:
    def miscount(counts: dict[str, object]) -> None:
        draws = counts["white"]
        assert isinstance(draws, dict)
        draws["draw"] += 1

    rewrite(table_of(out, "KQvKR").path, counts=miscount)
    found = in_parts(out, "KQvKR", 20, pool)
    assert not found.sound
    assert found == whole(out, "KQvKR", pool)


def test_parts_together_check_every_byte(out: Path, pool: Threads) -> None:
    path = table_of(out, "KQvKR").path
    sound = path.read_bytes()
    for at in (100, len(sound) // 2, len(sound) * 2 // 3):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        with pytest.raises(DamagedTable):
            in_parts(out, "KQvKR", 20, pool, workers=1)


def test_a_conclusion_needs_the_findings_of_every_part(out: Path, pool: Threads) -> None:
    proof = PartialProof(table_of(out, "KQvKR"), lambda key: Table(out / key.file_name), pool)
    findings = [proof.findings(part, 20) for part in range(19)]
    assert not proof.conclude(findings).sound
    with pytest.raises(AssertionError, match="parts are missing"):
        proof.conclude(findings[1:])
