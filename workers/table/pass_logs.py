"""The pass logs of a domain, opened once each, and the histories that are in them."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from kingpair.workers.errors import DamagedLog
from kingpair.workers.index.share import Pairs
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.passlog.history import History, LogRange, PassRange
from kingpair.workers.passlog.log import LogFile
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.table.build_folder import BuildFolder

Written = Sequence[PassRange]
LogKey = tuple[Side, int, int]  # winner, incarnation, worker
NO_PAIRS: Pairs = np.empty(0, np.int16)


class PassLogs:
    """The logs of a domain of so many partitions; they rest on some smaller tables.  If machines
    keep them, those that took long have a copy on a second machine.
    """

    def __init__(
        self,
        folder: BuildFolder,
        smaller: Mapping[str, str],
        partitions: int,
        are_copied: bool = False,
    ) -> None:
        self._folder, self._smaller, self._partitions = folder, smaller, partitions
        self._are_copied = are_copied
        self._open: dict[LogKey, LogFile] = {}

    def begin(self, key: LogKey, identity: dict[str, object]) -> PassLog:
        """Begins a log; one of this key that is open is closed."""
        if (begun := self._open.pop(key, None)) is not None:
            begun.close()
        name = self._folder.log_name(*key)
        log = self._open[key] = self._folder.new_log(name, identity, self._are_copied)
        return log

    def histories(
        self, written: Sequence[tuple[Side, Written]], wanted: Pairs = NO_PAIRS
    ) -> dict[Side, History]:
        return {winner: self.history(winner, of, wanted) for winner, of in written}

    def history(self, winner: Side, written: Written, wanted: Pairs = NO_PAIRS) -> History:
        """The passes of a winner, ready for reading the layers of some partitions."""
        found = History([part for span in written for part in self._logs_of(winner, span)])
        found.bring(wanted)
        return found

    def secure(self, winner: Side, written: Written, turn: int, turns: int) -> None:
        """Has every log on two machines; of several workers each sees to some of the logs."""
        if self._are_copied:
            self._secure(winner, written, turn, turns)

    def secure_solved(self, written: Sequence[tuple[Side, Written]]) -> None:
        """Has on two machines what was not copied as it grew."""
        for winner, spans in () if self._are_copied else written:
            self._secure(winner, spans, 0, 1)

    def _secure(self, winner: Side, written: Written, turn: int, turns: int) -> None:
        keys = ((winner, span.incarnation, w) for span in written for w in range(span.workers))
        for number, key in enumerate(keys):
            if number % turns == turn:
                self._folder.secure_log(self._folder.log_name(*key))

    def _logs_of(self, winner: Side, span: PassRange) -> list[LogRange]:
        """The logs of an incarnation.  A machine that was away may have one of an earlier build
        that was divided in another way: each partition is in one log, or the passes are found
        again.
        """
        logs = [self._log(winner, span, worker) for worker in range(span.workers)]
        partitions = [p for log in logs for p in json.loads(log.identity)["partitions"]]
        if sorted(partitions) != list(range(self._partitions)):
            raise DamagedLog(logs[0].path, winner, Depth(span.first - 1))
        return [LogRange(log, span.first, span.last) for log in logs]

    def _log(self, winner: Side, span: PassRange, worker: int) -> LogFile:
        """A log, or a copy of it, that has the passes of a span."""
        key = winner, span.incarnation, worker
        name = self._folder.log_name(*key)
        begun, sound = self._open.get(key), list[int]()
        for log in [begun] if begun is not None else self._folder.opened_logs(name):
            rests_on = json.loads(log.identity or b"{}").get("smaller")
            sound.append(log.depth if rests_on == self._smaller else -1)
            if sound[-1] >= span.last:
                self._open[key] = log
                return log
            if log is not begun:
                log.close()
        raise DamagedLog(name, winner, Depth(max(sound, default=span.first - 1)))

    def close(self) -> None:
        for log in self._open.values():
            log.close()
        self._open.clear()
