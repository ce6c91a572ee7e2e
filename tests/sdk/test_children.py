"""A bot may start processes: they live, they never speak to the arena, and the bot has a user with a name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox.grades import Grade
from arena.v1.referee_pb2 import PlayResponse
from tests.cli.commands import ARENA
from tests.needs import grades
from tests.sdk.referee import decision, refereed, start

FORKS = """
import os, sys
from arena_bot import Bot, run

class Forks(Bot):
    def choose(self, turn):
        children = []
        for n in range(30):
            if (child := os.fork()) == 0:
                END
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert codes == [CODE] * 30, codes
        return turn.legal[0]

run(Forks)
"""
NAMED = """
import getpass, os
from arena_bot import Bot, run

class Named(Bot):
    def choose(self, turn):
        assert getpass.getuser() == os.environ["USER"] == "bot", getpass.getuser()
        assert os.path.expanduser("~") == os.environ["HOME"]
        SYSTEM
        return turn.legal[0]

run(Named)
"""
POOL = """
import multiprocessing
from arena_bot import Bot, run

def value(action):
    return -action

class Pools(Bot):
    pool = None

    def choose(self, turn):
        if Pools.pool is None:
            Pools.pool = multiprocessing.get_context("METHOD").Pool(2)
        values = Pools.pool.map(value, list(turn.legal))
        return turn.legal[values.index(max(values))]

run(Pools)
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [("os._exit(0)", 0), ("sys.exit(3)", 3), ("return 1", 0), ("1 // 0", 1), ("sys.exit('so')", 1)],
)
async def test_a_forked_child_ends_and_leaves_the_stream_alone(end: str, code: int) -> None:
    """However it ends: what it sent or closed would be its parent's, and gRPC killed a quarter of them."""
    async with refereed("-c", FORKS.replace("END", end).replace("CODE", str(code))) as referee:
        await referee.hello()
        await referee.say(PlayResponse(starts=[start(1)]))
        assert await referee.ask(decision(1, 0)) == [0]
        assert await referee.ask(decision(1, 1)) == [0]
        assert (await referee.goodbye())[0] == 0


def forfeits(folder: Path, program: str, grade: Grade) -> list[Any]:
    """Play a match with the program, and return its forfeits."""
    (folder / "bot.py").write_text(program)
    words = [sys.executable, ARENA, "match", "./bot.py", "random", "--game", "birth", "--sandbox", grade, "--json"]
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: list[Any] = json.loads(done.stdout)["matches"][0]["forfeits"]
    return found


@pytest.mark.parametrize("grade", grades("ABCD"))
def test_the_user_of_a_bot_has_a_name(grade: Grade, tmp_path: Path) -> None:
    """What libraries ask the system ends no match; at C and D the environment is all that can say it."""
    system = "import pwd; assert pwd.getpwuid(os.getuid()).pw_name == 'bot'" if grade.at_least(Grade.B) else "pass"
    assert forfeits(tmp_path, NAMED.replace("SYSTEM", system), grade) == []


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("grade", grades("ABD"))
def test_a_pool_works_without_a_guard(grade: Grade, method: str, tmp_path: Path) -> None:
    """Its processes import the bot's script, and must not start the bot again."""
    assert forfeits(tmp_path, POOL.replace("METHOD", method), grade) == []


TABLE = {
    "os.waitpid(os.fork() or os._exit(0), 0)": "ABCD",
    "subprocess.run(['true'], check=True, preexec_fn=lambda: None)": "ABCD",
    "tempfile.TemporaryFile().write(b'x')": "ABCD",
    "threading.Thread(target=print).start()": "ABCD",
    "multiprocessing.Pipe()": "ABCD",
    "multiprocessing.Lock()": "ABD",
    "multiprocessing.Queue()": "ABD",
    "shared_memory.SharedMemory(create=True, size=9).unlink()": "ABD",
}
TRIES = """
import multiprocessing, os, subprocess, tempfile, threading
from multiprocessing import shared_memory
from arena_bot import Bot, run

class Tries(Bot):
    def choose(self, turn):
        for what, works in WANTED.items():
            try:
                eval(what)
            except OSError as error:
                assert not works, (what, error)
            else:
                assert works, what
        return turn.legal[0]

run(Tries)
"""


@pytest.mark.parametrize("grade", grades("ABCD"))
def test_what_works_at_which_grade_is_as_the_page_says(grade: Grade, tmp_path: Path) -> None:
    """An author at grade D must be able to know what a ladder at grade C will refuse."""
    wanted = {what: grade.value in where for what, where in TABLE.items()}
    assert forfeits(tmp_path, TRIES.replace("WANTED", repr(wanted)), grade) == []
