"""A page in a real browser: Debian's Chromium through Playwright, where both are."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright import sync_api as playwright

CHROMIUM = shutil.which("chromium")
IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="the page was not tried in a browser: apt-get install chromium"
    ),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
PATIENCE = 60_000  # milliseconds: machines are loaded


@contextmanager
def page_of(url: str, **context_settings: Any) -> Iterator[Any]:
    """A page whose requests are watched: none may leave the host, and nothing may fail in it."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS + QUIET)
        context = browser.new_context(**context_settings)
        asked: list[str] = []
        failed: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        context.on("weberror", lambda error: failed.append(str(error.error)))
        yield context.new_page()
        assert [each for each in asked if not each.startswith(url)] == []
        assert failed == []
        browser.close()


def expect(locator: Any) -> Any:
    return playwright.expect(locator)


playwright.expect.set_options(timeout=PATIENCE)
