"""The dense table: a packed table whose column is written with a codec of our own.

A dense table is a packed table (packed.py) with these differences:

    kingpair.layout     4
    column              type binary: a value holds a *group*, the code of one block of 65,536 rows
    record batches      64 groups each, not compressed
    kingpair.dense      in the schema's metadata, JSON: the version of the codec (1, with pawns 2),
                        the type of the values (`dtype`), and the model: base64 of zstd of `bytes`
                        bytes.  With pawns the schema of the footer alone has it

Digests of blocks are those of their values, as in every table.

    group   = value before the block, int16 | 16 lengths | 16 codes | CRC-32 of what comes before
    length  = seven bits a byte, lowest first; the top bit is set in all bytes but the last

All numbers are little endian.  A code holds 4,096 rows; the last group of a table may have fewer
codes, and with pawns its last code may have fewer rows.  Rows without a position are not coded:
they repeat the row before them, or are 0 where a king pair begins, with pawns where a structure
begins, and the first ones of a group repeat the value before it.

A code is made by a binary range coder.  It keeps a range of 32-bit numbers, at first all of them.
For a bit whose chance to be 1 is c of 4096, middle = low + (high - low) * c // 4096; a 1 keeps low
to middle, a 0 keeps middle + 1 to high.  While low and high have the same top byte, it is written
and both are shifted: zeros enter low, ones enter high.  At the end as many bytes follow as name a
number in the range; bytes that are missing count as zeros.

The bits of a position, row by row.  The last man stands on the square of the lane, the man before
the last on the square of the row:

    is it decided?  does the mover lose?             chance: result[class][pattern]
    does the number of moves differ from the reference?  is it smaller (only if it can be)?
    is the difference larger than 1, 2, 3, ...?      chance: mixed of three contexts

class       bit 0: the mover is in check.  Then two bits for each man, man 0 first: the other side
            attacks it (its king only if it is not guarded); its own side guards it
neighbours  four earlier rows of the code: the last man on two other squares, then the man before
            the last on two others.  Queen, rook and knight: one file to the left, one rank down;
            where there is none, the other one.  Bishop: down on either diagonal, left first; else
            two files to the left or two ranks down.  A neighbour that does not exist has the value
            of the first one that does, else 0.  A row without a position has the value of the last
            position before it in this code, or 0
pattern     the results of the neighbours in base 3, first one first: 0 draw, 1 win, 2 loss
reference   of the numbers of moves of the neighbours with the same result: of four the mean of the
            middle two, of three the middle one, of two the mean, rounded up; else 1 in a win and 0
            in a loss
spread      the largest minus the smallest of these numbers, at most 7
shape       how many they are, plus 0, 5 or 10 as twice (largest - reference) is less than, equal to
            or more than largest - smallest; 0 if there are none
contexts    class; ((spread * 15 + shape) * 4 + min(reference // 8, 3)) * 2 + loss;
            (min(reference, 31) * 2 + loss) * 8 + class % 8
node        0 differs, 1 smaller, 1 + n larger than n: 2 to 23 if smaller, 24 to 45 if not, the last
            one for all larger n.  A difference ends at 1023, and at the smallest number possible

The model has a signed byte for each chance, result[class][81][2], then for each class, each of 960
and each of 512 contexts 48 nodes; then three int16 weights for each node.  A byte s stands for
curve(16 s) * 16 of 65536, where curve(x) = 4096 / (1 + exp(-x / 256)), rounded, within 1 to 4095.
A result's chance is the upper 12 bits of its number, at least 1.  The chance of another bit is
curve(x) for x = sum of weight * stretch(upper 12 bits) // 4096, within -2047 to 2047; stretch(c) is
the smallest x from -2047 on for which curve(x) >= c, at most 2047.  After each bit the numbers of
its contexts move by (65535 - number) >> 4 for a 1, (0 - number) >> 4 for a 0.  Each code begins
with the numbers of the model.

With pawns
----------

The code is the same but for what follows.  The men of a code are the stronger king, the weaker
king, and the pieces in the order of the table.  The last of them stands on the square of the lane,
the one before him on the square of the row: two pieces, or the weaker king and the piece, or both
kings.  Row by row of the table, each position has the *cell* (row, lane).  After it the cell holds
its value and its class.  After a row without a position the cell holds the value of the last
position before it in this code, or 0, and no class.  At first all cells hold 0 and no class.  A
code with fewer than two pieces has king pairs of several placings, so a cell can be used again.

class       as above, without the kings; pieces come first, then pawns as the structure lists them
neighbours  the values of four earlier cells.  A king takes those of a queen
agreement   bit i says whether neighbour i exists and has the same class
leader      the pawn with the fewest steps to the last rank before promotion; of several the first
            one that the structure lists
stage       7 * the steps of the stronger side's foremost pawn + those of the weaker side's; 6 for a
            side without a pawn
relation    in base 5, first neighbour first: number of moves smaller than the reference 0, equal 1,
            larger by one 2, by more 3; another result 4

A bit of a result has three contexts, each of 81 patterns: class; agreement * 8 + class % 8;
(d * 8 + e) * 6 + steps of the leader, where d and e are the king's steps on an empty board from the
leader to the stronger king and to the weaker king.  A bit of a number of moves has four contexts:

    ((spread * 15 + shape) * 16 + agreement) * 2 + loss
    (min(reference, 31) * 2 + loss) * 8 + class % 8
    relation * 2 + loss
    (stage * 16 + min(reference, 15)) * 2 + loss

Both kinds of bits are mixed as above, and the numbers of their contexts move by >> 2 instead of
>> 4.  The model has the chances of results, [context][pattern][2] with 128 and 384 contexts after
those of the class; then for each of 3840, 512, 1250 and 1568 contexts 48 nodes; then int16 weights:
three for each of [81][2] bits of results, by pattern, and four for each node.
"""

import json
import zlib
from base64 import b64decode, b64encode
from typing import Any

import numpy as np
import pyarrow as pa

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import Side
from kingpair.workers.table.value import Values

CODED_ROWS = 4096
MODEL_MAX = 1 << 20
_CHECK_BYTES = 4
_LANES = 64


def version_of(material: Material) -> int:
    return _kernels.DENSE_PAWNS_VERSION if material.has_pawns else _kernels.DENSE_VERSION


def described(model: bytes, material: Material, dtype: np.dtype[Any]) -> str:
    """The text of `kingpair.dense`."""
    packed = pa.Codec("zstd", compression_level=19).compress(model, asbytes=True)
    return json.dumps(
        {
            "bytes": len(model),
            "dtype": str(dtype),
            "model": b64encode(packed).decode(),
            "version": version_of(material),
        },
        sort_keys=True,
    )


def _codec_of(
    material: Material, side: Side, model: bytes
) -> _kernels.DenseCodec | _kernels.DensePawnCodec:
    placings = table_index(material).structures
    if placings is None:
        return _kernels.DenseCodec(material.pieces, side, model)
    pawns = placings.stronger, placings.weaker
    return _kernels.DensePawnCodec(material.pieces, side, pawns, placings.squares, model)


class DenseColumn:
    """The codec of a dense table's column.  Raises ValueError for bytes that are no code."""

    def __init__(self, text: str, material: Material, side: Side) -> None:
        stated = json.loads(text)
        if stated["version"] != version_of(material):
            raise ValueError(f"a dense table of version {stated['version']}")
        if not 0 < stated["bytes"] <= MODEL_MAX:
            raise ValueError("a model of impossible size")
        self.dtype: np.dtype[Any] = np.dtype(stated["dtype"])
        packed = b64decode(stated["model"])
        model = pa.Codec("zstd").decompress(packed, stated["bytes"], asbytes=True)
        self._codec = _codec_of(material, side, model)

    def encode(self, first: int, before: int, values: Values) -> bytes:
        """The group of a block that begins with a row."""
        codes = values.astype(np.int16)
        group = self._codec.encode(first // CODED_ROWS, before, codes)
        return group + zlib.crc32(group).to_bytes(_CHECK_BYTES, "little")

    def decode(self, first: int, rows: int, group: bytes) -> Values:
        """The values of a block that begins with a row."""
        values = np.empty(rows, np.int16)
        self._codec.decode(first // CODED_ROWS, _checked(group), values)
        found: Values = values.astype(self.dtype)
        return found

    def decode_part(self, first: int, rows: int, group: bytes, part: int, needed: int) -> Values:
        """The values of one code of that block; rows without a position are 0.

        At least so many values from the first one on: a code is read from its beginning.
        """
        values = np.empty(-(-needed // _LANES) * _LANES, np.int16)
        codes = -(-rows // CODED_ROWS)
        self._codec.decode_block(first // CODED_ROWS, _checked(group), codes, part, values)
        found: Values = values.astype(self.dtype)
        return found


def _checked(group: bytes) -> bytes:
    """A group without its checksum, which it agrees with."""
    stated = int.from_bytes(group[-_CHECK_BYTES:], "little")
    if zlib.crc32(group[:-_CHECK_BYTES]) != stated:
        raise ValueError("a group that differs from its checksum")
    return group[:-_CHECK_BYTES]
