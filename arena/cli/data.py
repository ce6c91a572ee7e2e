"""The commands `arena export`, `arena backup` and `arena restore`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from arena.reports import ratings_report
from arena.roster import backup as backups
from arena.roster.backup import Copied
from arena.terminal import home_choice
from arena.terminal.options import home_option
from arena.terminal.output import SOON, printable, progress
from arena.terminal.stderr import say
from arena.terminal.typed import typed_as
from ladder import store
from ladder.store import export as exports

_SHOWN_LACKING = 5
"""How many versions a message names whose programs are not in the copy, and how many files."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins with one of these is a formula to a spreadsheet."""


@click.command()
@click.argument("what", type=click.Choice(["matches", "seats", "ratings", "history", "corrections"]))
@click.option(
    "--format", "form", type=click.Choice(["csv", "jsonl"]), default="csv", help="jsonl: one JSON object per line."
)
@home_option
def export(what: str, form: str, home: Path) -> None:
    """Print stored results as a table for other programs.

    `ratings` has what the leaderboards show, of all ladders.

    \b
    Example:
      arena export seats > seats.csv
    """
    with store.open_read(home, must_exist=True) as db:
        names = ratings_report.rating_columns(db) if what == "ratings" else exports.columns(db, what)
        rows = ratings_report.rating_rows(db) if what == "ratings" else exports.rows(db, what)
        if form == "csv":
            _write_csv(names, rows)
        else:
            for row in rows:
                click.echo(json.dumps(row))


def _write_csv(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(columns)
    for row in rows:
        table.writerow([cell(value) for value in row.values()])


def cell(value: object) -> object:
    """Return a value as it is written to a CSV file.

    Text that a spreadsheet would take for a formula gets an apostrophe in front; a negative whole number does not.
    """
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


@click.command()
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@home_option
def backup(target: Path, home: Path) -> None:
    """Copy a home to DIR: its database, and the programs of all bots.

    The home is the data directory, see --home. DIR must not exist yet, and a ladder may run meanwhile. `arena restore`
    makes a home of it again. If the name ends in .db, only the database is copied, to a file.

    \b
    Example:
      arena backup monday
    """
    if target.suffix == ".db":
        backups.check_unseen(target)  # bots must not read it; `backups.backup` below checks this itself
        with store.open_read(home) as db, progress("copying", "pages", first=SOON) as report:
            exports.copy_database(db, target, report)
        return click.echo(f"copied to {target}, without the bots' programs")
    with progress("copying", "parts", first=SOON) as report:
        copied = backups.make_backup(home, target, report)
    _say_lacking(copied)
    return click.echo(f"copied to {target}: {_what(copied)}; to get it back: {typed_as('restore', target)}")


@click.command()
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path, exists=True))
@home_option
def restore(source: Path, home: Path) -> None:
    """Make a home from DIR, which `arena backup` made.

    The home, see --home, must be missing or empty. DIR stays as it is; every program in it is compared with what was
    entered. A copy of a database alone will do as well, but then the programs have to be submitted again.

    \b
    Example:
      arena restore monday
    """
    with progress("restoring", "parts", first=SOON) as report:
        copied = backups.restore_backup(source, home, report)
    _say_lacking(copied)
    named = home_choice.words_for(home)
    click.echo(f"restored to {home}: {_what(copied)}; to check every match: {typed_as('verify', *named)}")


def _what(copied: Copied) -> str:
    return f"the database and {copied.programs:,} program{'s' * (copied.programs != 1)}"


def _say_lacking(copied: Copied) -> None:
    if copied.lacking:
        why = "they were gone, unreadable, or not what was entered; submit them again before they play"
        say(f"not in the copy are the programs of {_some(copied.lacking)}: {why}")
    if copied.unreadable:
        say(f"not in the copy: {_some(copied.unreadable)}, which cannot be read, or is no ordinary file")


def _some(names: Sequence[str]) -> str:
    """Return the first names and how many more there are; they may come from outside the arena."""
    more = f" and {len(names) - _SHOWN_LACKING:,} more" if len(names) > _SHOWN_LACKING else ""
    return printable(", ".join(names[:_SHOWN_LACKING])) + more
