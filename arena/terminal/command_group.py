"""The group of commands: it says what there is without loading any, and prints expected failures as one line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from arena.base.garbage import collect_rarely
from arena.base.suggest import unknown
from arena.terminal import streams
from arena.terminal.failures import interruptible, one_line_errors
from arena.terminal.stderr import warnings_said


class Command(NamedTuple):
    """Where a command is, and what it is for in one line: what people are told before its module is imported."""

    module: str
    short_help: str

    @property
    def is_here(self) -> bool:
        """Whether the package of its module is here; this imports neither."""
        return find_spec(self.module.rpartition(".")[0]) is not None


class Commands(click.Group):
    """Group that imports a command's module when the command is used, and prints expected failures as one line."""

    def __init__(self, *args: Any, listed: Mapping[str, Command], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._listed = listed

    def _here(self) -> list[tuple[str, Command]]:
        """Return the commands that this arena has: an installed one lacks those of a clone."""
        return [(name, command) for name, command in self._listed.items() if command.is_here]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [name for name, _ in self._here()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._listed:
            return None
        if not self._listed[cmd_name].is_here:
            ctx.fail(f"`arena {cmd_name}` takes a clone of the arena: what is installed lacks it")
        command = getattr(import_module(self._listed[cmd_name].module), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.short_help) for name, command in self._here()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        found = [(name, command) for name, command in self._here() if name.startswith(incomplete)]
        return [CompletionItem(name, help=command.short_help) for name, command in found]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self._listed and not args[0].startswith("-"):
            ctx.fail(unknown("command", args[0], self.list_commands(ctx)))
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


def begin_process() -> None:
    """Make this process that of an `arena` command.

    Before a command begins and after it has ended, Ctrl-C ends the process at once. Python would raise it wherever it
    is, also where nobody can catch it any more, and print a traceback.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    streams.secure()
    collect_rarely()
