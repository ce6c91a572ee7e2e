"""What every command does when its standard streams are closed, full or left unread."""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from arena.cli.command_list import COMMANDS
from tests.cli.commands import ARENA, PATIENCE, environment
from tests.cli.conftest import make_home
from tests.quick import quick_first

USES = {
    "games": "games",
    "bots": "bots",
    "submit": "submit nothing",
    "retire": "retire bob",
    "log": "log",
    "match": "match random greedy --game birth",
    "play": "play greedy --game birth",
    "ladder": "ladder --game birth --bots random,greedy --rounds 2",
    "leaderboard": "leaderboard --game birth",
    "compare": "compare random random --game birth --matches 20",
    "show": "show ann",
    "replay": "replay last",
    "verify": "verify",
    "export": "export ratings",
    "doctor": "doctor",
    "completion": "completion bash",
}
"""A quick use of commands that have one; the others are asked for their help."""
TYPICAL = ("submit", "match", "ladder", "leaderboard")
"""Commands that ask, play, show progress and print: what all have in common is tried with these alone."""
CLOSED = {"closed input": "<&-", "closed output": ">&-", "closed errors": "2>&-", "all closed": "<&- >&- 2>&-"}
FULL = {"full output": ">/dev/full", "full errors": "2>/dev/full", "both full": ">/dev/full 2>/dev/full"}
STREAMS = sorted({**CLOSED, **FULL}, key=lambda how: how not in {"all closed", "both full"})


@cache
def redirected(words: str, how: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a shell would, with its streams redirected; once, however often it is asked for."""
    line = f"{shlex.quote(str(ARENA))} {words} {how}"
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home that has a finished ladder and, for `replay`, a match that was just played."""
    made = tmp_path_factory.mktemp("streams")
    make_home(made / ".arena")
    assert redirected(USES["match"], "", made).returncode == 0
    return made


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *product(COMMANDS, STREAMS[:2]),
        *(pytest.param(*case, marks=pytest.mark.long) for case in product(TYPICAL, STREAMS[2:])),
    ],
)
def test_no_command_breaks_at_its_streams(name: str, how: str, folder: Path) -> None:
    """Under cron, in a service or on a full disk, a command works or says in one line why it does not."""
    use = USES.get(name, f"{name} --help")
    as_usual = redirected(use, "", folder)
    ran = redirected(use, {**CLOSED, **FULL}[how], folder)
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    if "output" in how or "both" in how:
        assert ran.stdout == ""
    if how in CLOSED or how == "full errors":
        assert ran.returncode == as_usual.returncode
    elif as_usual.stdout:
        assert ran.returncode not in (0, 120)  # 120: Python noticed it only at its end
    if how == "full output" and as_usual.stdout and name != "play":
        assert "Error: cannot use 'standard output': No space left on device" in ran.stderr.splitlines()


@pytest.mark.parametrize("how", quick_first(sorted(CLOSED.values(), key=len, reverse=True)))
def test_a_ladder_without_streams_plays_as_ever(how: str, tmp_path: Path) -> None:
    """With a stream closed, workers used to get the database as their output, and no match was played."""
    assert redirected("ladder --game birth --bots random,greedy --rounds 3 -j 2", how, tmp_path).returncode == 0
    assert "6 matches" in redirected("leaderboard --game birth", "", tmp_path).stdout


def test_who_has_read_enough_ends_a_command_quietly(folder: Path) -> None:
    """As in `arena export matches | head`: no line about a pipe."""
    ran = redirected("games --json", "| head -c 1", folder)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "{", "")


def test_output_stays_as_it_was_asked_for(folder: Path) -> None:
    """The streams that replace Python's keep its encoding, so that what a terminal lacks is still shown as `?`."""
    line = f"PYTHONIOENCODING=latin-1 {shlex.quote(str(ARENA))} ladder --help"
    ran = subprocess.run(["/bin/sh", "-c", line], cwd=folder, env={**os.environ}, capture_output=True, check=True)
    assert "…".encode("latin-1", "replace") in ran.stdout
