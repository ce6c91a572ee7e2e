"""A person plays in a real browser, with the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect

from arena import games
from tests.site import everybody, homes
from tests.site.conftest import Watched
from tests.site.people import ASKS, fake, install_toy, real, seat
from tests.tournament import programs

pytestmark = pytest.mark.needs("chromium")

Visit: TypeAlias = Callable[..., Page]
"""Opens an address of a site; further arguments describe the browser."""


@pytest.fixture
def visit(watched: Watched) -> Visit:
    """Visit sites."""
    return watched.open


def is_over(page: Page) -> bool:
    """Wait until the person is asked, or the match is over; return whether it is."""
    page.wait_for_selector("#actions button:enabled, #end:not([hidden])", timeout=60_000)
    return page.locator("#end").is_visible()


def choose_first(page: Page) -> None:
    """Type 1, and Enter where that is only the beginning of a number; wait until the choice is taken."""
    (question,) = page.evaluate("[document.querySelector('#actions').dataset.question]")
    page.keyboard.press("1")
    if page.locator("#actions li").count() > 9:
        page.keyboard.press("Enter")
    page.wait_for_function("question => document.querySelector('#actions').dataset.question !== question", arg=question)


@pytest.mark.long
@pytest.mark.timeout(600)  # up to a hundred choices, on a machine that may be ten times slower
@pytest.mark.parametrize("name", games.names())
def test_a_match_is_played_with_the_keyboard_alone(visit: Visit, tmp_path: Path, name: str) -> None:
    """From the front to the replay, whose dice are right. The page is loaded again on the way; the match goes on."""
    with homes.Served(tmp_path, real(tmp_path)) as address:
        page = visit(f"{address}/")
        page.get_by_role("link", name="Play", exact=True).press("Enter")
        page.get_by_role("link", name=games.game(name).title).press("Enter")
        page.get_by_label("Opponent 1").press("r")  # chooses random, by its beginning
        page.get_by_role("button", name="Play").press("Enter")
        choices = 0
        while not is_over(page):
            choose_first(page)
            choices += 1
            if choices == 3:
                page.reload()
        assert choices > 3
        expect(page.locator("#told")).to_contain_text(re.compile(r"1\. seat \d \((you|random)\), score"))
        page.get_by_role("link", name="Watch the match").press("Enter")
        page.get_by_role("button", name="Check the dice").press("Enter")
        expect(page.locator("#verdict")).to_have_class("right")


def test_a_game_from_elsewhere_is_played_by_its_picture(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one that hides something, only what the seat is shown is told: no dice, no scores, until it is over."""
    install_toy(tmp_path / "installed", monkeypatch)
    (tmp_path / "first.py").write_text(programs.FIRST)
    tables = real(tmp_path)
    table = tables.add(seat("toy", str(tmp_path / "first.py")))
    with homes.Served(tmp_path, tables) as address:
        page = visit(f"{address}/play/{table.name}")
        assert not is_over(page)
        assert page.inner_text("#board pre").startswith("fields {")
        assert page.inner_text("#board .turn").startswith("Turn: 0 you and 1 ")
        assert "Lead" not in page.inner_text("#board")
        choose_first(page)
        assert not is_over(page)
        assert page.locator("#happened p").count() == 2
        assert page.locator("#happened .roll").count() == 0
        while not is_over(page):
            choose_first(page)
        assert "The match is over. First: " in page.inner_text("#board .turn")
        assert page.locator("#happened .roll").count() == 1


KEEPS = [{"action": number, "name": f"keep {number}"} for number in range(1, 12)]
MANY = f"""
tell(question={{"number": 1, "choices": [*{KEEPS}, {{"action": 77, "name": "stop"}}]}})
sys.stdin.read()
"""


@pytest.fixture
def many(visit: Visit, tmp_path: Path) -> Iterator[Page]:
    """A table at which one is asked to choose one of twelve."""
    yield from at_table(visit, tmp_path, MANY)


@pytest.fixture
def few(visit: Visit, tmp_path: Path) -> Iterator[Page]:
    """A table at which one is asked to choose one of two."""
    yield from at_table(visit, tmp_path, ASKS)


def at_table(visit: Visit, home: Path, program: str, **how: Any) -> Iterator[Page]:
    """The page of a table whose process runs a program, when somebody is asked there."""
    tables = fake(program)
    table = tables.add(seat("birth", "random"))
    with homes.Served(home, tables) as address:
        page = visit(f"{address}/play/{table.name}", **how)
        page.wait_for_selector("#actions button:enabled")
        yield page
        page.close()


def shown(page: Page) -> list[str]:
    """The choices that are shown."""
    return page.locator("#actions li:visible").all_inner_texts()


def test_a_choice_is_found_by_what_is_typed(many: Page) -> None:
    """By the beginning of its number or its name; a digit goes into the field by itself. Escape empties it."""
    many.keyboard.press("1")
    assert shown(many) == ["1 keep 1", "10 keep 10", "11 keep 11", "12 stop"]
    many.keyboard.press("2")
    assert shown(many) == ["12 stop"]
    many.keyboard.press("Escape")
    assert len(shown(many)) == 12
    many.keyboard.type("keep  1")
    assert shown(many) == ["1 keep 1", "10 keep 10", "11 keep 11"]
    many.keyboard.type("x")
    assert (shown(many), many.inner_text("#hint")) == ([], "No choice begins like this.")


@pytest.mark.parametrize(
    ("typed", "action"), [("s", 77), ("STOP", 77), ("12", 77), ("keep 1", 1), ("1", 1), ("keep 11", 11)]
)
def test_enter_takes_what_is_meant(many: Page, typed: str, action: int) -> None:
    """A whole name or number, although others begin like it, or the only choice that begins like what is typed."""
    many.keyboard.type(typed)
    with many.expect_request("**/choice") as sent:
        many.keyboard.press("Enter")
    assert sent.value.post_data == f"question=1&action={action}"


ROLES = """
tell(question={"number": 1, "choices": [{"action": 128 + role, "name": f"role {3 - role}"} for role in range(3)]})
sys.stdin.read()
"""


def test_a_digit_of_a_name_is_no_choice(visit: Visit, tmp_path: Path) -> None:
    """Though one alone would be, where choices are few."""
    for page in at_table(visit, tmp_path, ROLES):
        page.keyboard.type("role 1")
        with page.expect_request("**/choice") as sent:
            page.keyboard.press("Enter")
        assert sent.value.post_data == "question=1&action=130"


def test_enter_takes_nothing_that_may_mean_several(many: Page) -> None:
    """But says so."""
    many.focus("#typed")
    many.keyboard.type("keep")
    many.keyboard.press("Enter")
    assert many.inner_text("#hint") == "Type more: several choices begin like this."
    assert len(shown(many)) == 11


def test_tab_and_enter_choose(few: Page) -> None:
    """The focus stays near what it was on, so that the next choice is as near."""
    few.focus("#typed")
    few.keyboard.press("Tab")
    few.keyboard.press("Enter")
    expect(few.locator("#actions[data-question='2']")).to_be_visible()
    assert few.evaluate("document.activeElement.id") == "state"


TALL = """
match = {"game": "toy", "title": "Toy", "options": {}, "bots": ["you", "random"], "seat": 0}
step = {"choices": [], "rolls": [], "events": [], "picture": "row\\n" * 80, "pending": [0], "over": False,
        "scores": ["0", "0"], "leaders": [], "view": {}}
tell(match=match, number=0, previous=None, step=step, news=[step])
"""


@pytest.mark.parametrize("width", [360, 1200])
def test_choices_are_in_sight_whatever_the_board_is_like(visit: Visit, tmp_path: Path, width: int) -> None:
    """Nobody scrolls at each decision, and half of the window is left for the board."""
    for page in at_table(visit, tmp_path, TALL + MANY, viewport={"width": width, "height": 740}):
        assert page.evaluate("document.documentElement.scrollHeight") > 1000
        choices, board = page.locator("#choices").bounding_box(), page.locator("#board").bounding_box()
        assert choices is not None
        assert board is not None
        assert choices["y"] + choices["height"] <= 740
        assert choices["y"] > 370 or choices["x"] > board["x"] + board["width"]


def test_a_question_mark_explains_the_keys(few: Page) -> None:
    """And hides that again."""
    few.keyboard.press("?")
    expect(few.locator("#keys p")).to_be_visible()
    few.keyboard.press("?")
    expect(few.locator("#keys p")).to_be_hidden()


def test_two_windows_show_the_same_match(few: Page) -> None:
    """What is chosen in one of them is chosen in the other."""
    other = few.context.new_page()
    other.goto(few.url)
    other.wait_for_selector("#actions button:enabled")
    few.keyboard.press("1")
    expect(other.locator("#actions[data-question='2']")).to_be_visible()


def test_who_leaves_can_play_something_else(few: Page) -> None:
    """With two steps, since it cannot be undone; whoever comes back reads what happened."""
    table = few.url
    few.get_by_text("Leave the match").click()
    few.get_by_role("button", name="Leave").click()
    expect(few).to_have_url(re.compile(r"/play$"))
    few.goto(table)
    expect(few.locator("#told")).to_have_text("You left the match: it is not kept.")
    few.get_by_role("button", name="Play again").click()
    few.wait_for_selector("#actions button:enabled")
    assert few.url != table


def test_a_screen_reader_hears_of_a_question_once(few: Page) -> None:
    """Not of every word that changes."""
    expect(few.locator("#said")).to_have_text("Your turn, 2 choices.")


HOSTILE = """
bad = "<img src=x onerror=document.title='gone'>"
match = {"game": "toy", "title": bad, "options": {}, "bots": [bad, bad], "seat": 0}
news = {"choices": [{"seat": 0, "action": 1, "name": bad, "forfeited": False, "ms": 1}], "rolls": [], "events": [bad]}
step = {**news, "picture": bad, "pending": [1], "over": False, "scores": ["0", "0"], "leaders": [0], "view": {}}
question = {"number": 1, "choices": [{"action": 1, "name": bad}]}
tell(match=match, number=1, previous={}, step=step, news=[news], question=question)
sys.stdin.readline()
tell(question=None, end={"told": [bad], "kept": None})
"""


def test_whatever_a_table_tells_is_text(visit: Visit, tmp_path: Path) -> None:
    """Names of bots are paths, and may be anything."""
    for page in at_table(visit, tmp_path, HOSTILE):
        page.keyboard.press("1")
        expect(page.locator("#told")).to_contain_text("<img src=x")
        assert page.locator("img").count() == 0
        assert page.title() == "Play BIRTH – arena"


def test_without_scripts_the_page_says_what_it_needs(visit: Visit, tmp_path: Path) -> None:
    """The form works, the table cannot."""
    with homes.Served(tmp_path, fake(ASKS)) as address:
        page = visit(f"{address}/play", java_script_enabled=False)
        page.get_by_role("button", name="Play").click()
        assert "Playing needs JavaScript" in page.inner_text("main")
        assert "starting" not in page.inner_text("main")


def test_a_lost_connection_comes_back(browser: Browser, tmp_path: Path) -> None:
    """The page says that it is lost, and goes on by itself."""
    tables = fake(ASKS)
    table = tables.add(seat("birth", "random"))
    with homes.Served(tmp_path, tables) as address:
        page = browser.new_page()
        page.route("**/events", lambda route: route.abort())
        page.goto(f"{address}/play/{table.name}")
        expect(page.locator("#lost")).to_be_visible()
        page.unroute("**/events")
        page.wait_for_selector("#actions button:enabled")
        expect(page.locator("#lost")).to_be_hidden()
        page.close()


@pytest.mark.long
def test_everybody_can_play(visit: Visit, tmp_path: Path) -> None:
    """Nothing is wrong for a screen reader, no colour too faint, and a telephone shows all of it."""
    with homes.Served(tmp_path, real(tmp_path)) as address:
        page = visit(f"{address}/play?game=burning-desire")
        everybody.check(page)
        page.get_by_role("button", name="Play").click()
        assert not is_over(page)
        choose_first(page)
        assert not is_over(page)
        page.keyboard.press("?")
        page.get_by_text("Leave the match").click()
        everybody.check(page)
        table = page.url
        page.get_by_role("button", name="Leave").click()
        page.goto(table)
        expect(page.locator("#told")).to_be_visible()
        everybody.check(page)
