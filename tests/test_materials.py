"""Facts about materials: one name for each, what captures lead to, what must be built first."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.errors import BadMaterial
from workers.material import MEN_MAX, Material, closure, every

ALL = [material for men in (3, 4, 5) for material in every(men)]
SIDES = st.lists(st.sampled_from("QRBN"), max_size=4).map("".join)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("KQvKR", "KQvKR"),
        ("KQKR", "KQvKR"),
        ("krkq", "KQvKR"),
        ("KRvKQ", "KQvKR"),
        ("kqvkr", "KQvKR"),
        ("QKvRK", "KQvKR"),
        (" KQ v KR\n", "KQvKR"),
        ("KNBvKRB", "KRBvKBN"),
        ("kbnkbr", "KRBvKBN"),
        ("KQvKNN", "KNNvKQ"),
        ("KNvKBB", "KBBvKN"),
        ("KvKR", "KRvK"),
        ("KRK", "KRvK"),
        ("KKR", "KRvK"),
        ("KRBvKBN", "KRBvKBN"),
        ("KRNvKRB", "KRBvKRN"),
        ("KNNNvKQ", "KNNNvKQ"),
    ],
)
def test_every_usual_form_has_one_name(text: str, name: str) -> None:
    assert Material.parse(text).name == name


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "empty material"),
        (" \n", "empty material"),
        ("KXvK", "'X' is no man"),
        ("KQ-KR", "'-' is no man"),
        ("K\u212aQ", "is no man"),  # the Kelvin sign, which folds to k
        ("KQ", "needs one K a side, such as KQvKR; has 1 in all"),
        ("QvR", "one has 0"),
        ("v", "one has 0"),
        ("KQv", "one has 0"),
        ("KKvQ", "one has 2"),
        ("KQKKR", "has 3 in all"),
        ("QKRK", "unclear whose men are whose"),
        ("KvKvK", "needs two sides with one v between, such as KQvKR; has 3"),
        ("KQRBNvKR", "7 men; at most 6"),
        ("KPvK", "pawns: not yet solved"),
        ("KRvKP", "pawns: not yet solved"),
        ("KvK", "bare kings are a draw"),
        ("kk", "bare kings are a draw"),
    ],
)
def test_a_bad_material_is_refused_with_its_reason(text: str, fragment: str) -> None:
    with pytest.raises(BadMaterial) as refused:
        Material.parse(text)
    assert fragment in str(refused.value)


def read(text: str) -> Material | BadMaterial:
    try:
        return Material.parse(text)
    except BadMaterial as refused:
        return refused


@given(st.text(max_size=40) | st.text("KQRBNPVkqrbnpv ", max_size=12))
def test_any_text_is_a_material_or_is_refused_in_one_short_line(text: str) -> None:
    answer = read(text)
    assert str(answer).isprintable()
    assert len(str(answer)) < 200
    if isinstance(answer, Material):
        assert Material.parse(answer.name) == answer
        assert 3 <= answer.men <= MEN_MAX


@given(SIDES, SIDES, st.randoms(use_true_random=False))
def test_neither_order_nor_colours_change_the_name(
    white: str, black: str, chance: random.Random
) -> None:
    material, swapped = Material.of(white, black)
    shuffled = ("".join(chance.sample(side, len(side))) for side in (black, white))
    assert Material.of(*shuffled) == (material, not swapped and sorted(white) != sorted(black))
    assert sorted(material.letters) == sorted(white + black)
    assert sorted(material.stronger) == sorted(black if swapped else white)


def test_white_is_the_stronger_side_of_equals() -> None:
    assert Material.of("R", "R") == (Material("R", "R"), False)


def test_a_material_counts_its_men() -> None:
    material = Material.parse("KNBvKBR")
    assert (material.stronger, material.weaker, material.letters) == ("RB", "BN", "BNRB")
    assert material.men == 6
    assert str(material) == f"{material}" == "KRBvKBN"


def test_materials_are_values_sorted_by_name() -> None:
    assert Material.parse("KRKQ") == Material.parse("KQvKR")
    assert len({Material.parse("KRKQ"), Material.parse("KQvKR")}) == 1
    assert sorted(ALL) == sorted(ALL, key=str)


def test_a_material_that_is_not_normalised_cannot_be_made() -> None:
    for stronger, weaker in [("R", "Q"), ("BR", ""), ("", "N"), ("K", ""), ("q", "")]:
        with pytest.raises(AssertionError):
            Material(stronger, weaker)


def test_bare_kings_and_pawns_are_materials_that_are_not_built() -> None:
    assert Material("", "").name == "KvK"
    assert Material("", "").captures() == ()
    assert Material.of("", "PN") == (Material("NP", ""), True)


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("KQvKR", ()),
        ("KRvKR", ()),
        ("KBBvKN", ((1, 2),)),
        ("KRBvKBN", ()),
        ("KQRRvK", ((1, 2),)),
        ("KNNvKNN", ((0, 1), (2, 3))),
        ("KQvKNN", ((1, 2),)),
        ("KBBBvK", ((0, 1, 2),)),
    ],
)
def test_like_men_are_of_one_side(name: str, groups: tuple[tuple[int, ...], ...]) -> None:
    assert Material.parse(name).like_men == groups


def test_a_capture_can_make_the_weaker_side_the_stronger() -> None:
    captures = Material.parse("KRBvKBN").captures()
    assert [(taken.man, taken.material.name, taken.swapped) for taken in captures] == [
        (0, "KRBvKN", False),
        (1, "KRBvKB", False),
        (2, "KBNvKB", True),
        (3, "KBNvKR", True),
    ]
    assert [taken.survivors for taken in captures] == [(1, 2, 3), (0, 2, 3), (3, 0, 1), (2, 0, 1)]


@pytest.mark.parametrize("material", [*ALL, *every(6)], ids=str)
def test_survivors_are_the_men_of_the_smaller_material(material: Material) -> None:
    for man, taken in enumerate(material.captures()):
        assert taken.man == man
        assert {man, *taken.survivors} == set(range(len(material.letters)))
        assert "".join(material.letters[i] for i in taken.survivors) == taken.material.letters
        sides = [material.sides[i] ^ taken.swapped for i in taken.survivors]
        assert sides == list(taken.material.sides)


def test_pawnless_materials_are_84() -> None:
    assert [len(every(men)) for men in (2, 3, 4, 5, 6)] == [1, 4, 20, 60, 170]
    assert len(set(ALL)) == 84
    assert {material.men for material in every(5)} == {5}


def test_a_wave_is_listed_as_a_player_would() -> None:
    assert " ".join(map(str, every(3))) == "KQvK KRvK KBvK KNvK"
    assert " ".join(map(str, every(4))).startswith("KQQvK KQRvK KQBvK KQNvK KRRvK")
    assert " ".join(map(str, every(4))).endswith("KRvKN KBvKB KBvKN KNvKN")


def names(waves: tuple[tuple[Material, ...], ...]) -> list[str]:
    return [" ".join(map(str, wave)) for wave in waves]


def test_waves_hold_what_captures_reach() -> None:
    assert names(closure([Material.parse("KQvKR")])) == ["KQvK KRvK", "KQvKR"]
    assert names(closure([Material.parse("KRBvKBN")])) == [
        "KRvK KBvK KNvK",
        "KRBvK KBNvK KRvKB KRvKN KBvKB KBvKN",
        "KRBvKB KRBvKN KBNvKR KBNvKB",
        "KRBvKBN",
    ]
    assert closure([]) == closure([Material("", "")]) == ()


def test_every_material_is_its_own_closure() -> None:
    assert closure(ALL) == closure(every(5)) == (every(3), every(4), every(5))


def test_a_wave_needs_only_the_waves_before_it() -> None:
    done = {Material("", "")}
    for wave in closure(every(6)):
        assert {taken.material for material in wave for taken in material.captures()} <= done
        done.update(wave)


def test_pawns_are_not_silently_left_open() -> None:
    with pytest.raises(AssertionError, match="pawns"):
        closure([Material("P", "")])
