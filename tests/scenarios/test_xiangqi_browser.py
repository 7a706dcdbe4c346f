"""Chinese chess on the page in a real browser: its board, its men, its line to mate, its builds."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import IN_A_BROWSER, expect, page_of
from building import build_unverified
from services import running

pytestmark = IN_A_BROWSER
DRAWN = "3ak1b2/9/9/9/9/9/4P4/9/9/3K5 b - - 0 1"
WON = "9/9/3kba3/4P4/9/9/9/9/9/4K4 w - - 0 1"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    tables: Path = tmp_path_factory.mktemp("xiangqi")
    build_unverified(tables, "xiangqi:KPvKAB")
    with running("--tables", str(tables), "--port", "0") as (_, found):
        yield found


@pytest.mark.parametrize("width", [390, 1440])
def test_a_position_is_shown_valued_and_played_to_the_end(url: str, width: int) -> None:
    with page_of(url, viewport={"width": width, "height": 900}) as page:
        page.goto(f"{url}?fen={WON.replace(' ', '_')}")
        expect(page.locator("#verdict h1")).to_have_text(re.compile("White wins in"))
        expect(page.locator("[data-square]")).to_have_count(90)
        expect(page.get_by_label("50-move counter")).to_be_hidden()
        expect(page.get_by_role("button", name="to zeroing")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        below = page.locator("#fen").bounding_box()
        assert width < 900 or below["y"] + below["height"] <= 900  # the board needs no scrolling
        page.get_by_role("button", name="Follow to mate").click()
        expect(page.locator("#verdict h1")).to_have_text("White has won")


@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_moves_are_shown_in_full_on_one_line(url: str, width: int) -> None:
    with page_of(url, viewport={"width": width, "height": 900}) as page:
        page.goto(f"{url}?fen={DRAWN.replace(' ', '_')}")
        expect(page.get_by_role("button", name="Ke10-f10")).to_be_visible()
        parts = page.locator(".move > *").evaluate_all(
            "all => all.map((e) => [e.scrollWidth - e.clientWidth, e.getClientRects()[0].height])"
        )
        assert all(hidden <= 0 and height < 30 for hidden, height in parts), parts


def test_men_are_set_up(url: str) -> None:
    with page_of(url) as page:
        page.goto(url)
        page.get_by_role("button", name="Set up").click()
        page.get_by_role("button", name="Chinese chess").click()
        expect(page.locator("[data-square]")).to_have_count(90)
        page.get_by_role("button", name="red pawn", exact=True).click()
        page.locator(f"[data-square='{4 + 9 * 6}']").click()
        expect(page.locator("#fen")).to_have_value(re.compile("^4k4/9/9/4P4/9/9/9/9/9/3K5 w"))
        expect(page.locator("#verdict h1")).to_have_text(re.compile("White wins in"))


def test_the_table_plays_the_other_side(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen={WON.replace(' ', '_')}")
        page.get_by_role("button", name="White", exact=True).click()
        best = page.request.get(f"{url}api/v1/probe", params={"fen": WON}).json()["options"][0]
        for square in re.findall(r"[a-i]\d+", best["uci"]):
            page.get_by_label(re.compile(f"^{square}\\b")).click()
        expect(page.get_by_text(f"{best['san']} is best. Your move.")).to_be_visible()
        expect(page.locator("#verdict h1")).to_have_text(re.compile("White wins in"))


def test_a_build_shows_its_blocks_and_each_material_once(url: str) -> None:
    with page_of(url) as page:
        page.request.post(
            f"{url}api/v1/builds", data={"materials": ["xiangqi:KCvKAB"], "metrics": ["dtc"]}
        )
        page.goto(f"{url}?build=b1")
        expect(page.get_by_role("heading", name="Solved")).to_be_visible()
        expect(page.locator(".all h2")).to_have_text(re.compile("tables done"))
        names = page.locator(".all .mats li").all_inner_texts()
        assert len(names) == len(set(names))


def test_an_impossible_position_is_refused_with_its_reason(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen=4k4/9/9/9/9/9/9/9/9/4K4_w")
        expect(page.locator("#verdict")).to_contain_text("the kings see each other")
