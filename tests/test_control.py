"""Facts about builds that are told something while they run, and about what they tell of passes."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from building import built, copied, files, finished

from coordinator.build import build
from coordinator.control import Control
from coordinator.request import Committed, Event, Painting, Published, Request, Started
from workers.errors import Cancelled
from workers.material import Material
from workers.table import Table

KQVKR = Material.parse("KQvKR")


def controlled(out: Path, kind: type, do: Callable[[Control], None]) -> list[Event]:
    """Build KQvKR; do something once an event of a kind has happened."""
    control, events = Control(), list[Event]()

    def listen(event: Event) -> None:
        if isinstance(event, kind) and not any(isinstance(e, kind) for e in events):
            do(control)
        events.append(event)

    build(Request((KQVKR,), out, threads=2), listen, control=control)
    return events


def elsewhere(do: Callable[[Control], None]) -> Callable[[Control], None]:
    """The same by another thread."""

    def in_a_thread(control: Control) -> None:
        thread = Thread(target=do, args=(control,))
        thread.start()
        thread.join()

    return in_a_thread


@pytest.mark.parametrize("kind", [Started, Committed, Painting])
def test_a_cancelled_build_leaves_no_partial_table_and_can_be_gone_on_with(
    tables: Path, tmp_path: Path, kind: type
) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    with pytest.raises(Cancelled, match="cancelled: enough; what was committed is kept"):
        controlled(tmp_path, kind, elsewhere(lambda control: control.cancel("enough")))
    assert {path.name for path in tmp_path.iterdir()} == {
        ".KQvKR.dtc.build",
        *finished(tables, "KQvK", "KRvK"),
    }
    built(tmp_path, "KQvKR")
    assert files(tmp_path) == finished(tables)


def test_a_build_that_is_cancelled_before_it_begins_makes_nothing(tmp_path: Path) -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        build(Request((KQVKR,), tmp_path), lambda event: None, control=control)
    assert list(tmp_path.iterdir()) == []


def test_what_is_cancelled_too_late_is_there(tables: Path, tmp_path: Path) -> None:
    control = Control()
    build(Request((KQVKR,), tmp_path), lambda event: None, control=control)
    control.cancel()
    assert files(tmp_path) == finished(tables)


def test_a_paused_build_goes_on_when_it_is_resumed(tables: Path, tmp_path: Path) -> None:
    def pause_and_resume(control: Control) -> None:
        control.pause()
        control.resume()

    events = controlled(tmp_path, Committed, elsewhere(pause_and_resume))
    assert isinstance(events[-2], Published)
    assert files(tmp_path) == finished(tables)


def test_passes_are_told_of_by_partition(tmp_path: Path) -> None:
    events: list[Event] = []
    build(Request((KQVKR,), tmp_path, workers=2, grain=1), events.append)
    passes = [e for e in events if isinstance(e, Committed) and e.subject.material == KQVKR]
    for event in passes:
        assert len(event.cells.won) == len(event.cells.lost) == 462
        assert (sum(event.cells.won), sum(event.cells.lost)) == event.passed[1:3]
        assert len(event.work) == 2
        assert all(work.memory > 0 for work in event.work)
    assert sum(event.passed.won for event in passes if event.winner == 0) == sum(
        Table(tmp_path / "KQvKR.dtc.arrow").counts["white"]["win"].values()
    )
    assert sum(event.exchanged for event in passes) > 0
    (start,) = [e for e in events if isinstance(e, Started) and e.subject.material == KQVKR]
    assert [post.partitions for post in start.posts] == [231, 231]
    assert start.cut > 0
