"""The bots of a data directory, and the card of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from arena import roster, submission
from arena.reports.base import Report

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database


class ListedBot(Report):
    """A bot in the list of all bots; a built-in stands for its newest version."""

    bot: str
    """Name of a built-in bot, or label of a version."""
    origin: str
    """"built-in" or "submitted"."""
    games: Sequence[str]
    """Names of the games that it plays."""
    about: str
    """What it says of itself in one sentence; often empty."""
    language: str
    """Language of its program; empty if it is not known."""
    retired: bool
    """Whether it is kept out of ladders."""
    only_named: Sequence[str]
    """Games that it thinks long about: it plays in their ladders only when it is named."""
    banned: bool
    """Whether an organiser took it out for good."""
    title: str | None
    """The name that the bot was given for people; None if it has none but its own."""


class Bots(Report):
    """All bots there are."""

    bots: Sequence[ListedBot]
    """Built-in bots first."""


class BotVersion(Report):
    """A version of a bot; times are seconds since 1970."""

    name: str
    """Name of the bot, without a version."""
    number: int
    """Number of the version."""
    digest: str
    """SHA-256 of its content."""
    games: Sequence[str]
    """Names of the games that it plays."""
    run: Sequence[str]
    """Command that starts it, in words."""
    origin: str
    """"built-in" or "submitted"."""
    created: float
    """When it was entered."""
    retired: float | None
    """When it was taken out of ladders; None if it was not."""
    built: str | None
    """Digest of what a build made of it; None if it runs as it was handed in."""
    packed: bool
    """Whether it came as an archive."""
    title: str | None
    """The name that the bot was given for people; None if it has none but its own."""


class BotFaults(Report):
    """How often a version forfeited, by reason, and in how many void attempts it played."""

    label: str
    """Label of the version."""
    matches: int
    """Number of its finished matches."""
    forfeits: Mapping[str, int]
    """Number of matches that it forfeited, by reason."""
    voids: int
    """Number of attempts with it that were void."""
    annulled: int
    """Number of its matches that were annulled; they are in none of the other numbers."""


class SecondChance(Report):
    """A second chance that a version used in a ladder; times are seconds since 1970."""

    ladder: str
    """Id of the ladder."""
    game: str
    """Name of the game."""
    seats: int
    """Number of seats of the ladder."""
    used: float
    """When it failed."""
    forgiven: float | None
    """When somebody gave it the chance back; None if nobody did."""
    fault: str
    """What it did, in a line."""


class BotMatch(Report):
    """A finished match as seen by one bot; `rank` is from 0."""

    id: str
    """Id of the match."""
    ladder: str
    """Id of the ladder."""
    game: str
    """Name of the game."""
    line_up: Sequence[str]
    """Labels of the bots by seat."""
    seat: int
    """Seat of the bot, from 0."""
    rank: int
    """Its place; 0 is the best."""
    score: int
    """Its score."""
    forfeit: str | None
    """Reason for which it forfeited; None if it did not."""
    finished: float
    """When the match ended, in seconds since 1970."""


class BuiltInLine(Report):
    """A built-in bot that has not played yet."""

    name: str
    """Name of the bot."""
    origin: str
    """"built-in"."""
    games: Sequence[str]
    """Names of the games that it plays."""


class BuiltInCard(Report):
    """The card of a built-in bot that has not played yet."""

    bot: BuiltInLine
    """What is known of it."""
    matches: Sequence[BotMatch] = ()
    """Always empty."""


class NewBot(Report):
    """A folder with a bot to begin with."""

    folder: str
    """Path of the folder."""
    name: str
    """Name in its `bot.toml`."""
    language: str
    """Language of its program."""
    missing: Sequence[str]
    """Programs that it is built or run with and this machine lacks."""
    next: Sequence[str]
    """Commands to go on with."""


def bots_list(db: Database, home: Path, game: str | None = None) -> Bots:
    """List all bots, or those that play a game."""
    listed = [ListedBot(**entry._asdict()) for entry in roster.listed(db, home)]
    return Bots(bots=[bot for bot in listed if game is None or game in bot.games])


def built_in_card(name: str) -> BuiltInCard | None:
    """Make the card of a built-in bot that has not played yet; None if the arena has none of this name."""
    program = submission.built_ins().get(name)
    if program is None:
        return None
    return BuiltInCard(bot=BuiltInLine(name=program.name, origin="built-in", games=program.games))
