"""Facts about a real cluster whose nodes are silent or idle, lose a disk or the head, come late."""

import re
from pathlib import Path

import pytest
from ray_clusters import lines_of, needs_cluster, tables_of, wanted


@needs_cluster
@pytest.mark.slow
def test_builds_do_without_nodes_that_are_silent_before_ray_has_noticed(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lines = lines_of(tmp_path, "silent_nodes.py", str(tmp_path / "out"))
    said = [line.split() for line in lines if line]
    assert [line[:3] for line in said] == [
        ["listed", "listed", "0"],
        ["waited", "listed", "0"],
        ["asked", "listed", "1"],
        ["stopped", "listed", "1"],
    ]
    assert len(said[-1]) == 5, "no other workers were given out"
    for name in ("listed", "waited", "asked", "stopped"):
        assert tables_of(tmp_path / "out" / name) == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_a_node_that_loses_its_disk_is_named_with_the_path_and_done_without(
    tables: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    set_back, built = (line for line in lines_of(tmp_path, "broken_disk.py", str(out)) if line)
    said = rf"set back node 127\.0\.0\.2-\w+\.\d cannot write {re.escape(str(out))}/\S+: No such"
    assert re.match(said, set_back)
    assert built == "built"
    assert tables_of(out) == wanted(tables)
    assert not list(out.glob(".kingpair.mark*"))


@needs_cluster
@pytest.mark.slow
def test_a_build_whose_head_dies_says_how_to_resume_and_one_that_is_killed_leaves_no_mark(
    tables: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    killed, gone, again = lines_of(tmp_path, "killed_head.py", str(out))
    assert killed == "killed"
    said = r"gone 5 \S+ kingpair: the cluster is gone \(no cluster at \S+: .*refused\)"
    resume = f"; committed passes are kept in {out}; the same command resumes from there"
    assert re.fullmatch(said + re.escape(resume), gone)
    assert again == "again 0"
    assert tables_of(out) == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_a_build_without_nodes_has_an_autoscaler_add_some(tables: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    waits, built = (line for line in lines_of(tmp_path, "autoscaled_build.py", str(out)) if line)
    assert re.match(r"waits no node has a core to spare; .*: K.vK\.dtc needs .* of memory", waits)
    assert int(built.removeprefix("built ")) > 0
    assert tables_of(out) == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_a_node_that_a_build_leaves_idle_is_told_with_the_build(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    counted, idle, ended = lines_of(tmp_path, "idle_node.py", str(tmp_path / "out"))
    assert counted == "nodes 2 busy 1"
    assert re.fullmatch(r"idle cores=1 memory_bytes=\d+ name=127\.0\.0\.[12]-\S+", idle)
    assert ended == "ended succeeded []"
