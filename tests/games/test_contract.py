"""What every game promises: a game is tested from the moment it is listed."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from arena.games import BadOption, KeyedDice, RandomDice, UnknownGame, game, names
from arena.v1.referee_pb2 import Decision

ONE_LINE = r"^[^\n]+$"
SEED = bytes(range(32))
GAMES = names()
TABLES = [(name, seats) for name in GAMES for seats in game(name).seats]
every_game = pytest.mark.parametrize("name", GAMES)
every_table = pytest.mark.parametrize(("name", "seats"), TABLES)


class Step(NamedTuple):
    """A state, what was asked in it and what was chosen."""

    state: Any
    pending: Mapping[int, Sequence[int]]
    decisions: Mapping[int, int]


class Match(NamedTuple):
    """A match of random choices; `states` has the last one too."""

    steps: Sequence[Step]
    states: Sequence[Any]


def play(name: str, seats: int, seed: bytes) -> Match:
    rules, dice, choices = game(name), KeyedDice(seed), random.Random(1)
    states, steps = [rules.start(seats, dice, rules.options({}))], []
    while pending := rules.pending(states[-1]):
        decisions = {seat: choices.choice(legal) for seat, legal in pending.items()}
        steps.append(Step(states[-1], pending, decisions))
        states.append(rules.apply(states[-1], decisions, dice))
    return Match(steps, states)


@cache
def match(name: str, seats: int) -> Match:
    return play(name, seats, SEED)


def sampled(name: str, seats: int) -> Sequence[Step]:
    """The first steps of the match and some from all over it."""
    steps = match(name, seats).steps
    return [*steps[:10], *steps[10 :: len(steps) // 50 + 1]]


def luck() -> RandomDice:
    return RandomDice(random.Random(1))


@every_table
def test_a_match_of_random_choices_ends_and_ranks_every_seat(name: str, seats: int) -> None:
    """A rank is the number of seats that did better: somebody is first, and equal seats tie."""
    ranks = game(name).ranks(match(name, seats).states[-1])
    assert len(ranks) == seats
    assert ranks == tuple(sum(other < own for other in ranks) for own in ranks)


@every_table
def test_ranks_and_scores_are_defined_at_any_time(name: str, seats: int) -> None:
    """Matches are watched, and a forfeit may end one after any step."""
    rules = game(name)
    for state in match(name, seats).states:
        assert len(rules.ranks(state)) == len(rules.scores(state)) == seats
        assert {type(number) for number in (*rules.ranks(state), *rules.scores(state))} == {int}


@every_table
def test_the_same_seed_and_choices_make_the_same_match(name: str, seats: int) -> None:
    """Everybody who re-checks a match depends on it."""
    assert play(name, seats, SEED) == match(name, seats)


@every_table
def test_another_seed_makes_another_match(name: str, seats: int) -> None:
    """The seed is the only source of luck: with the same choices nothing else could differ."""
    assert play(name, seats, SEED[::-1]).states != match(name, seats).states


@every_table
def test_states_compare_and_hash_by_value(name: str, seats: int) -> None:
    """Searches keep states in sets; that a state has a hash also shows that nothing inside can change."""
    again = play(name, seats, SEED).states
    assert [hash(state) for state in again] == [hash(state) for state in match(name, seats).states]
    assert all(before != after for before, after in pairwise(again))


@every_table
def test_apply_changes_nothing_it_was_given(name: str, seats: int) -> None:
    """Bots search from one state in many directions."""
    rules = game(name)
    for state, pending, decisions in sampled(name, seats):
        before = repr((state, pending, decisions))
        rules.apply(state, decisions, luck())
        assert repr((state, rules.pending(state), decisions)) == before


@every_table
def test_the_order_of_simultaneous_decisions_means_nothing(name: str, seats: int) -> None:
    """Answers arrive in any order, and nobody may gain by being quick or slow."""
    rules = game(name)
    for state, _, decisions in sampled(name, seats):
        backwards = dict(reversed(list(decisions.items())))
        assert rules.apply(state, backwards, luck()) == rules.apply(state, decisions, luck())


@every_table
def test_legal_actions_are_ascending_numbers_of_the_action_space(name: str, seats: int) -> None:
    """They travel as ranges where they are whole ranges, and become masks for learners."""
    rules = game(name)
    for _, pending, _ in match(name, seats).steps:
        assert set(pending) <= set(range(seats))
        for legal in pending.values():
            assert len(legal) > 0
            assert list(legal) == sorted(set(legal) & set(range(rules.actions)))


@every_table
def test_every_legal_action_is_accepted(name: str, seats: int) -> None:
    """What a bot is offered it may choose."""
    rules = game(name)
    for state, pending, decisions in sampled(name, seats):
        for seat, legal in pending.items():
            for action in legal:
                assert rules.apply(state, {**decisions, seat: action}, luck()) != state


@every_table
def test_every_other_action_is_refused(name: str, seats: int) -> None:
    """A replay that was tampered with must not be played on from a state that cannot be."""
    rules = game(name)
    for state, pending, decisions in sampled(name, seats):
        for seat, legal in pending.items():
            for action in set(range(-1, rules.actions + 1)) - set(legal):
                with pytest.raises(ValueError, match=ONE_LINE):
                    rules.apply(state, {**decisions, seat: action}, luck())


@every_table
def test_the_default_action_is_legal_everywhere(name: str, seats: int) -> None:
    """It is played for a seat that has forfeited, whose match goes on."""
    rules = game(name)
    for state, pending, _ in match(name, seats).steps:
        assert all(rules.default_action(state, seat) in legal for seat, legal in pending.items())


@every_table
def test_a_match_of_default_actions_ends(name: str, seats: int) -> None:
    """All seats may have forfeited but one, which waits for them."""
    rules, dice = game(name), KeyedDice(SEED)
    state, steps = rules.start(seats, dice, rules.options({})), 0
    while pending := rules.pending(state):
        state = rules.apply(state, {seat: rules.default_action(state, seat) for seat in pending}, dice)
        steps += 1
    assert steps < 100_000


@every_table
def test_views_survive_the_wire(name: str, seats: int) -> None:
    """A bot searches from the state that it was shown; the end of a match is shown too."""
    rules = game(name)
    options = rules.options({})
    for number, state in enumerate(match(name, seats).states):
        view = rules.view(state, (None, *range(seats))[number % (seats + 1)])
        received = type(view).FromString(view.SerializeToString())
        assert rules.from_view(received, options) == state


@every_table
def test_a_game_that_hides_nothing_shows_everybody_the_same(name: str, seats: int) -> None:
    """The referee makes a view once and sends it to all."""
    rules = game(name)
    for step in () if rules.hides else sampled(name, seats):
        assert len({rules.wire_view(step.state, seat) for seat in (None, *range(seats))}) == 1


@every_table
def test_views_fit_the_field_of_the_protocol(name: str, seats: int) -> None:
    """The referee puts the view there without knowing the game."""
    rules = game(name)
    frame = Decision()
    getattr(frame, rules.view_field).CopyFrom(rules.view(match(name, seats).states[0], 0))
    assert frame.WhichOneof("view") == rules.view_field


@every_table
def test_pictures_are_small_plain_text(name: str, seats: int) -> None:
    """They are shown in a terminal of 100 columns, and nothing in them may steer it."""
    rules = game(name)
    for step in sampled(name, seats):
        rows = rules.picture(step.state).split("\n")
        assert len(rows) <= 40
        assert all(len(row) <= 100 and row.isprintable() for row in rows)


@every_game
def test_action_names_are_words_that_name_one_action(name: str) -> None:
    """People read and type them in replays and tests."""
    rules = game(name)
    words = [rules.action_name(action) for action in range(rules.actions)]
    assert [rules.action(word) for word in words] == [*range(rules.actions)]
    assert all(word.isprintable() and word == word.strip() != "" for word in words)


@every_game
@pytest.mark.parametrize("word", ["", "jump", "0", "place 7,7", "keep 9", "ROLL\n"])
def test_what_is_no_action_is_refused(name: str, word: str) -> None:
    """A typing error gets the words that it had, not some other action."""
    with pytest.raises(ValueError, match=re.escape(repr(word))):
        game(name).action(word)


@every_game
def test_the_default_options_are_plain_data_that_the_game_takes(name: str) -> None:
    """They are stored with every match and sent to every bot."""
    defaults = dict(game(name).defaults)
    assert json.loads(json.dumps(defaults)) == defaults
    assert game(name).options({}) == game(name).options(defaults) == defaults


@every_game
def test_an_unknown_option_is_refused_by_name(name: str) -> None:
    """A misspelt option that is silently ignored makes a match that nobody wanted."""
    with pytest.raises(BadOption, match="'bonus'"):
        game(name).options({"bonus": 1})


@every_game
@pytest.mark.parametrize("value", [None, "nonsense", -1, 0.5, [], {}, [[["x"]]]], ids=repr)
def test_a_wrong_value_of_an_option_is_refused_by_name(name: str, value: object) -> None:
    """One line says which of the options it is."""
    for option in game(name).defaults:
        with pytest.raises(BadOption, match=option) as refused:
            game(name).options({option: value})
        assert str(refused.value).isprintable()


@every_game
def test_the_facts_about_a_game_make_sense(name: str) -> None:
    """Lists, ladders and ratings use them."""
    rules = game(name)
    assert rules.name == name
    assert rules.title.isprintable()
    assert rules.seats[0] >= 2
    assert rules.rules_version >= 1
    assert 0 <= rules.draw_probability < 1


@every_game
def test_the_rules_are_fast_enough_to_search_with(name: str) -> None:
    """A tenth of what a slow machine does, at the best of a few times: only a blunder in the rules falls below it."""

    def rate() -> float:
        began = time.process_time()
        steps = play(name, game(name).seats[-1], SEED).steps
        return sum(len(step.decisions) for step in steps) / (time.process_time() - began)

    assert any(rate() > 5_000 for _ in range(10))


def test_an_unknown_game_is_refused_with_the_names_of_all() -> None:
    """A typing error gets one line that helps."""
    with pytest.raises(UnknownGame, match="'button'.*" + ", ".join(GAMES)):
        game("button")
