"""What commands print: results on stdout, everything else for people on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.measure import Measurement
    from rich.progress import Progress, TaskID
    from rich.table import Table
    from sqlite_utils import Database

PIPED_WIDTH = 1000
"""Columns where there is no terminal: nothing is cut or folded for a program or a file."""
LOG_SECONDS = 30.0
"""Between two lines of progress where there is no terminal."""
FEW = 10
"""As long as fewer are done, nobody can tell how long the others will take."""


class Report(Protocol):
    """Told how many matches, or whatever is counted, are done, and of how many; a note for people may follow."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...

    def passing(self, note: str) -> None:
        """What goes on meanwhile, until something else does."""


class Announcer:
    """Told what a command begins and how far it is. Before the first of that it says a caution, if there is one."""

    def __init__(self, show: Report, caution: str | None) -> None:
        self._show = show
        self._caution = caution

    def __call__(self, done: int, total: int, note: str = "") -> None:
        self._warn()
        self._show(done, total, note)

    def announce(self, what: str) -> None:
        """Say what is begun, in somebody else's words."""
        self._warn()
        say(printable(what))

    def passing(self, what: str) -> None:
        """Show what goes on meanwhile, in somebody else's words, until something else does."""
        self._show.passing(printable(what))

    def _warn(self) -> None:
        caution, self._caution = self._caution, None
        if caution is not None:
            say(caution)


def say(text: str) -> None:
    """A line for people, above the bar if there is one; stdout is for results."""
    sys.stderr.write(f"{text}\n")  # which is rich, while there is a bar


@contextmanager
def warnings_said() -> Iterator[None]:
    """What the store warns of is said, as long as the block lasts."""
    from logging import Handler, LogRecord, getLogger

    class Aloud(Handler):
        def emit(self, record: LogRecord) -> None:
            say(printable(record.getMessage()))

    handler = Aloud()
    getLogger("ladder").addHandler(handler)
    try:
        yield
    finally:
        getLogger("ladder").removeHandler(handler)


def say_if_empty(db: Database, home: Path) -> None:
    """Say that a home which reads as empty is none: its name may be mistyped."""
    from ladder import store

    if not store.is_stored(db):
        say(f"there is no arena in {str(home)!r}: nothing was played or submitted there")


def print_json(value: Any) -> None:
    """One JSON value on stdout; ASCII, since a bot's output may hold what no encoding takes."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def console(*, stderr: bool = False) -> Console:
    """Where pictures are drawn; text in them is taken as it is."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = PIPED_WIDTH
    return made


def draw(*pictures: RenderableType, wide: bool = False) -> None:
    """Print what rich can draw, without the spaces it leaves at the ends of lines.

    If wide, or if a terminal is so narrow that rich would cut words and numbers, the terminal may fold it.
    """
    canvas = console()
    canvas.width = PIPED_WIDTH if wide else max(canvas.width, *(measured(picture).minimum for picture in pictures))
    with canvas.capture() as drawn:
        canvas.print(*pictures, sep="\n")
    click.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def measured(picture: RenderableType) -> Measurement:
    """How many columns a picture needs, with words kept whole, and how many it would have."""
    from rich.measure import Measurement

    canvas = console()
    return Measurement.get(canvas, canvas.options.update(width=PIPED_WIDTH), picture)


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """An empty table; the columns in `right` are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for column in columns:
        number = column in right
        made.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return made


def printable(text: str) -> str:
    """Text of somebody else's making without anything that could move the cursor or change colours."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def last_line(text: str) -> str:
    """Of a traceback or a reason, what says most, made printable."""
    return printable((text.strip().splitlines() or [""])[-1])


@contextmanager
def progress(
    what: str, unit: str = "matches", *, begins: bool = False, at_most: bool = False, caution: str | None = None
) -> Iterator[Announcer]:
    """A bar with rate and time left on stderr from the first report on; where that is no terminal, a line now and then.

    One that `begins` says there how much is to do, too. `at_most` if less than all of it may be enough. `caution` is
    said above it when anything begins: a command that is refused, or finds nothing to do, runs nobody's program.
    """
    begun = time.monotonic()
    canvas = console(stderr=True)
    if not canvas.is_terminal:
        yield Announcer(_Log(what, unit, begun, begins=begins, at_most=at_most), caution)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.table import Column

    number = MofNCompleteColumn(table_column=Column(no_wrap=True))  # where it is narrow, the bar gives way
    # short of the edge even at 80 columns: there the terminal's ^C would break the line
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=16), number)
    bar = Progress(
        *columns,
        TextColumn("{task.fields[pace]}"),
        TextColumn("{task.fields[note]}"),
        console=canvas,
        transient=True,
    )
    line = bar.add_task(what, total=None, pace="", note="")
    try:
        yield Announcer(_Bar(bar, line, begun, at_most=at_most), caution)
    finally:
        bar.stop()


class _Bar:
    """Draws what it is told, and nothing before: something may have to be asked first."""

    def __init__(self, bar: Progress, line: TaskID, begun: float, *, at_most: bool) -> None:
        self._bar = bar
        self._line = line
        self._begun = begun
        self._at_most = at_most

    def __call__(self, done: int, total: int, note: str = "") -> None:
        pace = _pace(done, total, self._begun, at_most=self._at_most)
        self._bar.start()
        self._bar.update(self._line, completed=done, total=total, pace=pace, note=note)

    def passing(self, note: str) -> None:
        self._bar.start()
        self._bar.update(self._line, note=note)


class _Log:
    """Says in a line now and then what it is told."""

    def __init__(self, what: str, unit: str, begun: float, *, begins: bool, at_most: bool) -> None:
        self._what = what
        self._unit = unit
        self._begun = self._last = begun
        self._begins = begins
        self._at_most = at_most

    def __call__(self, done: int, total: int, note: str = "") -> None:
        if self._begins and not done:
            self._begins = False
            say(f"{self._what}: {total:,} {self._unit} to go")
        elif self._is_time():
            pace = _pace(done, total, self._begun, at_most=self._at_most)
            counted = f"{self._what}: {done:,} of {'at most ' * self._at_most}{total:,} {self._unit}"
            say("".join([counted, pace and f", {pace}", note and f"; {note}"]))

    def passing(self, note: str) -> None:
        if self._is_time():
            say(note)

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now - self._last < LOG_SECONDS:
            return False
        self._last = now
        return True


def _pace(done: int, total: int, begun: float, *, at_most: bool) -> str:
    """How fast it goes, and how long it will at that; nothing before enough is done to tell."""
    if done < FEW:
        return ""
    each = (time.monotonic() - begun) / done
    pace = f"{1 / each:,.1f}/s" if each < 10 else f"one in {each:.0f} s"
    return f"{pace}, {'at most ' * at_most}{_span(each * (total - done))} left"


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
