"""The viewer in a real browser: keys, address, dice, and that everybody can read it."""

from __future__ import annotations

import hashlib
import re

import msgspec
import pytest
from playwright.sync_api import Page, expect

from arena import games
from arena.replay.document import Allowed, Document
from arena.reports.replay_report import match_replay
from arena.site.page_shell import match_page
from tests.referee.toy import Toy
from tests.site import everybody, matches
from tests.site.conftest import Open

pytestmark = pytest.mark.needs("chromium")

BUTTONS = matches.exported("buttons-3")
LAST = 85
"""Number of its last step."""


def step(page: Page) -> int:
    """The number of the step that is shown."""
    return int(page.inner_text("#number"))


# --- Going through a match


def test_keys_go_through_the_match(opened: Open) -> None:
    """One step, one event, and to either end; not beyond them."""
    page = opened(BUTTONS)
    keys = ["ArrowRight", "ArrowRight", "ArrowLeft", "Shift+ArrowRight", "End", "ArrowRight", "Shift+ArrowLeft", "Home"]
    seen = []
    for key in keys:
        page.keyboard.press(key)
        seen.append(step(page))
    assert seen == [1, 2, 1, 11, LAST, LAST, 84, 0]


def test_every_key_has_a_button(opened: Open) -> None:
    """For those who have no keyboard, or a screen reader that needs the arrows itself."""
    page = opened(BUTTONS)
    seen = []
    for name in ("forward", "forward", "back", "event-after", "last", "event-before", "first"):
        page.click(f"#{name}")
        seen.append(step(page))
    assert seen == [1, 2, 1, 11, LAST, 84, 0]


def test_the_address_names_the_step(opened: Open) -> None:
    """So a step can be shown to others; an address in an open page leads there, too."""
    page = opened(BUTTONS, "#step=37")
    assert step(page) == 37
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#step=38")
    page.evaluate("location.hash = '#step=5'")
    expect(page.locator("#number")).to_have_text("5")
    assert step(opened(BUTTONS, "#step=1000000")) == LAST
    assert step(opened(BUTTONS, "#step=here")) == 0


def test_an_address_of_something_else_in_the_page_stays(opened: Open) -> None:
    """Whoever jumps over the menu, or is sent to the dice, finds the address that they followed."""
    page = opened(BUTTONS, "#check")
    expect(page.locator("#said")).to_have_text(re.compile(r"^Step 0\. "))
    assert page.url.endswith("#check")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#step=1")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**#step=0")


def test_steps_and_slider_lead_to_a_step(opened: Open) -> None:
    """The list of steps is a list of links, and the slider lies on the scores of all steps."""
    page = opened(BUTTONS)
    page.click("#steps a >> text='7'")
    expect(page.locator("#number")).to_have_text("7")
    assert page.locator("#steps li[aria-current=step]").inner_text().startswith("7 ")
    page.fill("#slider", "20")
    assert step(page) == 20


def test_it_plays_to_the_end_and_stops(opened: Open) -> None:
    """Space plays and pauses; at the end it begins anew."""
    page = opened(BUTTONS, f"#step={LAST - 2}")
    page.select_option("#speed", "20")
    page.evaluate("document.activeElement.blur()")  # in a list of speeds a space would choose
    page.keyboard.press("Space")
    expect(page.locator("#number")).to_have_text(str(LAST))
    expect(page.locator("#play")).to_have_text("Play")
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Pause")
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Play")
    assert step(page) < LAST


def test_a_step_says_who_chose_what_and_how_the_players_stand(opened: Open) -> None:
    """In the words of the document: names, times, dice and their keys, events, and what was printed."""
    page = opened(matches.hostile(), "#step=2")
    assert re.search(r"chooses roll in \d+\.\d ms", page.inner_text("#happened"))
    assert "round/0/turn/0" in page.inner_text("#happened")
    page.keyboard.press("End")
    rows = page.locator("#players tbody tr")
    assert [rows.nth(seat).locator("td").last.inner_text() for seat in range(3)] == [
        "place 3, forfeited: crash",
        "place 1",
        "place 2, forfeited: crash",
    ]


def test_a_seat_that_was_slow_has_less_in_its_bank(opened: Open) -> None:
    """From the step on in which it took longer than its limit; of the others nothing is said."""
    match = matches.exported("birth-2")
    times = ((5000.0, *match.times_ms[0][1:]), match.times_ms[1])
    page = opened(msgspec.structs.replace(match, times_ms=times, limits=(Allowed(0.1, 10.0),) * 2))
    standings = page.locator("#players tbody tr td:last-child")
    assert "bank" not in " ".join(standings.all_inner_texts())
    page.keyboard.press("End")
    slow, quick = standings.all_inner_texts()
    assert "6.00 s left in the bank" in slow
    assert "bank" not in quick
    assert "Limit of a decision 0.1 s, ten times that for the first one, bank 10 s." in page.inner_text("footer")


def test_what_bots_say_is_text(opened: Open) -> None:
    """Nothing that they print is run or becomes part of the page."""
    page = opened(matches.hostile())
    assert page.inner_text("#happened pre") == "\n".join(matches.HARMLESS)
    assert page.locator("b").count() == 0
    assert page.title() != "gone"


def test_a_key_shows_the_next_board_within_50_milliseconds(opened: Open) -> None:
    """Also in a match of 500 steps: whoever holds a key down sees every step.

    Counted is the processor time of the whole process that draws the page: it says what a step costs, whatever else
    the machine does meanwhile.
    """
    page = opened(matches.random_match("burning-desire", ["a", "b", "c", "d"]))
    assert int(page.inner_text("#count")) >= 500
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")

    def used() -> float:
        """Processor time of the page's process, in milliseconds."""
        metrics = devtools.send("Performance.getMetrics")["metrics"]
        return 1000 * float(next(metric["value"] for metric in metrics if metric["name"] == "ProcessTime"))

    keys, begun = 40, used()
    for _ in range(keys):
        page.keyboard.press("ArrowRight")
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
    assert step(page) == keys
    assert (used() - begun) / keys < 50


@pytest.mark.parametrize("name", matches.NAMES)
def test_every_step_of_a_match_has_a_board(opened: Open, name: str) -> None:
    """That says whose turn it is, who leads and what happened just now; also where seats have forfeited."""
    page = opened(matches.exported(name))
    lines = page.evaluate("""() => Array.from({ length: Number(document.getElementById("count").textContent) }, () => {
        document.getElementById("forward").click();
        return [...document.querySelectorAll("#board dl dd")].map((line) => line.innerText);
    })""")
    assert all(len(turn_lead_news) == 3 and all(turn_lead_news) for turn_lead_news in lines)


NEWS = """() => [...document.querySelectorAll("#steps li")].map((_, step) => {
    document.getElementById(step ? "forward" : "first").click();
    return document.querySelector("#board .news-line dd").innerText;
})"""
"""What the board says of each step."""
SAME = {
    "birth": [("Birth:", "Birth:"), ("Break:", "Break:")],
    "burning-desire": [
        ("all is lost", "multiplies by 0"),
        ("has reached", "reaches the goal"),
        ("The lead is shared", "are tied"),
    ],
    "buttons": [("busts", "busts"), (r"Round (?!1 )\d+ begins", r"round \d+ begins"), ("five stars", "five stars")],
}
"""By game: what its board says whenever its rules have an event that says so."""
EVENTFUL = [
    matches.random_match("birth", ["a", "b", "c"]),
    matches.random_match("burning-desire", ["a", "b", "c", "d", "e"], goal=100),  # two of them tie
    matches.random_match("buttons", ["a", "b", "c"]),
]


@pytest.mark.parametrize("match", EVENTFUL, ids=lambda match: match.game)
def test_the_board_tells_the_events_of_the_rules(opened: Open, match: Document) -> None:
    """Both find out by themselves what a step meant: the one from views, the other from states."""
    news = opened(match).evaluate(NEWS)
    events = ["; ".join(step.events) for step in match_replay(match).steps]
    for board, rules in SAME[match.game]:
        assert [bool(re.search(board, text)) for text in news] == [bool(re.search(rules, text)) for text in events]


def test_no_round_begins_when_forfeits_end_the_match(opened: Open) -> None:
    """While the sides of the boards are chosen, for instance."""
    page = opened(matches.unplayed("buttons-2", step=0), "#step=1")
    assert page.inner_text("#board .news-line dd") == "Seat 0 forfeited: crash."


def test_a_match_that_nobody_played_has_a_board(opened: Open) -> None:
    """Of its only step, in which it begins and ends; there is nowhere to go from it."""
    page = opened(matches.unplayed("buttons-2"))
    page.keyboard.press("ArrowRight")
    assert step(page) == 0
    assert page.inner_text("#board .turn-line dd") == "The match is over."
    assert "Seat 0 forfeited: start." in page.inner_text("#board .news-line dd")
    assert verdict(page).startswith("✓ Right: ")


def test_a_match_of_many_steps_is_shown(opened: Open) -> None:
    """A browser takes no more than some 100,000 arguments in one call."""
    more, page = 70_000, match_page(match_replay(matches.unplayed("birth-2")))
    page = page.replace("</ol>", "<li></li>" * more + "</ol>")
    page = re.sub(r'("steps":\[.*\])(?=\}</script>)', lambda steps: steps[1][:-1] + ",{}" * more + "]", page)
    shown = opened(page, f"#step={more}")
    assert step(shown) == more
    assert shown.inner_text("#board .turn-line dd") == "The match is over."
    assert shown.locator("#graph polyline").count() == 2


# --- The dice

LONG_TEXT = (
    b"This is a test using a larger than block-size key and a larger than block-size data. "
    b"The key needs to be hashed before being used by the HMAC algorithm."
)
VECTORS = [
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (b"\xaa" * 20, b"\xdd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    (bytes(range(1, 26)), b"\xcd" * 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (b"\xaa" * 131, LONG_TEXT, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
]
"""Key, text and digest of RFC 4231, test cases 1 to 4, 6 and 7; case 5 only cuts a digest off."""


def test_the_hash_is_the_one_that_is_published(opened: Open) -> None:
    """The page brings its own, since browsers have none on a page that came by plain http."""
    page = opened(BUTTONS)
    hashed = "([key, text]) => [...arenaDice.hmac(Uint8Array.from(key), Uint8Array.from(text))]"
    for key, text, digest in VECTORS:
        assert bytes(page.evaluate(hashed, [list(key), list(text)])).hex() == digest
    for length in (0, 55, 56, 63, 64, 200):
        found = page.evaluate("(text) => [...arenaDice.sha256(Uint8Array.from(text))]", [7] * length)
        assert bytes(found) == hashlib.sha256(b"\x07" * length).digest()


def verdict(page: Page) -> str:
    page.click("#check-dice")
    return page.inner_text("#verdict")


@pytest.mark.parametrize("name", ["birth-3", "burning-desire-4", "buttons-3"])
def test_the_dice_of_a_match_are_right(opened: Open, name: str) -> None:
    """Faces of dice, and the draws of a shuffle."""
    assert verdict(opened(matches.exported(name))).startswith("✓ Right: ")


@pytest.mark.parametrize(
    ("now", "then", "found"),
    [
        ('"numbers":[1,4,1,6,5,2]', '"numbers":[1,4,1,6,5,3]', "the dice round/0/turn/0 should be"),
        ('"commitment":"', '"commitment":"0', "the commitment should be"),
        ('"seed":"', '"seed":"00', "the commitment should be"),
        ('"scores":["7","5","5"],"ranks"', '"scores":["8","5","5"],"ranks"', "the scores should be"),
    ],
)
def test_the_first_difference_is_named(opened: Open, now: str, then: str, found: str) -> None:
    """Whoever changes a number in the file is found out."""
    page = match_page(match_replay(BUTTONS))
    assert now in page
    assert verdict(opened(page.replace(now, then, 1))).startswith(f"✗ Wrong: {found}")


# --- For everyone


@pytest.mark.long
@pytest.mark.parametrize("name", ["birth-3", "burning-desire-4", "buttons-3"])
def test_everybody_can_use_it(opened: Open, name: str) -> None:
    """axe-core finds no barrier, and nothing is wider than the window."""
    page = opened(matches.exported(name), "#step=30")
    page.click("#check-dice")
    everybody.check(page)


def test_it_reads_without_a_script(opened: Open) -> None:
    """Players, outcome, and all steps in words; nothing that would not work."""
    page = opened(BUTTONS, java_script_enabled=False)
    assert page.locator("#steps li").count() == LAST + 1
    assert page.is_visible("#players table")
    assert not page.is_visible("#viewer")
    assert not page.is_visible("button")


def test_a_screen_reader_hears_of_a_step_when_it_stands_still(opened: Open) -> None:
    """Not of each that rushes by."""
    page = opened(BUTTONS)
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#said")).to_have_text(re.compile(r"^Step 10\. "))


BOARD = """arenaBoards.toy = ({ view }, { bots }) =>
  arenaSvg.picture("toy", 100, 20, "The dice", arenaSvg.svg("text", { y: 15 }, `${bots[0]}: ${view.rolls.length}`));"""


def test_a_game_from_elsewhere_may_bring_its_board(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn by the script of its package, which the page allows like its own."""
    monkeypatch.setattr(Toy, "board", BOARD)
    monkeypatch.setattr(games, "game", lambda _: Toy())
    page = opened(matches.random_match("toy", ["<b>", "b"]))
    page.keyboard.press("End")
    assert page.inner_html("#board").startswith("<svg")
    assert page.locator("#board text").text_content() == "<b>: 4"


def test_a_game_from_elsewhere_is_shown_by_its_picture(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """With whose turn it is and who leads; all else works as for the arena's own games."""
    monkeypatch.setattr(games, "game", lambda _: Toy())
    document = matches.random_match("toy", ["a", "b", "c", "d", "e", "f"])
    page = opened(document)
    assert page.inner_text("#board") == "Turn: 0 a, 1 b, 2 c, 3 d, 4 e and 5 f\nLead: nobody\n\n()"
    page.keyboard.press("End")
    faces = [roll.numbers[0] for roll in document.dice]
    assert page.inner_text("#board pre") == str(tuple(faces))
    assert step(page) == len(faces)
    assert verdict(page).startswith("✓ Right: ")
    assert everybody.barriers(page) == []
