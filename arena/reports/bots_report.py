"""The bots of a data directory, and the card of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from arena import roster
from arena.reports.base import Report
from arena.submission import Program

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database


class ListedBot(Report):
    """A bot in the list of all bots; a built-in stands for its newest version."""

    bot: str
    origin: str
    """"built-in" or "submitted"."""
    games: Sequence[str]
    about: str
    language: str
    retired: bool
    only_named: Sequence[str]
    """Games that it thinks long about: it plays in their ladders only when it is named."""
    banned: bool
    title: str | None
    """The name that the bot was given for people; None if it has none but its own."""


class Bots(Report):
    """All bots there are."""

    bots: Sequence[ListedBot]


class BotVersion(Report):
    """A version of a bot; times are seconds since 1970."""

    name: str
    number: int
    digest: str
    games: Sequence[str]
    run: Sequence[str]
    origin: str
    created: float
    retired: float | None
    built: str | None
    """Digest of what a build made of it; None if it runs as it was handed in."""
    packed: bool
    """Whether it came as an archive."""
    title: str | None
    """The name that the bot was given for people; None if it has none but its own."""


class BotFaults(Report):
    """How often a version forfeited, by reason, and in how many void attempts it played."""

    label: str
    matches: int
    forfeits: Mapping[str, int]
    voids: int
    annulled: int
    """Number of its matches that were annulled; they are in none of the other numbers."""


class SecondChance(Report):
    """A second chance that a version used in a ladder; times are seconds since 1970."""

    ladder: str
    game: str
    seats: int
    used: float
    forgiven: float | None
    fault: str


class BotMatch(Report):
    """A finished match as seen by one bot; `rank` is from 0."""

    id: str
    ladder: str
    game: str
    line_up: Sequence[str]
    seat: int
    rank: int
    score: int
    forfeit: str | None
    finished: float


class BuiltInLine(Report):
    """A built-in bot that has not played yet."""

    name: str
    origin: str
    games: Sequence[str]


class BuiltInCard(Report):
    """The card of a built-in bot that has not played yet."""

    bot: BuiltInLine
    matches: Sequence[BotMatch] = ()


class NewBot(Report):
    """A folder with a bot to begin with."""

    folder: str
    name: str
    language: str
    missing: Sequence[str]
    """Programs that it is built or run with and this machine lacks."""
    next: Sequence[str]
    """Commands to go on with."""


def bots_list(db: Database, home: Path, game: str | None = None) -> Bots:
    """List all bots, or those that play a game."""
    listed = [ListedBot(**entry._asdict()) for entry in roster.listed(db, home)]
    return Bots(bots=[bot for bot in listed if game is None or game in bot.games])


def built_in_card(program: Program) -> BuiltInCard:
    """Make the card of a built-in bot that has not played yet."""
    return BuiltInCard(bot=BuiltInLine(name=program.name, origin="built-in", games=program.games))
