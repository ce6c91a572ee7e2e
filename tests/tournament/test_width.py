"""How many workers play on a machine that is sometimes too busy, tested in virtual time."""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain
from time import sleep
from typing import cast

import pytest

from arena.referee.limits import Limits
from arena.referee.match import MatchOutcome, Void, VoidReason
from arena.tournament import worker_pool
from arena.tournament.worker_pool import DEALT_MATCHES, HICCUP, QUIET, Width, Workers
from arena.worker import local_host
from arena.worker.jobs import Delivery, Entrant, Link, Played, Task, Trouble
from arena.worker.local_host import LocalHost, WorkerProcess
from tests.referee.fakes import VirtualTime

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


def keep_time(workers: Workers, time: VirtualTime) -> None:
    """Let the width of a pool follow virtual time."""
    workers._see_hosts()
    (host,) = workers._of_host.values()
    host.width = Width(2, time.time)


def overburdened(link: Link, *_: object) -> None:
    """A worker without bots: matches whose id begins with "busy" are void for overload, the others end in a tie.

    The conditions of a result have the id of the worker's process.
    """
    while (order := link.recv()) is not None:
        who = {"worker": os.getpid()}
        for task in order.tasks:
            outcome = None if task.id.startswith("busy") else MatchOutcome((0, 0), (0, 0))
            void = TOO_BUSY if outcome is None else None
            link.send(Delivery([Played(task.id, outcome, void, conditions=who)], Trouble()))
        if order.spare or order.rest:
            link.send(Delivery([], Trouble(), spared=() if order.spare else None, rested=order.rest))
    link.send(Delivery([], Trouble(), last=True))


def pids(workers: Workers) -> list[int | None]:
    """The ids of the worker processes, in the order in which they were started."""
    return [cast("WorkerProcess", worker.running).process.pid for worker in workers._workers()]


def who_plays(workers: Workers, name: str) -> set[int]:
    """The ids of the worker processes that play a phase with enough matches for all workers."""
    tasks = [Task(f"{name} {number}", "birth", {}, bytes(32), (), Limits()) for number in range(JOBS * DEALT_MATCHES)]
    return {played.conditions["worker"] for played in chain.from_iterable(workers.play(tasks))}


def test_workers_that_stay_away_get_no_matches(monkeypatch: pytest.MonkeyPatch, time: VirtualTime) -> None:
    """The other workers play all matches. A worker that comes back is the same process as before."""
    monkeypatch.setattr(local_host, "run_worker", overburdened)
    with Workers(LocalHost(2)) as workers:
        keep_time(workers, time)
        both = who_plays(workers, "busy")
        assert len(both) == 2
        (alone,) = who_plays(workers, "quiet")
        assert alone in both
        time.pass_by(QUIET)
        assert who_plays(workers, "quiet again") == both


@pytest.mark.parametrize(
    ("matches", "took", "wide"), [(255, 0.003, 1), (256, 0.003, 2), (255, 0.02, 2), (20, 1.0, 2), (255, None, 2)]
)
def test_few_matches_of_quick_bots_start_few(
    matches: int, took: float | None, wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each worker has to start every bot, so a second worker is used only for many matches or for slow bots.

    A bot of unknown speed (None) may be slow.
    """
    monkeypatch.setattr(local_host, "run_worker", overburdened)
    entrant = Entrant("ann@1", "digest", ("ann",))
    tasks = [Task(f"{number}", "birth", {}, bytes(32), (entrant,) * 2, Limits()) for number in range(matches)]
    with Workers(LocalHost(2)) as workers:
        if took is not None:
            workers._pace["digest"] = took
        assert len({played.conditions["worker"] for played in chain.from_iterable(workers.play(tasks))}) == wide


def leisurely(link: Link, *_: object) -> None:
    """A worker without bots whose first match is void for overload; it takes 0.05 s for each match."""
    waiting: list[Task] = []
    why: Void | None = TOO_BUSY
    while True:
        while not waiting or link.poll():
            if (order := link.recv()) is None:
                return link.send(Delivery([], Trouble(), last=True))
            waiting += order.tasks
            if order.spare:
                spared = [waiting.pop().id for _ in range((len(waiting) + 1) // 2)]
                link.send(Delivery([], Trouble(), spared=spared))
            if order.rest:
                link.send(Delivery([], Trouble(), rested=True))
        sleep(0.05)
        who, outcome = {"worker": os.getpid()}, None if why else MatchOutcome((0, 0), (0, 0))
        link.send(Delivery([Played(waiting.pop(0).id, outcome, why, conditions=who)], Trouble()))
        why = None


@pytest.mark.long
def test_who_is_sent_away_gives_back_what_has_not_begun(monkeypatch: pytest.MonkeyPatch, time: VirtualTime) -> None:
    """Otherwise it would play all matches that it holds, although the machine is too busy for it."""
    monkeypatch.setattr(local_host, "run_worker", leisurely)
    tasks = [Task(f"{number}", "birth", {}, bytes(32), (), Limits()) for number in range(2 * worker_pool.FIRST_BACKLOG)]
    with Workers(LocalHost(2)) as workers:
        keep_time(workers, time)
        played = Counter(result.conditions["worker"] for result in chain.from_iterable(workers.play(tasks)))
        assert played[pids(workers)[1]] < worker_pool.FIRST_BACKLOG / 2
    assert played.total() == len(tasks)
