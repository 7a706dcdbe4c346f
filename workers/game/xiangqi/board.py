"""The board of Chinese chess: nine files, ten ranks, two palaces and a river.

A square is file + 9 * rank, 0..89; a1 = 0, i1 = 8, a10 = 81.  White, whose other name is Red,
stands below.  Kings and advisors stay in their palace, elephants on their own side of the river,
and a pawn has 55 squares, because before the river it stays on its file.  All lists are those of
the lower side, in ascending order; `flip` turns them into those of the upper one.
"""

FILES, RANKS = 9, 10
SQUARES = range(FILES * RANKS)
RIVER = 5
"""The first rank beyond the river, seen from below."""

Squares = tuple[int, ...]


def square_at(file: int, rank: int) -> int:
    return file + FILES * rank


def mirror(square: int) -> int:
    """The square on which the mirror image of the files shows a square."""
    return square + FILES - 1 - 2 * (square % FILES)


def flip(square: int) -> int:
    """The square that the other side counts as this one: ranks change, files do not."""
    return square % FILES + FILES * (RANKS - 1 - square // FILES)


def square_name(square: int) -> str:
    return "abcdefghi"[square % FILES] + str(square // FILES + 1)


SQUARE_NAMES = tuple(map(square_name, SQUARES))

PALACE: Squares = tuple(square_at(f, r) for r in range(3) for f in (3, 4, 5))
ADVISORS: Squares = tuple(
    sorted(square_at(f, r) for f, r in ((3, 0), (5, 0), (4, 1), (3, 2), (5, 2)))
)
ELEPHANTS: Squares = tuple(
    sorted(square_at(f, r) for f, r in ((2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)))
)
PAWNS: Squares = tuple(
    s for s in SQUARES if s // FILES >= RIVER or (s // FILES >= 3 and s % FILES % 2 == 0)
)
EVERYWHERE: Squares = tuple(SQUARES)

assert (len(PALACE), len(ADVISORS), len(ELEPHANTS), len(PAWNS)) == (9, 5, 7, 55)


def squares_of(letter: str, upper: bool) -> Squares:
    """The squares on which a man of one side can stand, in ascending order."""
    lower = {"K": PALACE, "A": ADVISORS, "B": ELEPHANTS, "P": PAWNS}.get(letter, EVERYWHERE)
    return tuple(sorted(map(flip, lower))) if upper else lower
