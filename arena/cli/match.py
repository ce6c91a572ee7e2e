"""The `arena match` command."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.failures import INTERRUPTED, stop_on_signals
from arena.cli.fault_card import decision
from arena.cli.options import (
    Setting,
    Whole,
    check_players,
    game_option,
    home_option,
    json_option,
    sandbox_options,
    seed_bytes,
    seed_option,
    setting_options,
)
from arena.cli.output import draw, last_line, print_json, printable, progress, say, table
from arena.games.rules import remark

if TYPE_CHECKING:
    from rich.table import Table

    from arena.referee.match import Outcome
    from arena.sandbox import Sandbox
    from arena.worker.jobs import Played

EXPLAINED = 3
"""Number of forfeits that are explained at length; the others are only counted."""
OUTPUT_LINES = 10
"""Number of lines shown of what a bot printed before it forfeited."""


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT…", required=True)
@game_option
@click.option("-n", "--matches", type=Whole(1, 100_000), metavar="N", default=1, help="How many, in the same seats.")
@seed_option
@setting_options
@sandbox_options
@home_option
@json_option
def match(
    bots: tuple[str, ...],
    setting: Setting,
    matches: int,
    seed: str,
    sandbox: Sandbox,
    home: Path,
    as_json: bool,
) -> None:
    """Play bots against each other, unrated, in the order given.

    A BOT is a built-in (see `arena bots`), a submitted name (greedy, mine@2), a path (./mine.py), or `attach:`,
    which prints an address and waits, without a time limit, for a bot that you start by hand.

    \b
    Example:
      arena match ./mine.py random --game buttons -n 20
    """
    from arena.reports import played as reports

    check_players(setting.game, len(bots))
    played, interrupted = _play(bots, setting, matches, seed, home, sandbox)
    if as_json:
        print_json(reports.matches(setting.game, bots, seed, played))
    else:
        _explain(bots, played)
        count = f"{len(played):,} of {matches:,} matches"
        click.echo(f"{setting.game.title}: {count}; with the same dice: --seed {printable(seed)}")
        outcomes = [result.outcome for result in played if result.outcome is not None]
        draw(_tally(bots, outcomes))
        _remark(setting, outcomes)
    if interrupted:
        raise SystemExit(INTERRUPTED)
    if all(result.outcome is None for result in played):
        raise click.ClickException(f"no match counts: {_why_void(played[0])}")


def _play(
    bots: Sequence[str], setting: Setting, matches: int, seed: str, home: Path, sandbox: Sandbox
) -> tuple[Sequence[Played], bool]:
    """Play the matches; return the results, and whether a signal interrupted play."""
    from arena import roster
    from arena.sandbox.run_folder import run_folder
    from arena.submission.build import Building
    from arena.worker import unrated
    from ladder import store

    game, options, limits = setting
    with (
        run_folder() as scratch,
        unrated.own_worker(waiting=attach, sandbox=sandbox) as worker,
        progress(game.title, caution=caution(bots, sandbox)) as report,
    ):
        with store.open_read(home) as db:
            workshop = roster.Workshop(scratch, sandbox, Building(report.announce, report.passing))
            lineup = [roster.find(db, home, bot, game, workshop) for bot in bots]
        wanted = unrated.tasks(game, lineup, options=options, limits=limits, seed=seed_bytes(seed), count=matches)
        with stop_on_signals(lambda: None) as stopped:
            return unrated.play(worker, wanted, stop=stopped, report=report), stopped()


def caution(bots: Sequence[str], sandbox: Sandbox) -> str | None:
    """Return the sandbox's warning, or None if all bots are started by hand: the sandbox does not confine those."""
    return sandbox.warning if set(bots) - {"attach:"} else None


def attach(label: str, address: str, token: str) -> None:  # noqa: ARG001 - all attached bots have one label
    """Print how to start a bot that the arena waits for."""
    say("waiting for a bot; start it with")
    say(f"  ARENA_ADDR={shlex.quote(address)} ARENA_TOKEN={token} {shlex.quote(sys.executable)} mybot.py")


def _remark(setting: Setting, outcomes: Sequence[Outcome]) -> None:
    """Print why a single match has another winner than its scores suggest, if it has."""
    if len(outcomes) == 1 and not outcomes[0].forfeits:
        (ranks, scores, _) = outcomes[0]
        if why := remark(setting.game, ranks, scores):
            click.echo(why)


def _tally(bots: Sequence[str], outcomes: Sequence[Outcome]) -> Table:
    wins: Counter[int] = Counter()
    ties: Counter[int] = Counter()
    forfeits: Counter[int] = Counter()
    for outcome in outcomes:
        first = [seat for seat, rank in enumerate(outcome.ranks) if rank == 0]
        (ties if len(first) > 1 else wins).update(first)
        forfeits.update(forfeit.seat for forfeit in outcome.forfeits)
    score = "mean score" if len(outcomes) > 1 else "score"
    rows = table("seat", "bot", "wins", "ties", "forfeits", score, right=["seat", "wins", "ties", "forfeits", score])
    for seat, bot in enumerate(bots):
        mean = sum(outcome.scores[seat] for outcome in outcomes) / max(len(outcomes), 1)
        counts = [str(tally[seat]) for tally in (wins, ties, forfeits)]
        rows.add_row(str(seat), printable(bot), *counts, f"{mean:.1f}" if len(outcomes) > 1 else f"{mean:g}")
    return rows


def _explain(bots: Sequence[str], played: Sequence[Played]) -> None:
    """Print, for the author of a bot, why matches were void and why seats forfeited."""
    for result in played:
        if result.outcome is None:
            say(f"match {result.id} is void: {_why_void(result)}")
    lost = [(result, forfeit) for result in played if result.outcome for forfeit in result.outcome.forfeits]
    for result, forfeit in lost[:EXPLAINED]:
        evidence = result.seats[forfeit.seat].evidence or {}
        why = f"{forfeit.reason}: {printable(evidence.get('detail', forfeit.detail))}"
        who = f"match {result.id}, seat {forfeit.seat} ({printable(bots[forfeit.seat])})"
        say(f"{who} forfeited{decision(evidence)}: {why}")
        for line in evidence.get("output", [])[-OUTPUT_LINES:]:
            say(f"  | {printable(line)}")
    if len(lost) > EXPLAINED:
        say(f"… and {len(lost) - EXPLAINED:,} more forfeits: --json has all of them")


def _why_void(played: Played) -> str:
    return last_line(str(played.void))
