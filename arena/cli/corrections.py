"""The commands `arena annul`, `arena ban`, `arena rename` and `arena log`: corrections by hand, and their record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli.leaderboard import settle_ladder
from arena.cli.show import when
from arena.reports import corrections_report
from arena.reports.corrections_report import corrected, entry
from arena.reports.words import called
from arena.roster import corrections
from arena.terminal import home_choice
from arena.terminal.options import Moment, home_option, json_option
from arena.terminal.output import draw, print_json, printable, say_if_empty, table
from arena.terminal.typed import as_typed
from ladder import store
from ladder.store.annulment import Annulled
from ladder.store.journal import Correction

_LONGEST = 500
"""Characters that a reason may have."""


def _reason(_ctx: click.Context, _param: click.Parameter, why: str) -> str:
    """Return a reason that can be stored and says something. Raises click.BadParameter."""
    why = " ".join(why.split())
    if not 0 < len(why) <= _LONGEST:
        raise click.BadParameter(f"a reason has 1 to {_LONGEST} characters")
    try:
        why.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("a reason is text, and this has bytes that are none") from None
    return why


why_option = click.option("--why", required=True, metavar="TEXT", callback=_reason, help="The reason, for the record.")
since_option = click.option(
    "--since",
    type=Moment(),
    metavar="TIME",
    help="Only matches finished at that time or later: 2026-07-31.",
)


@click.command()
@click.argument("what", metavar="[MATCH|BOT]", required=False)
@click.option("--host", metavar="NAME", help="The matches that this host of a cluster has played.")
@why_option
@click.option("--ladder", metavar="ID", help="Only matches of this ladder.")
@since_option
@home_option
@json_option
def annul(
    what: str | None,
    host: str | None,
    why: str,
    ladder: str | None,
    since: float | None,
    home: Path,
    as_json: bool,
) -> None:
    """Let a match, or those of a bot, no longer count.

    MATCH is the id of a match or the beginning of it; BOT is a version (mine@2), or a name for all its versions. The
    ratings are computed anew as if these matches, and all others of their groups, had never been played. They stay
    stored, and `arena show` and `arena replay` say why they do not count. The next run plays other groups of the same
    bots. It works while a ladder runs.

    \b
    Example:
      arena annul mine@2 --why "it read the files of other bots"
    """
    if what is not None and host is None:
        annulled = corrections.annul_matches(home, what, why, ladder=ladder, since=since)
    elif host is not None and what is None:
        annulled = corrections.annul_host(home, host, why, ladder=ladder, since=since)
    else:
        raise click.UsageError("name a match, a bot or --host: one of them")
    home_choice.say_if_above(home)
    _rate_anew(home, annulled, f"{_matches(annulled.correction)} annulled")
    return print_json(corrected(annulled)) if as_json else click.echo(f"annulled {_annulled(annulled)}")


@click.command()
@click.argument("name", metavar="BOT")
@why_option
@since_option
@click.option("--keep", is_flag=True, help="Let what it played go on counting.")
@click.option("--undo", is_flag=True, help="Lift the ban; its matches stay annulled.")
@home_option
@json_option
def ban(name: str, why: str, since: float | None, keep: bool, undo: bool, home: Path, as_json: bool) -> None:
    """Take a bot out for good, and annul its matches.

    All its versions are retired at once, as by `arena retire`, also while a ladder runs, and what they played counts no
    more, as by `arena annul`. Nobody can submit a bot of this name, reinstate it or name it in --bots until --undo.

    \b
    Example:
      arena ban mine --why "it read the files of other bots"
    """
    if ((undo or keep) and since is not None) or (undo and keep):
        raise click.UsageError("--since, --keep and --undo exclude each other")
    if undo:
        annulled = corrections.unban_bot(home, name, why)
        said = f"{name} is not banned any more; to bring it back: `arena retire {name} --undo`"
    else:
        annulled = corrections.ban_bot(home, name, why, since=since, keep=keep)
        said = f"banned {name}; annulled {_annulled(annulled)}"
    home_choice.say_if_above(home)
    _rate_anew(home, annulled, f"{name} is banned, {_matches(annulled.correction)} annulled")
    return print_json(corrected(annulled)) if as_json else click.echo(as_typed(said))


@click.command()
@click.argument("name", metavar="BOT")
@click.argument("title", metavar="NEW")
@home_option
@json_option
def rename(name: str, title: str, home: Path, as_json: bool) -> None:
    """Show a bot under another name.

    It is for people only: in commands, ids, seeds and digests the bot keeps its name, which is shown behind the other
    one. To take the other one away, rename the bot to its own name.

    \b
    Example:
      arena rename mine "Team Gamma"
    """
    correction = corrections.rename_bot(home, name, title)
    home_choice.say_if_above(home)
    if as_json:
        return print_json(entry(correction))
    shown_title = correction.title
    return click.echo(f"{name} is shown as {called(name, None if shown_title == name else shown_title)}")


@click.command()
@click.option("-n", "--most", type=click.IntRange(min=1), metavar="N", help="Show the newest N entries, not all.")
@home_option
@json_option
def log(most: int | None, home: Path, as_json: bool) -> None:
    """Show who changed what by hand, when and why.

    That is what was submitted, retired, reinstated, annulled, banned or renamed, and second chances given back, the
    newest last. "Who" is the user of the operating system. The digest covers the whole record: who has written one down
    finds it as the `digest` of its entry in --json, or knows that entries were taken out.

    \b
    Example:
      arena log
    """
    with store.open_read(home) as db:
        entries = store.journal.entries(db)[-most:] if most else store.journal.entries(db)
        if as_json:
            return print_json(corrections_report.corrections_log(entries))
        say_if_empty(db, home)
    rows = table("when", "who", "what", "about", "details")
    for change in entries:
        details = "; ".join(map(printable, _details(change)))
        rows.add_row(when(change.at), printable(change.who or "–"), change.what, printable(change.subject), details)
    if not entries:
        return None
    draw(rows)
    return click.echo(f"sha256 {entries[-1].digest.hex()}")


def _details(entry: Correction) -> Iterator[str]:
    """Yield what else there is to say about an entry."""
    if entry.title is not None:
        yield f"shown as {entry.title}"
    if entry.what in ("annul", "ban"):
        yield _matches(entry)
    if entry.since is not None:
        yield f"since {when(entry.since)}"
    if entry.ladder is not None:
        yield f"ladder {entry.ladder}"
    if entry.why is not None:
        yield entry.why


def _matches(entry: Correction) -> str:
    return f"{entry.matches:,} match{'es' * (entry.matches != 1)}"


def _annulled(annulled: Annulled) -> str:
    dropped = (
        f"; of their groups {annulled.dropped:,} that were still to be played are dropped" if annulled.dropped else ""
    )
    rated = f"; ratings computed anew: ladder {', '.join(annulled.ladders)}" if annulled.ladders else ""
    return f"{_matches(annulled.correction)}{dropped}{rated}"


def _rate_anew(home: Path, annulled: Annulled, change: str) -> None:
    """Compute the ratings of the ladders anew in which matches were annulled; whatever stops that, say what is done."""
    if not annulled.ladders:
        return
    later = f"{change}; the ratings are computed by the next `arena ladder`, or `arena leaderboard --settle`"
    try:
        with store.open(home) as db:
            for ladder in store.ladders.all(db):
                if ladder.id in annulled.ladders:
                    settle_ladder(db, ladder)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped: {later}") from None
    except store.StoreError as error:
        raise store.StoreError(f"{later} ({error})") from error
