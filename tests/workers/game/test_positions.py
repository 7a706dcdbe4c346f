"""Facts about positions, moves and their notation; python-chess is the reference."""

import io
import random
from collections.abc import Iterator
from functools import cache

import chess
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.fen import fen, parse_fen
from kingpair.workers.game.chess.moves import Move, is_capture, legal_moves, play
from kingpair.workers.game.chess.position import (
    INITIAL,
    Colour,
    Position,
    in_check,
    insufficient_material,
    material_of,
)
from kingpair.workers.game.notation import GameResult, parse_uci, pgn, san, uci
from kingpair.workers.game.rules import is_checkmate, is_stalemate, position_of

# A position need not be reachable in a game.
UNLIKELY = chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK

TRICKY = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
EN_PASSANT = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"
PROMOTIONS = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"


# Positions made by python-chess


def scattered(chance: random.Random) -> chess.Board:
    """Three to seven men anywhere, sometimes with rights to castle or a pawn just pushed twice."""
    board = chess.Board(None)
    men = "Kk" + "".join(chance.choices("QRBNPPqrbnpp", k=chance.randint(1, 5)))
    for man, square in zip(men, chance.sample(range(64), len(men)), strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(man))
    if chance.random() < 0.2:
        board.set_piece_at(board.king(chess.WHITE) or 0, None)
        board.set_piece_at(chess.E1, chess.Piece.from_symbol("K"))
        board.set_piece_at(chance.choice((chess.A1, chess.H1)), chess.Piece.from_symbol("R"))
        board.castling_rights = board.rooks & (chess.BB_A1 | chess.BB_H1)
    board.turn = chance.random() < 0.5
    board.halfmove_clock, board.fullmove_number = chance.randrange(100), chance.randrange(1, 200)
    return board


def just_pushed(chance: random.Random) -> chess.Board:
    """A pawn has passed one or two others; the fourth and fifth men may forbid to take it."""
    board = chess.Board(None)
    white, file = chance.random() < 0.5, chance.randrange(8)
    board.turn, target = white, chess.square(file, 5 if white else 2)
    pushed = target + (-8 if white else 8)
    board.set_piece_at(pushed, chess.Piece(chess.PAWN, not white))
    for side in chance.choice(((-1,), (1,), (-1, 1))):
        if 0 <= file + side < 8:
            board.set_piece_at(pushed + side, chess.Piece(chess.PAWN, white))
    free = [square for square in range(64) if not board.piece_at(square)]
    men = "Kk" + "".join(chance.choices("QRBqrb", k=2))
    for man, square in zip(men, chance.sample(free, len(men)), strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(man))
    board.ep_square = target
    return board


def games(chance: random.Random, start: str, count: int) -> Iterator[chess.Board]:
    for _ in range(count):
        board = chess.Board(start)
        while not board.is_game_over() and board.ply() < 80:
            yield board.copy(stack=False)
            board.push(chance.choice(list(board.legal_moves)))
        yield board.copy(stack=False)


@cache
def boards() -> tuple[chess.Board, ...]:
    chance = random.Random(1996)
    made = [scattered(chance) for _ in range(2000)] + [just_pushed(chance) for _ in range(400)]
    lawful = [board for board in made if not board.status() & ~UNLIKELY]
    played = [board for start in (chess.STARTING_FEN, TRICKY) for board in games(chance, start, 3)]
    return tuple(lawful + played)


def test_the_random_positions_include_every_kind_of_move() -> None:
    assert len(boards()) > 1000
    assert sum(board.has_legal_en_passant() for board in boards()) > 50
    assert sum(board.is_check() for board in boards()) > 100
    assert sum(len(board.checkers()) > 1 for board in boards()) > 5
    assert sum(any(map(board.is_castling, board.legal_moves)) for board in boards()) > 20


def test_fen_agrees_with_python_chess() -> None:
    for board in boards():
        text = board.fen()
        position = parse_fen(text)
        assert fen(position) == text
        assert parse_fen(text.replace(" ", "_")) == position
        # With the en passant square of every double push, as many programs write it.
        assert parse_fen(board.fen(en_passant="fen")) == position


def test_legal_moves_agree_with_python_chess() -> None:
    for board in boards():
        moves = list(map(uci, legal_moves(position_of(board))))
        assert sorted(moves) == sorted(move.uci() for move in board.legal_moves), board.fen()


def test_the_position_after_a_move_agrees_with_python_chess() -> None:
    chance = random.Random(98)
    for board in boards():
        position = position_of(board)
        moves = legal_moves(position)
        for move in chance.sample(moves, min(4, len(moves))):
            theirs = chess.Move.from_uci(uci(move))
            assert san(position, move) == board.san(theirs), board.fen()
            assert is_capture(position, move) == board.is_capture(theirs)
            assert parse_uci(position, uci(move)) == move
            after = board.copy(stack=False)
            after.push(theirs)
            assert fen(play(position, move)) == after.fen()


def test_san_of_like_men_agrees_with_python_chess() -> None:
    chance = random.Random(1)
    for _ in range(100):
        board = chess.Board(None)
        men = "Kk" + chance.choice("QRBN") * 4
        for man, square in zip(men, chance.sample(range(64), len(men)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        if not board.status() & ~UNLIKELY:
            position = position_of(board)
            ours = sorted(san(position, move) for move in legal_moves(position))
            assert ours == sorted(map(board.san, board.legal_moves)), board.fen()


def test_mate_stalemate_and_dead_positions_agree_with_python_chess() -> None:
    for board in boards():
        position = position_of(board)
        assert in_check(position) == board.is_check()
        assert is_checkmate(position) == board.is_checkmate()
        assert is_stalemate(position) == board.is_stalemate()
        assert insufficient_material(position) == board.is_insufficient_material(), board.fen()


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("4k3/8/8/8/8/8/8/4K3 w", True),
        ("4k3/8/8/8/8/8/8/4KN2 w", True),
        ("4kn2/8/8/8/8/8/8/4KN2 w", False),
        ("4k3/8/8/8/8/8/8/3NKN2 w", False),
        ("4k3/8/8/8/8/8/8/4KB2 w", True),
        ("4kb2/8/8/8/8/8/8/4KB2 w", False),
        ("4k1b1/8/8/8/8/8/8/4KB2 w", True),
        ("4k1b1/8/8/8/8/8/8/4KBN1 w", False),
        ("4k3/8/8/8/8/8/4P3/4K3 w", False),
    ],
)
def test_a_dead_position_is_one_in_which_neither_side_can_mate(text: str, dead: bool) -> None:
    assert insufficient_material(parse_fen(text)) is dead
    assert chess.Board(fen(parse_fen(text))).is_insufficient_material() is dead


def perft(position: Position, depth: int) -> int:
    moves = legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(perft(play(position, move), depth - 1) for move in moves)


@pytest.mark.parametrize(
    ("text", "depth", "count"),
    [
        (chess.STARTING_FEN, 3, 8902),
        (TRICKY, 3, 97862),
        (EN_PASSANT, 4, 43238),
        (PROMOTIONS, 3, 9467),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62379),
    ],
)
def test_perft_gives_the_published_counts(text: str, depth: int, count: int) -> None:
    # https://www.chessprogramming.org/Perft_Results
    assert perft(parse_fen(text), depth) == count


# FEN


def test_the_initial_position_has_the_standard_fen() -> None:
    assert parse_fen(chess.STARTING_FEN) == INITIAL
    assert fen(INITIAL) == chess.STARTING_FEN


@pytest.mark.parametrize(
    "text",
    [
        "4k3/8/8/8/8/8/8/4KQ2 b",
        "4k3/8/8/8/8/8/8/4KQ2 b -",
        "4k3/8/8/8/8/8/8/4KQ2 b - -",
        "4k3/8/8/8/8/8/8/4KQ2 b - - 0",
        "4k3/8/8/8/8/8/8/4KQ2 b - - 0 0",
        "4k3/8/8/8/8/8/8/4KQ2_b_-_-_0_1",
        "  4k3/8/8/8/8/8/8/4KQ2  b - - 00 01\n",
        "4k3/8/8/8/8/8/8/4KQ2 b KQkq e3 0 1",
        "4k3/8/8/8/8/8/8/4KQ2 b HAha z9 0 1",
        "22k3/8/8/44/8/8/8/4KQ2 b",
    ],
)
def test_missing_and_impossible_fields_of_a_fen_are_filled_in(text: str) -> None:
    assert fen(parse_fen(text)) == "4k3/8/8/8/8/8/8/4KQ2 b - - 0 1"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "KQkq -"),
        ("r3k2r/8/8/8/8/8/8/R3K1R1 w KQkq -", "Qkq -"),
        ("r4k1r/8/8/8/8/8/8/R3K2R w KQkq -", "KQ -"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6", "- d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d3", "- -"),
        ("4k3/8/8/3p1P2/8/8/8/4K3 w - d6", "- -"),
        ("4k3/3p4/8/3pP3/8/8/8/4K3 w - d6", "- -"),
        ("4k3/8/3n4/3pP3/8/8/8/4K3 w - d6", "- -"),
        ("4k3/8/8/r2pP2K/8/8/8/8 w - d6", "- -"),
    ],
)
def test_impossible_castling_and_en_passant_are_dropped(given: str, kept: str) -> None:
    assert fen(parse_fen(given)).split(" ", 2)[2] == f"{kept} 0 1"


def test_a_position_that_no_game_reaches_is_accepted() -> None:
    assert in_check(parse_fen("4k3/8/3N1N2/8/8/8/4R3/4K2Q b - - 0 1"))


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "; has 0"),
        ("4k3/8/8/8/8/8/8/4KQ2", "a FEN needs 2 to 6 fields"),
        ("4k3/8/8/8/8/8/8/4KQ2 w - - 0 1 bm", "; has 7"),
        ("4k3/8/8/8/8/8/4KQ2 w", "a board needs 8 ranks"),
        ("4k3/8/8/8/8/8/8/8/4KQ2 w", "has 9"),
        ("4k3/8/8/8/8/8/8/4KQ3 w", "rank 1 needs 8 files; '4KQ3' has 9"),
        ("4k2/8/8/8/8/8/8/4KQ2 w", "rank 8 needs 8 files; '4k2' has 7"),
        ("4k3/8/8/8//8/8/4KQ2 w", "rank 4 needs 8 files; '' has 0"),
        ("4k3/8/8/8/8/8/8/4KX2 w", "unknown letter 'X' on rank 1"),
        ("4k3/9/8/8/8/8/8/4KQ2 w", "unknown letter '9' on rank 7"),
        ("4k3/\u0668/8/8/8/8/8/4KQ2 w", "unknown letter"),  # a digit, but Arabic
        ("8/8/8/8/8/8/8/4KQ2 w", "Black needs exactly one king, 'k'; has 0"),
        ("4k3/8/8/8/8/8/8/5Q2 w", "White needs exactly one king, 'K'; has 0"),
        ("4k3/8/8/8/8/8/8/K3KQ2 w", "White needs exactly one king, 'K'; has 2"),
        ("8/8/8/8/8/8/4k3/4KQ2 w", "kings on e1 and e2 touch"),
        ("4k2P/8/8/8/8/8/8/4K3 w", "pawn on h8"),
        ("4k3/8/8/8/8/8/8/p3K3 w", "pawn on a1"),
        ("4k3/8/8/8/8/8/8/K3Q3 w", "Black is in check on e8 but not to move"),
        ("4k3/8/8/8/8/8/3p4/4K3 b", "White is in check on e1 but not to move"),
        ("4k3/8/8/8/8/8/8/4KQ2 x", "turn 'x' in FEN"),
        ("4k3/8/8/8/8/8/8/4KQ2 W", "turn 'W' in FEN"),
        ("4k3/8/8/8/8/8/8/4KQ2 w - - -1 1", "half-move clock '-1'"),
        ("4k3/8/8/8/8/8/8/4KQ2 w - - 0 x", "move number 'x'"),
        ("4k3/8/8/8/8/8/8/4KQ2 w - - 0 12345", "move number '12345'"),
        ("4k3/8/8/8/8/QQ6/QQQQQQQQ/QQQQKQQQ w", "too many men: White has 18"),
        ("4k3/pp6/pppppppp/8/8/8/8/4K3 w", "too many men: Black has 10 pawns"),
    ],
)
def test_a_bad_fen_is_refused_with_its_reason(text: str, fragment: str) -> None:
    with pytest.raises(BadPosition) as refused:
        parse_fen(text)
    assert fragment in str(refused.value)


def read(text: str) -> Position | BadPosition:
    try:
        return parse_fen(text)
    except BadPosition as refused:
        return refused


@given(
    st.text(max_size=200)
    | st.text("Kk1234567/8Qq w-", max_size=60)
    | st.builds(lambda field: f"4k3/8/8/8/8/8/8/4KQ2 {field}", st.text())
)
def test_any_text_is_a_position_or_is_refused_in_one_short_line(text: str) -> None:
    answer = read(text)
    if isinstance(answer, Position):
        assert parse_fen(fen(answer)) == answer
    else:
        assert str(answer).isprintable()
        assert len(str(answer)) < 200


def test_positions_are_values() -> None:
    there_and_back = INITIAL
    for text in ("g1f3", "g8f6", "f3g1", "f6g8"):
        there_and_back = play(there_and_back, parse_uci(there_and_back, text))
    assert there_and_back.board == INITIAL.board
    assert there_and_back != INITIAL  # the clocks went on
    assert hash(parse_fen(fen(there_and_back))) == hash(there_and_back)
    with pytest.raises(AttributeError):
        INITIAL.turn = Colour.BLACK  # type: ignore[misc]


def test_a_position_is_made_from_a_fen_a_board_or_a_position() -> None:
    assert position_of(TRICKY) == position_of(chess.Board(TRICKY)) == parse_fen(TRICKY)
    assert position_of(INITIAL) is INITIAL


def test_a_position_knows_its_material() -> None:
    def named(text: str) -> tuple[str, bool]:
        material, swapped = material_of(parse_fen(text))
        return str(material), swapped

    assert named("4k3/8/8/8/8/8/8/4KQ2 w") == ("KQvK", False)
    assert named("4kq2/8/8/8/8/8/8/R3K3 w") == ("KQvKR", True)
    assert named("1n2kb2/8/8/8/8/8/8/RB2K3 b") == ("KRBvKBN", False)
    assert named("4k3/8/8/8/8/8/8/4K3 w") == ("KvK", False)
    assert named(EN_PASSANT) == ("KRPPPvKRPPP", False)


# Moves as text


@pytest.mark.parametrize(
    "text", ["", "e1e9", "f1f9", "e1e2q", "e1e3", "0000", "Kd2", "E1E2", "e1e2 "]
)
def test_an_illegal_move_is_refused(text: str) -> None:
    with pytest.raises(BadPosition, match=r"no legal move in 4k3/.* legal are .*f1f7"):
        parse_uci(parse_fen("4k3/8/8/8/8/8/8/4KQ2 w"), text)


def test_a_game_that_is_over_has_no_legal_move() -> None:
    with pytest.raises(BadPosition, match="the game is over"):
        parse_uci(parse_fen("7k/6Q1/6K1/8/8/8/8/8 b"), "h8h7")


def test_a_promotion_names_its_man() -> None:
    position = parse_fen("8/4P2k/8/8/8/8/8/4K3 w")
    move = parse_uci(position, "e7e8n")
    assert move == Move(52, 60, "N")
    assert san(position, move) == "e8=N"


def line(start: str, text: str) -> tuple[Position, list[Move]]:
    position = first = parse_fen(start)
    moves: list[Move] = []
    for word in text.split():
        moves.append(parse_uci(position, word))
        position = play(position, moves[-1])
    return first, moves


def test_a_game_from_a_position_has_its_fen_as_a_tag() -> None:
    start, moves = line("8/8/8/8/8/5k2/4q3/7K b - - 3 60", "f3g3 h1g1 e2g2")
    assert pgn(
        start, moves, GameResult.BLACK_WINS, {"White": "A", "Annotator": 'the "oracle" \\'}
    ) == (
        '[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n'
        '[White "A"]\n[Black "?"]\n[Result "0-1"]\n'
        '[Annotator "the \\"oracle\\" \\\\"]\n'
        '[SetUp "1"]\n[FEN "8/8/8/8/8/5k2/4q3/7K b - - 3 60"]\n'
        "\n"
        "60... Kg3 61. Kg1 Qg2# 0-1\n"
    )


def test_a_game_without_moves_is_written() -> None:
    text = pgn(INITIAL, [], GameResult.UNKNOWN)
    assert text.endswith('[Result "*"]\n\n*\n')
    assert "SetUp" not in text


def test_a_long_game_is_wrapped_and_python_chess_reads_it() -> None:
    chance = random.Random(462)
    position = parse_fen(TRICKY)
    moves: list[Move] = []
    while legal_moves(position) and len(moves) < 150:
        moves.append(chance.choice(legal_moves(position)))
        position = play(position, moves[-1])
    text = pgn(parse_fen(TRICKY), moves, GameResult.DRAW, {"Event": "a\nb"})
    assert max(map(len, text.splitlines())) <= 80
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    assert game.headers["Event"] == "a b"
    assert game.headers["Result"] == "1/2-1/2"
    assert [move.uci() for move in game.mainline_moves()] == list(map(uci, moves))
    assert game.end().board().fen() == fen(position)
