"""The indexes of a material: of its domain, and of its table.  Each game has its own kinds."""

from collections.abc import Callable
from functools import cache

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.game import CHESS, XIANGQI
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED, TURNED
from kingpair.workers.index.structures import structures
from kingpair.workers.index.table_index import TableIndex


@cache
def index_of(material: Material) -> Index:
    """The index of a material that is one domain."""
    return _INDEX[material.game.name](material)


@cache
def table_index(material: Material) -> TableIndex:
    """The index of a material's table."""
    return _TABLE_INDEX[material.game.name](material)


def rows_of(material: Material) -> int:
    """Returns the rows of a column of a table."""
    return table_index(material).rows


def _pair_index(material: Material) -> Index:
    """One domain, turned by all symmetries."""
    assert not material.has_pawns, f"{material}: with pawns each slice has an index"
    return Index(TURNED, len(material.letters))


def _pair_table_index(material: Material) -> TableIndex:
    if material.has_pawns:
        return TableIndex(material, structures(*material.pawns), FIXED)
    return TableIndex(material, None, TURNED)


def _block_index(material: Material) -> Index:
    from kingpair.workers.index.blocks import block_index  # chess does not need it

    return block_index(material.stronger, material.weaker)


def _block_table_index(material: Material) -> TableIndex:
    from kingpair.workers.index.blocks import block_table_index

    return block_table_index(material)


_INDEX = {CHESS.name: _pair_index, XIANGQI.name: _block_index}
_TABLE_INDEX: dict[str, Callable[[Material], TableIndex]] = {
    CHESS.name: _pair_table_index,
    XIANGQI.name: _block_table_index,
}
