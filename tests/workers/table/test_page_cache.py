"""Facts about the cache of decoded pages: what is asked for again stays, what is new passes by."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kingpair.workers.errors import DamagedTable
from kingpair.workers.number_types import SIDES
from kingpair.workers.table.format import BLOCK, Table
from kingpair.workers.table.page_cache import FINDS, RECENT, NotCached, PageCache, PageKey

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


def test_the_first_questions_for_values_do_not_decode_their_pages(keys: list[PageKey]) -> None:
    cache, rows, few = PageCache(LIMIT), [5, 60000, 5, 31000], keys[:4]
    expected = [key.table.block(key.page, key.column)[rows].tolist() for key in few]
    asked = dict.fromkeys(few, rows)
    for _ in range(FINDS):
        assert cache.values_of(asked) == expected
        assert cache.held == 0
    for _ in range(2):
        assert cache.values_of(asked) == expected
        assert cache.held == len(few) * BLOCK
    assert (cache.misses, cache.hits) == ((FINDS + 1) * len(few), len(few))


def test_pages_that_are_here_and_new_ones_are_asked_for_together(keys: list[PageKey]) -> None:
    cache, rows = PageCache(LIMIT), {key: [page, 700] for page, key in enumerate(keys[:6])}
    cache.get(keys[1])
    cache.value(keys[4], 40000, alone=False)
    expected = [key.table.block(key.page, key.column)[rows[key]].tolist() for key in keys[:6]]
    assert cache.values_of(rows) == expected
    assert (cache.misses, cache.hits) == (2 + 4, 2)


def test_values_of_a_damaged_page_are_not_found(table: Table, tmp_path: Path) -> None:
    path = tmp_path / table.path.name
    data = bytearray(table.path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    damaged = Table(path)
    refused = 0
    for side, page in product(SIDES, range(table.blocks)):
        try:
            (found,) = PageCache(LIMIT).values_of({PageKey(damaged, page, side): [3]})
        except DamagedTable:
            refused += 1
        else:
            assert found == [table.block(page, side).item(3)]
    damaged.close()
    assert refused == 1


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
