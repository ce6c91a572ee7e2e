"""Command-line options that several commands share, and the values they are converted to."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from arena import games
from arena.base import homes, suggest
from arena.core.compilation import prepare_core
from arena.games.rules import BadOption, Game, Options
from arena.referee.limits import Limits
from arena.reports.words import title
from arena.sandbox.grades import STRONGEST, WEAKEST, Grade, Sandbox
from arena.sandbox.launching import prepare_launcher
from arena.terminal.machine import Cluster, Conditions, Machine, sandbox_here
from arena.terminal.stderr import say
from arena.terminal.written_files import NewFile

Command = TypeVar("Command", bound=Callable[..., Any])

_DAY = 86400.0
"""Seconds of a day, the longest duration that an option can have."""


class GameName(click.ParamType[str]):
    """Type of an option that is the name of a game."""

    name = "game"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return games.game(value).name
        except games.UnknownGame as error:
            self.fail(str(error), param, ctx)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002
        return f"Games are {', '.join(games.names())}"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in games.names() if name.startswith(incomplete)]


def begin_with(plays: Sequence[str]) -> str:
    """Return the game to propose to a bot that plays these (empty: all): that of the README, or else its first."""
    return "buttons" if "buttons" in plays or not plays else plays[0]


class Whole(click.IntRange):
    """Type of an option that is a whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.ParamType[float]):
    """Type of an option that is a number in a range, both ends included."""

    name = "number"

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{suggest.short(value)} is no number", param, ctx)
        if not self._low <= number <= self._high:  # nor what is no number at all, as "nan"
            self.fail(f"{suggest.short(value)} is not in the range {self._low:g} to {self._high:g}", param, ctx)
        return number


class Seconds(click.ParamType[float]):
    """Type of an option that is a duration: "1s", "250ms", "2m", "1h" or plain seconds; its value is in seconds."""

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(ms|s|m|h|)", str(value).strip())
        if parts is None:
            self.fail(f"{value!r} is no duration: write 250ms, 1s, 2m or 1h", param, ctx)
        seconds = float(parts[1]) * {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "h": 3600.0}[parts[2]]
        if seconds > _DAY or not (seconds or self._zero):
            allowed = f"{'at least' if self._zero else 'more than'} 0 and at most a day"
            self.fail(f"{value!r} is out of range: it must be {allowed}", param, ctx)
        return seconds


class Size(click.ParamType[int]):
    """Type of an option that is an amount of memory: "512M" or "4G"; its value is in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)([MG])", str(value).strip().upper())
        if parts is None:
            self.fail(f"{suggest.short(value)} is no amount of memory: write 512M or 4G", param, ctx)
        return int(float(parts[1]) * {"M": 1 << 20, "G": 1 << 30}[parts[2]])


class Hour(click.ParamType[float]):
    """Type of an option that is a time of the day, today or else tomorrow; its value is in seconds since 1970."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            hour = datetime.strptime(str(value).strip(), "%H:%M").time()
        except ValueError:
            self.fail(f"{suggest.short(value)} is no time of the day: write 21:00", param, ctx)
        now = datetime.now()
        moment = datetime.combine(now, hour)
        return (moment if moment > now else moment + timedelta(days=1)).timestamp()


_LATEST = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
"""Before this any time that is named lies, so that every time zone can print it."""


class Moment(click.ParamType[float]):
    """Type of an option that is a date, or a date and a time, as `arena show` prints it; its value is since 1970."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = re.sub(r" (?=[+-]\d{4}$)", "", str(value).strip())
        try:
            moment = datetime.fromisoformat(text).timestamp()
            if not 0 <= moment < _LATEST:
                raise ValueError
            return moment
        except (ValueError, OverflowError):
            self.fail(f"{suggest.short(value)} is no time: write 2026-07-31 or '2026-07-31 18:00'", param, ctx)


def _home(ctx: click.Context, _param: click.Parameter, home: Path) -> Path:
    """Return the home that was named or, if none was, the one that is found."""
    named = ctx.get_parameter_source("home") is not ParameterSource.DEFAULT
    return home if named or ctx.resilient_parsing else homes.nearest_home()


home_option = click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False, readable=False),  # whose it is, is looked at below
    default=homes.HOME_NAME,
    show_default=".arena here, or the nearest in a folder above",
    envvar="ARENA_HOME",
    show_envvar=True,
    callback=_home,
    help="Where bots, matches and ratings are kept.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def page_file(what: str) -> NewFile:
    """Return the type of an option that is a file for such a page; what is there is replaced if it is a page."""
    return NewFile(f"page of a {what}", b"<!doctype html>")


def html_option(what: str = "the match") -> Callable[[Command], Command]:
    """Return the option to write a page; `what` of the command it shows."""
    return click.option(
        "--html",
        "page",
        type=page_file("match"),
        metavar="FILE",
        help=f"Write {what} as a page that any browser shows, with board and dice.",
    )


def _game(_ctx: click.Context, _param: click.Parameter, name: str | None) -> Game[Any] | None:
    """Return the game of a name; None while a line is only completed."""
    return None if name is None else games.game(name)


game_option = click.option(
    "-g", "--game", type=GameName(), required=True, metavar="GAME", callback=_game, help="See `arena games`."
)
plays_option = click.option(
    "-g",
    "--game",
    "plays",
    type=GameName(),
    multiple=True,
    metavar="GAME",
    help="A game it plays; may be repeated.  [default: what bot.toml says, or every game]",
)
protocol_option = click.option(
    "--protocol",
    type=click.Choice(["grpc", "stdio"]),
    help="How a lone file talks: in lines (stdio) or by gRPC.",
)
players_option = click.option(
    "-p", "--players", type=Whole(1), metavar="N", help="Players of a match.  [default: the game's fewest]"
)

seed_option = click.option(
    "--seed",
    default=lambda: secrets.token_hex(16),  # bots see a hash of it, and must not be able to guess it
    show_default="a new one, which is shown",
    help="Text that decides the dice.",
)
jobs_option = click.option(
    "-j",
    "--jobs",
    type=Whole(1, 256),
    metavar="N",
    default=lambda: len(os.sched_getaffinity(0)),
    show_default="one per core",
    help="Worker processes.",
)


memory_option = click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="For all bots of a machine together: 512M, 4G.  [default: half of what is available]",
)


def limit_options(command: Command) -> Command:
    """Add the options for how long bots may think, and pass them to the command as `limits`."""

    @wraps(command)
    def with_limits(
        *args: Any, limit: float, bank: float, start_limit: float, cpu_limit: float | None, **rest: Any
    ) -> Any:
        cpu = math.inf if cpu_limit is None else cpu_limit
        return command(*args, limits=Limits(limit, bank, start_limit, cpu), **rest)

    for option in (
        click.option(
            "--cpu-limit",
            type=Seconds(),
            help="For a match, processor time of all its processes.  [default: any]",
        ),
        click.option("--start-limit", type=Seconds(), default="30s", help="For a bot to start and connect."),
        click.option(
            "--bank", type=Seconds(zero=True), default="10s", help="Thinking time beyond limits, for a match."
        ),
        click.option("--limit", type=Seconds(), default="1s", help="For one decision; ten times that for the first."),
    ):
        with_limits = option(with_limits)
    return cast("Command", with_limits)


GRADES = click.Choice(["auto", *(grade.value for grade in Grade)])
"""Type of an option that is a grade of the sandbox; auto: the best that works."""


def sandbox_options(command: Command) -> Command:
    """Add the options for the sandbox and for what bots may ask for, and pass them to the command as a `machine`.

    Bots are about to play, so the core is compiled if it has not been.
    The command must have `home_option`, too. It has to show the `caution` of the machine itself.
    """

    @wraps(command)
    def with_sandbox(
        *args: Any,
        wanted: str,
        least: str | None,
        trusting: bool,
        memory_mib: int,
        tasks: int,
        home: Path,
        **rest: Any,
    ) -> Any:
        address, certificates = rest.pop("cluster", None), rest.pop("certificates", None)
        if address is not None:
            cluster = Cluster.asked(address, certificates, wanted, least, trusting)
            sandbox = Sandbox(cluster.least or Grade.D)
        else:
            cluster = None
            prepare_core(say)
            prepare_launcher(say)
            sandbox = sandbox_here(wanted, least, home)
        sandbox = sandbox._replace(trusting=trusting, allowed=STRONGEST._replace(memory_mib=memory_mib, tasks=tasks))
        return command(*args, machine=Machine(sandbox, home, cluster), home=home, **rest)

    for option in (
        click.option(
            "--max-tasks",
            "tasks",
            type=Whole(WEAKEST.tasks),
            metavar="N",
            default=STRONGEST.tasks,
            envvar="ARENA_MAX_TASKS",
            show_envvar=True,
            help="Processes and threads that a bot may ask for.",
        ),
        click.option(
            "--max-memory",
            "memory_mib",
            type=Whole(WEAKEST.memory_mib),
            metavar="MIB",
            default=STRONGEST.memory_mib,
            envvar="ARENA_MAX_MEMORY",
            show_envvar=True,
            help="Memory that a bot may ask for.",
        ),
        click.option(
            "--i-trust-these-bots",
            "trusting",
            is_flag=True,
            help="Run archives, which may come from strangers, also where nothing holds them (grade D).",
        ),
        click.option(
            "--require-sandbox",
            "least",
            type=click.Choice([grade.value for grade in Grade if grade is not Grade.D]),
            help="Refuse to run with a weaker sandbox.",
        ),
        click.option("--sandbox", "wanted", type=GRADES, default="auto", help="See `arena doctor`."),
    ):
        with_sandbox = option(with_sandbox)
    return cast("Command", with_sandbox)


certificates_option = click.option(
    "--certificates",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    envvar="ARENA_CERTIFICATES",
    show_envvar=True,
    help="With ca.pem, cert.pem and key.pem, for --cluster.  [default: as Dask is configured]",
)


def cluster_options(command: Command) -> Command:
    """Add `--cluster` and `--certificates`; under `sandbox_options` they are part of the `machine`."""
    cluster_option = click.option(
        "--cluster",
        metavar="ADDRESS",
        envvar="ARENA_CLUSTER",
        show_envvar=True,
        help="Play on the hosts of this Dask cluster, such as tls://10.0.0.1:8786.",
    )
    return cluster_option(certificates_option(command))


def conditions_options(command: Command) -> Command:
    """Add those of `limit_options` and `sandbox_options`, and pass them to the command as its `conditions`."""

    @wraps(command)
    def with_conditions(*args: Any, limits: Limits, machine: Machine, **rest: Any) -> Any:
        return command(*args, conditions=Conditions(limits, machine), **rest)

    return cast("Command", limit_options(sandbox_options(with_conditions)))


def seed_bytes(text: str) -> bytes:
    """Return the seed of matches, 32 bytes, that a text given with --seed stands for."""
    return sha256(text.encode("utf-8", "surrogateescape")).digest()


class SeatedGame(NamedTuple):
    """The game of a ladder, and for how many players."""

    game: Game[Any]
    seats: int

    @property
    def title(self) -> str:
        """Its name for people: "Buttons, 2 players"."""
        return title(self.game, self.seats)


def seated_game_options(command: Command) -> Command:
    """Add the options for a game and its number of players, and pass both to the command as `seated`."""

    @wraps(command)
    def with_seated(*args: Any, game: Game[Any], players: int | None, **rest: Any) -> Any:
        return command(*args, seated=SeatedGame(game, check_players(game, players)), **rest)

    return cast("Command", game_option(players_option(with_seated)))


class Setting(NamedTuple):
    """The game, its options and the time limits with which matches are played."""

    game: Game[Any]
    options: Options
    limits: Limits


def setting_options(command: Command) -> Command:
    """Add the options for a game's options and limits, and pass them with the game to the command as `setting`.

    The command must have `game_option`, too.
    """

    @wraps(command)
    def with_setting(*args: Any, game: Game[Any], options: Sequence[str], limits: Limits, **rest: Any) -> Any:
        return command(*args, setting=Setting(game, _check_options(game, options), limits), **rest)

    add_option = click.option(
        "-o", "--option", "options", multiple=True, metavar="NAME=JSON", help="Set an option of the game; repeat."
    )
    return cast("Command", add_option(limit_options(with_setting)))


def check_players(game: Game[Any], players: int | None) -> int:
    """Return the number of seats, by default the game's fewest. Raises click.UsageError if the game forbids it."""
    if players is None:
        return game.seats[0]
    if players not in game.seats:
        raise click.UsageError(f"{game.title} is for {game.seats[0]} to {game.seats[-1]} players, not {players}")
    return players


def _check_options(game: Game[Any], assignments: Sequence[str]) -> Options:
    """Return the options of a game, with those set that are given as NAME=JSON. Raises click.UsageError."""
    try:
        return game.options(dict(_name_and_value(text) for text in assignments))
    except BadOption as error:
        raise click.UsageError(str(error)) from error


def _name_and_value(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value, parse_constant=_no_json)
    except (ValueError, RecursionError):
        excerpt = suggest.short(text)
        raise click.UsageError(f"{excerpt} is no option of a game: write NAME=JSON, such as max_rounds=20") from None


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
