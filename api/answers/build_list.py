"""Pages of the list of builds, and the cursors that lead from one to the next."""

import base64
import binascii
from typing import NamedTuple

from kingpair.coordinator.journal.build_records import BuildRecord, BuildRecords
from kingpair.coordinator.machine.state import State
from kingpair.workers.errors import BadRequest
from kingpair.workers.game.chess.material import Material


class BuildFilter(NamedTuple):
    """Selects builds by state and material, and limits the length of a page."""

    states: frozenset[State]
    material: Material | None
    limit: int


def page(
    records: BuildRecords, wanted: BuildFilter, cursor: str | None
) -> tuple[list[BuildRecord], str | None]:
    """Returns a page of builds, the newest first, and the cursor of the next page."""
    before = len(records.builds) if cursor is None else _number(cursor)
    fit = [s for s in records.not_deleted() if s.number < before and _fits(s, wanted)]
    found = sorted(fit, key=lambda s: -s.number)[: wanted.limit]
    return found, cursor_of(found[-1].number) if len(fit) > len(found) else None


def _fits(build: BuildRecord, wanted: BuildFilter) -> bool:
    if wanted.states and build.state not in wanted.states:
        return False
    if wanted.material is None:
        return True
    built = {domain.material for domain in build.domains.values()}
    return wanted.material in built.union(build.spec.materials)


def cursor_of(number: int) -> str:
    return base64.urlsafe_b64encode(f"before {number}".encode()).decode().rstrip("=")


def _number(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        word, number = text.split(" ")
        if word == "before" and number.isdecimal() and len(number) < 12:
            return int(number)
    except (binascii.Error, UnicodeError, ValueError):
        pass
    raise BadRequest("the cursor is none of ours; use the `next` of an answer as it is")
