"""The pawn structures, levels and slices of materials, for the estimate of a build."""

from collections.abc import Iterable, Iterator
from typing import Any

from kingpair.api.text import count
from kingpair.coordinator.plan.estimate import Estimate
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import wave_of
from kingpair.workers.index.slices import division
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


def levels_json(needs: Estimate) -> dict[str, Any]:
    """Returns the numbers of structures, levels and slices; without pawns there are none."""
    if not needs.material.has_pawns:
        return {}
    found = structures(*needs.material.pawns)
    return {"structures": len(found), "levels": len(found.levels), "slices": slices_of(needs)}


def slices_of(needs: Estimate) -> int:
    """Returns the number of slices that a material with pawns is solved in: its levels, or parts of
    them.
    """
    return len(division(*needs.material.pawns, needs.most).slices)
