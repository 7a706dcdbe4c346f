"""The passes of one analysis, from the logs of all who found them.

A worker logs what its own partitions held, in chunks of its share.  Who had how many partitions
changes from incarnation to incarnation; so here a layer is asked for by partition:

    entry     = a log, and the passes in it that count
    identity  = {..., "partitions": those of its writer, "together": how many make a chunk}
"""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.passlog import Found, LogFile, Pass, Stream

Layer = dict[int, Stream]  # by partition


class Stretch(Protocol):
    """Consecutive passes, and who logged them: so many workers of an incarnation."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def incarnation(self) -> int: ...
    @property
    def workers(self) -> int: ...


class Entry(NamedTuple):
    """The passes `first` to `last` of a log."""

    log: LogFile
    first: int
    last: int


class History:
    """What was found in each pass, whoever logged it."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = [(entry, _Chunks(entry.log)) for entry in entries]
        by_depth = {
            done.depth: done
            for log, first, last in entries
            for done in log.passes
            if first <= done.depth <= last
        }
        self.passes: list[Pass] = [by_depth[depth] for depth in sorted(by_depth)]
        self.seconds = {
            depth: seconds
            for log, first, last in entries
            for depth, seconds in log.seconds.items()
            if first <= depth <= last
        }

    @property
    def depth(self) -> int:
        """The depth of the last pass, -1 before the first."""
        return self.passes[-1].depth if self.passes else -1

    def layers(
        self,
        chunk: Sequence[int] | NDArray[np.int16],
        depth: int | None = None,
        won: bool | None = None,
    ) -> Iterator[tuple[Found, Layer]]:
        """What was found in some partitions, by all passes or in one layer; a layer comes in as
        many pieces as there are logs and chunks of it.
        """
        for (log, first, last), chunks in self._entries:
            for at, places in chunks.of(chunk):
                for found in log.founds(at):
                    if (
                        first <= found.depth <= last
                        and depth in (None, found.depth)
                        and won in (None, found.won)
                    ):
                        streams = log.layer(found)
                        yield found, {p: streams[place] for p, place in places.items()}


NOTHING = History([])


class _Chunks:
    """How a log divides its writer's partitions."""

    def __init__(self, log: LogFile) -> None:
        identity = json.loads(log.identity)
        self._partitions: list[int] = identity["partitions"]
        self._together: int = identity["together"]
        self._order = {p: i for i, p in enumerate(self._partitions)}

    def of(self, wanted: Sequence[int] | NDArray[np.int16]) -> Iterator[tuple[int, dict[int, int]]]:
        """The chunks that have any of these partitions, by their first one, and where in it."""
        found: dict[int, dict[int, int]] = {}
        for p in map(int, wanted):
            if p in self._order:
                chunk, place = divmod(self._order[p], self._together)
                first = self._partitions[chunk * self._together]
                found.setdefault(first, {})[p] = place
        yield from found.items()
