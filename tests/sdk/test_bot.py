"""What a bot is told and asked, and which of its answers travel: the protocol without a wire."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct

from arena import games
from arena.games import KeyedDice
from arena.v1.birth_pb2 import BirthView
from arena.v1.buttons_pb2 import ButtonsView
from arena.v1.referee_pb2 import Decision, Limits, MatchEnd, PlayRequest, PlayResponse, Update
from arena_bot import Bot, Turn
from arena_bot.bot import seated
from arena_bot.table import NoAction, Table
from tests.sdk.referee import decision, start


class First(Bot):
    """Chooses the first legal action."""

    def choose(self, turn: Turn) -> int:
        return turn.legal[0]


class Diary(First):
    """Writes down what happens to it."""

    matches = 2
    updates = True
    pages: list[tuple[str, int]] = []  # noqa: RUF012 - one diary for all matches of a test

    def start(self) -> None:
        self.pages.append(("start", self.seat))

    def choose(self, turn: Turn) -> int:
        self.pages.append(("choose", self.seat))
        return super().choose(turn)

    def update(self, update: Update) -> None:  # noqa: ARG002
        self.pages.append(("update", self.seat))

    def end(self, end: MatchEnd) -> None:
        self.pages.append(("end", end.ranks[self.seat]))


def answers(table: Table, frame: PlayResponse) -> list[list[int]]:
    """The actions in each frame of choices that answers a frame."""
    return [[choice.action for choice in PlayRequest.FromString(reply).choices] for reply in table.answer(frame)]


def turn_of(asked: Decision, **match: Any) -> Turn:
    return Turn(seated(First, start(1, **match)), asked)


def test_a_bot_says_how_many_matches_it_holds_and_what_it_wants() -> None:
    """Class attributes, since there is one hello for all matches."""
    hello = PlayRequest.FromString(Table(Diary).hello("secret")).hello
    assert (hello.token, hello.matches, hello.updates) == ("secret", 2, True)


def test_a_frame_is_read_in_the_order_of_its_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match may start, move and end in one frame; each bot hears only of its own."""
    monkeypatch.setattr(Diary, "pages", [])
    table = Table(Diary)
    answers(table, PlayResponse(starts=[start(4, seat=0), start(5, seat=1)]))
    end = MatchEnd(match=4, ranks=[1, 0])
    answers(table, PlayResponse(updates=[Update(match=4)], decisions=[decision(5, 3)], ends=[end]))
    told = [("start", 0), ("start", 1), ("update", 0), ("choose", 1), ("end", 1)]
    assert Diary.pages == told


def test_a_frame_without_decisions_is_not_answered() -> None:
    """There is nothing to say, and idle frames would be counted as a flood."""
    table = Table(First)
    assert answers(table, PlayResponse(starts=[start(4)])) == []
    assert answers(table, PlayResponse(ends=[MatchEnd(match=4)])) == []


class Clock:
    """Time passes while bots think, and only then."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def thinkers(self, seconds: float, decision_ms: int, starting: float = 0.0) -> Table:
        """A table of three matches whose bots think for so long at each decision, and at the start of a match."""

        class Thinker(First):
            def start(_) -> None:
                self.now += starting

            def choose(_, turn: Turn) -> int:
                self.now += seconds
                return turn.legal[0]

        table = Table(Thinker)
        limits = Limits(decision_ms=decision_ms)
        answers(table, PlayResponse(starts=[start(match, limits=limits) for match in (1, 2, 3)]))
        return table


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time by which bots tell how long they took."""
    clock = Clock()
    monkeypatch.setattr("arena_bot.table.monotonic", clock)
    return clock


ASKED = PlayResponse(decisions=[decision(match, 0, range(match, 9)) for match in (1, 2, 3)])


@pytest.mark.parametrize(
    ("seconds", "replies"),
    [(0.01, [[1, 2, 3]]), (0.13, [[1, 2], [3]]), (0.25, [[1], [2], [3]]), (2.0, [[1], [2], [3]])],
)
def test_what_is_decided_is_said_at_least_every_quarter_of_a_limit(
    clock: Clock, seconds: float, replies: list[list[int]]
) -> None:
    """Who is silent for long is taken for stopped; a frame that is answered quickly is answered by one."""
    assert answers(clock.thinkers(seconds, 1000), ASKED) == replies


def test_the_smallest_limit_counts(clock: Clock) -> None:
    """Of matches that differ."""
    table = clock.thinkers(0.13, 1000)
    answers(table, PlayResponse(starts=[start(4, limits=Limits(decision_ms=400))]))
    assert answers(table, ASKED) == [[1], [2], [3]]


def test_where_there_is_no_limit_a_frame_is_answered_by_one(clock: Clock) -> None:
    """As under a debugger, or by an arena that names none."""
    assert answers(clock.thinkers(1000.0, 0), ASKED) == [[1, 2, 3]]
    assert answers(clock.thinkers(1000.0, 2**32 - 1), ASKED) == [[1, 2, 3]]


def test_what_the_starts_in_a_frame_take_counts_too(clock: Clock) -> None:
    """The referee's clock runs from the sending of the frame."""
    table = clock.thinkers(0.01, 1000, starting=0.3)
    begun = PlayResponse(starts=[start(4)], decisions=ASKED.decisions)
    assert answers(table, begun) == [[1], [2, 3]]


def test_a_match_number_may_be_used_again() -> None:
    """The bot of a finished match is forgotten: a process lives for thousands of them."""
    table = Table(First)
    for seat in (0, 1):
        answers(table, PlayResponse(starts=[start(4, seat=seat)], ends=[MatchEnd(match=4)]))
    with pytest.raises(KeyError):
        answers(table, PlayResponse(decisions=[decision(4, 0)]))


def choosing(choice: Any) -> Table:
    """A table with match 1, whose bot always makes this choice."""

    class Stubborn(Bot):
        def choose(self, turn: Turn) -> int:  # noqa: ARG002
            return choice  # type: ignore[no-any-return]

    table = Table(Stubborn)
    answers(table, PlayResponse(starts=[start(1)]))
    return table


class Numpy:
    """What the integers of numpy are to us: no int, but with an index."""

    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize("choice", [3, Numpy(), 777], ids=["int", "numpy", "illegal"])
def test_every_integer_travels(choice: Any) -> None:
    """Whether it is legal is the referee's to say, with the evidence it keeps."""
    replies = answers(choosing(choice), PlayResponse(decisions=[decision(1, 0, (3, 5))]))
    assert replies == [[777 if choice == 777 else 3]]


@pytest.mark.parametrize("choice", [None, "3", 3.0])
def test_a_choice_that_is_no_integer_is_named(choice: Any) -> None:
    """A forgotten return is the commonest bug of a first bot."""
    with pytest.raises(NoAction, match=f"Stubborn.choose returned {choice!r}: return one of turn.legal"):
        answers(choosing(choice), PlayResponse(decisions=[decision(1, 0)]))


def test_the_name_of_an_action_is_recognised() -> None:
    """Who returns the name of an action is told how to make an action of it."""
    with pytest.raises(NoAction, match=r"returned 'place 1,5': an action is a number, return turn.action"):
        answers(choosing("place 1,5"), PlayResponse(decisions=[decision(1, 0)]))


@pytest.mark.parametrize("choice", [-1, 2**32])
def test_a_number_that_cannot_travel_is_named(choice: int) -> None:
    """-1 for "nothing found" is a bug of the bot; the wire has no sign."""
    with pytest.raises(NoAction, match=f"Stubborn.choose returned {choice}: actions are 0 … 4294967295"):
        answers(choosing(choice), PlayResponse(decisions=[decision(1, 0)]))


@pytest.mark.parametrize("legal", [range(128), (3, 5, 90)], ids=["range", "list"])
def test_legal_actions_arrive_as_they_were_sent(legal: range | tuple[int, ...]) -> None:
    """Ranges stay ranges: `action in turn.legal` costs nothing then."""
    turn = turn_of(decision(1, 12, legal, bank_ms=9500))
    assert (turn.legal, turn.number, turn.bank) == (legal, 12, 9.5)
    assert repr(turn) == f"<Turn 12 of buttons, legal {legal!r}>"


def test_the_view_is_the_message_of_its_game() -> None:
    """An author reads `turn.buttons.seats[0].cards` and the type checker knows the names."""
    turn = turn_of(decision(1, 0, buttons=ButtonsView(gold=4)))
    assert turn.buttons.gold == 4
    assert turn.view == turn.buttons
    assert turn_of(decision(1, 0, birth=BirthView(turn=2))).birth.turn == 2


def test_a_view_of_another_game_is_refused() -> None:
    """An empty message instead would be a position that never was."""
    turn = turn_of(decision(1, 0, buttons=ButtonsView()))
    with pytest.raises(AttributeError, match=r"turn\.birth is not there: the match is one of buttons"):
        _ = turn.birth


def test_options_arrive_as_plain_data() -> None:
    """On the wire every number is a float; a list index must be an int again."""
    given: dict[str, Any] = {
        "cap": 200,
        "share": 0.5,
        "sides": [{"name": "K", "cells": [1, 2]}],
        "quick": True,
        "none": None,
    }
    options = Struct()
    options.update(given)
    bot = seated(First, start(1, options=options))
    assert bot.options == given
    assert isinstance(bot.options["cap"], int)
    assert isinstance(bot.options["quick"], bool)


@pytest.mark.parametrize("name", games.names())
def test_the_state_of_a_turn_is_the_referees_own(name: str) -> None:
    """Authors search from it with the real rules, so it must be the real position."""
    rules, luck = games.game(name), Random(1)
    options = Struct()
    options.update(rules.defaults)
    bot = seated(First, start(1, game=name, options=options))
    dice, state = KeyedDice(bytes(32)), rules.start(2, KeyedDice(bytes(32)), rules.defaults)
    for number in range(20):
        pending = rules.pending(state)
        for seat in pending:
            view: dict[str, Any] = {rules.view_field: rules.view(state, seat)}
            assert Turn(bot, decision(1, number, **view)).state == state
        state = rules.apply(state, {seat: luck.choice(legal) for seat, legal in pending.items()}, dice)


@pytest.mark.parametrize("name", games.names())
def test_actions_have_names(name: str) -> None:
    """For the log of a bot that explains itself."""
    turn = turn_of(decision(1, 0), game=name)
    assert turn.action(turn.name(1)) == 1
