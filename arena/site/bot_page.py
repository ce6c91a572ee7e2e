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
            banned=banned and banned.told,
            reasons=sorted({reason for each in card.faults for reason in each.forfeits}),
            limits={each.ladder: limits(each) for each in card.ladders},
            times={each.ladder: _times(each) for each in card.ladders},
            plots={each.ladder: _history(db, each) for each in card.ladders},
            lines=plots.PLOT_LINES,
            titles=store.journal.titles(db),
            events="/events",
        )
    )


def _times(card: BotInLadder) -> Markup:
    """Draw how long the version that a card is of took for its decisions."""
    (own,) = [version for version in card.versions if version.bot == card.bot]
    return plots.histogram(own.times.buckets if own.times else (), 1000 * card.limits["decision"])


def _history(db: Database, card: BotInLadder) -> Markup:
    """Draw how the ratings of the newest versions of a bot moved in a ladder."""
    ladder = store.ladders.find(db, card.ladder)
    assert ladder is not None, "a card of a ladder that is not there"
    history = rating_history(db, ladder)
    own = {version.bot for version in card.versions[-plots.PLOT_LINES :]}
    history.bots = [each for each in history.bots if each.bot in own]
    return plots.rating_plot(history)
