"""A material as one number, as the kernel that reads FENs packs it.

Chess: four bits for the number of each of Q R B N, stronger side first; above them four bits for
the pawns of each side.  Chinese chess: four bits for each man of each side, and a bit above all.
"""

from kingpair.workers.game.chess.material import PAWNLESS, Material
from kingpair.workers.game.game import CHESS, XIANGQI

_XIANGQI_BIT = 62


def pack_material(material: Material) -> int:
    """The material as one number; 0 is that of bare kings."""
    return _PACK[material.game.name](material)


def unpack_material(key: int) -> Material:
    """The material of a number."""
    return _unpack_xiangqi(key) if key >> _XIANGQI_BIT else _unpack_chess(key)


def _pack_chess(material: Material) -> int:
    key = 0
    for side in (material.weaker, material.stronger):
        key = key << 4 | side.count("P")
    for side in (material.stronger, material.weaker):
        for letter in PAWNLESS:
            key = key << 4 | side.count(letter)
    return key


def _unpack_chess(key: int) -> Material:
    counts = [key >> shift & 15 for shift in range(28, -1, -4)]
    letters = "".join(letter * n for letter, n in zip(2 * PAWNLESS, counts, strict=True))
    first = sum(counts[:4])
    stronger, weaker = (key >> shift & 15 for shift in (32, 36))
    return Material(letters[:first] + "P" * stronger, letters[first:] + "P" * weaker)


def _pack_xiangqi(material: Material) -> int:
    key = 0
    for side in (material.stronger, material.weaker):
        for letter in XIANGQI.letters:
            key = key << 4 | side.count(letter)
    return key | 1 << _XIANGQI_BIT


def _unpack_xiangqi(key: int) -> Material:
    from kingpair.workers.game.xiangqi.material import XiangqiMaterial  # chess does not need it

    sides, size = [], len(XIANGQI.letters)
    for first in (size, 0):
        counts = [key >> 4 * (first + size - 1 - i) & 15 for i in range(size)]
        sides.append("".join(c * n for c, n in zip(XIANGQI.letters, counts, strict=True)))
    return XiangqiMaterial(*sides)


_PACK = {CHESS.name: _pack_chess, XIANGQI.name: _pack_xiangqi}
