"""What the results of a ladder say beyond live ratings: the settled ratings, and how certain everything is."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ladder import settled
from ladder.intervals import Evidence, GroupResult
from ladder.schedule import line_up
from ladder.shares import Shares
from ladder.store.cards import shares
from ladder.store.database import one_state, write
from ladder.store.ratings import note_arithmetic, rated_by
from ladder.store.records import Ladder
from ladder.store.sums import GATHERED, gap, unstored
from ladder.trueskill_ratings import Rating, arithmetic

if TYPE_CHECKING:
    from sqlite_utils import Database


FEW_GROUPS = 10 * GATHERED
"""Matches that are added to the stored sums sooner than all groups are read. What is told is the same both ways."""
_SUMMED = 3
"""Most seats with which every two pairs of a group have a bot in common."""
_IS_RATED = "m.ladder = ? AND m.status = 'done' AND m.seq < (SELECT folded FROM ladders WHERE id = m.ladder)"
"""Whether a match of a ladder is rated, as SQL."""


class Settled(NamedTuple):
    """Settled ratings by label, mu relative to the mean of all, and the number of matches that they cover."""

    ratings: dict[str, Rating]
    matches: int


def of_ladder(db: Database, ladder: Ladder) -> Evidence:
    """Return all groups whose matches are all rated."""
    seats = ladder.key.seats
    alike = db.execute(  # most groups repeat a result: the database counts them in half the time
        "SELECT g.bots, placed, count(*) FROM (SELECT m.group_id, count(*) AS ranks,"
        " group_concat((m.rotation * ? + s.seat) || ' ' || s.rank) AS placed"
        f" FROM matches m JOIN seats s ON s.match = m.id WHERE {_IS_RATED} GROUP BY m.group_id)"
        " JOIN groups g ON g.id = group_id WHERE ranks = ? GROUP BY g.bots, placed",
        [seats, ladder.id, seats * seats],
    )
    groups = Counter[GroupResult]()
    for bots, placed, count in alike:
        groups[line_up(bots, 0), _ranks(placed, seats)] += count
    return Evidence(groups)


def shares_now(db: Database, ladder: Ladder, labels: Iterable[str]) -> Shares:
    """Return what bots took from each other, with all that the points of these versions need.

    It is the same as `evidence` has. Where few rated matches are missing in the sums that are stored, it is made from
    these, which is much faster; but not with four seats and more, where pairs of a group without a common bot go
    together, too, and are in no sum.
    """
    begin, end = gap(db, ladder)
    if ladder.key.seats > _SUMMED or end - begin > FEW_GROUPS:
        return of_ladder(db, ladder)
    return shares(db, ladder, labels, unstored(db, ladder))


def _ranks(placed: str, seats: int) -> tuple[tuple[int, ...], ...]:
    """Return ranks by rotation and seat, from texts "rotation * seats + seat rank" in any order between commas."""
    ranks = [rank for _, rank in sorted(tuple(map(int, place.split())) for place in placed.split(","))]
    return tuple(tuple(ranks[at : at + seats]) for at in range(0, len(ranks), seats))


def settle(db: Database, ladder: Ladder, report: settled.SettlingProgress = lambda _passes, _most: None) -> None:
    """Fit the settled ratings to every rated match, and store them with the number of matches.

    Does nothing if they already cover all matches and were fitted by the same arithmetic. Reading comes first and
    writing last, so that a running ladder does not wait.
    """
    rated = _rated(db, ladder)
    if rated == find_settled(db, ladder).matches and (not rated or settled_by() in rated_by(db, ladder)):
        return
    with one_state(db):
        (end,) = db.execute("SELECT folded FROM ladders WHERE id = ?", [ladder.id]).fetchone()
        annulled = _annulled(db, ladder)
        outcomes = Counter(settled.outcome(bots, ranks) for _, bots, ranks in rated_matches(db, ladder))
    ratings = settled.fit(outcomes, ladder.draw_probability, report)
    with write(db):
        if _rated(db, ladder, end) != outcomes.total() or _annulled(db, ladder) != annulled:
            return  # meanwhile an unplayable match was played, or one annulled: whoever did that settles, too
        db.execute("DELETE FROM settled WHERE ladder = ?", [ladder.id])
        db.conn.executemany(
            "INSERT INTO settled (ladder, version, mu, sigma) VALUES (?, ?, ?, ?)",
            [(ladder.id, label, *rating) for label, rating in ratings.items()],
        )
        db.execute("UPDATE ladders SET settled = ? WHERE id = ?", [outcomes.total(), ladder.id])
        note_arithmetic(db, ladder, settled_by())


def _rated(db: Database, ladder: Ladder, end: int = sys.maxsize) -> int:
    """Count the rated matches before this seq: all that the ratings have passed, but for the few that do not count."""
    (rated,) = db.execute(
        "SELECT reach - (SELECT count(*) FROM matches WHERE ladder = :ladder"
        " AND status IN ('scheduled', 'unplayable', 'dropped', 'annulled') AND seq < reach)"
        " FROM (SELECT min(folded, :end) AS reach FROM ladders WHERE id = :ladder)",
        {"ladder": ladder.id, "end": end},
    ).fetchone()
    return int(rated)


def _annulled(db: Database, ladder: Ladder) -> int:
    """Count the matches that were annulled."""
    (annulled,) = db.execute(
        "SELECT count(*) FROM matches WHERE ladder = ? AND status = 'annulled'", [ladder.id]
    ).fetchone()
    return int(annulled)


def settled_by() -> str:
    """Name the arithmetic and the method that compute settled ratings here."""
    return f"{arithmetic()}, {settled.METHOD}"


def find_settled(db: Database, ladder: Ladder) -> Settled:
    """Return the stored settled ratings, which may cover fewer matches than are rated now."""
    rows = db.execute("SELECT version, mu, sigma FROM settled WHERE ladder = ? ORDER BY version", [ladder.id])
    ratings = {label: Rating(mu, sigma) for label, mu, sigma in rows}
    (matches,) = db.execute("SELECT settled FROM ladders WHERE id = ?", [ladder.id]).fetchone()
    return Settled(ratings, matches)


def rated_matches(db: Database, ladder: Ladder) -> Iterator[tuple[int, tuple[str, ...], tuple[int, ...]]]:
    """Yield for every rated match, in schedule order, its group, its line-up and its ranks by seat."""
    rows = db.execute(
        "SELECT m.seq, m.group_id, m.rotation, g.bots, s.rank FROM matches m JOIN groups g ON g.id = m.group_id"
        f" JOIN seats s ON s.match = m.id WHERE {_IS_RATED} ORDER BY m.seq, s.seat",
        [ladder.id],
    )
    for (_, group, rotation, bots), seats in groupby(rows, key=lambda row: row[:4]):
        yield group, line_up(bots, rotation), tuple(rank for *_, rank in seats)
