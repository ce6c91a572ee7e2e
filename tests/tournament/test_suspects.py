"""Which match is to blame for workers that died or hosts that were lost: it is void, and costs no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from arena.referee.match import Void, VoidReason
from arena.tournament import WorkersDied
from arena.tournament.crews import Crew
from arena.tournament.paces import Paces
from arena.tournament.phase_stock import Stock
from arena.tournament.suspects import ALONE, DEATHS, LOSSES, Suspects
from arena.worker.jobs import Entrant, Played, Task, Trouble
from tests.tournament.scripted_hosts import matches

KNOWN = Trouble()


FEW = 6
"""Machines that one match may bring down: there are few, and each holds hundreds of other matches."""


def hands_of(stock: Stock) -> list[list[str]]:
    """The ids of the suspects of a phase, hand by hand."""
    return [[task.id for task in hand] for hand in iter(lambda: stock.take_hand(KNOWN), [])]


def ids(tasks: Iterable[Task]) -> list[str]:
    return [task.id for task in tasks]


def test_what_a_dead_worker_held_is_played_in_two_halves() -> None:
    """In the next phase, apart from all others, so that the one to blame is among ever fewer."""
    suspects, every = Suspects(), matches(6)
    assert suspects.note_death(every[:5], "was killed") == []
    stock = suspects.stock(every, KNOWN, Paces())
    assert hands_of(stock) == [["0", "1"], ["2", "3", "4"]]
    assert ids(stock.take(9, KNOWN, Crew())) == ["5"]
    assert not suspects.stock(every, KNOWN, Paces()).has_hands, "they are suspects for one phase"


def test_a_match_that_kills_a_worker_alone_is_void() -> None:
    """It says how, for the one who looks into it."""
    (killer,) = matches(1)
    void = Void(VoidReason.INTERRUPTED, "the worker process was killed, and it played nothing else")
    assert Suspects().note_death([killer], "was killed") == [Played("0", None, void)]


def test_many_matches_that_kill_are_the_fault_of_the_machine() -> None:
    """If nothing is played in between; the same match may kill as often as it is tried.

    A few in a row may still be the doing of one bot.
    """
    suspects, killers = Suspects(), matches(DEATHS + 1)
    for killer in [*killers[:DEATHS], *killers[:DEATHS]]:
        suspects.note_death([killer], "was killed")
    with pytest.raises(WorkersDied, match="a smaller -j"):
        suspects.note_death([killers[DEATHS]], "was killed")
    suspects.note_results([Played("another", None)])
    suspects.note_death([killers[DEATHS]], "was killed")


def test_a_few_matches_that_kill_are_the_doing_of_a_bot() -> None:
    """One that kills its worker in every match is in several at the same time; the others go on."""
    suspects = Suspects()
    for killer in matches(4):
        assert len(suspects.note_death([killer], "was killed")) == 1


def lose(suspects: Suspects, held: list[Task], times: int) -> list[Task]:
    """Lose so many hosts that held these matches among others; return what was given back the last time."""
    given_back: list[Task] = []
    for _ in range(times):
        stock = Stock(())
        assert suspects.note_loss(held, stock, were_apart=False) == []
        given_back = stock.take(len(held), KNOWN, Crew())
    return given_back


def test_a_host_that_is_lost_is_the_fault_of_no_match() -> None:
    """Others play at once what it held."""
    suspects, held = Suspects(), matches(4)
    assert lose(suspects, held, 1) == held
    assert not suspects.stock(held, KNOWN, Paces()).has_hands


def test_a_match_that_many_hosts_were_lost_with_is_played_alone_and_then_void() -> None:
    """One of them that has a result meanwhile is suspected no more."""
    suspects, (innocent, killer) = Suspects(), matches(2)
    lose(suspects, [innocent, killer], LOSSES - 1)
    suspects.note_results([Played(innocent.id, None)])
    assert lose(suspects, [innocent, killer], 1) == [innocent]
    for _ in range(ALONE - 1):
        assert hands_of(suspects.stock([innocent, killer], KNOWN, Paces())) == [[killer.id]]
        assert suspects.note_loss([killer], Stock(()), were_apart=True) == []
    (played,) = suspects.note_loss([killer], Stock(()), were_apart=True)
    said = f"hosts were lost {LOSSES + ALONE} times while they held it, {ALONE} times it alone"
    assert (played.id, played.void) == (killer.id, Void(VoidReason.INTERRUPTED, said))


def test_a_match_that_brings_down_machines_is_found_before_many_are_lost() -> None:
    """First among others, then alone."""
    suspects, every = Suspects(), matches(2)

    def lose_another() -> list[Played]:
        stock = suspects.stock(every, KNOWN, Paces())
        hand = stock.take_hand(KNOWN)
        return suspects.note_loss(hand or every, stock, were_apart=bool(hand))

    assert any(lose_another() for _ in range(FEW))


def test_one_machine_that_is_lost_with_a_match_alone_is_bad_luck() -> None:
    """It may have been held by others that were lost before: machines go for many reasons."""
    suspects, (unlucky,) = Suspects(), matches(1)
    lose(suspects, [unlucky], LOSSES)
    assert suspects.note_loss([unlucky], Stock(()), were_apart=True) == []


def test_only_what_was_played_alone_is_void() -> None:
    """However often it was held among others where hosts were lost."""
    assert lose(Suspects(), matches(1), 2 * (LOSSES + ALONE)) == []


def test_what_was_apart_stays_apart_when_its_host_is_lost() -> None:
    """Among others a match that kills workers would cost them, too."""
    suspects, every = Suspects(), matches(3)
    stock = Stock(())
    assert suspects.note_loss(every[:2], stock, were_apart=True) == []
    assert stock.is_empty(KNOWN)
    assert hands_of(suspects.stock(every, KNOWN, Paces())) == [["0", "1"]]


def test_where_all_suspects_are_retired_matches_are_planned_as_they_are_dealt() -> None:
    """How much is planned of a phase may depend on how long the first of it took."""
    suspects, gone = Suspects(), (Entrant("gone@1", "gone", ("bot",)),)
    suspects.note_death(matches(2, lineup=gone), "was killed")
    dealt: list[str] = []

    def tasks() -> Iterator[Task]:
        for task in matches(3, "new"):
            dealt.append(task.id)
            yield task

    stock = suspects.stock(tasks(), Trouble(retired=frozenset(["gone@1"])), Paces())
    assert (ids(stock.take(1, KNOWN, Crew())), dealt) == (["new 0"], ["new 0"])
