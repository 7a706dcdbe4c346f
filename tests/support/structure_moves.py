"""The best moves of all positions of a pawn structure.

The positions of a structure are an array [king pair][square of piece 0][square of piece 1]...  Each
kind of move is made for all of them at once:

    quiet        the structure entered is the same; kings and pieces go to other places of the array
    captures     by kings and pieces: where captor and captive meet, the array entered holds the
                 position after the capture, so that they are moves like the others
    pushes       the array of another structure, same place
    by pawns     captures and promotions: positions of smaller tables, looked up one by one
    en passant   a double step beside an enemy pawn leads to a position with a right, without a
                 row.  Its value is the better of the captures en passant and of the row's
                 value, which counts if the side to move has any other move.

Cost: 50 ns a row for one pawn and one piece, 140 ns for a pawn on each side.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from move_keys import RULES, Keys, Rules, best_keys_of, entered_by, keys_of, values_of
from placed_men import (
    DIRECTIONS,
    FORWARD,
    SLIDERS,
    Flags,
    Men,
    PlacedMan,
    Squares,
    are_legal,
    step,
)
from structure_positions import Positions

from kingpair.workers.game.chess.material import PROMOTIONS
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.number_types import STRONGER, WEAKER

LAST_RANK, FIRST_RANK = (7, 0), (1, 6)  # of a pawn of each side
Place = tuple[Squares, ...]


class KeySource(Protocol):
    """The keys of moves to positions; 0 where the position is not legal."""

    def of_structure(self, number: int, to_move: int) -> Keys:
        """The keys of all positions of a structure of the table itself."""
        ...

    def of_smaller(self, men: Men, to_move: int) -> Keys:
        """The keys of legal positions of a smaller table."""
        ...


class StructureMoves:
    """The best keys of the positions of a table's structures."""

    def __init__(
        self, positions: Positions, source: KeySource, rules: Rules = RULES[Metric.DTM]
    ) -> None:
        self._positions, self._source, self._rules = positions, source, rules
        self._steps = [_king_steps(side) for side in (STRONGER, WEAKER)]

    def best(self, number: int, mover: int, en_passant: bool = True) -> Keys:
        """The best key of each position with `mover` to move; 0 without a move, or anything if
        the position is not legal.  Without `en_passant` double steps give no right to capture.
        """
        entered = self._entered(number, mover)
        best = np.zeros_like(entered)
        for here, there in self._steps[mover]:
            best[here] = np.maximum(best[here], entered[there])
        for axis, (letter, side) in enumerate(self._positions.pieces):
            if side == mover:
                self._move_piece(number, axis, letter, entered, best)
        for pawn in self._positions.pawns(number):
            if pawn.side == mover:
                self._push(number, pawn, best, en_passant)
                self._capture_by_pawn(number, pawn, best)
        return best

    # ---- kings and pieces ----

    def _entered(self, number: int, mover: int) -> Keys:
        """The keys of quiet moves, and of captures where captor and captive meet."""
        entered = self._source.of_structure(number, 1 - mover).copy()
        for captor in self._captors(mover):
            for captive, (_, side) in enumerate(self._positions.pieces):
                if side != mover:
                    place = self._place({captive: captor})
                    men = self._without_piece(number, captive)
                    entered[place] = self._legal_keys(men, 1 - mover)
        for pawn in self._positions.pawns(number):
            if pawn.side != mover:
                self._take_pawn(number, pawn, mover, entered)
        return entered

    def _captors(self, mover: int) -> Iterator[Squares]:
        """The squares of the king and of each piece of a side."""
        yield self._positions.kings[mover]
        for (_, side), square in zip(self._positions.pieces, self._positions.squares, strict=True):
            if side == mover:
                yield square

    def _take_pawn(self, number: int, pawn: PlacedMan, mover: int, entered: Keys) -> None:
        men = [man for man in self._positions.men(number) if man is not pawn]
        keys = np.broadcast_to(self._legal_keys(men, 1 - mover), self._positions.shape)
        for captor in self._captors(mover):
            meet = np.broadcast_to(captor == pawn.square, self._positions.shape)
            entered[meet] = keys[meet]

    def _place(self, squares: dict[int, Squares]) -> Place:
        """The places in the array with some pieces on the squares given."""
        own = (squares.get(axis, square) for axis, square in enumerate(self._positions.squares))
        return np.broadcast_arrays(self._positions.pairs, *own)

    def _without_piece(self, number: int, axis: int) -> list[PlacedMan]:
        men = self._positions
        pieces = [man for i, man in enumerate(men.placed_pieces()) if i != axis]
        return [*men.placed_kings(), *men.pawns(number), *pieces]

    def _legal_keys(self, men: Men, to_move: int) -> Keys:
        """The keys of positions of a smaller table; 0 where they are not legal."""
        legal, keys = are_legal(men, to_move), self._source.of_smaller(men, to_move)
        return np.where(legal, keys, keys.dtype.type(0))

    def _move_piece(self, number: int, axis: int, letter: str, entered: Keys, best: Keys) -> None:
        at = np.ascontiguousarray(np.moveaxis(entered, 1 + axis, 0))
        open_ = np.moveaxis(self._open(number, axis, entered.dtype), 1 + axis, 0)
        found = np.zeros_like(at)
        for here, there in _steps_of(letter):
            way = np.zeros_like(at)
            for _ in range(7 if letter in SLIDERS else 1):
                way[here] = np.maximum(at, way & open_)[there]
            np.maximum(found, way, out=found)
        np.maximum(best, np.moveaxis(found, 0, 1 + axis), out=best)

    def _open(self, number: int, axis: int, dtype: np.dtype[Any]) -> Keys:
        """All bits where a slider can pass the square of a piece: no other man stands there."""
        square = self._positions.squares[axis]
        is_free = np.ones(self._positions.shape, np.bool_)
        for man in self._positions.men(number):
            if man.square is not square:
                is_free &= man.square != square
        open_: Keys = np.where(is_free, dtype.type(np.iinfo(dtype).max), dtype.type(0))
        return open_

    # ---- pawns ----

    def _push(self, number: int, pawn: PlacedMan, best: Keys, en_passant: bool) -> None:
        forward = (0, FORWARD[pawn.side])
        pawns = self._positions.pawns(number)
        to = step(int(pawn.square), forward)
        assert to is not None, "a pawn on the last rank"
        if _is_taken(pawns, to):
            return
        if to >> 3 == LAST_RANK[pawn.side]:
            men = [*self._positions.placed_kings(), *self._positions.placed_pieces()]
            self._promote(men, number, pawn, to, self._place({}), best)
            return
        keys = self._source.of_structure(self._pushed(number, pawn, to), 1 - pawn.side)
        self._improve(best, self._push_keys(keys))
        beyond = step(to, forward)
        if int(pawn.square) >> 3 == FIRST_RANK[pawn.side] and not _is_taken(pawns, beyond):
            assert beyond is not None, "a double step off the board"
            after = self._pushed(number, pawn, beyond)
            keys = self._source.of_structure(after, 1 - pawn.side)
            keys = (
                self.with_right(after, pawn.side, to, beyond, keys)
                if en_passant
                else self._push_keys(keys)
            )
            self._improve(best, np.where(self._is_free(to), keys, keys.dtype.type(0)))

    def _push_keys(self, keys: Keys) -> Keys:
        """The keys of pushes to positions, given those of quiet moves to them."""
        pushed = keys_of(entered_by(keys, self._rules.quiet), self._rules.push)
        return np.where(keys == 0, keys, pushed)

    def _pushed(self, number: int, pawn: PlacedMan, to: int) -> int:
        pawns = self._positions.pawns(number)
        return self._positions.number_of([_moved(man, to) if man is pawn else man for man in pawns])

    def _is_free(self, square: int) -> Flags:
        """Whether no king or piece stands on a square."""
        is_free = np.ones((), np.bool_)
        for man in [*self._positions.placed_kings(), *self._positions.placed_pieces()]:
            is_free = is_free & (man.square != square)
        return is_free

    def _improve(self, best: Keys, keys: Keys) -> None:
        np.maximum(best, keys, out=best)

    def _promote(
        self, others: Men, number: int, pawn: PlacedMan, to: int, place: Place, best: Keys
    ) -> None:
        """Promotes a pawn to each piece; `others` are the men after the move but for pawns."""
        pawns = [man for man in self._positions.pawns(number) if man is not pawn]
        square = np.array(to, np.intp)
        legal: Flags | None = None
        for letter in PROMOTIONS:
            men = [*others, *pawns, PlacedMan(letter, pawn.side, square)]
            if legal is None:  # the same for all: the piece is the mover's own
                legal = are_legal(men, 1 - pawn.side)
            keys = self._source.of_smaller(men, 1 - pawn.side)
            best[place] = np.maximum(best[place], np.where(legal, keys, keys.dtype.type(0)))

    def _capture_by_pawn(self, number: int, pawn: PlacedMan, best: Keys) -> None:
        kings = self._positions.placed_kings()
        pawns = self._positions.pawns(number)
        for file in (-1, 1):
            to = step(int(pawn.square), (file, FORWARD[pawn.side]))
            if to is None:
                continue
            if _is_taken(pawns, to):
                self._capture_pawn(number, pawn, to, best)
                continue
            after = [_moved(man, to) if man is pawn else man for man in pawns]
            for captive, (_, side) in enumerate(self._positions.pieces):
                if side == pawn.side:
                    continue
                place = self._place({captive: np.array(to, np.intp)})
                others = [m for i, m in enumerate(self._positions.placed_pieces()) if i != captive]
                if to >> 3 == LAST_RANK[pawn.side]:
                    self._promote([*kings, *others], number, pawn, to, place, best)
                else:
                    keys = self._legal_keys([*kings, *after, *others], 1 - pawn.side)
                    best[place] = np.maximum(best[place], keys)

    def _capture_pawn(self, number: int, pawn: PlacedMan, to: int, best: Keys) -> None:
        """Captures the pawn on a square, if it is an enemy's."""
        captive = next(man for man in self._positions.pawns(number) if man.square == to)
        if captive.side != pawn.side:
            men = [man for man in self._positions.men(number) if man is not captive]
            after = [_moved(man, to) if man is pawn else man for man in men]
            self._improve(best, self._legal_keys(after, 1 - pawn.side))

    # ---- en passant ----

    def with_right(self, number: int, mover: int, passed: int, entered: int, keys: Keys) -> Keys:
        """The keys of a double step into a structure, with the right to capture en passant, given
        those of quiet moves.
        """
        pawns = self._positions.pawns(number)
        stepped = next(man for man in pawns if man.square == entered)
        captors = [
            man for man in pawns if man.side != mover and _is_beside(int(man.square), entered)
        ]
        captures = np.zeros_like(keys)
        for captor in captors:
            men = [man for man in self._positions.men(number) if man is not stepped]
            men = [_moved(man, passed) if man is captor else man for man in men]
            np.maximum(captures, self._legal_keys(men, mover), out=captures)
        with_right = (captures != 0) & (keys != 0)
        if not with_right.any():
            return self._push_keys(keys)
        other = best_keys_of(entered_by(keys, self._rules.quiet))
        has_move = self.best(number, 1 - mover, en_passant=False) != 0
        better = np.maximum(captures, np.where(has_move, other, other.dtype.type(0)))
        return np.where(
            with_right, keys_of(values_of(better), self._rules.push), self._push_keys(keys)
        )


def _is_taken(pawns: Men, square: int | None) -> bool:
    return any(man.square == square for man in pawns)


def _is_beside(square: int, other: int) -> bool:
    return square >> 3 == other >> 3 and abs(square - other) == 1


def _moved(man: PlacedMan, to: int) -> PlacedMan:
    return man._replace(square=np.array(to, np.intp))


def _arrays(steps: Sequence[tuple[int, int]]) -> tuple[Squares, Squares]:
    here, there = zip(*steps, strict=True)
    return np.array(here, np.intp), np.array(there, np.intp)


def _steps_of(letter: str) -> Iterator[tuple[Squares, Squares]]:
    """The squares with a next one in each direction of a piece, and these next ones."""
    for direction in DIRECTIONS[letter]:
        steps = ((square, step(square, direction)) for square in range(64))
        yield _arrays([(here, there) for here, there in steps if there is not None])


def _king_steps(side: int) -> list[tuple[Squares, Squares]]:
    """The king pairs that a side's king can leave in each direction, and those that it enters."""
    numbers = {kings: pair for pair, kings in enumerate(FIXED.squares)}

    def after(kings: tuple[int, int], to: int) -> tuple[int, int]:
        return (to, kings[1]) if side == STRONGER else (kings[0], to)

    found = []
    for direction in DIRECTIONS["K"]:
        steps = [
            (pair, numbers[entered])
            for kings, pair in numbers.items()
            if (to := step(kings[side], direction)) is not None
            and (entered := after(kings, to)) in numbers
        ]
        found.append(_arrays(steps))
    return found
