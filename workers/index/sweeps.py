"""The order in which a proof goes through the partitions of a walk, so that it holds few at once.

A partition is proved with those that the mover's king can enter from it.  A walk is a board with
this king on one of up to 58 squares, turned so that the other king stands on the walk's square.  A
sweep goes up a strip of the board rank by rank, and then up the next strip.  Before each batch of
partitions it reads those that the batch needs and that it does not hold; after the batch it lets go
of those that no later batch of the strip needs.

    files of a strip                            8      4      2      1
    partitions held at most, batches of one    19     13     11      9
    partitions read, of those of a walk         1      1.21   1.69   2.66

The same partitions are proved in any order, each once, so the verdict is the same.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Side

FILES = 8
SMALL = 64 << 20  # bytes that a proof may always take
LEAST = 24  # bytes for each slot of a partition with which a sweep of any table fits
WALK = 58  # partitions of the largest walk


class SweepShape(NamedTuple):
    """The files of a strip, and the partitions of a batch."""

    files: int
    together: int


WHOLE = SweepShape(FILES, 64)
"""A walk at once."""


class SweepBatch(NamedTuple):
    """Partitions that are proved together, those that are read before, and let go after that."""

    pairs: list[int]
    read: list[int]
    gone: list[int]


def strips(mover: Side, pairs: Iterable[int], files: int) -> list[list[int]]:
    """Divides partitions of a walk into strips of the board, each in the order of a sweep."""
    squares = _squares(mover)
    found: dict[int, list[int]] = {}
    for pair in sorted(pairs, key=lambda pair: squares[pair]):
        found.setdefault(squares[pair] % FILES // files, []).append(pair)
    return [found[strip] for strip in sorted(found)]


@lru_cache(maxsize=len(SIDES))
def _squares(mover: Side) -> list[int]:
    squares: list[int] = TURNED.walk_squares(mover)[1].tolist()
    return squares


def sweep(mover: Side, pairs: Iterable[int], shape: SweepShape) -> list[SweepBatch]:
    """Returns the batches of partitions of a walk, in order."""
    return [
        batch for strip in strips(mover, pairs, shape.files) for batch in _up(mover, strip, shape)
    ]


def _up(mover: Side, strip: Sequence[int], shape: SweepShape) -> list[SweepBatch]:
    """Returns the batches of a strip."""
    parts = [strip[at : at + shape.together] for at in range(0, len(strip), shape.together)]
    needs = [TURNED.around(part, mover).union(part) for part in parts]
    last = {pair: place for place, needed in enumerate(needs) for pair in needed}
    batches, held = [], set[int]()
    for place, (part, needed) in enumerate(zip(parts, needs, strict=True)):
        gone = {pair for pair in held | needed if last[pair] == place}
        batches.append(SweepBatch([*part], sorted(needed - held), sorted(gone)))
        held = (held | needed) - gone
    return batches


def most_held(batches: Iterable[SweepBatch]) -> int:
    """Returns how many partitions are held at once, at most."""
    held = most = 0
    for batch in batches:
        held += len(batch.read)
        most, held = max(most, held), held - len(batch.gone)
    return most


class ProofNeeds(NamedTuple):
    """The memory of a proof: slots of a partition, bytes of a value, men beside the kings, and
    threads.
    """

    slots: int
    item: int
    men: int
    threads: int

    def bytes_of(self, shape: SweepShape) -> int:
        """The bytes in a shape: the keys of what is held, the values that threads read, and smaller
        tables, one for each man and the one that is read.
        """
        held, reading = held_by(shape), 2 * min(self.threads, shape.together)
        entered = len(TURNED) if shape == WHOLE else held
        return self.item * self.slots * (64 * (held + reading) + entered * (self.men + 1)) // 64

    def shape_within(self, room: int) -> SweepShape:
        """Returns the shape that takes no more than so many bytes, if there is one: with as many
        threads at work as possible, and of those the one that reads least.
        """
        counts = [self.threads >> halved for halved in range(self.threads.bit_length())]
        shapes = WHOLE, *(SweepShape(files, count) for count in counts for files in (8, 4, 2, 1))
        return next((shape for shape in shapes if self.bytes_of(shape) <= room), shapes[-1])


def room_in(memory: int) -> int:
    """Returns the bytes that a proof may take of so much memory: the process needs some itself."""
    return memory * 3 // 4


def room_of(slots: int, sets: int = 0) -> int:
    """Returns the bytes that a proof may take after an analysis that held so many partitions of
    sets besides those of a walk: as many as that, or what any table needs.
    """
    return max(SMALL, slots * max(LEAST, (sets + 2 * WALK) // 8))


@lru_cache(maxsize=64)
def held_by(shape: SweepShape) -> int:
    """Returns how many partitions a sweep of any walk holds at most."""
    return max(
        most_held(sweep(mover, walk.tolist(), shape))
        for mover in SIDES
        for walk in TURNED.walks(mover)
    )
