"""A worker: its share of a domain, in memory from pass to pass, and what it can be asked.

    prepare -> lose_at_once -> win -> lose -> win -> ...   one winner after the other; a seal a pass
    paint, publish, verify                                 when all is logged

It knows nothing of time, of other workers or of why it is asked.  Whoever asks does so in order,
one thing after the other; but a seal is only begun, and done when its log is on disk.
"""

import json
from collections.abc import Sequence
from concurrent.futures import Future
from hashlib import blake2b

import numpy as np

from workers.analysis import Analysis, Findings, Parcel
from workers.domain import Domain, domain_of
from workers.errors import CannotBuild, DamagedLog, DamagedTable
from workers.estate import KEY_BYTES, Address, Estate, Heirlooms
from workers.exits import Exits, exits_of
from workers.history import Entry, History, Stretch
from workers.material import Material
from workers.metric import Metric
from workers.painting import Painter
from workers.parts import join, write_part
from workers.passlog import LogFile, Pass, PassLog
from workers.share import Share
from workers.table import COMPACT, PLAIN, Identity
from workers.threads import Threads, chunk_size
from workers.verify import verify
from workers.workshop import Tables

Written = Sequence[Stretch]


class Worker:
    """Worker `number` of an incarnation; `owners` has the worker of each partition."""

    def __init__(
        self,
        material: Material,
        owners: Sequence[int],
        number: int,
        incarnation: int,
        tables: Tables,
        threads: Threads,
        compact: bool = False,
        heirlooms: Heirlooms | None = None,
    ) -> None:
        self.material, self.incarnation, self.number = material, incarnation, number
        self._tables, self._threads = tables, threads
        self._packing = COMPACT if compact else PLAIN
        self._workers = 1 + max(owners)
        whole = domain_of(material)
        self.domain = whole if self._workers == 1 else Domain(material, Share(owners, number))
        self._whole = whole
        self._workshop = tables.workshop(material)
        self._identity = Identity(material, tables.metric, tables.smaller(material))
        self._exits: tuple[Exits, Exits] | None = None
        self._estate: Estate | None = (
            Estate.private(self.domain) if heirlooms is None else self._inherited(heirlooms)
        )
        self._analysis: Analysis | None = None
        self._logs: dict[tuple[int, int, int], LogFile] = {}
        try:
            self._workshop.begin()
        except OSError as error:
            raise self.cannot_write(error) from error

    def _inherited(self, heirlooms: Heirlooms) -> Estate:
        """What a former incarnation left, or one that a later one may take over."""
        partitions = self.domain.share.own.tolist(), self.domain.share.halo.tolist()
        whose = str(self.material), self._tables.metric, self._identity.smaller, *partitions
        key = blake2b(json.dumps(whose).encode(), digest_size=KEY_BYTES).digest()
        return heirlooms.taken(self.domain, key) or Estate.shared(self.domain, key)

    @property
    def estate(self) -> Address | None:
        """Where others can have it, while it is of use to them."""
        return None if self._estate is None else self._estate.address

    # ---- passes ----

    def prepare(self, winner: int, written: Written) -> tuple[int, dict[int, Parcel]]:
        """Begin an analysis or go on from what is logged; the depth of the last exit, and what
        other workers read of the last layer.
        """
        self._put_away()
        estate = self._estate
        assert estate is not None, "an analysis after the last one"
        if self._exits is None:
            self._exits = estate.exits or estate.with_exits(self._read_exits())
        history = self._history(winner, written)
        log = self._new_log(winner)
        exits = self._exits[winner]
        self._analysis = Analysis(self.domain, winner, exits, self._threads, log, estate)
        return exits.last, self._analysis.prepare(history)

    def _read_exits(self) -> tuple[Exits, Exits]:
        metric = Metric(self._tables.metric)
        return exits_of(self.material, metric, self._tables, self._threads)

    def lose_at_once(self) -> Findings:
        return self._at_work().lose_at_once()

    def win(self, depth: int, inbound: Sequence[Parcel]) -> Findings:
        return self._at_work().win(depth, inbound)

    def lose(self, depth: int, inbound: Sequence[Parcel]) -> Findings:
        return self._at_work().lose(depth, inbound)

    def seal(self, done: Pass, seconds: float) -> "Future[None]":
        """Everything of a pass has been found, in so many seconds: done when its entry is on
        disk.
        """
        return self._at_work().log.commit(done, seconds)

    def _at_work(self) -> Analysis:
        assert self._analysis is not None, "a step without an analysis"
        return self._analysis

    def _put_away(self) -> None:
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None

    def _new_log(self, winner: int) -> PassLog:
        identity = self._workshop.identity(winner, dict(self._identity.smaller)) | {
            "workers": self._workers,
            "partitions": [int(p) for p in self.domain.share.own],
            "together": chunk_size(self.domain.axes),
        }
        key = winner, self.incarnation, self.number
        if (begun := self._logs.pop(key, None)) is not None:
            begun.close()
        try:
            log = self._workshop.new_log(self._workshop.log(*key), identity)
        except OSError as error:
            raise self.cannot_write(error) from error
        self._logs[key] = log
        return log

    def _history(self, winner: int, written: Written) -> History:
        return History(
            [
                Entry(self._log(winner, stretch, worker), stretch.first, stretch.last)
                for stretch in written
                for worker in range(stretch.workers)
            ]
        )

    def _log(self, winner: int, stretch: Stretch, worker: int) -> LogFile:
        key = winner, stretch.incarnation, worker
        if key not in self._logs:
            name = self._workshop.log(*key)
            try:
                self._logs[key] = self._workshop.read_log(name)
            except FileNotFoundError:
                raise DamagedLog(name, winner, stretch.first - 1) from None
        log = self._logs[key]
        rests_on = json.loads(log.identity or b"{}").get("smaller")
        sound = log.depth if rests_on == self._identity.smaller else -1
        if sound < stretch.last:
            raise DamagedLog(log.path, winner, sound)
        return log

    # ---- the table ----

    def paint(self, part: int, partitions: range, written: Sequence[tuple[int, Written]]) -> int:
        """Write a part of the table; its bytes."""
        self._put_away()
        self._exits = None
        if self._estate is not None:
            self._estate.give_up()
            self._estate = None
        pairs = np.array(partitions, np.int16)
        logs = self._histories(written)
        painter = Painter(self._whole, logs, self._threads, self._packing, pairs)
        name = self._workshop.part(part, self.incarnation)
        return write_part(self._tables.store, name, painter, self._identity, is_first=part == 0)

    def publish(
        self, parts: Sequence[int], written: Sequence[tuple[int, Written]]
    ) -> tuple[int, str]:
        """Make the table of its parts, the incarnations that wrote them; its bytes and digest."""
        name = self._tables.name_of(self.material)
        names = [self._workshop.part(part, at) for part, at in enumerate(parts)]
        joined = self._workshop.part(0, self.incarnation)
        logs = self._histories(written)
        join(self._tables.store, name, names, joined, self._whole, logs, self._identity)
        self._tables.forget(self.material)
        table = self._tables.columns(self.material)
        return table.bytes, table.digest

    def _histories(self, written: Sequence[tuple[int, Written]]) -> dict[int, History]:
        return {winner: self._history(winner, of) for winner, of in written}

    def verify(self) -> None:
        verified(self._tables, self.material, self._threads)

    # ---- the end ----

    def stop(self) -> None:
        """End what is under way, from another thread than that which asked for it."""
        self._threads.close()

    def close(self) -> None:
        """Let go of everything; what is not sealed is lost."""
        self._threads.close()
        self._put_away()
        for log in self._logs.values():
            log.close()
        self._logs.clear()
        if self._estate is not None:
            self._estate.leave()
            self._estate = None

    def cannot_write(self, error: OSError) -> CannotBuild:
        where = f"{self._tables.store}/{self._workshop.folder}"
        return CannotBuild(f"cannot write {where}: {error.strerror or error}")


def verified(tables: Tables, material: Material, threads: Threads) -> float:
    """Prove a published table, in so many seconds.  One that contradicts itself does not stay."""
    verdict = verify(tables.columns(material), tables.columns, threads)
    if verdict.fault is not None:
        name = f"{tables.store}/{tables.name_of(material)}"
        tables.remove(material)
        raise DamagedTable(f"{name}: {verdict.fault}; removed, please report this")
    return verdict.seconds
