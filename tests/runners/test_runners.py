"""The comparison with other runners measures what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.runners import __main__ as runners

MOVES = runners.GAME.read_text().split()
FAKE = """
import re, subprocess, sys
words = sys.argv[1:]
matches = int(words[words.index("-games") + 1])
bots = [word.removeprefix("cmd=").split() for word in words if word.startswith("cmd=")]
bots = [subprocess.Popen(bot, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) for bot in bots]
for match in range(1, matches + 1):
    moves = []
    for ply in range({plies}):
        bot = bots[(ply + match) % 2]
        bot.stdin.write("position startpos" + " moves " * bool(moves) + " ".join(moves) + "\\ngo depth 1\\n")
        bot.stdin.flush()
        while not (answer := bot.stdout.readline()).startswith("bestmove"):
            pass
        moves.append(answer.split()[1])
    end = "checkmate" if moves == {moves} else "rules infraction"
    print(f"[1] Finished game {{match}} (a vs b): 1-0 {{{{{{end}}}}}}")
for bot in bots:
    bot.stdin.close()
    bot.wait()
"""
"""A small runner with the options and the output of c-chess-cli."""


def fake(folder: Path, plies: int = len(MOVES)) -> str:
    program, script = folder / "fake", folder / "fake.py"
    script.write_text(FAKE.format(plies=plies, moves=MOVES))
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.mark.needs("cc")
def test_the_chess_bots_play_the_game_from_wherever_they_are_told(tmp_path: Path) -> None:
    """A runner names all moves so far, or a later position and the moves since."""
    fen = "rnbqkbnr/p1pppppp/1p6/8/8/7N/PPPPPPPP/RNBQKB1R"
    positions = {
        "startpos": 0,
        f"startpos moves {' '.join(MOVES[:7])}": 7,
        f"fen {fen} w KQkq - 0 2": 2,
        f"fen {fen} b KQkq - 0 2 moves {MOVES[3]}": 4,
    }
    told = "uci\nisready\n" + "".join(f"position {position}\ngo depth 1\n" for position in positions) + "quit\n"
    for command in runners.chess_bots(tmp_path).values():
        said = subprocess.run(command, input=told, capture_output=True, text=True, check=True).stdout.splitlines()
        assert said[:3] == ["id name scripted", "uciok", "readyok"]
        assert [line.split()[1] for line in said if "bestmove" in line] == [MOVES[at] for at in positions.values()]


@pytest.mark.needs("cc")
def test_a_runner_that_ends_matches_otherwise_is_not_measured(tmp_path: Path) -> None:
    """Else the fastest would be the one that breaks every match off."""
    bot = runners.chess_bots(tmp_path)["Python"]
    (runner,) = runners.chess_runners("c-chess-cli", fake(tmp_path, plies=5), {"Python": bot}, [1])
    with pytest.raises(click.ClickException, match=r"0 of 2 matches ended with mate; .*rules infraction"):
        runner.play(2)


def test_the_table_compares_turn_by_turn() -> None:
    """With the best of c-chess-cli in the same turn, at whatever number of matches."""

    def runner(name: str, at_once: str) -> runners.Runner:
        return runners.Runner(name, "C", at_once, lambda _: runners.Played(0, 0, 1.0))

    every = [runner("arena", "768 a bot"), runner("c-chess-cli", "1"), runner("c-chess-cli", "4")]
    lines = runners.table(every, [[300, 200, 100], [100, 50, 400], [150, 200, 50]]).splitlines()
    assert lines[2:5] == [
        "| arena | C | 768 a bot | 200 | 100 | 300 |",
        "| c-chess-cli | C | 1 | 100 | 50 | 400 |",
        "| c-chess-cli | C | 4 | 150 | 50 | 200 |",
    ]
    assert lines[-1] == "arena with bots of C: 1.00 of c-chess-cli's best (0.25 to 2.00 in 3 turns)"


@pytest.mark.long
@pytest.mark.needs("cc")
def test_it_plays_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real ladders of the arena, and a small runner with real bots, in a table."""
    monkeypatch.setattr(runners, "missing_tools", lambda _: ["rust"])
    monkeypatch.setattr(runners, "FIRST", 4)
    words = ["--c-chess-cli", fake(tmp_path), "--turns", "2", "--seconds", "0.2", "--at-once", "1"]
    ran = CliRunner().invoke(runners.main, words)
    assert ran.exit_code == 0, ran.stderr
    assert [line.split("|")[1:4] for line in ran.stdout.splitlines() if line.startswith("| ")][1:] == [
        [" arena ", " Python ", " 768 a bot "],
        [" c-chess-cli ", " C ", " 1 "],
        [" c-chess-cli ", " Python ", " 1 "],
    ]
    assert "turn 2 of 2: c-chess-cli, bots of Python, 1 at once: " in ran.stderr
    missing = CliRunner().invoke(runners.main, ["--fastchess", str(tmp_path / "nothing")])
    assert (missing.exit_code, "is no program that can be run" in missing.stderr) == (1, True)
