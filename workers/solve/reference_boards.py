"""The reference twin's boards: moves with pawns, one by one, and the right to capture en passant.

Boards are seen from the stronger side: its pawns move up.

The position just after a double step, with the right to capture en passant, is in no domain.  Its
side to move can choose between the lawful captures en passant and all other moves.  So its value is
settled where the double step is made, from the value v of the position without the right:

    no capture is lawful     v
    the winner is to move    the least of v and of the costs of captures into lost positions
    the loser is to move     the greatest of v and of the costs of all captures, if all lead into
                             won positions; v counts only if there is any other lawful move

For v is that of a mate or a stalemate if there is no other move, and with the right it is neither.
Two captors are tried, one after the other.  A capture is lawful if the position after it is: two
men leave a rank, which no rule about pins foresees.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from kingpair.workers.game.chess.material import PROMOTIONS
from kingpair.workers.game.chess.position import KING
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import Side, opponent
from kingpair.workers.solve.equations import cost_of_losing, cost_of_winning
from kingpair.workers.solve.reference import line_of_sight

FORWARD = (8, -8)
FIRST_RANK, LAST_RANK = (1, 6), (7, 0)


class Man(NamedTuple):
    letter: str
    side: Side
    square: int


Men = tuple[Man, ...]
"""All men on a board, kings included."""


def attacks(man: Man, standing: Iterable[int]) -> Iterator[int]:
    """The squares that a man attacks."""
    if man.letter == "K":
        yield from KING[man.square]
    elif man.letter == "P":
        ahead = man.square + FORWARD[man.side]
        yield from (square for square in (ahead - 1, ahead + 1) if square in KING[man.square])
    else:
        yield from line_of_sight(man.letter, man.square, tuple(standing))


def is_legal(men: Men, to_move: Side) -> bool:
    """No two men share a square, and the side that is not to move is not in check."""
    standing = {man.square for man in men}
    king = next(man.square for man in men if man.letter == "K" and man.side != to_move)
    return len(standing) == len(men) and not any(
        king in attacks(man, standing) for man in men if man.side == to_move
    )


def quiet_moves(men: Men, side: Side) -> Iterator[Men]:
    """The boards after a king or a piece has moved to a free square, legal or not."""
    standing = {man.square for man in men}
    for man in men:
        if man.side == side and man.letter != "P":
            for square in attacks(man, standing):
                if square not in standing:
                    yield _played(men, man, square)


class ExitMove(NamedTuple):
    """A move out of a slice: the board after it, legal or not."""

    after: Men
    converts: bool
    passed: int | None = None
    """The square that a double step has passed."""


def exits(men: Men, side: Side) -> Iterator[ExitMove]:
    """All captures, promotions and pushes of a side, but for captures en passant."""
    standing = {man.square: man for man in men}
    for man in men:
        if man.side == side:
            if man.letter == "P":
                yield from _pushes(men, man, standing)
            for square in attacks(man, standing):
                captive = standing.get(square)
                if captive is not None and captive.side != side and captive.letter != "K":
                    yield from _arrivals(men, man, square, captive)


def _pushes(men: Men, pawn: Man, standing: Mapping[int, Man]) -> Iterator[ExitMove]:
    one, two = pawn.square + FORWARD[pawn.side], pawn.square + 2 * FORWARD[pawn.side]
    if one not in standing:
        yield from _arrivals(men, pawn, one, None)
        if pawn.square >> 3 == FIRST_RANK[pawn.side] and two not in standing:
            yield ExitMove(_played(men, pawn, two), converts=False, passed=one)


def _arrivals(men: Men, man: Man, square: int, captive: Man | None) -> Iterator[ExitMove]:
    """A man arrives on a square, on which the captive stands, if any."""
    if man.letter == "P" and square >> 3 == LAST_RANK[man.side]:
        for letter in PROMOTIONS:
            yield ExitMove(_played(men, man, square, captive, letter), converts=True)
    else:
        yield ExitMove(_played(men, man, square, captive), converts=captive is not None)


def en_passant(men: Men, passed: int, side: Side) -> Iterator[Men]:
    """The boards after each capture en passant, legal or not."""
    captive = next(man for man in men if man.square == passed - FORWARD[side])
    for man in men:
        if man.side == side and man.letter == "P" and passed in attacks(man, ()):
            yield _played(men, man, passed, captive)


def _played(
    men: Men, mover: Man, square: int, captive: Man | None = None, letter: str | None = None
) -> Men:
    moved = Man(letter or mover.letter, mover.side, square)
    return tuple(moved if man is mover else man for man in men if man is not captive)


# Values


class Known(Protocol):
    """The values of positions that were solved before."""

    def depth(self, men: Men, to_move: Side, winner: Side) -> int | None:
        """The depth at which the winner wins a legal position without a right to capture en
        passant; None if it does not.
        """


def after_exit(
    known: Known, metric: Metric, exit_: ExitMove, to_move: Side, winner: Side
) -> int | None:
    """The depth at which the winner wins the position after an exit; None if it does not."""
    if exit_.passed is None:
        return known.depth(exit_.after, to_move, winner)
    return with_right(known, metric, exit_.after, exit_.passed, to_move, winner)


def with_right(
    known: Known, metric: Metric, men: Men, passed: int, to_move: Side, winner: Side
) -> int | None:
    """The depth at which the winner wins a position with the right to capture en passant."""
    captures = [
        after for after in en_passant(men, passed, to_move) if is_legal(after, opponent(to_move))
    ]
    without = known.depth(men, to_move, winner)
    if not captures:
        return without
    depths = [known.depth(after, opponent(to_move), winner) for after in captures]
    if to_move == winner:
        costs = [cost_of_winning(metric, True, depth) for depth in depths if depth is not None]
        return min([*costs, *([] if without is None else [without])], default=None)
    others = [without] if can_move(men, to_move) else []
    if None in depths or None in others:
        return None
    costs = [cost_of_losing(metric, True, depth) for depth in depths if depth is not None]
    return max([*costs, *(depth for depth in others if depth is not None)])


def can_move(men: Men, side: Side) -> bool:
    """Whether a side has a lawful move other than a capture en passant."""
    afters = [*quiet_moves(men, side), *(exit_.after for exit_ in exits(men, side))]
    return any(is_legal(after, opponent(side)) for after in afters)
