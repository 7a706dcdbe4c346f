"""The counts of a table: the number of positions by side to move, result and moves.

The table's footer has the counts of distinct positions, in which like men are interchangeable.
Published figures often label like men, that is count them as different.  A position then counts
once for each way to label its men,

    labelled = G x distinct                      G = the product of g! over the groups of g like men

unless it is its own mirror image: two labellings can then be mirror images of each other and count
once.  Such positions have both kings on the diagonal, so only those partitions are read.  With
pawns no position is its own mirror image, because left-right mirroring moves every king.
"""

from collections.abc import Iterator
from math import factorial, prod
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from kingpair.workers import _kernels
from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Partition, Side
from kingpair.workers.sets.domain import Domain, labelled_weights
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.value import moves_of, outcome_of

RESULTS = ("win", "loss", "draw", "illegal")


class CountRow(NamedTuple):
    """The number of positions with a result; `moves` is None for draws and illegal placements."""

    to_move: str
    result: str
    moves: int | None
    positions: int


def sorted_counts(counts: Counts) -> Counts:
    """The same counts with moves in ascending order and results in the order of `RESULTS`."""
    ordered: Counts = {name: _side_in_order(counts[name]) for name in COLUMNS}
    longest = counts["longest"]
    kept = {name: {r: longest[name][r] for r in RESULTS if r in longest[name]} for name in COLUMNS}
    return {**ordered, "longest": kept}


def _side_in_order(side: Counts) -> Counts:
    by_moves = {r: dict(sorted(side[r].items(), key=_moves)) for r in ("win", "loss")}
    return {**by_moves, "draw": side["draw"], "illegal": side["illegal"]}


def _moves(entry: tuple[str, int]) -> int:
    return int(entry[0])


def rows(counts: Counts) -> Iterator[CountRow]:
    for to_move in COLUMNS:
        for result in RESULTS:
            found = counts[to_move][result]
            if isinstance(found, int):
                yield CountRow(to_move, result, None, found)
            else:
                yield from (CountRow(to_move, result, int(n), found[n]) for n in found)


def counts_table(material: Material, metric: str, counts: Counts) -> pa.Table:
    """The counts as an Arrow table, for Parquet."""
    found = list(rows(counts))
    text, number = pa.string(), pa.int64()
    columns = {
        "material": pa.array([str(material)] * len(found), text),
        "metric": pa.array([metric] * len(found), text),
        "to_move": pa.array([row.to_move for row in found], text),
        "result": pa.array([row.result for row in found], text),
        "moves": pa.array([row.moves for row in found], pa.int32()),
        "positions": pa.array([row.positions for row in found], number),
    }
    return pa.table(columns)


def write_parquet(path: Path, rows: pa.Table) -> None:
    with atomic_file(path) as file:
        parquet.write_table(rows, file)


def parquet_of(rows: pa.Table) -> pa.Buffer:
    """The bytes of a Parquet file with these rows."""
    written = pa.BufferOutputStream()
    parquet.write_table(rows, written)
    return written.getvalue()


# ---- like men counted as different ----


def labelled_counts(table: Table) -> Counts:
    """The table's counts with like men counted as different.  The longest do not change."""
    namings = prod(factorial(len(group)) for group in table.material.like_men)
    if namings == 1:
        return table.counts
    if not table.material.game.labels_like_men:
        raise BadMaterial(f"{table.material}: like men are told apart in tables of chess alone")
    counts: Counts = {"longest": table.counts["longest"]}
    for side, name in zip(SIDES, COLUMNS, strict=True):
        counts[name] = _times(table.counts[name], namings)
        if not table.material.has_pawns:
            _take_off(counts[name], _counted_twice(table, side, namings))
    return counts


def _times(counts: Counts, namings: int) -> Counts:
    return {
        result: {n: namings * p for n, p in found.items()}
        if isinstance(found, dict)
        else namings * found
        for result, found in counts.items()
    }


def _take_off(counts: Counts, surplus: dict[tuple[str, str], int]) -> None:
    for (result, moves), positions in surplus.items():
        if moves:
            counts[result][moves] -= positions
        else:
            counts[result] -= positions


def _counted_twice(table: Table, side: Side, namings: int) -> dict[tuple[str, str], int]:
    """The surplus of G x distinct over the labelled count, by result and moves."""
    domain = domain_of(table.material)
    surplus = namings - labelled_weights(table.material, True).astype(np.int64)
    scratch = _kernels.Scratch(domain.kernel)
    found: dict[tuple[str, str], int] = {}
    for pair in numbers_of(np.flatnonzero(domain.index.kings.diagonal)):
        placed, legal = (_bits(domain, pair, who, scratch) for who in (-1, side))
        values = table.values(pair, side)[legal]
        weights = surplus[legal]
        for value in map(int, np.unique(values[weights > 0])):
            key = _result_of(value)
            found[key] = found.get(key, 0) + int(weights[values == value].sum())
        illegal = int(surplus[placed & ~legal].sum())
        found["illegal", ""] = found.get(("illegal", ""), 0) + illegal
    return found


def _bits(
    domain: Domain, pair: Partition, who: Side | Literal[-1], scratch: _kernels.Scratch
) -> NDArray[np.bool_]:
    """The canonical slots of a partition that hold a legal position with `who` to move, as a mask.

    With -1 they hold any placement, legal or not.
    """
    assert who in (-1, STRONGER, WEAKER)
    words = domain.counted(pair, who, scratch).view(np.uint8)
    return np.unpackbits(words, bitorder="little")[: domain.slots].astype(bool)


def _result_of(value: int) -> tuple[str, str]:
    """The result and the moves, empty for a draw, as the keys of the counts have them."""
    moves = moves_of(value)
    return outcome_of(value).value, "" if moves is None else str(moves)
