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


def test_pages_that_are_asked_for_once_pass_through_a_small_part(keys: list[PageKey]) -> None:
    cache = PageCache(LIMIT)
    for key in keys:
        cache.get(key)
    assert cache.held == LIMIT // RECENT == 4 * BLOCK
    assert [key in cache for key in keys] == [*[False] * (len(keys) - 4), *[True] * 4]


def test_a_page_that_is_asked_for_again_stays(keys: list[PageKey]) -> None:
    cache = PageCache(LIMIT)
    again, after, *others = keys
    for key in (again, again, after, *others[:4], after, *others[4:]):
        cache.get(key)  # the second one has left before it is asked for again
    assert again in cache
    assert after in cache
    assert cache.hits == 1


def test_of_the_pages_that_stay_the_least_recently_used_leaves_first(keys: list[PageKey]) -> None:
    cache = PageCache(3 * BLOCK)
    for key in (keys[0], keys[0], keys[1], keys[1], keys[2], keys[2], keys[0], keys[3]):
        cache.get(key)
        assert cache.held <= 3 * BLOCK
    assert [key in cache for key in keys[:4]] == [True, False, True, True]


def test_values_that_are_asked_for_first_do_not_decode_their_page(keys: list[PageKey]) -> None:
    cache, rows = PageCache(LIMIT), [5, 60000, 5, 31000]
    for key in keys:
        expected = key.table.block(key.page, key.column)[rows].tolist()
        assert cache.values(key, rows) == expected
        assert cache.held == 0
        assert cache.values(key, rows) == cache.values(key, rows) == expected
        assert cache.held == BLOCK
        cache.clear()
    assert (cache.misses, cache.hits) == (2 * len(keys), len(keys))


def test_a_table_that_is_gone_leaves_no_page(keys: list[PageKey]) -> None:
    cache = PageCache(LIMIT)
    for key in (keys[0], *keys):
        cache.get(key)
    cache.forget(keys[0].table)
    assert cache.held == 0
    cache.get(keys[0])  # it is new again, not one that stays
    for key in keys[1:]:
        cache.get(key)
    assert keys[0] not in cache


def test_pages_that_the_system_has_read_are_had_without_waiting(
    keys: list[PageKey],
) -> None:
    key, other, *_ = keys
    expected = key.table.block(key.page, key.column)
    if not key.table.is_at_hand(key.page, key.column):
        pytest.skip("this file system does not tell what it has in memory")
    cache = PageCache(LIMIT)
    assert np.array_equal(cache.get(key, wait=False), expected)
    with key.table.lock:  # as a thread has it that reads from the disk
        assert np.array_equal(cache.get(key, wait=False), expected)
        with pytest.raises(NotCached):
            cache.get(other, wait=False)
    cache.get(other, wait=False)
