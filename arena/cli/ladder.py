"""The `arena ladder` command."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena import roster
from arena.cli import card_tables, leaderboard
from arena.reports import leaderboard_report
from arena.reports.words import span, title
from arena.terminal import home_choice
from arena.terminal.failures import INTERRUPTED, stop_on_signals
from arena.terminal.host_choice import by_host, check_lent, hosts, summary
from arena.terminal.machine import Machine
from arena.terminal.options import (
    Hour,
    Seconds,
    Setting,
    Whole,
    check_players,
    cluster_options,
    game_option,
    home_option,
    jobs_option,
    json_option,
    memory_option,
    players_option,
    sandbox_options,
    setting_options,
)
from arena.terminal.output import draw, last_line, print_json, printable, progress
from arena.terminal.stderr import say
from arena.terminal.typed import typed_as
from arena.tournament.budget import Budget
from arena.tournament.forecast import forecast
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.run_result import Run
from arena.tournament.worker_pool import Workers
from ladder import store
from ladder.store import Ladder
from ladder.store.watching import CurrentRun

if TYPE_CHECKING:
    from sqlite_utils import Database

_WORTH_SAYING = 10.0
"""Seconds from which a forecast is printed."""
MANY = 10_000
"""Matches from which their number is printed although nobody knows how long they take: 15 seconds at best."""
_NAMED = 5
"""Bots that a line of text names at most; of more it says the number."""


@click.command()
@game_option
@players_option
@click.option(
    "--rounds",
    type=Whole(1, 1_000_000),
    metavar="N",
    help="How often each line-up plays.  [default: 300 matches for a bot, 600 if more than two play]",
)
@click.option(
    "-n",
    "--matches",
    type=Whole(1),
    metavar="N",
    help="How many matches to play at most, after those of groups begun earlier.",
)
@click.option("--for", "seconds", type=Seconds(), metavar="TIME", help="About how long to play: 90s, 30m, 2h.")
@click.option("--until", type=Hour(), metavar="HH:MM", help="When to stop at the latest, at this time of the day.")
@click.option(
    "--bots",
    metavar="A,B@1,…",
    help="Who plays.  [default: built-ins, but for slow ones, and the newest of each submitted bot]",
)
@click.option("--seed", help="Text that decides all dice, to reproduce a ladder; whoever knows it can foresee them.")
@jobs_option
@click.option(
    "--in-flight",
    type=Whole(1, 768),  # those of arena/worker/worker.py, which takes long to import
    metavar="N",
    help="Matches a bot's process holds at most.  [default: 768; 256 without the compiled core]",
)
@memory_option
@click.option("--retry", is_flag=True, help="Play matches that the arena failed to play three times.")
@click.option("--forgive", multiple=True, metavar="BOT", help="Let a bot crash once more without losing a match.")
@setting_options
@sandbox_options
@cluster_options
@home_option
@json_option
def ladder(
    setting: Setting,
    players: int | None,
    rounds: int | None,
    matches: int | None,
    seconds: float | None,
    until: float | None,
    bots: str | None,
    seed: str | None,
    jobs: int,
    in_flight: int | None,
    memory: int | None,
    retry: bool,
    forgive: tuple[str, ...],
    machine: Machine,
    home: Path,
    as_json: bool,
) -> None:
    """Play the missing matches of a ladder, then show who leads.

    The ladder is a round robin: every line-up is played in all rotations of its seats, on the same dice. Run the
    command again after an interruption to go on, after `arena submit` to play the new bot's matches, or with more
    --rounds to play more. With --matches or --for it ends early, with every group of matches complete and all bots
    about even.

    \b
    Example:
      arena ladder --game buttons
    """
    begun, since = time.monotonic(), time.time()
    budget = _budget(matches, seconds, until)
    game = setting.game
    seats = check_players(game, players)
    if matches is not None and matches < seats:
        raise click.BadParameter(
            f"a group is {seats} matches, one for each rotation of the seats", param_hint="--matches"
        )
    check_lent(memory, machine, jobs, seats)
    key = store.records.LadderKey(game.name, seats, setting.options, setting.limits.plain(), game.rules_version)
    named = None if bots is None else bots.split(",")
    field = roster.check_field(home, game, seats, named)
    with store.open_read(home) as db:
        for bot in forgive:  # before a ladder is made; built-in bots may not have been entered yet
            if not roster.comes_along(bot):
                store.bots.find(db, bot)
    with store.database.exclusive(home), store.open(home, checkpoints=True) as db:
        home_choice.say_if_above(home)
        mine = store.ladders.find_or_make(db, key, draw_probability=game.draw_probability, seed=seed)
        roster.enter_built_ins(db, home)
        for bot in forgive:
            say(_forgiven(bot, store.chances.forgive(db, mine, bot)))
        if budget.is_limited:
            store.ladders.end_leg(db, mine)  # so that a bot that came meanwhile does not wait for what was not begun
        store.watching.announce(home, _announced(db, mine, budget))
        for line in _beforehand(db, mine, field, matches):
            say(line)
        machines = hosts(machine, jobs, in_flight=in_flight, memory=memory, logs=True)
        with (
            Workers(machines) as workers,
            stop_on_signals(workers.stop) as stopped,
            progress(title(game, seats), begins=budget.seconds is None, caution=machine.caution) as report,
        ):
            chosen = partial(roster.players, db, game, slow=False)
            run = run_ladder(
                db,
                home,
                mine,
                LadderRequest(field if named else chosen, rounds, budget=budget, retry=retry, since=since),
                workers=workers,
                report=by_host(report, machines),
                planned=lambda lacking: _foretell(db, mine, budget, workers.jobs, lacking),
            )
        say(_summary(db, mine, run, time.monotonic() - begun, budget, interrupted=stopped()))
        for line in summary(machines):
            say(printable(line))
        if not stopped():
            leaderboard.settle_ladder(db, mine)
            card_tables.complete_sums(db)
        if as_json:
            print_json(leaderboard_report.ladder_run(db, mine, game, run.played))
        else:
            draw(
                leaderboard.picture(leaderboard_report.leaderboard_of(db, mine, game), store.ratings.waiting(db, mine))
            )
        total = store.ladders.counts(db, mine).done
        if total and sys.stderr.isatty():
            for line in _how_to_look(mine, home):
                say(line)
    if stopped():
        raise SystemExit(INTERRUPTED)
    if run.void is not None and not total:
        raise click.ClickException(f"no match counts: {last_line(run.void.reason)}")


def _budget(matches: int | None, seconds: float | None, until: float | None) -> Budget:
    """Return the budget of a run that begins now. Raises UsageError for two times to end."""
    if until is None:
        return Budget(matches, seconds)
    if seconds is not None:
        raise click.UsageError("--for and --until both say when to end: leave one out")
    end = datetime.fromtimestamp(until)
    if end.date() != datetime.now().date():
        say(f"it ends tomorrow, {end:%H:%M}: today that time is over")
    return Budget(matches, max(0.0, until - time.time()), is_hard=True)


def _announced(db: Database, ladder: Ladder, budget: Budget) -> CurrentRun:
    """Return what others may know of a run that begins now."""
    matches = None if budget.matches is None else store.ladders.counts(db, ladder).done + budget.matches
    return store.watching.CurrentRun(
        ladder.id, None if budget.seconds_left is None else time.time() + budget.seconds_left, matches
    )


def _beforehand(db: Database, ladder: Ladder, field: Sequence[str], matches: int | None) -> Iterator[str]:
    """Yield lines to print before a run: retired bots, matches left by an earlier run, second chances used up."""
    versions = [store.bots.find(db, name) for name in field]
    for version in versions:
        if version.retired is not None:
            yield f"{version.label} is retired; it plays since --bots names it"
    if scheduled := store.ladders.counts(db, ladder).scheduled:
        labels = {version.label for version in versions}
        awaited = [label for label in store.ladders.awaited(db, ladder) if label not in labels]
        of_others = f", also those of {', '.join(awaited)} (`arena retire` drops them)" if awaited else ""
        more = matches is not None and scheduled > matches
        beyond = ", more than --matches, since groups that were begun are completed" if more else ""
        yield f"first come {scheduled:,} matches that an earlier run left{beyond}{of_others}"
    for label in sorted(store.chances.by_label(db, ladder).keys() & {version.label for version in versions}):
        yield f"{label} had its second chance, and plays one match at a time; --forgive {label} gives it back"


def _how_to_look(ladder: Ladder, home: Path) -> Iterator[str]:
    """Yield lines with the commands that show a ladder again, and more of it."""
    home_words = home_choice.option(home)
    game = ["--game", ladder.key.game, "--players", str(ladder.key.seats)]
    yield f"this table again, or --watch it: {typed_as('leaderboard', *game, *home_words)}"
    yield f"everything in a browser: {typed_as('serve', '--open', *home_words)}"


def _foretell(db: Database, ladder: Ladder, budget: Budget, jobs: int, lacking: store.records.Lacking) -> None:
    """Print how long the matches take that are to be played, or how many there is time for; nothing if that is short.

    Of bots of which nothing is known only the number of matches is said, if that is large.
    """
    outlook = forecast(db, ladder, jobs, lacking)
    if outlook is None:
        matches = store.ladders.counts(db, ladder).scheduled + lacking.groups * ladder.key.seats
        if matches >= MANY and not budget.is_limited:
            line = f"some {matches:,} matches are to be played; how long that takes is shown once some are over"
            say(f"{line}, and --for 2h plays no longer")
        return
    share = 1.0 if budget.matches is None else min(1.0, budget.matches / outlook.matches)
    if budget.seconds is not None:  # more rounds may follow
        share = budget.seconds / outlook.seconds
    seconds = outlook.seconds * share
    if seconds < _WORTH_SAYING:
        return
    most = " at most" if budget.seconds is not None else ""
    line = f"about {span(seconds)} for {outlook.matches * share:,.0f} matches{most}"
    if outlook.slowest_seconds > outlook.seconds / 2:
        line += f", of which {outlook.slowest} takes {span(outlook.slowest_seconds * share)}"
    if outlook.unknown:
        line += f"; not counting {_named(outlook.unknown)}, of which nothing is known yet"
    say(line)


def _named(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _NAMED else f"{len(labels):,} bots"


def _forgiven(bot: str, was_used: bool) -> str:
    if was_used:
        return f"{bot} has its second chance again, and may play several matches at once"
    return f"{bot} has its second chance in this ladder: there is nothing to forgive"


def _summary(db: Database, ladder: Ladder, run: Run, seconds: float, budget: Budget, *, interrupted: bool) -> str:
    """Return what the run did, in a few lines of text."""
    counts = store.ladders.counts(db, ladder)
    lines = []
    if ladder.seed_text is not None:
        lines.append("the dice come from --seed: whoever knows it can foresee them")
    if run.void is not None:
        lines.append(f"match {run.void.id} was void: {last_line(run.void.reason)}")
    lines += [
        f"{label} failed ({last_line(what)}) with several matches in play: they are played again, and it plays one at a"
        " time from now on"
        for label, what in run.chances
    ]
    if run.retired:
        lines.append(f"retired or banned meanwhile: {', '.join(run.retired)}; what they were to play is dropped")
    if run.joined:
        lines.append(f"joined meanwhile: {_named(run.joined)}")
    lines += [f"{label} came meanwhile and cannot play: {last_line(why)}" for label, why in run.left_out]
    if interrupted:
        command = "goes on" if budget.is_limited else f"plays the other {counts.scheduled + run.beyond:,}"
        lines.append(f"interrupted after {run.played:,} matches; the same command {command}")
    elif run.played:
        rates = f"{run.played / seconds:,.1f} matches/s, {run.decisions / seconds:,.0f} decisions/s"
        lines += [f"played {run.played:,} matches in {seconds:.1f} s: {rates}", run.health.line]
        if budget.is_over and counts.scheduled:
            lines.append(
                f"time is over: the next run begins with {counts.scheduled:,} matches of groups that were begun"
            )
        elif budget.is_spent or budget.is_over:
            lines.append("every group that was begun is complete; the same command plays more")
    elif budget.is_spent or budget.is_over:
        lines.append("there was no time for a group of matches: give it more")
    elif not run.retired:
        lines.append("nothing is missing: every match of these rounds has been played; more with --rounds")
    if counts.unplayable:
        lines.append(f"{counts.unplayable:,} matches were void three times: try them again with --retry")
    if counts.done or counts.annulled:
        lines.append(f"ladder hash {store.ratings.keep_hash(db, ladder)}")
    return "\n".join(lines)
