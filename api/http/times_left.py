"""The time left of each build of the service.

A build under way has a countdown.  A build that waits also waits for the builds before it.
"""

from collections.abc import Callable

from kingpair.api.machine_pace import note_pace, stored_pace
from kingpair.coordinator.journal.build_records import BuildRecord, BuildRecords
from kingpair.coordinator.journal.countdown import Countdown, Left
from kingpair.coordinator.journal.forecast import Range, work_to_do
from kingpair.coordinator.machine.state import State


class TimesLeft:
    """Countdowns by build."""

    def __init__(self, threads: int) -> None:
        self._threads, self._pace = threads, stored_pace(threads)
        self._countdowns: dict[str, Countdown] = {}

    def see(self, build: BuildRecord, now: float) -> None:
        """Takes in that something happened to a build."""
        if build.is_active:
            self._of(build).left(build, now)
        elif self._countdowns.pop(build.name, None) is not None:
            note_pace(build, self._threads)
            self._pace = stored_pace(self._threads)

    def left(
        self,
        records: BuildRecords,
        build: BuildRecord,
        tables: Callable[[], frozenset[str]],
        now: float,
    ) -> Left | None:
        """Returns the time until a build is over, that of the builds before it included."""
        if build.is_active:
            return self._of(build).left(build, now)
        if build.state is not State.QUEUED or not build.is_queued:
            return None
        queue, there = records.queue(), tables()
        work = sum(work_to_do(each, there) for each in queue[: queue.index(build) + 1])
        seconds, (low, high) = work * self._pace.seconds, self._pace.range_of(work)
        active = [each for each in records.not_deleted() if each.is_active]
        before = [left for each in active if (left := self._of(each).left(each, now))]
        return Left(
            seconds + sum(left.seconds for left in before),
            Range(
                low + sum(left.range.low for left in before),
                high + sum(left.range.high for left in before),
            ),
        )

    def _of(self, build: BuildRecord) -> Countdown:
        if build.name not in self._countdowns:
            self._countdowns[build.name] = Countdown(self._pace)
        return self._countdowns[build.name]
