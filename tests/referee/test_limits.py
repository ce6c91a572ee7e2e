"""How much time a bot is charged for a decision, and what that costs its bank."""

from __future__ import annotations

import pytest

from arena.referee.limits import NO_LIMITS, Bank, Limits, charged
from arena.sandbox.cpu_usage import Usage


@pytest.fixture
def bank() -> Bank:
    """The bank of a seat, still full, whose first decision is over."""
    full = Bank.full(Limits(decision=1.0, bank=3.0))
    full.charge(0.0)
    return full


def test_time_inside_the_limit_costs_nothing(bank: Bank) -> None:
    """A bot may use the whole limit for every decision."""
    assert all(bank.charge(1.0) for _ in range(100))
    assert bank.left == 3.0


def test_time_over_the_limit_is_drawn_from_the_bank(bank: Bank) -> None:
    """Only the time over the limit is taken, and a faster decision later does not give it back."""
    assert bank.charge(2.5)
    assert bank.charge(0.1)
    assert bank.left == 1.5


def test_a_bank_may_be_used_up_but_not_overdrawn(bank: Bank) -> None:
    """A bot that uses exactly what is left is in time; with any more it is late."""
    assert bank.charge(4.0)
    assert not bank.charge(1.5)


def test_the_longest_decision_is_its_limit_and_all_of_the_bank(bank: Bank) -> None:
    """The allowance, for which the referee waits, is the limit and what is left of the bank."""
    assert bank.allowance == 4.0
    bank.charge(2.0)
    assert bank.allowance == 3.0


def test_the_first_decision_has_ten_limits() -> None:
    """The first decision may take longer, since bots build their tables in it."""
    bank = Bank.full(Limits(decision=1.0, bank=3.0))
    assert (bank.limit, bank.allowance) == (10.0, 13.0)
    assert bank.charge(10.0)
    assert (bank.limit, bank.left) == (1.0, 3.0)


def test_a_first_decision_that_is_not_charged_was_the_first_all_the_same() -> None:
    """Otherwise a bot that plays many matches at once, uncharged, would have ten limits for every decision."""
    bank = Bank.full(Limits(decision=1.0, bank=3.0))
    bank.answered()
    assert bank.limit == 1.0


def test_a_bot_under_a_debugger_has_no_limits() -> None:
    """Decisions of a day each cost nothing."""
    bank = Bank.full(NO_LIMITS)
    assert bank.charge(86400.0)
    assert bank.charge(86400.0)


# --- What the machine did


def used(cpu: float, *waited: float, referee: float = 0.0) -> Usage:
    """Usage of a bot; `waited` has one number for each of its threads."""
    return Usage(cpu, dict(enumerate(waited)), referee)


@pytest.mark.parametrize(
    ("after", "charge"),
    [
        (used(1.0, 0.0), 1.0),
        (used(0.0, 0.0), 1.0),  # asleep
        (used(0.2, 0.8), 0.2),  # it waited for a processor
        (used(0.1, 0.5, 0.4), 0.5),  # the longest wait of one thread, not all together
        (used(0.1, 0.5, referee=0.3), 0.2),  # its answer lay unread
        (used(0.9, 1.0), 0.9),  # a thread that only waited, and others, or other processes, that worked
        (used(1.9, 0.9, 0.9), 1.9),  # on two processors
        (used(0.1, 0.9)._replace(uncounted=frozenset({7})), 1.0),  # it may have waited for a process of its own
    ],
)
def test_a_bot_pays_for_its_thinking_and_not_for_the_load_of_the_machine(after: Usage, charge: float) -> None:
    """The cases show the charge for one second of wall-clock time."""
    assert charged(1.0, used(0.0), after) == pytest.approx(charge)


def test_what_was_before_counts_for_nothing() -> None:
    """Only waiting during the decision is subtracted, not waiting before it."""
    assert charged(1.0, used(5.0, 50.0, 70.0), used(5.5, 50.5, 70.0, 0.1)) == pytest.approx(0.5)


def test_limits_that_are_not_set_are_not_stored() -> None:
    """A ladder's id follows from its limits, and it must stay as it was before there was one on processor time."""
    assert Limits(1.0, 10.0, 30.0).plain() == {"decision": 1.0, "bank": 10.0, "start": 30.0}
    limited = Limits(1.0, 10.0, 30.0, cpu=5.0)
    assert Limits(**limited.plain()) == limited
    assert Limits(**Limits().plain()) == Limits()
