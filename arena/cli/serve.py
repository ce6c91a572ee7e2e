"""The `arena serve` command."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.options import Whole, home_option
from arena.cli.output import printable, say


@click.command()
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen at; others can then look, too.")
@click.option("--port", type=Whole(1, 65535), default=8080, metavar="N", help="Port to listen at.")
@click.option("--open", "opens", is_flag=True, help="Show the site in a browser.")
@home_option
def serve(host: str, port: int, opens: bool, home: Path) -> None:
    """Show ladders, bots and matches in a browser, until Ctrl-C.

    The site shows what the home has, and what a ladder that runs in another terminal adds to it. It changes nothing.
    Only this machine can look at it unless --host says otherwise, as --host 0.0.0.0 for everybody in the network.

    \b
    Example:
      arena serve --open
    """
    from arena.site import server

    if not host:
        raise click.BadParameter("it is empty: name an address, as 127.0.0.1", param_hint="--host")
    try:
        with server.listening(host, port) as (socket, address):
            say(f"{address} shows {printable(repr(str(home)))}; Ctrl-C ends it")
            if opens:
                click.launch(address)
            server.serve(home, host, socket)
    except server.CannotListen as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the site has ended") from None
