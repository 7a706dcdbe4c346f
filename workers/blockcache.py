"""Decoded blocks of tables, in a memory of bounded size that all threads share.

The least recently used is given up first.  A table's own lock is held while one of its blocks is
decoded, the cache's lock only for as long as a look takes: who finds his block never waits for
somebody else's disk.
"""

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from workers.table import Table, Values


class Cold(LookupError):
    """What was asked for would have to be read and decoded first, and the caller will not wait."""


class BlockKey(NamedTuple):
    """A table that was replaced by another is another: its old blocks are found no more."""

    table: Table
    block: int
    column: int


class BlockCache:
    """`held` bytes of blocks, at most `limit` unless a single one is larger."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.hits = self.misses = 0
        self._blocks: OrderedDict[BlockKey, Values] = OrderedDict()
        self._lock = Lock()

    def get(self, key: BlockKey, *, wait: bool = True) -> Values:
        """The values of a block; Cold if they are not here and the caller does not `wait`."""
        if (values := self._found(key)) is not None:
            return values
        if not wait:
            raise Cold
        with key.table.lock:
            # Whoever had the lock before may have wanted the same block.
            if (values := self._found(key)) is not None:
                return values
            values = key.table.block(key.block, key.column)
            self._keep(key, values)
        return values

    def _found(self, key: BlockKey) -> Values | None:
        with self._lock:
            if (values := self._blocks.get(key)) is not None:
                self._blocks.move_to_end(key)
                self.hits += 1
            return values

    def _keep(self, key: BlockKey, values: Values) -> None:
        with self._lock:
            self.misses += 1
            self._blocks[key] = values
            self.held += values.nbytes
            while self.held > self.limit and len(self._blocks) > 1:
                self.held -= self._blocks.popitem(last=False)[1].nbytes

    def forget(self, table: Table) -> None:
        """Give up the blocks of a table that is gone."""
        with self._lock:
            for key in [key for key in self._blocks if key.table is table]:
                self.held -= self._blocks.pop(key).nbytes

    def drop(self) -> None:
        with self._lock:
            self._blocks.clear()
            self.held = 0
