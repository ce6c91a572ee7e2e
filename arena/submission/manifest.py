"""What `bot.toml` may say, and what a bot may be called."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from arena import games
from arena.sandbox.grades import LEAST
from arena.suggest import short

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
MAX_MANIFEST = 64 * 1024
BEYOND = 10**9
"""No machine has so much of anything; messages have room for numbers below."""
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", ".": "-", "_": "-"})

Command = Annotated[list[Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(min_length=1, max_length=100)]
"""A program and its arguments. No shell ever sees it."""


class BadSubmission(ValueError):
    """What was handed in cannot be a bot; the message is one line that says what is expected."""


Protocol: TypeAlias = Literal["grpc", "stdio"]
"""How a bot speaks with the arena: by itself, or in lines on its standard input and output."""


class Needs(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a bot wishes for of the machine, in `[limits]`: memory, and processes and threads together.

    How much of that it may have is for whoever runs the arena to say: `Sandbox.allowed`.
    """

    memory_mib: Annotated[int, msgspec.Meta(ge=LEAST.memory_mib, lt=BEYOND)] | None = None
    tasks: Annotated[int, msgspec.Meta(ge=LEAST.tasks, lt=BEYOND)] | None = None


DEFAULT_NEEDS = Needs()


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """What `bot.toml` says."""

    run: Command
    """The command; `python` is the arena's own interpreter, with the SDK and the games."""
    protocol: Protocol = "grpc"
    name: str | None = None
    games: list[str] | None = None
    """The games it plays; all of them if not said."""
    language: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9+#.-]{0,20}$")] = ""
    """What it is written in, for people."""
    about: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """What it does, in a line."""
    build: Annotated[list[Command], msgspec.Meta(max_length=20)] = []
    """Commands that make the program from what was handed in, in its folder, one after the other."""
    limits: Needs = DEFAULT_NEEDS


def check_name(name: str, otherwise: str = "rename it") -> str:
    """The name, if it may be a bot's; `otherwise` is what to do if not. Raises BadSubmission, which offers one."""
    if NAME.fullmatch(name):
        return name
    allowed = "1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit"
    near = NAME.search(re.sub(r"[^a-z0-9._-]", "", name.lower().replace("+", "p")))
    offer = f": {near.group()}" if near else ""
    raise BadSubmission(f"{short(name)} cannot be a bot's name: {allowed}; {otherwise}{offer}")


def skeleton(name: str) -> str:
    """A name as a hasty reader sees it: two bots whose names share it would be taken for each other."""
    return name.replace("rn", "m").replace("vv", "w").translate(_ALIKE)


def load(toml: Path, shown: str) -> Manifest:
    """The manifest in a file, which messages call `shown`. Raises BadSubmission."""
    with toml.open("rb") as file:
        content = file.read(MAX_MANIFEST + 1)
    if len(content) > MAX_MANIFEST:
        raise BadSubmission(f"{shown!r} is longer than {MAX_MANIFEST // 1024} KiB")
    try:
        manifest = msgspec.toml.decode(content, type=Manifest)
        for command in (manifest.run, *manifest.build):
            _check_command(command)
        _check_program(manifest.run[0])
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadSubmission(f"{shown!r}: {error}; {_expected()}") from error
    return manifest


def _check_command(command: list[str]) -> None:
    if not command[0] or not all(word.isprintable() for word in command):
        raise ValueError(f"{short(' '.join(command))} is no command of a program and arguments that can be printed")


def _check_program(program: str) -> None:
    """What runs is the bot's own, or is found by name; a path into the machine is neither."""
    path = PurePosixPath(program)
    if path.is_absolute() or ".." in path.parts or program.startswith("~"):
        raise ValueError(f"run begins with {short(program)}: name a program of the machine, or ./one of your folder")


def _expected() -> str:
    keys = ", ".join(field.name for field in msgspec.structs.fields(Manifest))
    protocols = ", ".join(get_args(Protocol))
    least = 'the least is run = ["python", "bot.py"]'
    return f"keys are {keys}; {least}; games are {', '.join(games.names())}; protocols are {protocols}"
