"""A worker from beginning to end: failed starts, stopped batches, processes that make room for others, closing."""

from __future__ import annotations

import errno
import gc
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
from arena.referee.stream import Heard
from arena.sandbox import Grade, Sandbox, probe
from arena.sandbox.launcher import UNABLE
from arena.worker.bot_process import Bot
from arena.worker.jobs import Entrant, Played, StartCommand, Trouble
from arena.worker.worker import Worker
from tests.worker.conftest import HOSTILE, bot, children, inside, judged, task
from tests.worker.test_queue import remembered


class WatchedWorker(Worker):
    """A worker of which is known what its queues held when it last heard of a bot."""

    left: Sequence[object] | None = None

    def hear(self, bot: Bot, news: Heard) -> None:
        super().hear(bot, news)
        self.left = remembered(self._queues)

    def not_started(self, bot: Bot, why: Void) -> None:
        super().not_started(bot, why)
        self.left = remembered(self._queues)


@pytest.fixture
def worker(scratch: Path) -> Iterator[WatchedWorker]:
    """A worker whose sockets are in a temporary folder."""
    made = WatchedWorker(scratch)
    yield made
    made.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A list to which the command of every process is added that is started from now on."""
    commands: list[list[str]] = []
    popen = subprocess.Popen.__init__

    def note(self: object, command: list[str], **options: object) -> None:
        commands.append(command)
        popen(self, command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess.Popen, "__init__", note)
    return commands


def program(*command: str) -> Entrant:
    """A version that runs any command."""
    return Entrant(" ".join(command), " ".join(command), command, "/tmp")


def reasons(played: Played) -> list[tuple[int, Forfeit]]:
    """The forfeits of a match: seat and reason of each."""
    assert played.outcome is not None
    return [(forfeit.seat, forfeit.reason) for forfeit in played.outcome.forfeits]


# --- Starts


def test_a_match_that_nobody_joined_is_void(worker: Worker) -> None:
    """If all bots fail to start, nothing is learnt about who plays better."""
    (result,) = worker.play([task("none", bot("exit_at_start"), bot("exit_at_start", "--code", "4"))])
    assert (result.outcome, result.void) == (None, Void(VoidReason.NOBODY))


def test_of_three_the_two_who_joined_play(worker: Worker) -> None:
    """The bot that did not join forfeits and ranks last."""
    (result,) = worker.play([task("two", bot(), bot("exit_at_start"), bot("--play", "last"))])
    assert result.outcome is not None
    assert reasons(result) == [(1, Forfeit.START)]
    assert result.outcome.ranks[1] == 2
    assert len(result.choices) == 12


def test_the_only_one_who_joined_wins(worker: Worker) -> None:
    """The bots that did not join tie for the second place."""
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
    """The command is tried twice, and its end is noticed however fast it comes."""
    (result,) = worker.play([task(detail, program(*command), bot())])
    assert result.outcome is not None
    assert result.outcome.forfeits == ((0, Forfeit.START, detail, -1),)


def test_a_directory_that_is_gone_forfeits_the_start(worker: Worker) -> None:
    """The detail of the forfeit names the directory."""
    (result,) = worker.play([task("cwd", bot()._replace(cwd="/nowhere"), bot("--play", "last"))])
    assert result.outcome is not None
    assert "/nowhere" in result.outcome.forfeits[0].detail


def test_a_version_that_fails_to_start_is_not_tried_for_every_match(worker: Worker, started: list[list[str]]) -> None:
    """Five thousand matches with such a version cost two attempts to start it."""
    broken = bot("exit_at_start")
    played = worker.play([task(f"{number}", broken, bot()) for number in range(5000)])
    assert {reasons(result)[0] for result in played} == {(0, Forfeit.START)}
    assert len(played) == 5000
    assert sum("exit_at_start" in command for command in started) == 2


def test_two_that_leave_when_they_are_welcome_come_to_an_end(worker: Worker) -> None:
    """Two bots that exit as soon as they have joined may never be there at the same time.

    So only a bot that was given a match has started; otherwise both would be started again for ever.
    """
    (result,) = worker.play([task("short", bot("leaves_at_welcome"), bot("leaves_at_welcome", "--code", "4"))])
    assert result.outcome is None or result.outcome.forfeits


def test_a_worker_learns_from_others_who_cannot_be_started(worker: Worker, started: list[list[str]]) -> None:
    """The report that a version is disabled brings its evidence, and this worker does not try to start it."""
    broken = bot("exit_at_start")
    worker.learn(Trouble(disabled={broken.digest: {"detail": "no such file", "output": ["ouch"]}}))
    (result,) = worker.play([task("learned", broken, bot())])
    assert result.outcome is not None
    assert result.outcome.forfeits[0].detail == "no such file"
    assert result.seats[0].evidence == {"detail": "no such file", "output": ["ouch"]}
    assert not any("exit_at_start" in command for command in started)


def test_a_rest_is_not_forgotten_when_news_come_before_it(worker: Worker) -> None:
    """A command to rest and later news may both lie in the pipe. Whoever ordered the rest waits for the answer."""
    worker._carry_out(StartCommand(rest=True))
    worker._carry_out(StartCommand(trouble=Trouble(chances={"another": {"detail": "it crashed"}})))
    assert worker._wants_rest


@pytest.mark.long
def test_a_bot_that_is_started_by_hand_is_waited_for(scratch: Path) -> None:
    """The callback gets address and token, with which the author starts the bot. Thinking time is not limited."""
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
    """Forfeits in the first step rank below those in the second, which share a rank, and these below who plays on."""
    limits = Limits(decision=0.2, bank=0.3)
    faulty = [bot("exits"), bot("stalls", "--at", "2"), bot("plays_illegal", "--at", "2", "--code", "9")]
    (result,) = judged(worker, [task("four", *faulty, bot(), limits=limits)]).values()
    assert result.outcome is not None
    assert reasons(result) == [(0, Forfeit.CRASH), (1, Forfeit.TIMEOUT), (2, Forfeit.ILLEGAL)]
    assert result.outcome.ranks == (3, 1, 1, 0)


def test_others_play_to_the_end_without_who_is_gone(worker: Worker) -> None:
    """The default action is played in its seat, also when the other bots receive updates of every step."""
    (result,) = worker.play([task("three", bot("is_killed", "--at", "2"), bot("--updates"), bot("--updates"))])
    assert reasons(result) == [(0, Forfeit.CRASH)]
    assert [action for seat, action in result.choices if seat == 0] == [1, 2, 2, 2]
    assert [len(record.times) for record in result.seats] == [1, 4, 4]


# --- Our own faults


@pytest.mark.parametrize("where", ["start", "pending", "apply", "view", "ranks"])
def test_rules_that_raise_void_their_match_and_no_other(worker: Worker, where: str) -> None:
    """The void has a traceback, no bot is blamed, and other matches are played."""
    broken, good = (
        task("broken", bot(), bot("--play", "last"), raises=where),
        task("good", bot(), bot("--play", "last")),
    )
    played = {result.id: result for result in worker.play([broken, good])}
    assert played["broken"].outcome is None
    assert str(played["broken"].void).startswith("internal: Traceback")
    assert f"ZeroDivisionError: the rules of toy in {where}" in str(played["broken"].void)
    assert reasons(played["good"]) == []


class FaultyWorker(Worker):
    """A worker with a bug: it cannot hear a bot, and what it does after that goes wrong, too."""

    is_faulty = True
    failed = False

    def hear(self, bot: Bot, news: Heard) -> None:
        if self.is_faulty:
            self.failed = True
            raise LookupError("our bug")
        super().hear(bot, news)

    def settle(self) -> None:
        if self.is_faulty and self.failed:
            self.bug(LookupError("the same once more"))
        super().settle()


def test_what_we_raise_while_hearing_a_bot_is_raised_and_not_blamed_on_it(scratch: Path) -> None:
    """An error of the arena gives no result, however often it comes; afterwards the worker can play as before."""
    with closing(FaultyWorker(scratch)) as worker:
        with pytest.raises(LookupError, match="our bug"):
            worker.play([task("bug", bot(), bot("--play", "last"))])
        worker.is_faulty = False
        (result,) = worker.play([task("bug", bot(), bot("--play", "last"))])
    assert reasons(result) == []


@pytest.mark.parametrize(
    ("number", "least_free", "reason"),
    [
        (errno.EMFILE, 0, VoidReason.NO_STARTS),
        (errno.ENOSPC, 0, VoidReason.NO_STARTS),
        (errno.ENOSPC, 2**62, VoidReason.DISK),
        (errno.EDQUOT, 0, VoidReason.DISK),
    ],
)
def test_a_process_that_we_have_no_room_for_is_not_the_bots_fault(
    worker: WatchedWorker, monkeypatch: pytest.MonkeyPatch, number: int, least_free: int, reason: VoidReason
) -> None:
    """The match is void and the process that was just started is ended. The match can be played once there is room.

    "No space" means the disk only where the disk is full: the kernel says so of watches, too.
    """
    monkeypatch.setattr("arena.worker.bot_pool.LEAST_FREE", least_free)

    def full(_: int) -> int:
        raise OSError(number, "no room")

    before = children()
    match = task("full", bot(), bot("--play", "last"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "pidfd_open", full)
        (void,) = worker.play([match])
    assert worker.left == []
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
    """The bot never ran, so its match is void, to be played again."""
    with closing(Worker(scratch, sandbox=sandbox)) as worker:
        (void,) = worker.play([task("bare", bot(), bot("--play", "last"))])
    assert (void.outcome, void.is_void_by(VoidReason.SANDBOX)) == (None, True)
    assert why in str(void.void)


@pytest.mark.parametrize("grade", [None, Grade.D])
def test_a_bot_cannot_end_as_if_its_sandbox_had_failed(scratch: Path, grade: Grade | None) -> None:
    """A bot that exits with the code by which the launcher reports a failed sandbox still forfeits, since it ran."""
    with closing(Worker(scratch, sandbox=probe(grade))) as worker:
        fake, honest = (inside("exit_at_start", "--code", str(UNABLE)), inside("--play", "last"))
        (result,) = worker.play([task("fake", fake, honest)])
    assert reasons(result) == [(0, Forfeit.START)]


# --- Batches


def test_processes_stay_warm_between_batches(worker: Worker, started: list[list[str]]) -> None:
    """Bot processes are kept for the next batch, since starting them takes most of the time."""
    for batch in range(3):
        worker.play([task(f"{batch}.{number}", bot(), bot("--play", "last")) for number in range(3)])
    assert len(started) == 2


def test_a_process_that_ends_between_batches_is_replaced(worker: Worker) -> None:
    """Between batches the worker does not listen. The next batch finds that the process is gone and starts another."""
    leaver = bot("leaves_after_match")
    for batch in range(3):
        (result,) = worker.play([task(f"{batch}", leaver, bot())])
        assert reasons(result) == []


def test_a_version_may_play_itself(worker: Worker, started: list[list[str]]) -> None:
    """The two seats are two processes, so neither knows what the other is shown."""
    played = worker.play([task(f"{number}", bot(), bot()) for number in range(4)])
    assert [reasons(result) for result in played] == [[]] * 4
    assert len(started) == 2


def test_a_version_that_crashes_against_itself_comes_to_an_end(worker: Worker) -> None:
    """Each of its two processes has one match, so both crashes count against that match, which both seats forfeit."""
    crash = bot("exits", "--at", "2")
    played = worker.play([task(f"{number}", crash, crash) for number in range(3)])
    assert [reasons(result) for result in played] == [[(0, Forfeit.CRASH), (1, Forfeit.CRASH)]] * 3


@pytest.mark.parametrize(
    "room", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long), 5]
)
def test_everything_is_played_with_few_processes(worker: Worker, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Idle processes are ended to make room for others. No line-up waits for ever, even one too large for the room."""
    monkeypatch.setattr("arena.worker.capacity.MOST", room)
    bots = [bot(name=f"bot {number}") for number in range(6)]
    lineups = [(0, 1), (2, 3), (1, 2, 3), (3, 4, 5), (5, 0), (4, 1), (0, 2, 4)]
    tasks = [task(f"{number} {seats}", *(bots[seat] for seat in seats)) for number in range(2) for seats in lineups]
    assert sorted(result.id for result in worker.play(tasks)) == sorted(each.id for each in tasks)
    if room == 5:
        assert len(worker._pool) <= room


def test_lineups_without_a_bot_in_common_follow_one_another(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line-up that waits for room goes on when there is room, although none of its own bots wakes it."""
    monkeypatch.setattr("arena.worker.capacity.MOST", 2)
    bots = [bot(name=f"bot {number}") for number in range(8)]
    tasks = [task(f"{number}", bots[number], bots[number + 1]) for number in range(0, 8, 2)]
    assert len(worker.play(tasks)) == 4


@pytest.mark.long
def test_crashes_come_to_an_end_with_few_processes(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed starts and processes that end make room for others, too."""
    monkeypatch.setattr("arena.worker.capacity.MOST", 2)
    faulty = [bot("exits", "--at", "2"), bot("exit_at_start"), bot("is_killed"), bot("leaves_after_match")]
    tasks = [task(f"{one.label} {number}", one, bot(name=f"{number}")) for number in range(3) for one in faulty]
    assert len(worker.play(tasks)) == len(tasks)


def test_lineups_with_nothing_to_play_are_forgotten(worker: WatchedWorker) -> None:
    """In a long ladder with many seats most matches have another line-up, so old queues would slow every search."""
    bots = [bot(name=f"bot {number}") for number in range(3)]
    tasks = [task(f"{one} {other}", bots[one], bots[other]) for one, other in permutations(range(3), 2)]
    assert len(worker.play(tasks)) == len(tasks)
    assert worker.left == []


def test_a_batch_without_matches_is_over_at_once(worker: Worker) -> None:
    """An empty batch starts no process."""
    assert worker.play([]) == []


def test_a_stopped_batch_gives_what_was_finished(worker: Worker) -> None:
    """After a stop no match begins, and the rest of the batch is not played in the next one."""
    stops = iter([False, True])
    tasks = [task(f"{number}", bot("thinks", "--seconds", "0.02"), bot(), steps=10) for number in range(40)]
    first = worker.play(tasks, stop=lambda: next(stops))
    assert len(first) < 40
    second = worker.play([task("next", bot(), bot("--play", "last"))])
    assert [result.id for result in second] == ["next"]


def test_an_interrupted_batch_ends_in_order(worker: Worker) -> None:
    """Ctrl-C leaves a worker in a state in which it can still be closed or used."""

    def interrupt() -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    with pytest.raises(KeyboardInterrupt):
        worker.play([task("one", bot(), bot("--play", "last"))], stop=interrupt)
    (result,) = worker.play([task("two", bot(), bot("--play", "last"))])
    assert reasons(result) == []


# --- The end


def test_nothing_is_left_on_the_disk(scratch: Path) -> None:
    """Closing a worker removes its sockets and their folders."""
    root = scratch / "root"
    root.mkdir()
    worker = Worker(root)
    worker.play([task("one", bot(), bot("exits"))])
    assert list(root.rglob("s"))
    worker.close()
    assert list(root.iterdir()) == []


def stop_at_once() -> Iterator[bool]:
    """A `stop` that ends a batch before its event loop has run."""
    yield True


def stop_later() -> Iterator[bool]:
    """A `stop` that ends a batch while processes start."""
    yield False
    yield True


@pytest.mark.parametrize("stop", [stop_at_once, stop_later])
@pytest.mark.parametrize("doing", ["", "never_connects", "silent_socket", "exit_at_start"])
def test_a_worker_can_be_closed_while_processes_start(
    scratch: Path, stop: Callable[[], Iterator[bool]], doing: str
) -> None:
    """Processes that have started are ended; those that wait for their turn never start."""
    worker = Worker(scratch)
    stops = stop()
    tasks = [
        task(f"{number}", bot(*doing.split(), name=f"{number}"), bot(name=f"other {number}")) for number in range(9)
    ]
    worker.play(tasks, stop=lambda: next(stops))
    worker.close()
    assert children() == set()


def test_workers_can_be_made_and_closed_without_end(scratch: Path) -> None:
    """No file descriptor stays open, however many workers are made."""
    open_files = []
    for number in range(4):
        worker = Worker(scratch)
        worker.play([task(f"{number}", bot(), bot("exits"))])
        worker.close()
        gc.collect()  # what tests before this one have left open
        open_files.append(len(os.listdir("/proc/self/fd")))
    assert open_files[-1] <= open_files[1]
