"""The legal moves of a position, and the position after a move.

A check and a pin demand the same of the other men: to come to, or stay on, a line to the king. So
the generator looks outwards from the king once and records both as lines. A move is legal if it
ends on the line of every check and on the line of its man's pin. The lines of two checks share no
square, so in a double check only the king can move, without a rule of its own. The king's steps,
castling and en passant are tried out instead.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kingpair.workers.game.chess.position import (
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
    pawn_captures,
)
from kingpair.workers.game.chess.position import Move as Move

PROMOTIONS = "QRBN"

_LEAPS = {"N": KNIGHT}
_SLIDES = {"Q": QUEEN, "R": ROOK, "B": BISHOP}


class CheckLines(NamedTuple):
    """The lines from the king to the men that check him or pin, each attacker's square included."""

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


def _lines(position: Position, king: int) -> CheckLines:
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
    return CheckLines(tuple(checks), pins)


def _look_along(
    position: Position,
    ray: tuple[int, ...],
    sliders: str,
    checks: list[tuple[int, ...]],
    pins: dict[int, tuple[int, ...]],
) -> None:
    """Records what is on a ray from the king: nothing, a check, or one pinned man."""
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
    # Without the king on the board, the squares behind him on a slider's line are attacked too.
    without = board[:king] + EMPTY + board[king + 1 :]
    for target in KING[king]:
        if board[target] not in own and not attacked(without, target, them):
            yield target


def _moves_from(position: Position, origin: int, lines: CheckLines) -> list[Move]:
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
    """The squares a man could go to if its king could be left in check."""
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
    # In the order of the enumeration, because a set's order differs between processes.
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
    """The castling rights whose king and rook neither moved nor were captured."""
    if not castling:
        return castling
    touched = {move.origin, move.target}
    return frozenset(right for right in castling if not touched & {right.king, right.rook})


def is_capture(position: Position, move: Move) -> bool:
    if position.board[move.target] != EMPTY:
        return True
    return move.target == position.en_passant and position.board[move.origin] in "Pp"


def can_move(position: Position) -> bool:
    """Whether there is a legal move.  The king's are tried first, because he usually has one."""
    king = position.king(position.turn)
    return any(True for _ in _king_steps(position, king)) or bool(legal_moves(position))
