"""Facts about the sizes of indexes: ours count the positions that published tables state.

`golden/nalimov_index_sizes.csv` has what Nalimov, Haworth and Heinz printed.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.published_indexes import published_sizes
from kingpair.workers.number_types import STRONGER, WEAKER
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.index_sizes import IndexSizes, index_sizes

GOLDEN = Path(__file__).parents[2] / "golden" / "nalimov_index_sizes.csv"
SLOW = pytest.mark.slow
ROWS = list(csv.DictReader(GOLDEN.read_text().splitlines()))


@pytest.fixture(scope="module")
def threads() -> Iterator[Threads]:
    with Threads(2) as pool:
        yield pool


def sizes_as_printed(row: dict[str, str], threads: Threads) -> list[IndexSizes]:
    """The sizes with White and with Black to move, White being named first as in print."""
    white, black = row["endgame"][1:].split("K")
    material, swapped = Material.of(white, black)
    return list(index_sizes(material, threads))[:: -1 if swapped else 1]


@pytest.mark.parametrize(("men", "endgames"), [(4, 24), pytest.param(5, 60, marks=SLOW)])
def test_endgames_have_the_printed_sizes(men: int, endgames: int, threads: Threads) -> None:
    """All of three and four men, then all of five."""
    rows = [row for row in ROWS if (len(row["endgame"]) == 5) == (men == 5)]
    assert len(rows) == endgames
    for row in rows:
        for sizes, side in zip(sizes_as_printed(row, threads), ("wtm", "btm"), strict=True):
            published = sizes.published
            assert published.nalimov == int(row[f"{side}_elements"]), row
            assert sizes.positions == int(row[f"legal_{side}"]), row
            assert sizes.waste(published.nalimov) == int(row[f"broken_{side}"]), row
            stated = published.thompson, published.edwards, published.heinz
            assert stated == tuple(int(row[name]) for name in ("thompson", "edwards", "heinz")), row


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mover", "positions"),
    [
        ("KPvK", STRONGER, 81_664),
        ("KPvK", WEAKER, 84_012),
        ("KPPvK", STRONGER, 1_806_671),
        ("KPPvK", WEAKER, 1_912_372),
    ],
)
def test_pawns_alone_leave_no_entry_of_nalimovs_index_empty(
    name: str, mover: int, positions: int, threads: Threads
) -> None:
    sizes = index_sizes(Material.parse(name), threads)[mover]
    assert sizes.published.nalimov == sizes.positions == positions


def test_rights_to_capture_en_passant_have_entries_of_their_own() -> None:
    # 3,838,208 for the men's squares, 25,284 for the rights.
    assert published_sizes(Material.parse("KPvKP"), STRONGER).nalimov == 3_863_492


def test_syzygys_leading_groups_have_the_sizes_of_its_readers() -> None:
    syzygy = {
        name: published_sizes(Material.parse(name), STRONGER).syzygy
        for name in ("KQvK", "KQQvK", "KPvK", "KPPvK")
    }
    assert syzygy == {
        "KQvK": 31_332,
        "KQQvK": 462 * 62 * 61 // 2,
        "KPvK": 24 * 63 * 62,
        "KPPvK": 576 * 62 * 61,
    }


def test_published_indexes_are_of_chess(threads: Threads) -> None:
    with pytest.raises(BadMaterial, match="of chess; kingpair report xiangqi:KCPvKA"):
        index_sizes(Material.parse("xiangqi:KCPvKA"), threads)
