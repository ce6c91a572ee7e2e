"""The `arena` command. Each group of commands has a small module: parse, call one function, print."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
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


COMMANDS = {
    "games": Command("games", "List the games and the options of each."),
    "bots": Command("bots", "List the built-in and the submitted bots."),
    "new": Command("new", "Make a folder with a bot to begin with."),
    "submit": Command("submit", "Enter a bot, if it passes its qualification, or many."),
    "check": Command("check", "Check a bot under the conditions of a ladder."),
    "retire": Command("bots", "Take bots, or single versions of them, out of ladders."),
    "annul": Command("corrections", "Let a match, or those of a bot, no longer count."),
    "ban": Command("corrections", "Take a bot out for good, and annul its matches."),
    "rename": Command("corrections", "Show a bot under another name."),
    "log": Command("corrections", "Show who changed what by hand, when and why."),
    "match": Command("match", "Play bots against each other, unrated, in the order given."),
    "play": Command("play", "Play against bots yourself, in the terminal or in a browser."),
    "ladder": Command("ladder", "Play the missing matches of a ladder, then show who leads."),
    "leaderboard": Command("leaderboard", "Show who is best, and how sure that is."),
    "serve": Command("serve", "Show ladders, bots and matches in a browser, until Ctrl-C."),
    "publish": Command("publish", "Write the site of `arena serve` as files into DIR."),
    "compare": Command("compare", "Find out whether bot A is better than B."),
    "show": Command("show", "Show what happened in a match, or how a bot did."),
    "debug": Command("debug", "Ask another build of a bot what it was asked in a match."),
    "replay": Command("replay", "Show a match step by step: board, dice, choices and times."),
    "verify": Command("verify", "Check everything that is stored."),
    "export": Command("data", "Print stored results as a table for other programs."),
    "backup": Command("data", "Copy a home to DIR: its database, and the programs of all bots."),
    "restore": Command("data", "Make a home from DIR, which `arena backup` made."),
    "doctor": Command("doctor", "Say what confines bots here, and what plays their matches."),
    "selftest": Command("selftest", "Test the sandbox with attacks like those of a hostile bot."),
    "bench": Command("bench", "Measure how fast this arena is on this machine."),
    "completion": Command("completion", "Print a shell script that completes commands and options."),
}
"""The commands, in the order in which the help lists them."""


class Commands(click.Group):
    """Group that imports a command's module when the command is used, and prints expected failures as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"arena.cli.{COMMANDS[cmd_name].module}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.short_help) for name, command in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        found = [(name, command) for name, command in COMMANDS.items() if name.startswith(incomplete)]
        return [CompletionItem(name, help=command.short_help) for name, command in found]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
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
