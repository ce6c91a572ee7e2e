"""The `arena play` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource

from arena import roster
from arena.cli.match import explain_forfeit, how_to_watch
from arena.cli.serve import serve_table
from arena.people.lines import Lines
from arena.people.person_process import PersonProcess, terminal_given_back
from arena.replay import narration
from arena.replay.document import Document
from arena.terminal.failures import INTERRUPTED, stop_on_signals
from arena.terminal.machine import Machine
from arena.terminal.options import (
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
from arena.terminal.output import last_line, printable, progress
from arena.terminal.stderr import say
from arena.terminal.workshop import building
from arena.tournament.unrated_matches import UnratedRequest, UnratedRun, keep_unrated, unrated_run
from ladder import store

_YOU = "you"
"""Name of the person in the table of seats."""


class Sitting(NamedTuple):
    """A person at a table: who plays, in which of the seats the person is, and how."""

    names: Sequence[str]
    seat: int
    setting: Setting
    machine: Machine


class Typed(click.Command):
    """A command that knows what was typed after its name, to start another process with it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["typed"] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=Typed)
@click.argument("bots", nargs=-1, metavar="BOT…", required=True)
@game_option
@click.option("--seat", type=Whole(0), metavar="S", default=0, help="Your seat, from 0; the bots have the others.")
@seed_option
@click.option("--browser", is_flag=True, help="Play in a browser, at the address that is printed.")
@click.option("--open", "opens", is_flag=True, help="Open it in a browser, too.")
@click.option("--lines", "in_lines", is_flag=True, help="Talk with a program, in lines of JSON.")
@setting_options
@sandbox_options
@home_option
@click.pass_context
def play(
    ctx: click.Context,
    bots: tuple[str, ...],
    setting: Setting,
    seat: int,
    seed: str,
    browser: bool,
    opens: bool,
    in_lines: bool,
    machine: Machine,
    home: Path,
) -> None:
    """Play against bots yourself, in the terminal or in a browser.

    You see the board and choose by number or by name; ? explains, Ctrl-D leaves. You have all the time you want, the
    bots have their limits. Nothing is rated; the match is kept for `arena replay last`. A BOT is named as for `arena
    match`. With --browser the arena prints an address, and serves until Ctrl-C.

    \b
    Example:
      arena play planner --game buttons
    """
    names = [*bots[:seat], _YOU, *bots[seat:]]
    check_players(setting.game, len(names))
    if seat > len(bots):
        raise click.UsageError(f"--seat {seat}: with {len(names)} players there are the seats 0 to {len(bots)}")
    if "attach:" in bots:
        raise click.UsageError("attach: is for `arena match`: here you are the one who is waited for")
    if in_lines and (browser or opens):
        raise click.UsageError("--lines is for another program than a browser: use it without --browser and --open")
    if browser or opens:
        with store.open_read(home) as db:
            for bot in bots:  # now, and not in a browser that waits for them
                roster.check(db, home, bot, setting.game.name)
        was_typed = ctx.get_parameter_source("seed") is not ParameterSource.DEFAULT
        once = ["--seed", seed] if was_typed else []  # else nobody may read it among the processes of the machine
        return serve_table(setting.game.name, _words(ctx.meta["typed"]), once, home, opens=opens)
    return _play(Sitting(names, seat, setting, machine), seed, in_lines=in_lines)


def _words(typed: Sequence[str]) -> list[str]:
    """Return the words for the process of a table, of which each has its own seed: the others that were typed."""
    words, rest = list[str](), iter(typed)
    for word in rest:
        if word == "--":
            return [*words, word, *rest]
        if word == "--seed":
            next(rest)
        elif word not in ("--browser", "--open") and not word.startswith("--seed="):
            words.append(word)
    return words


def _play(sitting: Sitting, seed: str, *, in_lines: bool) -> None:
    """Play the match and tell how it ended."""
    run, left, lines = _played(sitting, seed, in_lines=in_lines)
    if left:
        if lines is None:
            say("you left the match: it is not kept")
        raise SystemExit(INTERRUPTED)
    (result,) = run.played
    if result.outcome is None:
        raise click.ClickException(f"the match does not count: {last_line(str(result.void))}")
    explain_forfeit(run)
    (match,) = run.documents()
    home = sitting.machine.home
    is_new = not home.exists()
    ending, replays = _end(match), keep_unrated(home, [match], say)
    if lines is not None:
        return lines.end(match, ending, replays[0].match if replays else None)
    for line in ending:
        click.echo(line)
    if replays:
        click.echo(how_to_watch(replays, home, is_new=is_new))
    return None


def _played(sitting: Sitting, seed: str, *, in_lines: bool) -> tuple[UnratedRun, bool, Lines | None]:
    """Play the match; return what became of it, whether the person left it, and what told of it in lines."""
    words = ["arena.people.relay"] if in_lines else ["arena.people.person", *sitting.names]
    with terminal_given_back(), PersonProcess(*words) as person:
        with unrated_run(_request(sitting, seed), person.begin) as run:
            _line_up(run, sitting.machine)
            lines = Lines(run.tasks[0], sitting.names, sitting.seat) if in_lines else None
            with stop_on_signals(lambda: None) as stopped:
                run.play_first(
                    lambda in_play: None if lines is None else lines.look(in_play),
                    stop=lambda: stopped() or person.has_ended,
                )
        outcome = None if stopped() or not run.played else run.played[0].outcome
        forfeits = () if outcome is None else outcome.forfeits
        person.may_be_asked = outcome is None or bool(forfeits)  # it did not end by an answer
        left = stopped() or not run.played or sitting.seat in {forfeit.seat for forfeit in forfeits}
        return run, left, lines


def _request(sitting: Sitting, seed: str) -> UnratedRequest:
    bots = ["attach:" if seat == sitting.seat else name for seat, name in enumerate(sitting.names)]
    machine = sitting.machine
    return UnratedRequest(bots, sitting.names, *sitting.setting, seed_bytes(seed), machine.home, machine.sandbox)


def _line_up(run: UnratedRun, machine: Machine) -> None:
    with progress(run.request.game.title, caution=machine.caution) as report:
        run.line_up(building(report))
        report.announce("the bots are starting")


def _end(match: Document) -> list[str]:
    """Return lines that say how a match ended."""
    return list(map(printable, narration.final_lines(match)))
