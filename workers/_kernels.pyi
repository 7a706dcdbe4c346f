"""The compiled kernels; see workers/kernels/*.hpp for what they compute."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.number_types import Partition, Row, Side, Symmetry

Words = NDArray[np.uint64]
Stream = NDArray[np.uint8]
Column = NDArray[np.signedinteger[Any]]  # int8 or int16

ASSERTED: bool  # whether the kernels check their invariants

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
        halved: NDArray[np.bool_],
        structures: tuple[int, Words, Words, Words, Words] | None = None,
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

# ---- Chinese chess ----

# One side's frame: the squares taken [placement][half], kings, moves [placement][move][placement,
# mirrored, to, eye], and the captures of its advisors and of its elephants, each
# [placement][man][placement, mirrored, square].
SideArrays = tuple[
    NDArray[np.uint64],
    NDArray[np.uint8],
    NDArray[np.int16],
    NDArray[np.int16] | None,
    NDArray[np.int16] | None,
]

class Frame:
    def __init__(
        self,
        free: Sequence[tuple[tuple[str, int], Sequence[int]]],
        stronger: SideArrays,
        weaker: SideArrays,
        mirrored: NDArray[np.uint16],
        smaller_inner: tuple[int, int],
        smaller_blocks: tuple[int, int],
        slots: int,
    ) -> None: ...

def frame_domain(frame: Frame, places: Pairs, halved: NDArray[np.bool_], /) -> Domain: ...
def canonical_slots(domain: Domain, halved: bool, out: NDArray[np.int32], /) -> None: ...
def set_of_marks(domain: Domain, marks: NDArray[np.bool_], out: Words, /) -> None: ...
def marks_of_set(domain: Domain, set: Words, out: NDArray[np.bool_], /) -> None: ...
def signs_of_slots(
    domain: Domain, column: Column, legal: Words, won: Words, lost: Words, /
) -> None: ...
def streams_by_value(
    domain: Domain, column: Column, legal: Words, /
) -> list[tuple[int, Stream]]: ...

Taken = tuple["XiangqiVerifier", bool, NDArray[np.unsignedinteger[Any]] | None]

class XiangqiVerifier:
    def __init__(
        self,
        below: tuple[int, int],
        above: tuple[int, int],
        men: Sequence[tuple[str, int]],
        carry_depth: bool,
    ) -> None: ...
    @property
    def blocks(self) -> int: ...
    @property
    def slots(self) -> int: ...
    def keys(
        self, block: int, to_move: int, values: Column, out: NDArray[np.unsignedinteger[Any]], /
    ) -> None: ...
    def check(
        self,
        block: int,
        mover: int,
        values: Column,
        quiet: NDArray[np.unsignedinteger[Any]],
        taken: Sequence[Taken | None],
        tally: Counts,
        /,
    ) -> tuple[int, int, int, int, int, int, int]: ...
    def find(self, block: int, to_move: int, values: Column, value: int, /) -> int: ...

# ---- chess ----

# The weaker side to move, the packed material and the row of each position.
Rows = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int64]]

class Reader:
    def __init__(
        self,
        pair: NDArray[np.int16],
        symmetry: NDArray[np.uint8],
        diagonal: NDArray[np.bool_],
        fixed: NDArray[np.int16],
    ) -> None: ...
    def list_structures(self, stronger: int, weaker: int, keys: NDArray[np.int64]) -> None: ...
    def read(self, fens: list[str]) -> tuple[NDArray[np.uint8], Rows, NDArray[np.uint8], Rows]: ...
    def read_one(
        self, fen: str
    ) -> tuple[int, tuple[int, int, Row], bool, list[tuple[int, int, Row]]]: ...

Smaller = Sequence[Words | tuple[Words, NDArray[np.uint8]] | None]
Pairs = NDArray[np.int16]
# A domain and a layer of it; the way of the arrows, the axis of the man that is met or taken; where
# the arrows of each structure begin, and the arrows: [arrow][structure at the other end, square].
Inflow = tuple[Domain, Layer, int, int, NDArray[np.uint32], NDArray[np.uint32]]
Counts = NDArray[np.uint64]

def prepare(
    domain: Domain,
    pairs: Pairs,
    mover: Side,
    escapes: Smaller,
    open: Layer,
    scratch: Scratch,
    /,
) -> None: ...
def lose_at_once(
    domain: Domain,
    pairs: Pairs,
    winner: Side,
    won: Smaller,
    open_w: Layer,
    open_l: Layer,
    lost: Layer,
    canonical: Words | None,
    counts: Counts,
    scratch: Scratch,
    /,
    holds: Sequence[Inflow] = ...,
    forced: Layer | None = None,
) -> None: ...
def win(
    domain: Domain,
    pairs: Pairs,
    winner: Side,
    lost_after: Smaller,
    lost: Layer,
    open_w: Layer,
    won: Layer,
    canonical: Words | None,
    counts: Counts,
    scratch: Scratch,
    /,
    pushes: Sequence[Inflow] = ...,
    winning: Layer | None = None,
) -> None: ...
def lose(
    domain: Domain,
    pairs: Pairs,
    winner: Side,
    won: Layer,
    open_w: Layer,
    open_l: Layer,
    lost: Layer,
    canonical: Words | None,
    counts: Counts,
    scratch: Scratch,
    /,
    freed: Layer | None = None,
    pushes: Sequence[Inflow] = ...,
    holds: Sequence[Inflow] = ...,
) -> None: ...
def collect(
    domain: Domain, pairs: Pairs, mover: Side, inflow: Inflow, out: Layer, scratch: Scratch, /
) -> None: ...
def collect_captures(
    domain: Domain, pairs: Pairs, mover: Side, exits: Smaller, out: Layer, scratch: Scratch, /
) -> None: ...
def legal(
    domain: Domain, pair: Partition, to_move: Side | Literal[-1], out: Words, scratch: Scratch, /
) -> None: ...
def legal_of_all(
    domain: Domain, pairs: Pairs, to_move: Side | Literal[-1], out: Words, scratch: Scratch, /
) -> None: ...
def pack(domain: Domain, pairs: Pairs, layer: Layer, /) -> tuple[memoryview, list[int]]:
    """The streams, until this thread packs again, and where each ends."""

def take_out(domain: Domain, pair: Partition, stream: Stream, open: Layer, /) -> bool: ...
def put_in(domain: Domain, pair: Partition, stream: Stream, open: Layer, /) -> bool: ...
def restore(
    domain: Domain, pair: Partition, stream: Stream, layer: Layer, less: Layer | None = None, /
) -> bool: ...
def restore_all(
    domain: Domain,
    pairs: Pairs,
    streams: Stream,
    ends: Sequence[int],
    layer: Layer,
    less: Layer | None = None,
    /,
) -> bool: ...
def layers_of(domain: Domain, values: Column, /) -> dict[int, tuple[Stream, list[int]]]: ...
def refresh(domain: Domain, pair: Partition, layer: Layer, /) -> None: ...

class Painting:
    """Layers that paint some partitions.  Each is the side to move, a value, streams in one buffer,
    where each ends, and for each partition the place of its stream or -1.
    """

    def __init__(
        self,
        domain: Domain,
        pairs: Pairs,
        layers: Sequence[tuple[int, int, Stream, Words, Pairs]],
    ) -> None: ...
    def paint(
        self,
        domain: Domain,
        first: int,
        canonical: Words,
        columns: Column,
        counted: NDArray[np.int64],
        scratch: Scratch,
        /,
    ) -> bool:
        """Paints and fills the columns of consecutive partitions, those of the stronger side first,
        and counts the positions in each.  False if a stream is none.
        """

def paint(domain: Domain, stream: Stream, value: int, column: Column, /) -> bool: ...
def fill(column: Column, counted: Words, /) -> None: ...
def turn_points(painted: Column, first: int, columns: Column, at: int, /) -> None: ...
def turn_bits(sets: Words, first: int, marks: NDArray[np.uint8], at: int, /) -> None: ...
def fill_marked(columns: Column, marks: NDArray[np.uint8], /) -> int: ...
def signs(column: Column, won: Words, lost: Words, /) -> None: ...
def equal(column: Column, value: int, out: Words, /) -> None: ...
def canonical_mask(domain: Domain, diagonal: bool, out: Words, /) -> None: ...
def spread(domain: Domain, diagonal: bool, wanted: Words, set: Words, /) -> None: ...
def reframe(
    domain: Domain, symmetry: Symmetry, axis: Sequence[int], set: Words, out: Words, /
) -> None: ...
def spread_values(domain: Domain, diagonal: bool, wanted: Words, column: Column, /) -> None: ...
def reframe_values(
    domain: Domain, symmetry: Symmetry, axis: Sequence[int], values: Column, out: Column, /
) -> None: ...

class ChildView:
    """How places in a domain see a child: two rows and a view by place, [view][pair][the child's
    pair, which row, map], and [map][slot of the pieces that are left].
    """

    def __init__(
        self,
        rows: NDArray[np.int32],
        views: NDArray[np.int32],
        seen: NDArray[np.int32],
        maps: NDArray[np.uint32],
        child: Sequence[int],
        /,
    ) -> None: ...
    def judge(
        self,
        domain: Domain,
        pairs: Pairs,
        to_move: Side,
        column: Column,
        first: int,
        lost: Layer,
        not_won: Layer,
        won: Layer,
        scratch: Scratch,
        /,
    ) -> None: ...
    def values(
        self,
        domain: Domain,
        pairs: Pairs,
        to_move: Side,
        column: Column,
        first: int,
        out: Column,
        scratch: Scratch,
        /,
    ) -> None: ...

Keys = NDArray[np.unsignedinteger[Any]]  # as wide as the column

class Verifier:
    def __init__(
        self,
        men: Sequence[tuple[str, int]],
        carry_depth: bool,
        last: int | None = None,
        deeper: int = 1,
    ) -> None: ...
    @staticmethod
    def walks(side: Side, /) -> list[list[int]]: ...
    @staticmethod
    def draw(bytes: int, /) -> int: ...
    def arrange(self, pair: Partition, pieces: Sequence[Column], out: Column, /) -> None: ...
    def quiet(
        self, pair: Partition, to_move: Side, values: Column, out: Keys, taken: Sequence[Keys] = ...
    ) -> None: ...
    def taken(self, captive: int, pair: Partition, column: Column, out: Keys, /) -> None: ...
    def check(
        self,
        pair: Partition,
        mover: Side,
        values: Column,
        quiet: Keys,
        place: Pairs,
        counts: Counts,
    ) -> tuple[int, int, int, int, int, int, int]: ...
    def derive(
        self, pair: Partition, mover: Side, quiet: Keys, place: Pairs, rows: Column
    ) -> None: ...
    def find(self, pair: Partition, to_move: Side, values: Column, value: int, /) -> int: ...

TableDescription = tuple[Sequence[tuple[str, int]], tuple[int, int], NDArray[np.uint8]]
"""Pieces, pawns of both sides, and the squares of each structure's pawns."""
ColumnNames = Sequence[tuple[int, Side, int, int]]
"""By table, side to move, first structure and part."""

class StructureVerifier:
    def __init__(
        self,
        tables: Sequence[TableDescription],
        carry_depth: bool,
        push_ends_phase: bool = False,
    ) -> None: ...
    def needs(
        self, first: int, stop: int, mover: Side, walk: int, together: Sequence[int], /
    ) -> list[tuple[int, Side, int, int]]: ...
    def runs(self, table: int, part: int, /) -> list[int]: ...
    def check(
        self,
        first: int,
        stop: int,
        mover: Side,
        walk: int,
        names: ColumnNames,
        columns: Sequence[Column],
        counts: Counts,
        /,
    ) -> tuple[int, int, int, int, int, int, int]: ...
    def derive(
        self,
        first: int,
        stop: int,
        mover: Side,
        names: ColumnNames,
        columns: Sequence[Column],
        rows: Column,
        /,
    ) -> None: ...
    def find(
        self,
        structure: int,
        to_move: Side,
        names: ColumnNames,
        columns: Sequence[Column],
        value: int,
        /,
    ) -> int: ...

# ---- blocks of tables ----

# The values at some rows of each of some batches, whose places are as batch_reader.BatchPlace says.
# None for a batch that is not read, that disagrees with its digest, or that the system has to read
# from the disk, if `wait` is false.
def find_values(
    questions: Sequence[tuple[tuple[int, int, int, int, int, int, int, int], Sequence[int]]],
    wait: bool,
    /,
) -> list[list[int] | None]: ...

# The frames of a column in consecutive record batches, one behind the other.  The batches lie
# between places of a file, and `data` are their bytes.  The column has so many bytes in each, and
# in the last one.  None if a batch does not look as expected.
def frames_of(
    data: bytes, places: NDArray[np.int64], buffers: int, column: int, size: int, last: int, /
) -> bytes | None: ...

# ---- dense tables ----

DENSE_VERSION: int

DENSE_PAWNS_VERSION: int

class DenseTraining:
    def __init__(self, men: Sequence[tuple[str, Side]], to_move: Side) -> None: ...
    def learn(self, block: int, values: NDArray[np.int16], /) -> None: ...
    def model(self) -> bytes: ...

class DensePawnTraining:
    def __init__(
        self,
        pieces: Sequence[tuple[str, Side]],
        to_move: Side,
        pawns: tuple[int, int],
        squares: NDArray[np.uint8],
    ) -> None: ...
    def learn(self, block: int, values: NDArray[np.int16], /) -> None: ...
    def weigh(self, block: int, values: NDArray[np.int16], /) -> None: ...
    def model(self) -> bytes: ...

class _Codec:
    def encode(self, first: int, before: int, values: NDArray[np.int16], /) -> bytes: ...
    def decode(self, first: int, group: bytes, out: NDArray[np.int16], /) -> None: ...
    def decode_block(
        self, first: int, group: bytes, count: int, at: int, out: NDArray[np.int16], /
    ) -> None: ...

class DenseCodec(_Codec):
    def __init__(self, men: Sequence[tuple[str, Side]], to_move: Side, model: bytes) -> None: ...

class DensePawnCodec(_Codec):
    def __init__(
        self,
        pieces: Sequence[tuple[str, Side]],
        to_move: Side,
        pawns: tuple[int, int],
        squares: NDArray[np.uint8],
        model: bytes,
    ) -> None: ...

# ---- Syzygy files ----

class DamagedCode(ValueError): ...

class SyzygyNumbering:
    def __init__(
        self, groups: Sequence[tuple[int, int]], order: Sequence[int], file: int, /
    ) -> None: ...
    @property
    def size(self) -> int: ...
    def numbers(self, squares: NDArray[np.uint8], /) -> NDArray[np.int64]: ...
    def squares(self, first: int, out: NDArray[np.uint8], /) -> None: ...

class SyzygyDecoder:
    def __init__(
        self, shortest: int, offsets: Sequence[int], symbols: NDArray[np.uint16], /
    ) -> None: ...

class SyzygyValues:
    def __init__(
        self,
        file: Stream,
        decoder: SyzygyDecoder,
        spans: tuple[int, int],
        sizes: tuple[int, int],
        data: tuple[int, int],
        logs: tuple[int, int],
        /,
    ) -> None: ...
    def value(self, place: int, /) -> int: ...
    def values(self, place: int, out: NDArray[np.uint16], /) -> None: ...

def syzygy_leading_file(pawns: Sequence[int], /) -> int: ...

class SyzygyLookup:
    def __init__(
        self,
        pair: NDArray[np.int16],
        symmetry: NDArray[np.uint8],
        turned: NDArray[np.uint8],
        pairs: int,
        like: Sequence[int],
        structures: tuple[NDArray[np.int32], tuple[NDArray[np.uint8], NDArray[np.int32]]],
        pawns: int,
        results: tuple[NDArray[np.uint8], ...],
        are_plies: bool,
        order: Sequence[int],
        swapped: bool,
        /,
    ) -> None: ...

class SyzygyPositions:
    def __init__(
        self,
        men: Sequence[int],
        numbering: SyzygyNumbering,
        own: SyzygyLookup,
        plies: Sequence[NDArray[np.int16]],
        taken: Sequence[SyzygyLookup | None],
        promoted: Sequence[Sequence[SyzygyLookup]],
        taken_promoted: Sequence[Sequence[Sequence[SyzygyLookup]]],
        /,
    ) -> None: ...
    def read(
        self,
        to_move: int,
        first: int,
        results: NDArray[np.uint16],
        distances: NDArray[np.uint16],
        /,
    ) -> None: ...
    def read_part(
        self,
        to_move: int,
        part: int,
        parts: int,
        results: NDArray[np.uint16],
        distances: NDArray[np.uint16],
        /,
    ) -> None: ...

class SyzygyPairingRoom: ...

def syzygy_code(
    room: SyzygyPairingRoom,
    values: NDArray[np.uint16],
    symbols: int,
    logs: tuple[int, int],
    pause: Callable[[], None],
    /,
) -> tuple[int, list[int], NDArray[np.uint16], int, NDArray[np.uint16], Stream]: ...
def syzygy_estimate(values: NDArray[np.uint16], symbols: int, /) -> int: ...
def syzygy_choose_free(values: NDArray[np.uint16], every: bool, /) -> bool: ...
def syzygy_counts(values: NDArray[np.uint16], /) -> NDArray[np.uint64]: ...
def syzygy_replace(values: NDArray[np.uint16], table: NDArray[np.uint16], /) -> None: ...
def syzygy_results(plies: NDArray[np.int16], out: NDArray[np.uint8], /) -> None: ...
def syzygy_checksum(file: Stream, /) -> bytes: ...
