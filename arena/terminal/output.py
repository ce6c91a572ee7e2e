"""Printing for commands: results go to stdout, everything else for people to stderr."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column, Table

from arena.base.homes import HOME_NAME
from arena.base.suggest import printable as printable
from arena.reports.words import span
from arena.terminal.stderr import say
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_PIPED_WIDTH = 1000
"""Width in columns where there is no terminal: nothing is cut or folded for a program or a file."""
LOG_SECONDS = 30.0
"""Seconds between two lines of progress, at least, where there is no terminal."""
SOON = 5.0
"""Seconds after which the first line comes of a command that starts no bot: nothing else shows that it works."""
FEW = 10
"""No rate or time left is shown while fewer are done: the estimate would be too poor."""


class Bar(Protocol):
    """Callback for progress: how many matches, or whatever is counted, are done, of how many, and a note for people."""

    def __call__(self, count: int, total: int, note: str = "") -> None: ...

    def passing(self, note: str) -> None:
        """Show what is going on meanwhile, until the next report replaces it."""


class Announcer:
    """Reports what a command begins and how far it is; before the first such report it prints a caution, if any."""

    def __init__(self, show: Bar, caution: str | None) -> None:
        self._show = show
        self._caution = caution

    def __call__(self, count: int, total: int, note: str = "") -> None:
        self._warn()
        self._show(count, total, note)

    def announce(self, what: str) -> None:
        """Print what is begun; the text may come from outside the arena, so it is made printable."""
        self._warn()
        say(printable(what))

    def passing(self, what: str) -> None:
        """Show what is going on meanwhile; the text may come from outside the arena, so it is made printable."""
        self._show.passing(printable(what))

    def _warn(self) -> None:
        caution, self._caution = self._caution, None
        if caution is not None:
            say(caution)


def say_if_empty(db: Database, home: Path) -> None:
    """Tell people if there is no arena in the data directory ("home"): its name may be mistyped."""
    if not store.database.is_stored(db):
        inside = home / HOME_NAME
        meant = f" (did you mean {str(inside)!r}?)" if inside.is_dir() else ""
        say(f"no bot was submitted and no ladder played in {str(home)!r} yet{meant}")


def print_json(report: Any) -> None:
    """Print a report as JSON on stdout, in ASCII, since a bot's output may hold what no encoding can express."""
    click.echo(json.dumps(msgspec.to_builtins(report, str_keys=True), indent=2, allow_nan=False))


def console(*, stderr: bool = False) -> Console:
    """Return a console of rich that prints text as it is, without markup, emoji codes or highlighting."""
    terminal = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not terminal.is_terminal:
        terminal.width = _PIPED_WIDTH
    return terminal


def draw(*pictures: RenderableType, wide: bool = False) -> None:
    """Print what rich can draw, without the spaces it leaves at the ends of lines.

    If `wide`, or if the terminal is so narrow that rich would cut words and numbers, lines may be longer than the
    terminal is wide; it then folds them.
    """
    canvas = console()
    canvas.width = _PIPED_WIDTH if wide else max(canvas.width, *(measured(picture).minimum for picture in pictures))
    with canvas.capture() as drawn:
        canvas.print(*pictures, sep="\n")
    click.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def measured(picture: RenderableType) -> Measurement:
    """Measure a picture in columns: the least it needs with words kept whole, and what it takes unfolded."""
    canvas = console()
    return Measurement.get(canvas, canvas.options.update(width=_PIPED_WIDTH), picture)


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; the columns named in `right` hold numbers."""
    rows = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for column in columns:
        number = column in right
        rows.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return rows


def last_line(text: str) -> str:
    """Return the last line of a traceback or a reason, which says most, made printable."""
    return printable((text.strip().splitlines() or [""])[-1])


@contextmanager
def progress(
    what: str,
    unit: str = "matches",
    *,
    begins: bool = False,
    at_most: bool = False,
    paced: bool = True,
    first: float | None = None,
    caution: str | None = None,
) -> Iterator[Announcer]:
    """Show progress on stderr: a bar with rate and time left or, where that is no terminal, a line now and then.

    Nothing is shown before the first report. With `begins`, the lines also say at the start how much there is to do.
    The first line comes after as many seconds as the others unless `first` says after how many.
    `at_most` means that less than the total may be enough. Unless `paced`, only the notes say how long the rest lasts:
    for steps of which some are much longer than others. `caution` is printed when anything begins, not before: a
    command that is refused, or finds nothing to do, runs nobody's program.
    """
    begun = time.monotonic()

    def pace(count: int, total: int) -> str:
        return _pace(count, total, begun, at_most=at_most) if paced else ""

    canvas = console(stderr=True)
    if not canvas.is_terminal:
        log = _Log(what, unit, pace, begins=begins, at_most=at_most, first=first)
        yield Announcer(log, caution)
        return

    number = TextColumn("{task.fields[number]}", table_column=Column(no_wrap=True))  # rather than this, the bar shrinks
    # shorter than 80 columns: at the right edge, the ^C that a terminal shows would break the line
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=16), number)
    bar = Progress(
        *columns,
        TextColumn("{task.fields[pace]}"),
        TextColumn("{task.fields[note]}"),
        console=canvas,
        transient=True,
    )
    line = bar.add_task(what, total=None, number="", pace="", note="")
    try:
        yield Announcer(_Bar(bar, line, pace), caution)
    finally:
        bar.stop()


class _Bar:
    """A progress bar. It appears with the first report, since something may have to be asked before."""

    def __init__(self, bar: Progress, line: TaskID, pace: Callable[[int, int], str]) -> None:
        self._bar = bar
        self._line = line
        self._pace = pace

    def __call__(self, count: int, total: int, note: str = "") -> None:
        self._bar.start()
        number = f"{count:{len(str(total))}}/{total}"
        pace = self._pace(count, total)
        self._bar.update(self._line, completed=count, total=total, number=number, pace=pace, note=note)

    def passing(self, note: str) -> None:
        self._bar.start()
        self._bar.update(self._line, note=note)


class _Log:
    """Progress as lines of text, at least `LOG_SECONDS` apart after the first."""

    def __init__(
        self, what: str, unit: str, pace: Callable[[int, int], str], *, begins: bool, at_most: bool, first: float | None
    ) -> None:
        self._what = what
        self._unit = unit
        self._pace = pace
        self._last = time.monotonic()
        self._first = first
        self._begins = begins
        self._at_most = at_most

    def __call__(self, count: int, total: int, note: str = "") -> None:
        if self._begins and not count:
            self._begins = False
            say(f"{self._what}: {total:,} {self._unit} to go{note and f'; {note}'}")
        elif self._is_time():
            pace = self._pace(count, total)
            counted = f"{self._what}: {count:,} of {'at most ' * self._at_most}{total:,} {self._unit}"
            say("".join([counted, pace and f", {pace}", note and f"; {note}"]))

    def passing(self, note: str) -> None:
        if self._is_time():
            say(note)

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now - self._last < (LOG_SECONDS if self._first is None else self._first):
            return False
        self._last, self._first = now, None
        return True


def _pace(count: int, total: int, begun: float, *, at_most: bool) -> str:
    """Return rate and time left as text; empty before enough is done for an estimate."""
    if count < FEW:
        return ""
    seconds_each = (time.monotonic() - begun) / count
    pace = f"{1 / seconds_each:,.1f}/s" if seconds_each < 10 else f"one in {seconds_each:.0f} s"
    return f"{pace}, {'at most ' * at_most}{span(seconds_each * (total - count))} left"
