"""The proof of a table of Chinese chess finds a wrong value of the table or of a smaller one."""

import random
from pathlib import Path

import numpy as np
import pytest
from altered_tables import Built, Column, copied, rewrite
from building import build_unverified
from xiangqi_tables import canonical_positions, open_xiangqi

from kingpair.workers.game.metric import Metric
from kingpair.workers.prove.verdict import WrongValue
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import Table

NAMES = ("xiangqi:KPvKAB", "xiangqi:KCAvKB", "xiangqi:KPvKP", "xiangqi:KCCvK")


@pytest.fixture(scope="module", params=[Metric.DTC, Metric.DTM])
def metric(request: pytest.FixtureRequest) -> Metric:
    return Metric(request.param)


@pytest.fixture(scope="module")
def built(metric: Metric, threads: Threads, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("blocks")
    build_unverified(folder, *NAMES, metrics=(metric,))
    return Built(folder, threads)


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_table_is_proved(built: Built, metric: Metric, name: str) -> None:
    assert built.verdict(name, metric).sound


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_value_is_found(
    built: Built, metric: Metric, tmp_path: Path, name: str, seed: int
) -> None:
    chance = random.Random(f"{name} {seed}")
    table = open_xiangqi(copied(built, tmp_path), f"{name}.{metric}")
    block, side, slots = chance.choice(list(canonical_positions(table)))
    row = block * table.index.slots + chance.choice(slots.tolist())

    def change(columns: list[Column]) -> None:
        columns[side][row] = 0 if columns[side][row] else 1

    rewrite(table.path, change)
    verdict = built.verdict(name, metric, tmp_path)
    assert not verdict.sound
    assert isinstance(verdict.fault, WrongValue)
    # The wrong value contradicts itself, and at most the positions before it.
    assert 1 <= verdict.contradictions < 100


def test_a_wrong_value_of_a_smaller_table_is_found(
    built: Built, metric: Metric, tmp_path: Path
) -> None:
    copied(built, tmp_path)
    smaller = open_xiangqi(tmp_path, f"xiangqi:KPvKB.{metric}")

    def change(columns: list[Column]) -> None:
        for column in columns:
            column[:] = np.where(column < 0, 0, column)

    rewrite(smaller.path, change)
    larger = open_xiangqi(tmp_path, f"xiangqi:KPvKAB.{metric}")
    digest = Table(smaller.path).digest
    rewrite(larger.path, smaller={**larger.smaller, "xiangqi:KPvKB": digest})
    assert isinstance(built.verdict("xiangqi:KPvKAB", metric, tmp_path).fault, WrongValue)
