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
    """The logs of a domain; they rest on some smaller tables."""

    def __init__(self, folder: BuildFolder, smaller: Mapping[str, str]) -> None:
        self._folder, self._smaller = folder, smaller
        self._open: dict[LogKey, LogFile] = {}

    def begin(self, key: LogKey, identity: dict[str, object]) -> PassLog:
        """Begins a log; one of this key that is open is closed."""
        if (begun := self._open.pop(key, None)) is not None:
            begun.close()
        log = self._open[key] = self._folder.new_log(self._folder.log_name(*key), identity)
        return log

    def histories(
        self, written: Sequence[tuple[Side, Written]], wanted: Pairs = NO_PAIRS
    ) -> dict[Side, History]:
        return {winner: self.history(winner, of, wanted) for winner, of in written}

    def history(self, winner: Side, written: Written, wanted: Pairs = NO_PAIRS) -> History:
        """The passes of a winner, ready for reading the layers of some partitions."""
        found = History(
            [
                LogRange(self._log(winner, stretch, worker), stretch.first, stretch.last)
                for stretch in written
                for worker in range(stretch.workers)
            ]
        )
        found.bring(wanted)
        return found

    def _log(self, winner: Side, stretch: PassRange, worker: int) -> LogFile:
        key = winner, stretch.incarnation, worker
        if key not in self._open:
            name = self._folder.log_name(*key)
            try:
                self._open[key] = self._folder.read_log(name)
            except FileNotFoundError:
                raise DamagedLog(name, winner, Depth(stretch.first - 1)) from None
        log = self._open[key]
        rests_on = json.loads(log.identity or b"{}").get("smaller")
        sound = log.depth if rests_on == self._smaller else -1
        if sound < stretch.last:
            raise DamagedLog(log.path, winner, Depth(sound))
        return log

    def close(self) -> None:
        for log in self._open.values():
            log.close()
        self._open.clear()
