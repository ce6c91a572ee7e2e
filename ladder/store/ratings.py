"""The standings of a ladder: results applied to ratings in schedule order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ladder.schedule import canonical_json
from ladder.store.database import write
from ladder.store.locks import let_others_in
from ladder.store.records import Ladder, Row
from ladder.trueskill_ratings import NEW, Rating, arithmetic, rate

if TYPE_CHECKING:
    from sqlite_utils import Database

RATED_AT_ONCE = 1000
"""Matches rated in one transaction: other writers wait a second at most. No rating depends on it."""


RatingProgress: TypeAlias = Callable[[int, int], None]
"""Callback for progress: how many matches are rated, of how many."""


class Standing(NamedTuple):
    """What a version has reached in a ladder; `rank_sum` adds ranks that count from 0."""

    rating: Rating = NEW
    matches: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    rank_sum: int = 0
    forfeits: int = 0


RatedMatch: TypeAlias = tuple[int, str, dict[str, Standing]]
"""A match that was rated: seq, id, and the standings of its versions after it."""


class Placed(NamedTuple):
    """A seat of a finished match, with what standings need."""

    version: str
    rank: int
    forfeit: bool


def apply(db: Database, ladder: Ladder, report: RatingProgress = lambda _count, _most: None) -> int:
    """Rate, in schedule order, every match before the first that is still to be played; return how many.

    Each is rated exactly once, whatever order results arrive in and wherever a process stops: the ratings and the
    position reached are stored in one transaction. Matches that do not count are skipped, but counted. `report` is
    called with how many are done, of how many, whenever `RATED_AT_ONCE` more are.
    """
    rated = 0
    while some := _apply_some(db, ladder):
        rated += some
        if some == RATED_AT_ONCE:
            report(*rateable_range(db, ladder))
            let_others_in()
    return rated


def leaderboard(db: Database, ladder: Ladder) -> list[Row]:
    """Return every version that was rated, the highest shown rating first."""
    return _rows(db, standings(db, ladder))


def provisional(db: Database, ladder: Ladder) -> list[Row]:
    """Return the leaderboard as if every finished match were rated; later ones are added in the order they arrived.

    This is for watching only: no history and no hash contains it, and it differs from run to run of the same matches.
    Empty if all finished matches are rated.
    """
    begin, _ = rateable_range(db, ladder)
    now = standings(db, ladder) if begin else {}  # with begin 0 stored standings are outdated: all is rated anew
    early = list(_finished(db, ladder, begin, sys.maxsize, _ARRIVAL))
    for _, _, seats in early:
        now |= _rated(now, seats, ladder.draw_probability)
    return _rows(db, now) if early else []


def waiting(db: Database, ladder: Ladder) -> list[str]:
    """Return the labels of the bots that were ever in the field, have no rated match and are not retired."""
    fields = db.execute("SELECT DISTINCT field FROM legs WHERE ladder = ?", [ladder.id])
    left = {label for (field,) in fields for label in json.loads(field)}
    rated = db.execute("SELECT version FROM ratings WHERE ladder = ?", [ladder.id])
    retired = db.execute("SELECT label FROM versions WHERE retired IS NOT NULL")
    return sorted(left - {label for rows in (rated, retired) for (label,) in rows})


def _rows(db: Database, standings: Mapping[str, Standing]) -> list[Row]:
    versions = db.query(
        "SELECT label, name, number, retired,"
        " number = (SELECT max(number) FROM versions WHERE name = v.name) AS current"
        " FROM versions v ORDER BY name, number"
    )
    pairs = [(version, standings[version["label"]]) for version in versions if version["label"] in standings]
    best_first = sorted(pairs, key=lambda pair: -pair[1].rating.shown)
    return [_row(place, version, standing) for place, (version, standing) in enumerate(best_first, 1)]


def ladder_hash(db: Database, ladder: Ladder) -> str:
    """Return the SHA-256, in hexadecimal, over all that counts in schedule order, the ratings, and what was annulled.

    Equal luck and equal choices give an equal hash, on any machine and in any order of finishing: no times, evidence or
    anything else that depends on the machine is part of it.
    """
    digest = sha256()
    for line in _signed(db, ladder):
        digest.update(canonical_json(line).encode() + b"\n")
    return digest.hexdigest()


def keep_hash(db: Database, ladder: Ladder) -> str:
    """Return the ladder hash, which is stored until something is recorded or rated."""
    with write(db):
        if (stored := kept_hash(db, ladder)) is None:
            stored = ladder_hash(db, ladder)
            db.execute("UPDATE ladders SET hash = ? WHERE id = ?", [stored, ladder.id])
    return stored


def kept_hash(db: Database, ladder: Ladder) -> str | None:
    """Return the stored ladder hash; None if there is none."""
    stored: str | None = db.execute("SELECT hash FROM ladders WHERE id = ?", [ladder.id]).fetchone()[0]
    return stored


def _apply_some(db: Database, ladder: Ladder) -> int:
    with write(db):
        begin, end = rateable_range(db, ladder)
        end = min(end, begin + RATED_AT_ONCE)
        if begin < end:
            _apply_between(db, ladder, begin, end)
    return end - begin


def _apply_between(db: Database, ladder: Ladder, begin: int, end: int) -> None:
    if begin == 0:  # at the start, or after an unplayable match was played after all
        _forget(db, ladder)
    now, history = standings(db, ladder), list[tuple[str, int, str]]()
    for seq, _, after in stored_ratings(db, ladder, begin, end, now):
        ratings = canonical_json({version: standing.rating for version, standing in after.items()})
        history.append((ladder.id, seq, ratings))
    db.conn.executemany("INSERT INTO history (ladder, seq, ratings) VALUES (?, ?, ?)", history)
    _save(db, ladder, now)
    db.execute("UPDATE ladders SET folded = ?, hash = NULL WHERE id = ?", [end, ladder.id])
    note_arithmetic(db, ladder)


def stored_ratings(
    db: Database, ladder: Ladder, begin: int, end: int, now: dict[str, Standing]
) -> Iterator[RatedMatch]:
    """Yield what rating the matches from seq `begin` to before `end` gives; stores nothing, but updates `now`."""
    for seq, match, seats in _finished(db, ladder, begin, end):
        after = _rated(now, seats, ladder.draw_probability)
        now |= after
        yield seq, match, after


def rated_by(db: Database, ladder: Ladder) -> list[str]:
    """Return the arithmetics that computed the ratings, see `arithmetic`."""
    (text,) = db.execute("SELECT rated_by FROM ladders WHERE id = ?", [ladder.id]).fetchone()
    arithmetics: list[str] = json.loads(text)
    return arithmetics


def note_arithmetic(db: Database, ladder: Ladder, by: str | None = None) -> None:
    """Store the arithmetic that computes ratings here."""
    by = canonical_json(sorted({*rated_by(db, ladder), by or arithmetic()}))
    db.execute("UPDATE ladders SET rated_by = ? WHERE id = ?", [by, ladder.id])


def rateable_range(db: Database, ladder: Ladder) -> tuple[int, int]:
    """Return the first seq that is not rated, and the first that cannot be rated now."""
    row = db.execute(
        "SELECT folded, coalesce((SELECT min(seq) FROM matches WHERE ladder = ladders.id AND status = 'scheduled'),"
        " (SELECT max(seq) + 1 FROM matches WHERE ladder = ladders.id), 0) FROM ladders WHERE id = ?",
        [ladder.id],
    ).fetchone()
    begin, end = row
    return begin, end


def _forget(db: Database, ladder: Ladder) -> None:
    for table in ("history", "ratings"):
        db.execute(f"DELETE FROM {table} WHERE ladder = ?", [ladder.id])


_SCHEDULE, _ARRIVAL = "m.seq", "(SELECT rowid FROM replays WHERE match = m.id)"
"""Orders of matches, as SQL."""


def _finished(
    db: Database, ladder: Ladder, begin: int, end: int, order: str = _SCHEDULE
) -> Iterator[tuple[int, str, list[Placed]]]:
    rows = db.execute(
        "SELECT m.seq, m.id, s.version, s.rank, s.forfeit IS NOT NULL FROM matches m JOIN seats s ON s.match = m.id"
        f" WHERE m.ladder = ? AND m.status = 'done' AND m.seq >= ? AND m.seq < ? ORDER BY {order}, s.seat",
        [ladder.id, begin, end],
    )
    for (seq, match), seats in groupby(rows, key=itemgetter(0, 1)):
        yield seq, match, [Placed(*seat[2:]) for seat in seats]


def _rated(standings: Mapping[str, Standing], seats: Sequence[Placed], draw_probability: float) -> dict[str, Standing]:
    """Return the standings of a match's versions after it."""
    before = [standings.get(seat.version, Standing()) for seat in seats]
    ranks = [seat.rank for seat in seats]
    ratings = rate([standing.rating for standing in before], ranks, draw_probability)
    shared = ranks.count(0) > 1
    return {
        seat.version: _after(standing, rating, seat, shared)
        for standing, rating, seat in zip(before, ratings, seats, strict=True)
    }


def _after(before: Standing, rating: Rating, seat: Placed, shared: bool) -> Standing:
    first = seat.rank == 0
    return Standing(
        rating,
        before.matches + 1,
        before.wins + (first and not shared),
        before.ties + (first and shared),
        before.losses + (not first),
        before.rank_sum + seat.rank,
        before.forfeits + seat.forfeit,
    )


def standings(db: Database, ladder: Ladder) -> dict[str, Standing]:
    """Return the stored standing of every version, by label."""
    rows = db.execute(
        "SELECT version, mu, sigma, matches, wins, ties, losses, rank_sum, forfeits FROM ratings"
        " WHERE ladder = ? ORDER BY version",
        [ladder.id],
    )
    return {version: Standing(Rating(mu, sigma), *tallies) for version, mu, sigma, *tallies in rows}


def _save(db: Database, ladder: Ladder, standings: Mapping[str, Standing]) -> None:
    db.conn.executemany(
        "INSERT OR REPLACE INTO ratings"
        " (ladder, version, mu, sigma, matches, wins, ties, losses, rank_sum, forfeits)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(ladder.id, version, *standing.rating, *standing[1:]) for version, standing in standings.items()],
    )


def _row(place: int, version: Mapping[str, Any], standing: Standing) -> Row:
    return Row(
        place=place,
        label=version["label"],
        name=version["name"],
        number=version["number"],
        shown=standing.rating.shown,
        mu=standing.rating.mu,
        sigma=standing.rating.sigma,
        mean_rank=1 + standing.rank_sum / standing.matches,
        current=bool(version["current"]),
        retired=version["retired"] is not None,
        **{name: getattr(standing, name) for name in ("matches", "wins", "ties", "losses", "forfeits")},
    )


def _signed(db: Database, ladder: Ladder) -> Iterator[object]:
    """Yield the lines that the ladder hash covers."""
    yield [ladder.id, *ladder.key[:3], ladder.key.rules_version]
    for _, match in _matches_of(db, ladder, "done"):
        yield match
    for version, standing in standings(db, ladder).items():
        yield [version, *standing.rating]
    for why, match in _matches_of(db, ladder, "annulled"):
        yield ["annulled", why, *match]


def _matches_of(db: Database, ladder: Ladder, status: str) -> Iterator[tuple[str | None, list[object]]]:
    """Yield for each match of this status why it is annulled, if it is, and what the ladder hash covers of it."""
    rows = db.execute(
        "SELECT m.seq, c.why, m.id, hex(g.seed), hex(m.choices_digest), s.version, v.digest, s.rank, s.score, s.forfeit"
        " FROM matches m JOIN groups g ON g.id = m.group_id JOIN seats s ON s.match = m.id"
        " JOIN versions v ON v.label = s.version LEFT JOIN corrections c ON c.id = m.annulled"
        " WHERE m.ladder = ? AND m.status = ? ORDER BY m.seq, s.seat",
        [ladder.id, status],
    )
    for (_, why, *match), seats in groupby(rows, key=lambda row: row[:5]):
        yield why, [*match, *(seat[5:] for seat in seats)]
