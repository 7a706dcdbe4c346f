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
INSTALLED = {Path(name): Path("kingpair", name) for name in PACKAGES} | {
    Path("deploy/kingpair"): Path("kingpair")
}
"""Where each part of the package lies in the repository, and where it is installed."""
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3_w"


def run(*words: object, at: Path) -> str:
    """Returns the output of a command without our settings and paths."""
    plain = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    plain["KINGPAIR_CONFIG"] = os.devnull
    done = subprocess.run([*map(str, words)], cwd=at, env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def sources() -> dict[Path, Path]:
    """Returns the files of the package that git tracks, and where each is installed."""
    return {
        name: to / name.relative_to(at)
        for at, to in INSTALLED.items()
        for name in files()
        if name.is_relative_to(at)
    }


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist of the sources as they are, and the wheel that was built from it: without
    optimisation, so that the kernels are compiled in a third of the time.
    """
    at = tmp_path_factory.mktemp("released")
    for name in files():
        (at / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (at / "source" / name).write_bytes((ROOT / name).read_bytes())
    said = run(
        *(sys.executable, "-W", "error", "-m", "build", "--no-isolation", "--outdir", at / "dist"),
        "--config-setting=cmake.define.KINGPAIR_COMMIT=0123456789ab",
        "--config-setting=cmake.define.CMAKE_CXX_FLAGS_RELEASE=",
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
    assert {name.parts[0] for name in names} == NOTHING_ELSE | PACKAGES | {"deploy"}
    assert {name for name in names if len(name.parts) > 1} == {
        *sources(),
        Path("workers/commit.txt"),
    }


def test_the_wheel_has_the_page_the_types_and_no_sources_of_kernels(released: Path) -> None:
    (path,) = released.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        names = {Path(name) for name in archive.namelist()}
    kernels = {name for name in sources() if name.is_relative_to("workers/kernels")}
    wanted = {installed_as for name, installed_as in sources().items() if name not in kernels}
    assert wanted <= names
    assert {name for name in names if name.is_relative_to("kingpair/workers/kernels")} == set()
    version = project()["version"]
    assert {name.parts[0] for name in names} == {"kingpair", f"kingpair-{version}.dist-info"}


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


IMPORTING = """
import workers
assert workers.OURS == "not kingpair's"
import kingpair
kingpair.build("KRvK")
assert kingpair.probe("8/8/8/8/8/2k5/8/K2R4 w").moves > 1
with kingpair.open_tablebase("tables") as tablebase:
    assert tablebase.probe_wdl("8/8/8/8/8/2k5/8/K2R4 w") == 1
assert {name for name in kingpair.__all__ if not hasattr(kingpair, name)} == set()
print(kingpair.Material.parse("rkvk"), kingpair.BadPosition.__name__)
"""


def test_a_program_beside_modules_of_these_names_uses_it(environment: Path, tmp_path: Path) -> None:
    for name in PACKAGES:
        (tmp_path / f"{name}.py").write_text('OURS = "not kingpair\'s"\n', encoding="utf-8")
    (tmp_path / "program.py").write_text(IMPORTING, encoding="utf-8")
    assert run(environment / "python", "program.py", at=tmp_path) == "KRvK BadPosition\n"


@pytest.fixture
def url(environment: Path, built: Path) -> Iterator[str]:
    words = [str(environment / "kingpair"), "serve", "--in-process", "--port", "0"]
    with started(words, built, {}) as (_, found):
        yield found


def test_it_serves_its_page(url: str) -> None:
    with urlopen(url, timeout=10) as answer:
        assert b"kingpair" in answer.read()
    with urlopen(f"{url}version", timeout=10) as answer:
        assert json.load(answer)["commit"] == "0123456789ab"
    with urlopen(f"{url}standard?fen={LONGEST}_-_-_0_1", timeout=10) as answer:
        assert json.load(answer)["dtc"] == 31
