"""The compiled kernels; see workers/kernels/*.hpp for what they compute."""

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Stream = NDArray[np.uint8]
Column8 = NDArray[np.int8]
Column16 = NDArray[np.int16]

def levels() -> list[str]: ...
def level() -> str: ...
def use_level(name: str, /) -> None: ...

class Domain:
    def __init__(
        self,
        men: Sequence[tuple[str, int]],
        kings: NDArray[np.uint8],
        steps: NDArray[np.int16],
        slots: NDArray[np.int16],
    ) -> None: ...
    @property
    def men(self) -> int: ...
    @property
    def rows(self) -> int: ...

class Layer:
    def __init__(
        self, words: Words, occupied: NDArray[np.uint8], live: NDArray[np.uint32]
    ) -> None: ...

class Scratch:
    def __init__(self, domain: Domain, /) -> None: ...

class Reader:
    def __init__(
        self, pair: NDArray[np.int16], symmetry: NDArray[np.uint8], diagonal: NDArray[np.bool_]
    ) -> None: ...
    def read(
        self, fens: list[str]
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint32], NDArray[np.int64]]: ...

Smaller = Sequence[Words | tuple[Words, NDArray[np.uint8]] | None]
Pairs = NDArray[np.int16]
Counts = NDArray[np.uint64]

def prepare(
    domain: Domain,
    pairs: Pairs,
    winner: int,
    not_won: Smaller,
    open_w: Layer,
    open_l: Layer,
    scratch: Scratch,
    /,
) -> None: ...
def lose_at_once(
    domain: Domain,
    pairs: Pairs,
    winner: int,
    won: Smaller,
    open_w: Layer,
    open_l: Layer,
    lost: Layer,
    canonical: Words | None,
    counts: Counts,
    scratch: Scratch,
    /,
) -> None: ...
def win(
    domain: Domain,
    pairs: Pairs,
    winner: int,
    lost_after: Smaller,
    lost: Layer,
    open_w: Layer,
    won: Layer,
    canonical: Words | None,
    counts: Counts,
    scratch: Scratch,
    /,
) -> None: ...
def lose(
    domain: Domain,
    pairs: Pairs,
    winner: int,
    won: Layer,
    open_w: Layer,
    open_l: Layer,
    lost: Layer,
    canonical: Words | None,
    counts: Counts,
    scratch: Scratch,
    freed: Layer | None = None,
    /,
) -> None: ...
def legal(domain: Domain, pair: int, to_move: int, out: Words, scratch: Scratch, /) -> None: ...
def pack(domain: Domain, pairs: Pairs, layer: Layer, /) -> tuple[bytes, list[int]]: ...
def take_out(domain: Domain, pair: int, stream: Stream, open: Layer, /) -> bool: ...
def put_in(domain: Domain, pair: int, stream: Stream, open: Layer, /) -> bool: ...
def restore(domain: Domain, pair: int, stream: Stream, layer: Layer, /) -> bool: ...
def refresh(domain: Domain, pair: int, layer: Layer, /) -> None: ...
@overload
def paint(domain: Domain, stream: Stream, value: int, column: Column8, /) -> bool: ...
@overload
def paint(domain: Domain, stream: Stream, value: int, column: Column16, /) -> bool: ...
@overload
def fill(column: Column8, counted: Words, /) -> None: ...
@overload
def fill(column: Column16, counted: Words, /) -> None: ...
@overload
def signs(column: Column8, won: Words, lost: Words, /) -> None: ...
@overload
def signs(column: Column16, won: Words, lost: Words, /) -> None: ...
@overload
def equal(column: Column8, value: int, out: Words, /) -> None: ...
@overload
def equal(column: Column16, value: int, out: Words, /) -> None: ...
def canonical_mask(domain: Domain, diagonal: bool, out: Words, /) -> None: ...
def spread(domain: Domain, diagonal: bool, wanted: Words, set: Words, /) -> None: ...
def reframe(
    domain: Domain, symmetry: int, axis: Sequence[int], set: Words, out: Words, /
) -> None: ...
@overload
def spread_values(
    domain: Domain, diagonal: bool, wanted: Words, column: Column8, /
) -> None: ...
@overload
def spread_values(
    domain: Domain, diagonal: bool, wanted: Words, column: Column16, /
) -> None: ...
@overload
def reframe_values(
    domain: Domain, symmetry: int, axis: Sequence[int], values: Column8, out: Column8, /
) -> None: ...
@overload
def reframe_values(
    domain: Domain, symmetry: int, axis: Sequence[int], values: Column16, out: Column16, /
) -> None: ...
