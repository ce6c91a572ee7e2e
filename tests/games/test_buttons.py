"""Buttons: what the published cases leave open, what always holds, and the known odds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import pytest
from builtin.buttons import STRATEGIES, bust_chance
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import BadOption, Dice, KeyedDice, RandomDice, ScriptedDice
from arena.games.buttons import (
    BACK,
    FRONT,
    HAS_BUST,
    HAS_QUIT,
    IN,
    OVER,
    PASS,
    PLACE,
    QUIT,
    ROLL,
    SIDE,
    STAR,
    TURN,
    Buttons,
    State,
    begin_round,
    red_holder,
)
from arena.games.buttons_board import COLOURS, active_cells, cell_set, cells, has_line, open_cells, reward
from arena.games.buttons_data import BOARDS

GAME = Buttons()
SEED = bytes(range(32))
CHEQUERED = "GRBYGRBYGRBY" * 3
"""Rows 1, 3, 5 are G R B Y G R; rows 2, 4, 6 are B Y G R B Y."""
CARDS = {2: ("RB", "YG"), 3: ("R", "B", "G"), 4: ("R", "B", "Y", "G")}
NO_DICE = ScriptedDice(())


def at(*places: tuple[int, int]) -> int:
    """The set of cells in these rows and columns."""
    return cell_set(6 * row + column - 7 for row, column in places)


def cell(row: int, column: int) -> int:
    return 6 * row + column - 7


def opening(seats: int = 2, **options: object) -> State:
    """The first turn of a match on chequered boards; seat 0 holds red."""
    state = GAME.start(seats, KeyedDice(SEED), GAME.options(options))
    chosen = state._replace(sides=((),) * seats, boards=(CHEQUERED,) * seats)
    return begin_round(chosen, CARDS[seats])


def roll(state: State, *faces: int) -> State:
    return GAME.apply(state, {state.active: ROLL}, ScriptedDice(faces))


def decide(state: State, **seats: int) -> State:
    """The state after decisions that roll nothing: `decide(state, s0=QUIT)`."""
    return GAME.apply(state, {int(seat[1:]): action for seat, action in seats.items()}, NO_DICE)


class Recorded(KeyedDice):
    """Dice that remember what was asked of them."""

    def __init__(self, seed: bytes) -> None:
        super().__init__(seed)
        self.rolls: list[tuple[str, int]] = []
        self.drawn: list[str] = []

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        self.rolls.append((key, count))
        return super().roll(key, count)

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        self.drawn.append(key)
        return super().draws(key, bounds)


class Step(NamedTuple):
    """A step of a match: the state, what was chosen, and the state after it."""

    before: State
    decisions: Mapping[int, int]
    after: State


def steps(seats: int, dice: Dice, source: random.Random, *, boldness: float = 0.5) -> Iterator[Step]:
    """A match of random choices, in which whoever may quit rolls with a chance of `boldness`."""
    state = GAME.start(seats, dice, GAME.options({}))
    while pending := GAME.pending(state):
        decisions = {
            seat: source.choices(legal, (boldness, 1 - boldness))[0] if QUIT in legal else source.choice(legal)
            for seat, legal in pending.items()
        }
        before, state = state, GAME.apply(state, decisions, dice)
        yield Step(before, decisions, state)


matches = given(
    seats=st.integers(2, 4),
    seed=st.binary(min_size=32, max_size=32),
    choices=st.integers(0, 10**6),
    boldness=st.floats(0.1, 0.95),
)


# --- Setup


def test_the_side_is_chosen_before_the_cards_are_dealt() -> None:
    """Nobody picks a side to suit a card, and all choose at once."""
    dice = KeyedDice(SEED)
    state = GAME.start(3, dice, GAME.options({}))
    assert (state.phase, state.cards) == (SIDE, ("", "", ""))
    assert GAME.pending(state) == dict.fromkeys(range(3), (FRONT, BACK))
    chosen = GAME.apply(state, {0: FRONT, 1: BACK, 2: FRONT}, dice)
    assert chosen.boards == (state.sides[0][0], state.sides[1][1], state.sides[2][0])


@pytest.mark.parametrize(
    ("seats", "boards", "cards"),
    [
        (2, (4, 1), ("RY", "BG")),
        (3, (4, 1, 3), ("R", "G", "B")),
        (4, (4, 1, 3, 2), ("R", "Y", "G", "B")),
    ],
)
def test_the_opening_of_a_known_seed(seats: int, boards: Sequence[int], cards: Sequence[str]) -> None:
    """Whoever writes these rules in another language compares the first dice with these."""
    dice = KeyedDice(SEED)
    state = GAME.start(seats, dice, GAME.options({}))
    fronts = [BOARDS[number - 1][0].replace(" ", "") for number in boards]
    assert [front for front, _ in state.sides] == fronts
    state = GAME.apply(state, dict.fromkeys(range(seats), FRONT), dice)
    assert (state.cards, state.starter) == (cards, 0)
    assert GAME.apply(state, {0: ROLL}, dice).dice == (5, 1, 6, 6, 6, 3)


@pytest.mark.parametrize(("seats", "hands"), [(2, [2, 2]), (3, [1, 1, 1]), (4, [1, 1, 1, 1])])
def test_every_deal_has_red_and_its_holder_begins(seats: int, hands: Sequence[int]) -> None:
    """With three players it is never red that is left out."""
    for number in range(50):
        dice = RandomDice(random.Random(number))
        state = GAME.start(seats, dice, GAME.options({}))
        state = GAME.apply(state, dict.fromkeys(range(seats), BACK), dice)
        assert [len(held) for held in state.cards] == hands
        assert len(set("".join(state.cards))) == sum(hands)
        assert "R" in state.cards[state.active]
        assert state.active == state.starter


def test_three_players_lack_each_other_colour_equally_often() -> None:
    """The card that stays in the box is drawn from blue, yellow and green."""
    missing = Counter[str]()
    for number in range(600):
        dice = RandomDice(random.Random(number))
        state = GAME.apply(GAME.start(3, dice, GAME.options({})), dict.fromkeys(range(3), FRONT), dice)
        missing.update(set(COLOURS) - set(state.cards))
    assert set(missing) == set("BYG")
    assert all(abs(count - 200) < 60 for count in missing.values())  # five standard deviations


def test_the_shipped_sides_are_fair() -> None:
    """Eight different ones, nine cells of each colour, one or two of each in every row and column."""
    sides = [side.split() for board in BOARDS for side in board]
    assert len({"".join(rows) for rows in sides}) == 8
    for rows in sides:
        assert Counter("".join(rows)) == dict.fromkeys(COLOURS, 9)
        for line in [*rows, *map("".join, zip(*rows, strict=True))]:
            assert all(1 <= line.count(colour) <= 2 for colour in COLOURS)


def test_dice_are_rolled_by_documented_keys() -> None:
    """A match can be re-checked die by die only if the keys are as the module says."""
    dice = Recorded(SEED)
    expected = []
    for before, decisions, _ in steps(3, dice, random.Random(4)):
        if decisions.get(before.active) == ROLL:
            expected.append((f"round/{before.round}/turn/{before.turn}", before.dice_left))
    assert dice.drawn == ["setup/boards", "setup/cards"]
    assert dice.rolls == expected
    assert len({key.split("/")[1] for key, _ in expected}) > 1


# --- Turns


def test_a_turn_counts_whether_it_rolled_or_quit() -> None:
    """The number is part of the dice key of the next roll."""
    state = decide(roll(opening(), 1, 1, 1, 1, 1, 1), s0=cell(1, 1), s1=cell(1, 1))
    assert (state.turn, state.active) == (1, 1)
    state = decide(state, s1=QUIT)
    assert (state.turn, state.active, state.dice_left) == (2, 0, 4)


def test_a_bust_takes_the_buttons_and_leaves_the_stars() -> None:
    """Stars of earlier rounds are safe."""
    state = opening()._replace(buttons=(at((2, 2)), 0), stars=(at((2, 3)), 0))
    bust = roll(state, 2, 2, 3, 1, 1, 3)
    assert bust.status[0] == HAS_BUST
    assert (bust.buttons[0], bust.stars[0]) == (0, at((2, 3)))


def test_the_others_use_a_roll_that_busts_its_roller() -> None:
    """Everybody may profit from the dice on the table; the roller is not asked."""
    bust = roll(opening()._replace(buttons=(at((2, 2)), 0)), 2, 2, 3, 1, 1, 3)
    assert GAME.pending(bust) == {1: (cell(2, 2), PASS)}
    assert decide(bust, s1=cell(2, 2)).buttons == (0, at((2, 2)))


def test_nobody_is_asked_after_a_bust_that_helps_nobody() -> None:
    """The next turn begins at once."""
    both = at((2, 2))
    after = roll(opening()._replace(buttons=(both, both)), 2, 2, 3, 1, 1, 3)
    assert (after.phase, after.active, after.dice) == (TURN, 1, ())


def test_stars_alone_can_bust_a_player_without_buttons() -> None:
    """There is nothing to take away, but the round is lost."""
    state = opening()._replace(stars=(at((2, 1), (2, 2), (2, 3)), 0))
    assert roll(state, 2, 1, 2, 3, 1, 2).status == (HAS_BUST, IN)


def test_a_passive_button_is_enough_to_quit() -> None:
    """One may leave a round without ever having rolled."""
    state = decide(roll(opening(), 1, 1, 1, 1, 1, 1), s0=cell(1, 1), s1=cell(1, 1))
    assert GAME.pending(state) == {1: (ROLL, QUIT)}
    passed = decide(roll(opening(), 1, 1, 1, 1, 1, 1), s0=cell(1, 1), s1=PASS)
    assert GAME.pending(passed) == {1: (ROLL,)}


def test_the_last_player_in_goes_on_alone() -> None:
    """It has turn after turn, and those who are out place nothing."""
    state = opening(3)._replace(status=(HAS_QUIT, IN, HAS_BUST), active=1, buttons=(1, 0, 0))
    rolled = roll(state, 6, 6, 6, 6)
    assert GAME.pending(rolled) == {1: (cell(6, 6),)}
    assert decide(rolled, s1=cell(6, 6)).active == 1


def test_turns_skip_those_who_are_out() -> None:
    """The dice go clockwise to the next one in."""
    state = opening(4)._replace(status=(IN, HAS_BUST, HAS_QUIT, IN), buttons=(1, 0, 1, 0))
    assert decide(state, s0=QUIT).active == 3


# --- Scoring


def scoring(*buttons: int, stars: Sequence[int] = (), **options: object) -> State:
    """Everybody has quit with these buttons but seat 0, whose QUIT ends the round."""
    seats = len(buttons)
    state = opening(seats, **options)._replace(
        buttons=buttons, stars=tuple(stars) or (0,) * seats, status=(IN, *(HAS_QUIT,) * (seats - 1))
    )
    return decide(state, s0=QUIT)


def test_quitters_place_their_stars_at_once_and_one_by_one() -> None:
    """Each decision is one star; who has more stars is asked more often."""
    state = scoring(at((1, 2), (1, 6), (2, 4)), at((1, 1), (3, 3)))
    assert (state.phase, state.due) == (STAR, (3, 1))
    assert GAME.pending(state) == {0: (cell(1, 2), cell(1, 6), cell(2, 4)), 1: (cell(1, 1), cell(3, 3))}
    state = decide(state, s0=cell(1, 6), s1=cell(3, 3))
    assert GAME.pending(state) == {0: (cell(1, 2), cell(2, 4))}


def test_a_round_of_busts_only_has_no_scoring() -> None:
    """Nobody has a star to place, and the red card goes on."""
    state = opening()._replace(status=(IN, HAS_BUST), stars=(at((1, 1)), at((1, 1))))
    after = roll(state, 1, 1, 1, 1)
    assert (after.phase, after.round, after.cards, after.active) == (TURN, 1, ("YG", "RB"), 1)
    assert after.stars == state.stars


def test_a_new_round_has_everybody_in_without_buttons() -> None:
    """Only stars and cards outlast a round."""
    state = scoring(at((1, 1), (3, 3)), at((1, 1)))
    after = decide(state, s0=cell(3, 3), s1=cell(1, 1))
    assert (after.round, after.turn, after.active, after.dice_left) == (1, 0, 1, 6)
    assert after.buttons == (0, 0)
    assert after.status == (IN, IN)
    assert after.stars == (at((3, 3)), at((1, 1)))


def test_a_line_ends_the_match_only_when_all_stars_are_placed() -> None:
    """Another seat's stars of the same round may be better."""
    row = at((5, 1), (5, 2), (5, 3), (5, 4))
    state = scoring(at((5, 5)), at((1, 2), (1, 6), (2, 4)), stars=(row, 0))
    state = decide(state, s0=cell(5, 5), s1=cell(1, 2))
    assert (state.phase, GAME.ranks(state)) == (STAR, (0, 1))
    state = decide(state, s1=cell(1, 6))
    assert (state.phase, GAME.pending(state)) == (OVER, {})


@pytest.mark.parametrize(
    ("stars", "ranks"),
    [
        ([at((1, 1), (1, 2), (1, 3), (1, 4)), 0xFFF00000, 0], (0, 1, 2)),
        ([at((1, 1), (1, 2), (1, 3), (1, 4)), at((2, 1), (2, 2), (2, 3), (2, 4), (6, 6)), 0], (1, 0, 2)),
        ([at((1, 1), (1, 2), (1, 3), (1, 4)), at((2, 1), (2, 2), (2, 3), (2, 4)), 0], (0, 0, 2)),
    ],
    ids=["line beats twelve", "longer of two lines", "equal lines share"],
)
def test_ranks(stars: Sequence[int], ranks: Sequence[int]) -> None:
    """A line beats none, then stars count, and who did not win ranks by the same."""
    ...
