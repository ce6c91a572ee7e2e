"""Exports the database as plain tables for other programs, and as a copy. docs/data.md describes the columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder.store.database import StoreError, is_stored, one_line
from ladder.store.home import make_file

if TYPE_CHECKING:
    from sqlite_utils import Database

TABLES = {
    "matches": """
        SELECT m.id AS match, m.ladder, l.game, l.seats AS players, m.seq, g.leg, g.round, m.group_id, m.rotation,
            m.status, json_array_length(m.voids) AS voids, m.finished,
            CASE WHEN EXISTS (SELECT 1 FROM matches WHERE group_id = g.id AND status IN ('scheduled', 'unplayable'))
                THEN NULL ELSE lower(hex(g.seed)) END AS seed,
            m.annulled
        FROM matches m JOIN groups g ON g.id = m.group_id JOIN ladders l ON l.id = m.ladder
        ORDER BY l.rowid, m.seq""",
    "seats": """
        SELECT s.match, s.seat, s.version AS bot, s.rank, s.score, s.forfeit, s.decisions, s.think_total, s.think_max
        FROM seats s JOIN matches m ON m.id = s.match JOIN ladders l ON l.id = m.ladder
        ORDER BY l.rowid, m.seq, s.seat""",
    "ratings": """
        SELECT r.ladder, r.version AS bot, r.mu, r.sigma, r.mu - 3 * r.sigma AS shown, r.matches, r.wins, r.ties,
            r.losses, r.rank_sum, r.forfeits
        FROM ratings r JOIN ladders l ON l.id = r.ladder
        ORDER BY l.rowid, shown DESC, bot""",
    "history": """
        SELECT h.ladder, h.seq, m.id AS match, e.key AS bot, json_extract(e.value, '$[0]') AS mu,
            json_extract(e.value, '$[1]') AS sigma
        FROM history h JOIN matches m ON m.ladder = h.ladder AND m.seq = h.seq JOIN ladders l ON l.id = h.ladder,
            json_each(h.ratings) e
        ORDER BY l.rowid, h.seq, bot""",
    "corrections": """
        SELECT id, at, who, what, subject, ladder, since, title, why,
            (SELECT count(*) FROM matches WHERE annulled = c.id) AS matches
        FROM corrections c
        ORDER BY id""",
}
"""Tables that can be exported, with the SQL that reads them."""

PAGES = 1000
"""Pages copied at a time: about 4 MB."""


def columns(db: Database, table: str) -> list[str]:
    """Return the names of the columns of one of TABLES."""
    return [name for name, *_ in db.execute(f"{TABLES[table]} LIMIT 0").description]


def rows(db: Database, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one of TABLES, in its order."""
    found: Iterator[dict[str, Any]] = db.query(TABLES[table])
    return found


def copy_database(db: Database, file: Path, report: Callable[[int, int], None]) -> None:
    """Copy the database as it is now, even while others write, into a file that must not exist. Raises StoreError.

    `report` is called with the number of pages copied so far and of all pages.
    """
    if not is_stored(db):
        raise StoreError("there is nothing to copy: the home has no database yet")
    try:
        make_file(file)
    except FileExistsError:
        raise StoreError(f"{file} is there already and stays as it is: choose another name") from None
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}") from error
    part = file.with_name(f"{file.name}.part")
    try:
        with one_line(part):
            _copy(db, part, report)
            part.replace(file)
    except BaseException:
        file.unlink()
        raise
    finally:
        part.unlink(missing_ok=True)


def _copy(db: Database, file: Path, report: Callable[[int, int], None]) -> None:
    file.unlink(missing_ok=True)
    make_file(file)
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # hides later writes; each would restart the copy

    def tell(_status: int, left: int, total: int) -> None:
        if total:  # none are known where the first page finds no room
            report(total - left, total)

    with closing(sqlite3.connect(file)) as copy:
        db.conn.backup(copy, pages=PAGES, progress=tell)
    db.execute("COMMIT")
