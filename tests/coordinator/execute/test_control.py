"""Facts about builds that are told something while they run, and about what they tell of passes."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from building import built, copied, files, finished

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.control import Control
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    PaintingBegan,
    PassCommitted,
    Record,
    TablePublished,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import Cancelled
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.format import Table

KQVKR = Material.parse("KQvKR")


def controlled(out: Path, kind: type, do: Callable[[Control], None]) -> list[Record]:
    """Builds KQvKR; does something once a record of a kind was settled."""
    control, records = Control(), list[Record]()

    def listen(row: Row) -> None:
        if isinstance(row.record, kind) and not any(isinstance(r, kind) for r in records):
            do(control)
        records.append(row.record)

    build(BuildRequest(BuildSpec((KQVKR,)), out, threads=2), listen, control=control)
    return records


def elsewhere(do: Callable[[Control], None]) -> Callable[[Control], None]:
    """The same by another thread."""

    def in_a_thread(control: Control) -> None:
        thread = Thread(target=do, args=(control,))
        thread.start()
        thread.join()

    return in_a_thread


@pytest.mark.parametrize("kind", [Assigned, PassCommitted, PaintingBegan])
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
        build(BuildRequest(BuildSpec((KQVKR,)), tmp_path), lambda event: None, control=control)
    assert list(tmp_path.iterdir()) == []


def test_a_table_published_before_the_cancel_stays(tables: Path, tmp_path: Path) -> None:
    control = Control()
    build(BuildRequest(BuildSpec((KQVKR,)), tmp_path), lambda event: None, control=control)
    control.cancel()
    assert files(tmp_path) == finished(tables)


def test_a_paused_build_goes_on_when_it_is_resumed(tables: Path, tmp_path: Path) -> None:
    def pause_and_resume(control: Control) -> None:
        control.pause()
        control.resume()

    events = controlled(tmp_path, PassCommitted, elsewhere(pause_and_resume))
    assert any(isinstance(record, TablePublished) for record in events)
    assert files(tmp_path) == finished(tables)


def test_passes_are_told_of_by_partition(tmp_path: Path) -> None:
    rows: list[Row] = []
    build(BuildRequest(BuildSpec((KQVKR,)), tmp_path, workers=2, grain=1), rows.append)
    records = [row.record for row in rows if getattr(row.record, "domain", "") == "KQvKR.dtc"]
    passes = [record for record in records if isinstance(record, PassCommitted)]
    for record in passes:
        assert len(record.won) == len(record.lost) == 462
        assert len(record.work) == 2
        assert all(memory > 0 for _, memory in record.work)
    assert sum(sum(record.won) for record in passes if record.winner == 0) == sum(
        Table(tmp_path / "KQvKR.dtc.arrow").counts["white"]["win"].values()
    )
    assert sum(record.exchanged for record in passes) > 0
    for record in passes:
        assert record.exchanged == sum(count for _, _, count in record.sent)
        assert {(sender, receiver) for sender, receiver, _ in record.sent} <= {(0, 1), (1, 0)}
    (assigned,) = [record for record in records if isinstance(record, Assigned)]
    assert [partitions for _, partitions in assigned.shares] == [231, 231]
    assert len(assigned.given) == 2
    assert assigned.links_cut > 0
