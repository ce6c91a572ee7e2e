"""The commands `arena bots` and `arena retire`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from arena import roster
from arena.reports import bots_report
from arena.reports.bots_report import ListedBot
from arena.reports.words import called
from arena.terminal import home_choice
from arena.terminal.options import GameName, home_option, json_option
from arena.terminal.output import draw, print_json, printable, say_if_empty, table
from ladder import store
from ladder.store import Version


@click.command()
@click.option("-g", "--game", type=GameName(), metavar="GAME", help="Only bots that play it.")
@home_option
@json_option
def bots(game: str | None, home: Path, as_json: bool) -> None:
    """List the built-in and the submitted bots.

    \b
    Example:
      arena bots --game buttons
    """
    with store.open_read(home) as db:
        report = bots_report.bots_list(db, home, game)
        if not as_json:
            say_if_empty(db, home)
    if as_json:
        return print_json(report)
    rows = table("bot", "from", "games", "about")
    for entry in report.bots:
        state = ", banned" if entry.banned else ", retired" if entry.retired else ""
        name, origin = called(entry.bot, entry.title), f"{entry.origin}{state}"
        rows.add_row(name, origin, ", ".join(entry.games), printable(_about(entry)))
    return draw(rows)


def _about(entry: ListedBot) -> str:
    language = f"({entry.language})" if entry.language else ""
    rarely = f"(slow in {', '.join(entry.only_named)}: only with --bots)" if entry.only_named else ""
    return " ".join(filter(None, [entry.about, language, rarely]))


@click.command()
@click.argument("names", metavar="NAME[@N]…", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Put it back into the field.")
@home_option
def retire(names: tuple[str, ...], undo: bool, home: Path) -> None:
    """Take bots, or single versions of them, out of ladders.

    This takes effect at once, even in a ladder that is running: matches still to be played are dropped, those already
    played stay. After --undo, the next run with as many --rounds plays the dropped matches.

    \b
    Example:
      arena retire mybot@1
      arena retire ann bob@2
    """
    roster.check_known(home, names)  # all, before any is retired
    for number, name in enumerate(dict.fromkeys(names)):
        versions, dropped = roster.retire_bot(home, name, undo=undo)
        if not number:
            home_choice.say_if_above(home)
        click.echo(_retired(name, versions, dropped, undo=undo))


def _retired(name: str, versions: Sequence[Version], dropped: int, *, undo: bool) -> str:
    """Return what became of a bot."""
    labels = ", ".join(version.label for version in versions) or name
    dropped_note = f"; {dropped:,} matches that it was to play are dropped" if dropped else ""
    if versions or dropped:
        return f"{'back in the field:' if undo else 'retired'} {labels}{dropped_note}"
    return f"{name} was {'not retired' if undo else 'retired already'}: nothing to do"
