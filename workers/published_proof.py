"""Proves a published table where it lies: as a whole, or in parts that several workers make.

A table that contradicts itself is removed.  A sound one gets a note of its proof.

If machines have copies of the parts of a table, the proof reads those.  Their bytes agree with the
digests of the table.  If a copy is damaged, the store's bytes are read instead.  The store's parts
must be there, and have the sizes that are listed.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from kingpair.workers.errors import DamagedTable
from kingpair.workers.prove.proof_parts import PartialProof
from kingpair.workers.prove.verdict import Verdict
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.memory import trim_heap
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.parts_file import require_parts
from kingpair.workers.table.proof_note import write_proof_note
from kingpair.workers.table.table_store import TableStore

Found = TypeVar("Found")


def verified(store: TableStore, key: TableKey, threads: Threads, room: int | None = None) -> float:
    """Proves a published table and returns the seconds.  Removes one that contradicts itself."""
    trim_heap()  # painting leaves much

    def proof() -> Verdict:
        return verify(store.table(key), store.table, threads, room=room)

    verdict = _with_sound_bytes(store, key, proof)
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
        return self._read(lambda proof: proof.findings(part, parts))

    def conclude(self, findings: Sequence[str]) -> None:
        _judge(self._store, self._key, self._read(lambda proof: proof.conclude(findings)))

    def _read(self, question: Callable[[PartialProof], Found]) -> Found:
        return _with_sound_bytes(self._store, self._key, lambda: question(self._begun()), self._end)

    def _end(self) -> None:
        self._proof = None

    def _begun(self) -> PartialProof:
        if self._proof is None:
            # Another worker has published the table: one of its name may be open from before.
            self._store.forget(self._key)
            trim_heap()
            table = self._store.table(self._key)
            self._proof = PartialProof(table, self._store.table, self._threads, self._room)
        return self._proof


def _with_sound_bytes(
    store: TableStore,
    key: TableKey,
    read: Callable[[], Found],
    begin_again: Callable[[], None] = lambda: None,
) -> Found:
    """The result of reading a table: from the store alone if copies on machines are damaged."""
    try:
        return read()
    except DamagedTable:
        if not store.reads_copies(key):
            raise
        store.distrust_copies(key)
        begin_again()
        return read()


def _judge(store: TableStore, key: TableKey, verdict: Verdict) -> None:
    if verdict.fault is not None:
        name = f"{store.store}/{key.file_name}"
        store.remove(key)
        raise DamagedTable(f"{name}: {verdict.fault}; removed, please report this")
    if store.logs is not None:
        require_parts(store.store, key)
    write_proof_note(store.store, store.table(key))
