"""The commands `arena export` and `arena backup`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from arena.cli.options import home_option
from arena.cli.output import progress

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins with one of these is a formula to a spreadsheet."""


@click.command()
@click.argument("what", type=click.Choice(["matches", "seats", "ratings", "history"]))
@click.option(
    "--format", "form", type=click.Choice(["csv", "jsonl"]), default="csv", help="jsonl: one JSON object per line."
)
@home_option
def export(what: str, form: str, home: Path) -> None:
    """Print stored results as a table for other programs.

    \b
    Example:
      arena export seats > seats.csv
    """
    from ladder import store
    from ladder.store.export import columns, rows

    with store.open_read(home, must_exist=True) as db:
        if form == "csv":
            _write_csv(columns(db, what), rows(db, what))
        else:
            for row in rows(db, what):
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
    if isinstance(value, str) and value.startswith(FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@home_option
def backup(file: Path, home: Path) -> None:
    """Copy the database of a home to FILE.

    The home is the data directory, see --home. FILE must not exist yet, and a ladder may run meanwhile. The bots'
    programs, in the home's folder `bots`, are not in FILE: copy that folder too.

    \b
    Example:
      arena backup monday.db
    """
    from ladder import store

    with store.open_read(home) as db, progress("copying", "pages") as report:
        store.backup(db, file, report)
    click.echo(f"copied to {file}")
