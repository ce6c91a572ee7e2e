"""What follows from how long bots think: the order of matches, and how many workers they are worth."""

from __future__ import annotations

import sys

import pytest

from arena.referee.match import MatchOutcome
from arena.tournament.paces import AHEAD, Paces
from arena.worker.jobs import Effort, Entrant, Played, SeatRecord, Task, Trouble
from tests.tournament.scripted_hosts import matches

KNOWN = Trouble()
QUICK, SLOW, SLOWER, NEW = (Entrant(f"{name}@1", name, (name,)) for name in ("quick", "slow", "slower", "new"))


def match(*lineup: Entrant) -> Task:
    return matches(1, lineup=lineup)[0]


def played(*seconds: float) -> Played:
    """A match for which the bot in each seat thought so long, in two decisions; one that thought 0 s never joined."""
    times = ((each / 2, each / 2) if each else () for each in seconds)
    return Played("0", MatchOutcome((0, 0), (0, 0)), seats=tuple(map(SeatRecord, times)))


@pytest.fixture
def paces() -> Paces:
    """What is known after a match of each but the new bot."""
    paces = Paces()
    paces.note(match(QUICK, SLOW), played(0.001, 1.0))
    paces.note(match(SLOWER, NEW), played(2.0, 0))
    paces.note(match(NEW, SLOW), Played("0", None))
    return paces


def test_matches_of_slow_bots_come_first(paces: Paces) -> None:
    """The others fill the time meanwhile; where nobody is slow, the order of the schedule stays."""
    tasks = [match(QUICK, QUICK), match(QUICK, NEW), match(SLOW, QUICK), match(NEW, SLOWER), match(NEW, QUICK)]
    assert paces.slowest_first(tasks, KNOWN) == [tasks[3], tasks[2], tasks[0], tasks[1], tasks[4]]


def test_who_plays_one_match_at_a_time_is_slow(paces: Paces) -> None:
    """A phase waits for it, however quickly it thinks; but longer for one that thinks for long."""
    singly = Trouble(single_use=frozenset(["new"]))
    tasks = [match(QUICK, QUICK), match(QUICK, NEW), match(QUICK, SLOW)]
    assert paces.slowest_first(tasks, singly) == [tasks[2], tasks[1], tasks[0]]
    assert paces.worth([match(QUICK, QUICK)], 4, KNOWN) == 1
    assert paces.worth([match(QUICK, QUICK)], 4, Trouble(single_use=frozenset(["quick"]))) == sys.maxsize


def test_a_bot_that_became_slow_is_found_slow_soon(paces: Paces) -> None:
    """Recent matches count most, and a single one changes little."""
    tasks = [match(SLOW, SLOW), match(QUICK, QUICK)]
    paces.note(match(QUICK, QUICK), played(4.0, 4.0))
    assert paces.slowest_first(tasks, KNOWN) == tasks
    for _ in range(5):
        paces.note(match(QUICK, QUICK), played(4.0, 4.0))
    assert paces.slowest_first(tasks, KNOWN) == tasks[::-1]


@pytest.mark.parametrize("other", [SLOW, NEW])
def test_matches_of_a_bot_that_is_slow_or_unknown_are_worth_all_workers(paces: Paces, other: Entrant) -> None:
    """A single match of it may last longer than all the others."""
    assert paces.worth([match(QUICK, QUICK), match(QUICK, other)], 4, KNOWN) == sys.maxsize


def test_waiting_for_processors_is_no_work(paces: Paces) -> None:
    """Among many quick bots each waits for the others most of the time: more of their matches are dealt at once."""
    by_the_clock = paces.ahead(1, 100)
    for _ in range(50):
        paces.note_effort(Effort(cpu=0.1, decisions=100))
    assert paces.ahead(1, 100) > 4 * by_the_clock


def test_who_thinks_long_without_work_is_waited_for_all_the_same(paces: Paces) -> None:
    """A bot that asks another machine, say: all of them think at once, but each has only its own time."""
    paces.note_effort(Effort(cpu=0.0, decisions=100))
    few, many = paces.ahead(2, 20), paces.ahead(2, 200)
    assert few <= AHEAD * 20 / 1.0, "a match takes its bots a second"
    assert many == pytest.approx(10 * few, rel=0.01)
