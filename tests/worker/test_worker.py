"""A worker's life: starts that fail, batches that stop, processes that make room, and the end of it all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from arena.referee.limits import Limits
from arena.referee.match import Forfeit, Void, VoidReason
from arena.referee.stream import BotStream
from arena.sandbox import Grade, Sandbox, probe
from arena.sandbox.launcher import UNABLE
from arena.worker.jobs import Command, Entrant, Played, Trouble
from arena.worker.worker import Worker
from tests.worker.conftest import HOSTILE, bot, children, inside, judged, task
from tests.worker.test_queue import remembered


@pytest.fixture
def worker(scratch: Path) -> Iterator[Worker]:
    """A worker with a directory of its own."""
    made = Worker(scratch)
    yield made
    made.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command of every bot process started from now on."""
    commands: list[list[str]] = []
    popen = subprocess.Popen.__init__

    def note(self: object, command: list[str], **options: object) -> None:
        commands.append(command)
        popen(self, command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess.Popen, "__init__", note)
    return commands


def program(*command: str) -> Entrant:
    """A version that is any program."""
    return Entrant(" ".join(command), " ".join(command), command, "/tmp")


def reasons(played: Played) -> list[tuple[int, Forfeit]]:
    """Who forfeited, for what."""
    assert played.outcome is not None
    return [(forfeit.seat, forfeit.reason) for forfeit in played.outcome.forfeits]


# --- Starts


def test_a_match_that_nobody_joined_is_void(worker: Worker) -> None:
    """There is nothing to learn from it."""
    (result,) = worker.play([task("none", bot("exit_at_start"), bot("exit_at_start", "--code", "4"))])
    assert (result.outcome, result.void) == (None, Void(VoidReason.NOBODY))


def test_of_three_the_two_who_joined_play(worker: Worker) -> None:
    """The third is last."""
    (result,) = worker.play([task("two", bot(), bot("exit_at_start"), bot("--play", "last"))])
    assert result.outcome is not None
    assert reasons(result) == [(1, Forfeit.START)]
    assert result.outcome.ranks[1] == 2
    assert len(result.choices) == 12


def test_the_only_one_who_joined_wins(worker: Worker) -> None:
    """The others tie."""
    (result,) = worker.play([task("one", bot("exit_at_start"), bot(), bot("exit_at_start"))])
    assert result.outcome is not None
    assert result.outcome.ranks == (1, 0, 1)


@pytest.mark.parametrize(
    ("command", "detail"),
    [
        ((sys.executable, "-c", ""), "the process exited with code 0 before it joined; does it end with run(YourBot)?"),
        (("/bin/true",), "the process exited with code 0 before it joined"),
        (("./no-such-program",), "cannot be run: [Errno 2] No such file or directory: './no-such-program'"),
        ((str(HOSTILE),), f"cannot be run: [Errno 13] Permission denied: {str(HOSTILE)!r}"),
    ],
)
def test_a_command_that_does_not_run_forfeits_the_start(worker: Worker, command: Sequence[str], detail: str) -> None:
    """It is tried twice; however fast it ends, its end is noticed."""
    (result,) = worker.play([task(detail, program(*command), bot())])
    assert result.outcome is not None
    assert result.outcome.forfeits == ((0, Forfeit.START, detail, -1),)


def test_a_directory_that_is_gone_forfeits_the_start(worker: Worker) -> None:
    """The line names it."""
    (result,) = worker.play([task("cwd", bot()._replace(cwd="/nowhere"), bot("--play", "last"))])
    assert result.outcome is not None
    assert "/nowhere" in result.outcome.forfeits[0].detail


def test_a_version_that_fails_to_start_is_not_tried_for_every_match(worker: Worker, started: list[list[str]]) -> None:
    """Two tries for five thousand matches; its matches of three go on without it."""
    broken = bot("exit_at_start")
    played = worker.play([task(f"{number}", broken, bot()) for number in range(5000)])
    assert {reasons(result)[0] for result in played} == {(0, Forfeit.START)}
    assert len(played) == 5000
    assert sum("exit_at_start" in command for command in started) == 2


def test_two_that_leave_when_they_are_welcome_come_to_an_end(worker: Worker) -> None:
    """They may never be there at the same time: to join is no start, to be given a match is."""
    (result,) = worker.play([task("short", bot("leaves_at_welcome"), bot("leaves_at_welcome", "--code", "4"))])
    assert result.outcome is None or result.outcome.forfeits


def test_a_worker_learns_from_others_who_cannot_be_started(worker: Worker, started: list[list[str]]) -> None:
    """The evidence comes with it."""
    broken = bot("exit_at_start")
    worker.learn(Trouble(disabled={broken.digest: {"detail": "no such file", "output": ["ouch"]}}))
    (result,) = worker.play([task("learned", broken, bot())])
    assert result.outcome is not None
    assert result.outcome.forfeits[0].detail == "no such file"
    assert result.seats[0].evidence == {"detail": "no such file", "output": ["ouch"]}
    assert not any("exit_at_start" in command for command in started)


def test_a_rest_is_not_forgotten_when_news_come_before_it(worker: Worker) -> None:
    """Both may lie in the pipe; whoever ordered the rest waits for it."""
    worker._carry_out(Command(rest=True))
    worker._carry_out(Command(trouble=Trouble(chances={"another": {"detail": "it crashed"}})))
    assert worker._wants_rest


def test_a_bot_that_is_started_by_hand_is_waited_for(scratch: Path) -> None:
    """Its author sees address and token; no clock runs for it."""
    begun: list[subprocess.Popen[bytes]] = []

    def start(label: str, address: str, token: str) -> None:
        assert label == "mine"
        environment = {"ARENA_ADDR": address, "ARENA_TOKEN": token}
        begun.append(subprocess.Popen([sys.executable, str(HOSTILE), "thinks", "--seconds", "0.3"], env=environment))

    worker = Worker(scratch, waiting=start)
    limits = Limits(decision=0.1, bank=0.5)
    try:
        (result,) = worker.play([task("by hand", Entrant("mine", "mine", ()), bot(), limits=limits)])
    finally:
        worker.close()
    assert reasons(result) == []
    assert begun[0].wait(5) == 0


# --- More than two


def test_of_four_who_holds_out_longer_is_ahead(worker: Worker) -> None:
    """A crash in the first step, a stall and an illegal choice in the second, and one who plays on."""
    limits = Limits(decision=0.2, bank=0.3)
    faulty = [bot("exits"), bot("stalls", "--at", "2"), bot("plays_illegal", "--at", "2", "--code", "9")]
    (result,) = judged(worker, [task("four", *faulty, bot(), limits=limits)]).values()
    assert result.outcome is not None
    assert reasons(result) == [(0, Forfeit.CRASH), (1, Forfeit.TIMEOUT), (2, Forfeit.ILLEGAL)]
    assert result.outcome.ranks == (3, 1, 1, 0)


def test_others_play_to_the_end_without_who_is_gone(worker: Worker) -> None:
    """With the default in its place, also for those who watch every step."""
    (result,) = worker.play([task("three", bot("is_killed", "--at", "2"), bot("--updates"), bot("--updates"))])
    assert reasons(result) == [(0, Forfeit.CRASH)]
    assert [action for seat, action in result.choices if seat == 0] == [1, 2, 2, 2]
    assert [len(record.times) for record in result.seats] == [1, 4, 4]


# --- Our own faults


@pytest.mark.parametrize("where", ["start", "pending", "apply", "view", "ranks"])
def test_rules_that_raise_void_their_match_and_no_other(worker: Worker, where: str) -> None:
    """With a traceback, and nobody is blamed."""
    broken, good = (
        task("broken", bot(), bot("--play", "last"), raises=where),
        task("good", bot(), bot("--play", "last")),
    )
    played = {result.id: result for result in worker.play([broken, good])}
    assert played["broken"].outcome is None
    assert str(played["broken"].void).startswith("internal: Traceback")
    assert f"ZeroDivisionError: the rules of toy in {where}" in str(played["broken"].void)
    assert reasons(played["good"]) == []


def test_what_we_raise_while_hearing_a_bot_is_raised_and_not_blamed_on_it(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No result is made of it; afterwards the worker plays as before."""

    def fails(*_: object) -> None:
        raise LookupError("our bug")

    with monkeypatch.context() as patch:
        patch.setattr(BotStream, "receive", fails)
        with pytest.raises(LookupError, match="our bug"):
            worker.play([task("bug", bot(), bot("--play", "last"))])
    (result,) = worker.play([task("bug", bot(), bot("--play", "last"))])
    assert reasons(result) == []


@pytest.mark.parametrize(("number", "reason"), [(errno.EMFILE, VoidReason.OVERLOAD), (errno.ENOSPC, VoidReason.DISK)])
def test_a_process_that_we_have_no_room_for_is_not_the_bots_fault(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, number: int, reason: VoidReason
) -> None:
    """The match is void, and the process that was just started does not stay. Later there may be room."""

    def full(_: int) -> int:
        raise OSError(number, "no room")

    before, waiting = children(), list[object]()
    match = task("full", bot(), bot("--play", "last"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "pidfd_open", full)
        patch.setattr(worker, "_abandon", lambda: waiting.extend(remembered(worker._queues)))
        (void,) = worker.play([match])
    assert waiting == []
    assert void.outcome is None
    assert void.is_void_by(reason)
    assert children() == before
    assert reasons(worker.play([match])[0]) == []


@pytest.mark.parametrize(
    ("sandbox", "why"),
    [
        (Sandbox(Grade.B, bwrap="/bin/false"), "exited with code 1"),
        (Sandbox(Grade.B, bwrap="/no/such/bwrap"), "cannot run '/no/such/bwrap'"),
    ],
)
def test_a_sandbox_that_cannot_be_set_up_is_not_the_bots_fault(scratch: Path, sandbox: Sandbox, why: str) -> None:
    """The bot never began: its matches are to be played again."""
    with closing(Worker(scratch, sandbox=sandbox)) as worker:
        (void,) = worker.play([task("bare", bot(), bot("--play", "last"))])
    assert (void.outcome, void.is_void_by(VoidReason.SANDBOX)) == (None, True)
    assert why in str(void.void)


@pytest.mark.parametrize("grade", [None, Grade.D])
def test_a_bot_cannot_end_as_if_its_sandbox_had_failed(scratch: Path, grade: Grade | None) -> None:
    """Whatever code it leaves with: it began."""
    with closing(Worker(scratch, sandbox=probe(grade))) as worker:
        fake, honest = (inside("exit_at_start", "--code", str(UNABLE)), inside("--play", "last"))
        (result,) = worker.play([task("fake", fake, honest)])
    assert reasons(result) == [(0, Forfeit.START)]


# --- Batches


def test_processes_stay_warm_between_batches(worker: Worker, started: list[list[str]]) -> None:
    """Starting them is what takes time."""
    for batch in range(3):
        worker.play([task(f"{batch}.{number}", bot(), bot("--play", "last")) for number in range(3)])
    assert len(started) == 2


def test_a_process_that_ends_between_batches_is_replaced(worker: Worker) -> None:
    """Nothing listens then, so the next batch finds it dead: no match is lost to that."""
    leaver = bot("leaves_after_match")
    for batch in range(3):
        (result,) = worker.play([task(f"{batch}", leaver, bot())])
        assert reasons(result) == []


def test_a_version_may_play_itself(worker: Worker, started: list[list[str]]) -> None:
    """In two processes: neither knows what the other is shown."""
    played = worker.play([task(f"{number}", bot(), bot()) for number in range(4)])
    assert [reasons(result) for result in played] == [[]] * 4
    assert len(started) == 2


def test_a_version_that_crashes_against_itself_comes_to_an_end(worker: Worker) -> None:
    """Its two processes are two: that both ends belong to one match makes them not several matches."""
    crash = bot("exits", "--at", "2")
    played = worker.play([task(f"{number}", crash, crash) for number in range(3)])
    assert [reasons(result) for result in played] == [[(0, Forfeit.CRASH), (1, Forfeit.CRASH)]] * 3


@pytest.mark.parametrize(
    "room", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long), 5]
)
def test_everything_is_played_with_few_processes(worker: Worker, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Line-ups give up their processes to one another; none waits for ever, not even for more than there is room."""
    monkeypatch.setattr("arena.worker.bot_pool.PROCESSES", room)
    bots = [bot(name=f"bot {number}") for number in range(6)]
    lineups = [(0, 1), (2, 3), (1, 2, 3), (3, 4, 5), (5, 0), (4, 1), (0, 2, 4)]
    tasks = [task(f"{number} {seats}", *(bots[seat] for seat in seats)) for number in range(2) for seats in lineups]
    assert sorted(result.id for result in worker.play(tasks)) == sorted(each.id for each in tasks)
    if room == 5:
        assert len(worker._pool) <= room


def test_lineups_without_a_bot_in_common_follow_one_another(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody of the one wakes the other: that there is room now does."""
    monkeypatch.setattr("arena.worker.bot_pool.PROCESSES", 2)
    bots = [bot(name=f"bot {number}") for number in range(8)]
    tasks = [task(f"{number}", bots[number], bots[number + 1]) for number in range(0, 8, 2)]
    assert len(worker.play(tasks)) == 4


def test_crashes_come_to_an_end_with_few_processes(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts that fail and processes that end make room, too."""
    monkeypatch.setattr("arena.worker.bot_pool.PROCESSES", 2)
    faulty = [bot("exits", "--at", "2"), bot("exit_at_start"), bot("is_killed"), bot("leaves_after_match")]
    tasks = [task(f"{one.label} {number}", one, bot(name=f"{number}")) for number in range(3) for one in faulty]
    assert len(worker.play(tasks)) == len(tasks)


def test_lineups_with_nothing_to_play_are_forgotten(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long ladder of many seats has as many line-ups as matches, and each bot's would be looked through each time."""
    left: list[object] = []
    monkeypatch.setattr(worker, "_abandon", lambda: left.extend(remembered(worker._queues)))
    bots = [bot(name=f"bot {number}") for number in range(3)]
    tasks = [task(f"{one} {other}", bots[one], bots[other]) for one, other in permutations(range(3), 2)]
    assert len(worker.play(tasks)) == len(tasks)
    assert left == []


def test_a_batch_without_matches_is_over_at_once(worker: Worker) -> None:
    """Nothing is started for it."""
    assert worker.play([]) == []


def test_a_stopped_batch_gives_what_was_finished(worker: Worker) -> None:
    """And begins nothing more; the next batch is its own."""
    stops = iter([False, True])
    tasks = [task(f"{number}", bot("thinks", "--seconds", "0.02"), bot(), steps=10) for number in range(40)]
    first = worker.play(tasks, stop=lambda: next(stops))
    assert len(first) < 40
    second = worker.play([task("next", bot(), bot("--play", "last"))])
    assert [result.id for result in second] == ["next"]


def test_an_interrupted_batch_ends_in_order(worker: Worker) -> None:
    """Ctrl-C is heard where it hurts nothing; the worker can still be closed, or used."""

    def interrupt() -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    with pytest.raises(KeyboardInterrupt):
        worker.play([task("one", bot(), bot("--play", "last"))], stop=interrupt)
    (result,) = worker.play([task("two", bot(), bot("--play", "last"))])
    assert reasons(result) == []


# --- The end


def test_nothing_is_left_on_the_disk(scratch: Path) -> None:
    """Sockets and their directories go with the worker."""
    root = scratch / "root"
    root.mkdir()
    worker = Worker(root)
    worker.play([task("one", bot(), bot("exits"))])
    assert list(root.rglob("s"))
    worker.close()
    assert list(root.iterdir()) == []


def stop_at_once() -> Iterator[bool]:
    """Before the loop has run."""
    yield True


def stop_later() -> Iterator[bool]:
    """While processes start."""
    yield False
    yield True


@pytest.mark.parametrize("stop", [stop_at_once, stop_later])
@pytest.mark.parametrize("doing", ["", "never_connects", "silent_socket", "exit_at_start"])
def test_a_worker_can_be_closed_while_processes_start(
    scratch: Path, stop: Callable[[], Iterator[bool]], doing: str
) -> None:
    """Those that started are ended, those that wait for their turn never start."""
    worker = Worker(scratch)
    stops = stop()
    tasks = [
        task(f"{number}", bot(*doing.split(), name=f"{number}"), bot(name=f"other {number}")) for number in range(9)
    ]
    worker.play(tasks, stop=lambda: next(stops))
    worker.close()
    assert children() == set()


def test_workers_can_be_made_and_closed_without_end(scratch: Path) -> None:
    """No file descriptor is kept, nor anything on the disk."""
    open_files = []
    for number in range(4):
        worker = Worker(scratch)
        worker.play([task(f"{number}", bot(), bot("exits"))])
        worker.close()
        open_files.append(len(os.listdir("/proc/self/fd")))
    assert open_files[-1] == open_files[1]
