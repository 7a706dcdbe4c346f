"""Facts about builds that write Syzygy files: those of `kingpair export`, and each table once."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from full_disks import files_end_at

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.control import Control
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.records import ExportBegan, ExportDone, Record, WavesPlanned
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import BadRequest, Cancelled, CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.syzygy_export import export_syzygy
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.worker import TableWorker

pytestmark = pytest.mark.slow  # builds with their exports

KPVK = Material.parse("KPvK")
FILES = {f"{m}.rtb{kind}" for wave in closure([KPVK]) for m in wave for kind in "wz"}


def built(
    out: Path,
    *,
    verify: bool = True,
    syzygy: bool = True,
    control: Control | None = None,
    heard: Callable[[Record], None] = lambda record: None,
) -> None:
    spec = BuildSpec((KPVK,), (Metric.DTZ,), verify=verify, syzygy=syzygy)
    build(BuildRequest(spec, out, threads=2), lambda row: heard(row.record), control=control)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("syzygy")
    built(found)
    return found


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (directory / "syzygy").iterdir()}


def test_the_files_are_those_of_an_export(directory: Path, tmp_path: Path) -> None:
    materials = [material for wave in closure([KPVK]) for material in wave]
    with open_tablebase(directory) as tablebase:
        list(export_syzygy(tablebase.table, materials, tmp_path / "syzygy", 2))
    assert files(directory) == files(tmp_path)
    assert set(files(directory)) == FILES


def test_tables_that_are_there_get_the_files_that_they_lack(
    directory: Path, tmp_path: Path
) -> None:
    built(tmp_path, verify=False, syzygy=False)
    assert not (tmp_path / "syzygy").exists()
    built(tmp_path)
    assert files(tmp_path) == files(directory)
    kept = (tmp_path / "syzygy" / "KQvK.rtbw").stat().st_ino
    (tmp_path / "syzygy" / "KPvK.rtbz").unlink()
    built(tmp_path)
    assert files(tmp_path) == files(directory)
    assert (tmp_path / "syzygy" / "KQvK.rtbw").stat().st_ino == kept


@pytest.fixture
def without_files(directory: Path, tmp_path: Path) -> Path:
    """A directory with the tables, and without their Syzygy files."""
    for table in directory.glob("*.arrow"):
        shutil.copy(table, tmp_path)
    return tmp_path


def test_missing_files_are_told_of_table_by_table(directory: Path, without_files: Path) -> None:
    records: list[Record] = []
    built(without_files, heard=records.append)
    assert files(without_files) == files(directory)
    names = {Path(name).stem + ".dtz" for name in FILES}
    planned, *told = [r for r in records if isinstance(r, WavesPlanned | ExportBegan | ExportDone)]
    assert isinstance(planned, WavesPlanned)
    assert (set(planned.exports), planned.waves) == (names, ())
    assert {r.domain for r in told if isinstance(r, ExportBegan)} == names
    assert {r.domain for r in told if isinstance(r, ExportDone)} == names
    assert {path.name for path in without_files.iterdir() if path.is_dir()} == {"syzygy"}


def test_an_export_is_cancelled_and_the_next_build_goes_on(
    directory: Path, without_files: Path
) -> None:
    control, done = Control(), list[str]()

    def cancel(record: Record) -> None:
        if isinstance(record, ExportDone):
            done.append(record.domain)
        if isinstance(record, ExportBegan) and len(done) == 2:
            control.cancel()

    with pytest.raises(Cancelled):
        built(without_files, control=control, heard=cancel)
    kept = files(without_files)
    assert len(done) == 2
    assert {f"{name.removesuffix('.dtz')}.rtb{kind}" for name in done for kind in "wz"} <= set(kept)
    assert len(kept) < len(FILES)
    assert all(files(directory).get(name) == content for name, content in kept.items())
    built(without_files)
    assert files(without_files) == files(directory)


def test_a_full_disk_is_named_and_leaves_no_part_of_a_file(without_files: Path) -> None:
    with files_end_at(500), pytest.raises(CannotBuild, match=r"cannot write .*\.rtb[wz]: "):
        built(without_files)
    assert all(name in FILES for name in files(without_files))


def test_a_build_that_is_cancelled_writes_no_file_of_tables_that_are_there(tmp_path: Path) -> None:
    built(tmp_path, verify=False, syzygy=False)
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        built(tmp_path, control=control)
    assert not list(tmp_path.rglob("*.rtb*"))


def test_a_worker_that_is_stopped_writes_no_file(directory: Path, tmp_path: Path) -> None:
    for table in directory.glob("*.arrow"):
        shutil.copy(table, tmp_path)
    key, pool = TableKey(KPVK, Metric.DTZ), Threads(1)
    worker = TableWorker(key, 0, 1, TableStore(tmp_path), pool, compact=False)
    worker.stop()
    with pytest.raises(Cancelled):
        worker.export()
    assert not list(tmp_path.rglob("*.rtb*"))


def test_without_a_proof_the_files_are_the_same(directory: Path, tmp_path: Path) -> None:
    built(tmp_path, verify=False)
    assert files(tmp_path) == files(directory)


def test_a_table_that_is_built_again_takes_its_files_along(tmp_path: Path) -> None:
    built(tmp_path)
    before = files(tmp_path)
    (tmp_path / "syzygy" / "KPvK.rtbw").write_bytes(b"of another table")
    (tmp_path / "KPvK.dtz.arrow").unlink()
    built(tmp_path)
    assert files(tmp_path) == before


def test_other_metrics_alone_are_refused() -> None:
    with pytest.raises(BadRequest, match="add the metric dtz"):
        BuildSpec((KPVK,), (Metric.DTC, Metric.DTM), syzygy=True)
