"""Bots, functions and classes in the seats that nobody learns."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from gymnasium.error import ResetNeeded

from arena import games, submission
from arena.rl import BadOpponent, Environment, SingleAgent
from arena.sandbox import cpu_usage
from arena.sandbox.process import adopt_orphans
from arena.v1.referee_pb2 import MatchEnd, Update
from arena_bot import Bot, Turn
from tests.cli.commands import arena
from tests.tournament import programs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/learning.md").read_text()
BUILT_INS = [(game, name) for name, bot in submission.built_ins().items() for game in bot.games if game not in bot.slow]
CRASHES = programs.program(r"""
def choose(self, turn):
    if turn.number > 6:
        raise ValueError("\x1b[31mno idea")
    return turn.legal[0]
""")


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    return tmp_path


def choose(env: Environment, luck: np.random.Generator) -> None:
    """Let luck decide for the selected agent."""
    env.step(int(luck.choice(np.flatnonzero(env.action_mask(env.agent_selection)))))


def course(env: Environment, seed: int | None, luck: int = 1) -> list[Any]:
    """The positions of a match that luck plays, and its rewards."""
    env.reset(seed=seed)
    chance, positions = np.random.default_rng(luck), [env.position]
    while not all(env.terminations.values()):
        choose(env, chance)
        positions.append(env.position)
    return [*positions, env.rewards]


def last(turn: Turn) -> int:
    """Choose the last legal action."""
    return turn.legal[-1]


def spawned() -> list[psutil.Process]:
    """The processes that this one has started, without those that have ended: whoever is to reap them may be busy."""
    found = psutil.Process().children(recursive=True)
    return [each for each in found if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(("game", "name"), BUILT_INS)
def test_a_built_in_bot_plays_and_a_seed_repeats_it(game: str, name: str) -> None:
    """Its luck comes from the seed, too; the next match is another one."""
    env = Environment(game, opponents=[name, None])
    assert env.possible_agents == ["seat_1"]
    first, second = course(env, 3), course(env, None)
    assert first != second
    other = Environment(game, opponents=[name, None])
    assert [first, second] == [course(other, 3), course(other, None)]


def test_agents_are_the_seats_without_a_player() -> None:
    """There may be several; the rewards of all seats add up to 0, so theirs need not."""
    env = Environment("buttons", opponents=[None, "random", None, last])
    env.reset(seed=1)
    assert env.agents == ["seat_0", "seat_2"]
    course(env, 1)
    assert set(env.rewards) == {"seat_0", "seat_2"}


def test_the_same_bot_chooses_the_same_in_its_own_process(cwd: Path) -> None:
    """As a name, a function, a class and a program at a path: a seed decides, not where the bot runs."""

    class Mine(Bot):
        def choose(self, turn: Turn) -> int:
            return self.random.choice(turn.legal)

    def mine(turn: Turn) -> int:
        return turn.bot.random.choice(turn.legal)

    programs.write(cwd, mine=programs.program("def choose(self, turn): return self.random.choice(turn.legal)"))
    players = ["random", mine, Mine, "./mine.py"]
    envs = [Environment("birth", opponents=[player, None]) for player in players]  # type: ignore[list-item]
    courses = [[course(env, 1), course(env, None)] for env in envs]
    assert all(each == courses[0] for each in courses)
    for env in envs:
        env.close()


@pytest.mark.long
def test_a_submitted_bot_plays_by_its_name(cwd: Path) -> None:
    """Found in the home as commands find it; its newest version unless one is named."""
    programs.write(cwd, mine=programs.FIRST)
    assert arena("submit", "mine.py", "--game", "birth", cwd=cwd).code == 0
    programs.write(cwd, mine=programs.LAST)
    assert arena("submit", "mine.py", "--game", "birth", cwd=cwd).code == 0
    for name, like in (("mine", last), ("mine@1", lambda turn: turn.legal[0])):
        env = Environment("birth", opponents=[None, name])
        assert course(env, 1) == course(Environment("birth", opponents=[None, like]), 1)
        env.close()


@pytest.mark.long
def test_nothing_is_left_of_a_bot(cwd: Path) -> None:
    """Neither after `close`, which may be called twice, nor of an environment that was forgotten."""
    programs.write(cwd, mine=programs.FIRST)
    before = set(spawned())
    env = Environment("birth", opponents=["./mine.py", None])
    env.reset()
    assert set(spawned()) - before
    env.close()
    env.close()
    assert not set(spawned()) - before
    env = Environment("birth", opponents=["./mine.py", None])
    del env
    gc.collect()
    assert not set(spawned()) - before


def test_the_process_of_a_bot_reaps_what_it_started(cwd: Path) -> None:
    """Trials of sandboxes leave processes that have ended: a container's first process would keep them."""
    programs.write(cwd, mine=programs.FIRST)
    adopt_orphans()
    before = set(cpu_usage.children(os.getpid()))
    env = Environment("birth", opponents=["./mine.py", None])
    env.close()
    assert set(cpu_usage.children(os.getpid())) <= before


@pytest.mark.long
def test_a_fork_leaves_the_bot_to_its_owner(cwd: Path) -> None:
    """It may forget or close the environment, and cannot play in it: both would read from one link."""
    programs.write(cwd, mine=programs.FIRST)
    script = (
        "import os\n"
        "from arena.rl import BadOpponent, Environment\n"
        "env, forgotten = (Environment('birth', opponents=['./mine.py', None]) for _ in range(2))\n"
        "if not (child := os.fork()):\n"
        "    del forgotten\n"
        "    try:\n"
        "        env.reset()\n"
        "    except BadOpponent as error:\n"
        "        print(error, flush=True)\n"
        "    env.close()\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "for each in (env, forgotten):\n"
        "    each.reset(seed=1)\n"
        "    each.close()\n"
        "    print(each.agent_selection)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True, timeout=100)
    error, *played = told.stdout.splitlines()
    assert error == "./mine.py: it plays for the process that this one was forked from: make an environment here"
    assert played == ["seat_1", "seat_1"]


class Interrupting:
    """A player during whose fetching somebody presses Ctrl-C."""

    def __call__(self, turn: Turn) -> int:
        return turn.legal[0]

    @property
    def __name__(self) -> str:
        raise KeyboardInterrupt


def test_who_gives_up_while_players_are_fetched_leaves_none(cwd: Path) -> None:
    """Building a bot may take a while, and Ctrl-C is how one stops it."""
    programs.write(cwd, mine=programs.FIRST)
    before = spawned()
    with pytest.raises(KeyboardInterrupt) as stopped:
        Environment("birth", opponents=["./mine.py", Interrupting(), None])
    assert spawned() == before
    del stopped  # which remembers the environment: one that is forgotten ends its processes anyway


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_a_function_raises_breaks_the_match_off(error: type[BaseException]) -> None:
    """Half a step was made: only a new match goes on from there."""

    def fails(turn: Turn) -> int:
        if faulty:
            raise error
        return turn.legal[0]

    faulty = True
    env = Environment("birth", opponents=[None, fails])
    with pytest.raises(ResetNeeded, match=r"^the match was broken off, or none was begun: call reset\(\)$"):
        env.step(0)
    with pytest.raises(error):
        course(env, 1)
    with pytest.raises(ResetNeeded, match=r"^the match was broken off, "):
        env.step(0)
    single = SingleAgent("birth", [None, fails])
    single.reset(seed=1)
    with pytest.raises(error):
        single.step(np.flatnonzero(single.action_masks())[0])
    with pytest.raises(ResetNeeded, match=r"^the episode is over, or none was begun: call reset\(\)$"):
        single.step(0)
    faulty = False
    assert course(env, 1) == course(Environment("birth", opponents=[None, fails]), 1)


@pytest.mark.long
def test_bots_end_with_a_program_that_is_killed(cwd: Path) -> None:
    """Nobody is there then to close anything, nor to hear the answer: the link ends, and the bots with it."""
    programs.write(cwd, mine=programs.program("def choose(self, turn): time.sleep(1000)"))
    script = (
        "import os, psutil, signal, threading\n"
        "from arena.rl import Environment\n"
        "env = Environment('birth', opponents=['./mine.py', None])\n"
        "print(*[child.pid for child in psutil.Process().children(recursive=True)], flush=True)\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
        "env.reset()\n"
    )
    told = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=False, timeout=100)
    pids = {int(pid) for pid in told.stdout.split()}
    assert pids
    deadline = time.monotonic() + 15  # less than an answer is waited for
    while left := [each for each in psutil.process_iter(["status"]) if each.pid in pids]:
        if all(each.info["status"] == psutil.STATUS_ZOMBIE for each in left):  # whoever adopted them may be busy
            break
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_faults_are_one_line(cwd: Path) -> None:
    """A learner's loop ends at once, and says whose fault it was."""
    programs.write(cwd, mine=CRASHES)
    for player, message in (
        ("./mine.py", r"\./mine\.py: the process exited with code 1; it printed last: ValueError: \\x1b\[31mno idea"),
        (lambda _: 99, r"<lambda> chose 99, legal: 0 \(play 1\), .*"),
        (lambda _: None, r"<lambda> returned None: return one of turn\.legal"),
    ):
        env = Environment("birth", opponents=[None, player])  # type: ignore[list-item]
        with pytest.raises(BadOpponent, match=f"^{message}$"):
            course(env, 1)
        env.close()


@pytest.mark.parametrize(
    ("opponents", "message"),
    [
        (["nobody", None], "unknown bot 'nobody' in '.arena': bots are actuary, .*, or a path such as ./mine.py"),
        (["planner", None], "'planner' does not play birth: it plays burning-desire, buttons"),
        (["./missing.py", None], "no such file or folder: 'missing.py'"),
        (["attach:", None], "attach: .*"),
        ([3, None], "3 is no player: name a bot, or give a function of a turn"),
        ([int, None], "<class 'int'> is no player: .*"),
        (["greedy", "greedy"], "all seats have a player: put None where the learner sits"),
        ("greedy", "opponents is a list with a player, or None, for every seat, .*"),
        ([None], "birth cannot be played by 1: players are 2 … 3"),
    ],
)
def test_mistakes_are_named(cwd: Path, opponents: Any, message: str) -> None:
    """Before anything is played."""
    with pytest.raises(ValueError, match=message):
        Environment("birth", opponents=opponents)
    assert os.listdir(cwd) == []


def test_a_class_is_told_what_it_asks_for() -> None:
    """Of each step, and of the end of each match, as a bot is; a match that was broken off is void."""
    told: list[Update] = []
    ends: list[MatchEnd] = []

    class Listens(Bot):
        updates = True

        def choose(self, turn: Turn) -> int:
            return turn.legal[0]

        def update(self, update: Update) -> None:
            told.append(update)

        def end(self, end: MatchEnd) -> None:
            ends.append(end)

    env = SingleAgent("birth", [Listens, None])
    env.reset(seed=1)
    steps = 0
    over = False
    while not over:
        _, _, over, _, _ = env.step(int(np.flatnonzero(env.action_masks())[0]))
        steps += 1
    assert len(told) == sum(len(update.actions) for update in told) >= 2 * steps - 1
    env.reset()
    env.reset()
    assert [end.void for end in ends] == [False, True]
    assert sorted(ends[0].ranks) == [0, 1]


def test_a_function_sees_what_a_bot_sees() -> None:
    """So that it may move into one: the view, the state, the rules, the seat and the legal actions."""
    seen: list[Turn] = []

    def looks(turn: Turn) -> int:
        seen.append(turn)
        return turn.legal[0]

    env = Environment("buttons", opponents=[looks, None])
    env.reset(seed=1)
    assert seen[0].state == env.position
    assert seen[0].buttons == env.game.view(env.position, 0)
    assert (seen[0].bot.seat, seen[0].bot.seats, seen[0].bot.game) == (0, 2, "buttons")
    assert tuple(seen[0].legal) == tuple(games.game("buttons").pending(env.position)[0])


def test_the_loop_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """And prints what the page says."""
    (text,) = re.findall(r"^```python opponents\n((?s:.*?))^```$", PAGE, re.MULTILINE)
    exec(text, {})
    printed = capsys.readouterr().out.strip()
    assert printed == "['seat_1']"
    assert f"`{printed}`" in PAGE
