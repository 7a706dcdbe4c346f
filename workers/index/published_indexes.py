"""The numbers of entries that published indexes have for a material, by formula.

An index gives each position an entry.  Entries that hold no position are its waste.  Sizes are for
one side to move; men that are alike are not told apart unless said.

    Edwards     10 squares of a king (32 with pawns), 64 of every other man
    Thompson    462 placings of the kings, 64 squares of every other man; with pawns 24 squares of
                the first pawn, 48 of every further one, 64 of every other man
    Heinz       462 placings of the kings (1,806 with pawns), then combinations of free squares
    Nalimov     as Heinz, but a man of the side to move never stands where it would check at once,
                and its men of different kinds may share a square
    Syzygy      three men (31,332 placings), the kings (462) or a side's pawns first, then
                combinations of free squares, adjacent kings among them

The formulas are those of Edwards (1995), Thompson (1986, 1996), Heinz (1999), of Nalimov, Haworth
and Heinz (2001) and of the readers of Syzygy's files.  Nalimov's index ends at its last entry that
holds a position; its entries at the very end that hold none are left out.  That end is found by
going back through the last placing of the kings, in the order of Nalimov's index:

    kinds of the side to move, those with more like men first, then Q R B N P; then the other
    side's; like men in colexicographic order; squares by files a to h, within a file from rank 8
    down to rank 1

Squares are numbered in that order here: a8 is 0, a1 is 7, h1 is 63.  It is the usual numbering on a
board that is turned, so squares touch and boards are turned as `board.py` says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import comb, prod

from kingpair.workers.game.chess.material import LETTERS, Material
from kingpair.workers.index.board import SQUARES, TURN, touch

BOARD_OF_A_PAWN = 48
FIRST_PAWN = 24  # one of a square and its mirror image
KINGS = 462
KINGS_WITH_PAWNS = 1806
SYZYGY_TRIPLES = 31_332


@dataclass(frozen=True, slots=True)
class PublishedSizes:
    """Entries of each index, for one side to move."""

    edwards: int
    thompson: int
    heinz: int
    nalimov: int
    syzygy: int


def published_sizes(material: Material, mover: int) -> PublishedSizes:
    """The sizes for a material with the stronger (0) or the weaker (1) side to move."""
    sides = material.stronger, material.weaker
    own, other = sides[mover], sides[1 - mover]
    return PublishedSizes(
        edwards=(32 if material.has_pawns else 10) * 64 ** (material.men - 1),
        thompson=_thompson(material),
        heinz=_heinz(own, other),
        nalimov=_nalimov(own, other),
        syzygy=_syzygy(*sides),
    )


# ---- indexes that do not depend on who is to move ----


def _thompson(material: Material) -> int:
    pawns = sum(material.pawns)
    further = prod([BOARD_OF_A_PAWN] * (pawns - 1))
    first = 64 * 64 * FIRST_PAWN if pawns else KINGS  # with pawns the kings stand anywhere
    return first * further * prod([64] * len(material.pieces))


def _heinz(own: str, other: str) -> int:
    """The pawns of both sides stand on their squares, other men on those that are left."""
    pawns = own.count("P"), other.count("P")
    kings = KINGS_WITH_PAWNS if any(pawns) else KINGS
    found = comb(BOARD_OF_A_PAWN, pawns[0]) * comb(BOARD_OF_A_PAWN - pawns[0], pawns[1])
    return kings * found * _placings(own + " " + other, 62 - sum(pawns))


def _placings(men: str, free: int) -> int:
    """Ways to place the men other than pawns, given in groups of like men, on free squares."""
    found = 1
    for side in men.split(" "):
        for _, like in _kinds(side.replace("P", "")):
            found *= comb(free, like)
            free -= like
    return found


def _syzygy(stronger: str, weaker: str) -> int:
    counts = stronger.count("P"), weaker.count("P")
    if any(counts):
        # The side with fewer pawns leads, if it has any.  Its pawns are told by the outermost one.
        leading, rest = sorted(counts) if all(counts) else (sum(counts), 0)
        first = sum(comb(later, leading - 1) for later in range(1, BOARD_OF_A_PAWN, 2))
        pawns = first * comb(BOARD_OF_A_PAWN - leading, rest)
        free = 64 - sum(counts)
        return pawns * free * (free - 1) * _placings(f"{stronger} {weaker}", free - 2)
    kinds = [like for side in (stronger, weaker) for _, like in _kinds(side)]
    singles = kinds.count(1)
    free = 62 - min(singles, 1)
    found = SYZYGY_TRIPLES if singles else KINGS
    for like in sorted(kinds)[min(singles, 1) :]:
        found *= comb(free, like)
        free -= like
    return found


# ---- Nalimov's index ----


def _nalimov(own: str, other: str) -> int:
    """All entries, with those for rights to capture en passant, less those at the end."""
    placings = _placings_of_kings("P" in own + other)
    entries = sum(_with_kings(own, other, enemy, king) for enemy, king in placings)
    if "P" in own and "P" in other:
        entries += sum(_en_passant(own, other, enemy, king) for enemy, king in placings)
    return entries - _empty_end(own, other, placings[-1])


@cache
def _placings_of_kings(pawns: bool) -> tuple[tuple[int, int], ...]:
    """(enemy king, own king), in ascending order: one of those that symmetries make alike.

    With pawns the own king stands on files a to d.  Without, the enemy king is turned as near to
    h1 as it goes, and the own king to the lower number if a turn leaves the enemy king there.
    """
    apart = ((e, k) for e, k in product(SQUARES, SQUARES) if not touch(e, k))
    if pawns:
        return tuple((enemy, king) for enemy, king in apart if king < 32)
    turns = TURN.tolist()
    turned = {max((t[e], -t[k]) for t in turns) for e, k in apart}
    return tuple(sorted((enemy, -king) for enemy, king in turned))


def _with_kings(own: str, other: str, enemy: int, king: int) -> int:
    pawns = other.count("P")
    if own:
        room = BOARD_OF_A_PAWN - own.count("P")
    else:
        room = BOARD_OF_A_PAWN - sum(_is_inside(square) for square in (enemy, king))
    found = prod(comb(len(_safe(kind, enemy, king)), like) for kind, like in _kinds(own))
    return found * comb(room, pawns) * _placings(other, 62 - len(own) - pawns)


def _en_passant(own: str, other: str, enemy: int, king: int) -> int:
    """Entries of the zone for rights: 14 places of the two pawns, then all other men."""
    pawns = own.count("P") - 1, other.count("P") - 1
    pieces = own.replace("P", "")
    found = prod(comb(len(_safe(kind, enemy, king)), like) for kind, like in _kinds(pieces))
    free = 58 - sum(pawns) - len(pieces)
    return 14 * found * comb(44, pawns[0]) * comb(44, pawns[1]) * _placings(other, free)


def _empty_end(own: str, other: str, kings: tuple[int, int]) -> int:
    """Entries after the last one that holds a position."""
    empty = 0
    for men in _backwards(own, *kings):
        for others in _backwards_others(other, men, kings):
            if _holds_position(men, others, kings):
                return empty
            empty += 1
    raise AssertionError("the last placing of the kings holds no position")


Men = tuple[tuple[str, int], ...]
"""Kinds of men and their squares."""


def _backwards(own: str, enemy: int, king: int) -> Iterator[Men]:
    """Placings of the men of the side to move, last one first."""
    kinds = _kinds(own)
    squares = [_descending(_safe(kind, enemy, king), like) for kind, like in kinds]
    for chosen in product(*squares):
        yield tuple(
            (kind, square)
            for (kind, _), placed in zip(kinds, chosen, strict=True)
            for square in placed
        )


def _backwards_others(other: str, men: Men, kings: tuple[int, int]) -> Iterator[tuple[int, ...]]:
    """Placings of the other side's men, last one first, on squares that no other man needs.

    If two men share a square, there is one more free square than the index counts; which one is
    left out makes no difference, since no such entry holds a position.
    """
    taken = {square for _, square in men}.union(kings)
    free = [square for square in SQUARES if square not in taken]
    free = free[len(free) - (62 - len(men)) :]
    return _place_all(_kinds(other), free)


def _place_all(kinds: Sequence[tuple[str, int]], free: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not kinds:
        yield ()
        return
    (kind, like), *rest = kinds
    room = [square for square in free if kind != "P" or _is_inside(square)]
    for placed in _descending(room, like):
        left = [square for square in free if square not in placed]
        for others in _place_all(rest, left):
            yield placed + others


def _descending(squares: Sequence[int], like: int) -> list[tuple[int, ...]]:
    """The ways to choose squares, the last one in colexicographic order first."""
    return sorted(combinations(squares, like), key=lambda chosen: chosen[::-1], reverse=True)


def _holds_position(men: Men, others: tuple[int, ...], kings: tuple[int, int]) -> bool:
    """Whether no two men share a square and the side that is not to move is not in check."""
    squares = [square for _, square in men]
    if len(set(squares)) < len(squares):
        return False
    taken = {*squares, *others, *kings}
    return not any(_attacks(kind, square, kings[0], taken) for kind, square in men)


# ---- the board ----


def _kinds(men: str) -> list[tuple[str, int]]:
    """The kinds among the men and their numbers, in the order of Nalimov's index."""
    counted = [(letter, men.count(letter)) for letter in LETTERS if letter in men]
    return sorted(counted, key=lambda kind: -kind[1])


@cache
def _safe(kind: str, enemy: int, king: int) -> tuple[int, ...]:
    """The squares of a man of the side to move: not a king's, and with no check at once."""
    return tuple(
        square
        for square in SQUARES
        if square not in (enemy, king)
        and (kind != "P" or _is_inside(square))
        and not _attacks_beside(kind, square, enemy)
    )


def _attacks_beside(kind: str, square: int, target: int) -> bool:
    """Whether a man attacks a square and nothing can stand between."""
    files, ranks = _way(square, target)
    step = sorted((abs(files), abs(ranks)))
    if kind == "N":
        return step == [1, 2]
    if kind == "P":
        return step == [1, 1] and ranks == 1
    return kind in {(1, 1): "QB", (0, 1): "QR"}.get((step[0], step[1]), "")


def _attacks(kind: str, square: int, target: int, taken: set[int]) -> bool:
    """Whether a man attacks a square past those that are taken."""
    if _attacks_beside(kind, square, target) or kind in "NP":
        return _attacks_beside(kind, square, target)
    files, ranks = _way(square, target)
    straight, diagonal = not files or not ranks, abs(files) == abs(ranks)
    if not (straight and kind in "QR") and not (diagonal and kind in "QB"):
        return False
    length = max(abs(files), abs(ranks))
    step = 8 * (files // length) - ranks // length
    return taken.isdisjoint(range(square + step, target, step))


def _way(square: int, target: int) -> tuple[int, int]:
    """The files and the ranks from a square to another."""
    return target // 8 - square // 8, square % 8 - target % 8


def _is_inside(square: int) -> bool:
    """Whether a pawn can stand there: on ranks 2 to 7."""
    return 0 < square % 8 < 7
