"""The `arena play` command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.failures import INTERRUPTED, stop_on_signals
from arena.cli.match import documents, explain, explain_order, how_to_watch, keep
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
    from arena.sandbox import Sandbox
    from arena.worker.jobs import Played, Task
    from arena.worker.logs import Sink

YOU = "you"
"""Name of the person in the table of seats."""
ENDING = 10.0
"""Seconds that the person's process may take to show the end of the match."""
TERMINATED = 2.0
"""Seconds that it may take to end once it was terminated."""


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
    logs: Sink = []
    task, played = _play(names, seat, setting, seed, sandbox, home, logs)
    if played is None:
        say("you left the match: it is not kept")
        raise SystemExit(INTERRUPTED)
    if played.outcome is None:
        raise click.ClickException(f"the match does not count: {last_line(str(played.void))}")
    _tell_end(task, names, setting, played, home, logs)


def _play(
    names: Sequence[str], seat: int, setting: Setting, seed: str, sandbox: Sandbox, home: Path, logs: Sink
) -> tuple[Task, Played | None]:
    """Play the match and return it with its result; None if the person left it. What bots print goes into `logs`."""
    from arena.sandbox.run_folder import run_folder
    from arena.worker import unrated

    with terminal_given_back(), PersonProcess(names) as person:
        own_worker = unrated.own_worker(waiting=person.begin, sandbox=sandbox, logs=logs)
        with run_folder() as scratch, own_worker as worker:
            found = ["attach:" if at == seat else name for at, name in enumerate(names)]
            task = _task(found, setting, seed, scratch, sandbox, home)
            with stop_on_signals(lambda: None) as stopped:
                results = worker.play([task], stop=lambda: stopped() or person.has_ended)
        if stopped() or not results:
            return task, None
        (played,) = results
        forfeits = played.outcome.forfeits if played.outcome is not None else ()
        person.may_be_asked = played.outcome is None or bool(forfeits)  # the match did not wait for its answer
        return task, None if seat in {forfeit.seat for forfeit in forfeits} else played


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


class PersonProcess:
    """The process in which a person plays; to the referee it is an external bot. As a context, it ends with the block.

    The process shares the terminal, so Ctrl-C reaches it, too.
    """

    def __init__(self, names: Sequence[str]) -> None:
        # -P: the current folder may have bots in it, which must not be imported as modules
        self._words = [sys.executable, "-P", "-m", "arena.cli.person", *names]
        self._process: subprocess.Popen[bytes] | None = None
        self.may_be_asked = False
        """Whether the person may still be asked when the match is over; an answer would be waited for."""

    def begin(self, _label: str, address: str, token: str) -> None:
        """Start the process, which dials the address; it lets Ctrl-C through when it can handle it."""
        environment = {**os.environ, "ARENA_ADDR": address, "ARENA_TOKEN": token}
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(self._words, env=environment)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    @property
    def has_ended(self) -> bool:
        """Whether the process has begun and ended: the person left."""
        return self._process is not None and self._process.poll() is not None

    def __enter__(self) -> PersonProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._process is None:
            return
        waits = 0.0 if self.may_be_asked or kind is not None else ENDING
        for seconds, end in ((waits, self._process.terminate), (TERMINATED, self._process.kill)):
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                end()
        self._process.wait()


@contextmanager
def terminal_given_back() -> Iterator[None]:
    """Leave the terminal as it was, even if a process that edits lines in it is killed."""
    if not sys.stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def _tell_end(task: Task, names: Sequence[str], setting: Setting, played: Played, home: Path, logs: Sink) -> None:
    from arena.replay import told

    is_new = not home.exists()
    explain(names, setting.game.name, [played])
    (match,) = documents(names, [task], [played], logs)
    for line in told.end(match):
        click.echo(printable(line))
    if played.outcome is not None:
        explain_order(setting, [played.outcome])
    if kept := keep(home, [match]):
        click.echo(how_to_watch(kept, home, is_new=is_new))
