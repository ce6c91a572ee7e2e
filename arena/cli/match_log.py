"""Shows what a bot printed in a match."""

from __future__ import annotations

from pathlib import Path

import click

from arena.replay import unrated_store
from arena.reports.match_log_report import MatchLog, match_log, unrated_log
from arena.terminal.output import printable
from ladder import store


def of_ladder(home: Path, name: str, seat: int) -> MatchLog:
    """Return what is kept of a seat in a match of a ladder. Raises NotFound, Unreadable and click.UsageError."""
    with store.open_read(home) as db:
        match = store.matches.find(db, name)
        _check_seat(match.id, seat, len(match.line_up))
        return match_log(match, seat, store.logs.printed(db, match, seat))


def of_unrated(home: Path, name: str, seat: int) -> MatchLog:
    """Return what is kept of a seat in an unrated match. Raises Unreadable, OSError and click.UsageError."""
    match = unrated_store.find_match(home, name)
    _check_seat(match.match, seat, len(match.bots))
    return unrated_log(match, seat)


def _check_seat(match: str, seat: int, seats: int) -> None:
    if seat >= seats:
        raise click.UsageError(f"--log {seat}: match {match} has the seats 0 to {seats - 1}")


def show_log(log: MatchLog) -> None:
    """Show what a bot printed, with the numbers of the decisions."""
    click.echo(f"match {log.match}, seat {log.seat} ({printable(log.bot)})")
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
