"""How the strongest bot of Burning Desire reckons: exactly where it says so, and never for longer than it may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations, product
from random import Random

import pytest

from arena.games import RandomDice
from arena.games.burning_desire import BANK, MULTIPLY, BurningDesire, Phase, Stage, State
from arena.games.burning_desire_dice import MULTIPLIERS, ROLES, score
from builtin.burning_desire import ceiling, tabulate, turn
from builtin.burning_desire.actuary import actuary
from builtin.burning_desire.chances import SCALE, chances, overtaking

GAME = BurningDesire()
TIE = 0.6


@cache
def passing(lead: int, points: int, gambles: int = 12) -> float:
    """The chance that points which may still be multiplied so often exceed a lead; a tie is worth TIE."""
    banked = 1.0 if points > lead else TIE if points == lead else 0.0
    if banked == 1 or not points or not gambles:
        return banked
    sides = [passing(lead, points * a * b, gambles - 1) for a, b in product(*MULTIPLIERS)]
    return max(banked, sum(sides) / len(sides))


@cache
def best(worth: Callable[[int], float], kept: tuple[int, ...], bonus: int, rerolls: int) -> float:
    """What a turn is worth when dice are kept, 0 for no bonus die: every die and every choice, one after the other."""
    if not bonus:
        return sum(best(worth, kept, face, rerolls) for face in range(1, 7)) / 6
    if len(kept) < 6:
        return sum(best(worth, tuple(sorted((*kept, face))), bonus, rerolls) for face in range(1, 7)) / 6
    if not rerolls:
        return max(worth(score(role, (*kept, bonus))) for role in ROLES)
    keeps = {keep for count in range(7) for keep in combinations(kept, count)}
    return max(best(worth, keep, face, rerolls - 1) for keep in keeps for face in (0, bonus))


def last_turn(totals: Sequence[int], phase: Phase, **turn: object) -> State:
    """Seat 1 has the last turn of the match; seat 0 had reached the goal."""
    return State(tuple(totals), (9, 9), 1000, 200, Stage.FINAL, 0, (1,), 1, phase)._replace(**turn)  # type: ignore[arg-type]


def choose(state: State) -> int:
    return actuary(state, state.current, GAME.pending(state)[state.current], Random(0))


def test_a_turn_played_for_points_brings_the_most_there_is() -> None:
    """The known mean of the best play: a hand forgotten, or counted twice, would show."""
    assert turn.mean(float) == pytest.approx(114.118, abs=5e-4)


@pytest.mark.parametrize("lead", [100, 345])
def test_a_last_turn_is_played_as_well_as_can_be(lead: int) -> None:
    """Against a search that knows of no faces that are alike, and tries every way to keep dice and to multiply."""
    assert overtaking(lead, TIE) == pytest.approx(best(partial(passing, lead), (), 0, 2), abs=1e-5)


def test_dice_are_kept_as_the_lead_demands() -> None:
    """What the bot keeps before the last roll of a match is worth as much as the best of all 128 ways."""
    random, lead = Random(7), 245
    worth = partial(passing, lead)
    for _ in range(15):
        dice = tuple(random.choices(range(1, 7), k=7))
        ways = [
            best(
                worth,
                tuple(sorted(face for die, face in enumerate(dice[:6]) if mask >> die & 1)),
                mask >> 6 and dice[6],
                0,
            )
            for mask in range(128)
        ]
        action = choose(last_turn((1000 + lead, 1000), Phase.ROLL, dice=dice, rolls=2))
        assert ways[action] == pytest.approx(max(ways), abs=1e-5)


@pytest.mark.parametrize(("lead", "action"), [(95, BANK), (100, BANK), (105, MULTIPLY), (5000, MULTIPLY)])
def test_who_plays_last_multiplies_only_what_is_not_enough(lead: int, action: int) -> None:
    """A tie is better than one gamble of three; behind, there is nothing to lose, however far."""
    assert choose(last_turn((1000 + lead, 1000), Phase.MULTIPLY, score=100)) == action


@pytest.mark.parametrize(("other", "action"), [(0, BANK), (990, MULTIPLY)])
def test_reaching_the_goal_is_not_enough_with_the_other_close(other: int, action: int) -> None:
    """Banked, 20 points of lead lose to almost any last turn of the other; and 1,010 of lead to hardly any."""
    state = State((910, other), (9, 9), 1000, 200, phase=Phase.MULTIPLY, score=100)
    assert choose(state) == action


@pytest.mark.parametrize(("seats", "goal"), [(2, 37), (3, 1003), (5, 40), (2, 4000)])
def test_it_plays_to_any_goal(seats: int, goal: int) -> None:
    """The table is of the printed goal; what is nearer or farther is looked up in it as well."""
    dice = RandomDice(Random(3))
    state = GAME.start(seats, dice, {"goal": goal, "max_turns": 50})
    while legal := GAME.pending(state):
        action = choose(state)
        assert action in legal[state.current]
        state = GAME.apply(state, {state.current: action}, dice)
    assert max(state.totals) >= goal


def test_the_table_agrees_with_itself() -> None:
    """Its entries are the best turns over its other entries: one from another version of the rules would not fit."""
    table, random = chances(), Random(5)
    for _ in range(25):
        need, other = (random.randrange(len(table.race)) for _ in range(2))
        best_turn = tabulate.best_turn(table, table.race, need, other)
        assert table.race[need][other] == pytest.approx(best_turn, abs=3 / SCALE)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_table_can_be_made_again() -> None:
    """To the last bit, as far as is quick: all last turns, and the end of the race."""
    final = tabulate.final_round()
    nearest = tabulate.race(final, 12)
    assert [round(SCALE * odds) for odds in final.passed] == [round(SCALE * odds) for odds in chances().passed]
    for need, row in enumerate(nearest):
        assert [round(SCALE * odds) for odds in row] == [round(SCALE * odds) for odds in chances().race[need][:12]]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_what_planner_rolls_is_known_exactly() -> None:
    """The ceiling is reckoned from it: odds that add up to one, and a little less than the best there is."""
    rolled = ceiling.rolled()
    assert sum(rolled.values()) == pytest.approx(1)
    assert sum(points * odds for points, odds in rolled.items()) == pytest.approx(113.055, abs=5e-4)
