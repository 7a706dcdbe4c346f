"""Mutual zugzwangs: placements in which each side would do better if it did not have to move.

The placement must be legal with White to move and with Black to move.  Nalimov, Haworth and Heinz
name the kinds by the result with White to move and the result with Black to move:

    =/1-0      White to move draws, Black to move loses
    0-1/=      White to move loses, Black to move draws
    0-1/1-0    the side to move loses, White or Black

So neither side to move wins, and at least one of them loses.  Both columns of a table have a
placement in the same row, and whether a slot is canonical does not depend on the side to move.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.table_index import Slots
from kingpair.workers.number_types import STRONGER, WEAKER, Slot
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.position_filter import TablePosition
from kingpair.workers.table.fens import fen_at
from kingpair.workers.table.format import Table
from kingpair.workers.table.scan import Section, SlotMask, scan
from kingpair.workers.table.value import Values


class ZugzwangResult(StrEnum):
    """White is the side that the material names first."""

    WHITE_WINS = "=/1-0"
    BLACK_WINS = "0-1/="
    MOVER_LOSES = "0-1/1-0"


class MutualZugzwang(NamedTuple):
    """A mutual zugzwang, and its value with White to move and with Black to move."""

    run: int
    slot: Slot
    white: int
    black: int

    @property
    def kind(self) -> ZugzwangResult:
        if self.white == 0:
            return ZugzwangResult.WHITE_WINS
        return ZugzwangResult.BLACK_WINS if self.black == 0 else ZugzwangResult.MOVER_LOSES

    def fen(self, material: Material) -> str:
        """The FEN with White to move; with Black to move only the turn differs."""
        return fen_at(material, self.run, self.slot, STRONGER)

    def entries(self) -> tuple[TablePosition, TablePosition]:
        """The position with White to move, and with Black to move."""
        return (
            TablePosition(self.run, self.slot, STRONGER, self.white),
            TablePosition(self.run, self.slot, WEAKER, self.black),
        )


class ZugzwangsInSection(NamedTuple):
    """The mutual zugzwangs of a section: slots, and values of either side to move."""

    run: int
    slots: Slots
    white: Values
    black: Values

    def each(self) -> Iterator[MutualZugzwang]:
        rows = zip(self.slots.tolist(), self.white.tolist(), self.black.tolist(), strict=True)
        return (MutualZugzwang(self.run, *row) for row in rows)


def zugzwangs_in_section(section: Section) -> ZugzwangsInSection:
    white, black = section.values(STRONGER), section.values(WEAKER)
    squeezed = (np.maximum(white, black) <= 0) & (np.minimum(white, black) < 0)
    if squeezed.any():
        # A row may hold a position in one column and none in the other.
        squeezed &= section.holds_position(STRONGER)
        squeezed &= section.holds_position(WEAKER)
    return ZugzwangsInSection(
        section.run, section.slots(squeezed), white[squeezed], black[squeezed]
    )


class ZugzwangCensus:
    """The number of zugzwangs of each kind, and the first few of each."""

    def __init__(
        self, keep: int | None = 0, kinds: Iterable[ZugzwangResult] = tuple(ZugzwangResult)
    ) -> None:
        self.counts: Counter[ZugzwangResult] = Counter(dict.fromkeys(kinds, 0))
        self.listed: dict[ZugzwangResult, list[MutualZugzwang]] = {kind: [] for kind in self.counts}
        self._keep = keep

    def take(self, found: ZugzwangsInSection) -> None:
        for kind in self.counts:
            self.counts[kind] += int(np.count_nonzero(_are(kind, found)))
        if any(self._lacks(kind) for kind in self.counts):
            for zugzwang in found.each():
                if zugzwang.kind in self.counts and self._lacks(zugzwang.kind):
                    self.listed[zugzwang.kind].append(zugzwang)

    def _lacks(self, kind: ZugzwangResult) -> bool:
        return self._keep is None or len(self.listed[kind]) < self._keep


def _are(kind: ZugzwangResult, found: ZugzwangsInSection) -> SlotMask:
    """The zugzwangs of a kind, as a mask.  The draws alone decide the kind."""
    draws: SlotMask = np.stack((found.white == 0, found.black == 0))
    wanted = (kind is ZugzwangResult.WHITE_WINS, kind is ZugzwangResult.BLACK_WINS)
    are: SlotMask = (draws == np.array(wanted)[:, np.newaxis]).all(axis=0)
    return are


def zugzwangs(table: Table, threads: Threads) -> Iterator[MutualZugzwang]:
    """Yields the zugzwangs in the order of the table's rows while it reads them."""
    for found in scan(table, threads, zugzwangs_in_section):
        yield from found.each()


def census(
    table: Table,
    threads: Threads,
    keep: int | None = 0,
    kinds: Iterable[ZugzwangResult] = tuple(ZugzwangResult),
) -> ZugzwangCensus:
    """Counts the zugzwangs of a table and lists the first `keep` of each kind; all if None."""
    counted = ZugzwangCensus(keep, kinds)
    for found in scan(table, threads, zugzwangs_in_section):
        counted.take(found)
    return counted
