"""A person who plays at a terminal, as a bot: `arena play` starts this as a process of its own.

To the referee a person is one more bot: the same stream, the same legal actions.

    python -P -m arena.people.person NAME NAME…
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import ClassVar

import click
from rich.columns import Columns
from rich.text import Text

from arena.games.rules import Mark, drawn, marked
from arena.people import rulebook
from arena.terminal import streams
from arena.terminal.failures import OneLine, one_line_errors
from arena.terminal.output import console, draw, printable
from arena.v1.referee_pb2 import MatchEnd, Update
from arena_bot import Bot, Turn, run

_LONGEST = 10
"""Number of digits that no number of a choice has."""
_STYLES = {"legal": "reverse bold", "own": "bold underline"} | {
    colour: colour for colour in ("red", "green", "blue", "yellow")
}
"""How rich shows what a game marks."""
HELP = """\
Answer with the number of a choice, with its name, or with the beginning of its name.
Enter alone takes the only choice, if there is just one.
? shows this and the rules, Ctrl-D leaves the match.
In colours, what you can choose on the board is shown in reverse, and your own name is underlined.
The rules of all games are in docs/games.md; those of this one follow."""
"""What a person sees for "?", before the rules of the game."""


class Person(Bot):
    """The seat of a person: shows what happened since the last question, then asks."""

    matches = 1
    updates = True
    names: ClassVar[Sequence[str]] = ()
    """The name of each seat."""

    def start(self) -> None:
        seats = (f"seat {seat}: {name}" for seat, name in enumerate(self.names))
        self._news = [
            f"{self.rules.title}, {', '.join(seats)}",
            "? explains how to answer and the rules, Ctrl-D leaves",
            "",
        ]
        self._picture = ""
        self._was_asked = False

    def update(self, update: Update) -> None:
        for action in update.actions:
            self._news.append(f"{self.names[action.seat]}: {self.rules.action_name(action.action)}")
        view = getattr(update, update.WhichOneof("view") or "other")
        self._picture = drawn(self.rules, view, self.options)

    def choose(self, turn: Turn) -> int:
        marks = marked(self.rules, turn.view, self.options, self.seat, turn.legal)
        self._show(drawn(self.rules, turn.view, self.options), marks)
        names = {turn.name(action): action for action in turn.legal}
        _list(list(names))
        while True:
            answer = _ask()
            if answer == "?":
                click.echo(HELP)
                draw("", rulebook.show_rules(self.rules, on_terminal=console().is_terminal))
                continue
            matching = chosen_action(answer, list(names))
            if len(matching) == 1:
                return names[matching[0]]
            click.echo(_what_is_wrong(answer, matching))

    def end(self, end: MatchEnd) -> None:  # noqa: ARG002 - the command tells how it ended
        if self._news:
            self._show(self._picture)

    def _show(self, picture: str, marks: Sequence[Mark] = ()) -> None:
        if self._was_asked:
            click.clear()  # only on a terminal; what stood there at the beginning may be a caution
        self._was_asked = True
        for line in [*self._news, ""]:
            click.echo(printable(line))
        paint(picture, marks)
        self._news = []


def paint(picture: str, marks: Sequence[Mark]) -> None:
    """Print a picture and an empty line; on a terminal what is marked is painted, with `NO_COLOR` without colours."""
    lines = [Text(printable(line)) for line in picture.split("\n")]
    for mark in marks:
        lines[mark.line].stylize(_STYLES[mark.kind], mark.column, mark.column + mark.width)
    draw(*lines, "", wide=True)


def _ask() -> str:
    """Return what the person types; at the end of the input, the process ends."""
    try:
        return input("> ").strip()
    except EOFError:
        click.echo()
        raise SystemExit from None


def chosen_action(answer: str, names: Sequence[str]) -> list[str]:
    """Return the names that an answer may mean: by name, by number, or by the beginning of a name."""
    wanted = " ".join(answer.casefold().split())
    if not wanted:
        return list(names) if len(names) == 1 else []
    if exact := [name for name in names if name.casefold() == wanted]:
        return exact
    if wanted.isdecimal() and len(wanted) < _LONGEST:
        return list(names[int(wanted) - 1 : int(wanted)]) if int(wanted) else []
    return [name for name in names if name.casefold().startswith(wanted)]


def _what_is_wrong(answer: str, matching: Sequence[str]) -> str:
    if matching:
        return f"{printable(answer)} may mean {', '.join(matching[:5])}{' …' * (len(matching) > 5)}"
    return (
        "type the number of a choice, or its name; ? explains more"
        if answer.isdecimal() or not answer
        else (f"no choice begins with {printable(answer)!r}; ? explains how to answer")
    )


def _list(names: Sequence[str]) -> None:
    """Print the choices with their numbers, in as many columns as there is room for."""
    width = len(str(len(names)))
    cells = [Text.assemble((f"{number:>{width}}", "bold cyan"), f" {name}") for number, name in enumerate(names, 1)]
    if console().is_terminal:
        draw(Columns(cells, padding=(0, 3), column_first=True))
    else:
        draw(*cells)


if __name__ == "__main__":
    streams.secure()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, wherever it is
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with suppress(ImportError):
        import_module("readline")  # input() then edits lines, and prompts on stdout
    Person.names = sys.argv[1:]
    try:
        with suppress(BrokenPipeError), one_line_errors():
            run(Person)
    except OneLine as unseen:  # nobody can be shown the board
        unseen.show()
        raise SystemExit(unseen.exit_code) from None
