"""What the tests share: the instruction-set levels of this machine, and some small tables.

Settings of whoever runs them do not show through, here nor in what is started from here.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator.build import Request, build
from workers import _kernels
from workers.material import Material

BUILT = ("KQvKR", "KRvKR", "KRvKN", "KNvKN", "KBBvK", "KBNvK")
"""What the directory of small tables was built for; what these rest on is there too."""

for variable in [name for name in os.environ if name.startswith("KINGPAIR_")]:
    del os.environ[variable]
os.environ["KINGPAIR_CONFIG"] = os.devnull


@pytest.fixture(scope="module", params=_kernels.levels())
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
