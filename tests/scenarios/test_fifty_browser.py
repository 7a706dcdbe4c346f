"""Facts about the 50-move rule and about mistakes on the page, in a real browser."""

import re
from typing import Any

import pytest
from browser import IN_A_BROWSER, expect, page_of

pytestmark = IN_A_BROWSER
LONG = "8/8/8/8/Q7/5k2/8/K3r3 w - - {} 1"
CLAIM = "A draw can be claimed here"


def at(url: str, fen: str, metric: str = "dtc") -> str:
    return f"{url}?fen={fen.replace(' ', '_')}&metric={metric}"


def says(page: Any, headline: str) -> None:
    expect(page.locator("#verdict h1")).to_have_text(headline)


def test_a_line_that_is_followed_stops_where_a_draw_can_be_claimed(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG.format(96)))
        says(page, "White wins in 31 moves; drawn under the 50-move rule")
        page.get_by_role("button", name="Follow to mate").click()
        says(page, CLAIM)
        expect(page.locator("#verdict p")).to_contain_text("50 moves without a capture")
        expect(page.locator("#score .ply")).to_have_count(4)
        expect(page.locator("#line")).to_be_disabled()
        page.locator("#clock").fill("0")
        page.locator("#clock").press("Enter")
        says(page, "White wins in 29 moves")
        expect(page.locator("#line")).to_be_enabled()


def test_a_mate_on_the_last_ply_before_a_claim_is_played(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, "7k/8/5K2/8/8/8/8/6Q1 w - - 99 1"))
        says(page, "White wins in 1 move")
        page.get_by_role("button", name="Follow to mate").click()
        says(page, "White has won")


@pytest.mark.parametrize(
    ("clock", "headline", "below"),
    [
        (0, "White wins in 31 moves", "to mate or to the capture that decides"),
        (39, "White wins in 31 moves", "to mate or to the capture that decides"),
        (50, "White wins in 31 moves; drawn under the 50-move rule", "White to move"),
        (99, "White wins in 31 moves; drawn under the 50-move rule", "White to move"),
        (100, CLAIM, "White to move"),
    ],
)
def test_a_headline_says_what_the_rule_makes_of_a_win(
    url: str, clock: int, headline: str, below: str
) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG.format(clock)))
        says(page, headline)
        expect(page.locator("#verdict p").first).to_contain_text(below)
        spoilt = "draw" if clock >= 50 else "white"
        expect(page.locator("#verdict")).to_have_class(re.compile(rf"\b{spoilt}\b"))


def test_a_result_that_another_metric_knows_is_told_without_a_number(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG.format(50), "dtm"))
        says(page, "White wins; drawn under the 50-move rule")
        expect(page.locator("#verdict p").first).to_contain_text("in how many moves is not known")
        expect(page.locator("#moves .win .move").first).to_have_text("Ka2win ½")
        page.locator("#moves .win .move").first.click()
        expect(page.locator("#said")).to_have_text("Ka2, wins, drawn under the 50-move rule")


def test_a_move_that_is_taken_back_is_no_mistake(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG.format(0)))
        page.get_by_role("button", name="White", exact=True).click()
        coach = page.locator("#coach-says")
        expect(coach).to_contain_text("Your move.")
        play(page, "a4", "d1")
        expect(page.locator("#score .ply")).to_have_count(2)
        expect(coach).to_contain_text("Your move. 1 mistake so far.")
        page.get_by_role("button", name="Take back").click()
        expect(coach).to_have_text("Taken back. Your move.")
        expect(page.locator("#score .ply")).to_have_count(0)
        expect(page.locator("#forward")).to_be_disabled()
        play(page, "a1", "a2")
        expect(page.locator("#score .ply")).to_have_count(2)
        expect(coach).to_have_text("Ka2 is best. Your move.")
        page.locator("#moves .win ~ .group .move").first.dispatch_event("click")
        expect(coach).to_contain_text("Your move. 1 mistake so far.")
        page.locator("#back").click()
        page.locator("#back").click()
        expect(coach).not_to_contain_text("mistake")


def test_a_game_ends_where_the_table_or_the_player_claims_a_draw(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG.format(98)))
        page.get_by_role("button", name="White", exact=True).click()
        coach, claim = page.locator("#coach-says"), page.get_by_role("button", name="Claim a draw")
        expect(coach).to_contain_text("Your move.")
        expect(claim).to_be_hidden()
        play(page, "a1", "a2")
        expect(coach).to_contain_text("The table claims a draw: 50 moves without a capture")
        expect(page.locator("#score .ply")).to_have_count(2)
        for button in ("#best", "#hint", "#line"):
            expect(page.locator(button)).to_be_disabled()
        expect(claim).to_be_hidden()
        page.get_by_role("button", name="Take back").click()
        expect(coach).to_have_text("Taken back. Your move.")
        expect(page.locator("#score .ply")).to_have_count(0)
        page.get_by_role("button", name="Black", exact=True).click()
        expect(coach).to_contain_text("Your move.")
        expect(claim).to_be_hidden()
        play(page, "e1", "e2")
        expect(coach).to_contain_text("You can claim a draw: 50 moves without a capture")
        expect(page.locator("#score .ply")).to_have_count(3)
        claim.click()
        expect(coach).to_have_text(re.compile("^ ?You have claimed a draw: .* every move was best"))
        expect(page.locator("#best")).to_be_disabled()
        page.get_by_role("button", name="Take back").click()
        expect(coach).to_have_text("Taken back. Your move.")
        expect(page.locator("#score .ply")).to_have_count(1)


def play(page: Any, *names: str) -> None:
    expect(page.locator("#moves[aria-busy]")).to_have_count(0)
    for name in names:
        page.get_by_label(re.compile(f"^{name}\\b")).click()
