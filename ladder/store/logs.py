"""What bots printed in their matches: a bounded part of it, kept until there is too much of a bot.

Nothing is computed from it. Bots that stand in one match share its dice with the other matches of the group, and a
process that plays many matches may print the dice of one as if they were of another. So what was printed in a leg is
shown when all of the leg has been played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder.store.database import NotFound, write

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.store.records import Match

A_BOT = 64 * 1024 * 1024
"""Bytes that are kept of a bot, all its versions together."""
ALL = 1024 * 1024 * 1024
"""Bytes that are kept of all bots; each of many has an equal share."""
ROW = 200
"""Bytes that an entry takes up beyond its lines, about."""


class Log(NamedTuple):
    """Lines that a bot printed in a match or, without a match, a piece of what its process printed besides."""

    bot: str
    match: str | None
    seat: int | None
    process: str
    since: int
    until: int
    lines: bytes


class Printed(NamedTuple):
    """What a bot printed in a match: its own lines, and the pieces that its process printed meanwhile."""

    lines: tuple[bytes, ...]
    pieces: tuple[bytes, ...]


def keep(db: Database, logs: Sequence[Log]) -> None:
    """Store what bots printed, but for matches that have no result; what is oldest of a bot goes if it has too much."""
    with write(db):
        stored = [log for log in logs if log.match is None or _has_result(db, log.match)]
        db.conn.executemany(
            "INSERT INTO logs (bot, match, seat, process, since, until, lines) VALUES (?, ?, ?, ?, ?, ?, ?)", stored
        )
        for log in stored:
            _count(db, log.bot, len(log.lines) + ROW)
        _make_room(db)


def _has_result(db: Database, match: str) -> bool:
    """Tell whether the result of a match was stored: it may be of a bot that was retired meanwhile."""
    rows = db.execute("SELECT 1 FROM matches WHERE id = ? AND status IN ('done', 'annulled')", [match])
    return rows.fetchone() is not None


def _count(db: Database, bot: str, size: int) -> None:
    db.execute(
        "INSERT INTO log_sizes VALUES (?, ?) ON CONFLICT (bot) DO UPDATE SET bytes = bytes + excluded.bytes",
        [bot, size],
    )


def _make_room(db: Database) -> None:
    """Cut every bot to its share: one that has printed nothing for long may have too much since there are more bots."""
    (sharing,) = db.execute("SELECT count(*) FROM log_sizes WHERE bytes > 0").fetchone()
    share = min(A_BOT, ALL // max(sharing, 1))
    for bot, size in db.execute("SELECT bot, bytes FROM log_sizes WHERE bytes > ?", [share]).fetchall():
        rows = db.execute("SELECT id, length(lines) + ? FROM logs WHERE bot = ? ORDER BY id", [ROW, bot])
        freed_bytes, last = 0, 0
        while freed_bytes < size - share:
            last, freed = rows.fetchone()
            freed_bytes += freed
        db.execute("DELETE FROM logs WHERE bot = ? AND id <= ?", [bot, last])
        _count(db, bot, -freed_bytes)


def seats(db: Database, match: Match) -> tuple[int, ...]:
    """Return the seats of a match of which anything was kept."""
    rows = db.execute("SELECT DISTINCT seat FROM logs WHERE match = ? ORDER BY seat", [match.id])
    return tuple(seat for (seat,) in rows)


def printed(db: Database, match: Match, seat: int) -> Printed:
    """Return what is kept of what the bot in a seat printed.

    Raises NotFound while a match of the same leg is still to be played.
    """
    if not may_be_shown(db, match):
        raise NotFound(
            f"what bots printed in match {match.id} is shown when all that was planned with it has been played:"
            f" `arena ladder --game {match.ladder.key.game}` goes on, with --retry where matches were void three times"
        )
    rows = db.execute(
        "SELECT lines, process, since, until FROM logs WHERE match = ? AND seat = ? ORDER BY id", [match.id, seat]
    ).fetchall()
    pieces = [
        lines
        for _, process, since, until in rows
        for (lines,) in db.execute(
            "SELECT lines FROM logs WHERE match IS NULL AND process = ? AND since >= ? AND since < ? ORDER BY since",
            [process, since, until],
        )
    ]
    return Printed(tuple(row[0] for row in rows), tuple(pieces))


def may_be_shown(db: Database, match: Match) -> bool:
    """Tell whether nothing is left to play that may share dice with what was printed in a match."""
    first = db.execute(  # legs are played one after the other
        "SELECT g.leg FROM matches m JOIN groups g ON g.id = m.group_id"
        " WHERE m.ladder = ? AND m.status = 'scheduled' ORDER BY m.seq LIMIT 1",
        [match.ladder.id],
    ).fetchone()
    if match.seed is None or (first is not None and first[0] <= match.leg):
        return False
    unplayable = db.execute(  # --retry may play it with its old dice
        "SELECT 1 FROM matches m JOIN groups g ON g.id = m.group_id"
        " WHERE m.ladder = ? AND m.status = 'unplayable' AND g.leg = ? LIMIT 1",
        [match.ladder.id, match.leg],
    ).fetchone()
    return unplayable is None
