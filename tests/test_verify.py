"""Facts about verification: sound tables pass, and whatever is altered is found and named."""

import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, pairwise, permutations, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import chess
import numpy as np
import pyarrow as pa
import pytest
from building import publish
from numpy.typing import NDArray
from terminal import kingpair

from coordinator.build import build
from coordinator.request import Request
from workers import _kernels
from workers import verify as verification
from workers.errors import DamagedTable, ForeignTable, MissingTableError
from workers.geometry import PAIRS, TURN, steps
from workers.material import Material
from workers.metric import Metric
from workers.painting import fen_of
from workers.probe import open_tablebase
from workers.table import BLOCK, COLUMNS, PLAIN, Identity, Table
from workers.threads import Threads
from workers.verdict import Miscounted, Verdict, Wrong, worded
from workers.verify import verify
from workers.writing import encode, schema_of

# Like men on either side, forced mates, equal sides, captures after which the weaker side is the
# stronger, and forced conversions.
BUILT = ("KNNvK", "KBBvK", "KRRvK", "KQvKQ", "KRvKN", "KQvKR", "KNvKN")
TABLES = ("KQvK", "KRvK", "KBvK", "KNvK", *BUILT)

Column = NDArray[np.int16]
Columns = list[Column]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("verified")
    for metric in Metric:
        materials = tuple(map(Material.parse, BUILT))
        build(Request(materials, out, (metric,), threads=2), lambda event: None)
    return out


@pytest.fixture(scope="module")
def pool() -> Iterator[Threads]:
    with Threads(2) as threads:
        yield threads


@pytest.fixture
def out(built: Path, tmp_path: Path) -> Path:
    """A directory of one's own with all tables."""
    for path in built.glob("*.arrow"):
        shutil.copy(path, tmp_path)
    return tmp_path


def verified(out: Path, name: str, threads: Threads, metric: str = "dtc") -> Verdict:
    opened: dict[Material, Table] = {}

    def find(material: Material) -> Table:
        return opened.setdefault(material, Table(out / f"{material}.{metric}.arrow"))

    return verify(find(Material.parse(name)), find, threads)


# Tables that are consistent as files, and altered


def setting(side: int, rows: int | list[int], value: int) -> Callable[[Columns], None]:
    def change(columns: Columns) -> None:
        columns[side][rows] = value

    return change


def columns_of(table: Table) -> Columns:
    return [
        np.concatenate([table.values(pair, side) for pair in range(len(PAIRS))]).astype(np.int16)
        for side in range(len(COLUMNS))
    ]


def rewrite(
    out: Path,
    name: str,
    values: Callable[[Columns], Any] = lambda columns: None,
    counts: Callable[[dict[str, Any]], Any] = lambda counts: None,
    metric: str = "dtc",
    dtype: type[np.signedinteger[Any]] | None = None,
    digests: Mapping[int, str] = MappingProxyType({}),
) -> None:
    """Write a table again with other values or counts, all digests in order but those given."""
    table = Table(out / f"{name}.{metric}.arrow")
    columns, stated = columns_of(table), table.counts
    values(columns)
    counts(stated)
    identity = Identity(table.material, table.metric, table.smaller)
    kind = np.dtype(dtype or table.dtype)
    white, black = (column.astype(kind) for column in columns)
    part = encode(schema_of(identity, kind), white, black, PLAIN)
    for place, digest in digests.items():
        part.blocks.digests[place] = digest
    publish(table.path, identity, kind, [part], stated)


def everything(column: Column) -> NDArray[np.bool_]:
    return np.ones(column.shape, np.bool_)


def legal_rows(
    path: Path, side: int, count: int = 1, wanted: Callable[[Column], Any] = everything
) -> list[int]:
    """Some rows that hold a position and a value as wanted, by another program's rules of chess."""
    table = Table(path)
    rows = np.flatnonzero(wanted(columns_of(table)[side]))
    np.random.default_rng(len(rows)).shuffle(rows)
    sound = (
        row
        for row in map(int, rows)
        if is_canonical(table.material, row) and has_position(table.material, row, side)
    )
    return list(islice(sound, count))


def is_canonical(material: Material, row: int) -> bool:
    pair, slot = divmod(row, 64 ** len(material.letters))
    count = len(material.letters)
    squares = [slot >> 6 * (count - 1 - i) & 63 for i in range(count)]
    turned = [int(TURN[4][s]) for s in squares]
    for men in material.like_men:
        for placed in (squares, turned):
            ordered = sorted(placed[i] for i in men)
            if placed is squares and ordered != [placed[i] for i in men]:
                return False
            for man, square in zip(men, ordered, strict=True):
                placed[man] = square
    on_diagonal = all(king % 9 == 0 for king in PAIRS[pair])
    return not on_diagonal or squares <= turned


def has_position(material: Material, row: int, side: int) -> bool:
    pair, slot = divmod(row, 64 ** len(material.letters))
    board = chess.Board(fen_of(material, pair, slot, side))
    return len(board.piece_map()) == material.men and not board.was_into_check()


# What is sound


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("name", TABLES)
def test_sound_tables_are_proved(built: Path, pool: Threads, name: str, metric: Metric) -> None:
    verdict = verified(built, name, pool, metric)
    assert (verdict.fault, verdict.contradictions) == (None, 0)
    table = Table(built / f"{name}.{metric}.arrow")
    assert verdict.rows == 2 * len(PAIRS) * 64 ** len(table.material.letters)
    for side, positions in zip(COLUMNS, (verdict.white, verdict.black), strict=True):
        counts = table.counts[side]
        decided = sum(counts["win"].values()) + sum(counts["loss"].values())
        assert positions == decided + counts["draw"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KRBvKN", "KBBvKN", "KQRvKR", "KNNNvK", "KRvKNN"])
def test_sound_tables_of_five_men_are_proved(tmp_path: Path, pool: Threads, name: str) -> None:
    request = Request((Material.parse(name),), tmp_path, threads=2)
    build(request, lambda event: None)
    assert verified(tmp_path, str(Material.parse(name)), pool).sound


@pytest.mark.parametrize("name", ["KNNvK", "KRvKN"])
def test_the_type_of_a_column_does_not_matter(out: Path, pool: Threads, name: str) -> None:
    rewrite(out, name, dtype=np.int16)
    assert Table(out / f"{name}.dtc.arrow").dtype == np.int16
    assert verified(out, name, pool).sound


def test_wide_keys_prove_what_narrow_ones_prove(
    out: Path, pool: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = legal_rows(out / "KRvKN.dtc.arrow", 0)
    rewrite(out, "KRvKN", setting(0, row, 100))
    narrow = verified(out, "KRvKN", pool)
    monkeypatch.setattr(verification, "NARROW_MAX", -1)
    assert timeless(verified(out, "KRvKN", pool)) == timeless(narrow)
    assert verified(out, "KNNvK", pool).sound


def test_a_walk_holds_all_that_its_king_can_enter() -> None:
    for side in (0, 1):
        walks = _kernels.Verifier.walks(side)
        assert sorted(pair for walk in walks for pair in walk) == list(range(len(PAIRS)))
        assert (len(walks), max(map(len, walks))) == (10, 58)
        for walk in walks:
            assert {step.pair for pair in walk for step in steps(pair, side)} <= set(walk)


@pytest.fixture
def best() -> Iterator[None]:
    """Whatever level a test chooses, the next one finds the best."""
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
def test_all_slots_of_a_position_have_the_key_of_the_one_that_stands_for_it(
    name: str, level: str
) -> None:
    _kernels.use_level(level)
    material, chance = Material.parse(name), np.random.default_rng(1)
    kernel = _kernels.Verifier(list(zip(material.letters, material.sides, strict=True)), False)
    slots = 64 ** len(material.letters)
    values = chance.integers(-100, 100, slots, np.int8)
    for diagonal, side in product((False, True), (0, 1)):
        pair = next(p for p, ks in enumerate(PAIRS) if all(k % 9 == 0 for k in ks) == diagonal)
        keys = np.full(slots, 77, np.uint8)
        kernel.quiet(pair, side, values, keys)
        legal = 0
        for slot in map(int, chance.integers(0, slots, 600)):
            images = images_of(material, slot, diagonal=diagonal)
            value = int(values[min(images)])
            key = 128 if value == 0 else (value + (value > 0)) & 255
            found = {int(keys[image]) for image in images}
            assert found in ({key}, {0}), (pair, side, slot)
            legal += found == {key}
        assert legal > 100


# What is altered


def timeless(verdict: Verdict) -> Verdict:
    return replace(verdict, seconds=0.0)


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("name", TABLES)
def test_a_flipped_bit_in_a_value_is_found_and_named(
    out: Path, pool: Threads, name: str, metric: Metric
) -> None:
    chance, path = random.Random(name), out / f"{name}.{metric}.arrow"
    columns = columns_of(Table(path))
    for side, column in enumerate(COLUMNS):
        (row,) = legal_rows(path, side)
        true = int(columns[side][row])
        said = int(np.int8(true) ^ np.int8(1 << chance.randrange(7)))
        shutil.copy(path, out / "kept")
        rewrite(out, name, setting(side, row, said), metric=metric)
        verdict = verified(out, name, pool, metric)
        shutil.move(out / "kept", path)
        pair, slot = divmod(row, 64 ** (len(name) - 3))
        fen = fen_of(Material.parse(name), pair, slot, side)
        assert verdict.fault == Wrong(fen, column, said, true, row)
        assert verdict.contradictions >= 1
        assert f"{fen}: is {worded(said)}, should be {worded(true)}" in str(verdict.fault)


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
def test_an_altered_value_is_the_one_that_is_named(
    out: Path, pool: Threads, side: int, wanted: Any, change: Any
) -> None:
    path = out / "KRvKN.dtc.arrow"
    (row,) = legal_rows(path, side, wanted=wanted)
    true = int(columns_of(Table(path))[side][row])
    said = change(true)
    rewrite(out, "KRvKN", setting(side, row, said))
    fault = verified(out, "KRvKN", pool).fault
    assert isinstance(fault, Wrong)
    assert (fault.to_move, fault.row) == (COLUMNS[side], row)
    assert (fault.value, fault.expected) == (said, true)


def test_a_forced_conversion_that_is_altered_is_found(out: Path, pool: Threads) -> None:
    """Lost in 0 with moves to play: captures into lost tables, all of them."""
    path = out / "KRRvK.dtc.arrow"
    rows = legal_rows(path, 1, count=200, wanted=lambda v: v == -1)
    row = next(row for row in rows if is_conversion(Table(path).material, row))
    rewrite(out, "KRRvK", setting(1, row, -2))
    fault = verified(out, "KRRvK", pool).fault
    assert isinstance(fault, Wrong)
    assert (fault.row, fault.value, fault.expected) == (row, -2, -1)


def is_conversion(material: Material, row: int) -> bool:
    pair, slot = divmod(row, 64**2)
    board = chess.Board(fen_of(material, pair, slot, 1))
    return any(board.legal_moves) and all(map(board.is_capture, board.legal_moves))


def test_a_row_that_is_no_position_means_nothing(out: Path, pool: Threads) -> None:
    for name in ("KNNvK", "KRvKN"):
        material = Material.parse(name)
        chance, rows = random.Random(name), range(len(PAIRS) * 64**2)
        unused = [
            row
            for row in chance.sample(rows, 400)
            if not (is_canonical(material, row) and has_position(material, row, 0))
        ]
        rewrite(out, name, setting(0, unused, 99))
        assert verified(out, name, pool).sound


def test_it_tells_how_far_it_has_come(built: Path, pool: Threads) -> None:
    shares: list[float] = []
    opened = {name: Table(built / f"{name}.dtc.arrow") for name in ("KRvKN", "KRvK", "KNvK")}
    verify(opened["KRvKN"], lambda material: opened[str(material)], pool, shares.append)
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


# What is miscounted


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
    assert isinstance(fault, Miscounted)
    assert (fault.to_move, fault.figure) == ("white", figure)


# What is damaged, foreign or gone


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
    assert last == -(-len(PAIRS) * 64**2 // BLOCK) - 1
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
        # The schema stands at the beginning too, for whoever reads the file as a stream.
        places["beginning"] = data.index(part)
    for where, at in places.items():
        for bit in range(7):
            flip(path, at + bit, bit)
            with pytest.raises(DamagedTable, match=f"{path}: its {where} "):
                verified(out, "KRvKN", pool)
            path.write_bytes(data)


def test_a_table_built_on_others_is_refused(out: Path, pool: Threads) -> None:
    rewrite(out, "KRvK", setting(0, list(range(100)), 1))
    with pytest.raises(ForeignTable, match=r"KRvKN\.dtc\.arrow: built on another KRvK than"):
        verified(out, "KRvKN", pool)


def test_a_table_whose_smaller_ones_are_gone_is_not_judged(out: Path, pool: Threads) -> None:
    (out / "KRvK.dtc.arrow").unlink()
    with pytest.raises(MissingTableError, match=r"rests on KRvK.*kingpair build KRvK"):
        verified(out, "KRvKN", pool)
    material = Material.parse("KRvKN")
    with open_tablebase(out) as tablebase, pytest.raises(MissingTableError, match="KRvK"):
        verify(tablebase.table(material), tablebase.table, pool)


# The command


def test_the_command_proves_all_tables_of_a_directory(built: Path) -> None:
    done = kingpair("verify", "--all", "--tables", built)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * len(list(built.glob("*.dtc.arrow")))
    assert all(": sound, " in line for line in lines)


def test_the_command_names_what_is_wrong_and_goes_on(out: Path) -> None:
    (row,) = legal_rows(out / "KNNvK.dtc.arrow", 0)
    rewrite(out, "KNNvK", setting(0, row, 77))
    done = kingpair("verify", "KNNvK", "KRvKN", "--tables", out)
    assert done.exit_code == 4
    assert f"row {row} of column white" in done.stderr
    assert "is 77 (win in 77)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "KRvKN dtc: sound" in done.stdout


@pytest.mark.parametrize("words", [(), ("KQvK", "--all")])
def test_the_command_asks_which_tables(built: Path, words: tuple[str, ...]) -> None:
    done = kingpair("verify", *words, "--tables", built)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "name a material, such as KQvKR, or say --all" in done.stderr
