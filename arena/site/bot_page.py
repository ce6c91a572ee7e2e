"""The page of a bot: how it did in each ladder, and what it can learn from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.reports.bot_card import BotInLadder, bot_card
from arena.reports.history_report import rating_history
from arena.reports.words import limits
from arena.site import plots
from arena.site.cache import Made
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from markupsafe import Markup
    from sqlite_utils import Database
    from starlette.requests import Request

_LISTED = 20
"""Matches that are listed."""


def page(db: Database, request: Request, _: bool) -> Made:
    """Make the page of a version or, by a bot's name alone, of its newest version."""
    version = store.bots.find(db, request.path_params["bot"])
    card = bot_card(db, version, _LISTED)
    banned = store.journal.bans(db).get(version.name)
    return Made(
        render(
            "bot.html",
            card=card,
            label=version.label,
            banned=banned and banned.account,
            reasons=sorted({reason for version in card.faults for reason in version.forfeits}),
            limits={ladder.ladder: limits(ladder) for ladder in card.ladders},
            times={ladder.ladder: _times(ladder) for ladder in card.ladders},
            plots={ladder.ladder: _history(db, ladder) for ladder in card.ladders},
            lines=plots.PLOT_LINES,
            titles=store.journal.titles(db),
            events="/events",
        )
    )


def _times(card: BotInLadder) -> Markup:
    """Draw how long the version that a card is of took for its decisions."""
    (newest,) = [version for version in card.versions if version.bot == card.bot]
    return plots.histogram(newest.times.buckets if newest.times else (), 1000 * card.limits["decision"])


def _history(db: Database, card: BotInLadder) -> Markup:
    """Draw how the ratings of the newest versions of a bot moved in a ladder."""
    ladder = store.ladders.find(db, card.ladder)
    assert ladder is not None, "a card of a ladder that is not there"
    history = rating_history(db, ladder)
    labels = {version.bot for version in card.versions[-plots.PLOT_LINES :]}
    history.bots = [bot for bot in history.bots if bot.bot in labels]
    return plots.rating_plot(history)
