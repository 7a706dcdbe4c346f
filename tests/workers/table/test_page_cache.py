"""Facts about the cache of decoded pages: what is asked for again stays, what is new passes by."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kingpair.workers.table.format import BLOCK, Table
from kingpair.workers.table.page_cache import RECENT, NotCached, PageCache, PageKey

LIMIT = 4 * RECENT * BLOCK


@pytest.fixture(scope="module")
def table(tables: Path) -> Iterator[Table]:
    found = Table(tables / "KBBvK.dtc.arrow")
    yield found
    found.close()


@pytest.fixture
def keys(table: Table) -> list[PageKey]:
    assert table.dtype == np.int8
    return [PageKey(table, page, side) for side in (0, 1) for page in range(table.blocks - 1)]


def held(cache: PageCache, key: PageKey) -> bool:
    try:
        cache.get(key, wait=False)
    except NotCached:
        return False
    return True


def test_pages_that_are_asked_for_once_pass_through_a_small_part(keys: list[PageKey]) -> None:
    cache = PageCache(LIMIT)
    for key in keys:
        cache.get(key)
    assert cache.held == LIMIT // RECENT == 4 * BLOCK
    assert [held(cache, key) for key in keys] == [*[False] * (len(keys) - 4), *[True] * 4]


def test_a_page_that_is_asked_for_again_stays(keys: list[PageKey]) -> None:
    cache = PageCache(LIMIT)
    again, after, *others = keys
    for key in (again, again, after, *others[:4], after, *others[4:]):
        cache.get(key)  # the second one has left before it is asked for again
    assert held(cache, again)
    assert held(cache, after)
    assert cache.hits == 3


def test_of_the_pages_that_stay_the_least_recently_used_leaves_first(keys: list[PageKey]) -> None:
    cache = PageCache(3 * BLOCK)
    for key in (keys[0], keys[0], keys[1], keys[1], keys[2], keys[2], keys[0], keys[3]):
        cache.get(key)
        assert cache.held <= 3 * BLOCK
    assert [held(cache, key) for key in keys[:4]] == [True, False, True, True]


def test_a_table_that_is_gone_leaves_no_page(keys: list[PageKey]) -> None:
    cache = PageCache(LIMIT)
    for key in (keys[0], *keys):
        cache.get(key)
    cache.forget(keys[0].table)
    assert cache.held == 0
    cache.get(keys[0])  # it is new again, not one that stays
    for key in keys[1:]:
        cache.get(key)
    assert not held(cache, keys[0])
