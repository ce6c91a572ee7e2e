"""The `arena show` command."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena import roster
from arena.cli import card_tables, match_log
from arena.cli.card_tables import in_ladder
from arena.replay import unrated_store
from arena.reports import bot_card
from arena.reports.bot_card import BotCard
from arena.reports.bots_report import BotFaults, BotMatch, BuiltInLine, SecondChance, built_in_card
from arena.reports.fault_card import fault_card
from arena.reports.match_card import MatchCard, match_card, placed_beyond_scores
from arena.reports.words import called, game_title
from arena.terminal.options import GameName, Whole, home_option, json_option, page_file
from arena.terminal.output import draw, last_line, print_json, printable, table
from arena.terminal.typed import as_typed, typed_as
from arena.terminal.written_files import Folder, write_file
from ladder import store
from ladder.store import Match
from ladder.store.journal import Correction

if TYPE_CHECKING:
    from sqlite_utils import Database

PAGE_LINES = page_file("bot")
"""Type of an option that is a file for the page of a bot."""
_LISTED = 10
"""Matches of a bot in --json, unless -n says how many."""


@click.command()
@click.argument("what", metavar="MATCH|BOT", required=False)
@click.option("-n", "--matches", type=click.IntRange(1), metavar="N", help="Also list so many matches of a bot.")
@click.option("-g", "--game", type=GameName(), metavar="GAME", help="Only ladders and matches of it.")
@click.option("--log", "seat", type=Whole(0), metavar="SEAT", help="What the bot in this seat of the match printed.")
@click.option("--html", "page", type=PAGE_LINES, metavar="FILE", help="Write the bot as a page that any browser shows.")
@click.option("--html-all", "pages", type=Folder(), metavar="DIR", help="Write a page for each bot into this folder.")
@home_option
@json_option
def show(
    what: str | None,
    matches: int | None,
    game: str | None,
    seat: int | None,
    page: Path | None,
    pages: Path | None,
    home: Path,
    as_json: bool,
) -> None:
    """Show what happened in a match, or how a bot did.

    MATCH is the id of a match or the beginning of it. Forfeits are shown with their evidence. --log shows what a bot
    printed, once nothing is left to play of what was planned with the match; of an unrated match (`last` or unrated-7)
    at once.

    BOT is a version, or a name for the newest one. You see what it reached in each ladder, against whom, from which
    seat, how long it thought, and which of its matches are worth a look. -n lists others, those that it forfeited
    first, then the latest. With --html that is a page, as on the site, which needs nothing else and can be sent to
    people; --html-all writes one for each bot.

    \b
    Example:
      arena show mybot
      arena show mybot --html mybot.html
    """
    if page is not None or pages is not None:
        if matches or game or seat is not None or as_json or (what is None) == (page is not None) or (page and pages):
            raise click.UsageError("say BOT --html FILE, or --html-all DIR without a bot, and no other option")
        if pages is not None:
            return _write_pages(home, pages)
        assert what is not None
        assert page is not None
        return _write_page(home, what, page)
    if what is None:
        raise click.UsageError("Missing argument 'MATCH|BOT'")
    if seat is not None:
        return _show_log(what, seat, home, as_json=as_json)
    with store.open_read(home) as db:
        names = {version.name for version in store.bots.versions(db)}
        version = store.bots.find(db, what) if what.partition("@")[0] in names else None
        lacks = version is not None and store.cards.lacking(db)
    if lacks:
        card_tables.complete_home(home)
    with store.open_read(home) as db:
        if version is not None:
            most = matches if matches is not None else _LISTED * as_json
            card = bot_card.bot_card(db, version, most, game)
            banned = store.journal.bans(db).get(version.name)
            return print_json(card) if as_json else _show_bot(card, game, banned)
        if (own := built_in_card(what)) is not None:
            return print_json(own) if as_json else _show_built_in(own.bot)

        try:
            played_match = store.matches.find(db, what)
        except store.NotFound as error:
            if unrated_store.is_name(what):
                raise store.NotFound(f"{what} is an unrated match: `arena replay {what}` shows it") from error
            meant = roster.closest_name(db, what, entered=False)
            raise store.NotFound(f"{error}, and no bot in {str(home)!r} is called so{meant}") from error
        report = match_card(played_match, store.journal.titles(db), store.logs.seats(db, played_match))
        return print_json(report) if as_json else _show_match(played_match, report)


def _write_page(home: Path, what: str, file: Path) -> None:
    """Write the page of a bot, and print where it is."""
    _complete(home)
    with store.open_read(home) as db:
        names = {version.name for version in store.bots.versions(db)}
        if what.partition("@")[0] not in names:
            meant = roster.closest_name(db, what, entered=True)
            raise store.NotFound(f"no bot in {str(home)!r} is called {printable(what)!r}{meant}")
        _write_bot(db, what, file)
    click.echo(str(file))


def _write_pages(home: Path, folder: Path) -> None:
    """Write a page for each bot that was submitted or has played, and print how many."""
    _complete(home)
    with store.open_read(home) as db:
        rated_bots = {row.name for ladder in store.ladders.all(db) for row in store.ratings.leaderboard(db, ladder)}
        wanted = {version.name for version in store.bots.versions(db) if version.origin == "submitted"} | rated_bots
        files = {name: PAGE_LINES.convert(folder / f"{name}.html", None, None) for name in sorted(wanted)}
        for name, file in files.items():
            _write_bot(db, name, file)
    click.echo(f"{len(files):,} page{'s' * (len(files) != 1)} in {printable(str(folder))}")


def _write_bot(db: Database, name: str, file: Path) -> None:
    from arena.site.bot_file import bot_file  # imported here, since what makes pages is slow to load

    write_file(file, bot_file(db, store.bots.find(db, name).label).encode(errors="backslashreplace"))


def _complete(home: Path) -> None:
    """Bring what cards of bots need up to date. Raises StoreError if there is no home."""
    with store.open_read(home, must_exist=True) as db:
        lacks = store.cards.lacking(db)
    if lacks:
        card_tables.complete_home(home)


def _show_log(match: str, seat: int, home: Path, *, as_json: bool) -> None:
    read_log = match_log.of_unrated if unrated_store.is_name(match) else match_log.of_ladder
    log = read_log(home, match, seat)
    return print_json(log) if as_json else match_log.show_log(log)


def _show_built_in(bot: BuiltInLine) -> None:
    """Show a bot that no ladder of this home has seen."""
    click.echo(f"{bot.name}: built-in, plays {', '.join(bot.games)}; no matches yet")


def _show_bot(card: BotCard, game: str | None, banned: Correction | None) -> None:
    bot = card.bot
    label = f"{bot.name}@{bot.number}"
    retired = ", retired" if bot.retired is not None else ""
    click.echo(f"{called(label, bot.title)}: {bot.origin}{retired}, plays {', '.join(bot.games)}")
    if banned is not None:
        click.echo(f"banned {printable(banned.account)}")
    click.echo(f"entered {when(bot.created)}, run as {printable(' '.join(bot.run))}")
    click.echo(f"sha256 {bot.digest}" + (f", built {bot.built}" if bot.built else ""))
    for chance in card.chances:
        click.echo(as_typed(_second_chance(label, chance)))
    forfeited = (
        "and how many of them it forfeited" if any(fault.forfeits for fault in card.faults) else "none forfeited"
    )
    draw(f"\nfinished matches in all ladders, {forfeited}", _faults(card.faults))

    for ladder in card.ladders:
        draw(*in_ladder(label, ladder))
    if card.matches:
        draw(f"\n{len(card.matches):,} of its matches, forfeited ones first, then the latest", _matches(card.matches))
    elif not card.ladders:
        click.echo(as_typed(_nothing(card, label, game)))
    listed = [match.id for match in card.matches] + [
        match.id for ladder in card.ladders for match in ladder.worth_a_look
    ]
    if listed:
        click.echo(f"\nwhat happened in one of these matches: {typed_as('show', listed[0])}")


def _nothing(card: BotCard, label: str, game: str | None) -> str:
    """Say why there is no ladder to show."""
    if game is not None:
        return f"no version of it has a rated match of {game_title(game)}"
    if any(each.matches for each in card.faults if each.label == label):
        return f"none of its matches is rated yet: `arena show {label} -n 10` lists the latest"
    if any(fault.annulled for fault in card.faults if fault.label == label):
        return "all its matches were annulled: `arena log` says why"
    if card.bot.retired is not None:
        return "no matches"
    return f"no matches yet: `arena ladder --game {card.bot.games[0]}` plays them"


def _second_chance(label: str, chance: SecondChance) -> str:
    where = f"{chance.game}, {chance.seats} players (ladder {chance.ladder})"
    said = f"second chance used in {where}, {when(chance.used)}: {last_line(chance.fault)}"
    if chance.forgiven is not None:
        return f"{said}; given back {when(chance.forgiven)}"
    return f"{said}; it plays one match at a time there: `arena ladder … --forgive {label}` gives it back"


def _faults(faults: Sequence[BotFaults]) -> Any:
    """Return a table of matches and faults by version, with a column for each cause that occurred."""
    reasons = sorted({reason for fault in faults for reason in fault.forfeits})
    columns = ["matches", *reasons, "void", *["annulled"] * any(fault.annulled for fault in faults)]
    rows = table("version", *columns, right=columns)
    for fault in faults:
        counts = [fault.matches, *[fault.forfeits.get(reason, 0) for reason in reasons], fault.voids, fault.annulled]
        rows.add_row(fault.label, *[f"{count:,}" for count in counts[: len(columns)]])
    return rows


def _matches(lines: Sequence[BotMatch]) -> Any:
    rows = table("match", "game", "bots by seat", "seat", "place", "score", "forfeit", right=["seat", "place", "score"])
    for line in lines:
        lineup = ", ".join(line.line_up)
        place, forfeit = str(line.rank + 1), line.forfeit or ""
        rows.add_row(line.id, line.game, lineup, str(line.seat), place, str(line.score), forfeit)
    return rows


def _show_match(match: Match, card: MatchCard) -> None:
    click.echo(f"match {match.id}: {card.game}, ladder {card.ladder}, {match.status}")
    if match.annulled is not None:
        click.echo(f"it does not count: annulled {printable(match.annulled.account)}")
    click.echo(f"leg {match.leg}, round {match.round}, rotation {match.rotation}, {when(match.finished)}")
    if conditions := card.conditions:
        where = f", on {printable(conditions['host'])}" if "host" in conditions else ""
        click.echo(f"sandbox grade {conditions['sandbox']}{where}")
        if (busy := conditions["pressure"]) is not None:
            click.echo(f"the machine was busy {busy:.0f} % of the time: something waited for a processor")
    for reason in match.voids:
        click.echo(f"was void: {last_line(reason)}")
    click.echo(f"seed {card.seed or 'shown when every match of its group is done'}")
    if not match.seats:
        return click.echo(f"line-up {', '.join(called(bot, card.titles.get(bot)) for bot in match.line_up)}")
    draw(_seats(card))
    if why := placed_beyond_scores(card):
        click.echo(why)
    for seat, outcome in enumerate(match.seats):
        if outcome.forfeit is not None:
            click.echo("\n".join(fault_card(match, seat, program=typed_as())))
    for seat in card.logs:
        click.echo(f"what seat {seat} printed: {typed_as('show', match.id, '--log', seat)}")
    return None


def _seats(card: MatchCard) -> Any:
    numbers = ("seat", "place", "score", "answers", "thought", "longest")
    rows = table("seat", "bot", "place", "score", "answers", "thought", "longest", "forfeit", right=numbers)
    for seat, outcome in enumerate(card.seats):
        times = [f"{outcome.think_total:.3f} s", f"{outcome.think_max * 1000:.1f} ms"]
        cells = [str(outcome.rank + 1), str(outcome.score), str(outcome.decisions), *times, outcome.forfeit or ""]
        rows.add_row(str(seat), called(outcome.bot, card.titles.get(outcome.bot)), *cells)
    return rows


def when(seconds: float | None) -> str:
    """Return a point in time, in seconds since the epoch, as text in the local time zone; None: not finished."""
    if seconds is None:
        return "not finished"
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
