"""Facts about the signature: digests do not depend on threads or on the instruction set.

`kingpair bench --signature > tests/golden/signature.txt` says the new one after a change that is
meant to change tables; with `--pawns` that of tests/golden/signature_pawns.txt.
"""

from pathlib import Path

import pytest

from kingpair.api.bench.signature import LISTED, LISTED_WITH_PAWNS, signature
from kingpair.workers.game.chess.material import ExitKind, Material
from kingpair.workers.game.chess.waves import closure

GOLDEN = Path(__file__).parents[2] / "golden" / "signature.txt"
GOLDEN_WITH_PAWNS = GOLDEN.with_name("signature_pawns.txt")


def test_the_list_covers_what_can_differ() -> None:
    materials = [m for wave in closure(map(Material.parse, LISTED.materials)) for m in wave]
    captures = [capture for material in materials for capture in material.captures()]
    assert any(material.like_men for material in materials)
    assert any(material.weaker for material in materials)
    assert any(capture.swapped for capture in captures)
    assert {material.men for material in materials} == {3, 4, 5}


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_signature_is_the_golden_one(level: str, threads: int) -> None:
    assert list(signature(threads).lines()) == GOLDEN.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_the_signature_is_the_golden_one_with_as_many_sets_on_disk_as_can_be() -> None:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    assert list(signature(2, held=0).lines()) == lines


def test_the_list_with_pawns_covers_en_passant_promotions_and_like_pawns() -> None:
    materials = [
        m for wave in closure(map(Material.parse, LISTED_WITH_PAWNS.materials)) for m in wave
    ]
    assert any(all(material.pawns) for material in materials)
    assert any(max(material.pawns) > 1 for material in materials)
    assert {exit_.kind for material in materials for exit_ in material.exits()} == set(ExitKind)


@pytest.mark.slow
def test_the_signature_of_tables_with_pawns_is_the_golden_one() -> None:
    lines = GOLDEN_WITH_PAWNS.read_text(encoding="utf-8").splitlines()
    assert list(signature(2, LISTED_WITH_PAWNS).lines()) == lines
