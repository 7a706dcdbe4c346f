"""A page in a real browser: Debian's Chromium through Playwright, where both are."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
from playwright import sync_api as playwright

CHROMIUM = shutil.which("chromium")
IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.usefixtures("chromium"),
    pytest.mark.skipif(
        CHROMIUM is None, reason="the page was not tried in a browser: apt-get install chromium"
    ),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
PATIENCE = 60_000  # milliseconds: machines are loaded


class Chromium:
    """The browser of the module that is tested; it starts with the first page."""

    running: Any = None
    _closing = ExitStack()

    @classmethod
    def start(cls) -> Any:
        if cls.running is None:
            started = cls._closing.enter_context(playwright.sync_playwright())
            cls.running = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS + QUIET)
        return cls.running

    @classmethod
    def stop(cls) -> None:
        """Ends the browser, and the event loop that Playwright runs on this thread."""
        cls.running = None
        cls._closing.close()


@contextmanager
def page_of(url: str, **context_settings: Any) -> Iterator[Any]:
    """A page whose requests are watched: none may leave the host, and nothing may fail in it.

    No page shares cookies, stores or caches with another.
    """
    with closing(Chromium.start().new_context(**context_settings)) as context:
        asked: list[str] = []
        failed: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        context.on("weberror", lambda error: failed.append(str(error.error)))
        yield context.new_page()
        assert [each for each in asked if not each.startswith(url)] == []
        assert failed == []


def slow_down(page: Any, milliseconds: int) -> None:
    """Every answer of the service takes so much longer."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", {**conditions, "latency": milliseconds})


def expect(locator: Any) -> Any:
    return playwright.expect(locator)


playwright.expect.set_options(timeout=PATIENCE)
