"""The pool of worker processes when workers die or report late."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, cycle, pairwise
from pathlib import Path

import pytest

from arena.referee.limits import Limits
from arena.referee.match import MatchOutcome, Void, VoidReason
from arena.sandbox import Sandbox
from arena.tournament import NothingStarts, WorkersDied
from arena.tournament.suspects import ALONE, DEATHS, LOSSES
from arena.tournament.worker_pool import Workers
from arena.tournament.workforce import DEALT_MATCHES
from arena.worker import local_host
from arena.worker.bot_process import Bot
from arena.worker.hosts import HostLost, WorkerEnded
from arena.worker.jobs import Delivery, Entrant, Link, Played, StartCommand, Task, Trouble
from arena.worker.local_host import LocalHost, WorkerProcess
from arena.worker.worker import Worker
from ladder import store
from tests.cli.commands import typed
from tests.tournament.playing import in_phases
from tests.tournament.scripted_hosts import PAIR, ScriptedHosts, ScriptedWorker, matches, tie


class Doomed(LocalHost):
    """A host whose worker processes are killed as soon as they are started."""

    started = 0

    def start(self) -> WorkerProcess:
        self.started += 1
        worker = super().start()
        worker.process.kill()
        return worker


def tasks(*ids: str) -> Iterator[Task]:
    return (Task(id, "birth", {}, bytes(32), PAIR, Limits()) for id in ids)


def test_workers_that_die_again_and_again_are_not_replaced_for_ever() -> None:
    """If workers keep dying, something is wrong with the machine: the run ends with advice that mostly helps.

    Only a few matches are void by then.
    """
    host = Doomed(jobs=1)
    voids: list[Played] = []
    with Workers(host) as workers, pytest.raises(WorkersDied, match="a smaller -j"):
        voids.extend(in_phases(workers, matches(16)))
    assert len(voids) < 12
    assert host.started < 48


def test_workers_that_die_now_and_then_are_replaced() -> None:
    """As long as there are results in between, each death is the doing of its match."""

    def dies(worker: ScriptedWorker, task: Task) -> Played:
        if int(task.id) % 2:
            raise WorkerEnded("was killed")
        return tie(worker, task)

    with Workers(ScriptedHosts(1, dies)) as workers:
        results = list(in_phases(workers, matches(4 * DEATHS)))
    assert sum(result.void is not None for result in results) == 2 * DEATHS


def test_a_worker_that_starts_hears_no_ctrl_c() -> None:
    """A worker ignores SIGINT while it starts, even the first one, with which multiprocessing starts its tracker."""
    code = """
import os
import signal
from arena.worker.worker_process import start_process
process, _ = start_process(id)
os.kill(process.pid, signal.SIGINT)  # Python has not even begun in it
process.join()
raise SystemExit(process.exitcode)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def fragile(link: Link, *_: object) -> None:
    """A worker without bots, whose matches end in a tie; a match whose id begins with "killer" kills the worker."""
    while (order := link.recv()) is not None:
        for task in order.tasks:
            if task.id.startswith("killer"):
                os.kill(os.getpid(), signal.SIGKILL)
            link.send(Delivery([Played(task.id, MatchOutcome((0, 0), (0, 0)))], Trouble()))
        if order.spare or order.rest:
            link.send(Delivery([], Trouble(), spared=() if order.spare else None, rested=order.rest))
    link.send(Delivery([], Trouble(), last=True))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_match_that_kills_its_worker_is_void_and_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """All other matches that the worker held are played, each once, so the ladder goes on."""
    monkeypatch.setattr(local_host, "run_worker", fragile)
    ids = [f"killer {number}" if number in (7, 30) else f"{number}" for number in range(40)]
    with Workers(LocalHost(2)) as workers:
        results = list(in_phases(workers, list(tasks(*ids))))
    assert sorted(played.id for played in results) == sorted(ids)
    voids = {played.id: played.void for played in results if played.outcome is None}
    assert voids == dict.fromkeys(
        ["killer 7", "killer 30"],
        Void(VoidReason.INTERRUPTED, "the worker process was killed by SIGKILL, and it played nothing else"),
    )


def startless(_: ScriptedWorker, task: Task) -> Played:
    """Do not begin a match; whether the arena's own bot starts says the first word of its id."""
    return Played(task.id, None, Void(VoidReason[task.id.split()[0]], "no space left"))


@pytest.mark.parametrize("why", ["NO_STARTS", "SANDBOX"])
def test_where_nothing_starts_a_run_stops_and_uses_up_no_schedule(why: str) -> None:
    """Three void attempts make a match unplayable: in a bad moment of the machine a whole schedule would be gone.

    Where the arena's own bot did not start, no attempt counts at all.
    """
    results: list[Played] = []
    bots = [Entrant(name, name, ("bot",)) for name in "abcd"]
    every = [
        task._replace(lineup=tuple(pair)) for task, pair in zip(matches(100, why), cycle(pairwise(bots)), strict=False)
    ]
    with (
        Workers(ScriptedHosts(2, startless)) as workers,
        pytest.raises(NothingStarts, match=r"no space left .* it goes on") as said,
    ):
        results.extend(in_phases(workers, every))
    assert "\n" not in str(said.value)
    assert len(results) < (1 if why == "NO_STARTS" else 20)


def test_one_bot_that_no_sandbox_holds_does_not_stop_the_others() -> None:
    """If one bot plays in all the matches that did not begin, it may be the reason."""
    odd, others = Entrant("odd@1", "odd", ("odd",)), [Entrant(f"{name}@1", name, (name,)) for name in "abc"]
    every = [task._replace(lineup=(odd, others[number % 3])) for number, task in enumerate(matches(30, "SANDBOX"))]
    with Workers(ScriptedHosts(1, startless)) as workers:
        assert len(list(in_phases(workers, every))) == 30


def test_a_match_that_brings_down_one_machine_after_the_other_is_void() -> None:
    """It is found, without being blamed for machines that are lost otherwise: alone, it brings down one more."""

    def brings_down(worker: ScriptedWorker, task: Task) -> Played:
        if task.id == "killer":
            raise HostLost("is gone")
        return tie(worker, task)

    every = list(tasks(*map(str, range(8)), "killer"))
    with Workers(ScriptedHosts(1, brings_down)) as workers:
        results = list(in_phases(workers, every))
    assert sorted(played.id for played in results) == sorted(task.id for task in every)
    voids = {played.id: played.void for played in results if played.outcome is None}
    said = f"hosts were lost {LOSSES + ALONE} times while they held it, {ALONE} times it alone"
    assert voids == {"killer": Void(VoidReason.INTERRUPTED, said)}


def test_suspects_that_bring_down_machines_are_told_apart() -> None:
    """Also those that are kept together since a worker died that held them."""
    died = iter([True])

    def brings_down(worker: ScriptedWorker, task: Task) -> Played:
        if task.id != "killer":
            return tie(worker, task)
        raise WorkerEnded("was killed") if next(died, False) else HostLost("is gone")

    every = list(tasks("killer", "0", "1"))
    with Workers(ScriptedHosts(1, brings_down)) as workers:
        results = list(in_phases(workers, every))
    assert {played.id: played.outcome is None for played in results} == {"0": False, "1": False, "killer": True}
    (void,) = (str(played.void) for played in results if played.void is not None)
    assert f"{LOSSES + ALONE} times" in void


def test_results_that_come_together_are_given_together() -> None:
    """Storing many results at once costs much less; those of others are not lost if one worker shows a bug."""

    def third_shows_a_bug(worker: ScriptedWorker, task: Task) -> Played:
        if worker.number == 2:
            raise RuntimeError("a bug")
        return tie(worker, task)

    firsts = ["0", str(DEALT_MATCHES)]
    with Workers(ScriptedHosts(2)) as workers:
        assert [played.id for played in next(workers.play(matches(DEALT_MATCHES + 1)))] == firsts
    with Workers(ScriptedHosts(3, third_shows_a_bug)) as workers:
        results = workers.play(matches(2 * DEALT_MATCHES + 1))
        assert [played.id for played in next(results)] == firsts
        with pytest.raises(RuntimeError, match="a bug"):
            next(results)


def test_a_phase_is_not_over_while_suspects_are_left() -> None:
    """Matches that a dead worker held are suspects. If a bot of one of them is retired, all others are still played.

    Only then is the phase over and the bots are ended.
    """
    died = iter(range(3))

    def dies_first(worker: ScriptedWorker, task: Task) -> Played:
        if next(died, None) is not None:
            raise WorkerEnded("was killed")
        return tie(worker, task)

    one, other, third, fourth = tasks("one", "other", "third", "fourth")
    left_out = other._replace(lineup=(Entrant("gone@1", "gone", ("bot",)),))
    every = [one, left_out, third, fourth]
    hosts = ScriptedHosts(1, dies_first)
    with Workers(hosts) as workers:
        for _ in range(2):  # the worker that held all dies, then each that held a half
            assert list(chain.from_iterable(workers.play(every))) == []
        playing = chain.from_iterable(workers.play([*every, *tasks("fifth")]))
        assert next(playing).id == "one"
        workers.learn(Trouble(retired=frozenset(["gone@1"])))
        assert [played.id for played in playing] == ["third", "fourth", "fifth"]
        assert hosts.started[-1].orders[-1] == StartCommand(rest=True)


class Remembered(LocalHost):
    """A host whose worker processes a test can find."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self.started: list[WorkerProcess] = []

    def start(self) -> WorkerProcess:
        self.started.append(super().start())
        return self.started[-1]


def test_a_worker_that_dies_with_nothing_to_do_costs_no_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot have died of a match that it had not been given."""
    monkeypatch.setattr(local_host, "run_worker", fragile)
    host = Remembered(2)
    with Workers(host) as workers:
        assert len(list(in_phases(workers, list(tasks(*map(str, range(8))))))) == 8
        for worker in host.started:
            worker.process.kill()
            worker.process.join()
        (played,) = chain.from_iterable(workers.play(list(tasks("one"))))
        assert (played.id, played.void) == ("one", None)


def confessing(link: Link, *_: object) -> None:
    """A worker that reports a second chance only in its last delivery, when it is closed."""
    while link.recv() is not None:
        pass
    link.send(Delivery([], Trouble(chances={"digest": {"detail": "it went"}}), last=True))


def test_last_words_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second chance that was used just before a Ctrl-C is recorded, so the next run does not give it again."""
    monkeypatch.setattr(local_host, "run_worker", confessing)
    with Workers(LocalHost(1)) as workers:
        playing = workers.play(tasks("1"))
        assert next(playing) == []
        workers.stop()
        assert list(playing) == [[]]
        assert workers.trouble.chances.keys() == {"digest"}


class KilledInAMatch(Worker):
    """A worker that kills the sandboxes of its bots whenever a match begins."""

    def joined(self, bot: Bot) -> None:
        super().joined(bot)
        for each in {each for playing in self.in_play() for each in playing.bots.values()}:
            assert each.pid is not None
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)


def curse(link: Link, scratch: str, in_flight: int | None, sandbox: Sandbox, *_: object) -> None:
    """Run a worker process whose worker is `KilledInAMatch`."""
    with contextlib.closing(KilledInAMatch(Path(scratch), in_flight=in_flight, sandbox=sandbox)) as worker:
        worker.serve(link)


@pytest.mark.long
@pytest.mark.needs("grade B")
def test_where_sandboxes_are_killed_again_and_again_matches_are_unplayable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three voids a match is unplayable, as for any fault that is not a bot's, and no second chance is used."""
    monkeypatch.setattr(local_host, "run_worker", curse)
    words = ("--game", "birth", "--bots", "random,greedy", "--home", tmp_path)
    ran = typed("ladder", *words, "--rounds", "3", "-j", "1")
    assert ran.code == 1
    assert "6 matches were void three times" in ran.err
    assert re.search(r"no match counts: interrupted: the sandbox around \w+@1 was killed by SIGKILL", ran.err)
    with store.open_read(tmp_path) as db:
        assert store.chances.by_label(db, store.ladders.all(db)[0]) == {}


def test_nobody_is_started_for_nothing() -> None:
    """Without tasks no worker process is started, however many are allowed."""
    host = Doomed(jobs=64)
    with Workers(host) as workers:
        assert list(workers.play(iter([]))) == []
    assert host.started == 0
