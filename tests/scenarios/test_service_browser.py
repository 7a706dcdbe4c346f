"""Facts about the page in a real browser: positions, tables and tokens."""

import io
import re
import subprocess
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from browser import IN_A_BROWSER, expect, page_of, slow_down
from services import running

from kingpair.api.tokens import Scope, Tokens

pytestmark = IN_A_BROWSER
LONG = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
SHORT = "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1"


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
            expect(page.locator("#moves[aria-busy]")).to_have_count(0)
        says(page, "White has won")
        page.keyboard.press("Home")
        says(page, "White wins in [12] move")


def played(page: Any) -> list[str]:
    return [str(text) for text in page.locator("#score .ply").all_inner_texts()]


@pytest.mark.parametrize("latency", [0, 150])
@pytest.mark.parametrize("held", [False, True], ids=["pressed", "held"])
def test_a_press_acts_on_the_position_on_the_screen_or_not_at_all(
    url: str, latency: int, held: bool
) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?fen={LONG.replace(' ', '_')}")
        says(page, "White wins in 31")
        slow_down(page, latency)
        for i in range(60):
            page.keyboard.down("Space")
            if not held:
                page.keyboard.up("Space")
            if i % 7 == 0:
                page.locator("#best").dispatch_event("click")
        expect(page.locator("#moves[aria-busy]")).to_have_count(0)
        moves = played(page)
        assert moves
        board = chess.Board(LONG)
        for move in moves:
            board.push_san(move)
        assert page.locator("#fen").input_value() == board.fen(en_passant="legal")


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
        page.get_by_role("button", name="white pawn", exact=True).click()
        page.locator("[data-square='8']").click()
        says(page, "Not known")
        build = page.get_by_role("link", name="Build KPvK")
        page.get_by_role("button", name="to mate", exact=True).click()
        expect(build).to_have_attribute("href", "/?builds&material=KPvK&metric=dtm")
        build.click()
        expect(page.get_by_role("checkbox", name="to mate")).to_be_checked()
        expect(page.get_by_role("checkbox", name="to conversion")).not_to_be_checked()
        page.go_back()
        page.get_by_role("button", name="to conversion").click()
        page.get_by_role("button", name="Clear").click()
        says(page, "Draw")
        page.get_by_role("button", name="white rook", exact=True).click()
        page.locator("[data-square='0']").click()
        says(page, "White wins in")
        page.get_by_role("button", name="white king", exact=True).click()
        page.locator("[data-square='52']").click()
        says(page, "Not a position")
        page.get_by_role("button", name="Clear").click()
        page.get_by_role("button", name="black pawn", exact=True).click()
        page.locator("[data-square='28']").click()
        expect(page.locator("#fen")).to_have_value(re.compile("^4k3/8/8/8/4p3/8/8/4K3 w"))


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
        expect(page.get_by_role("heading", name="Passes")).to_be_visible()


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


# Playing


def wait_for_answer(page: Any) -> None:
    expect(page.locator("#moves[aria-busy]")).to_have_count(0)


def at(url: str, fen: str) -> str:
    return f"{url}?fen={fen.replace(' ', '_')}"


def test_back_and_forward_of_the_browser_walk_the_moves(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG))
        says(page, "White wins in 31")
        for _ in range(3):
            wait_for_answer(page)
            page.keyboard.press("Space")
        wait_for_answer(page)
        expect(page.locator("#score .ply")).to_have_count(3)
        page.go_back()
        expect(page.locator("#score .ply").nth(1)).to_have_attribute("aria-current", "step")
        page.go_forward()
        expect(page.locator("#score .ply").nth(2)).to_have_attribute("aria-current", "step")


def test_the_table_answers_and_marks_a_mistake(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG))
        says(page, "White wins in 31")
        page.get_by_role("button", name="White", exact=True).click()
        expect(page.locator("#coach")).to_contain_text("Your move")
        page.get_by_role("button", name="Hint").click()
        expect(page.locator("#coach")).to_contain_text("is best")
        page.locator("[data-square='24']").click()
        page.locator("[data-square='3']").click()  # Qd1+ loses the queen
        expect(page.locator("#score .mistake")).to_have_text("turned a win into a loss")
        expect(page.locator("#score .ply")).to_have_count(2)
        expect(page.locator("#coach")).to_contain_text("Your move")
        page.get_by_role("button", name="Take back").click()
        says(page, "White wins in 31")
        page.get_by_role("button", name="Stop playing").click()
        expect(page.locator("#moves")).to_contain_text("Ka2")


def test_a_game_cannot_get_stuck(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG))
        says(page, "White wins in 31")
        page.get_by_role("button", name="Follow to mate").click()
        expect(page.locator("#line")).to_have_text("Pause")
        page.get_by_role("button", name="Black", exact=True).click()
        expect(page.locator("#line")).to_have_text("Follow to mate")
        page.goto(at(url, LONG))
        says(page, "White wins in 31")
        page.get_by_role("button", name="Black", exact=True).click()
        page.get_by_role("button", name="Take back").click()  # there is no move yet
        expect(page.locator("#coach")).to_contain_text("Your move")
        expect(page.locator("#score .ply")).to_have_count(1)
        page.locator("#fen").fill("8/8/8/8/QB6/5k2/8/K3r3 w")
        page.locator("#fen").press("Enter")
        says(page, "Not known")
        expect(page.locator("#coach")).to_contain_text("no table of KQBvKR to play against")
        expect(page.get_by_role("button", name="Hint")).to_be_disabled()


def test_a_random_position_is_won_by_who_plays_it(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG))
        page.get_by_label("How long the win may be").select_option("long win")
        page.get_by_role("button", name="Random").click()
        expect(page.locator("#coach")).to_contain_text("Your move")
        mover = page.locator("[data-side][aria-pressed=true]").inner_text()
        says(page, f"{mover} wins in")


def test_a_game_is_shared_as_a_link_and_as_pgn(url: str) -> None:
    with page_of(url, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(at(url, SHORT))
        says(page, "White wins")
        page.keyboard.press("Space")
        says(page, "White has won")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download PGN").click()
        game = chess.pgn.read_game(io.StringIO(saved.value.path().read_text()))
        assert game is not None
        assert game.errors == []
        assert (game.headers["Result"], game.end().board().is_checkmate()) == ("1-0", True)
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator("#share")).to_have_text("Copied")
        link = page.evaluate("navigator.clipboard.readText()")
        page.goto(link)
        page.keyboard.press("Space")  # while the moves of the link are made
        says(page, "White has won")
        assert played(page) == ["Qg7#"]


def test_a_position_is_mirrored_swapped_and_given_a_clock(url: str) -> None:
    with page_of(url) as page:
        page.goto(at(url, LONG))
        says(page, "White wins in 31")
        page.get_by_role("button", name="Set up").click()
        page.get_by_role("button", name="Mirror").click()
        says(page, "White wins in 31")
        assert page.locator("#fen").input_value() == "8/8/8/8/7Q/2k5/8/3r3K w - - 0 1"
        page.get_by_role("button", name="Swap colours").click()
        says(page, "Black wins in 31")
        page.locator("#clock").fill("60")
        page.locator("#clock").press("Enter")
        expect(page.locator("#verdict")).to_contain_text("drawn under the 50-move rule")
        assert page.locator("#fen").input_value().endswith(" b - - 60 1")


# The first minute


def test_one_button_solves_an_ending_and_shows_its_longest_win(tmp_path: Path) -> None:
    words = ("--tables", str(tmp_path / "tables"), "--port", "0")
    with running(*words) as (_, url), page_of(url) as page:
        page.goto(url)
        expect(page.locator("#welcome")).to_contain_text("solves chess endgames")
        page.get_by_role("button", name="Solve KQvKR").click()
        says(page, "White wins in 31 moves")
        expect(page.locator("#welcome")).to_be_hidden()


# Tables


def test_the_list_of_tables_is_filtered_and_sorted(url: str) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?tables")
        page.get_by_label("Only tables with these men").fill("kbn")
        expect(page.locator(".card")).to_have_count(1)
        page.get_by_label("Only tables with these men").fill("")
        page.get_by_label("Sorted by").select_option("longest win")
        expect(page.locator(".card").first).to_contain_text("KBNvK")


def test_a_table_shows_its_zugzwangs_samples_and_sha256(url: str, tables: Path) -> None:
    with page_of(url) as page:
        page.goto(f"{url}?table=KRvKN")
        page.get_by_role("button", name="Find them").click()
        expect(page.get_by_text("White to move draws, Black to move loses")).to_be_visible()
        page.get_by_role("button", name="All of the longest").click()
        expect(page.get_by_text("White to move wins in 27 moves")).to_be_visible()
        page.get_by_role("button", name="Draw ten").click()
        expect(page.get_by_text("to draw from")).to_be_visible()
        page.get_by_role("button", name="Show its SHA-256").click()
        line = page.locator(".sum").inner_text()
        done = subprocess.run(["sha256sum", "-c"], cwd=tables, input=f"{line}\n", text=True)
        assert done.returncode == 0
