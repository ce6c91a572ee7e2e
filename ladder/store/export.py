"""Exports the database as plain tables for other programs, and as a copy."""

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
        SELECT
            m.id AS match,              -- what `arena show` takes
            m.ladder,                   -- id of the ladder
            l.game,                     -- name of the game
            l.seats AS players,         -- number of seats
            m.seq,                      -- its place in the schedule, over all legs of the ladder
            g.leg,                      -- number of the leg that planned it
            g.round,                    -- number of its round
            m.group_id,                 -- a number that the matches on one seed share
            m.rotation,                 -- by how many seats the line-up of the group is turned
            m.status,                   -- `scheduled`, `done`, `unplayable`, `dropped` or `annulled`
            json_array_length(m.voids) AS voids,  -- how many attempts were void, since the arena itself failed
            m.finished,                 -- when it ended, in seconds since 1970
            CASE WHEN EXISTS (SELECT 1 FROM matches WHERE group_id = g.id AND status IN ('scheduled', 'unplayable'))
                THEN NULL ELSE lower(hex(g.seed)) END AS seed,  -- hexadecimal; empty while its group is played
            m.annulled                  -- the `id` of the correction that let it no longer count
        FROM matches m JOIN groups g ON g.id = m.group_id JOIN ladders l ON l.id = m.ladder
        ORDER BY l.rowid, m.seq""",
    "seats": """
        SELECT
            s.match,                    -- id of the match
            s.seat,                     -- number of the seat
            s.version AS bot,           -- label of the version
            s.rank,                     -- 0 is the best; equal ranks tie
            s.score,                    -- score of the game
            s.forfeit,                  -- the reason, if it forfeited
            s.decisions,                -- how often it answered; where it crashed it did not
            s.think_total,              -- seconds that all its answers took
            s.think_max                 -- seconds that the longest answer took
        FROM seats s JOIN matches m ON m.id = s.match JOIN ladders l ON l.id = m.ladder
        ORDER BY l.rowid, m.seq, s.seat""",
    "ratings": """
        SELECT
            r.ladder,                   -- id of the ladder
            r.version AS bot,           -- label of the version
            r.mu,                       -- estimated skill, as it is stored
            r.sigma,                    -- uncertainty of `mu`
            r.mu - 3 * r.sigma AS shown,  -- by which leaderboards are sorted
            r.matches,                  -- rated matches
            r.wins,                     -- first places alone
            r.ties,                     -- shared first places
            r.losses,                   -- all other places
            r.rank_sum,                 -- sum of its ranks, which count from 0
            r.forfeits                  -- rated matches that it forfeited
        FROM ratings r JOIN ladders l ON l.id = r.ladder
        ORDER BY l.rowid, shown DESC, bot""",
    "history": """
        SELECT
            h.ladder,                   -- id of the ladder
            h.seq,                      -- place of the match in the schedule
            m.id AS match,              -- id of the match
            e.key AS bot,               -- label of a version that played in it
            json_extract(e.value, '$[0]') AS mu,  -- its estimated skill after the match
            json_extract(e.value, '$[1]') AS sigma  -- uncertainty of `mu`
        FROM history h JOIN matches m ON m.ladder = h.ladder AND m.seq = h.seq JOIN ladders l ON l.id = h.ladder,
            json_each(h.ratings) e
        ORDER BY l.rowid, h.seq, bot""",
    "corrections": """
        SELECT
            id,                         -- number of the entry, from 1
            at,                         -- when it was made, in seconds since 1970
            who,                        -- user of the operating system; empty for what is older than the record
            what,  -- `submit`, `retire`, `reinstate`, `forgive`, `annul`, `ban`, `unban` or `rename`
            subject,                    -- a match, a label or the name of a bot
            ladder,                     -- the only ladder that it is about
            since,                      -- matches finished earlier were not annulled
            title,                      -- the new name of a bot for people
            why,                        -- the reason that was given
            (SELECT count(*) FROM matches WHERE annulled = c.id) AS matches  -- how many it annulled
        FROM corrections c
        ORDER BY id""",
}
"""Tables that can be exported, with the SQL that reads them; scripts/reference reads what columns mean."""

PAGES = 1000
"""Pages copied at a time: about 4 MB. Any number would do between which progress can be told and others write."""


def columns(db: Database, table: str) -> list[str]:
    """Return the names of the columns of one of TABLES."""
    return [name for name, *_ in db.execute(f"{TABLES[table]} LIMIT 0").description]


def rows(db: Database, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one of TABLES, in its order."""
    table_rows: Iterator[dict[str, Any]] = db.query(TABLES[table])
    return table_rows


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

    def tell(_status: int, remaining: int, total: int) -> None:
        if total:  # none are known where the first page finds no room
            report(total - remaining, total)

    with closing(sqlite3.connect(file)) as copy:
        db.conn.backup(copy, pages=PAGES, progress=tell)
    db.execute("COMMIT")
