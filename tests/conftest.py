"""Fixtures of all tests: the instruction-set levels of this machine, and some small tables.  At the
end the tests that were left out are listed.

Settings of the user who runs the tests are removed, here and for processes started from here.
"""

import atexit
import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import asserted  # noqa: F401 - before anything of the package
import hypothesis
import made_once
import pytest
import run_folders

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import Table

BUILT = ("KQvKR", "KRvKR", "KRvKN", "KNvKN", "KBBvK", "KBNvK")
"""The materials of the directory of small tables, which also has the tables they rest on."""

for variable in [name for name in os.environ if name.startswith(("KINGPAIR_", "PYTHON"))]:
    del os.environ[variable]
os.environ["KINGPAIR_CONFIG"] = os.devnull
STATE = run_folders.made()
atexit.register(shutil.rmtree, STATE)
os.environ["XDG_STATE_HOME"] = str(STATE)
os.environ["TERM"] = "xterm"  # a terminal that a test opens is one that can be drawn on


def pytest_configure(config: pytest.Config) -> None:
    made_once.begin(config)


def pytest_collection_finish() -> None:
    """Keeps the garbage collector from what collecting has made: modules, types and tests, which
    live to the end.  Looking through them again and again took a tenth of the time of all tests.
    """
    gc.freeze()
    gc.set_threshold(100_000)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # else nanobind tells of objects of the kernels that were never freed


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lists what this machine lacks, and how to have the tests that need it run."""
    skipped: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
    reasons = Counter(reason_of(report) for report in skipped)
    if reasons:
        terminalreporter.section("left out", yellow=True)
        for reason, tests in reasons.items():
            terminalreporter.write_line(f"{tests} test{'s' * (tests > 1)}: {reason}")


def reason_of(report: pytest.TestReport) -> str:
    """Of a skipped test pytest keeps the file, the line and the reason."""
    assert isinstance(report.longrepr, tuple)
    return report.longrepr[2].removeprefix("Skipped: ")


# The time that an example takes depends on how busy the machine is, so it has no limit.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")

*LESSER, BEST = _kernels.levels()


@pytest.fixture(
    scope="module",
    params=[*(pytest.param(each, marks=pytest.mark.slow) for each in LESSER), BEST],
)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _kernels.level()
    _kernels.use_level(request.param)
    yield request.param
    _kernels.use_level(before)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of 3 and 4 men, built once for all tests: read them, change only a copy."""
    directory = tmp_path_factory.mktemp("tables")
    build(
        BuildRequest(BuildSpec(tuple(map(Material.parse, BUILT))), directory, threads=2),
        lambda event: None,
    )
    return directory


@pytest.fixture(scope="session")
def queen(tables: Path) -> Table:
    """KQvK: small enough to look at every position."""
    return Table(tables / "KQvK.dtc.arrow")


@pytest.fixture(scope="module")
def chromium() -> Iterator[None]:
    """Ends the browser of a module's tests, if one of them has opened a page."""
    from browser import Chromium

    yield
    Chromium.stop()


@pytest.fixture(scope="module")
def url(tables: Path) -> Iterator[str]:
    """The address of a service of these tables."""
    from services import running

    with running("--tables", str(tables), "--port", "0") as (_, found):
        yield found


@pytest.fixture(scope="session")
def threads() -> Iterator[Threads]:
    with Threads(2) as pool:
        yield pool
