"""Retires bots: takes them out of future fields, and drops what they were still to play.

A group with a match that is still to be played, or to be tried again, is dropped as a whole. Its finished matches stay
and are rated, but they count in no interval, because the group is not complete. The next leg is planned as if the group
had never existed: if all its bots are in the field, the leg has a group of the same bots with a new seed
(`schedule.Group.again`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder.schedule import canonical_json
from ladder.store import ladders
from ladder.store.bots import check_not_banned, named, versions
from ladder.store.database import write
from ladder.store.journal import NewEntry, note
from ladder.store.legs import NEXT_LEG
from ladder.store.records import Version

if TYPE_CHECKING:
    from sqlite_utils import Database


class Retired(NamedTuple):
    """Result of `retire`."""

    versions: tuple[Version, ...]
    """Versions that were not retired before."""
    dropped: int
    """Number of matches that will not be played any more."""


def retire(db: Database, name: str) -> Retired:
    """Retire one version ("greedy@2") or a whole bot ("greedy"), and drop what it was still to play.

    Raises NotFound.
    """
    with write(db):
        retired = take_out(db, named(db, name), time.time())
        if any(retired):
            note(db, NewEntry("retire", name))
        return retired


def take_out(db: Database, meant: Sequence[Version], now: float) -> Retired:
    """Retire versions, within the caller's transaction, and drop what they were still to play."""
    labels = [version.label for version in meant]
    db.conn.executemany("UPDATE versions SET retired = ? WHERE label = ?", [(now, label) for label in labels])
    new = tuple(version._replace(retired=now) for version in meant if version.retired is None)
    return Retired(new, _drop_all(db, labels, now))


def drop(db: Database, labels: Iterable[str]) -> None:
    """Drop, once more, what retired bots are to play."""
    with write(db):
        _drop_all(db, list(labels), time.time())


def reinstate(db: Database, name: str) -> tuple[Version, ...]:
    """Undo `retire` and return what was retired. The next leg contains what was dropped.

    Raises NotFound, and StoreError for a banned bot.
    """
    with write(db):
        check_not_banned(db, name)
        retired = [version for version in named(db, name) if version.retired is not None]
        for version in retired:
            db.execute("UPDATE versions SET retired = NULL WHERE label = ?", [version.label])
        if retired:
            note(db, NewEntry("reinstate", name))
    return tuple(version._replace(retired=None) for version in retired)


def retirements(db: Database) -> dict[str, float]:
    """Return when each version was retired, by label; versions that are not retired are missing."""
    return {version.label: version.retired for version in versions(db) if version.retired is not None}


def _drop_all(db: Database, labels: Sequence[str], now: float) -> int:
    return sum(_drop(db, ladder.id, labels, now) for ladder in ladders.all(db))


def _drop(db: Database, ladder: str, labels: Sequence[str], now: float) -> int:
    """Drop the groups of these bots that have a match still to be played; return the number of dropped matches."""
    groups = (
        "SELECT DISTINCT g.id FROM matches m JOIN groups g ON g.id = m.group_id, json_each(g.bots) bot"
        " WHERE m.ladder = :ladder AND m.status IN ('scheduled', 'unplayable')"
        " AND bot.value IN (SELECT value FROM json_each(:labels))"
    )
    values = {"ladder": ladder, "labels": canonical_json(labels), "now": now}
    db.execute(
        f"UPDATE groups SET dropped = :now, absent = {NEXT_LEG.format(ladder=':ladder')} WHERE id IN ({groups})",
        values,
    )
    dropped = db.execute(
        "UPDATE matches SET status = 'dropped' WHERE ladder = :ladder AND status IN ('scheduled', 'unplayable')"
        " AND EXISTS (SELECT 1 FROM groups WHERE id = group_id AND dropped = :now)",
        values,
    )
    return int(dropped.rowcount)
