"""About how long what is to be played takes, from how long bots thought in matches of the same game."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

OURS = 40e-6
"""Seconds of a core that a decision costs the arena itself, roughly: see `arena bench`.

It measured 26 to 35 µs without the compiled core and 8 with it; where a forecast matters, bots think longer.
"""


NOTHING = store.records.Lacking(0, {})
"""What a leg lacks that is planned to its end."""


class Forecast(NamedTuple):
    """About how many seconds the matches take that are to be played, with so many workers."""

    matches: int
    seconds: float
    slowest: str
    """Label of the bot for which the workers wait longest."""
    slowest_seconds: float
    unknown: tuple[str, ...]
    """Labels of bots that have not played the game with so many seats yet; their time is not in the forecast."""


def forecast(
    db: Database, ladder: store.Ladder, workers: int, lacking: store.records.Lacking = NOTHING
) -> Forecast | None:
    """Return how long the scheduled matches and those of `lacking` take; None if nobody in them has played before.

    While a worker waits for one bot, the others of its matches rest: the thinking of all is added.
    """
    seats, load = ladder.key.seats, Counter(store.ladders.to_play(db, ladder))
    matches = load.total() // seats + lacking.groups * seats
    load.update({label: groups * seats for label, groups in lacking.by_bot.items() if groups})
    paces = {label: pace for label in load if (pace := store.matches.pace(db, ladder, label)) is not None}
    if not paces:
        return None
    lasts = {label: load[label] * pace.seconds / workers for label, pace in paces.items()}
    ours = OURS * sum(load[label] * pace.decisions for label, pace in paces.items()) / workers
    slowest = max(lasts, key=lasts.__getitem__)
    unknown = tuple(sorted(load.keys() - paces))
    return Forecast(matches, sum(lasts.values()) + ours, slowest, lasts[slowest], unknown)
