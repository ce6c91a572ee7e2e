"""What a running ladder shows: how fast it goes, the latest matches, and how ratings moved."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ladder.schedule import canonical_json, line_up
from ladder.store import locks
from ladder.store.database import LOCK
from ladder.store.records import Ladder
from ladder.trueskill_ratings import NEW, Rating

if TYPE_CHECKING:
    from sqlite_utils import Database

RECENT_RESULTS = 2_000
"""Matches, the newest ones, from which it is seen how fast a ladder goes, and which are the latest. They are read at
every look."""
FEW_RESULTS = 10
"""Matches from which it is seen how fast a slow ladder goes."""
_RECENT = 60.0
"""Seconds before the last result that say how fast a ladder goes, at most."""
LISTED_MATCHES = 500
"""Rows of the history that are read at once. What is found does not depend on it."""


_HISTORY_READ = 60_000
"""Rows of the history that a plot reads at most, in a fifth of a second; with very many bots it has fewer places."""


class LatestMatch(NamedTuple):
    """A finished match of which nothing of the group is left to play; `seats` are rank, score and forfeit by seat."""

    id: str
    ladder: str
    line_up: tuple[str, ...]
    seats: tuple[tuple[int, int, str | None], ...]
    finished: float


class CurrentRun(NamedTuple):
    """What a run that is going on said when it began: which ladder it plays, and when it ends whatever is left."""

    ladder: str
    until: float | None = None
    """Seconds since 1970."""
    matches: int | None = None
    """Number of finished matches that the ladder then has."""


def announce(home: Path, run: CurrentRun) -> None:
    """Tell those who watch a home of a run, which must hold `exclusive`; it is forgotten when the run ends."""
    with suppress(OSError):  # a full disk, on which playing may still be possible
        locks.say_of_the_run(home / LOCK, canonical_json(run))


def current_run(db: Database) -> CurrentRun | None:
    """Return what the run that goes on in the home of a database has said of itself, if anything."""
    *_, file = db.execute("PRAGMA database_list").fetchone()
    try:
        return CurrentRun(*json.loads(locks.said_of_the_run(Path(file).with_name(LOCK)) or ""))
    except (ValueError, TypeError):
        return None


def marks(db: Database) -> dict[str, str]:
    """Return for each ladder, by id, a text that changes with everything that is shown of it."""
    rows = db.execute(
        "SELECT id, last_played, folded, settled, summed, hash, (SELECT max(id) FROM corrections),"
        " (SELECT max(seq) FROM matches WHERE ladder = ladders.id AND status = 'scheduled') FROM ladders"
    )
    return {ladder: " ".join(map(str, mark)) for ladder, *mark in rows}


def latest_matches(db: Database, most: int) -> list[LatestMatch]:
    """Return the matches of all ladders that were finished last, if nothing of their group is left to play."""
    recent = f"(SELECT match FROM replays ORDER BY rowid DESC LIMIT {RECENT_RESULTS})"
    newest = f"{recent} r CROSS JOIN matches m ON m.id = r.match"
    return _complete(db, newest, "m.status = 'done' AND", [], most)


def latest_of(db: Database, ladder: Ladder, most: int) -> list[LatestMatch]:
    """Return the last matches in the schedule of a ladder that are done, if nothing of their group is left to play."""
    where = "m.ladder = ? AND m.status = 'done' AND"
    return _complete(db, "matches m", where, [ladder.id], most, "ORDER BY m.seq DESC")


def _complete(
    db: Database, source: str, where: str, values: Sequence[object], most: int, order: str = ""
) -> list[LatestMatch]:
    rows = db.execute(
        f"SELECT m.id, m.ladder, g.bots, m.rotation, m.finished FROM {source} JOIN groups g ON g.id = m.group_id"
        f" WHERE {where} NOT EXISTS (SELECT 1 FROM matches WHERE group_id = g.id"
        f" AND status IN ('scheduled', 'unplayable')) {order} LIMIT ?",
        [*values, most],
    ).fetchall()
    return [
        LatestMatch(match, ladder_id, line_up(bots, rotation), _seats(db, match), finished)
        for match, ladder_id, bots, rotation, finished in rows
    ]


def _seats(db: Database, match: str) -> tuple[tuple[int, int, str | None], ...]:
    rows = db.execute("SELECT rank, score, forfeit FROM seats WHERE match = ? ORDER BY seat", [match])
    return tuple((rank, int(score), forfeit) for rank, score, forfeit in rows)


def speed(db: Database, ladder: Ladder) -> float | None:
    """Return how many matches a second a ladder finished of late; None if that cannot be told.

    Matches are stored together, so those of the first moment are not counted: it is not known how long they took.
    """
    finished = [
        moment
        for (moment,) in db.execute(
            "SELECT m.finished FROM (SELECT match FROM replays ORDER BY rowid DESC LIMIT ?) r"
            " CROSS JOIN matches m ON m.id = r.match WHERE m.ladder = ? AND m.finished IS NOT NULL",
            [RECENT_RESULTS, ladder.id],
        )
    ]
    last = max(finished, default=0.0)
    late = [moment for moment in finished if moment > last - _RECENT]
    if len(late) < FEW_RESULTS:  # of a slow ladder more time is looked at
        late = sorted(finished)[-FEW_RESULTS:]
    first = min(late, default=last)
    return sum(moment > first for moment in late) / (last - first) if last > first else None


def history(db: Database, ladder: Ladder, points: int, bots: int) -> list[tuple[int, Mapping[str, Rating]]]:
    """Return ratings at about so many evenly spaced places of the schedule: how many matches were rated, and ratings.

    There are fewer places where `_HISTORY_READ` rows are not enough for all. At each place only those bots have a
    rating that were in one of the last few matches; `bots` says how many to expect. The
    whole history would take seconds to read.
    """
    (end,) = db.execute("SELECT folded FROM ladders WHERE id = ?", [ladder.id]).fetchone()
    window = max(1, 4 * bots // ladder.key.seats)
    points = max(1, min(points, _HISTORY_READ // window))
    places = sorted({max(1, end * number // points) for number in range(1, points + 1)}) if end else []
    query = "SELECT seq FROM matches WHERE ladder = ? AND status = 'annulled' ORDER BY seq"
    annulled = [seq for (seq,) in db.execute(query, [ladder.id])]
    return [
        (place - bisect_left(annulled, place), _ratings(db, ladder, max(0, place - window), place)) for place in places
    ]


def _ratings(db: Database, ladder: Ladder, begin: int, end: int) -> dict[str, Rating]:
    """Return the ratings that bots had after the last of their matches in a part of the schedule."""
    rows = db.execute(
        "SELECT ratings FROM history WHERE ladder = ? AND seq >= ? AND seq < ? ORDER BY seq", [ladder.id, begin, end]
    )
    return {label: Rating(*rating) for (text,) in rows for label, rating in json.loads(text).items()}


def ratings_before(db: Database, match_id: str, labels: Collection[str]) -> dict[str, Rating]:
    """Return the ratings that bots of a rated match had before it."""
    ladder, seq = db.execute("SELECT ladder, seq FROM matches WHERE id = ?", [match_id]).fetchone()
    ratings: dict[str, Rating] = {}
    while seq > 0 and len(ratings) < len({*labels}):
        begin = max(0, seq - LISTED_MATCHES)
        rows = db.execute(
            "SELECT ratings FROM history WHERE ladder = ? AND seq >= ? AND seq < ? ORDER BY seq DESC",
            [ladder, begin, seq],
        )
        for (text,) in rows:
            for label, rating in json.loads(text).items():
                if label in labels:
                    ratings.setdefault(label, Rating(*rating))
        seq = begin
    return {label: ratings.get(label, NEW) for label in labels}
