"""The proof of a table in parts, which several workers make side by side.

    part        some partitions of one walk of the mover's king, with one side to move; with pawns
                some tasks of verify_structures.py, which follow each other
    findings    the counts of a part and the first contradiction in it, as text
    conclusion  adds the findings of all parts, and gives the verdict of the whole proof

Each part reads the values of its partitions and of those that the king can enter from them, and as
much of the smaller tables; with pawns it reads the columns that its tasks need.  And it checks its
part of the file's bytes.  The findings name the table by its digest, so that parts of proofs of two
tables are never added.
"""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

from kingpair.workers.index.walk_parts import walk_parts
from kingpair.workers.number_types import SIDES
from kingpair.workers.prove.conclusion import conclude
from kingpair.workers.prove.smaller_tables import FindTable, smaller_tables
from kingpair.workers.prove.verdict import Verdict
from kingpair.workers.prove.verify import begun
from kingpair.workers.prove.verify_blocks import BlockVerification
from kingpair.workers.prove.verify_structures import StructureVerification
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import Table
from kingpair.workers.table.seal import DIGITS


class PartialProof:
    """Proves parts of one table, one after the other."""

    def __init__(
        self, table: Table, find: FindTable, threads: Threads, room: int | None = None
    ) -> None:
        """Takes no more memory than `room`, if that is given."""
        self._table = table
        verification = begun(table, smaller_tables(table, find), threads, room=room)
        assert not isinstance(verification, BlockVerification), "it is proved as a whole"
        self._verification = verification

    def findings(self, part: int, parts: int) -> str:
        """Proves a part.  Raises DamagedTable if bytes of the file are damaged."""
        self._table.check(self._pieces(part, parts))
        self._verification.begin_recount()
        self._verification.verify_part(part, parts)
        found = [side.as_json() for side in self._verification.sides]
        return json.dumps({"digest": self._table.digest, "part": part, "found": found})

    def _pieces(self, part: int, parts: int) -> Iterable[int]:
        """The pieces of the file that a part checks: each is one that the part reads anyway, and is
        checked by a part with either side to move.
        """
        table, count = self._table, len(self._table.batch_digests) // DIGITS
        if isinstance(self._verification, StructureVerification):
            return range(count * part // parts, count * (part + 1) // parts)
        mover, pairs, _ = walk_parts(parts)[part]
        own = table.pieces_of(pair for pair in pairs if pair % len(SIDES) == mover)
        return own if part else [0, *own]

    def conclude(self, findings: Sequence[str]) -> Verdict:
        """Gives the verdict that follows from the findings of all parts."""
        start, verification = time.monotonic(), self._verification
        verification.begin_recount()
        said: list[dict[str, Any]] = [json.loads(each) for each in findings]
        assert sorted(each["part"] for each in said) == list(range(len(said))), "parts are missing"
        for each in said:
            assert each["digest"] == self._table.digest, "a part of another table's proof"
            for side, found in zip(verification.sides, each["found"], strict=True):
                side.merge(found)
        return conclude(self._table, verification.sides, verification.first_row, start)
