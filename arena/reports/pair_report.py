"""Two bots of a ladder, side by side, from what was played there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arena.reports.base import Report
from arena.reports.leaderboard_report import EstimateColumns
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.shares import Estimate as Interval


class Paired(Report):
    """What a ladder says of two of its bots."""

    ladder: str
    game: str
    players: int
    bot: str
    other: str
    points: EstimateColumns | None
    """What the bot took of the points from the other; None if they never met in a complete group."""
    lead: EstimateColumns | None
    """How far its share of the points is above the other's, against common opponents and each other."""
    above: float | None
    """Probability that it is better."""
    more_groups: int | None
    """About how many more groups with either would settle which is better, if the lead is what it seems to be.

    0 if it is settled; None if nothing can be told.
    """


def paired(db: Database, ladder: store.Ladder, bot: str, rival: str) -> Paired:
    """Compare two versions by their labels."""
    with store.database.one_state(db):
        everybody = [row.label for row in store.ratings.leaderboard(db, ladder)]  # leads go by common opponents, too
        shares = store.evidence.shares_now(db, ladder, everybody)
    points, lead = shares.head_to_head(bot, rival), shares.lead(bot, rival)
    return Paired(
        ladder=ladder.id,
        game=ladder.key.game,
        players=ladder.key.seats,
        bot=bot,
        other=rival,
        points=points and EstimateColumns(**points._asdict()),
        lead=lead and EstimateColumns(**lead._asdict()),
        above=shares.above(bot, rival),
        more_groups=lead and _more(lead),
    )


def _more(lead: Interval) -> int | None:
    """Return how many more groups would make the interval of a lead as narrow as the lead is large.

    An interval shrinks with the square root of the number of groups.
    """
    if abs(lead.mean) < 1e-9:
        return None
    half = (lead.high - lead.low) / 2
    return max(0, math.ceil(lead.groups * ((half / lead.mean) ** 2 - 1)))
