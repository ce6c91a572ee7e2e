"""What commands share: options, the home, tables, and expected failures as one line."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from arena import games
from arena.clock import Limits
from arena.games.rules import BadOption, Game

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Command = TypeVar("Command", bound=Callable[..., Any])

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class GameName(click.ParamType[Game[Any]]):
    """A game, by name; gives the game."""

    name = "game"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Game[Any]:
        if isinstance(value, Game):
            return value
        try:
            return games.game(value)
        except games.UnknownGame as error:
            self.fail(str(error), param, ctx)


class Seconds(click.ParamType[float]):
    """A duration: "1s", "250ms", "2m" or plain seconds; gives seconds."""

    name = "duration"
    _units = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0}  # noqa: RUF012

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        parts = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)(ms|s|m|)", str(value).strip())
        if parts is None or not 0 <= (seconds := float(parts[1]) * self._units[parts[2]]) <= 86400:
            self.fail(f"{value!r} is no duration: write 250ms, 1s or 2m, at most a day", param, ctx)
        return seconds


home_option = click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".arena"),
    envvar="ARENA_HOME",
    show_envvar=True,
    help="Where bots, matches and ratings are kept.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
game_option = click.option("-g", "--game", type=GameName(), required=True, metavar="GAME", help="See `arena games`.")
players_option = click.option("-p", "--players", type=int, help="Seats of a match.  [default: the game's fewest]")


option_option = click.option(
    "-o", "--option", "options", multiple=True, metavar="NAME=JSON", help="Set an option of the game; repeat."
)


def limit_options(command: Command) -> Command:
    """How long bots may think; the command gets `limits`."""

    @wraps(command)
    def with_limits(*args: Any, limit: float, bank: float, start_limit: float, **others: Any) -> Any:
        return command(*args, limits=Limits(limit, bank, start_limit), **others)

    for option in (
        click.option("--start-limit", type=Seconds(), default="30s", help="From a bot's start to its Hello."),
        click.option("--bank", type=Seconds(), default="10s", help="A seat's reserve for the whole match."),
        click.option("--limit", type=Seconds(), default="1s", help="For a decision; ten times that for the first."),
    ):
        with_limits = option(with_limits)
    return cast("Command", with_limits)


def check_players(game: Game[Any], players: int | None) -> int:
    """The number of seats, or the game's fewest. Raises click.UsageError."""
    if players is None:
        return game.seats[0]
    if players not in game.seats:
        allowed = f"{game.seats[0]} to {game.seats[-1]}"
        raise click.UsageError(f"{game.title} is for {allowed} players, not {players}")
    return players


def check_options(game: Game[Any], given: Sequence[str]) -> Mapping[str, Any]:
    """The game's options with those given as NAME=JSON. Raises click.UsageError."""
    changed = {}
    for text in given:
        name, equals, value = text.partition("=")
        try:
            changed[name] = json.loads(value)
        except (ValueError, RecursionError):
            equals = ""
        if not equals:
            raise click.UsageError(f"{text!r} is no option of a game: write NAME=JSON, such as round_cap=20")
    try:
        return game.options(changed)
    except BadOption as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Expected failures, whatever module they come from, as `Error: …` and exit code 1."""
    from arena.submission import BadSubmission
    from ladder.schedule import TooFewBots
    from ladder.store import StoreError

    try:
        yield
    except (BadSubmission, StoreError, TooFewBots, games.UnknownGame) as error:
        raise click.ClickException(str(error)) from error
    except (KeyboardInterrupt, click.Abort):
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:  # `arena … | head`
        sys.stderr.close()
        raise SystemExit(1) from None


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Ctrl-C, SIGTERM and SIGHUP call `stop`, a second one interrupts at once; gives whether one came."""
    came: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal module's signature
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt
        stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(text: str) -> None:
    """A line for people; stdout is for results."""
    click.echo(text, err=True)


def print_json(value: Any) -> None:
    """One JSON value on stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def console(*, stderr: bool = False) -> Console:
    """A terminal to print tables on; when piped it is wide enough to cut nothing."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False)
    return made if made.is_terminal else Console(stderr=stderr, width=160, highlight=False, markup=False)


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """An empty table; the columns in `right` are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", no_wrap=column in right)
    return made


def printable(text: str) -> str:
    """Text of a bot's making without anything that could move the cursor or change colours."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
