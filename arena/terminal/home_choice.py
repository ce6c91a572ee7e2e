"""Say which home a command works in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from arena.base.homes import HOME_NAME
from arena.terminal.output import printable
from arena.terminal.stderr import say


def say_if_above(home: Path) -> None:
    """Print which home a command changes, if it was found in a folder above: people may expect one here."""
    source = click.get_current_context().get_parameter_source("home")
    if source is ParameterSource.DEFAULT and home != HOME_NAME:
        say(f"using the home {printable(repr(str(home)))}")


def words_for(home: Path) -> Sequence[str]:
    """Return the words with which a command works in a home, wherever it was found; none if it is the usual one."""
    return ("--home", str(home)) if home != HOME_NAME else ()


def option(home: Path) -> list[str]:
    """Return the words that name a home, for a command to go on with; none if nobody named one."""
    source = click.get_current_context().get_parameter_source("home")
    return ["--home", str(home)] if source is ParameterSource.COMMANDLINE else []
