"""The `arena serve` command, and the site on which `arena play --browser` shows its match."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from arena.site import server
from arena.site.tables import Seating, Tables
from arena.terminal.options import Whole, home_option
from arena.terminal.output import printable
from arena.terminal.stderr import say


@click.command()
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen at; others can then look, too.")
@click.option("--port", type=Whole(1, 65535), default=8080, metavar="N", help="Port to listen at.")
@click.option("--open", "opens", is_flag=True, help="Show the site in a browser.")
@click.option("--no-play", is_flag=True, help="Let nobody play against bots on the site.")
@home_option
def serve(host: str, port: int, opens: bool, no_play: bool, home: Path) -> None:
    """Show ladders, bots and matches in a browser, until Ctrl-C.

    The site shows what the home has, and what a ladder that runs in another terminal adds to it. Who sees it can play
    against the bots; nothing of that is rated. Only this machine can look at it unless --host says otherwise, as
    --host 0.0.0.0 for everybody in the network.

    \b
    Example:
      arena serve --open
    """
    if not host:
        raise click.BadParameter("it is empty: name an address, as 127.0.0.1", param_hint="--host")

    what = f"shows {printable(repr(str(home)))}" + ", which is not there yet" * (not home.exists())
    _serve(home, host, port, None if no_play else Tables(play_command(home)), what=what, opens=opens)


def play_command(home: Path) -> list[str]:
    """Return how a process for a table of a home begins; what to play there is still to follow."""
    # -P: the current folder may have bots in it, which must not be imported as modules
    return [sys.executable, "-P", "-m", "arena.cli", "play", "--lines", "--home", str(home)]


def serve_table(game: str, words: Sequence[str], once: Sequence[str], home: Path, *, opens: bool) -> None:
    """Serve the site of a home with one table; `words` stand after `arena play`, for the first match `once` does, too.

    Print how matches there end.

    Whoever plays there is the owner of the home, and has all the time in the world.
    """
    tables = Tables(play_command(home), idle=math.inf, when_over=lambda lines: click.echo("\n".join(lines)))
    table = tables.add(Seating(game, words, once=once))
    _serve(home, "127.0.0.1", 0, tables, what="is your table", opens=opens, path=f"play/{table.name}")


def _serve(home: Path, host: str, port: int, tables: Tables | None, *, what: str, opens: bool, path: str = "") -> None:
    try:
        with server.listening(host, port) as (socket, address):
            say(f"{address}{path} {what}; Ctrl-C ends it")
            if opens:
                click.launch(f"{address}{path}")
            server.serve_site(home, host, socket, tables)
    except server.CannotListen as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the site has ended") from None
