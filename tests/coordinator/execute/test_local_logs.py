"""Facts about pass logs on the disk of one machine: the store has none, the bytes are the same,
and what is committed is not lost while the machine is there.
"""

from pathlib import Path

import pytest
from building import files, finished

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import STRONGER

SPEC = BuildSpec((Material.parse("KQvKR"),))


class Abandoned(Exception):
    """The build ends in the middle of a pass."""


def built_with_logs(
    out: Path, logs: Path, until: int | None = None, workers: int = 1
) -> tuple[list[int], set[str]]:
    """Builds up to a pass.  Returns the passes of the stronger side of KQvKR that were committed,
    and the directories that had logs then.
    """
    passes: list[int] = []
    places: set[str] = set()

    def listen(row: Row) -> None:
        record = row.record
        if isinstance(record, PassCommitted) and record.domain == "KQvKR.dtc":
            if record.winner == STRONGER:
                passes.append(int(record.depth))
            places.update(place.name for place in (out, logs) if any(place.rglob("*.log")))
            if until is not None and record.depth >= until:
                raise Abandoned

    request = BuildRequest(SPEC, out, threads=2, workers=workers, grain=1, logs=logs)
    build(request, listen)
    return passes, places


def test_the_log_of_a_worker_alone_lies_in_the_directory_of_its_machine(
    tables: Path, tmp_path: Path
) -> None:
    out, logs = tmp_path / "out", tmp_path / "logs"
    _, places = built_with_logs(out, logs)
    assert places == {"logs"}
    assert files(out) == finished(tables)
    assert files(logs) == {}


def test_logs_of_several_workers_of_a_machine_lie_there_too(tables: Path, tmp_path: Path) -> None:
    out, logs = tmp_path / "out", tmp_path / "logs"
    _, places = built_with_logs(out, logs, workers=2)
    assert places == {"logs"}
    assert files(out) == finished(tables)
    assert files(logs) == {}


def test_a_build_goes_on_from_the_log_of_its_machine(tables: Path, tmp_path: Path) -> None:
    out, logs = tmp_path / "out", tmp_path / "logs"
    with pytest.raises(Abandoned):
        built_with_logs(out, logs, until=10)
    passes, _ = built_with_logs(out, logs)
    assert min(passes) > 5
    assert files(out) == finished(tables)


def test_a_build_whose_machine_is_lost_begins_the_table_again(tables: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(Abandoned):
        built_with_logs(out, tmp_path / "logs", until=10)
    passes, _ = built_with_logs(out, tmp_path / "other")
    assert min(passes) == 0
    assert files(out) == finished(tables)
