"""Facts about builds that write Syzygy files: those of `kingpair export`, and each table once."""

import shutil
from pathlib import Path

import pytest

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.control import Control
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import BadRequest, Cancelled
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.syzygy_export import export_syzygy
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.worker import TableWorker

KPVK = Material.parse("KPvK")
FILES = {f"{m}.rtb{kind}" for wave in closure([KPVK]) for m in wave for kind in "wz"}


def built(
    out: Path, *, verify: bool = True, syzygy: bool = True, control: Control | None = None
) -> None:
    spec = BuildSpec((KPVK,), (Metric.DTZ,), verify=verify, syzygy=syzygy)
    build(BuildRequest(spec, out, threads=2), lambda row: None, control=control)


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
