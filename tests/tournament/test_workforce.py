"""Which workers there are on several hosts, how many of them play, and how many matches each holds."""

from __future__ import annotations

import pytest

from arena.referee import loans
from arena.tournament.workforce import DealtWorker, Workforce
from arena.worker.jobs import Trouble
from tests.referee.fakes import VirtualTime
from tests.tournament.scripted_hosts import ScriptedHosts, matches

HEARD = 40
"""Deliveries after which the backlog of a worker follows its speed."""


@pytest.fixture
def hosts() -> tuple[ScriptedHosts, ScriptedHosts]:
    """A host with room for two workers, and one for three."""
    return ScriptedHosts(2), ScriptedHosts(3)


def fill(workforce: Workforce) -> list[DealtWorker]:
    """Start workers as long as there is room, and return them."""
    started = []
    while (host := workforce.next_host()) is not None:
        started.append(host.start())
    return started


def test_workers_are_started_where_there_are_the_fewest(hosts: tuple[ScriptedHosts, ScriptedHosts]) -> None:
    """So all machines have about as much to do, until the smaller one is full; then the others go on."""
    workforce = Workforce()
    workforce.see_hosts(hosts)
    counts = []
    while (host := workforce.next_host()) is not None:
        host.start()
        counts.append(tuple(len(host.started) for host in hosts))
    assert counts == [(1, 0), (1, 1), (2, 1), (2, 2), (2, 3)]


def test_no_more_play_than_a_phase_is_worth(hosts: tuple[ScriptedHosts, ScriptedHosts]) -> None:
    """Also of workers that earlier phases have started, as each of them would start the bots once more."""
    workforce = Workforce()
    workforce.see_hosts(hosts)
    workforce.enough = 1
    (first,) = fill(workforce)
    workforce.enough = 5
    others = fill(workforce)
    assert len(others) == 4
    assert set(workforce.wanted()) == {first, *others}
    workforce.enough = 2
    assert workforce.wanted() == [first, others[0]], "one on each host"


def test_a_host_that_is_gone_is_forgotten_once_nothing_of_it_is_left(
    hosts: tuple[ScriptedHosts, ScriptedHosts],
) -> None:
    """It may come back at once, and what its workers delivered before is still to be heard."""
    workforce = Workforce()
    workforce.see_hosts(hosts)
    workers = fill(workforce)
    workforce.see_hosts(hosts[:1])
    assert set(workforce.workers) == set(workers)
    for worker in workers:
        workforce.remove(worker)
    workforce.see_hosts(hosts[:1])
    assert len(fill(workforce)) == 2, "only the first host has room"


def backlog_at(rate: float) -> int:
    """Return how many matches a worker may hold that has played so many a second for a while."""
    time = VirtualTime()
    workforce = Workforce(time.time)
    workforce.see_hosts([ScriptedHosts(1)])
    (worker,) = fill(workforce)
    worker.deal(matches(HEARD), Trouble())
    for _ in range(HEARD):
        worker.receive()
        time.pass_by(1 / rate)
    return worker.backlog


@pytest.mark.parametrize("rate", [3, 30])
def test_a_worker_holds_matches_for_some_seconds(rate: int) -> None:
    """If they lasted a moment, frames would be half empty; if they lasted long, others would be idle at the end."""
    assert 3 * rate < backlog_at(rate) < 8 * rate


def test_however_quick_a_worker_is_it_holds_enough_for_its_bots() -> None:
    """A bot's process that is asked as much as it may be needs as many matches at the same time."""
    assert backlog_at(1e6) > loans.in_flight()
