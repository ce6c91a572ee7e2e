"""How many workers play on a machine that is sometimes too busy, tested in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import pytest

from arena.referee.match import Void, VoidReason
from arena.tournament.worker_pool import Workers
from arena.tournament.workforce import FIRST_BACKLOG, HICCUP, QUIET, Width
from arena.worker.jobs import Entrant, Played, SeatRecord, Task
from tests.referee.fakes import VirtualTime
from tests.tournament.scripted_hosts import ScriptedHosts, ScriptedWorker, matches, tie

JOBS = 4
TOO_BUSY = Void(VoidReason.OVERLOAD, "too busy")


@pytest.fixture
def time() -> VirtualTime:
    """A clock that moves only when the test says so."""
    return VirtualTime()


@pytest.fixture
def width(time: VirtualTime) -> Width:
    """The width of a ladder with four workers."""
    return Width(JOBS, time.time)


def test_all_play_on_a_machine_that_nobody_complains_of(width: Width, time: VirtualTime) -> None:
    """Without complaints all workers play, and never more than there are, however long the machine is quiet."""
    assert width.now == JOBS
    time.pass_by(100 * QUIET)
    assert width.now == JOBS


def test_a_worker_stays_away_until_it_was_quiet_for_a_while(width: Width, time: VirtualTime) -> None:
    """After a complaint one worker gets no matches for exactly `QUIET` seconds."""
    width.narrow()
    assert width.now == JOBS - 1
    time.pass_by(0.99 * QUIET)
    assert width.now == JOBS - 1
    time.pass_by(0.01 * QUIET)
    assert width.now == JOBS


def test_one_more_comes_back_after_every_quiet_while(width: Width, time: VirtualTime) -> None:
    """One worker comes back after every `QUIET` seconds; a complaint starts that time again."""
    width.narrow()
    time.pass_by(QUIET / 2)
    width.narrow()
    seen = [width.now]
    for _ in range(5):
        time.pass_by(QUIET / 2)
        seen.append(width.now)
    assert seen == [JOBS - 2, JOBS - 2, JOBS - 1, JOBS - 1, JOBS, JOBS]


def test_after_a_quiet_while_a_complaint_costs_one_worker_again(width: Width, time: VirtualTime) -> None:
    """Earlier complaints do not count once the machine was quiet."""
    for _ in range(3):
        width.narrow()
        assert width.now == JOBS - 1
        time.pass_by(QUIET)


def test_what_several_say_of_one_hiccup_counts_once(width: Width, time: VirtualTime) -> None:
    """A short overload affects every worker, so complaints within `HICCUP` seconds count as one, later ones anew."""
    for _ in range(JOBS):
        width.narrow()
        time.pass_by(0.9 * HICCUP / JOBS)
    assert width.now == JOBS - 1
    time.pass_by(0.1 * HICCUP)
    width.narrow()
    assert width.now == JOBS - 2


def test_a_machine_that_is_still_too_busy_seconds_later_gets_rid_of_one_more(width: Width, time: VirtualTime) -> None:
    """Within a second it is the same overload that others complain of; five seconds later one fewer was too few."""
    width.narrow()
    time.pass_by(1)
    width.narrow()
    assert width.now == JOBS - 1
    time.pass_by(4)
    width.narrow()
    assert width.now == JOBS - 2


def test_a_worker_comes_back_neither_at_once_nor_late(width: Width, time: VirtualTime) -> None:
    """On a machine that is still busy it would cost another void match; half a minute without it is time lost."""
    width.narrow()
    time.pass_by(5)
    assert width.now == JOBS - 1
    time.pass_by(20)
    assert width.now == JOBS


def test_one_always_plays(width: Width, time: VirtualTime) -> None:
    """At least one worker plays, or the ladder would never end; from there the others come back as usual."""
    for _ in range(3 * JOBS):
        width.narrow()
        time.pass_by(HICCUP)
    assert width.now == 1
    time.pass_by((JOBS - 1) * QUIET)
    assert width.now == JOBS


def test_who_plays_alone_is_never_sent_away(time: VirtualTime) -> None:
    """A single worker keeps playing after a complaint."""
    width = Width(1, time.time)
    width.narrow()
    assert width.now == 1


def test_a_run_that_begins_on_a_busy_machine_ends_at_full_width() -> None:
    """A complaint at time 0 counts like any other."""
    time = VirtualTime()
    time.now = 0.0
    width = Width(JOBS, time.time)
    width.narrow()
    assert width.now == JOBS - 1
    time.pass_by(QUIET)
    assert width.now == JOBS


def overburdened(worker: ScriptedWorker, task: Task) -> Played:
    """Play a match: it is void for overload if its id begins with "busy"."""
    return tie(worker, task)._replace(outcome=None, void=TOO_BUSY) if task.id.startswith("busy") else tie(worker, task)


def who_plays(workers: Workers, tasks: Sequence[Task]) -> Counter[int]:
    """How many matches of a phase each worker plays, by its number."""
    return Counter(played.conditions["worker"] for played in chain.from_iterable(workers.play(tasks)))


def test_workers_that_stay_away_get_no_matches(time: VirtualTime) -> None:
    """The other workers play all matches. A worker that comes back is the same as before."""
    with Workers(ScriptedHosts(2, overburdened), clock=time.time) as workers:
        assert who_plays(workers, matches(16, "busy")).keys() == {0, 1}
        assert who_plays(workers, matches(16, "quiet")).keys() == {0}
        time.pass_by(QUIET)
        assert who_plays(workers, matches(16, "quiet again")).keys() == {0, 1}


@pytest.mark.parametrize(
    ("count", "took", "wide"), [(255, 0.003, 1), (256, 0.003, 2), (255, 0.01, 2), (20, 1.0, 2), (255, None, 2)]
)
def test_few_matches_of_quick_bots_start_few(count: int, took: float | None, wide: int) -> None:
    """Each worker has to start every bot, so a second worker is used only for many matches or for slow bots.

    A bot takes about a second to start, so five seconds of thinking are worth it, and less than two are not. A bot of
    unknown speed (None) may be slow.
    """

    def think(worker: ScriptedWorker, task: Task) -> Played:
        return tie(worker, task)._replace(seats=(SeatRecord(() if took is None else (took,)),) * 2)

    lineup = (Entrant("ann@1", "digest", ("ann",)),) * 2
    tasks = matches(count, lineup=lineup)
    with Workers(ScriptedHosts(2, think)) as workers:
        who_plays(workers, matches(1, "first", lineup))
        assert len(who_plays(workers, tasks)) == wide


def test_who_is_sent_away_gives_back_what_has_not_begun(time: VirtualTime) -> None:
    """Otherwise it would play all matches that it holds, although the machine is too busy for it."""
    tasks = [*matches(8, "busy"), *matches(2 * FIRST_BACKLOG)]
    with Workers(ScriptedHosts(2, overburdened), clock=time.time) as workers:
        played = who_plays(workers, tasks)
        assert played[1] < FIRST_BACKLOG / 2
    assert played.total() == len(tasks)
