"""arena bots, arena submit, arena retire."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import GameName, home_option, json_option, limit_options, sandbox_options
from arena.cli.output import draw, print_json, printable, progress, say, table
from arena.clock import Limits
from arena.games.rules import Game

if TYPE_CHECKING:
    from arena.casual import Failure
    from arena.roster import Admission
    from arena.sandbox import Sandbox
    from arena.submission import Program

OUTPUT_LINES = 20
"""Lines of a failed bot's output that its author is shown."""


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
    from arena import roster
    from ladder import store

    with store.open_read(home) as db:
        entries = [entry for entry in roster.listed(db, home) if game is None or game.name in entry.games]
    if as_json:
        return print_json({"bots": [entry._asdict() for entry in entries]})
    rows = table("bot", "from", "games", "about")
    for entry in entries:
        origin = f"{entry.origin}, retired" if entry.retired else entry.origin
        rows.add_row(entry.bot, origin, ", ".join(entry.games), printable(entry.about))
    return draw(rows)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="What it is called.  [default: what bot.toml says, or the name of the file or folder]")
@click.option("-g", "--game", "plays", type=GameName(), multiple=True, metavar="GAME",
              help="A game it plays; repeat.  [default: what bot.toml says, or every game]")  # fmt: skip
@limit_options
@sandbox_options
@home_option
@json_option
def submit(
    path: Path,
    name: str | None,
    plays: tuple[Game[Any], ...],
    limits: Limits,
    sandbox: Sandbox,
    home: Path,
    as_json: bool,
) -> None:
    """Enter a bot, once it has come through its qualification.

    PATH is a .py file, an executable file, or a folder with bot.toml. The bot plays a match of every game and number
    of players that it claims. A version that fails is not entered, and the versions before it stay.

    \b
    Example:
      arena submit mybot.py --game buttons
    """
    from arena import roster

    games = [game.name for game in plays]
    with progress("qualifying") as report:
        admission = roster.admit(
            home, path, limits, name=name, plays=games, report=report, building=_building, sandbox=sandbox
        )
    if as_json:
        print_json(_plain(admission))
    if admission.left_out:
        say(f"left out: {printable(', '.join(admission.left_out))}")
    for hint in admission.hints:
        say(f"hint: {printable(hint)}")
    if admission.version is None:
        raise click.ClickException(_refusal(admission.program, admission.failures, as_json))
    if not as_json:
        click.echo(_news(admission))


def _building(what: str) -> None:
    say(printable(what))


def _news(admission: Admission) -> str:
    version = admission.version
    assert version is not None
    if admission.news == "unchanged":
        return f"{version.label} has just this content already: nothing to do"
    how = "accepted as" if admission.news == "entered" else "not retired any more:"
    return f"{how} {version.label} for {', '.join(version.games)}; next: arena ladder --game {version.games[0]}"


def _refusal(program: Program, failures: Sequence[Failure], as_json: bool) -> str:
    """Shows what the bot printed last; gives why it was refused, and what its author might do."""
    for line in () if as_json else failures[0].output[-OUTPUT_LINES:]:
        say(f"  | {printable(line)}")
    first, *others = failures
    why = f"{first.reason} in {first.game} with {first.players} players: {printable(first.detail)}"
    if others:
        why += f"; it failed in {' and '.join(failure.game for failure in others)} too"
    if set(program.games) > {failure.game for failure in failures} and first.reason != "start":
        why += "; if there are games that it does not play, say with --game which it plays"
    return f"{program.name} is not entered: {why}"


def _plain(admission: Admission) -> dict[str, Any]:
    version = admission.version
    failures = [failure._asdict() for failure in admission.failures]
    accepted, games = (version.label, version.games) if version else (None, ())
    return {"accepted": accepted, "news": admission.news, "games": games, "failures": failures}


@click.command()
@click.argument("name", metavar="NAME[@N]")
@click.option("--undo", is_flag=True, help="Put it back into the field.")
@home_option
def retire(name: str, undo: bool, home: Path) -> None:
    """Take a bot, or one version of it, out of future ladders.

    What it played stays.

    \b
    Example:
      arena retire mybot@1
    """
    from arena import roster

    labels = ", ".join(version.label for version in roster.retire(home, name, undo=undo))
    click.echo(f"{'back in the field:' if undo else 'retired'} {labels}")
