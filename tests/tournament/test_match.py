"""Matches without a ladder: nobody is rated, everything is printed, and the last ones are kept for replays."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
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


def test_bots_play_in_the_seats_as_named(cwd: Path) -> None:
    """Twenty matches of one line-up, between a bot given by its path and a built-in bot."""
    programs.write(cwd, mine=programs.FIRST)
    ran = arena("match", "./mine.py", "random", *BIRTH, "-n", "20", cwd=cwd)
    head, columns, _, mine, other, _ = ran.out.splitlines()
    assert re.fullmatch(r"BIRTH: 20 of 20 matches; --seed [0-9a-f]{32} gives the same dice again", head)
    assert columns.split() == ["seat", "bot", "wins", "ties", "forfeits", "mean", "score"]
    assert (mine.split()[:2], other.split()[:2]) == (["0", "./mine.py"], ["1", "random"])
    assert sum(int(row.split()[2]) + int(row.split()[3]) / 2 for row in (mine, other)) == 20
    assert {path.name for path in cwd.rglob("*") if not path.match("unrated/*.json")} == {
        "mine.py",
        ".arena",
        "unrated",
    }


@pytest.mark.long
def test_a_name_means_what_was_submitted_also_beside_a_folder_of_that_name(cwd: Path) -> None:
    """Who has changed the folder since is told that it does not play, and what to type."""
    programs.write(cwd, mine=programs.FIRST)
    arena("submit", "mine.py", *BIRTH, cwd=cwd)
    (cwd / "mine").mkdir()
    (cwd / "mine" / "bot.py").write_text(programs.LAST)
    note = "mine is mine@1, as it was submitted; what lies here is ./mine"
    assert note in arena("match", "mine", "random", *BIRTH, cwd=cwd).err.splitlines()
    assert note not in arena("match", "./mine", "random", *BIRTH, cwd=cwd).err.splitlines()


def test_the_seed_repeats_a_match(cwd: Path) -> None:
    """The seed that was printed repeats the same matches; another seed gives other matches."""
    first = played(cwd, "random", "greedy", "random", "-n", "3")
    again = played(cwd, "random", "greedy", "random", "-n", "3", "--seed", first["seed"])
    assert again["matches"] == first["matches"]
    assert played(cwd, "random", "greedy", "random", "-n", "3", "--seed", "x")["matches"] != first["matches"]


def test_a_submitted_bot_is_named_by_its_name(cwd: Path) -> None:
    """Or by that of a version, which need not be the newest."""
    programs.enter(cwd, mine=programs.FIRST)
    assert played(cwd, "mine", "mine@1")["matches"][0]["forfeits"] == []


def test_forfeits_are_explained(cwd: Path) -> None:
    """Only the first few forfeits are explained in full, since the others are mostly like them."""
    programs.write(cwd, bad=programs.program(r'def choose(self, turn): raise SystemExit("\x1b[31mno")'))
    ran = arena("match", "bad.py", "random", *BIRTH, "-n", "5", cwd=cwd)
    why = "seat 0 (bad.py) forfeited at decision 1: crash: the process exited with code 1"
    assert ran.err.splitlines() == [
        *(line for match in (1, 2, 3) for line in (f"match {match}, {why}", r"  | \x1b[31mno")),
        "… and 2 more forfeits: --json has all of them",
        "what to do about it: arena check bad.py --game birth",
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
        variables = [process.stderr.readline().strip(" \\\n") for _ in range(2)]
        is_external = environment() | dict(variable.split("=", 1) for variable in variables)
        subprocess.run([sys.executable, "mine.py"], cwd=cwd, env=is_external, timeout=PATIENCE, check=True)
        out, _ = process.communicate(timeout=PATIENCE)
    (match,) = json.loads(out)["matches"]
    assert match["forfeits"] == []


def test_how_to_start_a_bot_by_hand_can_be_pasted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one command for a shell, in lines that fit a terminal, and quoted, since paths may contain spaces."""
    monkeypatch.setattr(sys, "executable", "/my arena/python")
    attach("mine", "unix:/my tmp/s", "token")
    _, line = capsys.readouterr().err.replace("\\\n", "").split("\n", 1)
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


def replayed(cwd: Path, what: str) -> str:
    return arena("replay", what, "--all", cwd=cwd).out


@pytest.mark.long
def test_a_match_just_played_can_be_watched(cwd: Path) -> None:
    """From the home that was made for it, and from all that the command wrote."""
    words = ("match", "greedy", "random", "--game", "birth", "-n", "2", "--seed", "watch")
    first = arena(*words, "--replay", "mine.json", cwd=cwd)
    assert first.code == 0, first.err
    assert first.out.splitlines()[-1] == (
        "kept as unrated-1 … unrated-2 in the new home '.arena'; step by step: arena replay last"
    )
    shown = replayed(cwd, "last")
    assert shown.startswith("BIRTH, match unrated-2\n  seat 0: greedy\n  seat 1: random\n")
    assert replayed(cwd, "mine.json") == shown
    assert replayed(cwd, "unrated-2") == shown
    assert replayed(cwd, "unrated-1") != shown
    again = arena(*words, "--json", cwd=cwd).out
    (cwd / "again.json").write_text(again)
    assert json.loads(again)["kept"] == ["unrated-3", "unrated-4"]
    assert arena(*words, cwd=cwd).out.endswith("kept as unrated-5 … unrated-6; step by step: arena replay last\n")
    steps = [re.sub(r"\d+\.\d ms|unrated-\d", "…", text) for text in (shown, replayed(cwd, "again.json"))]
    assert steps[0] == steps[1]


def test_a_match_that_cannot_be_kept_is_played_all_the_same(cwd: Path) -> None:
    """What was asked for was the match; one line says what is missing."""
    (cwd / "file").touch()
    words = ("match", "greedy", "random", "--game", "birth", "--home", "file/home")
    ran = arena(*words, "--replay", "mine.json", cwd=cwd)
    assert ran.code == 0, ran.err
    assert replayed(cwd, "mine.json").startswith("BIRTH, match 1\n")
    assert "the matches are not kept for `arena replay`: " in ran.err
    assert "kept as" not in ran.out


@pytest.mark.long
def test_a_match_is_shown_while_it_is_played(cwd: Path) -> None:
    """A step does not wait for what follows, and nothing is missing of what a replay shows, nor of the bank."""
    programs.write(
        cwd,
        slow=programs.program("""
def choose(self, turn):
    time.sleep({4: 3, 6: 1.5}.get(turn.number, 0))  # so that step 4 is shown before the match is over
    return turn.legal[0]
"""),
    )
    words = [str(ARENA), "match", "slow.py", "slow.py", *BIRTH, "--watch"]
    with subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        lines, seen = [], {}
        for line in process.stdout:
            lines.append(line)
            seen[line.partition(",")[0]] = time.monotonic()
        assert process.wait(PATIENCE) == 0
    assert seen["step 4"] - seen["step 1"] > 1
    blocks = "".join(lines).partition("BIRTH: 1 of 1 matches")[0].strip().split("\n\n")
    shown = replayed(cwd, "last").strip().split("\n\n")
    assert blocks[1:] == shown[1:]  # the first names the match, which has its name only when it is kept


def test_a_path_that_is_no_text_is_kept_as_what_can_be_read(cwd: Path) -> None:
    """The match counts, whatever somebody called a folder."""
    folder = cwd / os.fsdecode(b"d\xff")
    folder.mkdir()
    programs.write(folder, mine=programs.FIRST)
    ran = arena("match", os.fsdecode(b"./d\xff/mine.py"), "random", *BIRTH, cwd=cwd)
    assert ran.code == 0, ran.err
    assert "  seat 0: ./d\\udcff/mine.py\n" in replayed(cwd, "last")


def test_a_file_that_cannot_be_written_is_said_before_anything_is_played(cwd: Path) -> None:
    """Not after ten thousand matches."""
    ran = arena("match", "greedy", "random", *BIRTH, "--replay", "none/mine.json", cwd=cwd)
    assert (ran.code, ran.out) == (2, "")
    assert "there is no folder 'none'" in ran.err
