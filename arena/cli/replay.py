"""The `arena replay` command."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import home_option, json_option
from arena.cli.output import printable

if TYPE_CHECKING:
    from arena.replay.document import Document, Roll, Step

FORWARD = {"n", " ", "\r", "\n", "\x1b[C", "\x1b[B"}
BACK = {"p", "\x1b[D", "\x1b[A"}
FIRST, LAST = {"g", "\x1b[H"}, {"G", "\x1b[F"}
QUIT = {"q", "\x1b", "\x04"}
KEYS = "n or → next, p or ← back, g first, G last, q quit"


@click.command()
@click.argument("what", metavar="MATCH|FILE")
@home_option
@json_option
def replay(what: str, home: Path, as_json: bool) -> None:
    """Show a match step by step: board, dice, choices and times.

    MATCH is the id of a ladder's match or the beginning of it, `unrated-7` for a match that `arena match` played, or
    `last` for the one that it played last; FILE holds what --json printed, here or in `arena match`. On a terminal, n
    and p or the arrow keys step through the match, and q quits; elsewhere the whole match is printed.

    \b
    Example:
      arena replay last
    """
    import msgspec

    from arena.replay import document

    shown = _found(what, home)
    document.check(shown)
    if as_json:
        return click.echo(msgspec.json.format(msgspec.json.encode(shown), indent=0))
    every = frames(shown)
    if sys.stdin.isatty() and sys.stdout.isatty():
        return step_through(every)
    return click.echo("\n\n".join(every))


def _found(what: str, home: Path) -> Document:
    from arena.replay import Unreadable, document, kept
    from ladder import store

    if kept.is_name(what):
        return kept.find(home, what)
    if what.endswith(".json") or os.path.isfile(what):
        try:
            return document.opened(Path(what).read_bytes())
        except Unreadable as error:
            raise Unreadable(f"{what}: {error}") from error
    with store.open_read(home) as db:
        return document.document(store.match(db, what))


def step_through(frames: Sequence[str]) -> None:
    """Show one frame of text at a time on the terminal; keys choose which."""
    at, last = 0, len(frames) - 1
    while True:
        click.clear()
        click.echo(f"{frames[at]}\n\n{at} of {last}: {KEYS}")
        key = click.getchar()
        if key in QUIT:
            return
        moves = ((FORWARD, at + 1), (BACK, at - 1), (FIRST, 0), (LAST, last))
        wanted = next((place for keys, place in moves if key in keys), at)
        at = max(0, min(last, wanted))


def frames(shown: Document) -> list[str]:
    """Return a text for every step; the first also says who plays, the last how the match ended."""
    from arena.replay import document

    teller = Teller(shown)
    *most, last = [teller.tell(step) for step in document.steps(shown)]
    return [*most, "\n".join([last, *map(printable, _end(shown))])]


class Teller:
    """Describes the steps of a match in words; expects them in order, each once."""

    def __init__(self, shown: Document) -> None:
        from arena import games

        self._shown, self._game = shown, games.game(shown.game)
        self.times: Sequence[Iterator[float]] = [iter(times) for times in shown.times_ms]
        """By seat: the milliseconds of each decision that is still to be told."""
        self.forfeited = {forfeit.seat: forfeit.step for forfeit in shown.forfeits}
        """The step in which each seat forfeited."""
        self._reasons = {forfeit.seat: f" ({forfeit.reason})" for forfeit in shown.forfeits}
        self._steps = 0

    def tell(self, step: Step) -> str:
        """Return the choices, rolls and board of the next step, without any character that moves the cursor."""
        lines = [self._choice(seat, action) for seat, action in step.choices] or self._head()
        lines += [_roll(roll) for roll in step.rolls]
        self._steps += bool(step.choices)
        picture = self._game.picture(step.state).split("\n")
        return "\n".join(map(printable, [*lines, "", *picture]))  # a file may hold anybody's text

    def _head(self) -> list[str]:
        shown = self._shown
        seats = [f"  seat {seat}: {bot}" for seat, bot in enumerate(shown.bots)]
        ladder = f" of ladder {shown.ladder}" if shown.ladder else ""
        return [f"{self._game.title}, match {shown.match}{ladder}", *seats]

    def _choice(self, seat: int, action: int) -> str:
        name = self._game.action_name(action)
        who = f"step {self._steps + 1}: seat {seat} ({self._shown.bots[seat]})"
        if self._steps >= self.forfeited.get(seat, math.inf):
            return f"{who} has forfeited{self._reasons.get(seat, '')}, for it: {name}"
        return f"{who}: {name}   {next(self.times[seat], 0.0):.1f} ms"


def _roll(roll: Roll) -> str:
    return f"  dice {roll.key}: {' '.join(map(str, roll.numbers))}"


def _end(shown: Document) -> Iterator[str]:
    yield ""
    for seat, reason, step in shown.forfeits:
        when = f"in step {step + 1}" if step >= 0 else "before the first step"
        yield f"seat {seat} ({shown.bots[seat]}) forfeited {when}: {reason}"
    places = sorted(zip(shown.ranks, range(len(shown.bots)), strict=True))
    for rank, seat in places:
        yield f"{rank + 1}. seat {seat} ({shown.bots[seat]}), score {shown.scores[seat]}"
