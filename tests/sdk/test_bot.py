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
from arena.v1.referee_pb2 import Decision, MatchEnd, PlayRequest, PlayResponse, Update
from arena_bot import Bot, Turn
from arena_bot.bot import seated
from arena_bot.table import Table
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


def chosen(reply: bytes | None) -> list[int]:
    """The actions in a frame of choices."""
    assert reply is not None
    return [choice.action for choice in PlayRequest.FromString(reply).choices]


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
    table.answer(PlayResponse(starts=[start(4, seat=0), start(5, seat=1)]))
    end = MatchEnd(match=4, ranks=[1, 0])
    table.answer(PlayResponse(updates=[Update(match=4)], decisions=[decision(5, 3)], ends=[end]))
    told = [("start", 0), ("start", 1), ("update", 0), ("choose", 1), ("end", 1)]
    assert Diary.pages == told


def test_a_frame_without_decisions_is_not_answered() -> None:
    """There is nothing to say, and idle frames would be counted as a flood."""
    table = Table(First)
    assert table.answer(PlayResponse(starts=[start(4)])) is None
    assert table.answer(PlayResponse(ends=[MatchEnd(match=4)])) is None


def test_a_match_number_may_be_used_again() -> None:
    """The bot of a finished match is forgotten: a process lives for thousands of them."""
    table = Table(First)
    for seat in (0, 1):
        table.answer(PlayResponse(starts=[start(4, seat=seat)], ends=[MatchEnd(match=4)]))
    with pytest.raises(KeyError):
        table.answer(PlayResponse(decisions=[decision(4, 0)]))


def choosing(choice: Any) -> Table:
    """A table with match 1, whose bot always makes this choice."""

    class Stubborn(Bot):
        def choose(self, turn: Turn) -> int:  # noqa: ARG002
            return choice  # type: ignore[no-any-return]

    table = Table(Stubborn)
    table.answer(PlayResponse(starts=[start(1)]))
    return table


class Numpy:
    """What the integers of numpy are to us: no int, but with an index."""

    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize("choice", [3, Numpy(), 777], ids=["int", "numpy", "illegal"])
def test_every_integer_travels(choice: Any) -> None:
    """Whether it is legal is the referee's to say, with the evidence it keeps."""
    reply = choosing(choice).answer(PlayResponse(decisions=[decision(1, 0, (3, 5))]))
    assert chosen(reply) == [777 if choice == 777 else 3]


@pytest.mark.parametrize("choice", [None, "3", 3.0])
def test_a_choice_that_is_no_integer_is_named(choice: Any) -> None:
    """A forgotten return is the commonest bug of a first bot."""
    with pytest.raises(TypeError, match=f"Stubborn.choose returned {choice!r}: an action is an int"):
        choosing(choice).answer(PlayResponse(decisions=[decision(1, 0)]))


@pytest.mark.parametrize("choice", [-1, 2**32])
def test_a_number_that_cannot_travel_is_named(choice: int) -> None:
    """-1 for "nothing found" is a bug of the bot; the wire has no sign."""
    with pytest.raises(ValueError, match=f"Stubborn.choose returned {choice}: actions are 0 … 4294967295"):
        choosing(choice).answer(PlayResponse(decisions=[decision(1, 0)]))


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
