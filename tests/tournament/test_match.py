"""Matches without a ladder: nothing is stored, and everything is printed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from arena.cli.match import attach
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import programs

BIRTH = ("--game", "birth")


def played(cwd: Path, *words: str) -> Any:
    ran = arena("match", *words, *BIRTH, "--json", cwd=cwd)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def test_bots_play_in_the_seats_as_named_and_nothing_is_stored(cwd: Path) -> None:
    """Twenty matches of one line-up, between a bot given by its path and a built-in bot."""
    programs.write(cwd, mine=programs.FIRST)
    ran = arena("match", "./mine.py", "random", *BIRTH, "-n", "20", cwd=cwd)
    head, columns, _, mine, other = ran.out.splitlines()
    assert re.fullmatch(r"BIRTH: 20 of 20 matches; with the same dice: --seed [0-9a-f]{32}", head)
    assert columns.split() == ["seat", "bot", "wins", "ties", "forfeits", "mean", "score"]
    assert (mine.split()[:2], other.split()[:2]) == (["0", "./mine.py"], ["1", "random"])
    assert sum(int(row.split()[2]) + int(row.split()[3]) / 2 for row in (mine, other)) == 20
    assert list(cwd.iterdir()) == [cwd / "mine.py"]


@pytest.mark.long
def test_the_seed_repeats_a_match(cwd: Path) -> None:
    """The seed that was printed repeats the same matches; another seed gives other matches."""
    first = played(cwd, "random", "greedy", "random", "-n", "3")
    assert played(cwd, "random", "greedy", "random", "-n", "3", "--seed", first["seed"]) == first
    assert played(cwd, "random", "greedy", "random", "-n", "3", "--seed", "x")["matches"] != first["matches"]


def test_a_submitted_bot_is_named_by_its_name(cwd: Path) -> None:
    """A name or a version means the submitted bot, even if there is a file of the same name."""
    programs.enter(cwd, mine=programs.FIRST)
    (cwd / "mine").touch()
    assert played(cwd, "mine", "mine@1")["matches"][0]["forfeits"] == []


def test_forfeits_are_explained(cwd: Path) -> None:
    """Only the first few forfeits are explained in full, since the others are mostly like them."""
    programs.write(cwd, bad=programs.program(r'def choose(self, turn): raise SystemExit("\x1b[31mno")'))
    ran = arena("match", "bad.py", "random", *BIRTH, "-n", "5", cwd=cwd)
    why = "seat 0 (bad.py) forfeited at decision 1: crash: the process exited with code 1"
    assert ran.err.splitlines() == [
        *(line for match in (1, 2, 3) for line in (f"match {match}, {why}", r"  | \x1b[31mno")),
        "… and 2 more forfeits: --json has all of them",
    ]
    assert ran.out.splitlines()[3].split()[:5] == ["0", "bad.py", "0", "0", "5"]


def test_a_match_that_nobody_joins_does_not_count(cwd: Path) -> None:
    """Without a result the command fails."""
    programs.write(cwd, bad="")
    ran = arena("match", "bad.py", "bad.py", *BIRTH, cwd=cwd)
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == "Error: no match counts: nobody joined"


def test_a_bot_can_be_started_by_hand(cwd: Path) -> None:
    """The arena prints the variables by which the bot connects, and waits; so it can be started in a debugger."""
    programs.write(cwd, mine=programs.FIRST)
    words = [str(ARENA), "match", "attach:", "random", *BIRTH, "--json"]
    with subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stderr is not None
        while process.stderr.readline() != "waiting for a bot; start it with\n":
            assert process.poll() is None
        *variables, _, _ = shlex.split(process.stderr.readline())
        is_external = environment() | dict(variable.split("=", 1) for variable in variables)
        subprocess.run([sys.executable, "mine.py"], cwd=cwd, env=is_external, timeout=PATIENCE, check=True)
        out, _ = process.communicate(timeout=PATIENCE)
    (match,) = json.loads(out)["matches"]
    assert match["forfeits"] == []


def test_how_to_start_a_bot_by_hand_can_be_pasted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printed line is quoted for a shell, since paths may contain spaces."""
    monkeypatch.setattr(sys, "executable", "/my arena/python")
    attach("mine", "unix:/my tmp/s", "token")
    _, line = capsys.readouterr().err.splitlines()
    words = ["ARENA_ADDR=unix:/my tmp/s", "ARENA_TOKEN=token", "/my arena/python", "mybot.py"]
    assert shlex.split(line) == words


def test_ctrl_c_shows_what_was_played(cwd: Path) -> None:
    """An interrupted command prints the results so far."""
    programs.write(cwd, slow=programs.SLOW)
    words = [str(ARENA), "match", "attach:", "slow.py", *BIRTH, "-n", "9"]
    with subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(2)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out.startswith("BIRTH: 0 of 9 matches;")
