"""A real browser, in which the tests of pages look for what people would see."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from arena.replay.document import Document
from arena.reports.replay_report import match_replay
from arena.site.page_shell import match_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
"""Root cannot have Chromium's own sandbox, and a test has no use for what it looks up on the network."""

Open: TypeAlias = "Callable[..., Page]"
"""Opens the page of a match, or a changed one, at an address in it; further arguments describe the browser."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for the tests of one module: Playwright's loop must be closed before others begin."""
    from playwright.sync_api import expect, sync_playwright  # here, since the other tests of pages do without

    expect.set_options(timeout=30_000)  # other tests keep the machine busy
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        assert path is not None
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Watched:
    """Opens pages, and notes what they say and ask for."""

    def __init__(self, browser: Browser) -> None:
        self.asked: set[str] = set()
        """The addresses that any page asked for."""
        self._browser = browser
        self._said: list[str] = []
        self._contexts = ExitStack()

    def open(self, address: str, **how: Any) -> Page:
        """Open a page; the arguments describe its browser."""
        page = self._contexts.enter_context(self._browser.new_context(**how)).new_page()
        page.on("console", lambda message: self._said.append(message.text))
        page.on("pageerror", lambda error: self._said.append(str(error)))
        page.on("request", lambda request: self.asked.add(request.url))
        page.goto(address)
        return page

    def close(self) -> None:
        """Close all pages. None has said anything on its console."""
        self._contexts.close()
        assert self._said == []


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """Open pages; in the end none has said anything on its console."""
    pages = Watched(browser)
    yield pages
    pages.close()


@pytest.fixture
def opened(watched: Watched, tmp_path: Path) -> Iterator[Open]:
    """Open pages of matches; in the end none has asked for another file."""
    file = tmp_path / "the match of ünal.html"

    def open_page(match: Document | str, address: str = "", **how: Any) -> Page:
        file.write_text(match if isinstance(match, str) else match_page(match_replay(match)), "utf-8")
        return watched.open(file.as_uri() + address, **how)

    yield open_page
    assert {url.partition("#")[0] for url in watched.asked} == {file.as_uri()}
