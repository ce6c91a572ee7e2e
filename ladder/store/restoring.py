"""Makes a database of a copy of one, which may be a stranger's: the rows of the arena's tables, and nothing else.

Copied page by page, a stranger's triggers would run in the new home, and views in the place of tables would be read.
So a new database is made as old as the copy, and gets the rows; whoever opens it next brings it up to date.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder.store import locks
from ladder.store.database import (
    StoreError,
    check_damage,
    check_origin,
    check_whole,
    connect,
    in_memory,
    migrate,
    one_line,
    run_alone,
    schema_version,
)
from ladder.store.home import make_file

if TYPE_CHECKING:
    from sqlite_utils import Database

_LONGEST_VALUE = 64 << 20
"""Bytes of the longest text or replay that is read: far more than a match of any game takes."""
PATIENCE = 60.0
"""Seconds that reading a database may take in any case. A stranger may have made it so that it never ends."""
_SLOWEST = 1 << 20
"""Bytes that are read in each further second, at least. A disk that is worth copying from reads fifty times as many."""
STEPS = 100_000
"""Steps of SQLite between two looks at the clock: about a millisecond. Any number far below a second would do."""

_TYPED = {"seed_text", "who", "why", "title", "subject"}
"""Columns of what people typed, which may be any text: whoever prints it makes it printable."""
_QUOTED = {"evidence", "voids", "run"}
"""Columns of JSON with what bots and machines said, and what people call their files; the same holds for it."""
_JSON = {"games", "options", "limits", "bots", "field", "rated_by", "ratings", "counts"}
"""Columns of JSON in which the arena writes names and numbers."""

_WHOLE = re.compile("-?[0-9]{1,4300}")
"""Matches a whole number; Python reads no longer ones."""


@contextmanager
def open_copy(path: Path) -> Iterator[Database]:
    """Open a copy of a database, to which nobody writes, for reading; it is not brought up to date.

    It is checked for damage, and for tables that only look like the arena's. Raises StoreError, also from the block if
    reading takes too long or a value is too long.
    """
    with one_line(path), closing(connect(path, "mode=ro" + run_alone(path))) as db:
        end = time.monotonic() + PATIENCE + path.stat().st_size / _SLOWEST
        db.conn.set_progress_handler(lambda: time.monotonic() > end, STEPS)
        db.conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        try:
            check_origin(db, path)
            db.execute("PRAGMA ignore_check_constraints = ON")  # a stranger's may take hours; the new database has ours
            for table in _checked_tables(db, path):
                check_damage(db, path, table)
            check_whole(db, path, locks.noted(path))
            yield db
        except (sqlite3.OperationalError, sqlite3.DataError, sqlite3.IntegrityError) as error:
            if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CORRUPT")):
                raise
            raise StoreError(f"{path} holds what no arena stores ({error}): choose another backup") from error


def restore_database(old: Database, file: Path, report: Callable[[int, int], None]) -> None:
    """Copy the rows of `open_copy` into a new database, at a path that must not exist. Raises StoreError.

    `report` is called with how many tables are copied, of how many.
    """
    make_file(file)
    with one_line(file), closing(connect(file, "mode=rw")) as new:
        migrate(new, schema_version(old))
        new.execute("PRAGMA foreign_keys = OFF")  # rows come before those that they refer to; they are checked below
        new.execute("BEGIN")
        tables = _tables(new)
        for count, table in enumerate(tables):
            report(count, len(tables))
            _copy(old, new, table)
        if new.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise sqlite3.IntegrityError("a row refers to one that is not there")
        new.execute("COMMIT")


def _checked_tables(db: Database, path: Path) -> list[str]:
    """Return the arena's tables. Raises StoreError unless each is there, an ordinary one with the arena's columns.

    That is looked at before their rows are read: a view in the place of a table may never end.
    """
    if not (schema := schema_version(db)):
        raise StoreError(f"{path} is no backup: there is nothing in it")
    with closing(in_memory(schema)) as model:
        tables = _tables(model)
        for table in tables:
            if _shape(db, table) != _shape(model, table):
                raise StoreError(f"{path} has no table {table} as the arena makes it: choose another backup")
    return tables


def _tables(db: Database) -> list[str]:
    names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
    return [name for (name,) in names]


def _shape(db: Database, table: str) -> tuple[object, ...]:
    """Return what makes a table one of the arena's: that it is neither a view nor computed, and its columns."""
    kind = db.execute("SELECT type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table])
    columns = db.execute("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?) ORDER BY name", [table])
    return (*kind.fetchall(), *columns.fetchall())


def _copy(old: Database, new: Database, table: str) -> None:
    """Replace what a new table holds by the rows of the old one, in their order."""
    (has_rowid,) = new.execute("SELECT NOT wr FROM pragma_table_list WHERE name = ?", [table]).fetchone()
    names = ["rowid"] * has_rowid + [name for (name,) in new.execute("SELECT name FROM pragma_table_info(?)", [table])]
    columns = ", ".join(f'"{name}"' for name in names)
    new.execute(f"DELETE FROM {table}")
    rows = old.execute(f"SELECT {columns} FROM {table} NOT INDEXED")  # an index may hold other values than the table
    inserted = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})"
    new.conn.executemany(inserted, (_checked(table, names, row) for row in rows))


def _checked(table: str, columns: list[str], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row as it is. Raises DataError for text that the arena would not write there."""
    for column, value in zip(columns, row, strict=True):
        if isinstance(value, str) and not _is_ours(column, value):
            raise sqlite3.DataError(f"{value[:40]!r} in column {column} of table {table}")
    return row


def _is_ours(column: str, text: str) -> bool:
    if column in _TYPED:
        return True
    if column == "score":
        return _WHOLE.fullmatch(text) is not None
    if column not in _JSON | _QUOTED:
        return text.isprintable()
    try:
        return _is_printable(json.loads(text)) or column in _QUOTED
    except (ValueError, RecursionError):
        return False


def _is_printable(value: object) -> bool:
    """Tell whether all text in a value of JSON is: then it moves no cursor, wherever it is shown."""
    if isinstance(value, dict):
        return all(map(_is_printable, [*value.keys(), *value.values()]))
    return all(map(_is_printable, value)) if isinstance(value, list) else str(value).isprintable()
