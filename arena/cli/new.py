"""The `arena new` command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from arena.reports.bots_report import NewBot
from arena.submission.templates import make, templates
from arena.submission.tools import install_hint, missing_tools
from arena.terminal.options import begin_with, json_option, plays_option
from arena.terminal.output import print_json
from arena.terminal.stderr import say
from arena.terminal.typed import typed_as


@click.command()
@click.argument("bot", type=click.Path(path_type=Path))
@click.option("-l", "--language", default="python", metavar="NAME", help=f"One of {', '.join(sorted(templates()))}.")
@plays_option
@json_option
def new(bot: Path, language: str, plays: tuple[str, ...], as_json: bool) -> None:
    """Make a folder with a bot to begin with.

    BOT is the folder, and its name becomes the bot's. The bot in it plays by a few rules of thumb, until you write
    better ones.

    \b
    Example:
      arena new mybot --language go
    """
    manifest = make(bot, language, plays)
    missing = missing_tools(manifest)
    path = str(bot) if bot.is_absolute() else f"./{bot}"
    game = begin_with(manifest.games or ())
    _tell_what_is_next(bot, game, plays)
    steps = [typed_as("check", path), typed_as("submit", path), typed_as("ladder", "--game", game)]
    if as_json:
        new_bot = NewBot(folder=str(bot), name=manifest.name or "", language=language, missing=missing, next=steps)
        return print_json(new_bot)
    click.echo(f"made {shlex.quote(path)}, {manifest.about}; its README.md has more")
    if missing:
        how = install_hint(missing)
        say(f"this machine lacks {', '.join(missing)}, which it is built or run with{how and f': {how}'}")
    return click.echo("next:\n" + "\n".join(f"  {step}" for step in steps))


def _tell_what_is_next(folder: Path, game: str, plays: Sequence[str]) -> None:
    """Put the commands for this bot into its README.md, where a template's begin with how to make one.

    Of a bot that plays only some games it says so, since the code knows the others, too. The commands are for the
    folder beside it, whatever the current one is: that file goes wherever the bot goes.
    """
    readme, path = folder / "README.md", f"./{folder.name}"
    if not readme.is_file():
        return
    words = (f"check {path}", f"submit {path}", f"ladder --game {game}", f"leaderboard --game {game}")
    lines = "".join(f"    arena {command}\n" for command in words)
    if plays:
        lines += f"\nIt is asked to play {' and '.join(plays)} only, as `games` in `bot.toml` says.\n"
        lines += "What its code has of other games can go.\n"
    readme.write_text(re.sub(r"(?:^    arena .*\n)+", lambda _: lines, readme.read_text(), count=1, flags=re.MULTILINE))
