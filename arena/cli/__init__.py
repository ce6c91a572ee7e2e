"""The `arena` command. Each group of commands has a small module: parse, call one function, print."""

from __future__ import annotations

import click

from arena.cli.command_list import COMMANDS
from arena.terminal.command_group import Commands, begin_process


@click.group(
    cls=Commands,
    listed=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100},
)
@click.version_option(package_name="arena")
def main() -> None:
    """Programs in any language play dice games; the arena says which is better.

    \b
    Example:
      arena ladder --game buttons   play the built-in bots, see who leads
      arena submit mybot.py         enter your own, then run the ladder again
    """


def run() -> None:
    """Be the process of an `arena` command."""
    begin_process()
    main()
