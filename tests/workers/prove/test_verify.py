"""Facts about verification: sound tables pass, and every altered value is found and named."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from verified_tables import (
    TABLES,
    built_by_every_metric,
    columns_of,
    copied,
    has_position,
    is_canonical,
    legal_rows,
    rewrite,
    setting,
    verified,
)

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.board import TURN
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.sweeps import ProofNeeds, SweepShape
from kingpair.workers.number_types import SIDES, Partition, Side, Slot
from kingpair.workers.prove import verify as verification
from kingpair.workers.prove.verdict import Verdict, WrongValue, describe
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.fens import fen_at
from kingpair.workers.table.format import COLUMNS, Table


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


# Sound tables


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("name", TABLES)
def test_sound_tables_are_proved(built: Path, pool: Threads, name: str, metric: Metric) -> None:
    verdict = verified(built, name, pool, metric)
    assert (verdict.fault, verdict.contradictions) == (None, 0)
    table = Table(built / f"{name}.{metric}.arrow")
    assert verdict.rows == 2 * len(TURNED) * 64 ** len(table.material.letters)
    for side, positions in zip(COLUMNS, (verdict.white, verdict.black), strict=True):
        counts = table.counts[side]
        decided = sum(counts["win"].values()) + sum(counts["loss"].values())
        assert positions == decided + counts["draw"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KRBvKN", "KBBvKN", "KQRvKR", "KNNNvK", "KRvKNN"])
def test_sound_tables_of_five_men_are_proved(tmp_path: Path, pool: Threads, name: str) -> None:
    request = BuildRequest(BuildSpec((Material.parse(name),)), tmp_path, threads=2)
    build(request, lambda event: None)
    assert verified(tmp_path, str(Material.parse(name)), pool).sound


@pytest.mark.parametrize("name", ["KNNvK", "KRvKN"])
def test_the_type_of_a_column_does_not_matter(out: Path, pool: Threads, name: str) -> None:
    rewrite(out, name, dtype=np.int16)
    assert Table(out / f"{name}.dtc.arrow").dtype == np.int16
    assert verified(out, name, pool).sound


def test_wide_keys_give_the_same_verdict_as_narrow_ones(
    out: Path, pool: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = legal_rows(out / "KRvKN.dtc.arrow", 0)
    rewrite(out, "KRvKN", setting(0, row, 100))
    narrow = verified(out, "KRvKN", pool)
    monkeypatch.setattr(verification, "NARROW_MAX", -1)
    assert timeless(verified(out, "KRvKN", pool)) == timeless(narrow)
    assert verified(out, "KNNvK", pool).sound


def test_a_walk_has_every_partition_that_its_king_can_enter() -> None:
    for side in SIDES:
        walks = _kernels.Verifier.walks(side)
        assert sorted(pair for walk in walks for pair in walk) == list(range(len(TURNED)))
        assert (len(walks), max(map(len, walks))) == (10, 58)
        for walk in walks:
            assert {
                step.pair for pair in walk for step in TURNED.steps(Partition(pair), side)
            } <= set(walk)


@pytest.fixture
def best() -> Iterator[None]:
    """Resets the instruction set to the best one after a test."""
    yield
    _kernels.use_level(_kernels.levels()[-1])


def images_of(material: Material, slot: int, *, diagonal: bool) -> set[int]:
    """All slots of a partition with the same position: like men exchanged, the board mirrored."""
    count = len(material.letters)
    squares = [slot >> 6 * (count - 1 - i) & 63 for i in range(count)]
    boards = [squares, [int(TURN[4][s]) for s in squares]] if diagonal else [squares]
    kinds = list(zip(material.letters, material.sides, strict=True))
    orders = [o for o in permutations(range(count)) if [kinds[i] for i in o] == kinds]
    return {
        sum(board[man] << 6 * (count - 1 - i) for i, man in enumerate(order))
        for board, order in product(boards, orders)
    }


@pytest.mark.parametrize("level", _kernels.levels())
@pytest.mark.parametrize("name", ["KBBvK", "KRvKN", "KNNvKB", "KQQQvK", "KRvKNN"])
@pytest.mark.usefixtures("best")
def test_all_slots_of_a_position_have_the_key_of_the_canonical_one(name: str, level: str) -> None:
    _kernels.use_level(level)
    material, chance = Material.parse(name), np.random.default_rng(1)
    kernel = _kernels.Verifier(list(zip(material.letters, material.sides, strict=True)), False)
    slots = 64 ** len(material.letters)
    values = chance.integers(-100, 100, slots, np.int8)
    for diagonal, side in product((False, True), SIDES):
        pair = next(
            p for p, ks in enumerate(TURNED.squares) if all(k % 9 == 0 for k in ks) == diagonal
        )
        keys = np.full(slots, 77, np.uint8)
        kernel.quiet(Partition(pair), side, values, keys)
        legal = 0
        for slot in map(int, chance.integers(0, slots, 600)):
            images = images_of(material, slot, diagonal=diagonal)
            value = int(values[min(images)])
            key = 128 if value == 0 else (value + (value > 0)) & 255
            found = {int(keys[image]) for image in images}
            assert found in ({key}, {0}), (pair, side, slot)
            legal += found == {key}
        assert legal > 100


# Altered values


def timeless(verdict: Verdict) -> Verdict:
    return replace(verdict, seconds=0.0)


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("name", TABLES)
def test_a_flipped_bit_in_a_value_is_found_and_named(
    out: Path, pool: Threads, name: str, metric: Metric
) -> None:
    chance, path = random.Random(name), out / f"{name}.{metric}.arrow"
    columns = columns_of(Table(path))
    for side, column in zip(SIDES, COLUMNS, strict=True):
        (row,) = legal_rows(path, side)
        true = int(columns[side][row])
        said = int(np.int8(true) ^ np.int8(1 << chance.randrange(7)))
        shutil.copy(path, out / "kept")
        rewrite(out, name, setting(side, row, said), metric=metric)
        verdict = verified(out, name, pool, metric)
        shutil.move(out / "kept", path)
        pair, slot = divmod(row, 64 ** (len(name) - 3))
        fen = fen_at(Material.parse(name), pair, slot, side)
        assert verdict.fault == WrongValue(fen, column, said, true, row)
        assert verdict.contradictions >= 1
        assert f"{fen}: is {describe(said)}, should be {describe(true)}" in str(verdict.fault)


@pytest.mark.parametrize(
    ("side", "wanted", "change"),
    [
        (0, lambda v: v == 0, lambda v: 5),  # a draw called a win
        (0, lambda v: v > 2, lambda v: 0),  # a win called a draw
        (0, lambda v: v > 2, lambda v: v - 1),  # a depth off by one
        (0, lambda v: v > 2, lambda v: v + 1),
        (0, lambda v: v > 2, lambda v: -v),  # a win called a loss
        (1, lambda v: v < -2, lambda v: v + 1),
        (1, lambda v: v < -2, lambda v: v - 1),
    ],
)
def test_verification_names_the_altered_value(
    out: Path, pool: Threads, side: Side, wanted: Any, change: Any
) -> None:
    path = out / "KRvKN.dtc.arrow"
    (row,) = legal_rows(path, side, wanted=wanted)
    true = int(columns_of(Table(path))[side][row])
    said = change(true)
    rewrite(out, "KRvKN", setting(side, row, said))
    fault = verified(out, "KRvKN", pool).fault
    assert isinstance(fault, WrongValue)
    assert fault.kind == "wrong"
    assert (fault.to_move, fault.row) == (COLUMNS[side], row)
    assert (fault.value, fault.expected) == (said, true)


def test_an_altered_forced_conversion_is_found(out: Path, pool: Threads) -> None:
    """Lost in 0 with moves to play: captures into lost tables, all of them."""
    path = out / "KRRvK.dtc.arrow"
    rows = legal_rows(path, 1, count=200, wanted=lambda v: v == -1)
    row = next(row for row in rows if is_conversion(Table(path).material, row))
    rewrite(out, "KRRvK", setting(1, row, -2))
    fault = verified(out, "KRRvK", pool).fault
    assert isinstance(fault, WrongValue)
    assert (fault.row, fault.value, fault.expected) == (row, -2, -1)


def is_conversion(material: Material, row: int) -> bool:
    pair, slot = divmod(row, 64**2)
    board = chess.Board(fen_at(material, pair, Slot(slot), 1))
    return any(board.legal_moves) and all(map(board.is_capture, board.legal_moves))


def test_verification_ignores_rows_without_a_position(out: Path, pool: Threads) -> None:
    for name in ("KNNvK", "KRvKN"):
        material = Material.parse(name)
        chance, rows = random.Random(name), range(len(TURNED) * 64**2)
        unused = [
            row
            for row in chance.sample(rows, 400)
            if not (is_canonical(material, row) and has_position(material, row, 0))
        ]
        rewrite(out, name, setting(0, unused, 99))
        assert verified(out, name, pool).sound


def test_verification_reports_its_progress(built: Path, pool: Threads) -> None:
    shares: list[float] = []
    opened = {name: Table(built / f"{name}.dtc.arrow") for name in ("KRvKN", "KRvK", "KNvK")}
    verify(opened["KRvKN"], lambda key: opened[str(key.material)], pool, shares.append)
    assert shares == sorted(shares)
    assert (len(shares), shares[-1]) == (40, 1.0)
    assert max(b - a for a, b in pairwise([0.0, *shares])) < 0.04


def test_the_verdict_is_the_same_for_any_number_of_threads(out: Path) -> None:
    rows = legal_rows(out / "KNNvK.dtc.arrow", 0, count=40)
    rewrite(out, "KNNvK", setting(0, rows, 3))
    verdicts = set()
    for count in (1, 2, 3):
        with Threads(count) as threads:
            verdicts.add(timeless(verified(out, "KNNvK", threads)))
    assert len(verdicts) == 1
    assert verdicts.pop().contradictions >= len(rows)


@pytest.mark.parametrize("files", [8, 4, 1])
def test_the_verdict_is_the_same_in_small_steps(
    files: int, out: Path, pool: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = SweepShape(files, 1)
    monkeypatch.setattr(ProofNeeds, "shape_within", lambda *_: steps)
    sound = verified(out, "KQvKR", pool, room=0)
    assert timeless(sound) == timeless(verified(out, "KQvKR", pool))
    rewrite(out, "KQvKR", setting(0, legal_rows(out / "KQvKR.dtc.arrow", 0, count=9), 3))
    wrong = verified(out, "KQvKR", pool, room=0)
    assert wrong.fault is not None
    assert timeless(wrong) == timeless(verified(out, "KQvKR", pool))


@pytest.mark.slow
@pytest.mark.usefixtures("best")
@pytest.mark.parametrize("narrow_max", [verification.NARROW_MAX, -1])
def test_the_verdict_is_the_same_at_every_level(
    out: Path, pool: Threads, monkeypatch: pytest.MonkeyPatch, narrow_max: int
) -> None:
    monkeypatch.setattr(verification, "NARROW_MAX", narrow_max)
    for name in ("KNNvK", "KQvKR"):
        for altered in (False, True):
            if altered:
                rewrite(out, name, setting(0, legal_rows(out / f"{name}.dtc.arrow", 0, 40), 3))
            verdicts = set()
            for level in _kernels.levels():
                _kernels.use_level(level)
                verdicts.add(timeless(verified(out, name, pool)))
            assert len(verdicts) == 1
            assert verdicts.pop().sound is not altered
