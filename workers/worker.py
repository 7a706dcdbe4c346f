"""A worker: its share of a domain, in memory from pass to pass, and what it can be asked.

    prepare -> lose_at_once -> win -> lose -> win -> ...   one winner after the other; a seal a pass
    paint, publish, verify                                 when all is logged

It knows nothing of time or of the reason for a call.  Calls come one after the other.  `seal` alone
returns before it is done: its future is done once the log is on disk.
"""

import json
from collections.abc import Sequence
from concurrent.futures import Future
from errno import ENOMEM
from functools import cached_property
from pathlib import Path

import numpy as np

from kingpair.workers.errors import CannotBuild, UnusableDisk
from kingpair.workers.index.share import Share
from kingpair.workers.index.sweeps import room_of
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.published_proof import PublishedProof, verified
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.material_domain import domain_of, make_domain
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import Exits
from kingpair.workers.solve.frontiers import PackedFrontier, StepResult
from kingpair.workers.solve.material_exits import exits_of_table
from kingpair.workers.solve.open_sets import KEY_BYTES, Address, OpenSets, TakeoverPool
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.streamed_analysis import StreamedAnalysis
from kingpair.workers.solve.walked_exits import WalkedExits
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.format import COMPACT, PLAIN
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.painting import Painter
from kingpair.workers.table.parts import make_table, write_parts
from kingpair.workers.table.pass_logs import PassLogs, Written
from kingpair.workers.table.table_store import TableStore


class TableWorker:
    """A worker of a table: all workers can prove it, be stopped, and say why they cannot write."""

    def __init__(
        self,
        key: TableKey,
        number: int,
        incarnation: int,
        store: TableStore,
        threads: Threads,
        compact: bool,
    ) -> None:
        self.key, self.incarnation, self.number = key, incarnation, number
        self._store, self._threads, self._packing = store, threads, COMPACT if compact else PLAIN
        self._folder = self._build_folder()
        self._identity = TableIdentity(key, store.smaller_digests(key))

    def _build_folder(self) -> BuildFolder:
        return self._store.build_folder(self.key)

    def _published(self) -> tuple[int, str]:
        """The bytes and the digest of the table that has just got its name."""
        self._store.forget(self.key)
        table = self._store.table(self.key)
        return table.bytes, table.digest

    def verify(self) -> None:
        verified(self._store, self.key, self._threads, self._proof_room())
        self._folder.clear_local_logs()

    def prove_part(self, part: int, parts: int) -> str:
        """Proves one of so many parts of the published table, and returns the findings."""
        return self._proof.findings(part, parts)

    def conclude(self, findings: Sequence[str]) -> None:
        """Ends the proof of the published table, given the findings of all parts."""
        self._proof.conclude(findings)
        self._folder.clear_local_logs()

    @cached_property
    def _proof(self) -> PublishedProof:
        return PublishedProof(self._store, self.key, self._threads, self._proof_room())

    def _proof_room(self) -> int | None:
        """The bytes that a proof may take; None if all that it wants."""
        return None

    def export(self) -> None:
        """Writes the Syzygy files of the published table beside it."""
        from kingpair.workers.study.syzygy_export import write_beside  # few builds need it

        write_beside(self._store, self.key.material, self._threads.count, self._threads.check_open)

    def stop(self) -> None:
        """Ends what this worker is doing; another thread than the worker's own calls it."""
        self._threads.close()

    def close(self) -> None:
        self._threads.close()

    def cannot_go_on(self, error: OSError) -> CannotBuild:
        if error.errno == ENOMEM:
            return CannotBuild(
                f"the memory does not suffice for {self.key}; use fewer --threads, raise the limit "
                "or use a larger machine"
            )
        where = error.filename or self._store.store.local_path(self._folder.name)
        return UnusableDisk(f"cannot write {where}: {error.strerror or error}")


class Worker(TableWorker):
    """Worker `number` of an incarnation; `owners` has the worker of each partition."""

    def __init__(
        self,
        key: TableKey,
        owners: Sequence[int],
        number: int,
        incarnation: int,
        store: TableStore,
        threads: Threads,
        compact: bool = False,
        takeover_pool: TakeoverPool | None = None,
        mode: SetsMode = SetsMode.ALL,
        scratch: Path | None = None,
        keeps_parts: bool = False,
    ) -> None:
        super().__init__(key, number, incarnation, store, threads, compact)
        self._workers = 1 + max(owners)
        self._mode, self._streamed = mode, mode is not SetsMode.ALL
        self._whole, self.domain = self._domains(owners, number)
        self._exits: tuple[Exits, Exits] | None = None
        self._scratch_directory = scratch or store.store.local_path(key.file_name).parent
        self._open_sets: OpenSets | None = None if self._streamed else self._new_sets(takeover_pool)
        self._analysis: Analysis | StreamedAnalysis | None = None
        self._keeps_parts, self._has_published = keeps_parts, False
        partitions, is_long = len(self._whole.share.own), self._workers > 1 or self._streamed
        self._logs = PassLogs(self._folder, self._identity.smaller, partitions, is_long)
        try:
            self._folder.create()
        except OSError as error:
            raise self.cannot_go_on(error) from error

    def _domains(self, owners: Sequence[int], number: int) -> tuple[Domain, Domain]:
        """The domain as a whole, and the worker's share of it."""
        whole = domain_of(self.key.material)
        if self._workers == 1:
            return whole, whole
        return whole, make_domain(self.key.material, Share(whole.index.kings, owners, number))

    def _new_sets(self, takeover_pool: TakeoverPool | None) -> OpenSets:
        if takeover_pool is None:
            return OpenSets.private(self.domain)
        return self._shared_sets(takeover_pool)

    def _shared_sets(self, takeover_pool: TakeoverPool) -> OpenSets:
        """Takes over the open sets of a former incarnation, or creates shared ones."""
        from hashlib import blake2b  # it loads OpenSSL, which private sets do not need

        partitions = self.domain.share.own.tolist(), self.domain.share.halo.tolist()
        identity = str(self.key.material), str(self.key.metric), self._identity.smaller, *partitions
        key = blake2b(json.dumps(identity).encode(), digest_size=KEY_BYTES).digest()
        return takeover_pool.take_over(self.domain, key) or OpenSets.shared(self.domain, key)

    @property
    def readers(self) -> tuple[int, ...]:
        """The other workers that read anything of what this one finds."""
        return tuple(
            sorted({reader for readers in self.domain.share.readers for reader in readers})
        )

    @property
    def open_sets_address(self) -> Address | None:
        """The address of the open sets, None if they are private or no longer needed."""
        return None if self._open_sets is None else self._open_sets.address

    # ---- passes ----

    def prepare(self, winner: Side, written: Written) -> tuple[int, dict[int, PackedFrontier]]:
        """Begin an analysis or go on from what is logged; the depth of the last exit, and what
        other workers read of the last layer.
        """
        self._put_away()
        open_sets = self._open_sets
        assert self._streamed or open_sets is not None, "an analysis after the last one"
        history = self._logs.history(winner, written, self.domain.share.own)
        self._logs.secure(winner, written, self.number, self._workers)
        log = self._new_log(winner)
        if open_sets is None:
            self._analysis = self._new_streamed_analysis(winner, log)
        else:
            self._analysis = self._new_analysis(winner, log, open_sets)
        return self._analysis.last_exit, self._analysis.prepare(history)

    def _new_analysis(self, winner: Side, log: PassLog, open_sets: OpenSets) -> Analysis:
        if self._exits is None:
            self._exits = open_sets.exits or open_sets.share_exits(self._read_exits())
        exits = self._exits[winner]
        return Analysis(
            self.domain,
            winner,
            exits,
            self._threads,
            log,
            open_sets,
            self.key.metric.passes_per_move,
        )

    def _read_exits(self) -> tuple[Exits, Exits]:
        share = self.domain.share
        around = np.sort(np.concatenate((share.own, share.halo))) if self._workers > 1 else None
        return exits_of_table(self.key, self._store, self._threads, around)

    def _new_streamed_analysis(self, winner: Side, log: PassLog) -> StreamedAnalysis:
        exits = WalkedExits(self.key, winner, self._store, self._threads)
        where = log, self._scratch_directory, self.key.metric.passes_per_move, self._mode
        return StreamedAnalysis(self.domain, winner, exits, self._threads, *where)

    def lose_at_once(self) -> StepResult:
        return self._at_work().lose_at_once()

    def win(self, depth: Depth, inbound: Sequence[PackedFrontier]) -> StepResult:
        return self._at_work().win(depth, inbound)

    def lose(self, depth: Depth, inbound: Sequence[PackedFrontier]) -> StepResult:
        return self._at_work().lose(depth, inbound)

    def seal(self, done: PassResult, seconds: float) -> "Future[str]":
        """Commits a pass that took so many seconds; done once that is on disk (PassLog.commit)."""
        return self._at_work().log.commit(done, seconds)

    def _at_work(self) -> Analysis | StreamedAnalysis:
        assert self._analysis is not None, "a step without an analysis"
        return self._analysis

    def _put_away(self) -> None:
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None

    def _new_log(self, winner: Side) -> PassLog:
        identity = self._folder.log_identity(winner, dict(self._identity.smaller)) | {
            "workers": self._workers,
            "partitions": [int(p) for p in self.domain.share.own],
            "together": self.domain.index.together,
        }
        try:
            return self._logs.begin((winner, self.incarnation, self.number), identity)
        except OSError as error:
            raise self.cannot_go_on(error) from error

    # ---- the table ----

    def paint(
        self, parts: Sequence[tuple[int, range]], written: Sequence[tuple[Side, Written]]
    ) -> list[int]:
        """Writes parts of the table, by their numbers; the bytes of each."""
        self._end_analysis()
        pairs = [np.array(partitions, np.int16) for _, partitions in parts]
        logs = self._logs.histories(written, np.concatenate(pairs))
        painter = Painter(self._whole, logs, self._threads, self._packing, pairs, self.key.metric)
        names = {number: self._folder.part_name(number, self.incarnation) for number, _ in parts}
        return write_parts(self._folder, names, painter, self._identity, self._keeps_parts)

    def _end_analysis(self) -> None:
        self._put_away()
        self._exits = None
        if self._open_sets is not None:
            self._open_sets.discard()
            self._open_sets = None

    def publish(
        self, parts: Sequence[int], written: Sequence[tuple[Side, Written]]
    ) -> tuple[int, str]:
        """Make the table of its parts, the incarnations that wrote them; its bytes and digest."""
        names = [self._folder.part_name(part, at) for part, at in enumerate(parts)]
        where = self._store.store, names, self._folder.part_name(0, self.incarnation)
        make_table(*where, self._whole, self._logs.histories(written), self._identity)
        self._has_published = True
        return self._published()

    def _proof_room(self) -> int | None:
        held = self._mode.held * len(self.domain.share.own)
        return room_of(self.domain.slots, held) if self._streamed else None

    def close(self) -> None:
        """Let go of everything; what is not sealed is lost."""
        super().close()
        self._put_away()
        self._logs.close()
        if self._has_published:
            self._folder.clear_local_logs()
        if self._open_sets is not None:
            self._open_sets.release()
            self._open_sets = None
