"""What is lent to the core is away from its table, and comes back as if it had never been."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena import games
from arena.games.dice import KeyedDice
from arena.referee import loans
from arena.referee.limits import Bank
from arena.referee.match import Asked, Match
from arena.referee.seat import BotSeat
from tests.referee.fakes import LIMITS, Wire

SEED = bytes(32)


class Lender:
    """Ends the loan when it is told to take the match back."""

    def __init__(self, wires: tuple[Wire, Wire]) -> None:
        self.at = {seat: wire.stream.seat(seat, 2, LIMITS, b"") for seat, wire in enumerate(wires)}
        seats = [(wire.stream.questions, self.at[seat]) for seat, wire in enumerate(wires)]
        game = games.game("buttons")
        options = game.options({})
        self.loan = loans.lend(self, Match(game, 2, options, KeyedDice(SEED)), options, SEED, seats)
        self.returned: loans.Returned | None = None

    def take_back(self) -> None:
        assert self.loan is not None
        self.returned = self.loan.end()


def asked(wire: Wire) -> tuple[int, int, int]:
    """Of the one decision that is sent: the match, its number and a legal action."""
    (decision,) = [decision for frame in wire.sent() for decision in frame.decisions]
    return decision.match, decision.decision, decision.legal[0] if decision.legal else decision.legal_first


STALE: list[Callable[[BotSeat], object]] = [
    lambda at: at.decision,
    lambda at: at.question,
    lambda at: at.opening,
    lambda at: at.answers,
    lambda at: at.repeats,
    lambda at: at.times,
    lambda at: at.charged,
    lambda at: at.charge,
]


@pytest.mark.parametrize("read", STALE)
def test_what_is_stale_of_a_seat_that_is_lent_cannot_be_read(read: Callable[[BotSeat], object]) -> None:
    """An old answer or time that looks like a new one would be found by nobody."""
    at = BotSeat(1, 0, 2, Bank.full(LIMITS), updates=False, evidence=dict)
    at.lend(lambda seat: 7 + seat)
    assert at.last_asked == 7
    with pytest.raises(AttributeError):
        read(at)
    at.take_back([0.25], b"")
    read(at)
    assert (at.decision, at.times, at.bank.first) == (Asked(0, 7, ()), [0.25], False)


@pytest.mark.needs("core")
def test_questions_of_the_core_and_of_tables_take_turns() -> None:
    """They share no frame, and neither keeps the others waiting for long."""
    wires = Wire(), Wire()
    wire, lender = wires[0], Lender(wires)
    assert lender.loan is not None
    at = wire.sit()
    wire.ask(at, 1)
    assert wire.stream.questions.queued == 2
    first = asked(wire)
    assert (first[0], wire.stream.questions.owing(wire.stream.held)) == (1, [lender.at[0]])
    wire.say(first)
    assert asked(wire)[0] == 2
    assert wire.stream.questions.owing(wire.stream.held) == [at]
    assert lender.returned is None


@pytest.mark.needs("core")
def test_a_frame_with_something_unusual_brings_the_matches_back_that_it_names() -> None:
    """With what they owed: the answer is judged at the table."""
    wires = Wire(), Wire()
    lender = Lender(wires)
    asked(wires[0])
    wires[0].say((1, 1, 255))
    assert wires[0].heard == [(1, 1, 255)]
    assert lender.returned == ((), {}, {0})
    assert wires[1].stream.questions.queued == 0


@pytest.mark.needs("core")
def test_a_match_whose_bot_wants_updates_stays_at_its_table() -> None:
    """The core tells nobody of a step."""
    assert Lender((Wire(), Wire(updates=True))).loan is None
