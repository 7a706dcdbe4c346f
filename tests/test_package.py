"""Facts about what is released: the sdist builds the wheel, and the wheel runs by itself.

The wheel is made from the sdist alone, and installed into an environment that has nothing else of
ours: what it needs of others is borrowed from the environment of the tests.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from urllib.request import urlopen

import pytest
from services import started
from test_layout import ROOT, files, project

pytestmark = pytest.mark.slow
NOTHING_ELSE = {"CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
PACKAGES = {"api", "coordinator", "workers"}
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3_w"


def run(*words: object, at: Path) -> str:
    """What a command says where no setting and no path of ours shows through."""
    plain = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    plain["KINGPAIR_CONFIG"] = os.devnull
    done = subprocess.run([*map(str, words)], cwd=at, env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist of the sources as they are, and the wheel that was built from it."""
    at = tmp_path_factory.mktemp("released")
    for name in files():
        (at / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (at / "source" / name).write_bytes((ROOT / name).read_bytes())
    said = run(
        *(sys.executable, "-W", "error", "-m", "build", "--no-isolation", "--outdir", at / "dist"),
        "--config-setting=cmake.define.KINGPAIR_COMMIT=0123456789ab",
        at / "source",
        at=at,
    )
    assert "warning" not in said.lower()
    return at / "dist"


@pytest.fixture(scope="module")
def environment(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that has the wheel."""
    at = tmp_path_factory.mktemp("environment")
    venv.create(at, with_pip=True)
    python, (wheel,) = at / "bin" / "python", released.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, at=at)
    (site,) = at.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return at / "bin"


def test_the_sdist_has_what_is_needed_to_build_and_no_more(released: Path) -> None:
    (path,) = released.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = [Path(*Path(name).parts[1:]) for name in archive.getnames()]
    assert {name.parts[0] for name in names} == NOTHING_ELSE | PACKAGES
    tracked = {name for name in files() if name.parts[0] in PACKAGES}
    assert {name for name in names if len(name.parts) > 1} == tracked | {Path("api/commit.txt")}


def test_the_wheel_has_the_page_the_types_and_no_sources_of_kernels(released: Path) -> None:
    (path,) = released.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        names = {Path(name) for name in archive.namelist()}
    tracked = {name for name in files() if name.parts[0] in PACKAGES}
    kernels = {name for name in tracked if name.is_relative_to("workers/kernels")}
    assert tracked - kernels <= names
    assert kernels & names == set()
    assert {name.parts[0] for name in names} - PACKAGES == {
        f"kingpair-{project()['version']}.dist-info"
    }


def test_the_wheel_says_its_licence_and_has_its_text(released: Path) -> None:
    (path,) = released.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        info = f"kingpair-{project()['version']}.dist-info"
        said = message_from_bytes(archive.read(f"{info}/METADATA"))
        assert (said["License-Expression"], said["License-File"]) == ("Apache-2.0", "LICENSE")
        assert archive.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_it_says_what_it_was_made_from(environment: Path, tmp_path: Path) -> None:
    said = run(environment / "kingpair", "--version", at=tmp_path)
    assert said.startswith(f"kingpair {project()['version']} (commit 0123456789ab)\nkernels  v")


@pytest.fixture(scope="module")
def built(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("elsewhere")
    run(environment / "kingpair", "build", "KQvKR", at=at)
    return at


def test_it_builds_and_probes(environment: Path, built: Path) -> None:
    told = json.loads(run(environment / "kingpair", "probe", LONGEST, "--json", at=built))
    assert (told["result"], told["moves"]) == ("win", 31)


@pytest.fixture
def url(environment: Path, built: Path) -> Iterator[str]:
    with started([str(environment / "kingpair"), "serve", "--port", "0"], built, {}) as (_, found):
        yield found


def test_it_serves_its_page(url: str) -> None:
    with urlopen(url, timeout=10) as answer:
        assert b"kingpair" in answer.read()
    with urlopen(f"{url}version", timeout=10) as answer:
        assert json.load(answer)["commit"] == "0123456789ab"
    with urlopen(f"{url}standard?fen={LONGEST}_-_-_0_1", timeout=10) as answer:
        assert json.load(answer)["dtc"] == 31
