"""Compare the arena with runners of chess matches: scripts/compare-runners says how it is used."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click

from arena.referee.loans import IN_FLIGHT
from arena.submission.manifest import load
from arena.submission.templates import templates
from arena.submission.tools import missing_tools
from tests.cli.commands import arena

HERE = Path(__file__).parent
GAME = HERE / "game.txt"
"""The chess match that all bots play: as many plies as a match of two-player Buttons has decisions in the mean."""
PLIES = len(GAME.read_text().split())
DAY = 86_400.0
FIRST = 100
"""Matches of the first turn of each, which is not counted: it tells how many fit into the time."""


class Played(NamedTuple):
    """What a runner did in a turn; a ply is a decision of one bot."""

    plies: int
    matches: int
    seconds: float

    @property
    def plies_per_s(self) -> float:
        return self.plies / self.seconds


class Runner(NamedTuple):
    """A runner, with the bots and the number of matches at a time; `play` plays so many matches."""

    name: str
    bots: str
    at_once: str
    play: Callable[[int], Played]


def chess_runners(name: str, program: str, bots: dict[str, list[str]], at_once: Sequence[int]) -> list[Runner]:
    """Return a runner of chess with each kind of bots, at each number of matches at a time."""
    words = {"c-chess-cli": _c_chess_cli, "fastchess": _fastchess}[name]

    def runner(command: list[str], number: int) -> Callable[[int], Played]:
        return lambda matches: _chess(words(program, command, matches, number), matches)

    return [
        Runner(name, language, str(number), runner(command, number))
        for language, command in bots.items()
        for number in at_once
    ]


def _c_chess_cli(program: str, bot: list[str], matches: int, at_once: int) -> list[str]:
    engines = [word for name in "ab" for word in ("-engine", f"cmd={' '.join(bot)}", f"name={name}")]
    return [program, "-each", "tc=60+0.6", *engines, "-games", str(matches), "-concurrency", str(at_once)]


def _fastchess(program: str, bot: list[str], matches: int, at_once: int) -> list[str]:
    arguments = f"args={' '.join(bot[1:])}"
    engines = [word for name in "ab" for word in ("-engine", f"cmd={bot[0]}", arguments, f"name={name}")]
    number = ["-concurrency", str(at_once), "-force-concurrency"]
    return [program, *engines, "-each", "tc=60+0.6", "-rounds", str(matches // 2), *number]


def _chess(command: list[str], matches: int) -> Played:
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begun
    finished = [line for line in ran.stdout.splitlines() if "Finished game" in line]
    mated = [line for line in finished if "mate" in line]
    if ran.returncode or len(mated) != matches:
        last = (finished or ran.stdout.splitlines() or ran.stderr.splitlines() or ["nothing"])[-1]
        raise click.ClickException(f"{' '.join(command)}: {len(mated)} of {matches} matches ended with mate; {last}")
    return Played(PLIES * matches, matches, seconds)


def arena_runners(folder: Path) -> list[Runner]:
    """Return the arena with two bots in Python and, where they can be built, with two in Rust or C++."""
    submit = [("second", HERE / "random_bot.py")]
    line_ups = {"Python": ("random", "second")}
    for language, title in (("rust", "Rust"), ("c++", "C++")):
        template = templates()[language]
        if not missing_tools(load(template / "bot.toml", str(template))):
            click.echo(f"building two bots in {title}, which may take minutes the first time", err=True)
            line_ups[title] = ("one", "two")
            for name in line_ups[title]:
                _arena("new", str(folder / name), "--language", language)
                submit.append((name, folder / name))
            break
    home = folder / "home"
    for name, path in submit:
        _arena("submit", str(path), "--name", name, "--game", "buttons", "--home", str(home))

    def runner(bots: tuple[str, str]) -> Callable[[int], Played]:
        return lambda matches: _ladder(home, bots, matches)

    return [Runner("arena", language, f"{IN_FLIGHT} a bot", runner(bots)) for language, bots in line_ups.items()]


def _ladder(prepared: Path, bots: tuple[str, str], matches: int) -> Played:
    """Play a new ladder in a copy of a home."""
    with tempfile.TemporaryDirectory() as folder:
        home = str(shutil.copytree(prepared, Path(folder, "home")))
        begun = time.perf_counter()
        rounds = ("--rounds", str(matches // 2))
        _arena("ladder", "--game", "buttons", "--bots", ",".join(bots), *rounds, "--home", home)
        seconds = time.perf_counter() - begun
        seats = list(csv.DictReader(io.StringIO(_arena("export", "seats", "--home", home))))
    return Played(sum(int(seat["decisions"]) for seat in seats), len(seats) // 2, seconds)


def _arena(*words: str) -> str:
    ran = arena(*words, cwd=HERE, patience=DAY)
    if ran.code:
        raise click.ClickException(f"arena {' '.join(words)}: {ran.err.strip()}")
    return ran.out


def chess_bots(folder: Path) -> dict[str, list[str]]:
    """Return the command that starts a chess bot, for each language; raise ClickException without a C compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise click.ClickException("there is no C compiler: the chess bots are of C (Debian, Ubuntu: apt install gcc)")
    program = folder / "uci_bot"
    subprocess.run([compiler, "-O2", "-o", program, HERE / "uci_bot.c"], check=True)
    # all in one folder: the runners take a command apart at its spaces, which a clone's path may have
    python, script, game = (folder / name for name in ("python", "uci_bot.py", "game.txt"))
    python.symlink_to(sys.executable)
    shutil.copy(HERE / "uci_bot.py", script)
    shutil.copy(GAME, game)
    return {"C": [str(program), str(game)], "Python": [str(python), str(script), str(game)]}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--c-chess-cli", metavar="PROGRAM", help="Path of c-chess-cli.")
@click.option("--fastchess", metavar="PROGRAM", help="Path of fastchess.")
@click.option("--turns", default=5, show_default=True, type=click.IntRange(min=1), help="How often each one plays.")
@click.option("--seconds", default=20.0, show_default=True, type=click.FloatRange(min=0.1), help="Length of a turn.")
@click.option(
    "--at-once",
    multiple=True,
    type=click.IntRange(min=1),
    default=(1, 2, 4, 8),
    show_default=True,
    help="Matches that a runner of chess plays at a time; repeat.",
)
def main(c_chess_cli: str | None, fastchess: str | None, turns: int, seconds: float, at_once: tuple[int, ...]) -> None:
    """Compare the arena with runners of chess matches, on this machine.

    All play in turns: the arena two-player Buttons in its sandbox, with every decision recorded and every match rated;
    the others a game of chess of as many plies, which bots of C and of Python play from a list. No bot thinks. The
    whole command is timed, and nothing else should run meanwhile. The table is Markdown. Needs a C compiler; with Rust
    or a C++ compiler the arena also plays with compiled bots.

    \b
    Example:
      scripts/compare-runners --c-chess-cli ~/c-chess-cli/c-chess-cli
    """
    rivals = {}
    for name, program in (("c-chess-cli", c_chess_cli), ("fastchess", fastchess)):
        if program is not None:
            if (found := shutil.which(program)) is None:
                raise click.ClickException(f"{program} is no program that can be run")
            rivals[name] = os.path.abspath(found)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the folder goes, too
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bots = chess_bots(folder)
        others = [each for name, path in rivals.items() for each in chess_runners(name, path, bots, at_once)]
        for runner in others[:: len(bots) * len(at_once)]:
            runner.play(2)  # tells in a moment what else would be told after minutes
        runners = arena_runners(folder) + others
        matches = [_fitting(runner, seconds) for runner in runners]
        rates: list[list[float]] = [[] for _ in runners]
        for turn in range(turns):
            for runner, number, own in zip(runners, matches, rates, strict=True):
                own.append(runner.play(number).plies_per_s)
                click.echo(f"turn {turn + 1} of {turns}: {_title(runner)}: {own[-1]:,.0f} plies/s", err=True)
    click.echo(table(runners, rates))


def _fitting(runner: Runner, seconds: float) -> int:
    """Return how many matches of a runner take about so long, an even number."""
    click.echo(f"warming up: {_title(runner)}", err=True)
    matches = FIRST
    while (played := runner.play(matches)).seconds < seconds / 2:  # more at a time go faster, so grow in steps
        matches = _even(matches * min(4, seconds / played.seconds))
    return _even(matches * seconds / played.seconds)


def _even(matches: float) -> int:
    return max(2, round(matches / 2) * 2)


def _title(runner: Runner) -> str:
    return f"{runner.name}, bots of {runner.bots}, {runner.at_once} at once"


def table(runners: Sequence[Runner], rates: Sequence[Sequence[float]]) -> str:
    """Return the table in Markdown; `rates` has plies a second of each runner, by turn.

    The ratios are medians over the turns, against the best of c-chess-cli in the same turn.
    """
    lines = ["| runner | bots | matches at once | plies/s | least | most |", "|---|---|---:|---:|---:|---:|"]
    for runner, own in zip(runners, rates, strict=True):
        numbers = " | ".join(f"{each:,.0f}" for each in (median(own), min(own), max(own)))
        lines.append(f"| {runner.name} | {runner.bots} | {runner.at_once} | {numbers} |")
    rivals = [own for runner, own in zip(runners, rates, strict=True) if runner.name == "c-chess-cli"]
    if rivals:
        best = [max(turn) for turn in zip(*rivals, strict=True)]
        lines.append("")
        for runner, own in zip(runners, rates, strict=True):
            if runner.name == "arena":
                ratios = [mine / other for mine, other in zip(own, best, strict=True)]
                spread = f"{min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} turns"
                lines.append(f"arena with bots of {runner.bots}: {median(ratios):.2f} of c-chess-cli's best ({spread})")
    return "\n".join(lines)


if __name__ == "__main__":
    main(prog_name="compare-runners")
