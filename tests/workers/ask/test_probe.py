"""Facts about asking: one position or many, on FEN or on python-chess's board, right or refused."""

import random
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chess
import numpy as np
import pytest
from boards import images, scattered
from hypothesis import given, settings
from hypothesis import strategies as st

from kingpair.workers.ask.answer import Answer, value_of_move
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.errors import BadPosition, DamagedTable, MissingTableError
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.format import BLOCK
from kingpair.workers.table.page_cache import FINDS

NAMES = ("KQvK", "KRvK", "KBvK", "KNvK", "KQvKR", "KRvKR", "KRvKN", "KNvKN", "KBBvK", "KBNvK")
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"  # of KQvKR: 31
MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
STALEMATED = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
NO_TABLE = "4k3/8/8/8/8/8/8/3QK2Q w - - 0 1"  # KQQvK

NOT_SOLVED = {
    "castling": "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
    "pawns": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    "7 men": "4k3/8/8/8/8/8/8/1BNQKBN1 w - - 0 1",
    "KQQvK": NO_TABLE,
}
IMPOSSIBLE = {
    "two kings": "4k3/8/8/8/8/8/8/K3K2Q w - - 0 1",
    "no king": "8/8/8/8/8/8/8/K6Q w - - 0 1",
    "kings that touch": "8/8/8/8/8/8/k7/K6Q w - - 0 1",
    "check to the side not to move": "4k3/8/8/8/8/8/8/K3Q3 w - - 0 1",
    "seven ranks": "4k3/8/8/8/8/8/K6Q w - - 0 1",
    "no side to move": "4k3/8/8/8/8/8/8/K6Q",
    "no chess at all": "four men walk onto a board",
    "nothing": "",
}


@pytest.fixture(scope="module")
def tablebase(tables: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables) as opened:
        yield opened


def mixed(number: int, seed: int) -> list[chess.Board]:
    """Positions of all materials, half of them with the stronger side Black."""
    chance = random.Random(seed)
    boards = [scattered(chance.choice(NAMES), chance) for _ in range(number)]
    return [board.mirror() if chance.random() < 0.5 else board for board in boards]


positions = st.builds(
    lambda name, seed: scattered(name, random.Random(seed)),
    st.sampled_from(NAMES),
    st.integers(0, 1 << 32),
)


# One position


def test_values_are_those_of_the_side_to_move(tablebase: Tablebase) -> None:
    assert tablebase.probe(LONGEST) == Answer(wdl=1, moves=31)
    assert tablebase.probe_wdl(LONGEST) == 1
    assert tablebase.probe_dtc(LONGEST) == 31
    lost = "8/8/8/8/Q7/5k2/4r3/K7 b - - 0 1"
    assert tablebase.probe(lost) == Answer(wdl=-1, moves=31)
    assert (tablebase.probe_wdl(lost), tablebase.probe_dtc(lost)) == (-1, -31)


def test_mate_is_a_loss_at_distance_0_and_stalemate_a_draw(tablebase: Tablebase) -> None:
    assert (tablebase.probe_wdl(MATED), tablebase.probe_dtc(MATED)) == (-1, 0)
    assert (tablebase.probe_wdl(STALEMATED), tablebase.probe_dtc(STALEMATED)) == (0, 0)


def test_bare_kings_are_a_draw_without_a_table(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as empty:
        assert empty.probe("4k3/8/8/8/8/8/8/4K3 w - - 0 1") == Answer(0, 0)
        answers = empty.probe_batch(["4k3/8/8/8/8/8/8/4K3 b - - 0 1"])
        assert (answers.known.tolist(), answers.wdl.tolist()) == ([True], [0])


def test_a_board_a_fen_and_a_position_have_the_same_answer(tablebase: Tablebase) -> None:
    for board in mixed(200, seed=1):
        answer = tablebase.probe(board)
        assert tablebase.probe(board.fen()) == tablebase.probe(parse_fen(board.fen())) == answer
        assert tablebase.probe(board.epd()) == answer
        assert tablebase.get_wdl(board) == tablebase.probe_wdl(board) == answer.wdl
        assert tablebase.get_dtc(board) == tablebase.probe_dtc(board) == answer.wdl * answer.moves


@given(positions)
@settings(deadline=None)
def test_symmetries_and_a_change_of_colours_keep_the_value(
    tablebase: Tablebase, board: chess.Board
) -> None:
    seen = {image.fen() for image in images(board)}
    assert {tablebase.probe(image) for image in seen} == {tablebase.probe(board)}
    batch = tablebase.probe_batch(sorted(seen))
    assert set(batch.moves.tolist()) == {tablebase.probe_dtc(board)}


def best_of_moves(tablebase: Tablebase, board: chess.Board) -> Answer:
    """The value by one ply of python-chess."""
    found = []
    for move in board.legal_moves:
        capture = board.is_capture(move)
        board.push(move)
        found.append(value_of_move(tablebase.probe(board), capture))
        board.pop()
    if not found:
        return Answer(-1 if board.is_check() else 0, 0)
    return max(found, key=lambda answer: (answer.wdl, -answer.wdl * answer.moves))


@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_the_best_over_the_legal_moves(tablebase: Tablebase, name: str) -> None:
    chance = random.Random(name)
    for _ in range(60):
        board = scattered(name, chance)
        if chance.random() < 0.5:
            board = board.mirror()
        assert tablebase.probe(board) == best_of_moves(tablebase, board), board.fen()


# Missing tables, positions that cannot be


@pytest.mark.parametrize("fen", NOT_SOLVED.values(), ids=NOT_SOLVED)
def test_positions_that_no_table_covers_are_missing(tablebase: Tablebase, fen: str) -> None:
    for probe in (tablebase.probe, tablebase.probe_wdl, tablebase.probe_dtc):
        with pytest.raises(MissingTableError):
            probe(fen)
    assert tablebase.get_wdl(fen) is tablebase.get_dtc(fen) is None
    assert tablebase.get_wdl(fen, 7) == tablebase.get_dtc(fen, 7) == 7


def test_a_missing_table_is_a_key_error_that_names_the_material(tablebase: Tablebase) -> None:
    with pytest.raises(KeyError, match=r"no table of KQQvK in .*; kingpair build KQQvK") as missing:
        tablebase.probe(NO_TABLE)
    assert isinstance(missing.value, MissingTableError)
    assert not str(missing.value).startswith(("'", '"'))


@pytest.mark.parametrize("reason", ["castling", "7 men"])
def test_the_error_says_why_no_table_covers_a_position(tablebase: Tablebase, reason: str) -> None:
    with pytest.raises(MissingTableError, match=rf"^no table of K\w*vK.*{reason}"):
        tablebase.probe(NOT_SOLVED[reason])


@pytest.mark.parametrize("fen", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_position_is_refused(tablebase: Tablebase, fen: str) -> None:
    for ask in (tablebase.probe, tablebase.get_wdl, tablebase.get_dtc):
        with pytest.raises(BadPosition) as refused:
            ask(fen)
        assert "\n" not in str(refused.value)


# Many positions


def test_a_batch_agrees_with_single_probes(tablebase: Tablebase) -> None:
    boards = mixed(4000, seed=2)
    answers = tablebase.probe_batch([board.fen() for board in boards])
    singly = [tablebase.probe(board) for board in boards]
    assert answers.known.all()
    assert answers.wdl.tolist() == [answer.wdl for answer in singly]
    assert answers.moves.tolist() == [answer.signed for answer in singly]


def test_an_empty_batch_has_no_answers(tablebase: Tablebase) -> None:
    assert [len(column) for column in tablebase.probe_batch([])] == [0, 0, 0]


def test_a_batch_masks_positions_without_a_table(tablebase: Tablebase) -> None:
    fens = [board.fen() for board in mixed(40, seed=3)]
    alone = tablebase.probe_batch(fens)
    places = [0, 7, 20, len(fens)]
    for place, missing in zip(places, NOT_SOLVED.values(), strict=True):
        fens.insert(place, missing)
    answers = tablebase.probe_batch(fens)
    assert np.flatnonzero(~answers.known).tolist() == places
    assert answers.moves[answers.known].tolist() == alone.moves.tolist()
    assert answers.wdl[answers.known].tolist() == alone.wdl.tolist()
    assert not answers.wdl[~answers.known].any()


@pytest.mark.parametrize("fen", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_batch_names_the_number_of_an_impossible_position(tablebase: Tablebase, fen: str) -> None:
    fens = [board.fen() for board in mixed(5, seed=4)]
    with pytest.raises(BadPosition, match=r"^position 3: "):
        tablebase.probe_batch([*fens[:3], fen, *fens[3:]])


# Blocks and threads


@pytest.mark.parametrize("limit", [0, 3 * BLOCK, 10 * BLOCK])
def test_the_cache_stays_within_its_limit_and_changes_no_answer(
    tables: Path, tablebase: Tablebase, limit: int
) -> None:
    boards = mixed(300, seed=5)
    with open_tablebase(tables, cache_bytes=limit) as small:
        for board in boards:
            assert small.probe(board) == tablebase.probe(board)
            # The block just asked for is always held.
            assert small.cache.held <= max(limit, BLOCK)
        assert small.cache.hits + small.cache.misses == len(boards)
        fens = [board.fen() for board in boards]
        assert small.probe_batch(fens).moves.tolist() == tablebase.probe_batch(fens).moves.tolist()
        assert small.cache.held <= max(limit, BLOCK)


def test_a_block_is_decoded_once_while_it_is_kept(tables: Path) -> None:
    with open_tablebase(tables) as opened:
        assert [opened.probe_dtc(LONGEST) for _ in range(5)] == [31] * 5
        assert (opened.cache.misses, opened.cache.hits) == (FINDS + 1, 4 - FINDS)


@pytest.mark.parametrize("limit", [0, 256 << 20])
def test_many_threads_at_once_get_the_same_answers(
    tables: Path, tablebase: Tablebase, limit: int
) -> None:
    boards = mixed(400, seed=6)
    fens = [board.fen() for board in boards]
    expected = [tablebase.probe_dtc(fen) for fen in fens]

    def ask(seed: int) -> bool:
        order = random.Random(seed).sample(range(len(fens)), len(fens))
        batch = opened.probe_batch([fens[i] for i in order]).moves.tolist()
        singly = [opened.probe_dtc(fens[i]) for i in order]
        return bool(batch == singly == [expected[i] for i in order])

    with open_tablebase(tables, cache_bytes=limit) as opened, ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(8)))


def test_a_damaged_block_is_named_and_never_a_wrong_value(
    tables: Path, tablebase: Tablebase, tmp_path: Path
) -> None:
    path = tmp_path / "KRvKN.dtc.arrow"
    data = bytearray((tables / path.name).read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    chance, found = random.Random(7), set()
    with open_tablebase(tmp_path) as damaged:
        for _ in range(600):
            board = scattered("KRvKN", chance)
            try:
                assert damaged.probe(board) == tablebase.probe(board)
            except DamagedTable as error:
                found.add(str(error))
    (line,) = found
    assert line.startswith(f"{path}: block ")


# Directories


def test_a_directory_can_be_added(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / "KQvK.dtc.arrow", tmp_path)
    with open_tablebase(tmp_path) as opened:
        assert [path.name for path in opened.paths] == ["KQvK.dtc.arrow"]
        with pytest.raises(MissingTableError, match="KQvKR"):
            opened.probe(LONGEST)
        assert opened.add_directory(str(tables)) == len(NAMES) - 1
        assert opened.probe_dtc(LONGEST) == 31
        assert tmp_path / "KQvK.dtc.arrow" in opened.paths
        assert opened.table(Material.parse("KQvK")).path.parent == tmp_path


def test_a_directory_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match=r"no directory of tables at .*nowhere"):
        open_tablebase(tmp_path / "nowhere")


def test_files_that_are_not_tables_are_ignored(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / "KQvK.dtc.arrow", tmp_path)
    for name in ("KQvKX.dtc.arrow", "notes.dtc.arrow", "KRvK.dtc.arrow.partial", "KRvK.dtx.arrow"):
        (tmp_path / name).write_text("not a table")
    with open_tablebase(tmp_path) as opened:
        assert [path.name for path in opened.paths] == ["KQvK.dtc.arrow"]


def test_a_closed_tablebase_has_no_tables(tables: Path) -> None:
    with open_tablebase(tables) as opened:
        assert opened.probe_dtc(LONGEST) == 31
    assert opened.cache.held == 0
    assert opened.get_dtc(LONGEST) is None
