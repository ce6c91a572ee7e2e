"""Records results of matches, and reads what is known of a match."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ladder.schedule import canonical_json, line_up
from ladder.store import bots, ladders
from ladder.store.database import NotFound, write
from ladder.store.journal import correction
from ladder.store.records import (
    ATTEMPTS_UNTIL_UNPLAYABLE,
    Faults,
    FinishedMatch,
    Ladder,
    Match,
    MatchLine,
    Pace,
    SeatOutcome,
    VoidMatch,
)
from ladder.store.times import NewTimes, last_replay, store_times
from ladder.store.watching import RECENT_RESULTS
from ladder.trueskill_ratings import Rating

if TYPE_CHECKING:
    from sqlite_utils import Database

_PACED = 200
"""Number of matches that say how long a bot thinks, for forecasts. Any would do that is no handful and quickly read."""


def record(db: Database, ladder: Ladder, results: Sequence[FinishedMatch | VoidMatch]) -> int:
    """Store results in one transaction; return how many matches became done.

    A match that is done, dropped or annulled stays as it is, so a result may arrive twice. Other matches stay scheduled
    until they are done, or void for the third time. Raises NotFound for a match that the ladder does not have, and
    stores nothing.
    """
    now = time.time()
    new = _New([], [], NewTimes())
    with write(db):
        before = last_replay(db)
        newly_done = sum(_record(db, ladder, result, now, new) for result in results)
        new.save(db, before)
        db.execute("UPDATE ladders SET last_played = ?, hash = NULL WHERE id = ?", [now, ladder.id])
    return newly_done


class _New(NamedTuple):
    """What a transaction adds: rows of tables, which are faster to write all at once, and times."""

    replays: list[tuple[str, bytes]]
    seats: list[tuple[object, ...]]
    times: NewTimes

    def save(self, db: Database, before: int) -> None:
        db.conn.executemany("INSERT INTO replays (match, replay) VALUES (?, ?)", self.replays)
        db.conn.executemany(
            "INSERT INTO seats"
            " (match, seat, version, rank, score, forfeit, evidence, decisions, think_total, think_max)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self.seats,
        )
        store_times(db, self.times, before)


def _record(db: Database, ladder: Ladder, result: FinishedMatch | VoidMatch, now: float, new: _New) -> bool:
    row = db.conn.execute(
        "SELECT m.status, g.bots, m.rotation, m.seq, m.voids FROM matches m JOIN groups g ON g.id = m.group_id"
        " WHERE m.id = ? AND m.ladder = ?",
        [result.id, ladder.id],
    ).fetchone()
    if row is None:
        raise NotFound(f"ladder {ladder.id} has no match {result.id!r}")
    status, bots, rotation, seq, voids = row
    if status in ("done", "dropped", "annulled"):
        return False
    if isinstance(result, VoidMatch):
        _void(db, result, json.loads(voids))
        return False
    _finish(db, ladder, result, line_up(bots, rotation), voids, now, new)
    if status == "unplayable":  # ratings may have skipped it already: then all are computed anew
        db.execute("UPDATE ladders SET folded = 0, settled = 0 WHERE id = ? AND folded > ?", [ladder.id, seq])
        db.execute(
            "DELETE FROM settled WHERE ladder = (SELECT id FROM ladders WHERE id = ? AND settled = 0)", [ladder.id]
        )
    return True


def _void(db: Database, result: VoidMatch, voids: list[str]) -> None:
    text = canonical_json([*voids, result.reason])
    status = "unplayable" if len(voids) + 1 >= ATTEMPTS_UNTIL_UNPLAYABLE else "scheduled"
    values = [text, status, record_digest(result.id, text), result.id]
    db.execute("UPDATE matches SET voids = ?, status = ?, digest = ? WHERE id = ?", values)


def _finish(
    db: Database, ladder: Ladder, result: FinishedMatch, bots: Sequence[str], voids: str, now: float, new: _New
) -> None:
    seats = [(label, *_packed(outcome)) for label, outcome in zip(bots, result.seats, strict=True)]
    digests = sha256(result.choices).digest(), sha256(result.replay).digest()
    whole = record_digest(result.id, voids, now, *digests, seats)
    db.conn.execute(
        "UPDATE matches SET status = 'done', finished = ?, choices_digest = ?, replay_digest = ?, digest = ?"
        " WHERE id = ?",
        [now, *digests, whole, result.id],
    )
    new.replays.append((result.id, result.replay))
    new.seats.extend([(result.id, number, *seat) for number, seat in enumerate(seats)])
    new.times.add(ladder.id, bots, result.times_ms)


def record_digest(
    match_id: str,
    voids: str,
    finished: float | None = None,
    choices: bytes | None = None,
    replay: bytes | None = None,
    seats: Sequence[tuple[object, ...]] = (),
) -> bytes:
    """Return the SHA-256 over all that is stored of a match, as canonical JSON.

    Whatever no rule determines is protected by this digest alone. `choices` and `replay` are themselves digests,
    `seats` the columns of the table from the version on.
    """
    hashes = [digest and digest.hex() for digest in (choices, replay)]
    return sha256(canonical_json([match_id, voids, finished, *hashes, seats]).encode()).digest()


def _packed(outcome: SeatOutcome) -> tuple[object, ...]:
    evidence = None if outcome.evidence is None else canonical_json(outcome.evidence)
    thought = float(outcome.think_total), float(outcome.think_max)  # as the database returns them
    return (outcome.rank, str(outcome.score), outcome.forfeit, evidence, outcome.decisions, *thought)


def find(db: Database, prefix: str) -> Match:
    """Return everything known of the match whose id begins with `prefix`.

    Raises NotFound unless there is exactly one.
    """
    row = next(
        db.query(
            "SELECT m.*, g.leg, g.round, g.bots, r.replay, h.ratings,"
            " CASE WHEN EXISTS (SELECT 1 FROM matches WHERE group_id = g.id AND status IN ('scheduled', 'unplayable'))"
            " THEN NULL ELSE g.seed END AS seed"
            " FROM matches m JOIN groups g ON g.id = m.group_id LEFT JOIN replays r ON r.match = m.id"
            " LEFT JOIN history h ON h.ladder = m.ladder AND h.seq = m.seq WHERE m.id = ?",
            [full_id(db, prefix)],
        )
    )
    ladder = ladders.find(db, row["ladder"])
    assert ladder is not None, "a match without a ladder, against its foreign key"
    ratings = json.loads(row["ratings"] or "null")
    columns: dict[str, Any] = {
        "ladder": ladder,
        "line_up": line_up(row["bots"], row["rotation"]),
        "seats": _outcomes(db, row["id"]),
        "voids": tuple(json.loads(row["voids"])),
        "ratings": ratings and {label: Rating(*rating) for label, rating in ratings.items()},
        "annulled": row["annulled"] and correction(db, row["annulled"]),
    }
    return Match(**{name: row[name] for name in Match._fields if name not in columns}, **columns)


def of_bot(db: Database, name: str, limit: int, game: str | None = None) -> tuple[MatchLine, ...]:
    """Return matches of a version that count, forfeited ones first, then the latest; of one game if it is named.

    A label ("greedy@2") means that version, a name ("greedy") the newest one. Raises NotFound.
    """
    label = bots.find(db, name).label
    forfeited = _lines(db, "seats s", "s.forfeit IS NOT NULL", label, game, limit)
    rest = limit - len(forfeited)
    recent = f"(SELECT match FROM replays ORDER BY rowid DESC LIMIT {RECENT_RESULTS})"
    newest = f"{recent} r CROSS JOIN seats s ON s.match = r.match"
    latest = _lines(db, newest, "s.forfeit IS NULL", label, game, rest)
    if len(latest) < rest:  # it plays rarely: all of its matches are looked at, which takes longer
        latest = _lines(db, "seats s", "s.forfeit IS NULL", label, game, rest)
    return (*forfeited, *latest)


def _lines(db: Database, seats: str, which: str, label: str, game: str | None, limit: int) -> tuple[MatchLine, ...]:
    """Return the latest matches of a version among these seats."""
    chosen = (
        f"SELECT s.match, s.seat, l.game FROM {seats}"
        " JOIN matches m ON m.id = s.match JOIN ladders l ON l.id = m.ladder"
        f" WHERE s.version = ? AND {which} AND m.status = 'done' AND l.game = coalesce(?, l.game)"
        " ORDER BY m.finished DESC, m.seq DESC LIMIT ?"
    )
    rows = db.execute(
        "SELECT m.id, m.ladder, c.game, g.bots, m.rotation, s.seat, s.rank, s.score, s.forfeit, m.finished"
        f" FROM ({chosen}) c JOIN seats s ON s.match = c.match AND s.seat = c.seat JOIN matches m ON m.id = c.match"
        " JOIN groups g ON g.id = m.group_id ORDER BY m.finished DESC, m.seq DESC",
        [label, game, limit],
    )
    return tuple(
        MatchLine(id, ladder, game, line_up(bots, rotation), seat, rank, int(score), forfeit, finished)
        for id, ladder, game, bots, rotation, seat, rank, score, forfeit, finished in rows
    )


def faults(db: Database, name: str) -> tuple[Faults, ...]:
    """Return the faults of every version of a bot, from the first to the newest, by its name alone ("greedy")."""
    labels = [version.label for version in bots.versions(db, name)]
    void = _voids(db)
    return tuple(_faults(db, label, void[label]) for label in labels)


def _faults(db: Database, label: str, voids: int) -> Faults:
    summed = "SELECT sum(matches) FROM seat_sums WHERE ladder = l.id AND version = :label"
    early = (
        "SELECT count(*) FROM matches m JOIN seats s ON s.match = m.id AND s.version = :label"
        " WHERE m.ladder = l.id AND m.status = 'done' AND m.seq >= l.summed"
    )
    (matches,) = db.execute(
        f"SELECT coalesce(sum(coalesce(({summed}), 0) + ({early})), 0) FROM ladders l", {"label": label}
    ).fetchone()
    by_reason = db.execute(
        "SELECT s.forfeit, count(*) FROM seats s JOIN matches m ON m.id = s.match AND m.status = 'done'"
        " WHERE s.version = ? AND s.forfeit IS NOT NULL GROUP BY s.forfeit",
        [label],
    )
    (annulled,) = db.execute(
        "SELECT count(*) FROM matches m CROSS JOIN seats s ON s.match = m.id AND s.version = ?"
        " WHERE m.annulled IS NOT NULL",  # CROSS: from the few annulled ones, not from all of the version
        [label],
    ).fetchone()
    return Faults(label, matches, dict(by_reason.fetchall()), voids, annulled)


def _voids(db: Database) -> Counter[str]:
    """Count void attempts by the versions in their line-ups."""
    counts: Counter[str] = Counter()
    for labels, voids in db.execute(
        "SELECT g.bots, json_array_length(m.voids) FROM matches m JOIN groups g ON g.id = m.group_id"
        " WHERE m.voids != '[]'"
    ):
        for label in json.loads(labels):
            counts[label] += voids
    return counts


def full_id(db: Database, prefix: str) -> str:
    """Return the only id with this prefix. Raises NotFound.

    Ids have the characters a-z and 2-7, so "~" sorts after all of them.
    """
    lower = prefix.lower()
    like = "SELECT id FROM matches WHERE id >= ? AND id < ? ORDER BY id LIMIT 4"
    ids = [id for (id,) in db.execute(like, [lower, lower + "~"])] if lower.isascii() else []
    if not ids:
        raise NotFound(f"no match has an id that begins with {prefix!r}")
    if len(ids) > 1:
        some = ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")
        raise NotFound(f"the ids of several matches begin with {prefix!r}: {some}")
    return str(ids[0])


def _outcomes(db: Database, match_id: str) -> tuple[SeatOutcome, ...]:
    columns = ", ".join(SeatOutcome._fields)
    rows = db.query(f"SELECT {columns} FROM seats WHERE match = ? ORDER BY seat", [match_id])
    return tuple(_unpacked(row) for row in rows)


def _unpacked(row: dict[str, Any]) -> SeatOutcome:
    evidence = None if row["evidence"] is None else json.loads(row["evidence"])
    return SeatOutcome(**row | {"score": int(row["score"]), "evidence": evidence})


def pace(db: Database, ladder: Ladder, label: str) -> Pace | None:
    """Return how long a bot thinks in matches like those of a ladder; None if it has played none.

    It is computed from `_PACED` of its matches of the same game and number of seats, in any ladder.
    """
    key = ladder.key
    (matches, seconds, decisions) = db.execute(
        "SELECT count(*), sum(think_total), sum(decisions) FROM (SELECT s.think_total, s.decisions"
        " FROM seats s JOIN matches m ON m.id = s.match JOIN ladders l ON l.id = m.ladder"
        " WHERE s.version = ? AND m.status = 'done' AND l.game = ? AND l.seats = ? LIMIT ?)",
        [label, key.game, key.seats, _PACED],
    ).fetchone()
    return Pace(seconds / matches, decisions / matches) if matches else None
