"""In which order the matches of a phase are dealt."""

from __future__ import annotations

from arena.tournament.phase_stock import Stock
from arena.worker.jobs import Entrant, Trouble
from tests.tournament.scripted_hosts import matches

KNOWN = Trouble()
GONE = (Entrant("gone@1", "gone", ("bot",)),)
RETIRED = Trouble(retired=frozenset(["gone@1"]))


def test_matches_are_dealt_in_order_and_last_what_was_given_back() -> None:
    """Who gave some back was slower than the others, so they are about to end."""
    every = matches(5)
    stock = Stock(every[:4])
    assert stock.take(2, KNOWN) == every[:2]
    stock.give_back(every[4:])
    assert stock.take(9, KNOWN) == every[2:]
    assert stock.is_empty(KNOWN)


def test_what_no_match_is_left_of_is_empty() -> None:
    """Matches of a bot that was retired meanwhile are none; asking loses no match."""
    gone, other = matches(1, "gone", lineup=GONE), matches(1)
    assert not Stock(gone).is_empty(KNOWN)
    assert Stock(gone).is_empty(RETIRED)
    stock = Stock([*gone, *other])
    assert not stock.is_empty(RETIRED)
    assert stock.take(9, RETIRED) == other


def test_hands_are_never_dealt_among_other_matches() -> None:
    """As long as there is one the stock is not empty, and what is left of a hand is dealt as a whole."""
    gone, suspects, others = matches(2, "gone", lineup=GONE), matches(2, "suspect"), matches(1)
    stock = Stock(others, [gone, [gone[0], *suspects]])
    assert stock.take(9, RETIRED) == others
    assert not stock.is_empty(RETIRED)
    assert stock.take_hand(RETIRED) == suspects
    assert stock.take_hand(RETIRED) == []
    assert not stock.has_hands
    assert stock.is_empty(RETIRED)
