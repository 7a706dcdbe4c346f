"""What the tests share: the instruction-set levels of this machine, and some small tables; and what
is said at the end, if anything had to be left out.

Settings of whoever runs them do not show through, here nor in what is started from here.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from coordinator.build import build
from coordinator.request import Request
from workers import _kernels
from workers.material import Material
from workers.table import Table
from workers.threads import Threads

BUILT = ("KQvKR", "KRvKR", "KRvKN", "KNvKN", "KBBvK", "KBNvK")
"""What the directory of small tables was built for; what these rest on is there too."""

for variable in [name for name in os.environ if name.startswith(("KINGPAIR_", "PYTHON"))]:
    del os.environ[variable]
os.environ["KINGPAIR_CONFIG"] = os.devnull
os.environ["TERM"] = "xterm"  # a terminal that a test opens is one that can be drawn on


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What this machine lacks, and how to have the tests that need it run."""
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


# How long an example takes says how busy a machine is, and nothing else.
hypothesis.settings.register_profile("untimed", deadline=None)
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
    build(Request(tuple(map(Material.parse, BUILT)), directory, threads=2), lambda event: None)
    return directory


@pytest.fixture(scope="session")
def queen(tables: Path) -> Table:
    """KQvK: small enough to look at every position."""
    return Table(tables / "KQvK.dtc.arrow")


@pytest.fixture(scope="session")
def threads() -> Iterator[Threads]:
    with Threads(2) as pool:
        yield pool
