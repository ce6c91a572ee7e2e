"""The `arena match` command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec
from rich.table import Table

from arena.cli.replay import write_page
from arena.people.watching import Watching
from arena.replay import narration
from arena.replay.document import Document
from arena.reports import match_report
from arena.reports.fault_card import fault_decision
from arena.reports.words import quoted
from arena.terminal import home_choice
from arena.terminal.failures import INTERRUPTED, stop_on_signals
from arena.terminal.machine import Machine
from arena.terminal.options import (
    Setting,
    Whole,
    check_players,
    game_option,
    home_option,
    html_option,
    json_option,
    sandbox_options,
    seed_bytes,
    seed_option,
    setting_options,
)
from arena.terminal.output import draw, last_line, print_json, printable, progress, table
from arena.terminal.stderr import say
from arena.terminal.typed import typed_as
from arena.terminal.workshop import building
from arena.terminal.written_files import NewFile, write_file
from arena.tournament.unrated_matches import UnratedRequest, UnratedRun, keep_unrated, unrated_run

_EXPLAINED = 3
"""Number of forfeits that are explained at length; the others are only counted."""
_OUTPUT_LINES = 10
"""Number of lines shown of what a bot printed before it forfeited."""


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT…", required=True)
@game_option
@click.option("-n", "--matches", type=Whole(1, 100_000), metavar="N", default=1, help="How many, in the same seats.")
@seed_option
@click.option("--watch", is_flag=True, help="Show the match step by step while it is played.")
@click.option(
    "--replay",
    "file",
    type=NewFile("replay", b'{"format":'),
    metavar="FILE",
    help="Write the match, or the last of several, to this file for `arena replay`.",
)
@html_option("the match, or the last of several,")
@setting_options
@sandbox_options
@home_option
@json_option
def match(
    bots: tuple[str, ...],
    setting: Setting,
    matches: int,
    seed: str,
    watch: bool,
    file: Path | None,
    page: Path | None,
    machine: Machine,
    home: Path,
    as_json: bool,
) -> None:
    """Play bots against each other, unrated, in the order given.

    A BOT is a built-in (see `arena bots`), a submitted name (greedy, mine@2), a path (./mine.py), or `attach:`.
    `attach:` prints an address and waits, without a time limit, for a bot that you start by hand. The last 200 matches
    are kept in the home: `arena replay last` shows the latest step by step, and --html writes a page for a browser.

    \b
    Example:
      arena match ./mine.py random --game buttons -n 20
    """
    check_players(setting.game, len(bots))
    if watch and (matches > 1 or as_json):
        raise click.UsageError("--watch shows one match to people: use it without -n and without --json")
    if file is not None and page is not None and file.resolve() == page.resolve():
        raise click.UsageError("--replay and --html write two files: give them two names")
    request = UnratedRequest(bots, bots, *setting, seed_bytes(seed), home, machine.sandbox, matches)
    run, interrupted = _play(request, machine, watch=watch)
    results, replays = run.played, run.documents()
    is_new = not home.exists()
    kept_replays = keep_unrated(home, replays, say)
    counted = kept_replays or replays
    last = counted[-1] if counted else None
    if kept_replays:
        home_choice.say_if_above(home)
    if as_json:
        print_json(
            match_report.unrated_matches(
                setting.game, bots, seed, results, [replay.match for replay in kept_replays], last
            )
        )
    else:
        explain_forfeit(run)
        count = f"{len(results):,} of {matches:,} matches"
        click.echo(f"{setting.game.title}: {count}; --seed {printable(seed)} gives the same dice again")
        draw(_tally(run))
        if len(replays) == 1 and not watch and (why := narration.beyond_scores(replays[0])):
            click.echo(why)  # whoever watched has read it
        if kept_replays:
            click.echo(how_to_watch(kept_replays, home, is_new=is_new))
    if file is not None and last is not None:
        write_file(file, msgspec.json.encode(last))
    if page is not None and last is not None:
        write_page(page, last)
        if not as_json:
            click.echo(str(page))
    if interrupted:
        say("stopped watching" if watch and results else f"stopped after {len(results):,} of {matches:,} matches")
        raise SystemExit(INTERRUPTED)
    if all(result.outcome is None for result in results):
        raise click.ClickException(f"no match counts: {last_line(str(results[0].void))}")


def _play(request: UnratedRequest, machine: Machine, *, watch: bool) -> tuple[UnratedRun, bool]:
    """Play the matches; return what became of them, and whether a signal interrupted play."""
    game = request.game
    with unrated_run(request, attach) as run:
        with progress(game.title, caution=machine.caution_for(request.bots)) as report:
            run.line_up(building(report))
            if not watch:
                with stop_on_signals(lambda: None) as stopped:
                    run.play(stop=stopped, report=report)
                    return run, stopped()
            report.announce(f"watching a match of {game.title}")
        with stop_on_signals(lambda: None) as stopped:
            _watch(run, stopped)
            return run, stopped()


def _watch(run: UnratedRun, stopped: Callable[[], bool]) -> None:
    """Play a match while its steps are shown."""
    watching = Watching(run.tasks[0], run.request.names, stop=stopped)
    run.play_first(watching.look, stop=stopped)
    for result in run.played:
        watching.finish(result)


def how_to_watch(replays: Sequence[Document], home: Path, *, is_new: bool) -> str:
    """Return a line that says where matches are kept, and the command that shows the last one."""
    where = f" in the new home {printable(repr(str(home)))}" * is_new
    names = replays[-1].match if len(replays) == 1 else f"{replays[0].match} … {replays[-1].match}"
    return f"kept as {names}{where}; step by step: {typed_as('replay', 'last')}"


def attach(label: str, address: str, token: str) -> None:  # noqa: ARG001 - all attached bots have one label
    """Print how to start a bot that the arena waits for."""
    say("waiting for a bot; start it with")
    for part in (f"ARENA_ADDR={shlex.quote(address)}", f"ARENA_TOKEN={token}"):
        say(f"  {part} \\")  # a line that the terminal breaks could not be pasted
    say(f"  {shlex.quote(sys.executable)} mybot.py")


def _tally(run: UnratedRun) -> Table:
    several = sum(result.outcome is not None for result in run.played) > 1
    score = "mean score" if several else "score"
    rows = table("seat", "bot", "wins", "ties", "forfeits", score, right=["seat", "wins", "ties", "forfeits", score])
    for seat, (bot, tally) in enumerate(zip(run.request.names, run.tallies(), strict=True)):
        counts = [str(number) for number in (tally.wins, tally.ties, tally.forfeits)]
        mean = f"{tally.mean_score:z.1f}" if several else f"{tally.mean_score:g}"
        rows.add_row(str(seat), printable(bot), *counts, mean)
    return rows


def explain_forfeit(run: UnratedRun) -> None:
    """Print, for the author of a bot, why matches were void and why seats forfeited."""
    bots, game, played = run.request.names, run.request.game.name, run.played
    for result in played:
        if result.outcome is None:
            say(f"match {result.id} is void: {last_line(str(result.void))}")
    forfeits = [(result, forfeit) for result in played if result.outcome for forfeit in result.outcome.forfeits]
    for result, forfeit in forfeits[:_EXPLAINED]:
        evidence = result.seats[forfeit.seat].evidence or {}
        why = f"{forfeit.reason}: {printable(evidence.get('detail', forfeit.detail))}"
        who = f"match {result.id}, seat {forfeit.seat} ({printable(bots[forfeit.seat])})"
        say(f"{who} forfeited{fault_decision(evidence)}: {why}")
        for line in quoted(evidence.get("output", [])[-_OUTPUT_LINES:]):
            say(line)
    if len(forfeits) > _EXPLAINED:
        say(f"… and {len(forfeits) - _EXPLAINED:,} more forfeits: --json has all of them")
    paths = dict.fromkeys(bots[forfeit.seat] for _, forfeit in forfeits if Path(bots[forfeit.seat]).exists())
    for path in paths:
        say(f"what to do about it: {printable(typed_as('check', path, '--game', game))}")
