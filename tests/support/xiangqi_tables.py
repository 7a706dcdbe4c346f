"""Positions of finished tables of Chinese chess, in the form of the oracle and in counts."""

from collections.abc import Iterator
from math import factorial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xiangqi_oracle import Position, position_of

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import SIDES, STRONGER, Partition, Side
from kingpair.workers.sets.block_domain import BlockDomain, block_domain
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey


def open_xiangqi(directory: Path, name: str) -> Table:
    return Table(directory / TableKey.parse(name).file_name)


def domain_of_table(table: Table) -> BlockDomain:
    return block_domain(table.material.stronger, table.material.weaker)


def canonical_positions(table: Table) -> Iterator[tuple[Partition, Side, NDArray[np.int64]]]:
    """The slots that hold a position, block by block and side by side."""
    domain = domain_of_table(table)
    scratch = _kernels.Scratch(domain.kernel)
    for block in numbers_of(np.arange(domain.index.partitions)):
        for side in SIDES:
            yield block, side, np.flatnonzero(domain.slots_of(domain.counted(block, side, scratch)))


def values_of_positions(table: Table) -> Iterator[tuple[Position, str, int]]:
    """Every position of a table, its side to move and its value."""
    material = table.material
    letters = ["K", "k"]
    for letter, side in zip(material.letters, material.sides, strict=True):
        letters.append(letter if side == STRONGER else letter.lower())
    for block, side, slots in canonical_positions(table):
        squares = table.index.squares(block * table.index.slots + slots).T.tolist()
        values = table.values(block, side)[slots].tolist()
        for standing, value in zip(squares, values, strict=True):
            men = {
                (square % 9, square // 9): man
                for man, square in zip(letters, standing, strict=True)
            }
            yield position_of(men), "wb"[side], value


def histogram(table: Table) -> tuple[dict[int, int], dict[int, int]]:
    """How many placings have each value but zero, by side to move; like men count as different and
    mirror images apart.
    """
    domain, material = domain_of_table(table), table.material
    labels = [material.stronger.count(a) for a in "AB"] + [material.weaker.count(a) for a in "AB"]
    times = int(np.prod([factorial(n) for n in labels]))
    weights = [
        np.bincount(domain.standing(halved), minlength=domain.index.slots_used) * factor * times
        for halved, factor in ((False, 2), (True, 1))
    ]
    found: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for block, side, slots in canonical_positions(table):
        values = table.values(block, side)[slots].astype(np.int64)
        weight = weights[domain.on_diagonal(block)][slots]
        for value in np.unique(values[values != 0]).tolist():
            count = int(weight[values == value].sum())
            found[side][value] = found[side].get(value, 0) + count
    return found
