"""The columns of the leaderboard, for terminal, page and export; JSON has every field of a `RankedBot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from arena.reports.leaderboard_report import Leaderboard, RankedBot
from arena.reports.words import called, percent

Value: TypeAlias = float | str | None


class Zero(NamedTuple):
    """The values that are shown as 0: means over the bots that the ladder began with."""

    mu: float
    settled: float


class Exported(NamedTuple):
    """A value that an export has beside what is stored."""

    value: Callable[[RankedBot, Zero], Value]
    meaning: str


class Column(NamedTuple):
    """One column. All its functions are given a bot and the zero of ratings."""

    name: str
    """Its heading on a terminal, and the word by which an address sorts."""
    heading: str
    """Its heading on the page."""
    value: Callable[[RankedBot, Zero], Value]
    """What the column is sorted by; None if nothing is known."""
    text: Callable[[RankedBot, Zero], str]
    exported: Mapping[str, Exported] = {}
    """By name of the exported column."""
    is_rising: bool = False
    """Whether the least value comes first."""
    is_detail: bool = False
    """Whether only `--details` and the page show it."""


def _of_points(end: str) -> Callable[[RankedBot, Zero], Value]:
    return lambda bot, _: None if bot.points is None else getattr(bot.points, end)


def _bot_text(bot: RankedBot, _: Zero) -> str:
    """Return the label, behind the name for people if the bot has one, and why the bot is not in the field, if so."""
    name = called(bot.bot, bot.title)
    return name if bot.status == "current" else f"{name} ({bot.status})"


def _points_text(bot: RankedBot, _: Zero) -> str:
    """Return the points or, while they tell nothing, between which places the bot may stand."""
    return percent(bot.points) if bot.places is None else "#{}–{}".format(*bot.places)


def _settled(bot: RankedBot, zero: Zero) -> float | None:
    return None if bot.settled is None else bot.settled.mu - zero.settled


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+z.2f}"


COLUMNS = (
    Column(
        "rank",
        "Rank",
        lambda bot, _: bot.rank,
        lambda bot, _: f"{bot.rank}" if bot.sure else f"~{bot.rank}",
        {"rank": Exported(lambda bot, _: bot.rank, "Place on the leaderboard; the best bot has 1")},
        is_rising=True,
    ),
    Column("bot", "Bot", lambda bot, _: bot.bot, _bot_text, is_rising=True),
    Column(
        "rating",
        "Rating",
        lambda bot, _: bot.rating,
        lambda bot, _: f"{bot.rating:z.2f}",
        {"rating": Exported(lambda bot, _: bot.rating, "`shown` above the zero of ratings, as tables show it")},
    ),
    Column(
        "mu",
        "mu",
        lambda bot, _: bot.mu,
        lambda bot, zero: _signed(bot.mu - zero.mu),
        {"relative_mu": Exported(lambda bot, zero: bot.mu - zero.mu, "`mu` above the zero of ratings")},
        is_detail=True,
    ),
    Column(
        "sigma",
        "sigma",
        lambda bot, _: bot.sigma,
        lambda bot, _: f"{bot.sigma:.2f}",
        is_rising=True,
        is_detail=True,
    ),
    Column(
        "settled",
        "Settled",
        _settled,
        lambda bot, zero: _signed(_settled(bot, zero)),
        {"relative_settled": Exported(_settled, "Settled rating above the zero of ratings")},
        is_detail=True,
    ),
    Column(
        "points",
        "Points %",
        _of_points("mean"),
        _points_text,
        {
            "points": Exported(_of_points("mean"), "Share of the points, 0 to 1"),
            "points_low": Exported(_of_points("low"), "Lower end of its 95 % interval"),
            "points_high": Exported(_of_points("high"), "Upper end of its 95 % interval"),
            "groups": Exported(_of_points("groups"), "Number of complete groups that the points follow from"),
        },
    ),
    Column("matches", "Matches", lambda bot, _: bot.matches, lambda bot, _: f"{bot.matches:,}"),
    Column("forfeits", "Forfeits", lambda bot, _: bot.forfeits, lambda bot, _: str(bot.forfeits)),
)
"""In the order in which they are shown."""
BY_NAME = {column.name: column for column in COLUMNS}
"""The columns by their name."""


def zero_of(board: Leaderboard) -> Zero:
    """Return the zero of the bots that a leaderboard shows."""
    best = next(iter(shown_bots(board)), None)  # provisional bots have a mean of their own
    return Zero(board.centre if best is None else best.shown - best.rating, board.settled_centre)


def shown_bots(board: Leaderboard) -> Sequence[RankedBot]:
    """Return the rows of a leaderboard: the provisional ones while some matches that are done are not rated."""
    return board.provisional or board.bots
