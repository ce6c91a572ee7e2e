"""The page of two bots side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import games
from arena.reports.leaderboard_report import EstimateColumns
from arena.reports.pair_report import paired
from arena.reports.words import title
from arena.site.cache import Made
from arena.site.ladder_page import ladder_of
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request


def page(db: Database, request: Request, _: bool) -> Made:
    """Make the page: two bots of a ladder, those that are asked for or else the first of its leaderboard."""
    query = request.query_params
    ladders = [entry for entry in store.ladders.all(db) if entry.key.game in games.names()]
    ladder = ladder_of(db, query["ladder"]) if query.get("ladder") else next(iter(ladders), None)
    bots = [row.label for row in store.ratings.leaderboard(db, ladder)] if ladder else []
    wanted = [_label(bots, query[name]) for name in ("a", "b") if query.get(name)]
    wanted += [bot for bot in bots if bot not in wanted]
    pair = paired(db, ladder, *wanted[:2]) if ladder and len(bots) > 1 else None
    return Made(
        render(
            "compare.html",
            ladders={entry.id: title(games.game(entry.key.game), entry.key.seats) for entry in ladders},
            ladder=ladder,
            bots=bots,
            found=pair,
            lead=pair and pair.lead and _above_half(pair.lead),
            titles=store.journal.titles(db),
        )
    )


def _label(bots: list[str], name: str) -> str:
    """Return the label of a bot of a ladder; a name alone means its newest version there. Raises NotFound."""
    labels = [label for label in bots if name in (label, label.partition("@")[0])]
    if not labels:
        raise store.NotFound(
            f"no bot {name!r} has a rated match in this ladder: bots are {', '.join(bots) or 'none yet'}"
        )
    return max(labels, key=lambda label: int(label.partition("@")[2]))


def _above_half(lead: EstimateColumns) -> EstimateColumns:
    """Return a lead as a share to draw: one half, plus half of the lead."""
    low, mean, high = (min(max(0.5 + value / 2, 0.0), 1.0) for value in (lead.low, lead.mean, lead.high))
    return EstimateColumns(mean=mean, low=low, high=high, groups=lead.groups)
