"""A published site opens in a browser from a folder, without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Page, expect

from arena.site.publishing import publish_site
from tests.site import everybody
from tests.site.conftest import Watched
from tests.site.test_publish import FEW, make

pytestmark = pytest.mark.needs("chromium")

Visit: TypeAlias = Callable[..., Page]
"""Opens a file of the site; further arguments describe the browser."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published site in which not all matches are, in a folder with a name that is not plain."""
    folder = tmp_path_factory.mktemp("site")
    make(folder / "home")
    publish_site(folder / "home", folder / "the site of ünal", FEW)
    return folder / "the site of ünal"


@pytest.fixture
def visit(watched: Watched, site: Path) -> Iterator[Visit]:
    """Visit the site; in the end nothing was asked but for files of the site."""
    yield lambda file, **how: watched.open((site / file).as_uri(), **how)
    assert all(url.startswith((site.as_uri(), "data:")) for url in watched.asked)


def test_clicks_lead_from_the_front_to_a_match(visit: Visit) -> None:
    """And back; the viewer works as on the site, and the dice are checked."""
    page = visit("index.html")
    page.click("#ladders a >> nth=0")
    page.click("text=More matches")
    expect(page.locator("h1")).to_contain_text("Matches of")
    page.click("section tbody th a >> nth=0")
    expect(page.locator("#board svg").first).to_be_visible()
    last = page.inner_text("#count")
    page.keyboard.press("End")
    expect(page.locator("#number")).to_have_text(last)
    page.click("#check-dice")
    expect(page.locator("#verdict")).to_have_class("right")
    page.click("nav .home")
    expect(page.locator("h1")).to_have_text("Ladders")


def test_every_kind_of_page_opens_without_a_word(visit: Visit, site: Path) -> None:
    """The policy allows the files of the site from a folder, too: styles apply, pictures are shown."""
    kinds = [
        "ladder/*.html",
        "ladder/*/*.html",
        "bot/*.html",
        "match/*/log/*.html",
        "docs/docs/site.html",
        "docs/*.html",
    ]
    for pattern in kinds:
        page = visit(str(next(site.glob(pattern)).relative_to(site)))
        assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "flex", pattern
    page = visit("docs/README.html")
    assert page.locator("img").count() > 0
    assert page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")


@pytest.mark.long
def test_everybody_can_read_it(visit: Visit, site: Path) -> None:
    """What is a link on the site only is no link for a screen reader either, and a telephone shows all of it.

    What pages have in common with those of the site is tested there.
    """
    for pattern in ["index.html", "ladder/*.html"]:
        everybody.check(visit(str(next(site.glob(pattern)).relative_to(site))))
