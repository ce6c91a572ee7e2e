"""The `arena replay` command."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec
from msgspec import UNSET

from arena.replay import Unreadable, document, log_text, narration, unrated_store
from arena.replay.document import Document
from arena.reports.replay_report import match_replay
from arena.terminal import home_choice
from arena.terminal.options import home_option, html_option, json_option
from arena.terminal.output import printable
from arena.terminal.stderr import say
from arena.terminal.typed import typed_as
from arena.terminal.written_files import write_file
from ladder import store

_FORWARD = {"n", " ", "\r", "\n", "\x1b[C", "\x1b[B"}
"""Keys for the next step; the last two are what the arrows to the right and down send."""
_BACK = {"p", "\x1b[D", "\x1b[A"}
"""Keys for the step before; the last two are what the arrows to the left and up send."""
FIRST, _LAST = {"g", "\x1b[H"}, {"G", "\x1b[F"}
"""Keys for the first and the last step, with what Home and End send."""
_QUIT = {"q", "\x1b", "\x04"}
"""Keys that end it; the last two are what Escape and Ctrl-D send."""
_KEYS = "n or → next, p or ← back, g first, G last, q quit"
"""What is said of the keys below each step."""


@click.command()
@click.argument("what", metavar="MATCH|FILE")
@html_option()
@click.option("--all", "whole", is_flag=True, help="Print every step, where there is no terminal to step through.")
@home_option
@json_option
def replay(what: str, page: Path | None, whole: bool, home: Path, as_json: bool) -> None:
    """Show a match step by step: board, dice, choices and times.

    What the bots printed stands beside the steps.

    MATCH is the id of a ladder's match or the beginning of it, `unrated-7` for a match that `arena match` played, or
    `last` for the one that it played last. FILE holds what --json printed, here or in `arena match`. On a terminal, n
    and p or the arrow keys step through the match, and q quits. Elsewhere a summary with the events is printed, and
    with --all every step. With --html it becomes a page that any browser opens, without a server or the network; its
    path is printed.

    \b
    Example:
      arena replay last
    """
    if as_json and page is not None:
        raise click.UsageError("--html prints the path of the page: use it without --json")
    record, caution = _find(what, home)
    document.check_document(record)
    if page is not None:
        write_page(page, record, caution)
        return click.echo(str(page))
    if as_json:
        if caution:
            say(caution)
        return click.echo(msgspec.json.format(msgspec.json.encode(record), indent=0))
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not (whole or on_terminal):
        return click.echo("\n".join(_summary(record, caution, [what, *home_choice.option(home)])))
    every = narration.frames(record)
    if caution:
        every[0] = f"{caution}\n{every[0]}"
    if whole:
        return click.echo("\n\n".join(every))
    return step_through(every)


def _summary(record: Document, caution: str, named: Sequence[str]) -> Iterator[str]:
    """Yield the lines that say who played, what happened at which step, and how the match ended."""
    match = match_replay(record, caution)
    if match.caution:
        yield match.caution
    yield from map(printable, narration.head(record))
    chosen = sum(choice.ms is not UNSET for step in match.steps for choice in step.choices)
    yield f"\n{len(match.steps) - 1:,} steps, in which bots made {chosen:,} choices"
    yield from (f"  step {number}: {', '.join(step.events)}" for number, step in enumerate(match.steps) if step.events)
    yield from map(printable, narration.final_lines(record))
    printed = sum(len(said.lines) for step in match.steps for said in step.printed)
    more = f", and {printed:,} lines that the bots printed" if printed else ""
    yield f"\nevery step with its board and dice{more}: {printable(typed_as('replay', *named, '--all'))}"


def write_page(file: Path, match: Document, caution: str = "") -> None:
    """Write a match as a page for browsers; `caution` is shown on it."""
    from arena.site.page_shell import match_page  # imported here, since what makes pages is slow to load

    write_file(file, match_page(match_replay(match, caution)).encode())


def _find(what: str, home: Path) -> tuple[Document, str]:
    """Return a match, and what to say before it is shown."""
    if unrated_store.is_name(what):
        return unrated_store.find_match(home, what), ""
    if what.endswith(".json") or os.path.isfile(what):
        try:
            return document.opened(Path(what).read_bytes()), ""
        except Unreadable as error:
            raise Unreadable(f"{what}: {error}") from error
    with store.open_read(home) as db:
        match = store.matches.find(db, what)
        caution = match.annulled and f"this match does not count: annulled {printable(match.annulled.account)}"
        try:
            printed = log_text.of_match(db, match)
        except Unreadable as error:
            say(f"what the bots printed is not shown: {error}")
            printed = ()
        return document.document(match, printed), caution or ""


def step_through(frames: Sequence[str]) -> None:
    """Show one frame of text at a time on the terminal; keys choose which."""
    at, last = 0, len(frames) - 1
    while True:
        click.clear()
        click.echo(f"{frames[at]}\n\n{at} of {last}: {_KEYS}")
        for key in _keys(click.getchar()):
            if key in _QUIT:
                return
            moves = ((_FORWARD, at + 1), (_BACK, at - 1), (FIRST, 0), (_LAST, last))
            wanted = next((place for keys, place in moves if key in keys), at)
            at = max(0, min(last, wanted))


def _keys(typed: str) -> list[str]:
    """Split what was typed into keys: several come together if they are typed fast, or over a slow line."""
    return re.findall(r"\x1b\[[0-9;]*[A-Za-z~]|.", typed, re.DOTALL)
