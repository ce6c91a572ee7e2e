"""Corrections by hand: annuls matches, which stay stored and can be shown, bans bots, and names them for people.

What is annulled is the whole group: were half of it to count, one bot would keep the better seats. The group is dropped
as by `retirement`: what was not played yet of it never will be, and a later leg has another group of the same bots with
other dice, if all of them are in its field. All ratings of the ladder are forgotten at once, and computed anew by the
next `apply_ratings`, as if the group had never been there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ladder.schedule import canonical_json
from ladder.store.bots import known_name, named
from ladder.store.database import StoreError, write
from ladder.store.journal import Correction, NewEntry, bans, correction, note
from ladder.store.legs import NEXT_LEG
from ladder.store.matches import full_id
from ladder.store.records import Version
from ladder.store.retirement import take_out

if TYPE_CHECKING:
    from sqlite_utils import Database


class Annulled(NamedTuple):
    """What `annul_match`, `annul_bot`, `ban` or `unban` did."""

    correction: Correction
    ladders: tuple[str, ...] = ()
    """Ids of the ladders whose ratings are to be computed anew."""
    retired: tuple[Version, ...] = ()
    """Versions that were not retired before."""
    dropped: int = 0
    """Number of matches that will not be played any more."""


def annul_match(db: Database, prefix: str, why: str) -> Annulled:
    """Annul the match whose id begins with `prefix`, with all others of its group.

    Raises NotFound unless there is exactly one, and StoreError unless it counts.
    """
    with write(db):
        id = full_id(db, prefix)
        row = db.execute("SELECT status, annulled, group_id FROM matches WHERE id = ?", [id]).fetchone()
        status, by, group = row
        if status == "annulled":
            raise StoreError(f"match {id} is annulled already, {correction(db, by).account}")
        if status != "done":
            raise StoreError(f"match {id} is {status}, not finished: only what counts can be annulled")
        return _annul(db, [group], "annul", id, why=why)


def annul_bot(db: Database, name: str, why: str, *, ladder: str | None = None, since: float | None = None) -> Annulled:
    """Annul all groups of a version ("greedy@2") or of a bot ("greedy") with a match that counts.

    These may be only those of a ladder, or those with a match finished at a time or later. Raises NotFound, and
    StoreError if there are none.
    """
    with write(db):
        groups = _counting(db, [version.label for version in named(db, name)], ladder, since)
        chosen = ladder is not None or since is not None
        if not groups:
            raise StoreError(f"{name} has no match{' there or then' * chosen} that counts: nothing is annulled")
        return _annul(db, groups, "annul", name, ladder=ladder, since=since, why=why)


def annul_those(
    db: Database,
    subject: str,
    why: str,
    is_meant: Callable[[bytes], bool],
    *,
    ladder: str | None = None,
    since: float | None = None,
) -> Annulled:
    """Annul all groups with a match that counts and whose replay is meant; `subject` says to people which those are.

    These may be only those of a ladder, or those with a match finished at a time or later. Raises StoreError if there
    are none.
    """
    rows = db.execute(  # before anything is locked, as it takes long
        "SELECT m.group_id, r.replay FROM matches m JOIN replays r ON r.match = m.id WHERE m.status = 'done'"
        " AND m.ladder = coalesce(:ladder, m.ladder) AND m.finished >= coalesce(:since, m.finished)",
        {"ladder": ladder, "since": since},
    )
    groups = sorted({group for group, replay in rows if is_meant(replay)})
    if not groups:
        raise StoreError(f"no match counts that is of {subject}: nothing is annulled")
    with write(db):
        return _annul(db, groups, "annul", subject, ladder=ladder, since=since, why=why)


def ban(db: Database, name: str, why: str, *, since: float | None = None, keep: bool = False) -> Annulled:
    """Retire all versions of a bot for good, and annul its groups, or those with a match finished at a time or later.

    With `keep` what it played goes on counting. Until `unban`, nobody can submit or reinstate a bot of this name, nor
    plan a match for it. Raises NotFound, and StoreError if it is banned.
    """
    with write(db):
        versions = known_name(db, name)
        if (before := bans(db).get(name)) is not None:
            raise StoreError(f"{name} is banned already, {before.account}")
        labels = [version.label for version in versions]
        retired, dropped = take_out(db, versions, time.time())
        groups = [] if keep else _counting(db, labels, None, since)
        annulled = _annul(db, groups, "ban", name, since=since, why=why)
        return annulled._replace(retired=retired, dropped=annulled.dropped + dropped)


def unban(db: Database, name: str, why: str) -> Annulled:
    """Lift a ban: the bot may be submitted or reinstated again; its matches stay annulled. Raises StoreError."""
    with write(db):
        known_name(db, name)
        if name not in bans(db):
            raise StoreError(f"{name} is not banned")
        return Annulled(correction(db, note(db, NewEntry("unban", name, why=why))))


def _counting(db: Database, labels: Sequence[str], ladder: str | None, since: float | None) -> list[int]:
    """Return the groups in which these versions have a match that counts."""
    rows = db.execute(
        "SELECT DISTINCT group_id FROM matches m WHERE status = 'done' AND ladder = coalesce(:ladder, ladder)"
        " AND finished >= coalesce(:since, finished) AND EXISTS (SELECT 1 FROM seats WHERE match = m.id"
        " AND version IN (SELECT value FROM json_each(:labels)))",
        {"labels": canonical_json(labels), "ladder": ladder, "since": since},
    )
    return [group for (group,) in rows]


def _annul(
    db: Database,
    groups: Sequence[int],
    what: str,
    subject: str,
    *,
    why: str,
    ladder: str | None = None,
    since: float | None = None,
) -> Annulled:
    """Annul groups with an entry of the record, and forget all that was computed from them."""
    among = "(SELECT value FROM json_each(:groups))"
    values: dict[str, Any] = {"groups": canonical_json(groups), "now": time.time()}
    rows = db.execute(f"SELECT id FROM matches WHERE status = 'done' AND group_id IN {among}", values).fetchall()
    matches = [id for (id,) in rows]
    values["number"] = note(db, NewEntry(what, subject, ladder=ladder, since=since, why=why, matches=matches))
    db.execute(
        f"UPDATE matches SET status = 'annulled', annulled = :number WHERE status = 'done' AND group_id IN {among}",
        values,
    )
    dropped = db.execute(
        f"UPDATE matches SET status = 'dropped' WHERE status IN ('scheduled', 'unplayable') AND group_id IN {among}",
        values,
    ).rowcount
    db.execute(
        "UPDATE groups SET dropped = coalesce(dropped, :now),"
        f" absent = coalesce(absent, {NEXT_LEG.format(ladder='groups.ladder')})"
        f" WHERE id IN {among}",
        values,
    )
    rows = db.execute(f"SELECT DISTINCT ladder FROM groups WHERE id IN {among} ORDER BY ladder", values).fetchall()
    ladders = tuple(id for (id,) in rows)
    for id in ladders:
        db.execute("UPDATE ladders SET folded = 0, settled = 0, hash = NULL, rated_by = '[]' WHERE id = ?", [id])
        for table in ("history", "ratings", "settled"):
            db.execute(f"DELETE FROM {table} WHERE ladder = ?", [id])
    return Annulled(correction(db, values["number"]), ladders, dropped=int(dropped))
