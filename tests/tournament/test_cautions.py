"""The caution about a weak sandbox is printed once, before the first program runs, and not if none runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from arena.sandbox import UNCONFINED
from arena.terminal.machine import Machine
from tests.cli.commands import RUN_BOTS, Ran, arena
from tests.tournament import programs

BIRTH = ("--game", "birth")
LADDER = ("ladder", *BIRTH, "--rounds", "1", "--bots", "random,greedy")
CAUTION = "sandbox grade D: limits only"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished ladder in its home, and a bot whose manifest has a build."""
    folder = tmp_path_factory.mktemp("played")
    assert weakly(*LADDER, cwd=folder).code == 0
    (folder / "mine").mkdir()
    programs.write(folder / "mine", bot=programs.FIRST)
    (folder / "mine/bot.toml").write_text('run = ["python", "bot.py"]\ngames = ["birth"]\nbuild = [["true"]]\n')
    return folder


@pytest.fixture
def later(played: Path, cwd: Path) -> Path:
    """A copy of the folder `played`, which a test may change."""
    return Path(shutil.copytree(played, cwd, dirs_exist_ok=True))


def weakly(*words: str, cwd: Path) -> Ran:
    return arena(*words, "--sandbox=D", cwd=cwd)


def first_match(cwd: Path) -> str:
    return str(json.loads(arena("show", "random", "--json", cwd=cwd).out)["matches"][0]["id"])


RUNS = {
    "match": ["match", "./mine", "random", *BIRTH],
    "play": ["play", "random", *BIRTH],
    "ladder": [*LADDER, "--rounds", "2"],
    "compare": ["compare", "random", "greedy", *BIRTH, "--matches", "8"],
    "check": ["check", "mine"],
    "submit": ["submit", "mine"],
    "debug": ["debug", "MATCH", "./mine", "--seat", "0"],
}
"""A call of every command that runs bots; it is run where a match has been played. MATCH stands for the match's id."""


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", RUNS)
def test_who_runs_bots_says_first_how_little_holds_them(name: str, later: Path) -> None:
    """The caution comes first and only once, also if a build runs before the bot."""
    ran = weakly(*(first_match(later) if word == "MATCH" else word for word in RUNS[name]), cwd=later)
    assert ran.code in ({130} if name == "play" else {0, 3}), ran.err  # no person is there, who would type anything
    assert ran.caution.startswith(CAUTION)
    assert "sandbox grade" not in ran.err


def test_every_command_that_runs_bots_is_tried() -> None:
    """A new command that runs bots must be added to `RUNS`."""
    assert RUNS.keys() == RUN_BOTS


QUIET = {
    "a ladder that lacks nothing": list(LADDER),
    "what was entered before": ["submit", "mine"],
    "a name that nobody has": ["match", "carl", "random", *BIRTH],
    "a match that was never played": ["debug", "none", "random", "--seat", "0"],
    "too small a field": ["compare", "random", "greedy", *BIRTH, "-p", "3", "--field", ""],
    "a path to nothing": ["check", "./nothing.py"],
}


@pytest.mark.parametrize("case", QUIET)
def test_where_no_program_runs_nothing_need_hold(case: str, later: Path) -> None:
    """No caution is printed by a command that is refused or runs no program, since nothing can do harm."""
    if "mine" in QUIET[case]:
        assert weakly("submit", "mine", cwd=later).code == 0
    ran = weakly(*QUIET[case], cwd=later)
    assert "sandbox grade" not in ran.caution + ran.err


def test_who_starts_bots_by_hand_knows_what_holds_them() -> None:
    """External bots run in no sandbox at any grade, so the caution is printed only if the arena starts a bot."""
    machine = Machine(UNCONFINED, Path())
    assert machine.caution_for(["attach:", "attach:"]) is None
    assert machine.caution_for(["attach:", "random"]) == UNCONFINED.warning
