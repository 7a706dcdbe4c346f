"""A slow solver of Chinese chess that shares no code with the product.

Squares are (file, rank) pairs, positions are sorted tuples of men, every rule is written out anew.
It solves a material after all that captures lead to, and keeps a value for each position:

    n > 0    the side to move wins in n moves
    0        draw
    -n - 1   the side to move loses in n moves

for dtm to the end of the game, for dtc to the end or to a capture, as the product counts.
"""

from collections.abc import Iterator
from itertools import combinations, product

Square = tuple[int, int]
Man = tuple[str, Square]
Position = tuple[Man, ...]  # capitals play up the board
Values = dict[tuple[Position, str], int]

_STRAIGHT = [(1, 0), (-1, 0), (0, 1), (0, -1)]
_SLANTED = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
BOARD = [(f, r) for f in range(9) for r in range(10)]
_ADVISOR = {(3, 0), (5, 0), (4, 1), (3, 2), (5, 2)}
_ELEPHANT = {(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)}


def _turned(square: Square) -> Square:
    return square[0], 9 - square[1]


def may_stand(letter: str, square: Square) -> bool:
    f, r = square if letter.isupper() else _turned(square)
    match letter.upper():
        case "K":
            return 3 <= f <= 5 and r <= 2
        case "A":
            return (f, r) in _ADVISOR
        case "B":
            return (f, r) in _ELEPHANT
        case "P":
            return r > 4 or (r >= 3 and f % 2 == 0)
    return True


def _line(a: Square, step: Square) -> Iterator[Square]:
    f, r = a[0] + step[0], a[1] + step[1]
    while 0 <= f <= 8 and 0 <= r <= 9:
        yield f, r
        f, r = f + step[0], r + step[1]


def _goes(letter: str, a: Square, men: dict[Square, str]) -> Iterator[Square]:
    """The squares a man moves to or takes on; own men there are not yet left out."""
    kind, forward = letter.upper(), 1 if letter.isupper() else -1
    if kind in "RC":
        for step in _STRAIGHT:
            met = 0
            for b in _line(a, step):
                if b not in men:
                    if met == 0:
                        yield b
                    continue
                met += 1
                if met == (1 if kind == "R" else 2):
                    yield b
                if met == 2:
                    break
    elif kind == "N":
        for df, dr in _STRAIGHT:
            if (a[0] + df, a[1] + dr) in men:
                continue
            for side in (1, -1):
                yield (a[0] + 2 * df + side * (df == 0), a[1] + 2 * dr + side * (dr == 0))
    elif kind == "P":
        yield a[0], a[1] + forward
        if a[1] > 4 if forward > 0 else a[1] < 5:
            yield a[0] + 1, a[1]
            yield a[0] - 1, a[1]
    elif kind == "B":
        for df, dr in _SLANTED:
            if (a[0] + df, a[1] + dr) not in men:
                yield a[0] + 2 * df, a[1] + 2 * dr
    else:
        for df, dr in _STRAIGHT if kind == "K" else _SLANTED:
            yield a[0] + df, a[1] + dr


def targets(letter: str, a: Square, men: dict[Square, str]) -> list[Square]:
    found = []
    for b in _goes(letter, a, men):
        on_board = 0 <= b[0] <= 8 and 0 <= b[1] <= 9
        own = b in men and men[b].isupper() == letter.isupper()
        if on_board and not own and may_stand(letter, b):
            found.append(b)
    return found


def exposed(men: dict[Square, str], side: str) -> bool:
    """Whether the king of a side can be taken, or the kings see each other."""
    where = {letter: square for square, letter in men.items() if letter in "Kk"}
    below, above = where["K"], where["k"]
    if below[0] == above[0] and not any(
        (below[0], r) in men for r in range(below[1] + 1, above[1])
    ):
        return True
    king = where["K" if side == "w" else "k"]
    return any(
        king in targets(letter, square, men)
        for square, letter in men.items()
        if letter in ("RNCP" if side == "b" else "rncp")  # no other man crosses the river
    )


def other(side: str) -> str:
    return "b" if side == "w" else "w"


def position_of(men: dict[Square, str]) -> Position:
    return tuple(sorted((letter, square) for square, letter in men.items()))


def moves(position: Position, side: str) -> Iterator[tuple[Position, bool]]:
    """The positions after the moves of a side, and whether each was a capture."""
    men = {square: letter for letter, square in position}
    for letter, a in position:
        if letter.isupper() == (side == "w"):
            for b in targets(letter, a, men):
                after = {square: man for square, man in men.items() if square != a}
                after[b] = letter
                if not exposed(after, side):
                    yield position_of(after), b in men


def positions(white: str, black: str) -> Iterator[Position]:
    """All placings of the men, like men once; kings may see each other."""
    letters = "K" + white + "k" + black.lower()
    groups = []
    for letter in sorted(set(letters)):
        squares = [square for square in BOARD if may_stand(letter, square)]
        groups.append(
            [
                [(letter, s) for s in chosen]
                for chosen in combinations(squares, letters.count(letter))
            ]
        )
    for placing in product(*groups):
        men = [man for group in placing for man in group]
        if len({square for _, square in men}) == len(men):
            yield tuple(sorted(men))


def solve(white: str, black: str, metric: str, values: Values | None = None) -> Values:
    """The values of a material, and of all that captures lead to, with either side to move."""
    values = {} if values is None else values
    for i in range(len(white)):
        _solve_once(white[:i] + white[i + 1 :], black, metric, values)
    for i in range(len(black)):
        _solve_once(white, black[:i] + black[i + 1 :], metric, values)
    _solve_alone(white, black, metric, values)
    return values


def _solve_once(white: str, black: str, metric: str, values: Values) -> None:
    first = next(p for p in positions(white, black) if not exposed({s: m for m, s in p}, "w"))
    if (first, "b") not in values and (first, "w") not in values:
        solve(white, black, metric, values)


class _Waiting:
    """An undecided position: its quiet moves, and what its captures are worth."""

    def __init__(self, position: Position, side: str, metric: str, values: Values) -> None:
        found = list(moves(position, side))
        self.quiet = [(after, other(side)) for after, capture in found if not capture]
        taken = [values[after, other(side)] for after, capture in found if capture]
        lost = [1 if metric == "dtc" else -v for v in taken if v < 0]
        self.wins = min(lost, default=None)  # a loss in n has the value -n - 1, this wins in n + 1
        won = [0 if metric == "dtc" else v for v in taken]
        self.loses = max(won, default=None)
        self.escapes = any(v <= 0 for v in taken)


def _solve_alone(white: str, black: str, metric: str, values: Values) -> None:
    waiting: dict[tuple[Position, str], _Waiting] = {}
    for position in positions(white, black):
        men = {square: letter for letter, square in position}
        for side in "wb":
            if not exposed(men, other(side)):
                waiting[position, side] = _Waiting(position, side, metric, values)
    depth, quiet, last = 0, 0, _deepest(waiting)
    while depth <= last or quiet < 2:
        won = {k for k, w in waiting.items() if depth and _wins(w, depth, values)}
        for key in won:
            values[key] = depth
            del waiting[key]
        lost = [k for k, w in waiting.items() if _loses(w, depth, values)]
        for key in lost:
            values[key] = -depth - 1
            del waiting[key]
        quiet = 0 if won or lost else quiet + 1
        depth += 1
    values.update(dict.fromkeys(waiting, 0))


def _deepest(waiting: dict[tuple[Position, str], _Waiting]) -> int:
    return max((d for w in waiting.values() for d in (w.wins, w.loses) if d is not None), default=0)


def _wins(w: _Waiting, depth: int, values: Values) -> bool:
    return w.wins == depth or any(values.get(after) == -depth for after in w.quiet)


def _loses(w: _Waiting, depth: int, values: Values) -> bool:
    if w.escapes or (w.loses is not None and w.loses > depth):
        return False
    return all(0 < values.get(after, 0) <= depth for after in w.quiet)
