"""The figures of a table: how many positions, by side to move, result and moves.

A table carries them for distinct positions, like men unnamed.  Published figures often count like
men as different.  A position with like men then stands for one position per way of naming them,

    labelled = G x distinct                      G = the product of g! over the groups of g like men

unless it is its own mirror image: there two namings can be each other's mirror images and count
once.  Such positions have both kings on the diagonal, so only those partitions are read.
"""

from collections.abc import Iterator
from math import factorial, prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from workers import _kernels
from workers.domain import Domain, domain_of, labelled_weights
from workers.geometry import DIAGONAL
from workers.material import STRONGER, WEAKER, Material
from workers.table import COLUMNS, Counts, Table
from workers.whole import whole_file

RESULTS = ("win", "loss", "draw", "illegal")


class Row(NamedTuple):
    """How many positions; `moves` is None for a draw and for what is no legal position."""

    to_move: str
    result: str
    moves: int | None
    positions: int


def in_order(counts: Counts) -> Counts:
    """The same counts, moves ascending as numbers and results in the order in which one reads."""
    ordered: Counts = {name: _side_in_order(counts[name]) for name in COLUMNS}
    longest = counts["longest"]
    kept = {name: {r: longest[name][r] for r in RESULTS if r in longest[name]} for name in COLUMNS}
    return {**ordered, "longest": kept}


def _side_in_order(side: Counts) -> Counts:
    by_moves = {r: dict(sorted(side[r].items(), key=_moves)) for r in ("win", "loss")}
    return {**by_moves, "draw": side["draw"], "illegal": side["illegal"]}


def _moves(entry: tuple[str, int]) -> int:
    return int(entry[0])


def rows(counts: Counts) -> Iterator[Row]:
    for to_move in COLUMNS:
        for result in RESULTS:
            found = counts[to_move][result]
            if isinstance(found, int):
                yield Row(to_move, result, None, found)
            else:
                yield from (Row(to_move, result, int(n), found[n]) for n in found)


def arrow_table(material: Material, metric: str, counts: Counts) -> pa.Table:
    """The counts as columns, for whoever reads Parquet."""
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
    with whole_file(path) as file:
        parquet.write_table(rows, file)


def parquet_of(rows: pa.Table) -> pa.Buffer:
    """The bytes of a Parquet file."""
    written = pa.BufferOutputStream()
    parquet.write_table(rows, written)
    return written.getvalue()


# ---- like men counted as different ----


def labelled(table: Table) -> Counts:
    """The table's counts with like men counted as different; the longest stay what they are."""
    namings = prod(factorial(len(group)) for group in table.material.like_men)
    if namings == 1:
        return table.counts
    counts: Counts = {"longest": table.counts["longest"]}
    for side, name in enumerate(COLUMNS):
        counts[name] = _times(table.counts[name], namings)
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


def _counted_twice(table: Table, side: int, namings: int) -> dict[tuple[str, str], int]:
    """By result and moves, what G x distinct has too many."""
    domain = domain_of(table.material)
    surplus = namings - labelled_weights(table.material, True).astype(np.int64)
    scratch = _kernels.Scratch(domain.kernel)
    found: dict[tuple[str, str], int] = {}
    for pair in map(int, np.flatnonzero(DIAGONAL)):
        placed, legal = (_bits(domain, pair, who, scratch) for who in (-1, side))
        values = table.values(pair, side)[legal]
        weights = surplus[legal]
        for value in map(int, np.unique(values[weights > 0])):
            key = _result_of(value)
            found[key] = found.get(key, 0) + int(weights[values == value].sum())
        illegal = int(surplus[placed & ~legal].sum())
        found["illegal", ""] = found.get(("illegal", ""), 0) + illegal
    return found


def _bits(domain: Domain, pair: int, who: int, scratch: _kernels.Scratch) -> NDArray[np.bool_]:
    """The canonical slots of a partition with a position in them; -1: whoever is to move."""
    assert who in (-1, STRONGER, WEAKER)
    words = domain.counted(pair, who, scratch).view(np.uint8)
    return np.unpackbits(words, bitorder="little")[: domain.slots].astype(bool)


def _result_of(value: int) -> tuple[str, str]:
    """A table's number as result and moves: n wins in n, 0 draws, -n - 1 loses in n."""
    if value > 0:
        return "win", str(value)
    return ("loss", str(-value - 1)) if value < 0 else ("draw", "")
