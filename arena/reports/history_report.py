"""How the ratings of a ladder moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.reports.base import Report
from arena.reports.leaderboard_report import centre
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_POINTS = 120
"""Places of the schedule at which ratings are told."""


class RatingPoint(Report):
    """A rating after so many matches of the ladder."""

    matches: int
    mu: float
    """Above the zero of ratings as it is now."""
    sigma: float


class BotHistory(Report):
    """How the rating of a version moved."""

    bot: str
    points: Sequence[RatingPoint]


class RatingHistory(Report):
    """How ratings moved with the matches of a ladder that were rated."""

    matches: int
    bots: Sequence[BotHistory]
    """Those of the leaderboard, in its order."""


def rating_history(db: Database, ladder: store.Ladder) -> RatingHistory:
    """Tell how the ratings of all bots on the leaderboard moved."""
    points: defaultdict[str, list[RatingPoint]] = defaultdict(list)
    end = 0
    with store.database.one_state(db):
        rows = store.ratings.leaderboard(db, ladder)
        history = store.watching.history(db, ladder, _POINTS, len(rows))
        middle = centre(rows, store.ladders.founders(db, ladder))
    for end, ratings in history:
        for label, (mu, sigma) in ratings.items():
            points[label].append(RatingPoint(matches=end, mu=mu - middle, sigma=sigma))
    for row in rows:  # the rating of one that plays no more stays
        points[row.label].append(RatingPoint(matches=end, mu=row.mu - middle, sigma=row.sigma))
    return RatingHistory(matches=end, bots=[BotHistory(bot=row.label, points=points[row.label]) for row in rows])
