"""What the tests of the kernels share: each runs at every instruction-set level of this machine."""

from collections.abc import Iterator

import pytest

from workers import _kernels


@pytest.fixture(scope="module", params=_kernels.levels())
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _kernels.level()
    _kernels.use_level(request.param)
    yield request.param
    _kernels.use_level(before)
