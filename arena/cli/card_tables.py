"""Tables of a bot's card in one ladder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table

from arena import replay
from arena.reports.bot_card import BotInLadder, SeatCard, VersionCard
from arena.reports.words import limits, milliseconds_text, percent, why
from arena.terminal.output import progress, table
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_BUCKET = "a fifth"
"""How much too large p50 and p99 can be: `ladder.store.times.EDGES`."""


def complete_home(home: Path) -> None:
    """Bring what cards are made from up to date, with progress, if nothing hinders that.

    A ladder that runs does so by itself; a home that cannot be written stays as it is. Cards say what they lack.
    """
    with suppress(store.StoreError), store.database.exclusive(home), store.open(home, checkpoints=True) as db:
        complete_sums(db)


def complete_sums(db: Database) -> None:
    """Bring what cards are made from up to date, with progress."""
    if store.cards.lacking(db):
        with progress("cards of bots", "steps") as report:
            store.cards.complete(db, replay.times_of, report)


def in_ladder(label: str, card: BotInLadder) -> Iterator[RenderableType]:
    """Yield the tables of a bot's card in one ladder, with the lines that explain them."""
    (row,) = [version for version in card.versions if version.bot == card.bot]
    yield f"\n{card.game}, {card.players} players (ladder {card.ladder})"
    if card.bot != label:
        yield f"{label} has no rated match in it; of {card.bot}:"
    yield f"rank {row.rank} of {card.bots}, rating {row.rating:z.2f}, points {_with_unit(percent(row.points))}"
    if card.unrated:
        yield f"done and not rated yet, so that only times include them: {card.unrated:,} of the ladder's matches"
    if card.unsummed:
        yield f"rated and not in points, by opponent and by seat yet: {card.unsummed:,} of the ladder's matches"
    yield ""
    yield _versions(card)
    if card.opponents:
        yield "\npoints from each opponent, in how many groups of matches on the same dice"
        yield _opponents(card)
    if card.seats:
        yield "\nby seat"
        yield _seats(card)
    if any(version.times for version in card.versions):
        yield f"\ntime per decision ({limits(card)})"
        yield _times(card)
        yield "where several decisions shared a frame, each counts an equal share of its time;"
        yield f"half took at most p50, 99 % at most p99; both are too large by {_BUCKET} at most"
    if card.worth_a_look:
        yield "\nworth a look first"
        yield _notable(card)


def _with_unit(points: str) -> str:
    return points if points == "–" else f"{points} %"


def _versions(card: BotInLadder) -> Table:
    columns = ["rank", "rating", "points %", "matches", *_results(card), "forfeits"]
    rows = table("version", *columns, right=columns)
    for version in card.versions:
        numbers = [f"{version.rank}", f"{version.rating:z.2f}", percent(version.points), f"{version.matches:,}"]
        rows.add_row(version.bot, *numbers, *_counts(card, version), f"{version.forfeits:,}")
    return rows


def _results(card: BotInLadder) -> list[str]:
    return ["wins", "ties", "losses"] if card.players == 2 else ["wins", "mean place"]


def _counts(card: BotInLadder, counts: VersionCard | SeatCard) -> list[str]:
    if card.players == 2:
        return [f"{count:,}" for count in (counts.wins, counts.ties, counts.losses)]
    return [f"{counts.wins:,}", f"{counts.mean_rank:.2f}"]


def _opponents(card: BotInLadder) -> Table:
    rows = table("opponent", "rating", "points %", "groups", right=["rating", "points %", "groups"])
    for opponent in card.opponents:
        rows.add_row(opponent.bot, f"{opponent.rating:z.2f}", percent(opponent.points), f"{opponent.points.groups:,}")
    return rows


def _seats(card: BotInLadder) -> Table:
    columns = ["seat", "points %", "matches", *_results(card)]
    rows = table(*columns, right=columns)
    for seat in card.seats:
        rows.add_row(str(seat.seat), percent(seat.points), f"{seat.matches:,}", *_counts(card, seat))
    return rows


def _times(card: BotInLadder) -> Table:
    columns = ["decisions", "p50", "p99", "longest"]
    rows = table("version", *columns, right=columns)
    for version in card.versions:
        if (times := version.times) is not None:
            spans = map(milliseconds_text, (times.p50_ms, times.p99_ms, times.max_ms))
            rows.add_row(version.bot, f"{times.decisions:,}", *spans)
    return rows


def _notable(card: BotInLadder) -> Table:
    rows = table("match", "why", "seat", "place", "score", right=["seat", "place", "score"])
    for match in card.worth_a_look:
        rows.add_row(match.id, why(match), str(match.seat), str(match.rank + 1), str(match.score))
    return rows
