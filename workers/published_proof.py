"""Proves a published table where it lies: as a whole, or in parts that several workers make.

A table that contradicts itself is removed.  A sound one gets a note of its proof.
"""

from collections.abc import Sequence

from kingpair.workers.errors import DamagedTable
from kingpair.workers.prove.proof_parts import PartialProof
from kingpair.workers.prove.verdict import Verdict
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.memory import trim_heap
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.proof_note import write_proof_note
from kingpair.workers.table.table_store import TableStore


def verified(store: TableStore, key: TableKey, threads: Threads, room: int | None = None) -> float:
    """Proves a published table and returns the seconds.  Removes one that contradicts itself."""
    trim_heap()  # painting leaves much
    verdict = verify(store.table(key), store.table, threads, room=room)
    _judge(store, key, verdict)
    return verdict.seconds


class PublishedProof:
    """A worker's parts of the proof of one table, and the conclusion from those of all workers."""

    def __init__(
        self, store: TableStore, key: TableKey, threads: Threads, room: int | None = None
    ) -> None:
        self._store, self._key, self._threads, self._room = store, key, threads, room
        self._proof: PartialProof | None = None

    def findings(self, part: int, parts: int) -> str:
        return self._begun().findings(part, parts)

    def conclude(self, findings: Sequence[str]) -> None:
        _judge(self._store, self._key, self._begun().conclude(findings))

    def _begun(self) -> PartialProof:
        if self._proof is None:
            # Another worker has published the table: one of its name may be open from before.
            self._store.forget(self._key)
            trim_heap()
            table = self._store.table(self._key)
            self._proof = PartialProof(table, self._store.table, self._threads, self._room)
        return self._proof


def _judge(store: TableStore, key: TableKey, verdict: Verdict) -> None:
    if verdict.fault is not None:
        name = f"{store.store}/{key.file_name}"
        store.remove(key)
        raise DamagedTable(f"{name}: {verdict.fault}; removed, please report this")
    write_proof_note(store.store, store.table(key))
