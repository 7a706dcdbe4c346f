"""Facts about the page in a real browser: builds from plan to table; what every view keeps to."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser import IN_A_BROWSER, expect, page_of
from services import running

from kingpair.api.tokens import Scope, Tokens

pytestmark = IN_A_BROWSER
LONG = "KRBvKR KRBvKN KBBvKN"  # to build on one thread: long enough to be cancelled
VIEWS = ["", "?tables", "?table=KQvKR", "?builds&material=KRvKN", "?build=b1", "docs"]


@contextmanager
def serving(directory: Path, *words: str) -> Iterator[tuple[Any, str]]:
    with running("--tables", str(directory), "--port", "0", "--threads", "1", *words) as found:
        yield found


def submit(page: Any, url: str, materials: str) -> None:
    """Ask for a build, and be where it is watched."""
    page.goto(f"{url}?builds")
    page.get_by_role("textbox", name="Materials").fill(materials)
    page.get_by_role("button", name="Build", exact=True).click()
    page.wait_for_url(re.compile(r"\?build=b\d+"))


def state(page: Any) -> Any:
    return page.locator(".head .chip")


# Asking for a build


def test_a_build_is_planned_submitted_and_watched_to_its_table_and_board(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url), page_of(url) as page:
        page.goto(f"{url}?tables")
        page.get_by_role("link", name="Build the first").click()
        expect(page.locator("#plan-said")).to_contain_text("3 tables in 2 waves")
        submit(page, url, "KRBvKR")
        expect(state(page)).to_have_text("✓Finished")
        expect(page.locator(".triangle .cell:not(.s0)").first).to_be_visible()
        assert page.locator(".triangle .cell").count() == 462
        expect(page.locator(".phase")).to_have_text(
            [re.compile(r"(Solve|Write|Prove)[\d.]+ s")] * 3
        )
        expect(page.get_by_role("region", name="Log").locator("li").last).to_contain_text(
            "KRBvKRdone"
        )
        expect(page.locator(".depths figcaption").first).to_have_text(
            "White wins in at most 59 moves; right of the dashed line drawn under the 50-move rule"
        )
        page.locator(".results a").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("KRBvKR")
        page.get_by_role("link", name="White wins in 59 moves").click()
        expect(page.locator("#verdict h1")).to_have_text(
            "White wins in 59 moves; drawn under the 50-move rule"
        )
        page.get_by_role("button", name="Follow to mate").click()
        expect(page.locator("#line")).to_have_text("Pause")


def test_the_levels_of_a_material_with_pawns_are_shown_as_they_are_solved(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url), page_of(url) as page:
        submit(page, url, "KNPvK")
        level = r"level \d of 6, 4 structures, .*(White to win|begins|columns|solved)"
        page.wait_for_function(
            "shown => RegExp(shown).test(document.querySelector('.picture h2')?.textContent)",
            arg=level,
        )  # looks at every frame: a level may be solved between two looks of expect
        assert page.locator(".levels .cell").count() == 6 * 64
        expect(state(page)).to_have_text("✓Finished")
        assert page.locator(".levels .cell:not(.s0)").count() > 6 * 32
        page.get_by_text("As a table").click()
        expect(page.locator(".picture tbody tr")).to_have_count(6)
        expect(page.locator(".depths figcaption").first).to_contain_text(
            "White wins in at most 22 moves"
        )


def test_a_plan_follows_what_is_typed_and_says_what_is_wrong(tables: Path, tmp_path: Path) -> None:
    words = ("--state", str(tmp_path), "--memory", "512MiB")
    with serving(tables, *words) as (_, url), page_of(url) as page:
        page.goto(f"{url}?builds")
        said, build = (
            page.locator("#plan-said"),
            page.get_by_role("button", name="Build", exact=True),
        )
        field = page.get_by_role("textbox", name="Materials")
        field.fill("KQvKX")
        expect(said).to_contain_text("KQvKX")
        expect(build).to_be_disabled()
        field.fill("KQvKR")
        expect(said).to_have_text(re.compile("Nothing to build: all . tables are there already"))
        field.fill("KQvKN")
        expect(said).to_contain_text("1 table")
        expect(build).to_be_enabled()
        field.fill("KRBvKBN")
        expect(said).to_have_text(re.compile(r"It does not fit: needs .* of memory, 512.0 MiB"))
        expect(build).to_be_disabled()


def test_actions_that_a_token_does_not_allow_are_explained(tables: Path, tmp_path: Path) -> None:
    secret = Tokens(tmp_path).create("reader", Scope.PROBE)
    with serving(tables, "--state", str(tmp_path)) as (_, url), page_of(url) as page:
        page.goto(f"{url}?builds&material=KQvKN")
        page.get_by_role("button", name="Enter a token", exact=True).click()
        page.get_by_label("Token", exact=True).fill(secret)
        page.keyboard.press("Enter")
        expect(page.locator("#plan-said")).to_contain_text("does not allow to build")
        expect(page.get_by_role("button", name="Build", exact=True)).to_be_disabled()
        page.get_by_role("button", name="Access: a token is kept").click()
        expect(page.locator("#access-now")).to_have_text(
            re.compile("reader.*until this tab is closed")
        )
        page.get_by_role("button", name="Forget it").click()
        expect(page.locator("#refused")).to_contain_text("asks for a token")


# A build under way


def test_a_build_is_cancelled_and_deleted_from_the_page(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url), page_of(url) as page:
        submit(page, url, LONG)
        expect(page.locator(".strip")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(state(page)).to_have_text("⊘Cancelled")
        expect(page.get_by_role("button", name="Retry")).to_be_visible()
        page.get_by_role("link", name="← Builds").click()
        row = page.locator(".job", has_text="b1")
        expect(row).to_contain_text("Cancelled")
        row.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Keep").click()
        expect(row).to_be_visible()
        row.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        expect(page.locator(".jobs")).to_contain_text("No builds yet")


def test_a_lost_connection_is_said_and_the_page_catches_up(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url), page_of(url) as page:
        submit(page, url, "KRBvKR")
        expect(page.locator(".strip")).to_be_visible()
        process.terminate()
        process.wait(30)
        expect(page.locator("#offline")).to_contain_text("The service does not answer")
        with serving(tmp_path, "--port", url.rstrip("/").rpartition(":")[2]):
            expect(page.locator("#offline")).to_be_hidden()
            expect(state(page)).to_have_text("✓Finished")
            expect(page.locator(".all h2")).to_have_text(re.compile(r"(\d+) of \1 tables"))
            assert page.locator(".past").inner_text().count("Running") >= 2


def test_one_who_comes_later_sees_what_was_decided_before(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url), page_of(url) as page:
        submit(page, url, LONG)
        expect(page.locator(".strip .pass").nth(3)).to_be_visible()
        page.reload()
        expect(page.locator(".triangle .cell:not(.s0)").first).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(state(page)).to_have_text("⊘Cancelled")


def test_a_build_is_submitted_and_read_by_keys_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url), page_of(url) as page:
        page.goto(f"{url}?builds")
        press_until(page, "Tab", "#materials")
        page.keyboard.type("KRvKN")
        expect(page.get_by_role("button", name="Build", exact=True)).to_be_enabled()
        page.keyboard.press("Enter")
        expect(state(page)).to_have_text("✓Finished")
        press_until(page, "Tab", ".triangle")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".readout")).to_have_text(
            re.compile(r"^Kings a1 and d1: [\d,]+ decided")
        )
        press_until(page, "Tab", ".picture summary")
        page.keyboard.press("Enter")
        expect(page.locator(".picture tbody tr")).to_have_count(10)


def press_until(page: Any, key: str, selector: str) -> None:
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate(f"document.activeElement.matches('{selector}')"):
            return
    pytest.fail(f"{selector} cannot be reached by {key}")


# Every view


@pytest.fixture(scope="module")
def built(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with tables, whose history has a build."""
    directory = tmp_path_factory.mktemp("built") / "tables"
    copytree(tables, directory)
    with serving(directory) as (_, url):
        body = json.dumps({"materials": ["KQvKR"]}).encode()
        wish = Request(f"{url}api/v1/builds", body, {"Content-Type": "application/json"})
        assert json.load(urlopen(wish))["state"] == "succeeded"
        yield url


def test_the_passes_of_a_finished_build_are_looked_through(tmp_path: Path) -> None:
    """The partitions are as they were after each pass; the last one is shown at first."""
    with serving(tmp_path) as (_, url), page_of(url) as page:
        submit(page, url, "KQvK")
        expect(state(page)).to_have_text("✓Finished")
        page.reload()
        slider, said = page.get_by_role("slider", name="Pass"), page.locator(".pass-slider output")
        expect(said).to_contain_text("After all")
        expect(page.locator(".triangle .cell:not(.s0)").first).to_be_visible()
        decided = page.locator(".triangle .cell:not(.s0)")
        at_the_end = decided.count()
        slider.fill("0")
        expect(said).to_have_text("After pass 0, White to win")
        assert 0 < decided.count() < at_the_end


def test_the_map_is_coloured_by_worker_and_says_what_each_sent(tmp_path: Path) -> None:
    with serving(tmp_path, "--threads", "2") as (_, url), page_of(url) as page:
        body = json.dumps({"materials": ["KQvKR"], "spread": 2}).encode()
        urlopen(Request(f"{url}api/v1/builds", body, {"Content-Type": "application/json"}))
        page.goto(f"{url}?build=b1")
        expect(state(page)).to_have_text("✓Finished")
        page.get_by_role("button", name="Colour by worker").click()
        sent = page.get_by_role("region", name="Sent from worker to worker")
        expect(sent.locator("tbody tr")).to_have_count(2)
        size = re.compile(r"\d (bytes|KiB)[1-9][\d.]* KiB in all$")
        expect(sent.locator("td")).to_have_text(["–", size, size, "–"])
        assert axe_finds(page) == []


def test_a_table_is_deleted_from_the_page_once_that_is_confirmed(built: str) -> None:
    with page_of(built) as page:
        visit(page, f"{built}?table=KBBvK")
        page.get_by_role("button", name="Delete this table").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("heading", name="Tables", exact=True)).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("KBNvK"))).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("KBBvK"))).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_breaks_a_rule_of_accessibility(built: str, scheme: str) -> None:
    with page_of(built, color_scheme=scheme) as page:
        for view in VIEWS:
            visit(page, built + view)
            assert (view, axe_finds(page)) == (view, [])


def test_the_dialogs_break_no_rule_of_accessibility(built: str) -> None:
    with page_of(built) as page:
        visit(page, f"{built}?builds")
        page.get_by_role("button", name="Access: enter a token").click()
        assert axe_finds(page) == []
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Delete b1").click()
        assert axe_finds(page) == []


def axe_finds(page: Any) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


def visit(page: Any, url: str) -> None:
    page.goto(url)
    expect(page.locator("main :is(h1, h2)").first).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280, 3840])
def test_no_view_is_wider_than_its_screen(built: str, width: int) -> None:
    with page_of(built, viewport={"width": width, "height": 740}) as page:
        for view in VIEWS:
            visit(page, built + view)
            assert (view, page.evaluate("document.documentElement.scrollWidth")) == (view, width)


@pytest.mark.parametrize("view", ["", "?build=b1"])
def test_a_view_loads_less_than_300_kilobytes(built: str, view: str) -> None:
    with page_of(built) as page:
        sizes: list[int] = []
        page.on("response", lambda answer: sizes.append(length_of(answer)))
        visit(page, built + view)
        assert 10_000 < sum(sizes) < 300_000


def length_of(answer: Any) -> int:
    return int(answer.headers.get("content-length", 0))
