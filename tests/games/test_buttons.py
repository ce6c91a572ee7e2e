"""Buttons: what the published cases leave open, what always holds, and the known odds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import pytest
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
)
from arena.games.buttons_board import COLOURS, active_cells, cell_set, cells, has_line, open_cells, reward
from arena.games.buttons_data import BOARDS
from arena.games.rules import remark
from builtin.buttons import STRATEGIES
from builtin.buttons.simple import bust_chance

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
    assert GAME.pending(decide(rolled, s1=cell(6, 6))) == {1: (ROLL, QUIT)}


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


ROW = at((1, 1), (1, 2), (1, 3), (1, 4), (1, 5))
COLUMN = at((2, 6), (3, 6), (4, 6), (5, 6), (6, 6))
SIX = ROW | at((1, 6))
TWELVE = at(*product((1, 2, 4, 5), (1, 3, 5)))


@pytest.mark.parametrize(
    ("stars", "ranks"),
    [
        ((ROW, TWELVE), (0, 1)),
        ((ROW, SIX, TWELVE), (1, 0, 2)),
        ((0, TWELVE, COLUMN, ROW), (3, 2, 0, 0)),
        ((TWELVE, TWELVE | at((6, 6))), (1, 0)),
        ((TWELVE, at((6, 6)), TWELVE), (0, 2, 0)),
    ],
    ids=["line beats twelve", "six beat five", "equal lines tie", "thirteen beat twelve", "twelves tie"],
)
def test_a_line_ranks_above_none_and_then_the_stars_count(stars: tuple[int, ...], ranks: Sequence[int]) -> None:
    """The same order decides among winners and among the others."""
    assert GAME.ranks(opening(len(stars))._replace(stars=stars)) == tuple(ranks)


@pytest.mark.parametrize(("stars", "ranks"), [((at((6, 6)), 0), (0, 1)), ((0, 0), (0, 0))])
def test_the_last_round_ends_the_match_whatever_happened(stars: tuple[int, int], ranks: Sequence[int]) -> None:
    """Bots that never quit must not keep the arena busy for ever; most stars win, equal ones share."""
    state = opening(max_rounds=2)._replace(status=(IN, HAS_BUST), stars=stars)
    second = roll(state._replace(stars=(at((1, 1)), at((1, 1)))), 1, 1, 1, 1)
    assert (second.phase, second.round) == (TURN, 1)
    last = state._replace(round=1, stars=(stars[0] | at((1, 1)), stars[1] | at((1, 1))))
    end = roll(last, 1, 1, 1, 1)
    assert (end.phase, GAME.pending(end), GAME.ranks(end)) == (OVER, {}, tuple(ranks))


# --- What always holds


@matches
@settings(max_examples=30, deadline=None)
def test_boards_and_dice_stay_possible(seats: int, seed: bytes, choices: int, boldness: float) -> None:
    """No button touches another or lies on a star, and whoever is out has taken its dice."""
    for _, _, state in steps(seats, KeyedDice(seed), random.Random(choices), boldness=boldness):
        for buttons, stars, status in zip(state.buttons, state.stars, state.status, strict=True):
            assert not any(touch(one, other) for one in cells(buttons) for other in cells(buttons))
            assert not buttons & stars
            assert not (buttons and status == HAS_BUST)
        out = seats - state.status.count(IN)
        assert state.dice_left == 6 - out * (2 if seats == 2 else 1)
        assert state.phase != TURN or state.dice_left >= 3


@matches
@settings(max_examples=30, deadline=None)
def test_steps_change_only_what_they_may(seats: int, seed: bytes, choices: int, boldness: float) -> None:
    """Stars stay, cards only go round, and every active roll ends in a button or a bust."""
    for before, _, after in steps(seats, KeyedDice(seed), random.Random(choices), boldness=boldness):
        assert all(old & new == old for old, new in zip(before.stars, after.stars, strict=True))
        assert all(due <= buttons.bit_count() for due, buttons in zip(after.due, after.buttons, strict=True))
        assert after.turn < 19 * seats  # 18 buttons fit on a board, then comes a bust or a quit
        if after.round > before.round >= 0 and before.phase != SIDE:
            assert after.cards == (before.cards[-1], *before.cards[:-1])
            assert after.starter == (before.starter + 1) % seats
        elif before.phase != SIDE:
            assert (after.cards, after.starter) == (before.cards, before.starter)


@matches
@settings(max_examples=20, deadline=None)
def test_a_match_ends_at_the_first_win(seats: int, seed: bytes, choices: int, boldness: float) -> None:
    """Five in a line or twelve stars at the end of a round, not before it and never after."""
    for _, _, after in steps(seats, KeyedDice(seed), random.Random(choices), boldness=boldness):
        won = any(stars.bit_count() >= 12 or naive_line(stars) for stars in after.stars)
        if after.phase == OVER:
            assert won or after.round == 59
        else:
            assert not won or any(after.due)


def touch(one: int, other: int) -> bool:
    """Whether two cells are orthogonal neighbours."""
    return abs(one // 6 - other // 6) + abs(one % 6 - other % 6) == 1


def naive_line(stars: int) -> bool:
    grid = "".join("*" if stars >> cell & 1 else "." for cell in range(36))
    lines = [grid[row : row + 6] for row in range(0, 36, 6)] + [grid[column::6] for column in range(6)]
    return any("*****" in line for line in lines)


sets_of_cells = st.frozensets(st.integers(0, 35), max_size=20)


@given(sets_of_cells, sets_of_cells)
def test_open_cells_are_those_of_the_rule(buttons: frozenset[int], stars: frozenset[int]) -> None:
    """The bit tricks do what the rule says cell by cell."""
    expected = [
        cell for cell in range(36) if cell not in buttons | stars and not any(touch(cell, button) for button in buttons)
    ]
    assert list(cells(open_cells(cell_set(buttons), cell_set(stars)))) == expected


@given(sets_of_cells, sets_of_cells, st.lists(st.integers(1, 6), min_size=3, max_size=6))
def test_active_cells_are_the_open_ones_where_the_dice_cross(
    buttons: frozenset[int], stars: frozenset[int], dice: list[int]
) -> None:
    """White is the row, and any black die the column."""
    free = cells(open_cells(cell_set(buttons), cell_set(stars)))
    crossed = {cell(dice[0], column) for column in dice[1:]}
    assert active_cells(dice, cell_set(buttons), cell_set(stars)) == tuple(sorted(crossed.intersection(free)))


@given(st.integers(0, 2**36 - 1), st.integers(0, 35))
def test_a_line_is_five_in_a_row_or_a_column(stars: int, start: int) -> None:
    """Neither a diagonal nor the edge of the board makes one."""
    assert has_line(stars) == naive_line(stars)
    run = 0b11111 << min(start, 31)
    assert has_line(run) == naive_line(run)


@given(sets_of_cells, st.sampled_from(["R", "G", "RB", "YG", ""]), st.sampled_from([*BOARDS[0], *BOARDS[3]]))
def test_the_reward_counts_colours_and_cards(buttons: frozenset[int], cards: str, side: str) -> None:
    """One star for quitting, one a colour of three, one more for its card; six of a colour are no more than three."""
    board = side.replace(" ", "")
    full = {colour for colour, count in Counter(board[cell] for cell in buttons).items() if count >= 3}
    assert reward(board, cards, cell_set(buttons)) == 1 + len(full) + len(full & set(cards))


# --- Defaults, options, what people see


def test_default_actions() -> None:
    """For a seat that has forfeited: leave as soon as possible, and otherwise the lowest number."""
    dealt = GAME.start(2, KeyedDice(SEED), GAME.options({}))
    rolled = roll(opening(), 1, 2, 4, 4, 6, 6)
    placed = decide(rolled, s0=cell(1, 4), s1=cell(1, 2))
    due = scoring(at((2, 2), (5, 5)), at((1, 1)))
    assert GAME.default_action(dealt, 1) == FRONT
    assert GAME.default_action(opening(), 0) == ROLL
    assert GAME.default_action(rolled, 0) == cell(1, 2)
    assert GAME.default_action(rolled, 1) == PASS
    assert GAME.default_action(placed, 1) == QUIT
    assert GAME.default_action(due, 0) == cell(2, 2)


def test_other_boards_can_be_loaded() -> None:
    """Whoever has the printed game can type its colours in; spaces between the rows are optional."""
    mine = [[CHEQUERED, CHEQUERED[::-1]], *BOARDS[1:]]
    state = GAME.start(4, KeyedDice(SEED), GAME.options({"boards": mine}))
    assert sum(sides == (CHEQUERED, CHEQUERED[::-1]) for sides in state.sides) == 1
    spaced = "".join(f" {CHEQUERED[row : row + 6]} " for row in range(0, 36, 6))
    again = GAME.start(4, KeyedDice(SEED), GAME.options({"boards": [[spaced, CHEQUERED[::-1]], *BOARDS[1:]]}))
    assert again == state


@pytest.mark.parametrize(
    "options",
    [
        {"boards": BOARDS[:3]},
        {"boards": [*BOARDS[:3], BOARDS[3][0]]},
        {"boards": [*BOARDS[:3], [CHEQUERED]]},
        {"boards": [*BOARDS[:3], [CHEQUERED, CHEQUERED[1:]]]},
        {"boards": [*BOARDS[:3], [CHEQUERED, "X" + CHEQUERED[1:]]]},
        {"boards": [*BOARDS[:3], [CHEQUERED, CHEQUERED.lower()]]},
        {"boards": [*BOARDS[:3], [CHEQUERED, 36]]},
        {"max_rounds": 0},
        {"max_rounds": 1001},
        {"max_rounds": True},
        {"max_rounds": "60"},
        {"max_rounds": 60.0},
    ],
)
def test_options_that_do_not_fit(options: Mapping[str, object]) -> None:
    """One short line names the option and what is allowed."""
    (name,) = options
    with pytest.raises(BadOption, match=f"option '{name}'.* not ") as refused:
        GAME.options(options)
    assert len(str(refused.value)) < 160


@pytest.mark.parametrize("decisions", [{}, {1: ROLL}, {0: ROLL, 1: PASS}, {0: QUIT}, {0: 0}])
def test_decisions_nobody_was_asked_for_are_refused(decisions: Mapping[int, int]) -> None:
    """Seat 0 alone has the turn, and has no button to quit with."""
    with pytest.raises(ValueError, match=r"asked were \[0\]|legal are 36"):
        GAME.apply(opening(), decisions, KeyedDice(SEED))


def test_a_match_that_is_over_takes_no_decisions() -> None:
    """Not even none at all, which would be all that are pending."""
    with pytest.raises(ValueError, match="asked were"):
        GAME.apply(opening()._replace(phase=OVER), {}, NO_DICE)


def test_the_view_in_the_middle_of_a_roll() -> None:
    """Authors who cannot run these rules read the table from it."""
    state = opening(3)._replace(buttons=(at((1, 1)), 0, 0), status=(IN, IN, HAS_BUST))
    view = GAME.view(roll(state, 5, 6, 1, 2, 3), 1)
    assert (view.phase, view.active, view.starter, view.dice_left) == (PLACE, 0, 0, 5)
    assert (view.white, view.gold, list(view.plain)) == (5, 6, [1, 2, 3])
    assert [list(seat.buttons) for seat in view.seats] == [[0], [], []]
    assert [seat.cards for seat in view.seats] == ["R", "B", "G"]
    assert {seat.board for seat in view.seats} == {CHEQUERED}


def test_a_view_is_the_callers_to_change() -> None:
    """The referee may add to a message; the next one must not show it."""
    state = opening()
    GAME.view(state, 0).seats[0].cards = "G"
    assert GAME.view(state, 0).seats[0].cards == "RB"


def test_the_picture() -> None:
    """Colours small, buttons in brackets, stars as stars, the seats side by side."""
    state = opening()._replace(buttons=(at((1, 1), (2, 6)), 0), stars=(at((1, 2)), 0))
    assert GAME.picture(roll(state, 5, 6, 1, 2, 3, 3)).split("\n") == [
        "round 1, turn 1: seat 0 rolled row 5, gold 6, black 1 2 3 3",
        "seat 0  RB       seat 1  YG",
        "in  1*           in  0*",
        "  1 2 3 4 5 6      1 2 3 4 5 6",
        "1(G)* b y g r    1 g r b y g r",
        "2 b y g r b(Y)   2 b y g r b y",
        "3 g r b y g r    3 g r b y g r",
        "4 b y g r b y    4 b y g r b y",
        "5 g r b y g r    5 g r b y g r",
        "6 b y g r b y    6 b y g r b y",
    ]


def test_the_last_picture_names_a_line() -> None:
    """A line beats more stars: the count alone would not show who won."""
    line, more = (
        at(*((3, column) for column in range(1, 6))),
        at(*((row, 1) for row in (1, 3, 5)), (1, 3), (5, 3), (3, 6)),
    )
    state = opening()._replace(phase=OVER, stars=(more, line))
    assert GAME.picture(state).startswith("over after round 1; five stars in a line: seat 1\n")
    assert remark(GAME, GAME.ranks(state), GAME.scores(state)) == "five stars in a line beat any number of stars"
    assert remark(GAME, (0, 1), (5, 5)) == GAME.beyond_scores, "with a line and without"
    assert remark(GAME, (0, 1, 1), (7, 5, 5)) == ""


# --- The known odds, and the built-in players


def test_uniform_choices_need_about_eleven_rounds() -> None:
    """A slip in the rules that no single case shows would shift it."""
    ends = [list(steps(2 + n % 3, RandomDice(random.Random(n)), random.Random(n)))[-1].after for n in range(60)]
    mean = sum(end.round + 1 for end in ends) / len(ends)
    assert 9.5 < mean < 12.5


@given(sets_of_cells, sets_of_cells)
@settings(max_examples=20)
def test_the_chance_of_a_bust_is_exact(buttons: frozenset[int], stars: frozenset[int]) -> None:
    """All 1,296 rolls of four dice, counted."""
    placed, starred = cell_set(buttons), cell_set(stars)
    rolls = product(range(1, 7), repeat=4)
    busts = sum(not active_cells(dice, placed, starred) for dice in rolls)
    assert bust_chance(placed, starred, 4) == pytest.approx(busts / 6**4)


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("name", sorted(STRATEGIES.keys() - {"actuary"}))
def test_the_built_in_players_beat_uniform_choices(name: str, seats: int) -> None:
    """They are what a new bot is measured by: first clearly more often than one seat's share."""
    firsts = sum(wins_as(name, number % seats, seats, number) for number in range(40))
    assert firsts > 1.25 * 40 / seats


def wins_as(name: str, seat: int, seats: int, number: int) -> bool:
    source = random.Random(number)
    dice = RandomDice(source)
    state = GAME.start(seats, dice, GAME.options({}))
    while pending := GAME.pending(state):
        decisions = {other: source.choice(legal) for other, legal in pending.items()}
        if seat in pending:
            decisions[seat] = STRATEGIES[name](state, seat, pending[seat], source)
        state = GAME.apply(state, decisions, dice)
    return GAME.ranks(state)[seat] == 0
