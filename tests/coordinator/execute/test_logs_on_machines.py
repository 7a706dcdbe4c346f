"""Facts about pass logs and parts of tables on disks of machines: each log has a copy on another
one and each part is in the store, so that no machine alone can lose any, and the bytes are the same
whatever is lost.
"""

from collections import Counter
from contextlib import closing
from pathlib import Path

import building
import pytest
from building import finished
from separate_machines import BuildOnMachines, SeparateMachines

from kingpair.workers.passlog.log import LogFile
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.proof_note import read_proof_note


class Abandoned(Exception):
    """The process that drives the build ends in the middle of a pass."""


def abandon(executor: SeparateMachines) -> None:
    raise Abandoned


def built(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.glob("*.arrow")}


def logs_in(logs: Path) -> set[str]:
    return {path.name for path in logs.rglob("*.log")}


def test_a_pass_that_is_committed_is_on_two_machines_and_not_in_the_store(
    tables: Path, tmp_path: Path
) -> None:
    found: list[str] = []

    def look(executor: SeparateMachines) -> None:
        for keeper in executor.machines.values():
            for path in keeper.directory.glob(".KQvKR.dtc.build/stronger.*.log"):
                with closing(LogFile(path)) as log:
                    found.extend([path.name] * (log.depth >= 10))

    out, logs = tmp_path / "out", tmp_path / "logs"
    done = BuildOnMachines(out, logs, {10: look}).run()
    assert sorted(found) == [f"stronger.1.{worker}.log" for worker in (0, 0, 1, 1, 2, 2)]
    assert done.logs_in_store == set()
    assert logs_in(logs) == set()
    assert built(out) == finished(tables)


def test_after_a_loss_every_log_is_on_two_machines_again(tables: Path, tmp_path: Path) -> None:
    """No committed pass is lost, and a second machine may be lost when the build has gone on."""
    out = tmp_path / "out"
    harms = {
        8: lambda machines: machines.lose("node1"),
        20: lambda machines: machines.lose("node2"),
    }
    done = BuildOnMachines(out, tmp_path / "logs", harms).run()
    assert done.executor.damages == []
    assert done.depths == sorted(set(done.depths))
    assert built(out) == finished(tables)


def test_a_disk_that_is_lost_alone_is_written_again_elsewhere(tables: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    harms = {10: lambda machines: machines.lose_disk("node1")}
    done = BuildOnMachines(out, tmp_path / "logs", harms).run()
    assert done.executor.damages == []
    assert built(out) == finished(tables)


def test_passes_whose_log_and_copy_are_lost_are_found_again(tables: Path, tmp_path: Path) -> None:
    out, logs = tmp_path / "out", tmp_path / "logs"
    begun = BuildOnMachines(out, logs, {10: abandon})
    with pytest.raises(Abandoned):
        begun.run()
    for node in ("node0", "node1"):
        begun.executor.lose_disk(node)
    done = BuildOnMachines(out, logs, {}).run()
    assert done.executor.damages
    assert min(done.depths) == 0
    assert built(out) == finished(tables)


@pytest.mark.parametrize("lost", [None, "node0", "node2"])
def test_a_driver_that_is_started_again_goes_on_from_the_logs_of_its_machines(
    tables: Path, tmp_path: Path, lost: str | None
) -> None:
    out, logs = tmp_path / "out", tmp_path / "logs"
    begun = BuildOnMachines(out, logs, {10: abandon})
    with pytest.raises(Abandoned):
        begun.run()
    if lost is not None:
        begun.executor.lose_disk(lost)
    done = BuildOnMachines(out, logs, {}).run()
    assert min(done.depths) > 5
    assert done.executor.damages == []
    assert built(out) == finished(tables)


def test_a_driver_whose_machines_are_all_new_begins_the_material_again(
    tables: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(Abandoned):
        BuildOnMachines(out, tmp_path / "logs", {10: abandon}).run()
    done = BuildOnMachines(out, tmp_path / "others", {}).run()
    assert min(done.depths) == 0
    assert built(out) == finished(tables)


# Parts of a table


def test_a_machine_that_is_lost_with_parts_that_it_painted_does_not_stop_the_proof(
    tmp_path: Path,
) -> None:
    """The proof reads its parts from the store, and the others from the machines."""
    out, logs, key = tmp_path / "out", tmp_path / "logs", TableKey.parse("KQQQvK.dtc")
    painted: list[set[str]] = []

    def lose(executor: SeparateMachines) -> None:
        for keeper in executor.machines.values():
            copies = keeper.directory.glob(f"{key.build_folder}/*")
            painted.append({path.name for path in copies if path.suffix != ".log"})
        executor.lose("node1")

    done = BuildOnMachines(out, logs, {}, str(key), grain=1 << 20, in_parts=lose).run()
    parts = {path.name for path in (out / key.parts_folder).iterdir()}
    assert all(painted)
    assert sorted(name for names in painted for name in names) == sorted(parts)
    assert done.executor.damages == []
    assert read_proof_note(Table(out / key.file_name)) is not None
    assert list(logs.glob("node*/.K*/*")) == []


# Tables with pawns: levels read the logs of those below


@pytest.fixture(scope="module")
def pawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of KPvK and of all that it rests on."""
    out = tmp_path_factory.mktemp("pawn")
    building.built(out, "KPvK")
    return built(out)


@pytest.mark.parametrize(
    ("grain", "lost"), [(1, "node0"), *((1 << 30, f"node{node}") for node in range(3))]
)
def test_levels_are_read_from_copies_when_a_machine_is_lost(
    pawn: dict[str, bytes], tmp_path: Path, grain: int, lost: str
) -> None:
    """A level that one worker solves is copied when it is solved, and may be begun again before."""
    out, logs, level = tmp_path / "out", tmp_path / "logs", "KPvK.dtc.level4"
    found: list[str] = []

    def lose(executor: SeparateMachines) -> None:
        found.extend(path.name for path in logs.rglob("level3.*.log"))
        executor.lose(lost)

    done = BuildOnMachines(out, logs, {4: lose}, level, grain).run()
    assert list(Counter(found).values()) == ([2, 2, 2] if grain == 1 else [2])
    assert not [damage for damage in done.executor.damages if damage.is_below]
    assert done.executor.damages == [] or grain > 1
    assert done.logs_in_store == set()
    assert logs_in(logs) - logs_in(logs / f"lost.{lost}") == set()
    assert built(out) == pawn


def test_logs_of_a_level_that_none_reads_any_more_are_gone(
    pawn: dict[str, bytes], tmp_path: Path
) -> None:
    out, logs = tmp_path / "out", tmp_path / "logs"
    found: set[str] = set()

    def look(executor: SeparateMachines) -> None:
        found.update(name.partition(".")[0] for name in logs_in(logs))

    BuildOnMachines(out, logs, {3: look}, "KPvK.dtc.level5").run()
    assert found == {"level3", "level4", "level5"}  # a double step leads to the one below the next
    assert logs_in(logs) == set()
    assert built(out) == pawn
