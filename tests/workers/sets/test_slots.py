"""Which slot holds a position: canonical slots, other frames, and reading a FEN."""

import random

import numpy as np
import pytest
from analysis_states import MATERIALS, some_apart
from bitmaps import Held, bitmaps, everything, marked, number, squares_of, words_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kingpair.workers import _kernels
from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.fen import fen, parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import EMPTY, Colour, Position, material_of
from kingpair.workers.game.chess.waves import every
from kingpair.workers.index.board import SQUARES, SYMMETRIES, turn
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import Symmetry
from kingpair.workers.sets.memory import zeros
from kingpair.workers.solve import reference
from kingpair.workers.solve.reference import Squares, canonical

ON_DIAGONAL = int(np.flatnonzero(TURNED.diagonal)[0])
OFF_DIAGONAL = int(np.flatnonzero(~TURNED.diagonal)[0])
PAIR, SYMMETRY = (
    np.array([[TURNED.placements.get((a, b), (-1, 0))[i] for b in SQUARES] for a in SQUARES])
    for i in (0, 1)
)
READER = _kernels.Reader(
    PAIR.astype(np.int16), SYMMETRY.astype(np.uint8), TURNED.diagonal, PAIR.astype(np.int16)
)
GOOD, LOOK_CLOSER, UNLISTED = 0, 1, 2  # the reader was given no structures of pawns


# Canonical slots


def canonical_slots(material: Material, diagonal: bool) -> list[int]:
    held = everything(material)
    mask = zeros(held.size, np.uint64)
    _kernels.canonical_mask(held.domain, diagonal, mask)
    return [int(slot) for slot in marked(mask)]


@pytest.mark.parametrize("pair", [ON_DIAGONAL, OFF_DIAGONAL])
@pytest.mark.parametrize(
    "material",
    [
        *MATERIALS[3],
        *MATERIALS[4],
        *(pytest.param(m, marks=pytest.mark.slow) for m in MATERIALS[5][::16]),
        pytest.param(Material.parse("KBBBvK"), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_canonical_slots_are_those_of_the_twin(material: Material, pair: int) -> None:
    own = [p for p in reference.slots(material, [pair]) if canonical(material, p) == p]
    assert canonical_slots(material, bool(TURNED.diagonal[pair])) == [number(s) for _, s in own]


def test_one_man_and_two_kings_have_28056_distinct_positions() -> None:
    (material, *_) = MATERIALS[3]
    masks = {bool(diagonal): canonical_slots(material, bool(diagonal)) for diagonal in (0, 1)}
    apart = [
        (kings, set(masks[bool(on)]))
        for kings, on in zip(TURNED.squares, TURNED.diagonal, strict=True)
    ]
    assert sum(len(slots.difference(kings)) for kings, slots in apart) == 28056


@given(seed=st.integers(0, 9999))
@settings(deadline=None, max_examples=60)
def test_spreading_gives_each_slot_what_its_canonical_slot_has(seed: int) -> None:
    chance = random.Random(seed)
    material = chance.choice(MATERIALS[chance.choice((3, 4, 5))])
    pair = chance.choice((ON_DIAGONAL, OFF_DIAGONAL))
    men = len(material.letters)
    wanted = some_slots(chance, men)
    canonical_of = {s: canonical(material, (pair, s))[1] for s in wanted}
    some = set(chance.sample(sorted(canonical_of.values()), len(canonical_of) // 2))
    held = Held(material, [pair])
    words = held.open({(pair, s) for s in some}).words
    _kernels.spread(
        held.domain,
        bool(TURNED.diagonal[pair]),
        held.open({(pair, s) for s in wanted}).words,
        words,
    )
    expected = some | {s for s in wanted if canonical_of[s] in some}
    assert {squares_of(men, int(slot)) for slot in marked(words)} == expected


def some_slots(chance: random.Random, men: int) -> set[Squares]:
    return {tuple(chance.choices(SQUARES, k=men)) for _ in range(200)}


@given(seed=st.integers(0, 9999))
@settings(deadline=None, max_examples=60)
def test_a_set_turns_and_its_men_change_places(seed: int) -> None:
    chance = random.Random(seed)
    men, symmetry = chance.randint(1, 3), chance.choice(SYMMETRIES)
    axes = chance.sample(range(men), men)
    held = Held(chance.choice(MATERIALS[2 + men]), [0])
    before = some_slots(chance, men)
    out = zeros(held.size, np.uint64)
    words = held.open({(0, s) for s in before}).words
    _kernels.reframe(held.domain, symmetry, axes, words, out)
    expected = set()
    for squares in before:
        turned = reference.turned_back(symmetry, squares)
        expected.add(tuple(turned[axis] for axis in axes))
    assert {squares_of(men, int(slot)) for slot in marked(out)} == expected


@pytest.mark.parametrize("name", ["KQvKR", "KQRvK", "KQvKRR", "KBvKNN", "KQvKRB"])
def test_the_twin_finds_its_way_from_a_swapped_material_as_reframing_does(name: str) -> None:
    """Each capture from each pair of kings: the smaller set seen in the larger one's frame."""
    chance = random.Random(name)
    for capture in Material.parse(name).captures():
        men = len(capture.survivors)
        small = some_apart(chance, men, range(len(TURNED)))
        held = Held(capture.material, range(len(TURNED)))
        order = sorted(capture.survivors)
        axes = [capture.survivors.index(man) for man in order]
        size, words = words_of(men), bitmaps(men, small)
        found = set()
        for pair, (strong, weak) in enumerate(TURNED.squares):
            there, symmetry = TURNED.placements[
                (weak, strong) if capture.swapped else (strong, weak)
            ]
            out = zeros(size, np.uint64)
            smaller = words[there * size :][:size]
            _kernels.reframe(held.domain, symmetry, axes, smaller, out)
            found |= {(pair, squares_of(men, int(slot))) for slot in marked(out)}
        frame = {reference.reframed(capture, p) for p in small}
        assert {up_to_mirror(p) for p in found} == {up_to_mirror(p) for p in frame}


def up_to_mirror(position: reference.Position) -> reference.Position:
    pair, squares = position
    if not TURNED.diagonal[pair]:
        return position
    return pair, min(squares, tuple(turn(Symmetry(4), square) for square in squares))


# Reading a FEN


def read(text: str) -> tuple[int, int, int, int]:
    """Status, whether the weaker side moves, the material, the slot."""
    return read_all([text])[0]


def read_all(texts: list[str]) -> list[tuple[int, int, int, int]]:
    status, (side, material, row), _, _ = READER.read(texts)
    columns = (column.tolist() for column in (status, side, material, row))
    return list(zip(*columns, strict=True))


def expected(position: Position) -> tuple[int, int, int, int]:
    material, swapped = material_of(position)
    strong = Colour.BLACK if swapped else Colour.WHITE
    pair, symmetry = TURNED.placements[position.king(strong), position.king(strong.other)]
    men = [
        turn(symmetry, square)
        for colour in (strong.other, strong)
        for letter in "QRBN"
        for square in squares_with(position, letter if colour is Colour.WHITE else letter.lower())
    ]
    slot = number(canonical(material, (pair, tuple(men)))[1])
    return GOOD, int(position.turn is not strong), key(material), pair * 64 ** len(men) + slot


def squares_with(position: Position, man: str) -> list[int]:
    return [square for square in SQUARES if position.board[square] == man]


def key(material: Material) -> int:
    digits = [side.count(man) for side in (material.stronger, material.weaker) for man in "QRBN"]
    return number_in_base(16, digits)


def number_in_base(base: int, digits: list[int]) -> int:
    value = 0
    for digit in digits:
        value = base * value + digit
    return value


def some_position(chance: random.Random) -> Position:
    """Kings and up to four men anywhere: often illegal."""
    men = "Kk" + "".join(chance.choices("QRBNqrbn", k=chance.randint(0, 4)))
    board = [EMPTY] * 64
    for man, square in zip(men, chance.sample(SQUARES, len(men)), strict=True):
        board[square] = man
    clocks = chance.randrange(100), chance.randrange(1, 200)
    return Position("".join(board), chance.choice(list(Colour)), frozenset(), None, *clocks)


@given(seed=st.integers())
@settings(deadline=None, max_examples=400)
def test_a_legal_fen_is_read_as_its_slot_and_an_illegal_one_not(seed: int) -> None:
    text = fen(some_position(random.Random(seed)))
    for form in (
        text,
        text.replace(" ", "_"),
        " ".join(text.split()[:2]),
        " ".join(text.split()[:4]),
    ):
        try:
            position = parse_fen(form)
        except BadPosition:
            assert read(form)[0] == LOOK_CLOSER
        else:
            assert read(form) == expected(position)


@given(
    seed=st.integers(0, 999),
    at=st.integers(0, 99),
    length=st.integers(0, 2),
    inserted=st.text(alphabet="KQRBNPkqrbnp12345678/wb-_ 0é\0", max_size=3),
)
@example(seed=0, at=99, length=0, inserted=" 1")
@example(seed=0, at=99, length=0, inserted="00000")
@settings(deadline=None, max_examples=600)
def test_a_damaged_fen_is_read_as_the_rules_read_it_or_not_at_all(
    seed: int, at: int, length: int, inserted: str
) -> None:
    text = fen(some_position(random.Random(seed)))
    damaged = text[:at] + inserted + text[at + length :]
    found = read(damaged)
    if found[0] == UNLISTED:
        assert material_of(parse_fen(damaged))[0].has_pawns
    else:
        assert found[0] == LOOK_CLOSER or found == expected(parse_fen(damaged))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "w",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "k7/8/8/8/8/8/8/K7",
        "k7/8/8/8/8/8/8/K7 ",
        "k7/8/8/8/8/8/8/K7 x - - 0 1",
        "k7/8/8/8/8/8/8/K7 w - -x",
        "k7/8/8/8/8/8/8/K7 w KQkq - 0 1",
        "k7/8/8/8/8/8/8/K7 w - e9 0 1",
        "k7/8/8/8/8/8/8/K7 w - e 0 1",
        "k7/8/8/8/8/8/8/K7/8 w - - 0 1",
        "k7/8/8/8/8/8/K7 w - - 0 1",
        "k8/8/8/8/8/8/8/K7 w - - 0 1",
        "k6/8/8/8/8/8/8/K7 w - - 0 1",
        "kk6/8/8/8/8/8/8/K7 w - - 0 1",
        "P6k/8/8/8/8/8/8/K7 w - - 0 1",
        "7k/8/8/8/8/8/8/K6p w - - 0 1",
        "k7/8/8/8/8/8/8/KQRBNQ2 w - - 0 1",
        "k7/K7/8/8/8/8/8/8 w - - 0 1",
        "k6R/8/8/8/8/8/8/K7 w - - 0 1",
    ],
)
def test_an_unusual_fen_is_left_to_the_rules(text: str) -> None:
    assert read(text)[0] == LOOK_CLOSER


def test_many_fens_are_read_in_order() -> None:
    chance = random.Random(0)
    texts = [fen(some_position(chance)) for _ in range(200)]
    assert read_all(texts) == [*map(read, texts)]


def test_every_material_up_to_six_men_has_its_own_key() -> None:
    materials = [material for men in range(2, 7) for material in every(men)]
    assert len({key(material) for material in materials}) == len(materials)
