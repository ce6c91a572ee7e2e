"""The keys of `bot.toml`, and the names that a bot may have."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from arena import games
from arena.base.suggest import short
from arena.sandbox.grades import WEAKEST
from arena.submission.names import ALLOWED, NAME, proposed
from arena_bot.text import decoded

MAX_MANIFEST = 64 * 1024
"""Bytes of the largest bot.toml that is read: people write far fewer, and a few times more would do as well."""
_BEYOND = 10**9
"""Exclusive upper bound of limits: no machine has so much of anything, and messages have room for smaller numbers."""
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", ".": "-", "_": "-"})
"""Characters that a hasty reader takes for each other."""

Command = Annotated[list[Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(min_length=1, max_length=100)]
"""A program and its arguments. It is never passed to a shell."""


class BadSubmission(ValueError):
    """Error for a submission that cannot be a bot; the message is one line that says what is expected."""


Protocol: TypeAlias = Literal["grpc", "stdio"]
"""How a bot talks to the arena: by gRPC itself, or in lines on its standard input and output."""


class Needs(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a bot asks of the machine, in `[limits]`: memory, and the number of processes and threads together.

    How much of it a bot may have is decided by whoever runs the arena: `Sandbox.allowed`.
    """

    memory_mib: Annotated[int, msgspec.Meta(ge=WEAKEST.memory_mib, lt=_BEYOND)] | None = None
    tasks: Annotated[int, msgspec.Meta(ge=WEAKEST.tasks, lt=_BEYOND)] | None = None


DEFAULT_NEEDS = Needs()
"""What a bot asks for that says nothing of limits."""


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """Content of `bot.toml`."""

    run: Command
    """The command; `python` stands for the arena's own interpreter, with the SDK and the games."""
    protocol: Protocol = "grpc"
    name: str | None = None
    games: list[str] | None = None
    """Games that the bot plays; None: all games."""
    language: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9+#.-]{0,20}\Z")] = ""
    """Language that the bot is written in, for people."""
    about: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """What the bot does, in one line."""
    build: Annotated[list[Command], msgspec.Meta(max_length=20)] = []
    """Commands that build the program in its folder from what was handed in, one after the other."""
    limits: Needs = DEFAULT_NEEDS


def check_name(name: str, otherwise: str = "rename it") -> str:
    """Return the name if a bot may have it.

    Raises BadSubmission, which says what to do (`otherwise`) and offers a name.
    """
    if NAME.fullmatch(name):
        return name
    near = proposed(name)
    offer = f": {near}" if near else ""
    raise BadSubmission(f"{short(name)} cannot be a bot's name: {ALLOWED}; {otherwise}{offer}")


def name_from(text: str) -> str:
    """Return the name of a bot whose file or folder is called so. Raises BadSubmission if the text makes no name."""
    name = proposed(text)
    if name is None:
        raise BadSubmission(f"{short(text)} makes no name for a bot: {ALLOWED}; choose one with --name")
    return name


def skeleton(name: str) -> str:
    """Return a name as a hasty reader sees it: bots whose names have the same skeleton would be confused."""
    return name.replace("rn", "m").replace("vv", "w").translate(_ALIKE)


def load(toml: Path, label: str) -> Manifest:
    """Read the manifest in a file, which messages call `label`. Raises BadSubmission."""
    with toml.open("rb") as file:
        content = file.read(MAX_MANIFEST + 1)
    if len(content) > MAX_MANIFEST:
        raise BadSubmission(f"{label!r} is longer than {MAX_MANIFEST // 1024} KiB")
    try:
        manifest = msgspec.toml.decode(decoded(content), type=Manifest)
        for command in (manifest.run, *manifest.build):
            _check_command(command)
        _check_program(manifest.run[0])
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadSubmission(f"{label!r}: {error}; {_expected()}") from error
    return manifest


def _check_command(command: list[str]) -> None:
    if not command[0] or not all(word.isprintable() for word in command):
        raise ValueError(f"{short(' '.join(command))} is no command of a program and arguments that can be printed")


def _check_program(program: str) -> None:
    """Raise ValueError unless the program is in the bot's folder or found by name, and not a path into the machine."""
    path = PurePosixPath(program)
    if path.is_absolute() or ".." in path.parts or program.startswith("~"):
        raise ValueError(f"run begins with {short(program)}: name a program of the machine, or ./one of your folder")


def _expected() -> str:
    keys = ", ".join(field.name for field in msgspec.structs.fields(Manifest))
    protocols = ", ".join(get_args(Protocol))
    least = 'the least is run = ["python", "bot.py"]'
    return f"keys are {keys}; {least}; games are {', '.join(games.names())}; protocols are {protocols}"
