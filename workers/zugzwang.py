"""Mutual zugzwangs: positions in which either side would be better off if it need not move.

Such a position is the same men with White to move and with Black to move, both legal; whoever is
to move gets less than the other would wish it to.  Named by the result with White to move and
with Black to move, as Nalimov, Haworth and Heinz do:

    =/1-0      White to move draws, Black to move loses
    0-1/=      White to move loses, Black to move draws
    0-1/1-0    whoever is to move loses

So neither side to move wins, and at least one of them loses.  Both columns of a table keep the
same placement in the same row, and a slot is canonical whoever is to move.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from workers.material import STRONGER, WEAKER, Material
from workers.painting import fen_of
from workers.sections import Flags, Section, Slots, read
from workers.selection import Entry
from workers.table import Table, Values
from workers.threads import Threads


class Kind(StrEnum):
    """White is the side that the material names first."""

    WHITE_WINS = "=/1-0"
    BLACK_WINS = "0-1/="
    WHOEVER_MOVES_LOSES = "0-1/1-0"


class Zugzwang(NamedTuple):
    """A mutual zugzwang, and its value with White to move and with Black to move."""

    pair: int
    slot: int
    white: int
    black: int

    @property
    def kind(self) -> Kind:
        if self.white == 0:
            return Kind.WHITE_WINS
        return Kind.BLACK_WINS if self.black == 0 else Kind.WHOEVER_MOVES_LOSES

    def fen(self, material: Material) -> str:
        """With White to move; with Black to move it is the same but for the turn."""
        return fen_of(material, self.pair, self.slot, STRONGER)

    def entries(self) -> tuple[Entry, Entry]:
        """The position with White to move, and with Black to move."""
        return (
            Entry(self.pair, self.slot, STRONGER, self.white),
            Entry(self.pair, self.slot, WEAKER, self.black),
        )


class Found(NamedTuple):
    """The mutual zugzwangs of a section: slots, and values of either side to move."""

    pair: int
    slots: Slots
    white: Values
    black: Values

    def each(self) -> Iterator[Zugzwang]:
        rows = zip(self.slots.tolist(), self.white.tolist(), self.black.tolist(), strict=True)
        return (Zugzwang(self.pair, *row) for row in rows)


def found_in(section: Section) -> Found:
    white, black = section.values(STRONGER), section.values(WEAKER)
    squeezed = (np.maximum(white, black) <= 0) & (np.minimum(white, black) < 0)
    if squeezed.any():
        # A table's rows without a position mean nothing: one column may have one, not the other.
        squeezed &= section.counted(STRONGER)
        squeezed &= section.counted(WEAKER)
    return Found(section.pair, section.slots(squeezed), white[squeezed], black[squeezed])


class Census:
    """How many there are of each kind, and the first few of each."""

    def __init__(self, keep: int | None = 0, kinds: Iterable[Kind] = tuple(Kind)) -> None:
        self.counts: Counter[Kind] = Counter(dict.fromkeys(kinds, 0))
        self.listed: dict[Kind, list[Zugzwang]] = {kind: [] for kind in self.counts}
        self._keep = keep

    def take(self, found: Found) -> None:
        for kind in self.counts:
            self.counts[kind] += int(np.count_nonzero(_are(kind, found)))
        if any(self._lacks(kind) for kind in self.counts):
            for zugzwang in found.each():
                if zugzwang.kind in self.counts and self._lacks(zugzwang.kind):
                    self.listed[zugzwang.kind].append(zugzwang)

    def _lacks(self, kind: Kind) -> bool:
        return self._keep is None or len(self.listed[kind]) < self._keep


def _are(kind: Kind, found: Found) -> Flags:
    """Which of them are of a kind: it is enough to know who draws."""
    draws: Flags = np.stack((found.white == 0, found.black == 0))
    wanted = (kind is Kind.WHITE_WINS, kind is Kind.BLACK_WINS)
    are: Flags = (draws == np.array(wanted)[:, np.newaxis]).all(axis=0)
    return are


def zugzwangs(table: Table, threads: Threads) -> Iterator[Zugzwang]:
    """One after another, in the order of the table's rows, which are read as one goes on."""
    for found in read(table, threads, found_in):
        yield from found.each()


def census(
    table: Table,
    threads: Threads,
    keep: int | None = 0,
    kinds: Iterable[Kind] = tuple(Kind),
) -> Census:
    """The whole table counted, and the first `keep` of each kind; all if None."""
    counted = Census(keep, kinds)
    for found in read(table, threads, found_in):
        counted.take(found)
    return counted
