"""Burning Desire: what the published cases leave open, what always holds, and the known odds."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, groupby, product
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import BadOption, Dice, KeyedDice, RandomDice, ScriptedDice
from arena.games.burning_desire import (
    BANK,
    FIRST_ROLE,
    MULTIPLY,
    STOP,
    BurningDesire,
    Phase,
    Stage,
    State,
    begin_turn,
    leaders,
    tiebreak_order,
)
from arena.games.burning_desire_dice import ROLES, best_role, multiplied, score
from builtin.burning_desire import STRATEGIES

GAME = BurningDesire()
SEED = bytes(range(32))
TWOS = [2] * 7
"""Worth nothing as "1" and 300 as "2-3"."""


class Step(NamedTuple):
    """A decision of a match: the state it was made in, and the state after it."""

    before: State
    action: int
    after: State


def steps(seats: int, dice: Dice, source: random.Random, **options: int) -> Iterator[Step]:
    """A match of uniformly random choices."""
    state = GAME.start(seats, dice, GAME.options(options))
    while pending := GAME.pending(state):
        action = source.choice(pending[state.current])
        after = GAME.apply(state, {state.current: action}, dice)
        yield Step(state, action, after)
        state = after


def ended_turns(match: Sequence[Step]) -> list[Step]:
    """The last decision of each turn."""
    return [step for step in match if step.after.turns != step.before.turns or step.after.stage is Stage.OVER]


def table(totals: Sequence[int], current: int, stage: Stage, queue: Sequence[int]) -> State:
    """A position before the current seat's first roll; seat 0 reached the goal."""
    state = State(tuple(totals), (0,) * len(totals), goal=1000, max_turns=200)
    return state._replace(current=current, stage=stage, trigger=0, queue=tuple(queue))


def bank(state: State, tape: Sequence[int], role: int) -> State:
    """The position after a turn that keeps its first roll and banks; the next turn rolls seven 2s."""
    dice = ScriptedDice([*tape, *TWOS])
    seat = state.current
    state = begin_turn(state, seat, dice)
    for action in (STOP, FIRST_ROLE + role, BANK):
        if seat in GAME.pending(state) and action in GAME.pending(state)[seat]:
            state = GAME.apply(state, {seat: action}, dice)
    return state


matches = given(
    seats=st.integers(2, 5),
    seed=st.integers(0, 2**32),
    goal=st.sampled_from([10, 150, 1000]),
    max_turns=st.sampled_from([2, 200]),
)
few = settings(max_examples=40, deadline=None, derandomize=True)


@matches
@few
def test_a_total_never_falls_and_only_the_seat_that_played_gains(
    seats: int, seed: int, goal: int, max_turns: int
) -> None:
    """The winner is read off the totals alone, which needs them to grow by banked points only."""
    source = random.Random(seed)
    for step in steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns):
        gains = [new - old for new, old in zip(step.after.totals, step.before.totals, strict=True)]
        assert gains.pop(step.before.current) >= 0
        assert not any(gains)


@matches
@few
def test_the_goal_ends_the_normal_stage(seats: int, seed: int, goal: int, max_turns: int) -> None:
    """As long as the stage is normal nobody has the goal; afterwards the trigger has."""
    source = random.Random(seed)
    for _, _, state in steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns):
        if state.trigger is None:
            assert max(state.totals) < goal
        else:
            assert state.totals[state.trigger] >= goal


@matches
@few
def test_every_turn_has_the_same_shape(seats: int, seed: int, goal: int, max_turns: int) -> None:
    """One or two decisions what to keep, one role, and the multiplier as often as one dares."""
    source = random.Random(seed)
    match = list(steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns))
    for _, turn in groupby(match, key=lambda step: step.before.turns):
        assert re.fullmatch("(1|11)23*", "".join(str(int(step.before.phase)) for step in turn))


@matches
@few
def test_a_turn_passes_to_the_left_and_starts_afresh(seats: int, seed: int, goal: int, max_turns: int) -> None:
    """Nothing of a turn but its points goes on; outside the normal stage a queue says who is next."""
    source = random.Random(seed)
    for before, _, after in ended_turns(list(steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns))):
        if after.stage is not Stage.OVER:
            assert after.current == (after.queue[0] if after.queue else (before.current + 1) % seats)
            assert (after.phase, after.rolls, after.score, after.multiplications) == (Phase.ROLL, 1, 0, 0)


@matches
@few
def test_rounds_are_played_in_full(seats: int, seed: int, goal: int, max_turns: int) -> None:
    """The final round has a turn for everybody but the trigger, a tie-break one for each of the tied."""
    source = random.Random(seed)
    turns = ended_turns(list(steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns)))
    for before, _, after in turns:
        if after.stage is Stage.FINAL and before.stage is Stage.NORMAL:
            assert len(after.queue) == seats - 1
        if after.stage is Stage.TIEBREAK and len(before.queue) == 1:
            assert set(after.queue) == set(leaders(after.totals))
        if len(before.queue) > 1 and after.stage is not Stage.OVER:
            assert after.queue == before.queue[1:]


@matches
@few
def test_everybody_is_shown_the_whole_state(seats: int, seed: int, goal: int, max_turns: int) -> None:
    """A bot may search from what it is sent with the arena's own rules."""
    source = random.Random(seed)
    for _, _, state in steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns):
        assert GAME.from_view(GAME.view(state, 1), {}) == state


@matches
@few
def test_a_shared_first_place_needs_the_cap(seats: int, seed: int, goal: int, max_turns: int) -> None:
    """Tie-breaks go on until one is ahead: only a match that ran out of turns is shared."""
    source = random.Random(seed)
    *_, (_, _, end) = steps(seats, RandomDice(source), source, goal=goal, max_turns=max_turns)
    assert GAME.ranks(end).count(0) == len(leaders(end.totals))
    assert max(end.turns) <= max_turns
    assert GAME.ranks(end).count(0) == 1 or max(end.turns) == max_turns


def test_nobody_plays_beyond_the_cap() -> None:
    """Bots that do not score would play for ever; after so many turns each, equal totals share the place."""
    dice = ScriptedDice(TWOS * 6)
    state = GAME.start(3, dice, GAME.options({"max_turns": 2}))
    while state.stage is not Stage.OVER:
        action = STOP if state.phase is Phase.ROLL else GAME.action("role 2-3")
        state = GAME.apply(state, {state.current: action}, dice)
    dice.assert_done()
    assert (state.turns, GAME.ranks(state), GAME.scores(state)) == ((2, 2, 2), (0, 0, 0), (600, 600, 600))
    assert (state.current, state.dice, state.score) == (2, tuple(TWOS), 300)


def test_the_cap_cuts_a_final_round_short() -> None:
    """The highest total wins where the next seat has no turn left, even if its last turn is due."""
    state = table([900, 800], 0, Stage.NORMAL, [])._replace(trigger=None, turns=(2, 3), max_turns=3)
    state = bank(state, TWOS, role=1)
    assert (state.stage, state.trigger, state.queue, state.totals) == (Stage.OVER, 0, (), (1200, 800))
    assert GAME.ranks(state) == (0, 1)


def test_a_match_that_is_over_takes_no_decision() -> None:
    """The last turn stays to be looked at, but nothing follows it."""
    state = bank(table([1200, 500], 1, Stage.FINAL, [1]), TWOS, role=1)
    assert (state.stage, state.totals, state.score, state.current) == (Stage.OVER, (1200, 800), 300, 1)
    assert not GAME.pending(state)
    with pytest.raises(ValueError, match="the match is over"):
        GAME.apply(state, {1: BANK}, ScriptedDice([]))


def test_a_trigger_that_was_passed_has_no_part_in_the_tie_break() -> None:
    """Only the tied go on, clockwise from the trigger, as the final round was played."""
    state = bank(table([1000, 1100, 500, 800], 3, Stage.FINAL, [3]), TWOS, role=1)
    assert (state.stage, state.queue, state.current) == (Stage.TIEBREAK, (1, 3), 1)
    assert tiebreak_order(5, 3, (0, 2, 4)) == (4, 0, 2)


def test_a_tie_break_goes_on_among_those_still_tied() -> None:
    """Whoever falls behind is out and ranks by the points made until then."""
    state = table([1000, 700, 1000, 1000], 0, Stage.TIEBREAK, [0, 2, 3])
    for role in (1, 0, 1):
        state = bank(state, TWOS, role)
    assert (state.stage, state.queue, state.totals) == (Stage.TIEBREAK, (0, 3), (1300, 700, 1000, 1300))
    for role in (0, 1):
        state = bank(state, TWOS, role)
    assert GAME.ranks(state) == (1, 3, 2, 0)


def test_a_tie_is_an_event_once_a_round() -> None:
    """It names those who are tied, when their round begins, and is silent while they play it."""
    told = 0
    for seed in range(100):
        source = random.Random(seed)
        for before, action, after in steps(3, RandomDice(source), source, goal=50):
            ended = after.turns != before.turns
            begins = after.stage is Stage.TIEBREAK and ended and len(before.queue) == 1
            tied = [text for text in GAME.events(before, {before.current: action}, after) if "tied" in text]
            order = tiebreak_order(3, after.trigger or 0, leaders(after.totals))
            assert tied == [f"seats {', '.join(map(str, order))} are tied and play on"] * begins
            told += begins
    assert told > 5


def test_nothing_is_not_multiplied() -> None:
    """Two zeros are one question too many: a turn worth 0 ends with its role, also in the final round."""
    dice = ScriptedDice([*TWOS, *TWOS])
    state = begin_turn(table([1200, 500, 0], 1, Stage.FINAL, [1, 2]), 1, dice)
    for action in (STOP, FIRST_ROLE):
        state = GAME.apply(state, {1: action}, dice)
    assert (state.current, state.totals) == (2, (1200, 500, 0))


def test_a_smaller_goal_starts_the_final_round_sooner() -> None:
    """The goal is an option; what may be multiplied follows it."""
    dice = ScriptedDice([*TWOS, 3, 1, *TWOS])
    state = GAME.start(2, dice, GAME.options({"goal": 300}))
    for action in (STOP, FIRST_ROLE + 1, MULTIPLY):
        state = GAME.apply(state, {0: action}, dice)
    assert (state.current, state.totals, state.stage) == (1, (0, 0), Stage.NORMAL)


@pytest.mark.parametrize("value", [0, -5, True, 12.5, "1000", None, 10**7])
def test_an_option_that_is_no_sensible_number_is_refused_by_name(value: object) -> None:
    """The user reads which option, what is allowed, and what was given."""
    with pytest.raises(BadOption, match=f"'goal' is a whole number from 1 to 1000000, not {value!r}"):
        GAME.options({"goal": value})


@pytest.mark.parametrize("action", [128, 132, -1, 133])
def test_an_illegal_action_is_named(action: int) -> None:
    """The first decision of a turn takes the masks 0 to 127 and nothing else."""
    state = GAME.start(2, KeyedDice(SEED), GAME.defaults)
    with pytest.raises(ValueError, match=f"action {action} is not legal: 0 … 127 are"):
        GAME.apply(state, {0: action}, KeyedDice(SEED))


def test_a_forfeited_seat_keeps_its_dice_takes_the_best_role_and_banks() -> None:
    """The least harmful: it neither loses its points on purpose nor gambles."""
    dice = ScriptedDice([1, 1, 3, 3, 3, 5, 2, *TWOS])
    state = begin_turn(table([1200, 0, 0], 1, Stage.FINAL, [1, 2]), 1, dice)
    names = []
    while state.current == 1:
        action = GAME.default_action(state, 1)
        names.append(GAME.action_name(action))
        state = GAME.apply(state, {1: action}, dice)
    assert names == ["stop", "role 1", "bank"]
    assert state.totals == (1200, 25, 0)


def test_of_equal_roles_the_default_is_the_first() -> None:
    """A recorded match must replay alike everywhere; here every role is worth 10."""
    dice = (1, 2, 3, 4, 4, 5, 6)
    assert [score(role, dice) for role in ROLES] == [10, 10, 10]
    assert best_role(dice) == 0


def test_points_without_bound_survive_the_wire() -> None:
    """Nothing limits how often one multiplies, so no fixed width would do."""
    state = GAME.start(2, KeyedDice(SEED), GAME.defaults)._replace(score=6**60, totals=(6**50, 0))
    assert GAME.from_view(GAME.view(state, None), {}) == state


class Recorder(RandomDice):
    """Notes how many dice each key rolls."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.rolled: dict[str, int] = {}

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        assert key not in self.rolled
        self.rolled[key] = count
        return super().roll(key, count)


def test_every_roll_has_the_documented_key() -> None:
    """Anybody can re-check a match die by die: seven, then those not kept, and the multipliers in pairs."""
    source = random.Random(10)
    dice = Recorder(source)
    expected = {"seat/0/turn/0/roll/0": 7}
    for before, action, after in steps(3, dice, source, goal=10):
        own = f"seat/{before.current}/turn/{before.turns[before.current] - 1}"
        if action < STOP:
            expected[f"{own}/roll/{before.rolls}"] = 7 - action.bit_count()
        if action == MULTIPLY:
            expected[f"{own}/multiply/{before.multiplications}"] = 2
        if before.turns != after.turns:
            expected[f"seat/{after.current}/turn/{before.turns[after.current]}/roll/0"] = 7
    assert dice.rolled == expected
    assert any("multiply/1" in key for key in expected)


def test_the_opening_of_a_known_seed() -> None:
    """Fixed for ever: another language's arena must roll the same."""
    dice = KeyedDice(SEED)
    state = GAME.start(2, dice, GAME.defaults)
    rolls = [state.dice]
    for name in ("keep 4 6", "keep 1 3 4 6", "role 2-3", "stop", "role 2-3"):
        state = GAME.apply(state, {state.current: GAME.action(name)}, dice)
        rolls.append(state.dice)
    assert rolls == [
        (5, 4, 5, 2, 3, 2, 5),
        (4, 6, 4, 2, 1, 2, 6),
        (4, 2, 4, 2, 3, 2, 4),
        (3, 2, 1, 2, 5, 4, 4),
        (3, 2, 1, 2, 5, 4, 4),
        (3, 1, 2, 3, 4, 2, 5),
    ]
    assert state.totals == (30, 20)


def test_actions_are_named_by_the_places_of_the_dice() -> None:
    """What a person types: dice keep their places, so numbers are enough; b is the bonus die."""
    assert [GAME.action_name(action) for action in (0, 65, 127, 128, 131)] == [
        "keep none",
        "keep 1 b",
        "stop",
        "role 1",
        "bank",
    ]
    assert GAME.action("  Keep 2   6 B ") == 2 + 32 + 64


@pytest.mark.parametrize("name", ["", "keep", "keep 7", "keep 2 1", "role 5", "130"])
def test_a_name_that_is_no_action_is_answered_with_those_that_are(name: str) -> None:
    """A person who mistypes learns the vocabulary from the one line."""
    with pytest.raises(ValueError, match=re.escape(f"no action is called {name!r}: say") + ".*bank or multiply"):
        GAME.action(name)


def test_the_picture_tells_who_plays_what_is_rolled_and_what_it_is_worth() -> None:
    """All that a person at the terminal needs for the decision."""
    dice = ScriptedDice([4, 4, 5, 5, 6, 6, 4])
    state = begin_turn(table([1010, 930, 700], 1, Stage.FINAL, [1, 2]), 1, dice)
    assert GAME.picture(state).splitlines() == [
        "Final round, goal 1000",
        "  seat 0   1010  reached the goal first",
        "> seat 1    930",
        "  seat 2    700  to play",
        "",
        "   1   2   3   4   5   6     b",
        "  [4] [4] [5] [5] [6] [6]   [4]   roll 1 of 3",
        "   1: 0   2-3: 0   4-6: 120",
    ]


@cache
def mean_points(kept: tuple[int, ...], bonus: int, rerolls: int) -> float:
    """Under the best play for points: the other dice are thrown, then come the rerolls; bonus 0 is thrown."""
    if not bonus:
        return sum(mean_points(kept, face, rerolls) for face in range(1, 7)) / 6
    if len(kept) < 6:
        return sum(mean_points(tuple(sorted((*kept, face))), bonus, rerolls) for face in range(1, 7)) / 6
    if not rerolls:
        return max(score(role, (*kept, bonus)) for role in ROLES)
    keeps = {keep for count in range(7) for keep in combinations(kept, count)}
    return max(mean_points(keep, b, rerolls - 1) for keep in keeps for b in (0, bonus))


@pytest.mark.parametrize(("rolls", "points"), [(1, 34.5658), (2, 72.3288), (3, 114.1182)])
def test_what_a_turn_is_worth_at_best(rolls: int, points: float) -> None:
    """Exact figures of an independent model: a wrong number in a table moves them."""
    assert round(mean_points((), 0, rolls - 1), 4) == points


def test_the_odds_of_the_multiplier_dice() -> None:
    """Two gambles of three burn everything, and on average a gamble loses one point in 36."""
    factors = Counter(multiplied(1, faces) for faces in product(range(1, 7), repeat=2))
    assert factors == {0: 24, 2: 6, 3: 3, 4: 2, 6: 1}
    assert Fraction(sum(factor * count for factor, count in factors.items()), 36) == Fraction(35, 36)


def test_how_long_careless_matches_last() -> None:
    """Random masks, the best role, every second multiplication: an independent model has about 57 turns."""
    source = random.Random(8)
    dice = RandomDice(source)
    turns = 0
    for _ in range(60):
        state = GAME.start(2, dice, GAME.defaults)
        while legal := GAME.pending(state):
            known = state.phase is Phase.ROLE
            action = GAME.default_action(state, state.current) if known else source.choice(legal[state.current])
            state = GAME.apply(state, {state.current: action}, dice)
        turns += sum(state.turns)
    assert turns / 60 == pytest.approx(57, abs=4)


def final_ranks(names: Sequence[str], seed: int) -> tuple[int, ...]:
    """Of a match of built-in players and "random"."""
    source = random.Random(seed)
    dice = RandomDice(random.Random(seed + 1))
    state = GAME.start(len(names), dice, GAME.defaults)
    while pending := GAME.pending(state):
        seat, legal = state.current, pending[state.current]
        strategy = STRATEGIES.get(names[seat])
        action = strategy(state, seat, legal, source) if strategy else source.choice(legal)
        state = GAME.apply(state, {seat: action}, dice)
    return GAME.ranks(state)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_built_in_player_beats_chance(name: str) -> None:
    """They are the first opponents of a newcomer: worse than random would teach nothing."""
    firsts = sum(final_ranks(["random", name, "random"], seed)[1] == 0 for seed in range(25))
    assert firsts >= 22


def test_planning_beats_caution() -> None:
    """Built-in players of different strength tell a newcomer how good a bot is: 84 matches in 100 in the long run."""
    firsts = sum(final_ranks(["cautious", "planner"], seed)[1] == 0 for seed in range(40))
    assert firsts >= 26
