"""What a page must be for everybody: with a screen reader, on a telephone and on a wide screen, by day and by night."""

from __future__ import annotations

from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WINDOWS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((360, "light"), (800, "dark"), (1600, "light"))
"""Pixels of a telephone, a tablet and a wide screen, by day or by night: no colour depends on the width."""
TWICE = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    return ids.filter((id, index) => ids.indexOf(id) !== index);
}"""
"""Which ids more than one element has: links, labels and styles would find the wrong one."""
WITHOUT_STYLES = {"preload": False}
"""Axe would fetch them, which the policy of a page forbids."""


def check(page: Page) -> None:
    """Let axe look at a page in all these windows; nothing of it is wider than the window."""
    assert page.evaluate(TWICE) == [], page.url
    for width, scheme in WINDOWS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        wrong = barriers(page)
        assert not wrong, f"{page.url}, {scheme}, {width} pixels: {wrong}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{page.url}, {width} pixels"


def barriers(page: Page) -> list[tuple[str, str]]:
    """What axe finds as the page is now, with the elements that it concerns."""
    violations = Axe().run(page, options=WITHOUT_STYLES).response["violations"]
    return [(each["id"], node["html"]) for each in violations for node in each["nodes"]]
