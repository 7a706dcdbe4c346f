"""Facts about `kingpair doctor`: it says what is wrong with a machine, and what to do about it."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import killable_build
import pytest
from services import running
from terminal import kingpair

from kingpair.api.cli.failures import ExitCode
from kingpair.api.doctor.cluster import NodeReport, judged
from kingpair.api.doctor.findings import Finding, doctor_text
from kingpair.workers import _kernels

EVERYWHERE = (
    "kernels",
    "cores",
    "memory",
    "huge pages",
    "store",
    "shared memory",
    "Ray",
    "service",
)


def found(*words: object, **settings: str) -> Mapping[str, Mapping[str, Any]]:
    """Findings by their subjects."""
    data = json.loads(kingpair("doctor", "--json", *words, **settings).stdout)
    return {finding["subject"]: finding for finding in data["findings"]}


def test_each_finding_is_a_line_and_its_advice_another() -> None:
    lines = list(doctor_text([Finding("disk", "fast"), Finding("memory", "little", "buy more")]))
    assert lines == ["ok  disk    fast", "do  memory  little", "    -> buy more", "1 thing to do"]


def test_all_that_matters_is_looked_at(tables: Path) -> None:
    findings = found("--tables", tables, "--port", "0")
    assert set(findings) == {*EVERYWHERE, "room", "disk", "clock", "Ray's ports"}
    assert findings["store"]["ok"]
    assert findings["service"]["ok"]


def test_nothing_is_left_behind(tables: Path) -> None:
    before = sorted(os.listdir(tables))
    found("--tables", tables, "--port", "0")
    assert sorted(os.listdir(tables)) == before


def test_a_port_in_use_is_something_to_do(tables: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = kingpair("doctor", "--tables", tables, "--port", port)
    assert result.exit_code == ExitCode.TO_DO
    assert f"port {port} of 127.0.0.1 is in use" in result.stdout
    assert "-> set port to another" in result.stdout


def test_a_service_of_ours_on_its_port_is_well(tables: Path) -> None:
    with running("--tables", str(tables), "--port", "0") as (_, url):
        port = url.rstrip("/").rpartition(":")[2]
        finding = found("--tables", tables, "--port", port)["service"]
    assert finding["ok"]
    assert finding["fact"] == f"kingpair answers on port {port} of 127.0.0.1"


def test_settings_that_ask_for_more_than_there_is_are_something_to_do(tables: Path) -> None:
    findings = found("--tables", tables, KINGPAIR_THREADS="1000", KINGPAIR_MEMORY="900TiB")
    assert not findings["cores"]["ok"]
    assert not findings["memory"]["ok"]


@pytest.mark.skipif(len(_kernels.levels()) == 1, reason="this machine has one instruction set")
def test_kernels_that_could_be_faster_are_something_to_do(tables: Path) -> None:
    before, (least, *_, best) = _kernels.level(), _kernels.levels()
    try:
        finding = found("--tables", tables, KINGPAIR_LEVEL=least)["kernels"]
    finally:
        _kernels.use_level(before)
    assert finding["fact"].startswith(f"{least} in use")
    assert finding["advice"].startswith(f"{best} is faster")


def test_a_store_that_cannot_be_made_is_something_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    at = tmp_path / "file" / "tables"
    finding = found("--tables", at)["store"]
    assert not finding["ok"]
    assert finding["fact"] == f"{at} is not there, and cannot be made"


# Ray's ports

LISTENING = """
import socket, subprocess, sys
with socket.create_server((sys.argv[1], 0)):
    subprocess.run([sys.argv[2], "-m", "kingpair", "doctor", "--json", "--port", "0"])
"""


@pytest.mark.parametrize(
    ("address", "mode", "well", "fact"),
    [
        ("127.0.0.1", "disabled", True, "Ray listens on loopback alone"),
        ("0.0.0.0", "disabled", False, "which can run programs here"),
        ("0.0.0.0", "token", True, "can be reached by other machines, and ask for the token"),
    ],
    ids=["loopback", "all without a token", "all with a token"],
)
def test_a_port_of_rays_that_anybody_may_use_is_something_to_do(
    address: str, mode: str, well: bool, fact: str, tmp_path: Path
) -> None:
    """A process called as one of Ray's is, where there is nothing but loopback."""
    unshare = shutil.which("unshare")
    words = [sys.executable, "-c", LISTENING, address, sys.executable]
    line = 'ip link set lo up && exec -a gcs_server "$@"'
    done = (
        subprocess.run(
            [unshare or "unshare", "-n", "bash", "-c", line, "bash", *words],
            capture_output=True,
            text=True,
            env=killable_build.environment() | {"RAY_AUTH_MODE": mode},
            cwd=tmp_path,
        )
        if unshare
        else None
    )
    if done is None or not done.stdout:
        pytest.skip("no ports were opened to others: run the tests as root, with iproute2")
    (finding,) = (f for f in json.loads(done.stdout)["findings"] if f["subject"] == "Ray's ports")
    assert finding["ok"] == well
    assert finding["fact"].endswith(fact)


# The nodes of a cluster

HERE = NodeReport(
    ("kingpair 1", "ray 2"), "v4", 2, 1 << 30, sees_store=True, clock=100.0, commit="a1"
)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (HERE, None),
        (HERE._replace(clock=100.9), None),
        (HERE._replace(versions=("kingpair 1", "ray 3")), "has ray 3"),
        (HERE._replace(commit="b2"), "has commit b2"),
        (HERE._replace(commit="unknown"), None),
        (HERE._replace(sees_store=False), "sees another store"),
        (HERE._replace(clock=109.0), "clock 8.0 s off"),
        ("No module named 'workers'", "No module named 'workers'"),
    ],
    ids=[
        "alike",
        "soon after",
        "another Ray",
        "another commit",
        "who knows",
        "another store",
        "another time",
        "nothing there",
    ],
)
def test_a_node_that_differs_is_something_to_do(said: NodeReport | str, fact: str | None) -> None:
    finding = judged("10.0.0.2", said, HERE, waited=1.0)
    assert finding.subject == "node 10.0.0.2"
    assert (finding.advice is None) == (fact is None)
    assert fact is None or fact in finding.fact
