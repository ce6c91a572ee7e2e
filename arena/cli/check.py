"""The `arena check` command."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

from arena.check import bot_check
from arena.check.bot_check import Checked, CheckReporter, Finding
from arena.check.extent import FULL_CHECK, QUICK_CHECK
from arena.check.trials import LOAD, BusyMachine, Times
from arena.reports import check_report
from arena.reports.words import quoted, span
from arena.roster import admission
from arena.submission.manifest import Protocol
from arena.terminal.machine import Conditions
from arena.terminal.options import (
    conditions_options,
    home_option,
    json_option,
    plays_option,
    protocol_option,
)
from arena.terminal.output import Announcer, draw, print_json, printable, progress, table
from arena.terminal.stderr import say
from arena.terminal.typed import as_typed
from arena.terminal.workshop import workshop_for

_FAILED = 3
"""The exit code when the bot fails a check."""
_OUTPUT_LINES = 20
"""Number of lines shown of a bot's last output."""
_FRAMES = 4
"""Number of frames shown of a transcript, the last ones."""
_FRAME_CHARACTERS = 300
"""Number of characters shown of a frame in a transcript."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@plays_option
@protocol_option
@click.option("--quick", is_flag=True, help="Only one match of each game, and no question that comes late.")
@conditions_options
@home_option
@json_option
def check(
    path: Path,
    plays: tuple[str, ...],
    protocol: Protocol | None,
    quick: bool,
    conditions: Conditions,
    home: Path,
    as_json: bool,
) -> None:
    """Check a bot under the conditions of a ladder.

    PATH is whatever `arena submit` takes. The bot is built, plays every game and number of players that it claims, and
    is tested in situations that are rare in matches. What would last longer than five minutes, because the bot thinks
    for long, is left out, and named. Exits with 3 if the bot fails anything.

    \b
    Example:
      arena check ./mine.py --game buttons
      arena check ./mine.py --quick
    """
    limits, machine = conditions
    shown = progress("checking", "matches and tests", begins=True, paced=False, caution=machine.caution)
    with workshop_for(machine) as workshop, shown as report:
        intake = admission.prepare(home, path, workshop(report), plays=plays, protocol=protocol)
        steps = steps_shown(report, limits.start)
        extent = QUICK_CHECK if quick else FULL_CHECK
        checked = bot_check.check_bot(intake.program, limits, machine.sandbox, steps, extent)
    if as_json:
        print_json(check_report.check_summary(intake.program.name, checked))
    else:
        for line in check_report.surprises(intake):
            say(line)
        _show(checked)
    if checked.failed:
        raise SystemExit(_FAILED)


def steps_shown(report: Announcer, start_limit: float) -> CheckReporter:
    """Return what shows the steps of a check, with how long the rest lasts, of a bot that has so long to join."""
    begun = time.monotonic()

    def show(count: int, total: int, seconds: float, is_sure: bool) -> None:
        if is_sure:
            note = f"about {span(seconds)} left"
        elif (waited := time.monotonic() - begun) < start_limit:
            note = f"about {span(seconds)} for a fast bot; it has {span(start_limit)} to join"
        else:
            note = f"it has made no decision in {span(waited)}"
        report(count, total, note)

    return show


def _show(checked: Checked) -> None:
    rows = table("check", "", "")
    for finding in checked.findings:
        said = _counted(checked, finding) if finding.detail is None else printable(finding.detail)
        rows.add_row(finding.name, "ok" if finding.detail is None else "FAILED", said)
    draw(rows)
    if checked.untried:
        click.echo()
    for why, untried in groupby(checked.untried, key=attrgetter("why")):
        click.echo(f"not tried, since {why}: {'; '.join(trial.check for trial in untried)}")
    if checked.times:
        click.echo()
        draw(_times(checked.times))
    if checked.typical is not None:
        number = f"{checked.typical:,.0f}" if checked.typical >= 10 else f"{checked.typical:.2f}"
        click.echo(f"\nabout {number} ms a decision: half of them took less")
    if checked.forecast is not None and checked.forecast.matches:
        click.echo(f"\n{_forecast(checked.forecast)}")
    if checked.failed:
        click.echo()
        explain(checked.failed[0])


def _counted(checked: Checked, finding: Finding) -> str:
    """Return how many matches a check was, if it was some."""
    matches = checked.matches.get(finding.name, 0)
    return f"{matches} match{'es' * (matches != 1)}" if matches else ""


def _times(times: Sequence[Times]) -> Any:
    numbers = ("decisions", "p50 ms", "p95 ms", "max ms")
    rows = table("game", "kind of decision", *numbers, right=numbers)
    for times_of_kind in times:
        spent = [f"{value:.1f}" for value in (times_of_kind.p50, times_of_kind.p95, times_of_kind.longest)]
        rows.add_row(times_of_kind.game, printable(times_of_kind.kind), f"{times_of_kind.decisions:,}", *spent)
    return rows


def _forecast(forecast: BusyMachine) -> str:
    busy = f"if every decision took {LOAD} times as long, as on a busy machine"
    return f"{busy}, time would run out in {forecast.lost} of {forecast.matches} matches"


def explain(finding: Finding, *, to_stderr: bool = False) -> None:
    """Print a failed check in full: the frames exchanged, what the bot printed, and advice."""
    lines = [f"{finding.name}: {finding.detail or ''}"]
    lines += [
        f"  {line.who:>7}: {_shortened(json.dumps(line.frame, ensure_ascii=False))}"
        for line in finding.transcript[-_FRAMES:]
    ]
    lines += quoted(finding.output[-_OUTPUT_LINES:])
    lines += [as_typed(f"advice: {finding.advice}")] if finding.advice else []
    for line in lines:
        click.echo(printable(line), err=to_stderr)


def _shortened(frame: str) -> str:
    """Cut a frame to `_FRAME_CHARACTERS`: one with up to 256 matches is for programs, and `--json` has it whole."""
    left_out = len(frame) - _FRAME_CHARACTERS
    return frame if left_out <= 0 else f"{frame[:_FRAME_CHARACTERS]} … {left_out:,} characters more with --json"
