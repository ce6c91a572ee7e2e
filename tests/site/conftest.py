"""A real browser, in which the tests of pages look for what people would see."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from arena.replay.document import Document
from arena.reports.replay import match_replay
from arena.site.page import match_page

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


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open pages of matches; in the end none has said anything on its console, or asked for another file."""
    said: list[str] = []
    asked: set[str] = set()
    file = tmp_path / "the match of ünal.html"
    contexts = []

    def open_page(match: Document | str, address: str = "", **how: Any) -> Page:
        file.write_text(match if isinstance(match, str) else match_page(match_replay(match)), "utf-8")
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.add(request.url))
        page.goto(file.as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked} == {file.as_uri()}
