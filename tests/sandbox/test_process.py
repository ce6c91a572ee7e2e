"""Bot processes: what is kept of their output, how their end is told, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import os
import select
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.cgroups import ControlGroup
from arena.sandbox.confine import Confined
from arena.sandbox.process import KEPT, LINE_WIDTH, OUTPUT_A_SECOND, BotProcess, Output, adopt_orphans, end_orphans
from tests.worker.conftest import children
from tests.worker.conftest import nothing_left_behind as nothing_left_behind

PATIENCE = 60


@pytest.fixture(scope="module", autouse=True)
def _adopting() -> None:
    """What bots leave behind comes to us."""
    adopt_orphans()


class Running(BotProcess):
    """A shell script as a bot; `ended` is set at its end, `flooded` when it prints too much."""

    def __init__(self, script: str) -> None:
        self.ended = asyncio.Event()
        self.flooded = asyncio.Event()
        super().__init__(
            Confined(("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin", "ARENA_TOKEN": f"token of {script}"}, "/tmp"),
            on_exit=self.ended.set,
            on_too_much_output=self.flooded.set,
        )

    async def printed(self, text: str) -> None:
        """Wait until it has printed something."""
        async with asyncio.timeout(PATIENCE):
            while text not in "".join(self.last_lines()):
                await asyncio.sleep(0.01)

    async def end(self) -> None:
        """Wait for its end."""
        await asyncio.wait_for(self.ended.wait(), PATIENCE)


# --- Output


def test_little_output_is_kept_whole() -> None:
    """As lines of text."""
    output = Output()
    output.add(b"one\ntw")
    output.add(b"o\n")
    assert output.last_lines() == ["one", "two"]


def test_of_much_output_the_last_lines_are_shown() -> None:
    """However it came in pieces."""
    output = Output()
    for number in range(100_000):
        output.add(b"line %d\n" % number)
    assert output.last_lines(3) == ["line 99997", "line 99998", "line 99999"]


def test_of_a_flood_only_the_ends_are_kept() -> None:
    """Gigabytes may come; the memory stays the same."""
    output = Output()
    for _ in range(1000):
        output.add(b"x" * KEPT)
    assert output.total == 1000 * KEPT
    assert len(output._head) + sum(map(len, output._tail)) <= 3 * KEPT


def test_a_long_line_is_cut() -> None:
    """It is evidence, not an archive."""
    output = Output()
    output.add(b"y" * 5 * KEPT)
    assert [len(line) for line in output.last_lines()] == [LINE_WIDTH + 2]


def test_bytes_that_are_no_text_are_escaped() -> None:
    """Nothing a bot prints may raise."""
    output = Output()
    output.add(b"caf\xe9 \xff")
    assert output.last_lines() == ["caf\\xe9 \\xff"]


# --- Ends


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 0", "exited with code 0"),
        ("exit 3", "exited with code 3"),
        ("kill -SEGV $$", "was killed by SIGSEGV"),
        ("kill -40 $$", "was killed by signal 40"),
    ],
)
async def test_an_end_is_told_in_words(script: str, words: str) -> None:
    """With the signal's name if it has one."""
    process = Running(script)
    assert process.exit_in_words() == "is still running"
    await process.end()
    assert (process.exit_in_words(), process.running) == (words, False)


async def test_all_that_was_printed_is_there_at_the_end() -> None:
    """More than a pipe holds, to the last line."""
    process = Running("i=0; while [ $i -lt 9999 ]; do i=$((i+1)); echo this is line $i; done; echo last words >&2")
    await process.end()
    assert process.last_lines()[-2:] == ["this is line 9999", "last words"]
    assert process.output.total > KEPT


async def test_all_that_lies_in_a_large_pipe_is_there_at_the_end() -> None:
    """A pipe can be made to hold a mebibyte, and a process may fill it and be gone."""
    fill = "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 2**20); os.write(1, b'x' * 10**6 + b'\\nlast words')"
    process = Running(f'exec {shlex.quote(sys.executable)} -Sc "{fill}"')
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # so that the loop finds both at once
    await process.end()
    assert process.last_lines()[-1] == "last words"


async def test_what_is_printed_can_be_read_before_the_end() -> None:
    """A bot that is blamed while it lives has mostly said something."""
    process = Running("echo thinking; sleep 1000")
    await process.printed("thinking")
    process.kill()
    await process.end()
    assert process.exit_in_words() == "was killed by SIGKILL"


async def test_a_flood_of_output_is_told() -> None:
    """Long before it fills a disk or takes the referee's time."""
    process = Running("yes")
    await asyncio.wait_for(process.flooded.wait(), PATIENCE)
    assert OUTPUT_A_SECOND < process.output.total < 2 * OUTPUT_A_SECOND
    process.kill()
    await process.end()


class Held(ControlGroup):
    """A control group as far as its removal is concerned."""

    def __init__(self) -> None:
        self.removed = False

    def remove(self) -> None:
        self.removed = True


async def test_what_cannot_be_started_leaves_no_control_group() -> None:
    """As on a machine that is out of processes."""
    group = Held()
    with pytest.raises(FileNotFoundError):
        BotProcess(Confined(("/no/such/program",), {}, "/", group), on_exit=print, on_too_much_output=print)
    assert group.removed


async def test_a_kill_ends_the_whole_group() -> None:
    """And asks nobody: SIGTERM may be ignored."""
    process = Running("trap '' TERM; sleep 1000 & echo child $!; sleep 1000")
    await process.printed("child")
    child = int(process.last_lines()[0].split()[1])
    process.kill()
    await process.end()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


async def test_what_an_ended_process_left_in_its_group_is_ended() -> None:
    """Though it holds the pipe open, the end does not wait for it."""
    process = Running("sleep 1000 & echo child $!; exit 3")
    await process.end()
    with pytest.raises(ProcessLookupError):
        os.kill(int(process.last_lines()[0].split()[1]), 0)


async def test_a_second_kill_and_a_kill_after_the_end_hurt_nobody() -> None:
    """By then the number of the group may be somebody else's."""
    process = Running("sleep 1000")
    process.kill()
    process.kill()
    await process.end()
    process.kill()
    assert process.exit_in_words() == "was killed by SIGKILL"


async def test_bots_do_not_end_each_others_children() -> None:
    """What a running bot has put into the background is its own affair until it ends."""
    one = Running("setsid sh -c 'echo daemon $$; exec sleep 1000' & wait")
    await one.printed("daemon")
    daemon = int(one.last_lines()[0].split()[1])
    two = Running("exit 0")
    await two.end()
    os.kill(daemon, 0)
    one.kill()
    await one.end()
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_children_of_our_own_session_are_no_orphans() -> None:
    """Whoever uses the arena as a library may have processes of their own."""
    ours = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    end_orphans()
    assert ours.poll() is None
    ours.kill()
    ours.wait()


def test_orphans_that_have_ended_are_reaped() -> None:
    """A zombie costs a process number for as long as the arena runs."""
    before = children()
    script = "setsid sleep 0.05 > /dev/null & echo $!"
    shell = subprocess.run(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    orphan = int(shell.stdout)
    os.waitid(os.P_PID, orphan, os.WEXITED | os.WNOWAIT)
    assert f"{orphan} sleep Z" in children()
    end_orphans()
    assert children() == before


CHAIN = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    if os.fork():
        time.sleep(1000)
    os.setsid()
print(os.getpid(), flush=True)
os.fork()
time.sleep(1000)
"""


@pytest.mark.long
def test_a_long_chain_of_orphans_ends_at_once() -> None:
    """Each in a session of its own: level by level it would take as many looks as there are levels."""
    before = children()
    words = [sys.executable, "-c", CHAIN, "300"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as chain:
        assert chain.stdout is not None
        last = os.pidfd_open(int(chain.stdout.readline()))
        end_orphans()
    assert select.select([last], [], [], 0)[0] == [last]
    os.close(last)
    assert children() == before


def test_what_cannot_be_killed_is_an_error_and_no_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another user's, say, or one that hangs in the kernel: nobody can say that no bot is alive."""
    words = ["/bin/sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' &"]  # it speaks from a session of its own
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        orphan = int(shell.stdout.readline())
    with monkeypatch.context() as patch:
        patch.setattr("arena.sandbox.process.ORPHANED", 0.2)
        patch.setattr(os, "kill", lambda *_: None)
        with pytest.raises(RuntimeError, match="1 processes that bots left behind cannot be ended"):
            end_orphans()
    end_orphans()
    with pytest.raises(ProcessLookupError):
        os.kill(orphan, 0)


BUSY = """
import os
if os.fork() and os.fork() and os.fork():
    print("busy", flush=True)
while True:
    if not os.fork():
        os._exit(0)
    os.wait()
"""


@pytest.mark.long
def test_orphans_may_end_while_we_look_at_them() -> None:
    """What has ended between two looks is no error: here there is always something that just ends."""
    before = children()
    for _ in range(100):
        words = [sys.executable, "-S", "-c", BUSY]
        busy = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert busy.stdout is not None
        busy.stdout.readline()
        busy.stdout.close()
        end_orphans()
        busy.wait()
    assert children() == before


def test_a_bot_dies_with_its_arena(tmp_path: Path) -> None:
    """Also if that is killed without a chance to clean up."""
    program = """
import asyncio, os, pathlib
from arena.sandbox.process import BotProcess
from arena.sandbox import UNCONFINED, confine
async def main():
    nothing = lambda: None
    here = pathlib.Path("/")
    sleep, env = ["/bin/sleep", "1000"], {"PATH": "/bin"}
    made = confine(UNCONFINED, sleep, root=here, socket_folder=here, scratch=here, env=env)
    bot = BotProcess(made, on_exit=nothing, on_too_much_output=nothing)
    print(bot._process.pid, flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""
    arena = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert arena.stdout is not None
    bot = int(arena.stdout.readline())
    watched = os.pidfd_open(bot)
    arena.kill()
    arena.wait()
    arena.stdout.close()
    assert select.select([watched], [], [], PATIENCE)[0] == [watched]
    os.close(watched)
    end_orphans()
