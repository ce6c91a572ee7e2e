"""arena bots, arena submit, arena retire."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import (
    GameName,
    console,
    home_option,
    json_option,
    limit_options,
    print_json,
    printable,
    say,
    table,
)
from arena.games.rules import Game

if TYPE_CHECKING:
    from arena.casual import Failure
    from arena.clock import Limits


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
        entries = [entry for entry in roster.listed(db) if game is None or game.name in entry.games]
    if as_json:
        return print_json({"bots": [entry._asdict() for entry in entries]})
    rows = table("bot", "from", "games", "about")
    for entry in entries:
        origin = f"{entry.origin}, retired" if entry.retired else entry.origin
        rows.add_row(entry.bot, origin, ", ".join(entry.games), printable(entry.about))
    console().print(rows)
    return None


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="What the bot is called.  [default: what bot.toml says, or the file's name]")
@click.option("-g", "--game", "plays", type=GameName(), multiple=True, metavar="GAME", help="A game it plays; repeat.")
@limit_options
@home_option
@json_option
def submit(
    path: Path, name: str | None, plays: tuple[Game[Any], ...], limits: Limits, home: Path, as_json: bool
) -> None:
    """Enter a bot: a .py file, an executable file, or a folder with bot.toml.

    It plays a qualification match of every game and number of players that it claims (every game, if nothing is
    said). A version that fails is not entered, and the versions before it stay.

    \b
    Example:
      arena submit mybot.py --game buttons
    """
    from arena import roster, submission

    program = submission.read(path, name=name, plays=[game.name for game in plays])
    if program.name in submission.built_ins():
        raise submission.BadSubmission(f"{program.name!r} is a built-in bot's name: choose another with --name")
    entry = roster.admit(home, program, limits, say)
    if entry.failures:
        return _refuse(program.name, entry.failures, as_json)
    assert entry.version is not None
    label, games = entry.version.label, ", ".join(entry.version.games)
    if as_json:
        return print_json({"accepted": label, "new": entry.new, "games": entry.version.games})
    if not entry.new:
        return click.echo(f"{label} has just this content: nothing to do")
    click.echo(f"accepted as {label} for {games}")
    return click.echo(f"next: arena ladder --game {entry.version.games[0]}")


def _refuse(name: str, failures: list[Failure], as_json: bool) -> None:
    if as_json:
        print_json({"accepted": None, "failures": [_plain(failure) for failure in failures]})
    first = failures[0]
    for line in first.output[-20:] if not as_json else ():
        say(f"  | {printable(line)}")
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    games = sorted({failure.game for failure in failures})
    why = f"{first.game} with {first.players} players: {first.forfeit.reason}, {printable(first.forfeit.detail)}{more}"
    hint = f"if it does not play {' or '.join(games)}, name the games it plays with --game"
    raise click.ClickException(f"{name} is not entered: {why}; {hint}")


def _plain(failure: Failure) -> dict[str, Any]:
    reason, detail = failure.forfeit.reason.value, failure.forfeit.detail
    return failure._asdict() | {"forfeit": {"reason": reason, "detail": detail}}


@click.command()
@click.argument("name", metavar="NAME[@N]")
@home_option
def retire(name: str, home: Path) -> None:
    """Take a bot, or one version of it, out of future ladders; what it played stays.

    Submitting the same content again brings it back.

    \b
    Example:
      arena retire mybot@1
    """
    from ladder import store

    with store.open_read(home) as db:
        store.version(db, name)
    with store.open(home) as db:
        gone = store.retire(db, name)
    click.echo(f"retired {', '.join(version.label for version in gone)}")
