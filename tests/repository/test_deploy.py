"""Facts about deploy/: it is well formed, it names what is there, and it says what is true."""

import json
import re
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from deploy_files import (
    DEPLOY,
    FILES,
    PAGES,
    ROOT,
    SHELL,
    YAML,
    checked,
    pods,
    resources,
    text_of,
    tool,
)
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from kingpair.api.settings import CONFIG, KNOWN, PREFIX

# Pages


def test_files_that_the_pages_name_exist() -> None:
    named = {name.rstrip(".") for name in re.findall(r"\bdeploy/[\w./-]+", text_of(*PAGES))}
    linked = {
        (page.parent / target).relative_to(ROOT)
        for page in PAGES
        for target in re.findall(r"\]\(((?!http)[\w./-]+)\)", text_of(page))
    }
    assert len(named) > 5
    assert [str(name) for name in {*named, *linked} if not (ROOT / name).exists()] == []


def test_the_page_tells_of_every_file() -> None:
    page = text_of(DEPLOY / "README.md")
    relative = [path.relative_to(DEPLOY) for path in FILES if path != DEPLOY / "README.md"]
    assert [
        str(path)
        for path in relative
        if not any(str(part) in page for part in (path, *path.parents) if str(part) != ".")
    ] == []


def test_every_variable_is_a_setting() -> None:
    # But for what CMake is told.
    named = set(
        re.findall(
            rf"(?<!define\.)\b{PREFIX}[A-Z_]+\b",
            text_of(*(path for path in FILES if path.suffix != ".png")),
        )
    )
    assert named
    assert named - {f"{PREFIX}{name.upper()}" for name in KNOWN} - {CONFIG} == set()


def test_every_key_of_a_settings_file_is_a_setting() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", text_of(*PAGES), re.MULTILINE | re.DOTALL)
    assert blocks
    assert {key for block in blocks for key in tomllib.loads(block)} - KNOWN.keys() == set()


def test_images_are_named_once() -> None:
    dockerfile = text_of(DEPLOY / "Dockerfile")
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.M)) == {"python:${PYTHON}"}
    assert dockerfile.count("ARG PYTHON") == 1
    [compose] = resources(DEPLOY / "compose.yaml")
    assert len({each["image"] for each in compose["services"].values()}) == 1
    # The version stands in the kustomization.
    assert {each["image"] for pod in pods() for each in pod["containers"]} == {"kingpair"}


def test_ray_is_the_one_that_is_pinned() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    [pinned] = [each for each in project["dependencies"] if each.startswith("ray")]
    [cluster] = resources(DEPLOY / "kubernetes" / "cluster.yaml")
    assert cluster["spec"]["rayVersion"] in SpecifierSet(pinned.removeprefix("ray"))


# Programs and images


@pytest.mark.parametrize("script", SHELL, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    checked(tool("shellcheck"), script)


def test_hadolint_has_nothing_to_say() -> None:
    checked(tool("hadolint"), "Dockerfile")


def test_the_builder_of_the_image_gets_all_its_files() -> None:
    kept = {line[1:] for line in text_of(ROOT / ".dockerignore").split() if line.startswith("!")}
    lines = re.findall(
        r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", text_of(DEPLOY / "Dockerfile"), re.M
    )
    copied = {name for line in lines for name in line.split()}
    assert copied == kept
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_compose_is_what_compose_reads() -> None:
    checked(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "compose.yaml")


def test_no_container_can_change_its_system() -> None:
    [compose] = resources(DEPLOY / "compose.yaml")
    for container in compose["services"].values():
        assert container["read_only"]
        assert container["cap_drop"] == ["ALL"]
        assert container["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "cpus", "pids_limit", "shm_size"} <= container.keys()
    assert compose["networks"]["cluster"]["internal"]
    ports = [port for each in compose["services"].values() for port in each.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_yamllint_has_nothing_to_say() -> None:
    style = {"document-start": "disable", "line-length": {"max": 110}}
    rules = json.dumps({"extends": "default", "rules": style})
    checked(tool("yamllint"), "--strict", "--config-data", rules, *YAML)


def test_every_start_of_ray_says_what_memory_is_for_what() -> None:
    """KubeRay gives Ray the whole limit, and the object store comes on top of it."""
    [cluster] = resources(DEPLOY / "kubernetes" / "cluster.yaml")
    [workers] = cluster["spec"]["workerGroupSpecs"]
    [worker] = workers["template"]["spec"]["containers"]
    limit = int(worker["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
    given = [int(workers["rayStartParams"][name]) for name in ("memory", "object-store-memory")]
    assert 0.8 * limit < sum(given) <= limit - (1 << 30)
    slurm = text_of(DEPLOY / "slurm" / "kingpair.sbatch")
    for text in (slurm, text_of(DEPLOY / "node"), text_of(DEPLOY / "ray" / "kingpair.yaml")):
        assert "--object-store-memory=" in text
        assert "--memory=" in text


def test_every_head_notices_a_silent_machine_soon() -> None:
    for name in ("Dockerfile", "ray/kingpair.yaml", "slurm/kingpair.sbatch"):
        text = text_of(DEPLOY / name)
        assert re.search(r"RAY_health_check_period_ms=1000\b", text)
        assert re.search(r"RAY_health_check_timeout_ms=2000\b", text)
        assert re.search(r"RAY_health_check_failure_threshold=3\b", text)


def test_the_pinned_versions_are_all_that_a_node_needs_and_fit_the_project() -> None:
    lines = text_of(DEPLOY / "constraints.txt").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    waiting, seen = ["kingpair"], set[str]()
    while waiting:
        for each in map(Requirement, requires(waiting.pop()) or ()):
            name = each.name.lower().replace("_", "-")
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                assert pinned[name] in each.specifier, f"{name} {pinned[name]}: {each}"
                waiting += [name] if name not in seen else []
                seen.add(name)
    assert pinned.keys() >= seen


# Ray


@pytest.mark.slow
def test_ray_takes_the_file_of_ray_up() -> None:
    program = (
        "import sys, yaml\n"
        "from ray.autoscaler._private.util import prepare_config, validate_config\n"
        "config = prepare_config(yaml.safe_load(open(sys.argv[1])))\n"
        "validate_config(config)\n"
        "[node] = config['available_node_types'].values()\n"
        "assert node['min_workers'] == len(config['provider']['worker_ips'])\n"
    )
    checked(sys.executable, "-c", program, DEPLOY / "ray" / "kingpair.yaml")


# systemd


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit as it stands, but for a program that is there."""
    text = text_of(DEPLOY / "systemd" / "kingpair.service")
    assert "ExecStart=/opt/kingpair/bin/kingpair serve --in-process\n" in text
    copy = tmp_path / "kingpair.service"
    copy.write_text(text.replace("/opt/kingpair/bin/kingpair", sys.executable), encoding="utf-8")
    return copy


def test_systemd_understands_the_unit(unit: Path) -> None:
    assert checked(tool("systemd-analyze"), "verify", "--man=no", unit) == ""


def test_the_unit_is_shut_in(unit: Path) -> None:
    analyze = tool("systemd-analyze")
    checked(analyze, "security", "--offline=true", "--threshold=15", "--no-pager", unit)
