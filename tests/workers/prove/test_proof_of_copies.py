"""Facts about the proof of a table whose parts lie on the disks of several machines as well: it
reads those, and what is lost or damaged there is read from the store.
"""

from contextlib import closing
from pathlib import Path

import pytest
from building import copied
from parted_tables import parted

from kingpair.workers.errors import DamagedTable
from kingpair.workers.passlog.keeper import LogKeeper
from kingpair.workers.passlog.machine_logs import MachineLogs
from kingpair.workers.published_proof import PublishedProof
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

KEY = TableKey.parse("KQvKR.dtc")
CUTS = (100, 300_000, 600_000, 900_000)
PARTS = 20


@pytest.fixture
def cut(tables: Path, tmp_path: Path) -> Path:
    """A store with KQvKR in parts, and what it rests on."""
    out = tmp_path / "out"
    out.mkdir()
    copied(tables, out, "KQvK", "KRvK")
    parted(tables / KEY.file_name, out, CUTS)
    return out


def painted(out: Path, home: Path) -> list[TableStore]:
    """Three machines that see the store, each of which has painted some of the parts."""
    keepers = [LogKeeper(home / f"machine{number}") for number in range(3)]
    stores = [TableStore(out, logs=MachineLogs(each.directory, keepers)) for each in keepers]
    for number, path in enumerate(sorted((out / KEY.parts_folder).iterdir())):
        folder = stores[number % 3].build_folder(KEY)
        assert folder.local_logs is not None
        folder.local_logs.keep(folder.near_name(path.name), path)
    return stores


def copies(home: Path) -> list[Path]:
    return sorted(home.glob(f"*/{KEY.build_folder}/*.cut"))


def prove(stores: list[TableStore], threads: Threads) -> None:
    proofs = [PublishedProof(store, KEY, threads) for store in stores]
    findings = [proofs[part % len(proofs)].findings(part, PARTS) for part in range(PARTS)]
    proofs[0].conclude(findings)


def test_a_proof_copies_each_part_once_from_a_machine_and_none_from_the_store(
    cut: Path, tmp_path: Path, threads: Threads
) -> None:
    stores = painted(cut, tmp_path)
    assert len(copies(tmp_path)) == 5
    (cut / KEY.parts_folder).rename(hidden := tmp_path / "hidden")
    with closing(stores[0]), closing(stores[1]), closing(stores[2]):
        proofs = [PublishedProof(store, KEY, threads) for store in stores]
        findings = [proofs[part % 3].findings(part, PARTS) for part in range(PARTS)]
        with pytest.raises(DamagedTable, match="is missing"):
            proofs[0].conclude(findings)  # what is proved must be in the store
        assert not (cut / KEY.proof_file).exists()
        hidden.rename(cut / KEY.parts_folder)
        proofs[0].conclude(findings)
    assert 5 < len(copies(tmp_path)) <= 15
    for copy in copies(tmp_path):
        assert copy.read_bytes() == (cut / KEY.parts_folder / copy.name).read_bytes()
    assert (cut / KEY.proof_file).exists()


@pytest.mark.parametrize("harm", ["lost", "damaged", "torn"])
def test_a_part_whose_copies_are_lost_or_damaged_is_read_from_the_store(
    cut: Path, tmp_path: Path, threads: Threads, harm: str
) -> None:
    stores = painted(cut, tmp_path)
    copy = copies(tmp_path)[-1]
    if harm == "lost":
        machine = copy.parents[1]
        machine.rename(tmp_path / "lost")
        machine.touch()  # every call to it fails
        stores = [store for store in stores if store.logs and store.logs.own.directory != machine]
    else:
        data = copy.read_bytes()
        middle = len(data) // 2
        torn = data[:middle]
        copy.write_bytes(torn if harm == "torn" else torn + b"damaged" + data[middle + 7 :])
    prove(stores, threads)
    assert (cut / KEY.proof_file).exists()


def test_a_store_that_is_damaged_itself_is_found_out_where_no_machine_has_copies(
    cut: Path, tmp_path: Path, threads: Threads
) -> None:
    stores = painted(cut, tmp_path)
    for copy in copies(tmp_path):
        copy.unlink()
    part = sorted((cut / KEY.parts_folder).iterdir())[2]
    part.write_bytes(bytes(part.stat().st_size))
    with pytest.raises(DamagedTable, match="damaged; build the table again"):
        prove(stores, threads)
