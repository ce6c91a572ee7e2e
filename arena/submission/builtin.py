"""The built-in bots, which come with the arena."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec

from arena.submission.program import Program, files_in, program


class _BuiltIn(msgspec.Struct, forbid_unknown_fields=True):
    """A row of `bots.toml`, the table of built-in bots."""

    about: str
    games: list[str]
    slow: tuple[str, ...] = ()
    """Games in which the bot takes more than 2 ms a decision; their ladders leave it out unless it is named."""


@cache
def built_ins() -> dict[str, Program]:
    """Return the built-in bots by name; they share one folder."""
    root = bots_folder() / "python" / "builtin"
    table = msgspec.toml.decode((root / "bots.toml").read_bytes(), type=dict[str, _BuiltIn])
    files = files_in(root, str(root))
    return {
        name: replace(program(name, bot.games, ("python", "bot.py", name), root, files, about=bot.about), slow=bot.slow)
        for name, bot in table.items()
    }


def bots_folder() -> Path:
    """Return the folder `bots` of the checkout or, when installed, its copy inside `arena`."""
    package = Path(__file__).parent.parent
    installed = package / "_bots"
    return installed if installed.exists() else package.parent / "bots"
