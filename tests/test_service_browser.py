"""Facts about the page in a real browser: positions, tables and tokens."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import IN_A_BROWSER, expect, page_of
from services import running

from api.tokens import Scope, Tokens

pytestmark = IN_A_BROWSER
SHORT = "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1"


@pytest.fixture(scope="module")
def url(tables: Path) -> Iterator[str]:
    with running("--tables", str(tables), "--port", "0") as (_, found):
        yield found


def says(page: Any, text: str) -> None:
    expect(page.locator("#verdict h1")).to_have_text(re.compile(text))


def test_a_position_is_played_to_mate_by_the_space_bar(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen={SHORT.replace(' ', '_')}")
        says(page, "White wins in [12] move")
        for _ in range(4):
            if "has won" in page.locator("#verdict h1").inner_text():
                break
            before = page.url
            page.keyboard.press("Space")
            page.wait_for_url(lambda now, before=before: now != before)
            page.wait_for_function("!document.querySelector('#verdict').matches('.waiting')")
        says(page, "White has won")
        page.keyboard.press("Home")
        says(page, "White wins in [12] move")


def test_a_line_is_followed_to_mate(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen={SHORT.replace(' ', '_')}")
        page.get_by_role("button", name="Follow to mate").click()
        says(page, "White has won")


def test_a_move_is_made_by_clicking_the_board_and_shared_by_its_address(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen={SHORT.replace(' ', '_')}")
        says(page, "White wins")
        page.locator("[data-square='6']").click()
        page.locator("[data-square='54']").click()
        says(page, "White has won")
        page.reload()
        says(page, "White has won")
        assert "7k/6Q1/5K2/8/8/8/8/8" in page.locator("#fen").input_value()


def test_a_position_is_set_up_by_pieces_and_refused_with_a_reason(url: str) -> None:
    with page_of(url) as page:
        page.goto(url)
        page.get_by_role("button", name="Set up").click()
        page.get_by_role("button", name="Clear").click()
        says(page, "Draw")
        page.get_by_role("button", name="white rook", exact=True).click()
        page.locator("[data-square='0']").click()
        says(page, "White wins in")
        page.get_by_role("button", name="white king", exact=True).click()
        page.locator("[data-square='52']").click()
        says(page, "Not a position")


def test_the_board_is_used_by_keys_alone(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen={SHORT.replace(' ', '_')}")
        says(page, "White wins")
        page.locator("[data-square='6']").focus()
        page.keyboard.press("Enter")
        for _ in range(6):
            page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        says(page, "White has won")


def test_tables_lead_to_the_longest_win_on_the_board(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?tables")
        page.get_by_role("link", name=re.compile("KQvKR")).click()
        page.get_by_role("link", name=re.compile("White wins in 31 moves")).click()
        says(page, "White wins in 31 moves")
        page.go_back()
        expect(page.get_by_role("heading", name="KQ")).to_be_visible()


def test_a_lost_connection_is_said_and_found_again(tables: Path) -> None:
    with running("--tables", str(tables), "--port", "0") as (process, url), page_of(url) as page:
        page.goto(url)
        says(page, "White wins in 31")
        process.terminate()
        process.wait(10)
        page.keyboard.press("Space")
        says(page, "No answer")
        expect(page.locator("#offline")).to_be_visible()
        port = url.rstrip("/").rpartition(":")[2]
        with running("--tables", str(tables), "--port", port):
            says(page, "White wins in 3")
            expect(page.locator("#offline")).to_be_hidden()


def test_a_token_is_entered_once_and_kept_as_long_as_its_owner_says(
    tables: Path, tmp_path: Path
) -> None:
    secret = Tokens(tmp_path).create("reader", Scope.PROBE)
    serving = running("--tables", str(tables), "--state", str(tmp_path), "--port", "0")
    with serving as (_, url), page_of(url) as page:
        page.goto(url)
        says(page, "A token is needed")
        enter(page, "kingpair_wrong")
        expect(page.locator("#access-now")).to_contain_text("no such token")
        page.locator("#token").fill(secret)
        page.keyboard.press("Enter")
        says(page, "White wins in 31")
        expect(page.locator("#refused")).to_be_hidden()
        page.reload()
        says(page, "White wins in 31")
        other = page.context.new_page()
        other.goto(url)
        says(other, "A token is needed")
        enter(other, secret, "on this device")
        says(other, "White wins in 31")
        other.close()
        another = page.context.new_page()
        another.goto(f"{url}?table=KQvKR")
        with another.expect_download() as saved:
            another.get_by_role("link", name="Download").click()
        assert saved.value.path().read_bytes() == (tables / "KQvKR.dtc.arrow").read_bytes()


def enter(page: Any, secret: str, keep: str = "until this tab is closed") -> None:
    page.get_by_role("button", name="Enter a token", exact=True).click()
    page.get_by_label("Token", exact=True).fill(secret)
    page.get_by_label(keep).check()
    page.keyboard.press("Enter")


def test_an_empty_directory_says_what_to_do(tmp_path: Path) -> None:
    with running("--tables", str(tmp_path), "--port", "0") as (_, url), page_of(url) as page:
        page.goto(f"{url}?tables")
        expect(page.get_by_role("heading", name="No tables yet")).to_be_visible()
        page.goto(url)
        says(page, "Not known")


@pytest.mark.parametrize(("scheme", "chosen"), [("light", "dark"), ("dark", "light")])
def test_light_or_dark_is_as_the_system_has_it_until_the_reader_chooses(
    url: str, scheme: str, chosen: str
) -> None:
    with page_of(url, color_scheme=scheme) as page:
        page.goto(url)
        root = expect(page.locator("html"))
        root.to_have_css("color-scheme", scheme)
        page.get_by_role("button", name="Change between light and dark").click()
        root.to_have_css("color-scheme", chosen)
        for view in ("docs", "?tables"):
            page.goto(f"{url}{view}")
            root.to_have_css("color-scheme", chosen)
