"""Moves of a game against the table in a real browser: dragged, clicked, by keys and by touch."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from browser import IN_A_BROWSER, expect, page_of

pytestmark = IN_A_BROWSER
LONG = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
Mover = Callable[[Any, str, str], None]


def square(page: Any, name: str) -> Any:
    return page.get_by_label(re.compile(f"^{name}\\b"))


def middle(page: Any, name: str) -> tuple[float, float]:
    """The middle of a square on the screen."""
    box = square(page, name).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, origin: str, target: str) -> None:
    page.mouse.move(*middle(page, origin))
    page.mouse.down()
    page.mouse.move(*middle(page, target), steps=5)
    page.mouse.up()


def click(page: Any, origin: str, target: str) -> None:
    for name in (origin, target):
        page.mouse.click(*middle(page, name))


def press_keys(page: Any, origin: str, target: str) -> None:
    files, ranks = (ord(after) - ord(before) for before, after in zip(origin, target, strict=True))
    square(page, origin).focus()
    page.keyboard.press("Enter")
    for key, steps in (("ArrowRight", files), ("ArrowUp", ranks)):
        for _ in range(abs(steps)):
            page.keyboard.press(key if steps > 0 else _OPPOSITE[key])
    page.keyboard.press("Enter")


_OPPOSITE = {"ArrowRight": "ArrowLeft", "ArrowUp": "ArrowDown"}


def tap(page: Any, origin: str, target: str) -> None:
    for name in (origin, target):
        page.touchscreen.tap(*middle(page, name))


def drag_by_touch(page: Any, origin: str, target: str) -> None:
    """One finger goes down, moves and is lifted; a browser may take such a move for scrolling."""
    fingers = page.context.new_cdp_session(page)
    (x, y), (to_x, to_y) = middle(page, origin), middle(page, target)
    steps = [(x + (to_x - x) * part / 5, y + (to_y - y) * part / 5) for part in range(6)]
    for kind, at in [("touchStart", steps[0]), *(("touchMove", each) for each in steps[1:])]:
        points = [{"x": at[0], "y": at[1]}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.parametrize("move", [drag, click, press_keys, tap, drag_by_touch])
def test_a_move_is_made_by_drag_click_keys_and_touch(url: str, move: Mover) -> None:
    with page_of(url, **(PHONE if move in (tap, drag_by_touch) else {})) as page:
        page.goto(f"{url}?fen={LONG.replace(' ', '_')}")
        page.get_by_role("button", name="White", exact=True).click()
        expect(page.locator("#coach")).to_contain_text("Your move")
        square(page, "a1").scroll_into_view_if_needed()
        move(page, "a4", "b8")  # no move of the queen: she goes back
        expect(page.locator("#score .ply")).to_have_count(0)
        move(page, "a1", "a2")
        expect(page.locator("#coach")).to_contain_text("Ka2 is best. Your move.")
        expect(page.locator("#score .ply")).to_have_count(2)
        square(page, "a2").and_(page.locator("[aria-label*=king]")).wait_for()
