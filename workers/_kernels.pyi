"""The compiled kernels; see workers/kernels/*.hpp for what they compute."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Stream = NDArray[np.uint8]
Column = NDArray[np.signedinteger[Any]]  # int8 or int16

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
    mover: int,
    escapes: Smaller,
    open: Layer,
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
def pack(domain: Domain, pairs: Pairs, layer: Layer, /) -> tuple[memoryview, list[int]]:
    """The streams, until this thread packs again, and where each ends."""

def take_out(domain: Domain, pair: int, stream: Stream, open: Layer, /) -> bool: ...
def put_in(domain: Domain, pair: int, stream: Stream, open: Layer, /) -> bool: ...
def restore(
    domain: Domain, pair: int, stream: Stream, layer: Layer, less: Layer | None = None, /
) -> bool: ...
def refresh(domain: Domain, pair: int, layer: Layer, /) -> None: ...
def paint(domain: Domain, stream: Stream, value: int, column: Column, /) -> bool: ...
def fill(column: Column, counted: Words, /) -> None: ...
def signs(column: Column, won: Words, lost: Words, /) -> None: ...
def equal(column: Column, value: int, out: Words, /) -> None: ...
def canonical_mask(domain: Domain, diagonal: bool, out: Words, /) -> None: ...
def spread(domain: Domain, diagonal: bool, wanted: Words, set: Words, /) -> None: ...
def reframe(
    domain: Domain, symmetry: int, axis: Sequence[int], set: Words, out: Words, /
) -> None: ...
def spread_values(domain: Domain, diagonal: bool, wanted: Words, column: Column, /) -> None: ...
def reframe_values(
    domain: Domain, symmetry: int, axis: Sequence[int], values: Column, out: Column, /
) -> None: ...

Keys = NDArray[np.unsignedinteger[Any]]  # as wide as the column

class Verifier:
    def __init__(
        self, men: Sequence[tuple[str, int]], carry_depth: bool, last: int | None = None
    ) -> None: ...
    @staticmethod
    def walks(side: int, /) -> list[list[int]]: ...
    @staticmethod
    def draw(bytes: int, /) -> int: ...
    def arrange(self, pair: int, pieces: Sequence[Column], out: Column, /) -> None: ...
    def quiet(
        self, pair: int, to_move: int, values: Column, out: Keys, taken: Sequence[Keys] = ...
    ) -> None: ...
    def taken(self, captive: int, pair: int, column: Column, out: Keys, /) -> None: ...
    def check(
        self,
        pair: int,
        mover: int,
        values: Column,
        quiet: Keys,
        place: Pairs,
        counts: Counts,
    ) -> tuple[int, int, int, int, int, int, int]: ...
    def find(self, pair: int, to_move: int, values: Column, value: int, /) -> int: ...
