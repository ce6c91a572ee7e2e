"""The site in a real browser: nothing on the console, nothing for axe to find, and it follows a ladder that plays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Page, expect

from ladder import store
from tests.referee.toy import Toy
from tests.site import everybody, homes
from tests.site.conftest import Watched
from tests.site.people import install_toy
from tests.site.test_viewer import BOARD
from tests.tournament import playing

pytestmark = pytest.mark.needs("chromium")

DOCUMENT = "/docs/docs/performance.md"
"""A page with tables of numbers."""
Visit: TypeAlias = Callable[..., Page]
"""Opens an address of the site; further arguments describe the browser."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a ladder, to which the test of the live page adds a bot."""
    folder = tmp_path_factory.mktemp("site") / "home"
    homes.make(folder)
    return folder


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    """Where its site is."""
    with homes.Served(home) as address:
        yield address


@pytest.fixture
def visit(watched: Watched, address: str) -> Iterator[Visit]:
    """Visit the site; in the end nothing was asked of another one."""
    yield lambda path, **how: watched.open(address + path, **how)
    assert all(url.startswith((address, "data:")) for url in watched.asked)


KINDS = ("front", "ladder", "seats", "matches", "bot", "match", "compare", "contents", "document")


def paths(home: Path) -> dict[str, str]:
    """Where there is a page of each kind."""
    with store.open_read(home) as db:
        (ladder,) = store.ladders.all(db)
        match = store.watching.latest_matches(db, 1)[0].id
    own = f"/ladder/{ladder.id}"
    compared = f"/compare?ladder={ladder.id}&a=ann&b=bob"
    pages = ("/", own, f"{own}/seats", f"{own}/matches", "/bot/ann", f"/match/{match}", compared, "/docs/", DOCUMENT)
    return dict(zip(KINDS, pages, strict=True))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_everybody_can_read_every_page(visit: Visit, home: Path, kind: str) -> None:
    """Nothing is wrong for a screen reader, no colour too faint, and a telephone shows all of it."""
    everybody.check(visit(paths(home)[kind]))


@pytest.mark.long
@pytest.mark.parametrize("board", ["", BOARD])
def test_a_game_from_elsewhere_has_all_pages(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: str
) -> None:
    """Its matches are shown by its picture, or drawn by the script that it brings."""
    monkeypatch.setattr(Toy, "board", board)
    install_toy(tmp_path / "installed", monkeypatch)
    homes.make(tmp_path / "home", game="toy")
    with homes.Served(tmp_path / "home") as address:
        for kind, path in paths(tmp_path / "home").items():
            page = watched.open(address + path)
            assert page.locator("h1").count() == 1, path
            assert everybody.barriers(page) == [], path
            if kind == "match":
                page.keyboard.press("End")
                assert page.locator("#board svg").count() == bool(board)
                assert page.locator("#board pre").count() == (not board)
                page.click("#check-dice")
                expect(page.locator("#verdict")).to_have_class("right")
        watched.close()  # while the site is there


def test_keys_reach_the_content_first(visit: Visit, home: Path) -> None:
    """Without the menu on the way, on every page."""
    for path in paths(home).values():
        page = visit(path)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "To the content"
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector(location.hash) !== null")


def test_pages_read_the_same_without_scripts(visit: Visit, home: Path) -> None:
    """The tables are there, and a match is told in words."""
    with store.open_read(home) as db:
        (ladder,) = store.ladders.all(db)
        match = store.watching.latest_matches(db, 1)[0]
    board = visit(f"/ladder/{ladder.id}", java_script_enabled=False)
    assert board.locator("#leaderboard tbody tr").count() == 3
    assert board.locator("#history svg polyline").count() >= 3
    assert visit(f"/match/{match.id}", java_script_enabled=False).locator("#steps li").count() > 10


def test_the_viewer_goes_through_a_match(visit: Visit, home: Path) -> None:
    """As in the page of one file, under a policy without inline scripts."""
    with store.open_read(home) as db:
        match = store.watching.latest_matches(db, 1)[0]
    page = visit(f"/match/{match.id}")
    page.keyboard.press("End")
    assert page.inner_text("#number") == page.inner_text("#count")
    page.click("#check-dice")
    expect(page.locator("#verdict")).to_have_class("right")


def test_what_a_board_says_has_a_line_for_each_thing(visit: Visit, home: Path) -> None:
    """Whose turn it is, who leads and what happened: below each other, with room for a sentence."""
    with store.open_read(home) as db:
        match = store.watching.latest_matches(db, 1)[0]
    page = visit(f"/match/{match.id}", viewport={"width": 1200, "height": 800})
    boxes = [line.bounding_box() for line in page.locator(".board-summary > div").all()]
    assert len(boxes) == 3
    assert all(box is not None and box["width"] > 400 for box in boxes)
    assert len({box["x"] for box in boxes if box is not None}) == 1


def test_a_section_appears_where_it_belongs(visit: Visit, home: Path) -> None:
    """Not at the end, when a page is brought up to date that did not have it yet."""
    with store.open_read(home) as db:
        (ladder,) = store.ladders.all(db)
    page = visit(f"/ladder/{ladder.id}")
    sections = "[...document.querySelectorAll('main > section')].map((section) => section.id)"
    before = page.evaluate(sections)
    every_second = "document.querySelectorAll('main > section:nth-of-type(2n)')"
    page.evaluate(f"{every_second}.forEach((section) => section.remove())")
    playing.make(home, "buttons", ("ann", "bob", "cid"), 3)
    expect(page.locator("main > section")).to_have_count(len(before))
    assert page.evaluate(sections) == before


def test_a_page_follows_a_ladder_that_plays(visit: Visit, home: Path) -> None:
    """The new bot appears by itself; the focus and what was scrolled stay where they were."""
    with store.open_read(home) as db:
        (ladder,) = store.ladders.all(db)
    page = visit(f"/ladder/{ladder.id}", viewport={"width": 500, "height": 800})
    page.evaluate("document.querySelector('#leaderboard .wide').scrollLeft = 60")
    page.focus("#leaderboard a[href='/bot/ann@1']")
    playing.make(home, "buttons", ("ann", "bob", "cid", "dot"), 1)
    expect(page.locator("#leaderboard tbody th a", has_text=re.compile("dot@1"))).to_be_visible(timeout=20_000)
    assert page.evaluate("document.activeElement.getAttribute('href')") == "/bot/ann@1"
    assert page.evaluate("document.querySelector('#leaderboard .wide').scrollLeft") == 60


def test_a_telephone_shows_points_and_forfeits_at_once(visit: Visit, home: Path) -> None:
    """They say most beside the rating; what is left out there is named, and a wider window shows it."""
    with store.open(home) as db:
        store.bots.rename(db, "ann", "A team with a rather long name")
    page = visit(paths(home)["ladder"], viewport={"width": 380, "height": 800})
    for column in ("Rank", "Bot", "Rating", "Points %", "Forfeits"):
        head = page.locator("#leaderboard th", has_text=column).first.bounding_box()
        assert head is not None, column
        assert head["x"] >= 0, column
        assert head["x"] + head["width"] <= 380, column
    expect(page.locator("#leaderboard th", has_text="sigma")).to_be_hidden()
    expect(page.get_by_text("A wider window shows mu")).to_be_visible()
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.locator("#leaderboard th", has_text="sigma")).to_be_visible()
