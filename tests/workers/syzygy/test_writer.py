"""Facts about the Syzygy files that we write: others read from them what the originals say."""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import Any, cast

import chess.syzygy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from shared_tables import copied_closure, proved
from syzygy_files import GOLDEN, by_oracle, by_ours, drawn

from kingpair.workers import _kernels
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import (
    Cancelled,
    CannotBuild,
    DamagedTable,
    ForeignTable,
    MissingTableError,
)
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.study.syzygy_compare import compare, has_double_step_beside_enemy
from kingpair.workers.study.syzygy_export import (
    columns_from,
    export_syzygy,
    interruptible_pool,
    is_sound,
)
from kingpair.workers.syzygy.arrangement import arrangements
from kingpair.workers.syzygy.coding import FREE
from kingpair.workers.syzygy.distance import distance_of
from kingpair.workers.syzygy.file import SyzygyFile
from kingpair.workers.syzygy.layout import BLACK_TO_MOVE, CHECKSUM, FileKind
from kingpair.workers.syzygy.numbering import numbering
from kingpair.workers.syzygy.prober import SyzygyTables
from kingpair.workers.syzygy.source import Pause, ResultColumns, destinations, no_pause, positions
from kingpair.workers.syzygy.writer import ANY_DISTANCE, PLIES, RESULT_SHIFT
from kingpair.workers.table.directory import open_table
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey

WRITTEN = ("KQvK", "KRvK", "KBvK", "KPvK", "KQvKQ", "KRvKB", "KQQvK")
RESULTS_IN_ORDER = (2, -2, 1, -1)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of tables, with Syzygy files made of them in its folder `syzygy`."""
    directory = tmp_path_factory.mktemp("syzygy")
    copied_closure(proved(WRITTEN, Metric.DTZ), directory, *WRITTEN, metric=Metric.DTZ)
    exported(directory, directory / "syzygy", *WRITTEN)
    return directory


def exported(tables: Path, to: Path, *names: str, threads: int = 2) -> list[bool]:
    """Whether each file was written."""
    materials = [Material.parse(name) for name in names]
    with open_tablebase(tables) as tablebase:
        return [each.written for each in export_syzygy(tablebase.table, materials, to, threads)]


@pytest.mark.parametrize("name", WRITTEN)
def test_python_chess_reads_from_ours_what_the_originals_say(ours: Path, name: str) -> None:
    chance, folder = random.Random(name), str(ours / "syzygy")
    tables = SyzygyTables(folder)
    with (
        chess.syzygy.open_tablebase(folder) as found,
        chess.syzygy.open_tablebase(str(GOLDEN)) as original,
    ):
        for board in (drawn(name, chance) for _ in range(200)):
            assert by_oracle(found, board) == by_oracle(original, board), board.fen()
            assert by_ours(tables, board) == by_oracle(original, board), board.fen()


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("of", ["ours", "original"])
def test_every_value_is_that_of_our_table_or_free(ours: Path, name: str, of: str) -> None:
    folder = ours / "syzygy" if of == "ours" else GOLDEN

    columns = ResultColumns(lambda each: open_table(ours / TableKey(each, Metric.DTZ).file_name))
    for kind in FileKind:
        file = SyzygyFile(folder / f"{name}{kind.value}")
        for place, table in (each for tables in file.tables for each in enumerate(tables)):
            has_both = kind is FileKind.RESULTS
            side = place if has_both else table.coding.flags & BLACK_TO_MOVE
            results, distances = (np.empty(table.size, np.uint16) for _ in range(2))
            source = positions(destinations(table.men, columns), table.men, table.numbering)
            source.read(side, 0, results, distances)
            values = table.read(0, table.size)
            if kind is FileKind.RESULTS:
                assert (values[results < FREE] == results[results < FREE]).all()
                assert (values[results >= FREE] <= results[results >= FREE] - FREE).all()
            else:
                assert_distances(table, values, distances)


def assert_distances(table, values, distances) -> None:  # type: ignore[no-untyped-def]
    needed = distances != ANY_DISTANCE
    pairs = np.unique(np.stack([values[needed], distances[needed]]), axis=1)
    for value, distance in pairs.T.tolist():
        found = distance_of(table, value, RESULTS_IN_ORDER[distance >> RESULT_SHIFT])
        assert found is not None
        assert found.least <= max(1, distance & PLIES) <= found.most


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KRPvK", "KPvKP"])
def test_files_with_pawns_say_what_our_tables_do(name: str, tmp_path: Path) -> None:
    """With pawns on both sides a right to capture en passant is no value of a file."""
    tables, chance = proved([name], Metric.DTZ), random.Random(name)
    needed = [material for wave in closure([Material.parse(name)]) for material in wave]
    exported(tables, tmp_path, *map(str, needed))
    with (
        open_tablebase(tables) as tablebase,
        ThreadPoolExecutor(2) as pool,
        chess.syzygy.open_tablebase(str(tmp_path)) as found,
    ):
        for kind in FileKind:
            compared = compare(tablebase.table, tmp_path / f"{name}{kind.value}", pool)
            assert compared.differences == 0, compared.first
        for board in (drawn(name, chance) for _ in range(1000)):
            plies = tablebase.probe_dtz(board.fen())
            assert found.probe_wdl(board) == 2 * np.sign(plies), board.fen()
            theirs = found.probe_dtz(board)
            assert plies == 0 or abs(plies) - abs(theirs) in (0, 1), board.fen()


def test_the_bytes_do_not_depend_on_the_number_of_threads(ours: Path, tmp_path: Path) -> None:
    exported(ours, tmp_path, "KRvK", "KQvKQ", threads=5)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (ours / "syzygy" / path.name).read_bytes()


def test_the_checksum_is_that_of_the_original_files(ours: Path) -> None:
    for path in (*GOLDEN.iterdir(), *(ours / "syzygy").iterdir()):
        data = np.fromfile(path, np.uint8)
        assert _kernels.syzygy_checksum(data[:-CHECKSUM]) == data[-CHECKSUM:].tobytes()
        assert is_sound(path)


@pytest.mark.parametrize("name", WRITTEN)
def test_ours_are_hardly_larger_than_the_originals(ours: Path, name: str) -> None:
    sizes = [
        sum((folder / f"{name}{kind.value}").stat().st_size for kind in FileKind)
        for folder in (ours / "syzygy", GOLDEN)
    ]
    assert sizes[0] <= 1.2 * sizes[1]


def test_an_export_goes_on_where_it_stopped(ours: Path, tmp_path: Path) -> None:
    assert exported(ours, tmp_path, "KRvK") == [True, True]
    content = (tmp_path / "KRvK.rtbz").read_bytes()
    (tmp_path / "KRvK.rtbz").write_bytes(content[:-64])
    assert exported(ours, tmp_path, "KRvK", "KQvK") == [False, True, True, True]
    assert (tmp_path / "KRvK.rtbz").read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 4


def test_a_foreign_file_is_left_alone(ours: Path, tmp_path: Path) -> None:
    (tmp_path / "KRvK.rtbz").write_bytes(content := (GOLDEN / "KRvK.rtbw").read_bytes())
    with pytest.raises(ForeignTable, match=r"KRvK\.rtbz: not a Syzygy file of this kind"):
        exported(ours, tmp_path, "KRvK")
    assert (tmp_path / "KRvK.rtbz").read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["KRvK.rtbw", "KRvK.rtbz"]


def test_an_interrupted_export_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    def interrupted(material: Material, metric: Metric) -> Table:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(export_syzygy(interrupted, [Material.parse("KRvK")], tmp_path, 2))
    assert list(tmp_path.iterdir()) == []


def test_threads_of_an_interrupted_export_end() -> None:
    def work(pause: Pause) -> None:
        while True:
            pause()

    with suppress(KeyboardInterrupt), interruptible_pool(2) as (pool, pause):
        found = [pool.submit(work, pause) for _ in range(5)]
        raise KeyboardInterrupt
    assert all(isinstance(each.exception(), Cancelled) for each in found)


def test_threads_read_each_column_once(ours: Path) -> None:
    read: list[Material] = []

    with open_tablebase(ours) as tablebase, ThreadPoolExecutor(4) as pool:

        def opened(material: Material) -> Table:
            read.append(material)
            return tablebase.table(material, Metric.DTZ)

        columns, begin = ResultColumns(opened), Barrier(4)

        def results(_: int) -> object:
            begin.wait()
            return columns.results(Material.parse("KQvKQ"), 0)

        first, *others = pool.map(results, range(4))
    assert all(each is first for each in others)
    assert len(read) == 1


def test_without_the_tables_nothing_is_written(ours: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match=r"build KRRvK --metric dtz"):
        exported(ours, tmp_path, "KRRvK")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_made_is_named(ours: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotBuild, match=r"cannot write to .*file"):
        exported(ours, tmp_path / "file", "KRvK")


# ---- the parts ----

# Bytes, because hypothesis takes much longer to draw numbers one by one.
VALUES = st.binary(min_size=2, max_size=400).map(
    lambda drawn: [*(byte % 6 for byte in drawn), drawn[0] % 6 + 1]
)


@pytest.mark.parametrize("name", ["KQvK", "KPvK", "KQvKQ", "KQQvK"])
def test_a_value_does_not_depend_on_what_is_read_with_it(ours: Path, name: str) -> None:
    """The kernel reads many positions at once where they differ in the square of one man."""
    material = Material.parse(name)
    with open_tablebase(ours) as tablebase:
        columns = columns_from(tablebase.table)
        for men, order in arrangements(material):
            numbers = numbering(men, order)
            source = positions(destinations(men, columns), men, numbers)
            for side in (0, 1):
                begin = numbers.size // 3
                whole = np.empty((2, 300), np.uint16)
                single = np.empty((2, 300), np.uint16)
                source.read(side, begin, *whole)
                for i in range(300):
                    source.read(side, begin + i, *single[:, i : i + 1])
                assert np.array_equal(whole, single), (men, order, side)


@pytest.mark.parametrize("name", ["KRvK", "KPvK", "KQQvK", "KRvKB"])
def test_parts_make_up_all_values(ours: Path, name: str) -> None:
    """All values are read in another order than that of their numbers."""
    material = Material.parse(name)
    with open_tablebase(ours) as tablebase:
        columns = columns_from(tablebase.table)
        for men, order in list(arrangements(material))[::5]:
            numbers = numbering(men, order)
            source = positions(destinations(men, columns), men, numbers)
            for side in (0, 1):
                in_order = np.empty((2, numbers.size), np.uint16)
                in_parts = np.zeros_like(in_order)
                source.read(side, 0, *in_order)
                for part in range(7):
                    source.read_part(side, part, 7, *in_parts)
                assert np.array_equal(in_order, in_parts), (men, order, side)


class WideTable:
    """A table whose plies are not bytes, as those of long endgames."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.dtype = np.dtype(np.int16)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def block(self, block: int, column: int) -> NDArray[np.int16]:
        return self._table.block(block, column).astype(np.int16)


@pytest.mark.parametrize("name", ["KPvK", "KQvKQ", "KRvKB"])
def test_wide_plies_are_read_as_bytes_of_plies_are(ours: Path, name: str) -> None:
    men, order = next(arrangements(Material.parse(name)))
    numbers = numbering(men, order)
    with open_tablebase(ours) as tablebase:
        narrow = columns_from(tablebase.table)
        wide = columns_from(lambda *key: cast(Table, WideTable(tablebase.table(*key))))
        assert narrow.are_plies(Material.parse(name))
        assert not wide.are_plies(Material.parse(name))
        for side in (0, 1):
            found = np.zeros((2, 2, numbers.size), np.uint16)
            for columns, values in zip((narrow, wide), found, strict=True):
                positions(destinations(men, columns), men, numbers).read(side, 0, *values)
            assert np.array_equal(*found)


def test_a_part_has_room_for_all_values(ours: Path) -> None:
    with open_tablebase(ours) as tablebase:
        men, order = next(arrangements(Material.parse("KRvK")))
        numbers = numbering(men, order)
        source = positions(destinations(men, columns_from(tablebase.table)), men, numbers)
        room, nothing = np.empty(numbers.size - 1, np.uint16), np.empty(0, np.uint16)
        with pytest.raises(ValueError, match="a value for each position"):
            source.read_part(0, 0, 1, room, nothing)
        with pytest.raises(ValueError, match="no such part"):
            source.read_part(0, 2, 2, np.empty(numbers.size, np.uint16), nothing)


@given(VALUES, st.integers(1, 30), st.sampled_from([5, 6, 10]))
def test_coded_values_are_read_again(values: list[int], times: int, log2: int) -> None:
    sequence = np.array(values * times, np.uint16)
    shortest, offsets, halves, log2, sizes, data = _kernels.syzygy_code(
        _kernels.SyzygyPairingRoom(), sequence, 4095, (5, log2), no_pause
    )
    assert int(sizes.astype(int).sum()) + len(sizes) == len(sequence)
    spans = np.zeros(6, np.uint8)  # one span, whose middle is its first value
    spans[4:6] = 0
    file = np.concatenate([spans, sizes.astype("<u2").view(np.uint8), data])
    decoder = _kernels.SyzygyDecoder(shortest, offsets, halves.reshape(-1, 2))
    parts = (0, 6), (6, 2 * len(sizes)), (6 + 2 * len(sizes), len(data))
    read = _kernels.SyzygyValues(file, decoder, *parts, (log2, 0))
    out = np.empty(len(sequence), np.uint16)
    read.values(0, out)
    assert np.array_equal(out, sequence)


def test_coding_ends_when_its_pause_raises() -> None:
    def pause() -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        _coded(np.arange(100, dtype=np.uint16) % 7, _kernels.SyzygyPairingRoom(), pause)


@given(st.lists(VALUES, min_size=2, max_size=3))
def test_a_room_leaves_no_trace_of_what_was_coded_before(sequences: list[list[int]]) -> None:
    def pause() -> None:
        if next(rounds) == 2:
            raise Cancelled("enough")

    room = _kernels.SyzygyPairingRoom()
    for values in sequences:
        sequence, rounds = np.array(values * 5, np.uint16), count()
        with suppress(Cancelled):
            _coded(sequence, room, pause)
        assert _coded(sequence, room) == _coded(sequence, _kernels.SyzygyPairingRoom())


def _coded(
    values: NDArray[np.uint16], room: _kernels.SyzygyPairingRoom, pause: Pause = no_pause
) -> tuple[object, ...]:
    coded = _kernels.syzygy_code(room, values, 4095, (5, 6), pause)
    return tuple(part.tobytes() if isinstance(part, np.ndarray) else part for part in coded)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=60))
def test_free_values_are_chosen_as_they_may_be(parts: list[tuple[bool, int]]) -> None:
    before = np.array([value + FREE * free for free, value in parts], np.uint16)
    after = before.copy()
    _kernels.syzygy_choose_free(after, True)
    for (free, value), chosen in zip(parts, after.tolist(), strict=True):
        assert chosen <= value if free else chosen == value


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("KQvK", 6),  # 3! orders of the men, one place
        ("KBBvK", 4),  # two orders of the kings, two places
        ("KQvKR", 48),
        ("KPvKP", 24),  # two orders of the kings, places of two of four weights
    ],
)
def test_all_arrangements_are_tried(name: str, count: int) -> None:
    found = list(arrangements(Material.parse(name)))
    assert len(found) == len(set(found)) == count
    sizes = {numbering(men, order).size for men, order in found}
    assert len(sizes) == 1


# ---- comparing ----


def test_files_of_others_agree_with_our_tables(ours: Path) -> None:
    with open_tablebase(ours) as tablebase, ThreadPoolExecutor(2) as pool:
        for name in WRITTEN:
            for kind in FileKind:
                found = compare(tablebase.table, GOLDEN / f"{name}{kind.value}", pool)
                assert found.differences == 0, found.first


def test_a_double_step_beside_an_enemy_pawn_is_found() -> None:
    """There the files of others hold any value, as the step wins though it can be captured."""
    men = (9, 1, 1, 6, 14)  # the pawn of KPPvKP's weaker side, those of the stronger, the kings
    squares = np.array(
        [
            [chess.A4, chess.A2, chess.B2, chess.D1, chess.A1],  # b4 is a win
            [chess.A4, chess.A2, chess.B3, chess.D1, chess.A1],
            [chess.A4, chess.A2, chess.B2, chess.B3, chess.A1],  # blocked
            [chess.H4, chess.A2, chess.A5, chess.D1, chess.A1],  # no neighbour across the board
        ],
        np.uint8,
    )
    assert has_double_step_beside_enemy(men, squares, 0).tolist() == [True, False, False, False]
    swapped = tuple(man ^ 8 for man in men)
    flipped = squares ^ np.uint8(56)
    assert has_double_step_beside_enemy(swapped, flipped, 1).tolist()[:2] == [True, False]
    assert not has_double_step_beside_enemy(men, squares, 1).any()


def test_an_altered_value_is_found_and_named(ours: Path, tmp_path: Path) -> None:
    content = bytearray((ours / "syzygy" / "KRvK.rtbz").read_bytes())
    # The first value of the map of wins: some distance is another one.
    coding = SyzygyFile(ours / "syzygy" / "KRvK.rtbz").tables[0][0]
    values = bytes([len(coding.maps[0]), *coding.maps[0]])
    at = content.index(values)
    content[at + 1] += 50
    content[-CHECKSUM:] = _kernels.syzygy_checksum(np.frombuffer(content, np.uint8)[:-CHECKSUM])
    (tmp_path / "KRvK.rtbz").write_bytes(content)
    with open_tablebase(ours) as tablebase, ThreadPoolExecutor(2) as pool:
        found = compare(tablebase.table, tmp_path / "KRvK.rtbz", pool)
        assert found.differences > 0
        assert found.first is not None
        assert "win in" in found.first.ours
        position = parse_fen(found.first.fen)
        plies = tablebase.probe(position, Metric.DTZ).moves
        assert found.first.ours == f"win in {plies} plies"


def test_a_wrong_checksum_is_named(ours: Path, tmp_path: Path) -> None:
    content = bytearray((GOLDEN / "KRvK.rtbw").read_bytes())
    content[-1] ^= 1
    (tmp_path / "KRvK.rtbw").write_bytes(content)
    with (
        open_tablebase(ours) as tablebase,
        ThreadPoolExecutor(1) as pool,
        pytest.raises(DamagedTable, match="checksum"),
    ):
        compare(tablebase.table, tmp_path / "KRvK.rtbw", pool)
