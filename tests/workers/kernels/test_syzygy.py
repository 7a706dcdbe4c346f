"""Facts about the kernels of Syzygy files: numbers of positions, and hostile bytes."""

import random
from pathlib import Path

import numpy as np
import pytest
from syzygy_files import GOLDEN

from kingpair.workers import _kernels
from kingpair.workers.errors import DamagedTable, ForeignTable
from kingpair.workers.syzygy.file import SyzygyFile

THREE, KINGS, PAWNS, OTHER_PAWNS, LIKE = range(5)
SHAPES = (
    ((THREE, 3),),
    ((KINGS, 2),),
    ((THREE, 3), (LIKE, 1)),
    ((KINGS, 2), (LIKE, 2)),
    ((KINGS, 2), (LIKE, 3), (LIKE, 2)),
    ((THREE, 3), (LIKE, 1), (LIKE, 3)),
    ((PAWNS, 1), (LIKE, 1), (LIKE, 1)),
    ((PAWNS, 2), (LIKE, 1), (LIKE, 1)),
    ((PAWNS, 1), (OTHER_PAWNS, 2), (LIKE, 1), (LIKE, 1)),
    ((PAWNS, 3), (OTHER_PAWNS, 1), (LIKE, 1), (LIKE, 1)),
)
SAMPLE = 20_000


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("file", range(4))
def test_every_number_has_squares_that_have_this_number(
    shape: tuple[tuple[int, int], ...], file: int
) -> None:
    men = sum(count for _, count in shape)
    for order in (range(len(shape)), reversed(range(len(shape)))):
        numbering = _kernels.SyzygyNumbering(shape, list(order), file)
        first = random.Random(7).randrange(max(1, numbering.size - SAMPLE))
        squares = np.zeros((min(SAMPLE, numbering.size), men), np.uint8)
        numbering.squares(first, squares)
        assert all(len(set(each)) == men for each in squares[:500].tolist())
        assert np.array_equal(numbering.numbers(squares), first + np.arange(len(squares)))


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (((THREE, 3),), 31_332),
        (((KINGS, 2),), 462),
        (((THREE, 3), (LIKE, 1)), 31_332 * 61),
        (((KINGS, 2), (LIKE, 2)), 462 * 62 * 61 // 2),
        (((PAWNS, 1), (LIKE, 1), (LIKE, 1)), 6 * 63 * 62),
    ],
)
def test_sizes_are_products_of_placings(shape: tuple[tuple[int, int], ...], size: int) -> None:
    assert _kernels.SyzygyNumbering(shape, list(range(len(shape))), 0).size == size


def test_two_pawns_have_as_many_placings_as_pairs_of_squares_up_to_mirroring() -> None:
    of_files = [_kernels.SyzygyNumbering(((PAWNS, 2),), [0], file).size for file in range(4)]
    # 48 * 47 / 2 pairs; the 24 pairs of mirror images have one placing, all others one of two.
    assert sum(of_files) == (48 * 47 // 2 - 24) // 2 + 24


@pytest.mark.parametrize("name", ["KRvK.rtbz", "KQQvK.rtbw", "KPvK.rtbw", "KRvKB.rtbz"])
def test_hostile_bytes_are_refused_or_read_but_never_outside_of_the_file(
    name: str, tmp_path: Path
) -> None:
    sound = (GOLDEN / name).read_bytes()
    chance = random.Random(name)
    path = tmp_path / name
    refused = 0
    for _ in range(300):
        hostile = bytearray(sound)
        for _ in range(chance.choice((1, 4, 50))):
            # Most of the meaning is in the header and the tables behind it.
            end = chance.choice((64, 400, len(sound)))
            hostile[chance.randrange(4, min(end, len(sound)))] = chance.randrange(256)
        path.write_bytes(hostile)
        refused += is_refused(path)
    assert refused > 50


def is_refused(path: Path) -> bool:
    """Reads all values of a file; returns whether that ended with an error of ours."""
    try:
        file = SyzygyFile(path)
        for table in (table for tables in file.tables for table in tables):
            file.read(table, 0, min(table.size, 20_000))
            for place in range(0, table.size, max(1, table.size // 50)):
                file.value(table, place)
    except (DamagedTable, ForeignTable) as error:
        return "\n" not in str(error)
    return False
