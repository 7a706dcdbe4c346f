"""The pawn structures and levels of materials, for the estimate of a build."""

from collections.abc import Iterable, Iterator
from typing import Any

from kingpair.api.text import count
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import wave_of
from kingpair.workers.index.structures import structures


def level_lines(materials: Iterable[Material]) -> Iterator[str]:
    """The structures and levels of the last wave if it has pawns."""
    every = list(materials)
    last = max(map(wave_of, every))
    for material in every:
        if material.has_pawns and wave_of(material) == last:
            found = structures(*material.pawns)
            parts = f"{count(len(found), 'structure')} in {count(len(found.levels), 'level')}"
            yield f"{material}: {parts}, level after level."


def levels_json(material: Material) -> dict[str, Any]:
    """Returns the numbers of structures and levels; without pawns there are none to name."""
    if not material.has_pawns:
        return {}
    found = structures(*material.pawns)
    return {"structures": len(found), "levels": len(found.levels)}
