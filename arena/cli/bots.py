"""The commands `arena bots`, `arena submit` and `arena retire`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import homes
from arena.cli.options import (
    GameName,
    begin_with,
    home_option,
    json_option,
    limit_options,
    plays_option,
    protocol_option,
    sandbox_options,
)
from arena.cli.output import called, draw, print_json, printable, progress, say, say_if_empty, table
from arena.games.rules import Game
from arena.referee.limits import Limits

if TYPE_CHECKING:
    from arena.check.run import Finding
    from arena.reports.bots import ListedBot
    from arena.sandbox import Sandbox
    from arena.submission import Program
    from arena.submission.manifest import Protocol
    from ladder.store import Version


@click.command()
@click.option("-g", "--game", type=GameName(), metavar="GAME", help="Only bots that play it.")
@home_option
@json_option
def bots(game: Game[Any] | None, home: Path, as_json: bool) -> None:
    """List the built-in and the submitted bots.

    \b
    Example:
      arena bots --game buttons
    """
    from arena.reports import bots as reports
    from ladder import store

    with store.open_read(home) as db:
        report = reports.bots(db, home, game.name if game else None)
        if not as_json:
            say_if_empty(db, home)
    if as_json:
        return print_json(report)
    rows = table("bot", "from", "games", "about")
    for entry in report.bots:
        gone = ", banned" if entry.banned else ", retired" if entry.retired else ""
        name, origin = called(entry.bot, entry.title), f"{entry.origin}{gone}"
        rows.add_row(name, origin, ", ".join(entry.games), printable(_about(entry)))
    return draw(rows)


def _about(entry: ListedBot) -> str:
    language = f"({entry.language})" if entry.language else ""
    rarely = f"(slow in {', '.join(entry.only_named)}: only with --bots)" if entry.only_named else ""
    return " ".join(filter(None, [entry.about, language, rarely]))


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="What it is called.  [default: what bot.toml says, or the name of the file or folder]")
@plays_option
@protocol_option
@limit_options
@sandbox_options
@home_option
@json_option
def submit(
    path: Path,
    name: str | None,
    plays: tuple[Game[Any], ...],
    protocol: Protocol | None,
    limits: Limits,
    sandbox: Sandbox,
    home: Path,
    as_json: bool,
) -> None:
    """Enter a bot, if it passes its qualification.

    PATH is a .py file, an executable file, a folder with bot.toml, or such a folder as an archive. To qualify, the bot
    plays a match of every game and number of players that it claims. A version that fails is not entered; earlier
    versions stay entered.

    \b
    Example:
      arena submit mybot.py --game buttons
    """
    from arena.cli.check import explain, steps, warn
    from arena.reports.check import submission
    from arena.roster import admission
    from arena.submission import BadSubmission
    from arena.submission.build import Building

    games = [game.name for game in plays]
    asks = not as_json and sys.stdin.isatty() and sys.stderr.isatty()
    with progress("checking", "steps", paced=False, caution=sandbox.warning) as report:
        try:
            admitted = admission.admit(
                home,
                path,
                limits,
                name=name,
                plays=games,
                protocol=protocol,
                report=steps(report, limits),
                building=Building(report.announce, report.passing),
                sandbox=sandbox,
                agree=_ask if asks else None,
            )
        except BadSubmission as error:
            if as_json:
                print_json(submission(None, "refused", str(error)))
            raise
    program, version = admitted.taken.program, admitted.version
    refusal = None if version else _refusal(path, games, program, admitted.failures, told=not as_json)
    if as_json:
        print_json(submission(version, admitted.news, refusal, admitted.failures, admitted.twins))
    else:
        warn(program, admitted.taken.left_out)
        if admitted.twins:
            say(f"note: {', '.join(admitted.twins)} has the same content")
    if version is None:
        if not as_json:
            explain(admitted.failures[0], to_stderr=True)
        raise click.ClickException(refusal or "")
    homes.say_if_above(home)
    if not as_json:
        click.echo(_news(version, admitted.news))


def _ask(question: str) -> bool:
    """Ask a yes-or-no question on the terminal; an empty answer means no."""
    try:
        return click.confirm(printable(question), err=True)
    except click.Abort:
        raise KeyboardInterrupt from None


def _news(version: Version, news: str) -> str:
    if news == "unchanged":
        return f"{version.label} has just this content already: nothing to do"
    how = "accepted as" if news == "entered" else "not retired any more:"
    return (
        f"{how} {version.label} for {', '.join(version.games)}; next: arena ladder --game {begin_with(version.games)}"
    )


def _refusal(path: Path, games: Sequence[str], program: Program, failures: Sequence[Finding], *, told: bool) -> str:
    """Return why a bot was refused and what its author can do; `told`: the first failure is already shown in full."""
    first, *others = failures
    why = f"it failed {first.name!r}" + ("" if told else f": {printable(first.detail or '')}")
    if others:
        why += f"; it failed {' and '.join(repr(failure.name) for failure in others)} too"
    claimed = {f"play {game}" for game in program.games}
    failed = claimed & {failure.name for failure in failures}
    if failed and failed != claimed:
        why += "; if there are games that it does not play, say with --game which it plays"
    if others or not told:
        again = shlex.join(["arena", "check", str(path), *(word for game in games for word in ("--game", game))])
        why += f"; see it whole: {again}"
    return f"{program.name} is not entered: {why}"


@click.command()
@click.argument("name", metavar="NAME[@N]")
@click.option("--undo", is_flag=True, help="Put it back into the field.")
@home_option
def retire(name: str, undo: bool, home: Path) -> None:
    """Take a bot, or one version of it, out of ladders.

    This takes effect at once, even in a ladder that is running: matches still to be played are dropped, those already
    played stay. After --undo, the next run with as many --rounds plays the dropped matches.

    \b
    Example:
      arena retire mybot@1
    """
    from arena import roster

    versions, dropped = roster.retire(home, name, undo=undo)
    homes.say_if_above(home)
    labels = ", ".join(version.label for version in versions) or name
    left = f"; {dropped:,} matches that it was to play are dropped" if dropped else ""
    if versions or dropped:
        click.echo(f"{'back in the field:' if undo else 'retired'} {labels}{left}")
    else:
        click.echo(f"{name} was {'not retired' if undo else 'retired already'}: nothing to do")
