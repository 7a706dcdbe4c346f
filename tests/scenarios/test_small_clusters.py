"""Facts about a real cluster that is too small: what it is said to take, and what is refused."""

import re
import sys
from pathlib import Path

import pytest
from ray_clusters import needs_cluster, on_loopback

STARTED = "ray start --head --port=6390 --num-cpus=2 --memory=1000000000 \
--object-store-memory=100000000 --include-dashboard=false"


@needs_cluster
@pytest.mark.slow
def test_a_cluster_that_is_too_small_is_told_and_not_begun_with(tmp_path: Path) -> None:
    ray = Path(sys.executable).with_name("ray")
    command = f"{sys.executable} -m kingpair.api.cli.main"
    at = "--cluster 127.0.0.1:6390"
    script = f"""
        {STARTED.replace("ray", str(ray), 1)} >/dev/null || exit 100
        {command} estimate KRBvKBN KQvKR {at} || exit 101
        {command} build KRBvKBN --out {tmp_path}/out {at}
    """
    done = on_loopback(tmp_path, "sh", "-c", script)
    assert done.returncode == 5, done.stderr[-2000:]
    last = [line.split() for line in done.stdout.splitlines() if line.startswith("KRBvKBN")][-1]
    assert last[:4] == ["KRBvKBN", "1", "774.0", "MiB"]
    assert "too small for KRBvKBN." in done.stdout
    (refused,) = [line for line in done.stderr.splitlines() if line.startswith("kingpair: ")]
    assert re.search("KRBvKBN.dtc needs .* of memory on a node, the largest has", refused)
    assert "too little; use more nodes or larger ones" in refused
    assert list((tmp_path / "out").glob("*.arrow")) == []
