"""The legal moves of a position, and the position after a move.

What a check and a pin ask of the other men is the same: to stay on, or come to, a line to the
king. So both are found in one look outwards from him, and written down as such lines: a move is
legal if it ends on the line of every check and on the line of its own pin. The lines of two checks
share no square, so against both only the king can move: it follows, and nothing needs to say it.
Only the king's own steps, castling and en passant are tried out.
"""

from collections.abc import Iterator
from typing import NamedTuple

from workers.position import (
    BISHOP,
    EMPTY,
    KING,
    KNIGHT,
    QUEEN,
    ROOK,
    Castling,
    Colour,
    Position,
    attacked,
    en_passant_captors,
    in_check,
    pawn_captures,
)

PROMOTIONS = "QRBN"

_LEAPS = {"N": KNIGHT}
_SLIDES = {"Q": QUEEN, "R": ROOK, "B": BISHOP}


class Move(NamedTuple):
    """From where to where; the king's two squares for castling; a letter of QRBN to promote."""

    origin: int
    target: int
    promotion: str | None = None


class Lines(NamedTuple):
    """Squares between the king and those who attack him, each attacker's own included."""

    checks: tuple[tuple[int, ...], ...]
    pins: dict[int, tuple[int, ...]]
    """By the square of the pinned man."""


def legal_moves(position: Position) -> tuple[Move, ...]:
    """Every legal move once, always in the same order."""
    board, own = position.board, position.turn.men
    king = position.king(position.turn)
    lines = _lines(position, king)
    moves = [Move(king, target) for target in _king_steps(position, king)]
    for origin, man in enumerate(board):
        if man in own and origin != king:
            moves += _moves_from(position, origin, lines)
    if position.castling and not lines.checks:
        moves += _castlings(position)
    if position.en_passant is not None:
        captors = en_passant_captors(board, position.turn, position.en_passant)
        moves += [Move(origin, position.en_passant) for origin in captors]
    return tuple(moves)


def _lines(position: Position, king: int) -> Lines:
    board, them = position.board, position.turn.other.men
    checks: list[tuple[int, ...]] = [
        (square,) for square in KNIGHT[king] if board[square] == them.knight
    ]
    pawns = pawn_captures(position.turn, king)
    checks += [(square,) for square in pawns if board[square] == them.pawn]
    pins: dict[int, tuple[int, ...]] = {}
    straight, diagonal = them.queen + them.rook, them.queen + them.bishop
    for sliders, rays in ((straight, ROOK[king]), (diagonal, BISHOP[king])):
        for ray in rays:
            _look_along(position, ray, sliders, checks, pins)
    return Lines(tuple(checks), pins)


def _look_along(
    position: Position,
    ray: tuple[int, ...],
    sliders: str,
    checks: list[tuple[int, ...]],
    pins: dict[int, tuple[int, ...]],
) -> None:
    """Enter what the ray from the king shows: nothing, a check, or one man pinned."""
    board, own = position.board, position.turn.men
    shield = None
    for distance, square in enumerate(ray, 1):
        man = board[square]
        if man == EMPTY:
            continue
        if man in own and shield is None:
            shield = square
            continue
        if man in sliders:
            if shield is None:
                checks.append(ray[:distance])
            else:
                pins[shield] = ray[:distance]
        return


def _king_steps(position: Position, king: int) -> Iterator[int]:
    board, own, them = position.board, position.turn.men, position.turn.other
    # The king must not hide from a slider behind himself.
    without = board[:king] + EMPTY + board[king + 1 :]
    for target in KING[king]:
        if board[target] not in own and not attacked(without, target, them):
            yield target


def _moves_from(position: Position, origin: int, lines: Lines) -> list[Move]:
    """The legal moves of a man that is not the king, but for en passant."""
    targets = _targets(position, origin)
    for line in lines.checks:
        targets = [target for target in targets if target in line]
    if origin in lines.pins:
        targets = [target for target in targets if target in lines.pins[origin]]
    if position.board[origin] in "Pp" and targets and targets[0] >> 3 in (0, 7):
        return [Move(origin, target, letter) for target in targets for letter in PROMOTIONS]
    return [Move(origin, target) for target in targets]


def _targets(position: Position, origin: int) -> list[int]:
    """Where a man could go if its king took no harm."""
    board, own = position.board, position.turn.men
    letter = board[origin].upper()
    if letter == "P":
        return _pawn_targets(position, origin)
    if letter in _LEAPS:
        return [target for target in _LEAPS[letter][origin] if board[target] not in own]
    targets = []
    for ray in _SLIDES[letter][origin]:
        for target in ray:
            man = board[target]
            if man == EMPTY:
                targets.append(target)
                continue
            if man not in own:
                targets.append(target)
            break
    return targets


def _pawn_targets(position: Position, origin: int) -> list[int]:
    board, turn = position.board, position.turn
    theirs = turn.other.men
    targets = [target for target in pawn_captures(turn, origin) if board[target] in theirs]
    once = origin + turn.forward
    if board[once] == EMPTY:
        targets.append(once)
        at_home = origin >> 3 == (1 if turn is Colour.WHITE else 6)
        if at_home and board[once + turn.forward] == EMPTY:
            targets.append(once + turn.forward)
    return targets


def _castlings(position: Position) -> Iterator[Move]:
    """Castling for a king who is not in check."""
    # In the enumeration's order: that of the set is another in every process.
    for right in Castling:
        ours = right in position.castling and right.colour is position.turn
        if ours and _way_is_free(position, right):
            yield Move(right.king, right.king + 2 * right.step)


def _way_is_free(position: Position, right: Castling) -> bool:
    between = range(right.king + right.step, right.rook, right.step)
    if any(position.board[square] != EMPTY for square in between):
        return False
    them = position.turn.other
    return not any(attacked(position.board, square, them) for square in between[:2])


def play(position: Position, move: Move) -> Position:
    """The position after a legal move."""
    board, turn = _board_after(position, move), position.turn
    pawn_moved = position.board[move.origin] in "Pp"
    quiet = not pawn_moved and not is_capture(position, move)
    passed = (move.origin + move.target) // 2
    doubled = pawn_moved and abs(move.target - move.origin) == 16
    return Position(
        board,
        turn.other,
        _rights_after(position.castling, move),
        passed if doubled and en_passant_captors(board, turn.other, passed) else None,
        position.half_moves + 1 if quiet else 0,
        position.full_move + (turn is Colour.BLACK),
    )


def _board_after(position: Position, move: Move) -> str:
    men, turn = list(position.board), position.turn
    man = men[move.origin]
    men[move.origin] = EMPTY
    men[move.target] = _promoted(move.promotion, turn) if move.promotion else man
    if man in "Pp" and move.target == position.en_passant:
        men[move.target - turn.forward] = EMPTY
    if man in "Kk" and abs(move.target - move.origin) == 2:
        short = move.target > move.origin
        men[move.target + (1 if short else -2)] = EMPTY
        men[move.target + (-1 if short else 1)] = turn.men.rook
    return "".join(men)


def _promoted(letter: str, colour: Colour) -> str:
    return letter if colour is Colour.WHITE else letter.lower()


def _rights_after(castling: frozenset[Castling], move: Move) -> frozenset[Castling]:
    """The rights whose king and rook neither moved nor were taken."""
    if not castling:
        return castling
    touched = {move.origin, move.target}
    return frozenset(right for right in castling if not touched & {right.king, right.rook})


def is_capture(position: Position, move: Move) -> bool:
    if position.board[move.target] != EMPTY:
        return True
    return move.target == position.en_passant and position.board[move.origin] in "Pp"


def can_move(position: Position) -> bool:
    """Whether there is a legal move; the king's own are looked at first, for he mostly has one."""
    king = position.king(position.turn)
    return any(True for _ in _king_steps(position, king)) or bool(legal_moves(position))


def is_checkmate(position: Position) -> bool:
    return in_check(position) and not can_move(position)


def is_stalemate(position: Position) -> bool:
    return not in_check(position) and not can_move(position)
