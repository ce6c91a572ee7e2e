"""The record of what people changed by hand: who did what to which bot or match, when, and why.

Rows are only added. Each has a digest that also covers the digest of the row before it, so that a row that is changed
or taken out of the middle shows.
"""

from __future__ import annotations

import itertools
import os
import pwd
import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ladder.schedule import canonical_json

if TYPE_CHECKING:
    from sqlite_utils import Database


class Correction(NamedTuple):
    """An entry of the record; times are seconds since 1970."""

    id: int
    at: float
    who: str | None
    """User of the operating system; None for what an older arena stored without it."""
    what: str
    """"submit", "retire", "reinstate", "forgive", "annul", "ban", "unban" or "rename"."""
    subject: str
    """Id of a match, label of a version or name of a bot; "host" and its name for matches of a host."""
    ladder: str | None
    """The only ladder that it is about."""
    since: float | None
    """When the first match was finished that it annulled, at the earliest; None for all."""
    title: str | None
    """The name that a bot has for people from then on."""
    why: str | None
    digest: bytes
    """SHA-256 over this entry, the matches that it annulled, and the entries before it."""
    matches: int
    """Number of matches that it annulled."""

    @property
    def account(self) -> str:
        """When it was, by whom and why, as text that may hold anything."""
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))
        by = "" if self.who is None else f" by {self.who}"
        return f"on {day}{by}" + ("" if self.why is None else f": {self.why}")


JOURNAL_COLUMNS = "id, at, who, what, subject, ladder, since, title, why, digest"
"""Columns of the record; the digest covers those before it."""
_MATCHES = "(SELECT count(*) FROM matches WHERE annulled = c.id)"
"""Number of matches that an entry annulled, as SQL."""


def user() -> str:
    """Return the name of the user that runs this process, or the number of one that has no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class NewEntry(NamedTuple):
    """An entry that somebody makes: what was done, to which bot, version or match."""

    what: str
    subject: str
    ladder: str | None = None
    since: float | None = None
    """Since when, in seconds since 1970, if not all matches are meant."""
    title: str | None = None
    """The name for people that the bot was given."""
    why: str | None = None
    matches: Iterable[str] = ()
    """The matches that it annuls."""


def note(db: Database, new: NewEntry) -> int:
    """Add an entry, within the caller's transaction, and return its id."""
    last, before = db.execute("SELECT id, digest FROM corrections ORDER BY id DESC LIMIT 1").fetchone() or (0, b"")
    since = None if new.since is None else float(new.since)  # as the database returns it
    row = (last + 1, time.time(), user(), new.what, new.subject, new.ladder, since, new.title, new.why)
    db.execute(
        f"INSERT INTO corrections ({JOURNAL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*row, link(before, row, new.matches)],
    )
    return row[0]


def link(before: bytes, row: Sequence[object], matches: Iterable[str]) -> bytes:
    """Return the SHA-256 over an entry, the matches that it annuls, and the digest of the entry before."""
    return sha256(canonical_json([before.hex(), *row, sorted(matches)]).encode()).digest()


def entries(db: Database) -> tuple[Correction, ...]:
    """Return the whole record, the newest entry last."""
    rows = db.execute(f"SELECT {JOURNAL_COLUMNS}, {_MATCHES} FROM corrections c ORDER BY c.id")
    return tuple(itertools.starmap(Correction, rows))


def correction(db: Database, number: int) -> Correction:
    """Return the entry with this id, which must be there."""
    row = db.execute(f"SELECT {JOURNAL_COLUMNS}, {_MATCHES} FROM corrections c WHERE c.id = ?", [number]).fetchone()
    return Correction(*row)


def bans(db: Database) -> dict[str, Correction]:
    """Return why bots are banned, by name; a bot whose ban was lifted is missing."""
    rows = db.execute(
        f"SELECT {JOURNAL_COLUMNS}, {_MATCHES} FROM corrections c WHERE c.what = 'ban' AND c.id IN"
        " (SELECT max(id) FROM corrections WHERE what IN ('ban', 'unban') GROUP BY subject)"
    )
    return {ban.subject: ban for ban in itertools.starmap(Correction, rows)}


def titles(db: Database) -> dict[str, str]:
    """Return the names that renamed bots have for people, by the name of the bot."""
    rows = db.execute(
        "SELECT subject, title FROM corrections WHERE id IN"
        " (SELECT max(id) FROM corrections WHERE what = 'rename' GROUP BY subject) AND title != subject"
    )
    return dict(rows)
