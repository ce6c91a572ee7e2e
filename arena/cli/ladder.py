"""arena ladder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import (
    INTERRUPTED,
    check_options,
    check_players,
    console,
    game_option,
    home_option,
    json_option,
    limit_options,
    option_option,
    players_option,
    print_json,
    say,
    stop_on_signals,
)
from arena.games.rules import Game

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena import tournament
    from arena.clock import Limits
    from ladder.store import Ladder


@click.command()
@game_option
@players_option
@click.option("--rounds", type=click.IntRange(1, 1_000_000), help="Passes over all line-ups.  [default: by players]")
@click.option("--bots", metavar="A,B@1,…", help="The field.  [default: built-ins and the newest of each submitted bot]")
@click.option("--seed", help="Text that decides all dice, to reproduce a ladder; whoever knows it can foresee them.")
@click.option("-j", "--jobs", type=click.IntRange(1, 256), default=lambda: len(os.sched_getaffinity(0)),
              show_default="one per core", help="Worker processes.")  # fmt: skip
@click.option("--in-flight", type=click.IntRange(1, 64), default=64, help="Matches a bot's process holds at most.")
@click.option("--retry", is_flag=True, help="Try matches again that were void three times.")
@option_option
@limit_options
@home_option
@json_option
def ladder(
    game: Game[Any],
    players: int | None,
    rounds: int | None,
    bots: str | None,
    seed: str | None,
    jobs: int,
    in_flight: int,
    retry: bool,
    options: tuple[str, ...],
    limits: Limits,
    home: Path,
    as_json: bool,
) -> None:
    """Play what is missing of a round robin, and show the leaderboard.

    Every line-up is played in all its seats on the same dice. Run it again after an interruption to go on, after
    `arena submit` to play the new bot's matches, or with more --rounds to add them.

    \b
    Example:
      arena ladder --game buttons
    """
    from arena import roster, tournament
    from arena.cli import leaderboard
    from ladder import store
    from ladder.schedule import default_rounds

    seats = check_players(game, players)
    key = store.LadderKey(game.name, seats, check_options(game, options), limits.plain(), game.rules_version)
    field = tournament.check_field(home, game, seats, bots.split(",") if bots is not None else None)
    if seed is not None:
        say("the dice come from --seed: whoever knows it can foresee them")
    with store.exclusive(home), store.open(home, checkpoints=True) as db:
        mine = store.ladder(db, key, draw_probability=game.draw_probability, seed=seed)
        roster.enter_built_ins(db, home)
        with (
            tournament.Workers(jobs, in_flight=in_flight) as workers,
            stop_on_signals(workers.stop) as stopped,
            progress(leaderboard.title(game, seats)) as report,
        ):
            rounds = rounds or default_rounds(seats)
            played = tournament.run_ladder(db, home, mine, field, rounds, workers=workers, report=report, retry=retry)
        if as_json:
            data = leaderboard.as_data(db, game, seats, mine)
            print_json(data | {"played": played, "hash": store.ladder_hash(db, mine)})
        else:
            say(summary(db, mine, played, interrupted=stopped()))
            console().print(leaderboard.picture(db, game, mine))
    if stopped():
        raise SystemExit(INTERRUPTED)


def summary(db: Database, ladder: Ladder, played: int, *, interrupted: bool) -> str:
    """What the run did, in a line."""
    from ladder import store

    counts = store.counts(db, ladder)
    if interrupted:
        return f"interrupted after {played:,} matches; the same command plays the other {counts.scheduled:,}"
    if counts.unplayable:
        return f"played {played:,} matches; {counts.unplayable:,} were void three times, try them again with --retry"
    if not played:
        return "nothing is missing: every match of these rounds has been played; more with --rounds"
    return f"played {played:,} matches; ladder hash {store.ladder_hash(db, ladder)}"


@contextmanager
def progress(what: str) -> Iterator[tournament.Report]:
    """A bar with rate and time left on stderr; nothing when that is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("matches  {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    begun = time.monotonic()
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        line = bar.add_task(what, total=None, rate="")

        def report(now: tournament.Progress) -> None:
            seconds = time.monotonic() - begun
            rate = f"{now.done / seconds:,.0f}/s, {now.decisions / seconds:,.0f} decisions/s"
            bar.update(line, total=now.total, completed=now.done, rate=rate)

        yield report
