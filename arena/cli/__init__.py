"""The `arena` command. Each group of commands has a small module: parse, call one function, print."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click

from arena.cli import streams
from arena.cli.failures import interruptible, one_line_errors
from arena.cli.output import warnings_said
from arena.garbage import collect_rarely

COMMANDS = {
    "games": "games",
    "bots": "bots",
    "new": "new",
    "submit": "submit",
    "check": "check",
    "retire": "bots",
    "annul": "corrections",
    "ban": "corrections",
    "rename": "corrections",
    "log": "corrections",
    "match": "match",
    "play": "play",
    "ladder": "ladder",
    "leaderboard": "leaderboard",
    "serve": "serve",
    "publish": "publish",
    "compare": "compare",
    "show": "show",
    "debug": "debug",
    "replay": "replay",
    "verify": "verify",
    "export": "data",
    "backup": "data",
    "restore": "data",
    "doctor": "doctor",
    "selftest": "selftest",
    "bench": "bench",
    "completion": "completion",
}
"""The module of each command, in the order in which the help lists them."""


class Commands(click.Group):
    """Group that imports a command's module when the command is used, and prints expected failures as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"arena.cli.{COMMANDS[cmd_name]}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from arena.suggest import unknown

            ctx.fail(unknown("command", args[0], COMMANDS))
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        if isinstance(sys.stdout, TextIOWrapper):  # a dash, which Latin-1 lacks, must not end a command
            sys.stdout.reconfigure(errors="replace")
        with one_line_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with one_line_errors(), interruptible(), warnings_said():
            value = super().invoke(ctx)
            sys.stdout.flush()  # here a failure is one line; at Python's end it would be a traceback
            return value


@click.group(
    cls=Commands,
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
    """Be the process of an `arena` command.

    Before a command begins and after it has ended, Ctrl-C ends the process at once. Python would raise it wherever it
    is, also where nobody can catch it any more, and print a traceback.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    streams.secure()
    collect_rarely()
    main()
