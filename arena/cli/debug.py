"""The `arena debug` command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from arena import roster
from arena.check.decision_check import Compared
from arena.check.decision_check import compare_decisions as compared
from arena.check.examined import ExaminedQuestion, Misbehaved, examined
from arena.cli.match import attach
from arena.replay import unrated_store
from arena.reports.debug_report import action_names
from arena.reports.debug_report import decisions_compared as debug_report
from arena.reports.words import quoted
from arena.terminal.failures import OneLine
from arena.terminal.machine import Machine
from arena.terminal.options import Seconds, Whole, home_option, json_option, sandbox_options
from arena.terminal.output import draw, print_json, printable, progress, table
from arena.terminal.stderr import say
from arena.terminal.workshop import workshop_for
from ladder import store
from ladder.store import Match

_DIFFERS = 3
"""The exit code when the bot chooses differently, or fails."""
_OUTPUT_LINES = 20
"""Number of lines shown of a bot's last output."""


@click.command()
@click.argument("match")
@click.argument("bot", metavar="BOT")
@click.option("--seat", type=Whole(0), metavar="S", help="Whose questions are put, from 0.  [default: who forfeited]")
@click.option("--at", type=Whole(1), metavar="N", help="Up to decision N, which is shown in full.")
@click.option("--start-limit", type=Seconds(), default="30s", help="For the bot to start and connect.")
@sandbox_options
@home_option
@json_option
def debug(
    match: str,
    bot: str,
    seat: int | None,
    at: int | None,
    start_limit: float,
    machine: Machine,
    home: Path,
    as_json: bool,
) -> None:
    """Ask another build of a bot what it was asked in a match.

    MATCH is a match of a ladder, by its id or the beginning of it. BOT is a path, a submitted name, or `attach:` for
    a bot that you start yourself, in a debugger. There is no time limit. Exits with 3 if its choices differ or
    one is not legal.

    \b
    Example:
      arena debug mw6vrh --seat 1 --at 17 ./mine.py
    """
    if unrated_store.is_name(match):
        raise OneLine(f"{match} is an unrated match, which `arena replay {match}` shows: debug needs a ladder's match")
    with store.open_read(home) as db:
        found = store.matches.find(db, match)
    seat = _check_seat(found, seat)
    name = action_names(found)
    compared = _compare(found, seat, at, bot, start_limit, machine, home)
    differing = [each for each in compared if each.now != each.then]
    illegal = [each for each in compared if each.now not in each.question.legal]
    if as_json:
        print_json(debug_report(found, seat, compared))
    elif at is not None:
        _show(name, compared[-1])
    else:
        _list(name, differing, len(compared))
    if illegal and not as_json:
        chosen = f"this build chooses {name(illegal[0].now)}"
        click.echo(f"decision {illegal[0].question.decision}: {chosen}, which is not legal")
    if differing or illegal:
        raise SystemExit(_DIFFERS)


def _check_seat(match: Match, seat: int | None) -> int:
    """Return the seat, by default the only one that forfeited. Raises click.UsageError if there is no such seat."""
    forfeited = [number for number, outcome in enumerate(match.seats) if outcome.forfeit is not None]
    if seat is None and len(forfeited) == 1:
        (seat,) = forfeited
        say(f"seat {seat}, {match.line_up[seat]}, which forfeited")
    if seat is None or seat >= len(match.line_up):
        seats = ", ".join(f"--seat {number} ({bot})" for number, bot in enumerate(match.line_up))
        wrong = "say whose questions" if seat is None else f"no seat {seat}"
        raise click.UsageError(f"{wrong}: match {match.id} has {seats}")
    return seat


def _compare(
    match: Match, seat: int, at: int | None, bot: str, start_limit: float, machine: Machine, home: Path
) -> list[Compared]:
    shown = progress("asking", "decisions", caution=machine.caution_for([bot]))
    with workshop_for(machine) as workshop, shown as report:
        with store.open_read(home) as db:
            entrant = roster.find_bot(db, home, bot, match.ladder.key.game, workshop(report))
        try:
            own = examined(entrant, start_limit, machine.sandbox, attach)
            return asyncio.run(compared(match, seat, own, report, at))
        except Misbehaved as fault:
            where = "before its first decision"
            if fault.question is not None:
                for line in _asked(action_names(match), fault.question):
                    say(printable(line))
                where = f"at decision {fault.question.decision}"
            for line in quoted(fault.output[-_OUTPUT_LINES:]):
                say(line)
            raise OneLine(f"it failed {where}: {fault}", _DIFFERS) from fault


def _asked(name: Callable[[int], str], question: ExaminedQuestion, *answers: str) -> Iterator[str]:
    """Yield lines that show a decision as a bot was asked it, with lines about its answers."""
    yield from question.picture.split("\n")
    yield f"decision {question.decision}: {', '.join(name(action) for action in question.legal)}"
    yield from answers
    yield f"it was asked: {printable(json.dumps(question.request))}"
    yield f"match {question.request['match']}: a process counts the matches that it plays, and this one plays no other"


def _list(name: Callable[[int | None], str], differing: Sequence[Compared], total: int) -> None:
    if differing:
        rows = table("decision", "in the match", "this build", right=["decision"])
        for each in differing:
            rows.add_row(str(each.question.decision), name(each.then), name(each.now))
        draw(rows)
    click.echo(f"{len(differing):,} of {total:,} decisions differ")


def _show(name: Callable[[int | None], str], compared: Compared) -> None:
    answers = f"in the match: {name(compared.then)}; this build: {name(compared.now)}"
    for line in (*_asked(name, compared.question, answers), *(f"  | {printable(text)}" for text in compared.printed)):
        click.echo(line)
