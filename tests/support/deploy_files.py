"""The files of deploy/, and the checkers that read them.

Each kind of file is put before the checker that its users have.  Those that come with Python's
packages are in the test group.  Debian has nginx, promtool and systemd; kubectl comes from
elsewhere.  A test whose checker is not on the machine is skipped, with the reason.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
FILES = sorted(
    path
    for path in DEPLOY.rglob("*")
    if path.is_file() and not path.is_relative_to(DEPLOY / "kingpair")  # the package
)
PAGES = [path for path in FILES if path.suffix == ".md"]
YAML = [path for path in FILES if path.suffix in (".yaml", ".yml")]
RULES = DEPLOY / "prometheus" / "rules.yml"
DASHBOARD = DEPLOY / "grafana" / "kingpair.json"
SHELL = [DEPLOY / "node", DEPLOY / "slurm" / "kingpair.sbatch", ROOT / ".ci" / "run"]
PACKAGES = {"nginx": "nginx-light", "promtool": "prometheus", "systemd-analyze": "systemd"}


def tool(name: str) -> str:
    """Where a checker is."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name, path="/usr/sbin:/usr/bin")
    if (found := found or shutil.which(name)) is None:
        pytest.skip(f"no {name} here: apt-get install {PACKAGES.get(name, name)}")
    return found


def checked(*command: str | Path, at: Path = DEPLOY) -> str:
    """Runs a checker that must find nothing wrong, and returns its output."""
    done = subprocess.run(
        command, cwd=at, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def text_of(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def resources(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text_of(path)) if each]


def of_kubernetes() -> Iterator[dict[str, Any]]:
    """All that is applied; of what KubeRay runs, its pods."""
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        for resource in resources(path):
            if resource["kind"] == "RayCluster":
                spec = resource["spec"]
                for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
                    name = {"name": group.get("groupName", "head")}
                    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": name}
                    yield {**pod, "spec": group["template"]["spec"]}
            elif resource["kind"] != "Kustomization":
                yield resource


def pods() -> list[dict[str, Any]]:
    specs = [resource.get("spec", {}) for resource in of_kubernetes()]
    inner = [spec["template"]["spec"] if "template" in spec else spec for spec in specs]
    return [spec for spec in inner if "containers" in spec]
