"""Facts about stores: the files that builds leave there, also after failures, and their readers.

The store of objects is a real server on loopback, with faults of its own (support/s3_server.py);
that of files is pyarrow's own file system, which must rename.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import killable_build
import pyarrow.fs as pafs
import pytest
from building import CLOSURE, built, finished, started, untimed
from ray_clusters import lines_of, needs_cluster
from s3_server import BUCKET, Objects, objects
from services import client_of, got
from terminal import kingpair, said, told

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.records import PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import CannotBuild
from kingpair.workers.store import remote
from kingpair.workers.store.filesystem import LocalStore, Store, printable, store_at, uri_of
from kingpair.workers.store.lease_owner import LeaseOwner
from kingpair.workers.store.remote import LEASE, RemoteStore
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

pytestmark = pytest.mark.slow  # whole builds into a store


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Objects]:
    with objects() as found:
        yield found


@pytest.fixture
def lab(server: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Objects:
    """The server without faults, and a cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    server.fail = lambda method, path: None
    server.asked.clear()
    return server


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).replace("[", "-").replace("]", "")


def filed(place: Path) -> RemoteStore:
    """A store of files, as HDFS is one."""
    (place / "there").mkdir(parents=True, exist_ok=True)
    files, base = pafs.LocalFileSystem(), str(place / "there")
    return RemoteStore(f"files://{place.name}", files, base, place / "here")


# ---- names ----


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("s3://bucket/prefix", "s3://bucket/prefix"),
        (Path("s3://bucket/prefix?region=x"), "s3://bucket/prefix?region=x"),
        ("hdfs://node:9000/tables", "hdfs://node:9000/tables"),
        ("file:///data/tables", "file:///data/tables"),
        ("/data/tables", None),
        ("tables", None),
        ("s3", None),
        ("c:/tables", None),
    ],
)
def test_a_uri_is_known_even_when_a_path_was_made_of_it(
    written: str | Path, wanted: str | None
) -> None:
    assert uri_of(written) == wanted


def test_no_key_is_shown() -> None:
    assert printable("s3://key:hidden@bucket/prefix?endpoint_override=h") == "s3://bucket/prefix"
    assert printable(Path("tables")) == "tables"


def test_a_file_uri_is_a_directory(tmp_path: Path) -> None:
    store = store_at(f"file://{tmp_path}")
    assert isinstance(store, LocalStore)
    assert store.root == tmp_path


# ---- operations that all stores have ----


@pytest.fixture(params=["local", "files", "objects"])
def store(
    request: pytest.FixtureRequest, lab: Objects, tmp_path: Path, prefix: str
) -> Iterator[Store]:
    made: dict[str, Store] = {
        "local": LocalStore(tmp_path / "local"),
        "files": filed(tmp_path / "files"),
        "objects": store_at(lab.uri(prefix)),
    }
    found = made[request.param]
    found.check()
    yield found
    found.close()


def test_stored_bytes_are_read_back(store: Store) -> None:
    store.local_path("a").write_bytes(b"one")
    store.publish("a")
    assert store.fetch("a").read_bytes() == b"one"
    assert store.has("a")
    assert "a" in store.names("")
    store.remove("a")
    assert not store.has("a")
    with pytest.raises(FileNotFoundError):
        store.fetch("a").read_bytes()


def test_a_file_takes_the_name_of_another_whole(store: Store) -> None:
    store.make_folder("folder")
    for name, data in (("new", b"old"), ("folder/draft", b"part")):
        store.local_path(name).write_bytes(data)
        store.publish(name)
    with open(store.fetch_draft("folder/draft"), "ab") as file:
        file.write(b" and the rest")
    store.rename("folder/draft", "new")
    assert store.fetch("new").read_bytes() == b"part and the rest"


def bytes_of_log(store: Store, name: str) -> bytes:
    with closing(store.open_log(name)) as log:
        return log.read(log.size, 0)


def test_a_log_is_what_it_was_extended_by(store: Store) -> None:
    store.make_folder("folder")
    pieces, end = (b"one ", b"two ", b"three"), 0
    with open(store.local_path("folder/log"), "w+b", buffering=0) as file:
        file.write(b"".join(pieces))
        for piece in pieces:
            end += len(piece)
            store.sync_log("folder/log", file.fileno(), end, [(end - len(piece), end)])
            if not store.is_local:
                assert bytes_of_log(store, "folder/log") == b"".join(pieces)[:end]
    assert bytes_of_log(store, "folder/log") == b"one two three"
    assert store.names("folder") == ["log"]
    store.remove("folder/log")
    assert store.names("folder") == []


def test_a_folder_that_is_cleared_is_gone(store: Store) -> None:
    store.make_folder("folder")
    store.local_path("folder/a").write_bytes(b"one")
    store.publish("folder/a")
    assert "folder" in store.names("")
    store.remove_folder("folder")
    store.remove_folder("folder")
    assert store.names("folder") == []
    assert not store.has("folder/a")


def test_a_missing_object_is_not_there(store: Store) -> None:
    assert store.names("nowhere") == []
    assert not store.has("nothing")
    store.remove("nothing")


def test_only_one_build_holds_a_store(store: Store) -> None:
    other = LocalStore(store.root) if isinstance(store, LocalStore) else _again(store)
    with store.hold():
        with pytest.raises(CannotBuild, match="another build is writing to") as refused:
            other.hold().__enter__()
        assert "\n" not in str(refused.value)
    with other.hold():
        pass
    assert [name for name in store.names("") if name.startswith(".kingpair")] == []


def _again(store: Store) -> RemoteStore:
    """The same store as another process sees it."""
    assert isinstance(store, RemoteStore)
    return RemoteStore(store._said, store._files, store._base, store.root)


# ---- leases ----


def test_the_lease_of_a_process_that_ended_is_nobodys(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    owner = LeaseOwner.this()._replace(process=ended.pid)
    store = filed(tmp_path)
    (tmp_path / "there" / LEASE).write_bytes(owner.json())
    with store.hold():
        assert owner.json() != (tmp_path / "there" / LEASE).read_bytes()
    assert os.listdir(tmp_path / "there") == []


def test_the_lease_of_a_process_in_another_container_is_its_own(tmp_path: Path) -> None:
    elsewhere = LeaseOwner.this()._replace(process=1 << 22, space="pid:[1]")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / LEASE).write_bytes(elsewhere.json())
    with pytest.raises(CannotBuild, match="another build is writing to"):
        filed(tmp_path).hold().__enter__()


def test_files_that_a_killed_process_was_writing_are_removed(tmp_path: Path) -> None:
    left, alive = filed(tmp_path), filed(tmp_path)
    for store in (left, alive):
        store.local_path("a").write_bytes(b"one")
    assert left._alive is not None
    os.close(left._alive)  # as the end of a process does
    filed(tmp_path).local_path("b")
    assert not left.local_path("a").exists()
    assert alive.local_path("a").read_bytes() == b"one"


def test_a_lease_that_nobody_renews_runs_out(tmp_path: Path) -> None:
    store, lease = filed(tmp_path), tmp_path / "there" / LEASE
    lease.write_bytes(LeaseOwner("elsewhere", 1, "today").json())
    with pytest.raises(CannotBuild, match=r"elsewhere, process 1, since today"):
        store.hold().__enter__()
    old = lease.stat().st_mtime - remote.LEASE_SECONDS - 1
    os.utime(lease, (old, old))
    with store.hold():
        pass


def test_a_build_that_lost_the_lease_writes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "RENEW_SECONDS", 0.01)
    store = filed(tmp_path)
    store.local_path("a").write_bytes(b"mine")
    with store.hold():
        (tmp_path / "there" / LEASE).write_bytes(LeaseOwner("elsewhere", 1, "today").json())
        with pytest.raises(CannotBuild, match="taken over"):
            keep_on(store, "a")
    assert (tmp_path / "there" / LEASE).exists()


def keep_on(store: Store, name: str) -> None:
    for _ in range(100_000):
        store.publish(name)


# ---- builds ----


def test_a_build_leaves_the_same_bytes_in_a_store(lab: Objects, prefix: str, tables: Path) -> None:
    built(lab.uri(prefix), "KQvKR")
    assert untimed(lab.held(prefix)) == finished(tables)
    lab.asked.clear()
    assert started(built(lab.uri(prefix), "KQvKR")) == []
    assert [path for method, path in lab.asked if method == "PUT" and "arrow" in path] == []


def test_a_build_over_a_file_system_of_pyarrows_leaves_the_same_bytes(
    tmp_path: Path, tables: Path
) -> None:
    out = Path(f"file://{tmp_path / 'out'}")
    built(out, "KQvKR")
    found = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert untimed(found) == finished(tables)


def test_a_table_in_parts_is_built_into_a_store_and_asked(
    lab: Objects, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = TableKey.parse("KQQQvK.dtc")
    spec = BuildSpec((key.material,), spread=2)
    build(BuildRequest(spec, lab.uri(prefix), threads=2, parts_from=1), lambda row: None)
    held = lab.held(prefix)
    manifest = held[key.file_name]
    parts = [data for name, data in sorted(held.items()) if name.startswith(key.parts_folder)]
    (tmp_path / key.file_name).write_bytes(b"".join(parts) + manifest.partition(b"\n")[2])
    whole = Table(tmp_path / key.file_name)
    whole.check()
    asked = "8/8/8/8/3k4/8/3K4/QQQ5 b - - 0 1"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    lab.asked.clear()
    with open_tablebase(lab.uri(prefix)) as tablebase, open_tablebase(tmp_path) as here:
        assert tablebase.probe_dtc(asked) == here.probe_dtc(asked)
        fetched = {path for method, path in lab.asked if ".parts/" in path and method == "GET"}
        assert len(fetched) == 1
    with closing(TableStore(lab.uri(prefix))) as store:
        store.remove(key)
    assert not [name for name in lab.held(prefix) if name.startswith("KQQQvK")]


def test_a_build_that_is_killed_goes_on_from_what_the_store_has(
    lab: Objects, prefix: str, tables: Path
) -> None:
    uri = lab.uri(prefix)
    assert killable_build.killed(
        uri, ["KQvKR"], lambda number, line: number > 50 and "KQvKR" in line
    )
    left = lab.held(prefix)
    assert any("/stronger.1.0.log/" in name for name in left)
    assert "KQvKR.dtc.arrow" not in left
    committed = [event for event in built(uri, "KQvKR") if isinstance(event, PassCommitted)]
    assert min(event.depth for event in committed if event.winner == 0) > 1
    assert untimed(lab.held(prefix)) == finished(tables)


@pytest.mark.parametrize("status", [503, 0], ids=["busy", "cut"])
def test_a_store_that_fails_at_random_delays_a_build_or_ends_it_with_a_reason(
    lab: Objects, prefix: str, tables: Path, status: int
) -> None:
    chance = random.Random(status)
    lab.fail = lambda method, path: status if chance.random() < 0.1 else None
    with suppress(CannotBuild):
        built(lab.uri(prefix), "KQvKR")
    lab.fail = lambda method, path: None
    built(lab.uri(prefix), "KQvKR")
    assert untimed(lab.held(prefix)) == finished(tables)


@pytest.mark.parametrize("status", [403, 507], ids=["read-only", "full"])
@pytest.mark.parametrize("at", ["log", "part", "KQvKR.dtc.arrow"])
def test_a_store_that_takes_no_more_keeps_what_it_has_and_can_be_mended(
    lab: Objects, prefix: str, tables: Path, at: str, status: int
) -> None:
    lab.fail = lambda method, path: status if method in ("PUT", "POST") and at in path else None
    with pytest.raises(CannotBuild, match=f"s3://{BUCKET}/") as failed:
        built(lab.uri(prefix), "KQvKR")
    assert "\n" not in str(failed.value)
    assert "hidden" not in str(failed.value)
    assert {n for n in lab.held(prefix) if n.endswith(".arrow")} < set(finished(tables))
    lab.fail = lambda method, path: None
    built(lab.uri(prefix), "KQvKR")
    assert untimed(lab.held(prefix)) == finished(tables)


# ---- refusals ----


def refused(*words: object) -> str:
    done = kingpair("build", "KQvK", *words)
    assert done.exit_code == 5, done.output
    assert done.stderr.count("\n") == 1
    assert "hidden" not in done.stderr
    return str(done.stderr)


def test_a_store_that_cannot_be_reached_is_refused_in_one_line(lab: Objects) -> None:
    nobody = str(lab.uri("x")).replace(f":{lab.port}", ":1")
    assert f"cannot write to s3://{BUCKET}/x" in refused("--out", nobody)


def test_a_store_of_no_known_kind_is_refused_in_one_line() -> None:
    assert "no store at az://x/tables" in refused("--out", "az://x/tables")
    assert "unknown option 'colour'" in refused("--out", "s3://x/tables?colour=red")


def test_a_bucket_that_is_not_there_is_refused_in_one_line(lab: Objects) -> None:
    assert "cannot write to s3://nowhere/x" in refused("--out", lab.uri("x", "nowhere"))


def test_a_store_that_may_not_be_written_is_refused_in_one_line(lab: Objects) -> None:
    lab.fail = lambda method, path: 403 if method == "PUT" else None
    assert "may be written" in refused("--out", lab.uri("x"))


def test_a_store_that_another_build_holds_is_refused_in_one_line(lab: Objects, prefix: str) -> None:
    lab.put(f"{prefix}/{LEASE}", LeaseOwner("elsewhere", 1, "today").json())
    assert "(elsewhere, process 1, since today)" in refused("--out", lab.uri(prefix))
    assert set(lab.held(prefix)) == {LEASE}


# ---- readers ----


def test_tables_of_a_store_can_be_asked(lab: Objects, prefix: str, tables: Path) -> None:
    for name, data in finished(tables).items():
        lab.put(f"{prefix}/{name}", data)
    with open_tablebase(lab.uri(prefix)) as tablebase:
        assert tablebase.probe_dtc("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1") == 31
        lab.asked.clear()
        assert not tablebase.refresh()
        assert [method for method, _ in lab.asked] == ["GET"]  # one list, however many tables
        lab.asked.clear()
        assert tablebase.probe_dtc("8/8/8/8/Q7/5k2/8/1K2r3 w - - 0 1") != 0
        assert lab.asked == []
    shown_ = said("tables", "--tables", lab.uri(prefix))
    assert all(name in shown_ for name in CLOSURE)


def test_metadata_of_tables_in_a_store_is_read_without_the_rest(
    lab: Objects, prefix: str, tables: Path
) -> None:
    for name, data in finished(tables).items():
        lab.put(f"{prefix}/{name}", data)
    where = Path(lab.uri(prefix))
    with client_of(tables) as here, client_of(where) as there:
        found, of_all = (got(each, "/api/v1/tables")["tables"] for each in (there, here))
    assert found == [entry for entry in of_all if entry["material"] in CLOSURE]
    assert {entry["material"] for entry in found} == set(CLOSURE)
    listed = told("tables", "--tables", where, "--json")
    assert {entry["path"] for entry in listed} == {
        f"s3://{BUCKET}/{prefix}/{name}" for name in finished(tables)
    }
    store = store_at(where)
    assert not any(store.cached_path(name).exists() for name in store.names(""))


def test_a_table_that_is_replaced_in_a_store_is_read_anew(
    lab: Objects, prefix: str, tables: Path
) -> None:
    lab.put(f"{prefix}/KQvK.dtc.arrow", (tables / "KQvK.dtc.arrow").read_bytes())
    store = store_at(lab.uri(prefix))
    first = store.fetch("KQvK.dtc.arrow")
    assert store.fetch("KQvK.dtc.arrow") == first
    lab.put(f"{prefix}/KQvK.dtc.arrow", b"another")
    assert store.fetch("KQvK.dtc.arrow").read_bytes() == b"another"
    assert not first.exists()


def test_a_store_without_tables_says_so(lab: Objects, prefix: str) -> None:
    done = kingpair("tables", "--tables", lab.uri(prefix))
    assert done.exit_code == 3
    assert f"no directory of tables at s3://{BUCKET}/{prefix}" in done.stderr


# ---- clusters ----


@needs_cluster
def test_actors_write_their_own_parts_into_a_store(tables: Path, tmp_path: Path) -> None:
    """Each of two workers its logs of each colour, under names of their own; then the tables."""
    materials = ("KQvKR", "KQvK", "KRvK")
    printed = lines_of(tmp_path, "object_store_build.py", str(tables), *materials)
    assert printed[-1] == "held 3 and 6 differ 0 logs 4"
    assert list((tmp_path / ".cache" / "kingpair").rglob("*.log")) == []
