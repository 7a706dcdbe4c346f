"""Facts about materials: one name for each, what captures lead to, what must be built first."""

import csv
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import MEN_MAX, Exit, ExitKind, Material
from kingpair.workers.game.chess.waves import closure, every
from kingpair.workers.number_types import STRONGER, WEAKER, Side

GOLDEN = Path(__file__).parents[2] / "golden"
ALL = [material for men in (3, 4, 5) for material in every(men)]
SIDES = st.lists(st.sampled_from("QRBNP"), max_size=4).map("".join)


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
        ("KPvKQ", "KQvKP"),
        ("KPKR", "KRvKP"),
        ("KPRvK", "KRPvK"),
        ("KQvKRP", "KRPvKQ"),
        ("KQvKPP", "KPPvKQ"),
        ("KPNvKPP", "KNPvKPP"),
        ("kpkp", "KPvKP"),
    ],
)
def test_every_usual_form_parses_to_one_name(text: str, name: str) -> None:
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


def test_white_is_the_stronger_of_two_equal_sides() -> None:
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


def test_bare_kings_are_a_material() -> None:
    assert Material("", "").name == "KvK"
    assert Material("", "").captures() == ()
    assert Material.of("", "PN") == (Material("NP", ""), True)
    assert Material("", "").exits() == ()


def test_a_material_counts_its_pawns() -> None:
    assert Material.parse("KPPvKQP").pawns == (1, 2)  # KQPvKPP
    assert Material.parse("KPPvKQP").has_pawns
    assert Material.parse("KQvKR").pawns == (0, 0)
    assert not Material.parse("KQvKR").has_pawns


@pytest.mark.parametrize("file", ["nalimov_max_dtm.csv", "extremes_3_4man.csv"])
def test_materials_have_the_names_of_published_tables(file: str) -> None:
    with (GOLDEN / file).open(newline="") as lines:
        names = {row["material"] for row in csv.DictReader(lines)} - {"KvK"}
    assert {name for name in names if Material.parse(name).name != name} == set()


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
    assert [(taken.takes, taken.material.name, taken.swapped) for taken in captures] == [
        (0, "KRBvKN", False),
        (1, "KRBvKB", False),
        (2, "KBNvKB", True),
        (3, "KBNvKR", True),
    ]
    assert [taken.survivors for taken in captures] == [(1, 2, 3), (0, 2, 3), (3, 0, 1), (2, 0, 1)]


@pytest.mark.parametrize("material", [*ALL, *every(6)], ids=str)
def test_survivors_are_the_men_of_the_smaller_material(material: Material) -> None:
    for man, taken in enumerate(material.captures()):
        assert taken.takes == man
        assert {man, *taken.survivors} == set(range(len(material.letters)))
        assert "".join(material.letters[i] for i in taken.survivors) == taken.material.letters
        sides = [material.sides[i] ^ taken.swapped for i in taken.survivors]
        assert sides == list(taken.material.sides)


def test_materials_of_three_to_five_men_are_145() -> None:
    with_pawns = [every(men, pawns=True) for men in (2, 3, 4, 5, 6)]
    assert [len(materials) for materials in with_pawns] == [1, 5, 30, 110, 365]
    assert len({m for materials in with_pawns[1:4] for m in materials}) == 145
    assert {m for materials in with_pawns[1:4] for m in materials if not m.has_pawns} == set(ALL)


def test_pawnless_materials_are_84() -> None:
    assert [len(every(men)) for men in (2, 3, 4, 5, 6)] == [1, 4, 20, 60, 170]
    assert len(set(ALL)) == 84
    assert {material.men for material in every(5)} == {5}


def test_a_wave_is_sorted_by_strength() -> None:
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


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("KPvK", 5),
        ("KPvKP", 20),
        ("KPPvK", 20),
        ("KRPvKR", 20),
        ("KPPvKR", 40),
        ("KRPvKP", 50),
        ("KPPPvK", 55),
        ("KPPvKP", 110),
        ("KRPvKRP", 65),
        ("KPPvKPP", 230),
        ("KPPPvKP", 320),
    ],
)
def test_promotions_make_closures_large(name: str, size: int) -> None:
    assert sum(map(len, closure([Material.parse(name)]))) == size


def test_waves_with_pawns_are_by_men_and_pawns() -> None:
    assert names(closure([Material.parse("KPvK")])) == ["KQvK KRvK KBvK KNvK", "KPvK"]
    waves = closure(every(5, pawns=True))
    assert [len(wave) for wave in waves] == [4, 1, 20, 8, 2, 60, 36, 12, 2]
    done = {Material("", "")}
    for wave in waves:
        for material in wave:
            assert {e.material for e in material.exits()} - {material} <= done
        done.update(wave)


# Exits


def described(exit_: Exit, letters: str) -> str:
    mover = "K" if exit_.mover is None else letters[exit_.mover]
    takes = "" if exit_.takes is None else f"x{letters[exit_.takes]}"
    becomes = "" if exit_.becomes is None else f"={exit_.becomes}"
    return f"{mover}{takes}{becomes} {exit_.material}" + (" swapped" if exit_.swapped else "")


def exits_of(name: str, side: Side) -> list[str]:
    material = Material.parse(name)
    return [described(e, material.letters) for e in material.exits() if e.side == side]


def test_exits_of_a_pawnless_material_are_its_captures() -> None:
    material = Material.parse("KRBvKN")
    assert {exit_.kind for exit_ in material.exits()} == {ExitKind.CAPTURE}
    assert [(exit_.mover, exit_.takes) for exit_ in material.exits()] == [
        *[(None, 0), (None, 1), (None, 2)],
        *[(0, 1), (0, 2), (1, 0), (2, 0)],
    ]
    by_kings = {taken.captive: taken for taken in material.captures()}
    for exit_ in material.exits():
        assert exit_[4:] == by_kings[exit_.captive][4:], (
            "what is left does not depend on the captor"
        )


def test_exits_of_a_pawn() -> None:
    assert exits_of("KPvK", STRONGER) == ["P KPvK", "P=Q KQvK", "P=R KRvK", "P=B KBvK", "P=N KNvK"]
    assert exits_of("KPvK", WEAKER) == ["KxP KvK"]


def test_a_pawn_can_capture_and_be_promoted_at_once() -> None:
    assert exits_of("KRvKP", WEAKER) == [
        "KxR KPvK swapped",
        "P KRvKP",
        *["P=Q KQvKR swapped", "P=R KRvKR", "P=B KRvKB", "P=N KRvKN"],
        "PxR KPvK swapped",
        *["PxR=Q KQvK swapped", "PxR=R KRvK swapped", "PxR=B KBvK swapped", "PxR=N KNvK swapped"],
    ]


def test_a_pawn_takes_a_pawn_only_before_the_last_rank() -> None:
    kinds = {exit_.kind for exit_ in Material.parse("KPvKP").exits()}
    assert kinds == {ExitKind.PUSH, ExitKind.PROMOTION, ExitKind.CAPTURE}


@pytest.mark.parametrize("material", [m for n in (3, 4, 5) for m in every(n, pawns=True)], ids=str)
def test_survivors_of_an_exit_are_the_men_of_the_material_it_leads_to(material: Material) -> None:
    for exit_ in material.exits():
        men = dict(enumerate(material.letters))
        if exit_.takes is not None:
            assert material.sides[exit_.takes] != exit_.side
            del men[exit_.takes]
        if exit_.becomes is not None:
            assert exit_.mover is not None
            assert men[exit_.mover] == "P"
            men[exit_.mover] = exit_.becomes
        assert sorted(exit_.survivors) == sorted(men)
        assert "".join(men[man] for man in exit_.survivors) == exit_.material.letters
        sides = [material.sides[man] ^ exit_.swapped for man in exit_.survivors]
        assert sides == list(exit_.material.sides)
