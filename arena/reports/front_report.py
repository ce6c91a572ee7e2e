"""What there is in a home: ladders, what runs now, new versions, the latest matches."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.reports.base import Report
from arena.reports.leaderboard_report import centre
from arena.reports.matches_report import ListedMatch, latest_list
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_NEWEST = 10
"""Versions, and matches, that are listed."""


class LadderProgress(Report):
    """How far a ladder is."""

    done: int
    to_play: int
    """Of a run that ends earlier, about how many it still plays."""
    running: bool
    """Whether it is being played now."""
    rate: float | None
    """Matches a second of late; None unless it is being played."""
    seconds_left: float | None
    """At that rate, or until the run was told to end."""


class Leader(Report):
    """Who is first in a ladder."""

    bot: str
    rating: float
    """As on the leaderboard."""
    title: str | None


class ListedLadder(Report):
    """A ladder in the list of all."""

    ladder: str
    game: str
    players: int
    options: Mapping[str, Any]
    limits: Mapping[str, float]
    progress: LadderProgress
    bots: int
    """Number of versions on its leaderboard."""
    leader: Leader | None
    last_played: float | None
    """Seconds since 1970."""


class NewVersion(Report):
    """A version that was entered."""

    bot: str
    games: Sequence[str]
    created: float
    """Seconds since 1970."""
    title: str | None


class Front(Report):
    """What there is in a home."""

    ladders: Sequence[ListedLadder]
    """The one played last comes first."""
    newest: Sequence[NewVersion]
    """Submitted versions that are not retired, the newest first."""
    latest: Sequence[ListedMatch]
    """Matches of complete groups, the latest first."""


def front(db: Database, *, running: bool) -> Front:
    """List what there is; `running` says whether a process plays a ladder in the home."""
    with store.database.one_state(db):
        titles = store.journal.titles(db)
        listed = [_listed(db, ladder, titles, running=running) for ladder in store.ladders.all(db)]
        versions = [
            version for version in store.bots.versions(db) if version.origin == "submitted" and version.retired is None
        ]
        newest = sorted(versions, key=lambda version: -version.created)[:_NEWEST]
        return Front(
            ladders=listed,
            newest=[
                NewVersion(
                    bot=version.label, games=version.games, created=version.created, title=titles.get(version.name)
                )
                for version in newest
            ],
            latest=latest_list(db, _NEWEST),
        )


def ladder_progress(db: Database, ladder: store.Ladder, *, running: bool) -> LadderProgress:
    """Tell how far a ladder is; `running` says whether a process plays a ladder in the home.

    What a run was given, a number of matches or a time, bounds what there is to play until it ends.
    """
    counts = store.ladders.counts(db, ladder)
    run = store.watching.current_run(db) if running else None
    plays = ladder.id == (run.ladder if run is not None else store.ladders.all(db)[0].id)
    runs = running and counts.scheduled > 0 and plays
    rate = store.watching.speed(db, ladder) if runs else None
    to_play, seconds = counts.scheduled, None
    if runs and run is not None and run.matches is not None:
        to_play = min(to_play, max(0, run.matches - counts.done))
    if rate is not None:
        seconds = to_play / rate
        if run is not None and run.until is not None:
            remaining = max(0.0, run.until - time.time())
            # more is planned while there is time
            seconds = remaining if run.matches is None else min(seconds, remaining)
            to_play = round(rate * seconds)
    return LadderProgress(done=counts.done, to_play=to_play, running=runs, rate=rate, seconds_left=seconds)


def _listed(db: Database, ladder: store.Ladder, titles: Mapping[str, str], *, running: bool) -> ListedLadder:
    rows = store.ratings.provisional(db, ladder) or store.ratings.leaderboard(db, ladder)
    middle = centre(rows, store.ladders.founders(db, ladder))
    leader = rows and Leader(bot=rows[0].label, rating=rows[0].shown - middle, title=titles.get(rows[0].name))
    return ListedLadder(
        ladder=ladder.id,
        game=ladder.key.game,
        players=ladder.key.seats,
        options=ladder.key.options,
        limits=ladder.key.limits,
        progress=ladder_progress(db, ladder, running=running),
        bots=len(rows),
        leader=leader or None,
        last_played=ladder.last_played,
    )
