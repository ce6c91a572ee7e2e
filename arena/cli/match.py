"""The `arena match` command."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec
from rich.table import Table

from arena import roster
from arena.cli import lineup
from arena.cli.replay import write_page
from arena.people.watching import Watching
from arena.referee.match import MatchOutcome
from arena.replay import document, told, unrated_store
from arena.replay.document import Document
from arena.replay.log_text import of_unrated
from arena.reports import match_report
from arena.reports.fault_card import fault_decision
from arena.reports.words import quoted
from arena.sandbox import Sandbox
from arena.sandbox.run_folder import run_folder
from arena.submission.build import Building
from arena.terminal import home_choice
from arena.terminal.failures import INTERRUPTED, stop_on_signals
from arena.terminal.options import (
    Setting,
    Whole,
    check_players,
    game_option,
    home_option,
    html_option,
    json_option,
    sandbox_options,
    seed_option,
    setting_options,
)
from arena.terminal.output import draw, last_line, print_json, printable, progress, table
from arena.terminal.stderr import say
from arena.terminal.typed import typed_as
from arena.terminal.written_files import NewFile, write_file
from arena.worker import unrated
from arena.worker.bot_output import Sink
from arena.worker.jobs import Played, Task
from arena.worker.worker import Worker

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
    sandbox: Sandbox,
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
    logs: Sink = []
    if file is not None and page is not None and file.resolve() == page.resolve():
        raise click.UsageError("--replay and --html write two files: give them two names")
    wanted = _Matches(bots, setting, matches, seed, home, sandbox)
    tasks, played, interrupted = _play(wanted, logs, watch=watch)
    there = documents(bots, tasks, played, logs)
    is_new = not home.exists()
    kept = keep_unrated(home, there)
    counted = kept or there
    last = counted[-1] if counted else None
    if kept:
        home_choice.say_if_above(home)
    if as_json:
        print_json(match_report.unrated_matches(setting.game, bots, seed, played, [each.match for each in kept], last))
    else:
        explain_forfeit(bots, setting.game.name, played)
        count = f"{len(played):,} of {matches:,} matches"
        click.echo(f"{setting.game.title}: {count}; --seed {printable(seed)} gives the same dice again")
        outcomes = [result.outcome for result in played if result.outcome is not None]
        draw(_tally(bots, outcomes))
        if len(there) == 1 and not watch and (why := told.beyond_scores(there[0])):
            click.echo(why)  # whoever watched has read it
        if kept:
            click.echo(how_to_watch(kept, home, is_new=is_new))
    if file is not None and last is not None:
        write_file(file, msgspec.json.encode(last))
    if page is not None and last is not None:
        write_page(page, last)
        if not as_json:
            click.echo(str(page))
    if interrupted:
        say("stopped watching" if watch and played else f"stopped after {len(played):,} of {matches:,} matches")
        raise SystemExit(INTERRUPTED)
    if all(result.outcome is None for result in played):
        raise click.ClickException(f"no match counts: {_why_void(played[0])}")


class _Matches(NamedTuple):
    """The matches that are wanted: who plays how many of them, where bots are looked for, and what holds them."""

    bots: Sequence[str]
    setting: Setting
    number: int
    seed: str
    home: Path
    sandbox: Sandbox


def _play(wanted: _Matches, logs: Sink, *, watch: bool) -> tuple[Sequence[Task], Sequence[Played], bool]:
    """Play the matches; return them all, the results of those played, and whether a signal interrupted play.

    What the bots print goes into `logs`.
    """
    bots, sandbox, game = wanted.bots, wanted.sandbox, wanted.setting.game
    with run_folder() as scratch, unrated.own_worker(waiting=attach, sandbox=sandbox, logs=logs) as worker:
        with progress(game.title, caution=time_caution(bots, sandbox)) as report:
            workshop = roster.Workshop(scratch, sandbox, Building(report.announce, report.passing))
            tasks = lineup.line_up_tasks(
                bots, wanted.setting, wanted.home, workshop, seed=wanted.seed, count=wanted.number
            )
            if not watch:
                with stop_on_signals(lambda: None) as stopped:
                    played = unrated.play_unrated(
                        worker, tasks, stop=stopped, report=report, logged=unrated_store.KEPT_MATCHES
                    )
                    return tasks, played, stopped()
            report.announce(f"watching a match of {game.title}")
        with stop_on_signals(lambda: None) as stopped:
            return tasks, _watched(worker, tasks[0], bots, stopped), stopped()


def _watched(worker: Worker, task: Task, bots: Sequence[str], stopped: Callable[[], bool]) -> Sequence[Played]:
    """Play a match while its steps are shown, and return its result, if it was not interrupted."""
    watching = Watching(task, bots, stop=stopped)

    def look() -> bool:
        watching.look(worker.in_play())
        return stopped()

    played = worker.play([task], stop=look)
    for result in played:
        if result.outcome is not None:
            watching.finish(document.unrated(task, bots, result))
    return played


def documents(bots: Sequence[str], tasks: Sequence[Task], played: Sequence[Played], logs: Sink) -> Sequence[Document]:
    """Return the last matches that count as documents, as many as a home keeps."""
    by_id = {task.id: task for task in tasks}
    there = [result for result in played if result.outcome is not None]
    return [
        document.unrated(by_id[result.id], bots, result, of_unrated(logs, result))
        for result in there[-unrated_store.KEPT_MATCHES :]
    ]


def keep_unrated(home: Path, matches: Sequence[Document]) -> Sequence[Document]:
    """Keep matches in the home and return them with their names; if that fails, say so and return none."""
    try:
        return unrated_store.keep(home, matches) if matches else []
    except OSError as error:
        say(f"the matches are not kept for `arena replay`: {error}")
        return []


def how_to_watch(kept: Sequence[Document], home: Path, *, is_new: bool) -> str:
    """Return a line that says where matches are kept, and the command that shows the last one."""
    where = f" in the new home {printable(repr(str(home)))}" * is_new
    names = kept[-1].match if len(kept) == 1 else f"{kept[0].match} … {kept[-1].match}"
    return f"kept as {names}{where}; step by step: {typed_as('replay', 'last')}"


def time_caution(bots: Sequence[str], sandbox: Sandbox) -> str | None:
    """Return the sandbox's warning, or None if all bots are started by hand: the sandbox does not confine those."""
    return sandbox.warning if set(bots) - {"attach:"} else None


def attach(label: str, address: str, token: str) -> None:  # noqa: ARG001 - all attached bots have one label
    """Print how to start a bot that the arena waits for."""
    say("waiting for a bot; start it with")
    for part in (f"ARENA_ADDR={shlex.quote(address)}", f"ARENA_TOKEN={token}"):
        say(f"  {part} \\")  # a line that the terminal breaks could not be pasted
    say(f"  {shlex.quote(sys.executable)} mybot.py")


def _tally(bots: Sequence[str], outcomes: Sequence[MatchOutcome]) -> Table:
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
        rows.add_row(str(seat), printable(bot), *counts, f"{mean:z.1f}" if len(outcomes) > 1 else f"{mean:g}")
    return rows


def explain_forfeit(bots: Sequence[str], game: str, played: Sequence[Played]) -> None:
    """Print, for the author of a bot, why matches were void and why seats forfeited."""
    for result in played:
        if result.outcome is None:
            say(f"match {result.id} is void: {_why_void(result)}")
    lost = [(result, forfeit) for result in played if result.outcome for forfeit in result.outcome.forfeits]
    for result, forfeit in lost[:_EXPLAINED]:
        evidence = result.seats[forfeit.seat].evidence or {}
        why = f"{forfeit.reason}: {printable(evidence.get('detail', forfeit.detail))}"
        who = f"match {result.id}, seat {forfeit.seat} ({printable(bots[forfeit.seat])})"
        say(f"{who} forfeited{fault_decision(evidence)}: {why}")
        for line in quoted(evidence.get("output", [])[-_OUTPUT_LINES:]):
            say(line)
    if len(lost) > _EXPLAINED:
        say(f"… and {len(lost) - _EXPLAINED:,} more forfeits: --json has all of them")
    paths = dict.fromkeys(bots[forfeit.seat] for _, forfeit in lost if Path(bots[forfeit.seat]).exists())
    for path in paths:
        say(f"what to do about it: {printable(typed_as('check', path, '--game', game))}")


def _why_void(played: Played) -> str:
    return last_line(str(played.void))
