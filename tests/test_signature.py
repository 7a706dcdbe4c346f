"""Facts about the signature: the same digests, whatever computes them.

`kingpair bench --signature > tests/golden/signature.txt` says the new one after a change that is
meant to change tables.
"""

from pathlib import Path

import pytest

from api.signature import LISTED, signature
from workers.material import Material, closure

GOLDEN = Path(__file__).parent / "golden" / "signature.txt"


def test_the_list_covers_what_can_differ() -> None:
    materials = [m for wave in closure(map(Material.parse, LISTED)) for m in wave]
    captures = [capture for material in materials for capture in material.captures()]
    assert any(material.like_men for material in materials)
    assert any(material.weaker for material in materials)
    assert any(capture.swapped for capture in captures)
    assert {material.men for material in materials} == {3, 4, 5}


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_signature_is_the_golden_one(level: str, threads: int) -> None:
    assert list(signature(threads).lines()) == GOLDEN.read_text(encoding="utf-8").splitlines()
