"""The `arena play` command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.failures import INTERRUPTED, stop_on_signals
from arena.cli.match import how_to_watch, keep
from arena.cli.options import (
    Setting,
    Whole,
    check_players,
    game_option,
    home_option,
    sandbox_options,
    seed_bytes,
    seed_option,
    setting_options,
)
from arena.cli.output import last_line, printable, progress, say

if TYPE_CHECKING:
    from arena.replay.document import Document
    from arena.sandbox import Sandbox
    from arena.worker.jobs import Played, Task

YOU = "you"
"""Name of the person in the table of seats."""
ENDING = 10.0
"""Seconds that the person's process may take to end when the match is over."""


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT…", required=True)
@game_option
@click.option("--seat", type=Whole(0), metavar="S", default=0, help="Your seat, from 0; the bots have the others.")
@seed_option
@setting_options
@sandbox_options
@home_option
def play(bots: tuple[str, ...], setting: Setting, seat: int, seed: str, sandbox: Sandbox, home: Path) -> None:
    """Play against bots yourself, in the terminal.

    You see the board and choose by number or by name; ? explains, Ctrl-D leaves. You have all the time you want, the
    bots have their limits. Nothing is rated; the match is kept for `arena replay last`. A BOT is named as for `arena
    match`.

    \b
    Example:
      arena play planner --game buttons
    """
    names = [*bots[:seat], YOU, *bots[seat:]]
    check_players(setting.game, len(names))
    if seat > len(bots):
        raise click.UsageError(f"--seat {seat}: with {len(names)} players there are the seats 0 to {len(bots)}")
    if "attach:" in bots:
        raise click.UsageError("attach: is for arena match: here you are the one who is waited for")
    is_new = not home.exists()
    task, played = _play(names, seat, setting, seed, sandbox, home)
    if played is None:
        say("you left the match: it is not kept")
        raise SystemExit(INTERRUPTED)
    if played.outcome is None:
        raise click.ClickException(f"the match does not count: {last_line(str(played.void))}")
    _tell_end(task, names, played, home, is_new=is_new)


def _play(
    names: Sequence[str], seat: int, setting: Setting, seed: str, sandbox: Sandbox, home: Path
) -> tuple[Task, Played | None]:
    """Play the match and return it with its result; None if the person left it."""
    from arena.sandbox.run_folder import run_folder
    from arena.worker import unrated

    with Person(names) as person:
        with run_folder() as scratch, unrated.own_worker(waiting=person.begin, sandbox=sandbox) as worker:
            found = ["attach:" if at == seat else name for at, name in enumerate(names)]
            task = _task(found, setting, seed, scratch, sandbox, home)
            with stop_on_signals(lambda: None) as stopped:
                played = worker.play([task], stop=stopped)
        if stopped() or person.left:  # only now: the end of the worker ends the person's process
            return task, None
        return task, played[0]


def _task(bots: Sequence[str], setting: Setting, seed: str, scratch: Path, sandbox: Sandbox, home: Path) -> Task:
    from arena import roster
    from arena.submission.build import Building
    from arena.worker import unrated
    from ladder import store

    game, options, limits = setting
    with progress(game.title, caution=sandbox.warning) as report, store.open_read(home) as db:
        workshop = roster.Workshop(scratch, sandbox, Building(report.announce, report.passing))
        lineup = [roster.find(db, home, bot, game, workshop) for bot in bots]
        report.announce("the bots are starting")
    (task,) = unrated.tasks(game, lineup, options=options, limits=limits, seed=seed_bytes(seed), count=1)
    return task


class Person:
    """The process in which a person plays; to the referee it is an external bot. As a context, it ends with the block.

    The process shares the terminal, so Ctrl-C reaches it, too.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._words = [sys.executable, "-m", "arena.cli.person", *names]
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, _label: str, address: str, token: str) -> None:
        """Start the process, which dials the address."""
        self._process = subprocess.Popen(self._words, env={**os.environ, "ARENA_ADDR": address, "ARENA_TOKEN": token})

    @property
    def left(self) -> bool:
        """Whether the person left before the end of the match; waits for the process to end."""
        from arena.cli.person import LEFT

        return self._process is not None and self._process.wait(ENDING) == LEFT

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _tell_end(task: Task, names: Sequence[str], played: Played, home: Path, *, is_new: bool) -> None:
    from arena.replay import document, told

    match: Document = document.unrated(task, names, played)
    for line in told.end(match):
        click.echo(printable(line))
    if kept := keep(home, [match]):
        click.echo(how_to_watch(kept, home, is_new=is_new))
