"""Sets of positions of Chinese chess as the kernels hold them and as plain Python does, and the
plain twins of un-moves and un-captures.

Positions have the form of the oracle; of a position and its mirror image a set has the smaller.  A
twin tries every square that a man could have come from, and asks the oracle's forward rules.
"""

import random
from collections.abc import Iterable, Iterator
from itertools import permutations, product

import numpy as np
from xiangqi_oracle import BOARD, Man, Position, exposed, may_stand, position_of, targets
from xiangqi_oracle import moves as moves_of

from kingpair.workers import _kernels
from kingpair.workers.index.frame import SidePlacement
from kingpair.workers.number_types import STRONGER, Side
from kingpair.workers.sets.block_domain import block_domain
from kingpair.workers.sets.memory import Layer, Words, zeros

Positions = frozenset[Position]
COLOURS = "wb"


def mirrored(position: Position) -> Position:
    return tuple(sorted((letter, (8 - f, r)) for letter, (f, r) in position))


def chosen(position: Position) -> Position:
    """The position or its mirror image, whichever stands for both."""
    return min(position, mirrored(position))


class BlockSets:
    """The sets of one domain."""

    def __init__(self, white: str, black: str) -> None:
        self.domain = block_domain(white, black)
        self.index = self.domain.index
        self.scratch = _kernels.Scratch(self.domain.kernel)
        self.blocks = np.arange(self.index.partitions, dtype=np.int16)
        self._letters = [m if side == STRONGER else m.lower() for m, side in self.index.men]

    def empty(self) -> Layer:
        return Layer.empty(len(self.blocks), self.index.rows)

    def position(self, block: int, slot: int) -> Position | None:
        """The position of a slot, None if two men share a square."""
        inner, rest = divmod(slot, self.index.slots_each)
        squares = []
        for possible in reversed(self.index.squares_by_axis):
            rest, at = divmod(rest, len(possible))
            squares.append(possible[at])
        men = list(zip(self._letters, reversed(squares), strict=True))
        lower, upper = self.index.lower.kept[inner], self.index.kings.upper.kept[block]
        for placement, letters in ((lower, "KAB"), (upper, "kab")):
            for letter, standing in zip(letters, placement.by_letter, strict=True):
                men += [(letter, square) for square in standing]
        if len({square for _, square in men}) < len(men):
            return None
        return chosen(tuple(sorted((letter, (s % 9, s // 9)) for letter, s in men)))

    def slots(self, position: Position) -> Iterator[tuple[int, int]]:
        """The blocks and slots that hold a position: like men in any order, both mirror images."""
        for shown in {position, mirrored(position)}:
            upper = self.index.kings.upper.keep(_placement(shown, "kab"))
            if upper.mirrored:
                continue
            inner = self.index.lower.keep(_placement(shown, "KAB")).number
            for order in self._orders(shown):
                slot = inner
                for square, possible in zip(order, self.index.squares_by_axis, strict=True):
                    slot = slot * len(possible) + possible.index(square)
                yield upper.number, slot

    def _orders(self, position: Position) -> Iterator[tuple[int, ...]]:
        kinds = sorted(set(self._letters), key=self._letters.index)
        for orders in product(*(permutations(_squares(position, kind)) for kind in kinds)):
            left = {kind: list(order) for kind, order in zip(kinds, orders, strict=True)}
            yield tuple(left[letter].pop() for letter in self._letters)

    def words(self, positions: Iterable[Position]) -> Words:
        """The set of all blocks."""
        marks: dict[int, list[int]] = {}
        for position in positions:
            for block, slot in self.slots(position):
                marks.setdefault(block, []).append(slot)
        size = self.domain.words
        words = zeros(len(self.blocks) * size, np.uint64)
        for block, slots in marks.items():
            flags = np.zeros(self.index.slots_used, np.bool_)
            flags[slots] = True
            _kernels.set_of_marks(
                self.domain.kernel, flags, words[block * size : (block + 1) * size]
            )
        return words

    def layer(self, positions: Iterable[Position]) -> Layer:
        layer = self.empty()
        layer.words[:] = self.words(positions)
        layer.mark()
        return layer

    def legal(self, mover: Side) -> Layer:
        """All legal positions with a side to move."""
        layer = self.empty()
        _kernels.prepare(self.domain.kernel, self.blocks, mover, [], layer.kernel, self.scratch)
        return layer

    def positions(self, layer: Layer) -> Positions:
        """The positions of a layer, which must hold all slots of each."""
        found: set[Position] = set()
        count, size = 0, self.domain.words
        words = layer.dense()
        for block in np.flatnonzero(layer.live):
            flags = self.domain.slots_of(words[block * size : (block + 1) * size])
            for slot in np.flatnonzero(flags).tolist():
                position = self.position(int(block), slot)
                assert position is not None, "two men on one square"
                found.add(position)
                count += 1
        assert count == sum(len(set(self.slots(position))) for position in found)
        return frozenset(found)

    def draw(self, chance: random.Random, to_move: Side, count: int) -> Positions:
        """Some legal positions with a side to move."""
        found: set[Position] = set()
        while len(found) < count:
            block = chance.randrange(len(self.blocks))
            position = self.position(block, chance.randrange(self.index.slots_used))
            if position is not None and is_legal(position, to_move):
                found.add(position)
        return frozenset(found)


def is_legal(position: Position, to_move: Side) -> bool:
    return not exposed({square: man for man, square in position}, COLOURS[1 - to_move])


def unmoved(after: Iterable[Position], mover: Side) -> Positions:
    """The legal positions in which `mover` has a quiet move into one of the positions."""
    return frozenset(before for each in after for before in _before(each, mover, None))


def uncaptured(after: Iterable[Position], mover: Side, captive: str) -> Positions:
    """The legal positions in which `mover` can take a man and reach one of the positions."""
    return frozenset(before for each in after for before in _before(each, mover, captive))


def _before(after: Position, mover: Side, captive: str | None) -> Iterator[Position]:
    men = {square: letter for letter, square in after}
    for letter, end in after:
        if letter.isupper() != (mover == STRONGER):
            continue
        if captive is not None and not may_stand(captive, end):
            continue
        left = {square: man for square, man in men.items() if square != end}
        if captive is not None:
            left[end] = captive
        for start in BOARD:
            if start not in men and may_stand(letter, start):
                before = left | {start: letter}
                if end in targets(letter, start, before):
                    position = position_of(before)
                    if is_legal(position, mover):
                        yield chosen(position)


def quiet_moves(position: Position, mover: Side) -> Positions:
    """The positions after the moves that take nothing."""
    after = moves_of(position, COLOURS[mover])
    return frozenset(chosen(each) for each, captures in after if not captures)


def _squares(position: Iterable[Man], letter: str) -> tuple[int, ...]:
    return tuple(sorted(f + 9 * r for man, (f, r) in position if man == letter))


def _placement(position: Position, letters: str) -> SidePlacement:
    king, advisors, elephants = (_squares(position, letter) for letter in letters)
    return SidePlacement(king[0], advisors, elephants)
