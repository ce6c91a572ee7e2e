"""Shows what a bot printed in a match of a ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.output import print_json, printable

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.reports.match_log import MatchLog
    from ladder.store import Match


def show_log(db: Database, match: Match, seat: int, *, as_json: bool) -> None:
    """Show what the bot in a seat printed, with the numbers of the decisions. Raises NotFound and Unreadable."""
    from arena.reports.match_log import match_log
    from ladder import store

    if seat >= len(match.line_up):
        raise click.UsageError(f"--log {seat}: match {match.id} has the seats 0 to {len(match.line_up) - 1}")
    log = match_log(match, seat, store.printed(db, match, seat))
    return print_json(log) if as_json else _show(log)


def _show(log: MatchLog) -> None:
    click.echo(f"match {log.match}, seat {log.seat} ({log.bot})")
    if not (log.lines or log.meanwhile):
        click.echo("nothing is kept of what it printed here, if it printed anything")
    width = max((len(str(line.decision)) for line in log.lines), default=0)
    for line in log.lines:
        number = "" if line.decision is None else str(line.decision)
        click.echo(f"{number:>{width}} | {printable(line.text)}")
    if log.meanwhile:
        click.echo("\nits process printed meanwhile without a tag, perhaps about other matches:")
        for text in log.meanwhile:
            click.echo(f"  | {printable(text)}")
