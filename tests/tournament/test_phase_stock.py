"""In which order the matches of a phase are dealt."""

from __future__ import annotations

from collections.abc import Iterator

from arena.tournament.crews import Crew
from arena.tournament.phase_stock import Stock
from arena.worker.jobs import Entrant, Task, Trouble
from tests.tournament.scripted_hosts import matches

KNOWN = Trouble()
GONE = (Entrant("gone@1", "gone", ("bot",)),)
RETIRED = Trouble(retired=frozenset(["gone@1"]))


def test_matches_among_the_same_bots_are_dealt_in_order_and_those_given_back_again() -> None:
    """Where nothing has to be started, who was planned first is played first."""
    every, crew = matches(5), Crew()
    stock = Stock(every)
    stock.join(crew)
    taken = stock.take(4, KNOWN, crew, ahead=9)
    assert taken == every[:4]
    stock.give_back(taken[2:])
    assert stock.take(9, KNOWN, crew, ahead=9) == [every[4], *taken[2:]]
    assert stock.is_empty(KNOWN)


def test_no_more_is_looked_at_than_is_known_to_be_played_soon() -> None:
    """What was looked at belongs to the block: with slow bots it must not be hours of play."""
    looked: list[Task] = []

    def tasks() -> Iterator[Task]:
        for task in matches(500):
            looked.append(task)
            yield task

    stock, crew = Stock(tasks()), Crew()
    stock.join(crew)
    stock.take(1, KNOWN, crew)
    assert len(looked) == 1
    stock.take(1, KNOWN, crew, ahead=50)
    assert len(looked) == 51
    stock.take(1, KNOWN, crew, ahead=500)
    assert len(looked) < 150, "few bots have enough with fewer"


def test_what_holds_up_a_phase_comes_first() -> None:
    """Among bots that the worker has not started, too, and it starts them."""
    usual, slow = matches(9), matches(2, "slow", lineup=GONE)
    stock, crew = Stock([*usual, *slow], is_urgent=lambda task: task.id.startswith("slow")), Crew()
    stock.join(crew)
    assert stock.take(4, KNOWN, crew, ahead=20) == [*slow, *usual[:2]]
    assert set(crew.bots) == {"gone", "ann", "bob"}


def test_no_match_that_a_retired_bot_is_in_hides_others() -> None:
    """However many of its matches were looked at before it was retired."""
    gone, other = matches(30, "gone", lineup=GONE), matches(1)
    stock, crew = Stock([*gone, *other]), Crew()
    stock.join(crew)
    stock.take(1, KNOWN, crew, ahead=9)
    assert not stock.is_empty(RETIRED)
    assert stock.take(1, RETIRED, crew) == other
    assert stock.is_empty(RETIRED)


def test_what_no_match_is_left_of_is_empty() -> None:
    """Matches of a bot that was retired meanwhile are none; asking loses no match."""
    gone, other = matches(1, "gone", lineup=GONE), matches(1)
    assert not Stock(gone).is_empty(KNOWN)
    assert Stock(gone).is_empty(RETIRED)
    stock, crew = Stock([*gone, *other]), Crew()
    stock.join(crew)
    assert not stock.is_empty(RETIRED)
    assert stock.take(9, RETIRED, crew) == other


def test_hands_are_never_dealt_among_other_matches() -> None:
    """As long as there is one the stock is not empty, and what is left of a hand is dealt as a whole."""
    gone, suspects, others = matches(2, "gone", lineup=GONE), matches(2, "suspect"), matches(1)
    stock, crew = Stock(others, [gone, [gone[0], *suspects]]), Crew()
    stock.join(crew)
    assert stock.take(9, RETIRED, crew) == others
    assert not stock.is_empty(RETIRED)
    assert stock.take_hand(RETIRED) == suspects
    assert stock.take_hand(RETIRED) == []
    assert not stock.has_hands
    assert stock.is_empty(RETIRED)
