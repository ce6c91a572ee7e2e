"""Boards tell more than their step: how points came about, what was rolled last, what is new, why the winner won."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from playwright.sync_api import Page, expect

from arena.games.burning_desire_dice import MULTIPLIERS, ROLES, Role, score
from arena.reports.replay_report import MatchReplay, ReplayStep, match_replay
from tests.site import homes, matches
from tests.site.conftest import Open, Watched
from tests.site.people import fake, seat

pytestmark = pytest.mark.needs("chromium")

SEEN = """(selector) => [...document.querySelectorAll("#steps li")].map((_, step) => {
    document.getElementById(step ? "forward" : "first").click();
    return [...document.querySelectorAll(`#board ${selector}`)].map((found) => found.textContent);
})"""


def seen(page: Page, selector: str) -> list[list[str]]:
    """What the board has at each step: the texts of what the selector finds."""
    found: list[list[str]] = page.evaluate(SEEN, selector)
    return found


# --- Burning Desire


class Hand(NamedTuple):
    """What a turn ended with; the factors are those of all multiplications."""

    role: Role
    dice: Sequence[int]
    factors: Sequence[int]

    def words(self) -> str:
        """How the points came about, as in `role 2–3: 100 ×1×3 = 300 points`."""
        base = score(self.role, self.dice)
        points = base * prod(self.factors)
        product = f"{base} {''.join(f'×{factor}' for factor in self.factors)} = " if self.factors else ""
        return f"role {self.role.name.replace('-', '–')}: {product}{points} points"

    def captions(self) -> list[str]:
        """What stands below each die: whether it counts and, below the bonus die, what it adds."""
        *ordinary, _ = self.dice
        without = score(self.role, (*ordinary, 0))
        bonus = score(self.role, self.dice) - without
        return [*("counts" if face in self.role.faces else "" for face in ordinary), f"+{bonus}" if bonus else ""]


def hands(steps: Sequence[ReplayStep]) -> Iterator[Hand | None]:
    """Yield for each step the hand of the turn that ended in it, if one did."""
    yield None
    role, factors = ROLES[0], list[int]()
    for before, step in pairwise(steps):
        role = next((each for each in ROLES if f"role {each.name}" == step.choices[0].name), role)
        for roll in step.rolls:
            if "/multiply/" in roll.key:
                factors += [sides[face - 1] for sides, face in zip(MULTIPLIERS, roll.numbers, strict=True)]
        if step.over or any(roll.key.endswith("/roll/0") for roll in step.rolls):
            yield Hand(role, (*before.view["dice"], before.view["bonus"]), factors)
            factors = []
        else:
            yield None


LUCKY = matches.random_match("burning-desire", ["a", "b", "c", "d", "e"], goal=100)
"""A match with many multiplications."""


def test_the_hand_of_a_turn_that_ended_shows_how_its_points_came_about(opened: Open) -> None:
    """Its role and the multiplier dice may be of steps long before, and no total tells them."""
    ended = list(hands(match_replay(LUCKY).steps))
    assert any(hand and len(hand.factors) > 2 for hand in ended)
    lines = seen(opened(LUCKY), ".is-past .hand-line")
    assert [[line.partition(" scored ")[2] for line in each] for each in lines] == [
        [hand.words()] if hand else [] for hand in ended
    ]


def test_the_hand_of_a_turn_that_ended_marks_the_dice_that_counted(opened: Open) -> None:
    """In words, below each."""
    captions = seen(opened(LUCKY), ".is-past .caption")
    assert [each[:7] for each in captions] == [
        hand.captions() if hand else [] for hand in hands(match_replay(LUCKY).steps)
    ]


TOLD = """
for number, state in enumerate(json.load(open({file!r})), 1):
    tell(**state, question={{"number": number, "choices": [{{"action": 0, "name": "go on"}}]}})
    sys.stdin.readline()
"""


def told(match: MatchReplay, numbers: Sequence[int]) -> bytes:
    """What `arena play --lines` tells of steps that are all choices of the person: each is the only news."""
    about = {"game": match.game, "title": match.title, "options": {}, "bots": match.bots, "seat": 0}
    states = [
        {"match": about, "number": number, "step": step, "previous": match.steps[number - 1].view, "news": [step]}
        for number in numbers
        for step in [match.steps[number]]
    ]
    return msgspec.json.encode(states)


@pytest.mark.parametrize("is_gap", [False, True])
def test_a_page_of_a_table_remembers_what_led_to_the_points(watched: Watched, tmp_path: Path, is_gap: bool) -> None:
    """It is told only what is new since the person's last choice, which may have been the multiplication.

    A choice that it was never told of, since another window was in front, may have been any: then it says less.
    """
    match = match_replay(LUCKY)
    last, hand = next((step, hand) for step, hand in enumerate(hands(match.steps)) if hand and len(hand.factors) == 2)
    numbers = [last - 3, last - 2, *([] if is_gap else [last - 1]), last]
    file = tmp_path / "states.json"
    file.write_bytes(told(match, numbers))
    tables = fake(TOLD.format(file=str(file)))
    table = tables.add(seat("burning-desire", "a", "b", "c", "d"))
    with homes.Served(tmp_path, tables) as address:
        page = watched.open(f"{address}/play/{table.name}")
        for number in range(1, len(numbers)):
            page.wait_for_selector(f"#actions[data-question='{number}'] button:enabled")
            page.keyboard.press("1")
        words = hand.words().rpartition(" = ")[2] if is_gap else hand.words()
        expect(page.locator("#board .is-past .hand-line")).to_contain_text(f" scored {words}")
        page.close()


# --- Buttons

BUTTONS = matches.exported("buttons-3")


def test_the_last_roll_is_shown_with_whose_it_was(opened: Open) -> None:
    """Also when its buttons lie on the boards already; before the first roll there is nothing to show."""
    page = opened(BUTTONS)
    heads = ["".join(texts).removeprefix(" · ") for texts in seen(page, ".buttons-dice .muted")]
    shown = [[head, *uses] if head else [] for head, uses in zip(heads, seen(page, ".dice-use"), strict=True)]
    assert shown == list(last_rolls(match_replay(BUTTONS).steps))


def last_rolls(steps: Sequence[ReplayStep]) -> Iterator[Sequence[str]]:
    """Say for each step what was rolled last, and by whom."""
    whose, uses = "", list[str]()
    for step in steps:
        rolls = [roll.numbers for roll in step.rolls if roll.key.startswith("round/")]
        for row, gold, *_ in rolls:
            whose = f"seat {step.choices[0].seat}"
            uses = [f"row {row}", f"column {gold} for all", f"columns for {whose}"]
        is_on_the_table = rolls or step.view["phase"].endswith("PLACE")
        yield [f"rolled by {whose}" if is_on_the_table else f"last roll, by {whose}", *uses] if whose else []


LINE, OTHER_LINE = [0, 1, 2, 3, 4], [5, 11, 17, 23, 29]
TWELVE = [0, 2, 4, 7, 9, 11, 12, 14, 16, 19, 21, 23]
"""Cells with stars, of which no two are neighbours."""


@pytest.mark.parametrize(
    ("stars", "leaders", "forfeited", "says"),
    [
        ([LINE, TWELVE], [0], [], "Seat 0 wins with a line, which beats any number of stars."),
        ([LINE, [*OTHER_LINE, 0]], [1], [], "Seat 1 wins with the most stars of those that have a line."),
        ([LINE, OTHER_LINE, TWELVE], [0, 1], [], "Seats 0 and 1 win with a line, which beats any number of stars."),
        ([[0], TWELVE], [1], [], "Seat 1 has 12 stars. Seat 1 wins with the most stars."),
        ([LINE, [0], [0, 2]], [2], [0], "Seat 2 wins with the most stars, of those that did not forfeit."),
        ([[0], [0, 2]], [1], [], "The last round is over. Seat 1 wins with the most stars."),
    ],
)
def test_the_end_says_why_the_winner_won(
    opened: Open, stars: Sequence[Sequence[int]], leaders: Sequence[int], forfeited: Sequence[int], says: str
) -> None:
    """Who has fewer stars may have won, by a line or since others forfeited."""
    seats = [{"board": "R" * 36, "stars": cells, "status": "BUTTONS_STATUS_QUIT"} for cells in stars]
    over = {"phase": "BUTTONS_PHASE_OVER", "seats": seats}
    step = {
        "view": over,
        "previous": {**over, "phase": "BUTTONS_PHASE_STAR"},
        "earlier": [],
        "choices": [],
        "rolls": [],
        "pending": [],
        "over": True,
        "scores": [len(cells) for cells in stars],
        "leaders": leaders,
        "forfeits": [{"seat": seat, "reason": "crash", "step": 1} for seat in forfeited],
    }
    page = opened(matches.exported("buttons-2"))
    table = {"bots": ["a"] * len(stars), "seats": len(stars)}
    board = "([step, table]) => arenaBoards.buttons(step, table).querySelector('.news-line dd').textContent"
    assert page.evaluate(board, [step, table]).endswith(says)


# --- BIRTH

BIRTH = matches.random_match("birth", ["a", "b", "c"])


def test_placed_and_rolled_dice_have_marks_of_their_own(opened: Open) -> None:
    """One is the die that was placed just now; the other are all dice that a Birth or a Break rolled again."""
    steps, page = match_replay(BIRTH).steps, opened(BIRTH)
    births, breaks = ([rolled(step, kind) for step in steps] for kind in ("birth", "break"))
    assert any(births)
    assert any(breaks)
    assert counted(page, ".birth-ring .is-rolled") == births
    assert counted(page, ".board-seat .is-rolled") == breaks
    assert counted(page, ".is-new") == [0, *(int(not birth) for birth in births[1:])]


def rolled(step: ReplayStep, kind: str) -> int:
    """The number of dice that a Birth or a Break rolled."""
    return sum(len(roll.numbers) for roll in step.rolls if roll.key.endswith(f"/{kind}"))


def counted(page: Page, selector: str) -> list[int]:
    """How often the board has at each step what the selector finds."""
    return list(map(len, seen(page, selector)))


def test_the_turns_that_are_over_are_counted_from_the_beginning_to_the_end(opened: Open) -> None:
    """A number that is of the next turn, and at the end of the last one, would mean two things."""
    lines = [line for (line,) in seen(opened(BIRTH), ".board-columns .muted")]
    assert [line.partition(".")[0] for line in lines] == [f"{turn} of 33 turns are over" for turn in range(34)]
