"""What a decision is charged."""

from __future__ import annotations

import pytest

from arena.referee.limits import NO_LIMITS, Bank, Limits, charged
from arena.sandbox.cpu_usage import Usage


@pytest.fixture
def bank() -> Bank:
    """A seat's time at the start of a match, its first decision behind it."""
    full = Bank.full(Limits(decision=1.0, bank=3.0))
    full.charge(0.0)
    return full


def test_time_inside_the_limit_costs_nothing(bank: Bank) -> None:
    """However often: the limit is there to be used."""
    assert all(bank.charge(1.0) for _ in range(100))
    assert bank.left == 3.0


def test_time_over_the_limit_is_drawn_from_the_bank(bank: Bank) -> None:
    """Only what is over it, and it does not come back."""
    assert bank.charge(2.5)
    assert bank.charge(0.1)
    assert bank.left == 1.5


def test_a_bank_may_be_used_up_but_not_overdrawn(bank: Bank) -> None:
    """To the very last moment: charged exactly what there is, nobody has lost."""
    assert bank.charge(4.0)
    assert not bank.charge(1.5)


def test_the_longest_decision_is_its_limit_and_all_of_the_bank(bank: Bank) -> None:
    """The deadline that the referee waits for."""
    assert bank.allowance == 4.0
    bank.charge(2.0)
    assert bank.allowance == 3.0


def test_the_first_decision_has_ten_limits() -> None:
    """Bots build their tables in it."""
    bank = Bank.full(Limits(decision=1.0, bank=3.0))
    assert (bank.limit, bank.allowance) == (10.0, 13.0)
    assert bank.charge(10.0)
    assert (bank.limit, bank.left) == (1.0, 3.0)


def test_a_first_decision_that_is_not_charged_was_the_first_all_the_same() -> None:
    """Or a bot that plays many matches at once would have ten limits for each of its decisions."""
    bank = Bank.full(Limits(decision=1.0, bank=3.0))
    bank.answered()
    assert bank.limit == 1.0


def test_a_bot_under_a_debugger_has_no_limits() -> None:
    """A day is not too long."""
    bank = Bank.full(NO_LIMITS)
    assert bank.charge(86400.0)
    assert bank.charge(86400.0)


# --- What the machine did


def used(cpu: float, *waited: float, referee: float = 0.0) -> Usage:
    """Usage of a bot with so many threads."""
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
    """Of one second by the wall."""
    assert charged(1.0, used(0.0), after) == pytest.approx(charge)


def test_what_was_before_counts_for_nothing() -> None:
    """Nobody saves up waits."""
    assert charged(1.0, used(5.0, 50.0, 70.0), used(5.5, 50.5, 70.0, 0.1)) == pytest.approx(0.5)
