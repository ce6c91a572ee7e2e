"""The `arena show` command."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena import games
from arena.cli.fault_card import fault_card
from arena.cli.options import GameName, home_option, json_option
from arena.cli.output import draw, last_line, print_json, printable, table
from arena.games.rules import Game, remark

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.submission import Program
    from ladder.store import Chance, Faults, Match, MatchLine, Version


@click.command()
@click.argument("what", metavar="MATCH|BOT")
@click.option("-n", "--matches", type=click.IntRange(1), metavar="N", default=10, help="Matches of a bot to list.")
@click.option("-g", "--game", type=GameName(), metavar="GAME", help="Only matches of it.")
@home_option
@json_option
def show(what: str, matches: int, game: Game[Any] | None, home: Path, as_json: bool) -> None:
    """Show what happened in a match, or how a bot did.

    MATCH is the id of a match or the beginning of it. Forfeits are shown with their evidence. Of a bot's matches,
    those that it forfeited are listed first, then the latest.

    \b
    Example:
      arena show mybot
    """
    from arena import submission, suggest
    from ladder import store

    with store.open_read(home) as db:
        names = {version.name for version in store.versions(db)}
        if what.partition("@")[0] in names:
            version = store.version(db, what)
            lines = store.matches_of(db, version.label, matches, game.name if game else None)
            return _show_bot(db, version, lines, matches, as_json)
        if what in submission.built_ins():
            return _show_built_in(submission.built_ins()[what], as_json)
        try:
            found = store.match(db, what)
        except store.NotFound as error:
            meant = suggest.meant(what, names | submission.built_ins().keys())
            raise store.NotFound(f"{error}, and no bot is called so{meant}") from error
        return print_json(match_data(found)) if as_json else _show_match(found)


def _show_built_in(program: Program, as_json: bool) -> None:
    """Print a built-in bot that is not yet in the database."""
    if as_json:
        return print_json({"bot": {"name": program.name, "origin": "built-in", "games": program.games}, "matches": []})
    return click.echo(f"{program.name}: built-in, plays {', '.join(program.games)}; no matches yet")


def _show_bot(db: Database, version: Version, lines: Sequence[MatchLine], limit: int, as_json: bool) -> None:
    from ladder import store

    faults, chances = store.faults(db, version.name), store.chances_of(db, version.label)
    if as_json:
        data = {"bot": version._asdict(), "faults": [each._asdict() for each in faults]}
        data["chances"] = [chance._asdict() for chance in chances]
        return print_json(data | {"matches": [line._asdict() for line in lines]})
    retired = ", retired" if version.retired is not None else ""
    click.echo(f"{version.label}: {version.origin}{retired}, plays {', '.join(version.games)}")
    click.echo(f"entered {when(version.created)}, run as {printable(' '.join(version.run))}")
    click.echo(f"sha256 {version.digest}" + (f", built {version.built}" if version.built else ""))
    for chance in chances:
        click.echo(_second_chance(version, chance))
    draw(_faults(faults))
    if not lines:
        return click.echo("no matches yet")
    more = "; more with -n" if len(lines) == limit else ""
    click.echo(f"{len(lines):,} matches, forfeited ones first, then the latest{more}:")
    return draw(_matches(lines))


def _second_chance(version: Version, chance: Chance) -> str:
    where = f"{chance.game}, {chance.seats} players (ladder {chance.ladder})"
    said = f"second chance used in {where}, {when(chance.used)}: {last_line(chance.fault)}"
    if chance.forgiven is not None:
        return f"{said}; given back {when(chance.forgiven)}"
    return f"{said}; it plays one match at a time there: arena ladder … --forgive {version.label} gives it back"


def _faults(faults: Sequence[Faults]) -> Any:
    """Return a table of matches and faults by version, with a column for each cause that occurred."""
    reasons = sorted({reason for each in faults for reason in each.forfeits})
    columns = ["matches", *reasons, "void attempts"]
    rows = table("version", *columns, right=columns)
    for each in faults:
        counts = [each.matches, *[each.forfeits.get(reason, 0) for reason in reasons], each.voids]
        rows.add_row(each.label, *[f"{count:,}" for count in counts])
    return rows


def _matches(lines: Sequence[MatchLine]) -> Any:
    rows = table("match", "game", "bots by seat", "seat", "place", "score", "forfeit", right=["seat", "place", "score"])
    for line in lines:
        lineup = ", ".join(line.line_up)
        place, forfeit = str(line.rank + 1), line.forfeit or ""
        rows.add_row(line.id, line.game, lineup, str(line.seat), place, str(line.score), forfeit)
    return rows


def match_data(match: Match) -> dict[str, Any]:
    """Return a match as plain data, without its packed replay."""
    data = match._asdict() | {"ladder": match.ladder.id, "game": match.ladder.key.game, "players": len(match.line_up)}
    data["seats"] = [outcome._asdict() | {"bot": bot} for bot, outcome in zip(match.line_up, match.seats, strict=False)]
    data["ratings"] = {label: {"mu": mu, "sigma": sigma} for label, (mu, sigma) in (match.ratings or {}).items()}
    data["conditions"] = _conditions(match)
    del data["replay"]
    for name in ("seed", "choices_digest", "replay_digest"):
        data[name] = data[name].hex() if data[name] is not None else None
    return data


def _conditions(match: Match) -> Mapping[str, Any]:
    """Return the sandbox's grade and how busy the machine was; empty if there is no record that can be read."""
    from arena.replay.record import Unreadable, unpack

    try:
        return unpack(match.replay).conditions if match.replay is not None else {}
    except Unreadable:
        return {}


def _show_match(match: Match) -> None:
    key = match.ladder.key
    click.echo(f"match {match.id}: {key.game}, ladder {match.ladder.id}, {match.status}")
    click.echo(f"leg {match.leg}, round {match.round}, rotation {match.rotation}, {when(match.finished)}")
    if conditions := _conditions(match):
        click.echo(f"sandbox grade {conditions['sandbox']}")
        if (busy := conditions["pressure"]) is not None:
            waited = "something waited for a processor, which no bot pays for"
            click.echo(f"the machine was busy {busy:.0f} % of the time ({waited})")
    for reason in match.voids:
        click.echo(f"was void: {last_line(reason)}")
    click.echo(f"seed {match.seed.hex() if match.seed else 'shown when every match of its group is done'}")
    if not match.seats:
        return click.echo(f"line-up {', '.join(match.line_up)}")
    draw(_seats(match))
    fair = [seat for seat in match.seats if seat.forfeit is None]
    scores = [seat.score for seat in fair]
    if key.game in games.names() and (why := remark(games.game(key.game), [seat.rank for seat in fair], scores)):
        click.echo(why)
    for seat, outcome in enumerate(match.seats):
        if outcome.forfeit is not None:
            click.echo("\n".join(fault_card(match, seat)))
    return None


def _seats(match: Match) -> Any:
    numbers = ("seat", "place", "score", "decisions", "thought", "longest")
    rows = table("seat", "bot", "place", "score", "decisions", "thought", "longest", "forfeit", right=numbers)
    for seat, (bot, outcome) in enumerate(zip(match.line_up, match.seats, strict=True)):
        times = [f"{outcome.think_total:.3f} s", f"{outcome.think_max * 1000:.1f} ms"]
        cells = [str(outcome.rank + 1), str(outcome.score), str(outcome.decisions), *times, outcome.forfeit or ""]
        rows.add_row(str(seat), bot, *cells)
    return rows


def when(seconds: float | None) -> str:
    """Return a point in time, in seconds since the epoch, as text in the local time zone; None: not finished."""
    if seconds is None:
        return "not finished"
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
