"""Facts about the table: its format is what the docstring says, damage is found, all or nothing."""

import doctest
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import chess
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pytest
import xxhash
from building import publish
from conftest import BUILT
from full_disks import files_end_at

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers import _kernels
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.material_index import rows_of
from kingpair.workers.number_types import SIDES
from kingpair.workers.table import format as table
from kingpair.workers.table.format import BLOCK, Compression, Table
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.value import Values
from kingpair.workers.table.writing import EncodedBlocks, encode, table_schema

KQVK = Material.parse("KQvK")
IDENTITY = TableIdentity(TableKey(KQVK, Metric.DTC), {})
FOUR_MEN = "KRvKN.dtc.arrow"
THREE_MEN = "KRvK.dtc.arrow"


# The docstring


@cache
def steps() -> dict[str, str]:
    """The lines of the worked example, by their first word."""
    text = (table.__doc__ or "").partition("A worked example")[2]
    lines = re.findall(r"^    (\w+) {2,}(.+)$", text, re.MULTILINE)
    (asked,) = re.findall(r"^In which row is (.+),", text, re.MULTILINE)
    return {"position": asked, **dict(lines)}


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"= (\d+)", text)]


def named(text: str) -> dict[str, str]:
    """The men of "White Kh8 Qh5, Black Kc6 Rd8": square by letter, White's in capitals."""
    white, black = re.findall(r"(?:White|Black)((?: [KQRBN][a-h][1-8])+)", text)
    men = white.split() + [man[0].lower() + man[1:] for man in black.split()]
    return {man[0]: man[1:] for man in men}


def standing(board: chess.Board) -> dict[str, str]:
    return {man.symbol(): chess.square_name(at) for at, man in board.piece_map().items()}


def test_the_worked_example_swaps_the_colours() -> None:
    board = chess.Board(steps()["position"])
    swapped = board.mirror().transform(chess.flip_vertical)
    assert standing(swapped) == named(steps()["colours"])
    assert steps()["colours"].endswith(f"{chess.COLOR_NAMES[not board.turn].title()} to move")
    assert steps()["table"] == f"KQvKR.dtc.arrow, column {chess.COLOR_NAMES[not board.turn]}"


def test_the_worked_example_turns_the_board() -> None:
    men = named(steps()["colours"])
    turned = {
        man: chess.square_name(chess.parse_square(square) ^ 63) for man, square in men.items()
    }
    assert turned == named(steps()["symmetry"])


def test_the_worked_example_counts_the_pairs() -> None:
    kings, (pair,) = named(steps()["symmetry"]), re.findall(r"pair (\d+)$", steps()["pair"])
    assert chess.parse_square(kings["K"]) == 0
    lower = [b for b in chess.SQUARES if chess.square_rank(b) <= chess.square_file(b)]
    apart = [b for b in lower if chess.square_distance(0, b) > 1]
    assert apart[int(pair)] == chess.parse_square(kings["k"])


def test_the_worked_example_finds_its_row_and_its_value(tables: Path) -> None:
    men, (row,) = named(steps()["symmetry"]), numbers(steps()["row"])
    assert numbers(steps()["men"]) == [chess.parse_square(men[man]) for man in ("r", "Q")]
    assert eval(steps()["row"].partition("=")[0]) == row
    name, column = steps()["table"].split(", column ")
    value = pa.ipc.open_file(tables / name).read_all()[column][row].as_py()
    assert value == int(steps()["value"].partition(":")[0])
    with open_tablebase(tables) as tablebase:
        assert tablebase.probe_dtc(steps()["position"]) == value


def test_the_worked_example_finds_its_block(tables: Path) -> None:
    (row,) = numbers(steps()["row"])
    row_of_block, size, (block,) = (
        *re.findall(r"\d+", steps()["block"])[:2],
        numbers(steps()["block"]),
    )
    assert (int(row_of_block), int(size), block) == (row, BLOCK, row // BLOCK)
    with pa.ipc.open_file(tables / "KQvKR.dtc.arrow") as reader:
        digest = reader.metadata[b"kingpair.blocks"][:16].decode()
    read = Table(tables / "KQvKR.dtc.arrow").block(block, 0)
    assert digest == xxhash.xxh3_64_hexdigest(read.tobytes())


def test_the_docstring_runs(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tables)
    assert doctest.testmod(table) == doctest.TestResults(failed=0, attempted=2)


# Any Arrow reader


@pytest.mark.parametrize("name", BUILT)
def test_any_arrow_reader_opens_a_table(tables: Path, name: str) -> None:
    path = tables / f"{name}.dtc.arrow"
    whole = pa.ipc.open_file(path).read_all()
    whole.validate(full=True)
    assert whole.num_rows == rows_of(Material.parse(name)) == 462 * 64**2
    assert whole.schema.names == ["white", "black"]
    assert whole.schema.types == [pa.int8(), pa.int8()]
    assert not any(field.nullable for field in whole.schema)
    assert pyarrow.dataset.dataset(path, format="arrow").to_table().equals(whole)


def test_batches_hold_65536_rows(tables: Path) -> None:
    with pa.ipc.open_file(tables / FOUR_MEN) as reader:
        sizes = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    assert set(sizes[:-1]) == {65536}
    assert sizes[-1] == 462 * 64**2 % 65536


def test_the_metadata_names_the_table_and_its_smaller_tables(tables: Path) -> None:
    with pa.ipc.open_file(tables / FOUR_MEN) as reader:
        assert set(reader.schema.metadata) == {b"kingpair"}
        assert set(reader.metadata) == {
            b"kingpair.layout",
            b"kingpair.counts",
            b"kingpair.blocks",
            b"kingpair.digest",
            b"kingpair.pieces",
            b"kingpair.seal",
        }
        assert reader.metadata[b"kingpair.layout"] == b"2"
        identity = json.loads(reader.schema.metadata[b"kingpair"])
    smaller = {name: Table(tables / f"{name}.dtc.arrow").digest for name in ("KNvK", "KRvK")}
    assert identity == {
        "format": 1,
        "index": "462 king pairs x 64^m",
        "material": "KRvKN",
        "metric": "dtc",
        "smaller": smaller,
    }


def test_the_digests_can_be_recomputed(tables: Path) -> None:
    with pa.ipc.open_file(tables / FOUR_MEN) as reader:
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        identity, footer = reader.schema.metadata[b"kingpair"], reader.metadata
    blocks = "".join(
        xxhash.xxh3_64_hexdigest(column.to_numpy().tobytes())
        for batch in batches
        for column in batch.columns
    ).encode()
    assert footer[b"kingpair.blocks"] == blocks
    parts = (identity, footer[b"kingpair.counts"], blocks)
    each = b"".join(blake2b(part, digest_size=16).digest() for part in parts)
    assert footer[b"kingpair.digest"].decode() == blake2b(each, digest_size=16).hexdigest()


def test_the_digests_of_the_bytes_of_a_file_can_be_recomputed(tables: Path) -> None:
    """The batches of a file, found by reading one Arrow message after the other."""
    data = (tables / FOUR_MEN).read_bytes()
    footer, stream = pa.ipc.open_file(pa.py_buffer(data)).metadata, pa.BufferReader(data[8:])
    ends = []
    with suppress(EOFError):
        while pa.ipc.read_message(stream):
            ends.append(8 + stream.tell())
    pieces = [data[a:b] for a, b in pairwise([0, *ends])]
    assert footer[b"kingpair.pieces"].decode() == "".join(map(xxhash.xxh3_64_hexdigest, pieces))
    seal, end = footer[b"kingpair.seal"], data[ends[-1] :]
    assert end.count(seal) == 1
    assert seal.decode() == xxhash.xxh3_128_hexdigest(end.replace(seal, b"0" * 32))


def unused(to_move: chess.Color) -> Iterator[tuple[int, int]]:
    """Pairs and squares at which a rook of KRvK makes no position, off the diagonal."""
    for pair, (white, black) in enumerate(TURNED.squares):
        if white % 9 == 0 and black % 9 == 0:
            continue
        for rook in chess.SQUARES:
            board = chess.Board(None)
            board.set_piece_at(rook, chess.Piece(chess.ROOK, chess.WHITE))
            board.set_piece_at(white, chess.Piece(chess.KING, chess.WHITE))
            board.set_piece_at(black, chess.Piece(chess.KING, chess.BLACK))
            board.turn = to_move
            if rook in (white, black) or board.was_into_check():
                yield pair, rook


@pytest.mark.parametrize("column", ["white", "black"])
def test_a_row_without_a_position_repeats_the_row_before(tables: Path, column: str) -> None:
    values = pa.ipc.open_file(tables / THREE_MEN).read_all()[column].to_numpy().reshape(462, 64)
    for pair, rook in unused(column == "white"):
        assert values[pair, rook] == (values[pair, rook - 1] if rook else 0)


# The same bytes


def digests(directory: Path) -> dict[str, str]:
    return {path.name: blake2b(path.read_bytes()).hexdigest() for path in directory.glob("*.arrow")}


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bytes_do_not_depend_on_the_number_of_threads(
    tables: Path, tmp_path: Path, threads: int
) -> None:
    build(
        BuildRequest(BuildSpec((Material.parse("KRvKN"),)), tmp_path, threads=threads),
        lambda event: None,
    )
    ours, theirs = digests(tmp_path), digests(tables)
    assert ours == {name: theirs[name] for name in ours}


def test_bytes_do_not_depend_on_the_instruction_set(
    tables: Path, tmp_path: Path, level: str
) -> None:
    assert _kernels.level() == level
    build(BuildRequest(BuildSpec((Material.parse("KQvKR"),)), tmp_path), lambda event: None)
    ours, theirs = digests(tmp_path), digests(tables)
    assert ours == {name: theirs[name] for name in ours}


@pytest.mark.slow
def test_a_compact_table_is_smaller_and_has_the_same_values(tables: Path, tmp_path: Path) -> None:
    build(
        BuildRequest(BuildSpec((Material.parse("KRvKN"),), compact=True), tmp_path),
        lambda event: None,
    )
    compact, usual = Table(tmp_path / FOUR_MEN), Table(tables / FOUR_MEN)
    assert compact.bytes < usual.bytes
    assert compact.digest == usual.digest


@pytest.mark.slow
def test_bytes_of_a_table_of_many_chunks_depend_on_its_values_alone(tmp_path: Path) -> None:
    """Five men: partitions go to threads 16 at a time."""
    before, found = _kernels.level(), []
    try:
        for threads, level in [(2, before), *((3, level) for level in _kernels.levels())]:
            _kernels.use_level(level)
            (tmp_path / "KRRvKN.dtc.arrow").unlink(missing_ok=True)
            build(
                BuildRequest(BuildSpec((Material.parse("KRRvKN"),)), tmp_path, threads=threads),
                lambda event: None,
            )
            found.append(digests(tmp_path))
    finally:
        _kernels.use_level(before)
    assert all(digest == found[0] for digest in found)


# Publication


def column(seed: int, dtype: np.dtype[np.int8] | np.dtype[np.int16]) -> Values:
    limits = np.iinfo(dtype)
    chosen: Values = np.random.default_rng(seed).integers(
        limits.min, limits.max, rows_of(KQVK), dtype
    )
    return chosen


def part(dtype: np.dtype[np.int8] | np.dtype[np.int16], seed: int = 0) -> EncodedBlocks:
    packing = Compression(level=3, blocks=1)
    return encode(
        table_schema(IDENTITY, dtype), column(seed, dtype), column(seed + 1, dtype), packing
    )


@pytest.mark.parametrize("dtype", [np.dtype(np.int8), np.dtype(np.int16)], ids=str)
def test_a_published_table_is_read_back(
    tmp_path: Path, dtype: np.dtype[np.int8] | np.dtype[np.int16]
) -> None:
    path = tmp_path / IDENTITY.key.file_name
    publish(path, IDENTITY, dtype, [part(dtype)], {"any": "counts"})
    read = Table(path)
    assert read.dtype == dtype
    assert read.counts == {"any": "counts"}
    for side in SIDES:
        whole = np.concatenate([read.values(pair, side) for pair in range(462)])
        assert np.array_equal(whole, column(side, dtype))
        assert np.array_equal(read.block(0, side), column(side, dtype)[:BLOCK])


def only_the_old_one(path: Path, old: bytes) -> bool:
    return list(path.parent.iterdir()) == [path] and path.read_bytes() == old


def test_a_part_that_fails_leaves_the_old_table(tmp_path: Path) -> None:
    path, dtype = tmp_path / IDENTITY.key.file_name, np.dtype(np.int8)
    publish(path, IDENTITY, dtype, [part(dtype)], {})
    old = path.read_bytes()

    def failing() -> Iterator[EncodedBlocks]:
        yield part(dtype, 5)
        raise RuntimeError("a chunk that could not be painted")

    with pytest.raises(RuntimeError, match="could not be painted"):
        publish(path, IDENTITY, dtype, failing(), {})
    assert only_the_old_one(path, old)


@pytest.mark.parametrize("room", [0, 5, 3000, 50000])
def test_a_full_disk_leaves_the_old_table(tmp_path: Path, room: int) -> None:
    path, dtype = tmp_path / IDENTITY.key.file_name, np.dtype(np.int8)
    publish(path, IDENTITY, dtype, [part(dtype)], {})
    old = path.read_bytes()
    with files_end_at(room), pytest.raises(CannotBuild, match="make room or choose") as refused:
        publish(path, IDENTITY, dtype, [part(dtype, 5)], {})
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert only_the_old_one(path, old)


def test_a_new_table_replaces_the_old_one_and_its_remains(tmp_path: Path) -> None:
    path, dtype = tmp_path / IDENTITY.key.file_name, np.dtype(np.int8)
    path.with_name(path.name + ".partial").write_bytes(b"left by a crash" * 100000)
    publish(path, IDENTITY, dtype, [part(dtype)], {})
    fresh = tmp_path / "fresh" / path.name
    fresh.parent.mkdir()
    publish(fresh, IDENTITY, dtype, [part(dtype)], {})
    assert path.read_bytes() == fresh.read_bytes()
    assert not path.with_name(path.name + ".partial").exists()
