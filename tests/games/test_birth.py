"""BIRTH: what the published cases leave open, what always holds, and the known averages."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games import BadOption, Dice, KeyedDice, RandomDice, ScriptedDice
from arena.games.birth import Birth, State
from arena.games.birth_board import AREAS, Board, actions, counts, faces, heap, path, points, replaced
from builtin.birth import STRATEGIES, Quick, Strategy

GAME = Birth()
SEED = bytes(range(32))
DEFAULT = GAME.options({})
OTHER = GAME.options({"areas": [3, 8, 8, 1, 1, 1, 1, 5, 5, 5, 2, 2, 2, 3, 3], "start": 13})
"""A board that starts elsewhere, with an area that goes on past index 0."""


class Turn(NamedTuple):
    before: State
    face: int
    after: State


class Recorder(RandomDice):
    """Random dice that remember what was rolled for which key."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.rolled: dict[str, tuple[int, ...]] = {}

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        assert key not in self.rolled
        self.rolled[key] = super().roll(key, count)
        return self.rolled[key]


def turns(seats: int, dice: Dice, source: random.Random, options: Any = DEFAULT) -> Iterator[Turn]:
    """A match of uniformly random choices."""
    state = GAME.start(seats, dice, options)
    while pending := GAME.pending(state):
        action = source.choice(pending[state.mover])
        after = GAME.apply(state, {state.mover: action}, dice)
        yield Turn(state, action + 1, after)
        state = after


def position(**changes: Any) -> State:
    """Two seats with a die each, on an empty default board, seat 0 to play."""
    state = State(Board(tuple(DEFAULT["areas"]), 0), 0, (3, 7), (heap([2]), heap([3])), ((0, 0),) * 5)
    return state._replace(**changes)


def sizes(state: State) -> list[list[int]]:
    """How many dice there are, by area and owner."""
    return [[len(faces(dice)) for dice in area] for area in state.placed]


matches = st.builds(
    lambda seats, seed, options: list(turns(seats, RandomDice(random.Random(seed)), random.Random(seed), options)),
    st.sampled_from(GAME.seats),
    st.integers(0, 2**32),
    st.sampled_from([DEFAULT, OTHER]),
)


@given(st.lists(st.integers(1, 6), max_size=11))
def test_a_heap_holds_the_dice_put_in(dice: list[int]) -> None:
    """Four bits a face are enough for all dice of a colour."""
    assert faces(heap(dice)) == tuple(sorted(dice))
    assert counts(heap(dice)) == tuple(dice.count(face) for face in range(1, 7))


@given(matches)
@settings(max_examples=40, deadline=None)
def test_a_match_is_eleven_turns_each_and_no_die_is_lost(match: list[Turn]) -> None:
    """Every seat owns eleven dice all the time, in hand or on the board."""
    seats = len(match[0].before.pawns)
    assert len(match) == 11 * seats
    for _, _, after in match:
        owned = zip(after.hands, *after.placed, strict=True)
        assert [sum(len(faces(dice)) for dice in heaps) for heaps in owned] == [11] * seats


@given(matches)
@settings(max_examples=40, deadline=None)
def test_a_turn_moves_one_pawn_and_adds_one_die(match: list[Turn]) -> None:
    """Pawns never meet, and a Birth changes neither area nor owner of a die."""
    for before, face, after in match:
        mover, landings = before.mover, path(before.pawns, before.mover, face)
        assert len(landings) <= len(before.pawns)
        assert after.pawns == replaced(before.pawns, mover, landings[-1])
        assert len(set(after.pawns)) == len(after.pawns)
        expected = sizes(before)
        expected[AREAS.index(before.board.areas[landings[-1]])][mover] += 1
        assert sizes(after) == expected


@given(matches)
@settings(max_examples=40, deadline=None)
def test_points_stay_in_bounds_and_one_seat_wins(match: list[Turn]) -> None:
    """Eleven dice score 11 … 88 by area; the tie-break leaves no draw, which `draw_probability` relies on."""
    final = match[-1].after
    assert all(11 <= own <= 88 for own in points(final.placed).absolute)
    assert all(11 <= own <= 154 for own in GAME.scores(final))
    assert sorted(GAME.ranks(final)) == list(range(len(final.pawns)))


@given(matches)
@settings(max_examples=20, deadline=None)
def test_a_view_shows_the_whole_state(match: list[Turn]) -> None:
    """A bot in another process searches from what it was sent."""
    for state in [match[0].before, *(turn.after for turn in match)]:
        assert GAME.from_view(GAME.view(state, None), DEFAULT) == state


def test_a_view_names_dice_by_area_and_face() -> None:
    """Readable without this package: 82 is a two in area 8."""
    state = position(placed=((0, 0), (heap([6, 1]), 0), (0, 0), (0, 0), (heap([2]), heap([5]))))
    view = GAME.view(state, 1)
    assert [list(seat.placed) for seat in view.seats] == [[21, 26, 82], [85]]
    assert [list(seat.hand) for seat in view.seats] == [[2], [3]]


@pytest.mark.parametrize("seats", GAME.seats)
def test_dice_keys_are_the_documented_ones(seats: int) -> None:
    """Whoever re-checks a match in another language looks the dice up by these keys."""
    dice = Recorder(random.Random(4))
    match = list(turns(seats, dice, random.Random(5)))
    setup = {f"setup/seat/{seat}": dice.rolled[f"setup/seat/{seat}"] for seat in range(seats)}
    assert [heap(hand) for hand in setup.values()] == list(match[0].before.hands)
    expected = set(setup)
    for number, (before, face, after) in enumerate(match):
        space = after.pawns[before.mover]
        area = before.placed[AREAS.index(before.board.areas[space])]
        if any(face in faces(dice) for dice in area):
            expected.add(f"turn/{number}/birth")
        if space == 0 and after.hands[before.mover]:
            expected.add(f"turn/{number}/break")
            assert heap(dice.rolled[f"turn/{number}/break"]) == after.hands[before.mover]
    assert set(dice.rolled) == expected


def test_the_birth_is_rolled_before_the_break() -> None:
    """The order in which the keys are used, for whoever plays from a tape."""
    dice = Recorder(random.Random(1))
    state = position(pawns=(13, 7), hands=(heap([2, 6]), heap([3])), placed=((0, heap([2])), *((0, 0),) * 4))
    GAME.apply(state, {0: 1}, dice)
    assert [(key, len(rolled)) for key, rolled in dice.rolled.items()] == [("turn/0/birth", 2), ("turn/0/break", 1)]


def test_a_lap_that_ends_on_the_start_space_breaks() -> None:
    """Both opponents in the way of a five bring the pawn back to where it was: it moved and stopped there."""
    state = position(pawns=(0, 5, 10), hands=(heap([5, 1]), heap([3]), heap([3])), placed=((0, 0, 0),) * 5)
    after = GAME.apply(state, {0: 4}, ScriptedDice([6]))
    assert (after.pawns, after.hands[0]) == ((0, 5, 10), heap([6]))
    assert after.placed[0] == (heap([5]), 0, 0)


def test_a_pawn_that_jumps_over_the_start_space_does_not_break() -> None:
    """Only where it stops counts; the opponent on the start space is jumped over."""
    after = GAME.apply(position(pawns=(13, 0), hands=(heap([2, 2]), heap([3]))), {0: 1}, ScriptedDice([]))
    assert (after.pawns, after.hands[0]) == ((2, 0), heap([2]))


def test_a_break_without_dice_rolls_nothing() -> None:
    """The last die may end on the start space; a re-checker finds no key for it."""
    dice = Recorder(random.Random(1))
    after = GAME.apply(position(pawns=(13, 7)), {0: 1}, dice)
    assert (after.pawns[0], dice.rolled) == (0, {})


def test_equal_dice_left_by_a_birth_wait_for_the_next_die() -> None:
    """No chain: a pair stays until somebody places that face beside it, whoever's dice they are."""
    state = position(pawns=(3, 7), hands=(heap([2, 4]), heap([3])), placed=((0, 0), (0, heap([2])), *((0, 0),) * 3))
    after = GAME.apply(state, {0: 1}, ScriptedDice([3, 3]))
    assert after.placed[1] == (heap([3]), heap([3]))
    later = GAME.apply(after._replace(pawns=(0, 3)), {1: 2}, ScriptedDice([1, 4, 6]))
    assert later.placed[1] == (heap([1]), heap([4, 6]))


@pytest.mark.parametrize(("start", "ranks"), [(0, (1, 0)), (5, (0, 1)), (9, (0, 1)), (10, (1, 0))])
def test_equal_totals_are_won_by_the_pawn_farther_from_the_start(start: int, ranks: tuple[int, int]) -> None:
    """Farther clockwise from wherever the start is; on the start space itself is the least far."""
    state = position(board=Board(tuple(DEFAULT["areas"]), start), pawns=(4, 9), hands=(0, 0))
    assert GAME.scores(state) == (0, 0)
    assert GAME.ranks(state) == ranks


def test_another_board_is_played_on() -> None:
    """The printed board is not known: spaces and start are data, and pawns are packed past index 0."""
    state = GAME.start(3, ScriptedDice([4] * 33), OTHER)
    assert state.pawns == (13, 14, 0)
    after = GAME.apply(state, {0: 3}, ScriptedDice([]))
    assert (after.pawns[0], after.placed[AREAS.index(8)]) == (2, (heap([4]), 0, 0))
    breaking = GAME.apply(state._replace(pawns=(9, 14, 0)), {0: 3}, ScriptedDice([6] * 10))
    assert breaking.hands[0] == heap([6] * 10)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"areas": [1] * 14}, "areas"),
        ({"areas": [1] * 14 + [4]}, "one of"),
        ({"areas": [1] * 14 + [True]}, "True"),
        ({"areas": 15}, "areas 15"),
        ({"start": 15}, "start 15"),
        ({"start": -1}, "start -1"),
        ({"start": True}, "start True"),
        ({"ring": 1}, "unknown option 'ring' of birth: options are areas, start"),
    ],
)
def test_a_board_that_does_not_fit_is_told(changed: dict[str, Any], told: str) -> None:
    """Options are typed by people."""
    with pytest.raises(BadOption, match=told):
        GAME.options(changed)


@pytest.mark.parametrize("action", [0, 2, 5, 6, -1])
def test_a_die_that_is_not_in_hand_is_refused(action: int) -> None:
    """Playing it would make dice out of nothing."""
    with pytest.raises(ValueError, match=rf"seat 0 cannot play a {action + 1}: its hand is \(2,\)"):
        GAME.apply(position(), {0: action}, ScriptedDice([]))


def test_a_seat_that_forfeited_plays_its_lowest_face() -> None:
    """The others need to know what it will do."""
    state = position(hands=(heap([6, 3, 5]), heap([3])))
    assert GAME.default_action(state, 0) == 2
    assert actions(state.hands[0]) == (2, 4, 5)


def test_the_picture_shows_ring_dice_and_points() -> None:
    """What a person needs to follow a match."""
    state = position(turn=20, placed=((heap([6, 2]), heap([5])), *((0, 0),) * 4))
    assert GAME.picture(state).splitlines() == [
        "turn 21 of 22, seat 0 to play",
        "",
        "area (* start)  1*  1  1  1  1  2  2  2  2  3  3  3  5  5  8",
        "pawn of seat    .   .  .  0  .  .  .  1  .  .  .  .  .  .  .",
        "",
        "        hand  in 1  in 2  in 3  in 5  in 8  absolute  relative  total",
        "seat 0  2     26    -     -     -     -     2         8         10",
        "seat 1  3     5     -     -     -     -     1         0         1",
    ]
    assert GAME.picture(position(hands=(0, 0))).startswith("the match is over\n")


def test_a_known_match() -> None:
    """Seed 00 … 1f, everybody playing the lowest face: another engine must end at the same points."""
    dice = KeyedDice(SEED)
    state = GAME.start(3, dice, DEFAULT)
    assert faces(state.hands[1]) == (1, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6)
    while GAME.pending(state):
        state = GAME.apply(state, {state.mover: GAME.default_action(state, state.mover)}, dice)
    assert (state.pawns, GAME.scores(state), GAME.ranks(state)) == ((8, 5, 10), (33, 56, 70), (2, 1, 0))


@pytest.mark.parametrize(("seats", "total", "births", "breaks"), [(2, 55.0, 7.4, 1.1), (3, 49.3, 14.8, 1.8)])
def test_random_play_has_the_known_averages(seats: int, total: float, births: float, breaks: float) -> None:
    """An independent model's averages over 4,000 matches; the bounds are about five standard errors of 300."""
    source = random.Random(seats)
    scores: list[int] = []
    keys: list[str] = []
    for _ in range(300):
        dice = Recorder(source)
        *_, last = turns(seats, dice, source)
        scores += GAME.scores(last.after)
        keys += [key.rpartition("/")[2] for key in dice.rolled]
    assert sum(scores) / len(scores) == pytest.approx(total, abs=2)
    assert keys.count("birth") / 300 == pytest.approx(births, abs=0.8)
    assert keys.count("break") / 300 == pytest.approx(breaks, abs=0.4)


@pytest.mark.parametrize("seats", GAME.seats)
@pytest.mark.parametrize("options", [DEFAULT, OTHER])
def test_playouts_follow_the_rules(seats: int, options: Any) -> None:
    """The searcher's quick position beside the referee's: a slip in it would only make the bot weaker."""
    source = random.Random(seats)
    for _ in range(20):
        dice = Recorder(source)
        match = list(turns(seats, dice, source, options))
        quick = Quick(match[0].before)
        for number, turn in enumerate(match):
            thrown = [dice.rolled.get(f"turn/{number}/{cause}", ()) for cause in ("birth", "break")]
            draws = iter([(face - 0.5) / 6 for faces in thrown for face in faces])
            quick.play(turn.face - 1, draws.__next__)
            assert next(draws, None) is None
            expected = Quick(turn.after)
            assert all(getattr(quick, name) == getattr(expected, name) for name in Quick.__slots__)
        scores = GAME.scores(match[-1].after)
        best = [max(scores[:seat] + scores[seat + 1 :]) for seat in range(seats)]
        assert [quick.result(seat) for seat in range(seats)] == [
            own - other for own, other in zip(scores, best, strict=True)
        ]


def wins(one: Strategy, other: Strategy, matches: int) -> int:
    """How often one beats the other, in both seats by turns."""
    source, won = random.Random(9), 0
    for number in range(matches):
        seat, dice = number % 2, RandomDice(source)
        players = (one, other) if seat == 0 else (other, one)
        state = GAME.start(2, dice, DEFAULT)
        while pending := GAME.pending(state):
            action = players[state.mover](state, state.mover, pending[state.mover], source)
            state = GAME.apply(state, {state.mover: action}, dice)
        won += GAME.ranks(state)[seat] == 0
    return won


def uniform(state: State, seat: int, legal: Sequence[int], source: random.Random) -> int:  # noqa: ARG001
    return source.choice(legal)


@pytest.mark.parametrize(("better", "worse"), [("cautious", "random"), ("greedy", "cautious")])
def test_each_builtin_beats_the_one_below_it(better: str, worse: str) -> None:
    """The ladder of an empty arena has an order; they win about 64 of 100."""
    players = {"random": uniform, **STRATEGIES}
    assert wins(players[better], players[worse], 200) > 108
