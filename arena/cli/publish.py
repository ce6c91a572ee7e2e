"""The `arena publish` command."""

from __future__ import annotations

import time
from pathlib import Path

import click

from arena.site import publishing as site
from arena.site.published_folder import CannotPublish
from arena.terminal.options import Whole, home_option, json_option
from arena.terminal.output import print_json, printable, progress

_QUIET = 2.0
"""Seconds after which there is a progress bar: who publishes again is done sooner."""


@click.command()
@click.argument("target", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("-n", "--matches", type=Whole(0), default=200, metavar="N", help="Show at most N matches of each ladder.")
@home_option
@json_option
def publish(target: Path, matches: int, home: Path, as_json: bool) -> None:
    """Write the site of `arena serve` as files into DIR.

    Any web server can send them, and a browser can open them without one. Of each ladder those matches are shown that
    are worth a look, then the latest ones. When there is something new, publish again: only what changed is written.
    DIR must be new, empty, or published before; a ladder may run meanwhile.

    \b
    Example:
      arena publish public
    """
    begun = time.monotonic()
    try:
        with progress("publishing", "files", first=_QUIET) as report:

            def tell(count: int, total: int) -> None:
                if time.monotonic() - begun > _QUIET:
                    report(count, total)

            summary = site.publish_site(home, target, matches, tell)
    except CannotPublish as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt("only a part is published: run it again for the rest") from None
    if as_json:
        return print_json(summary)
    changed = f"{summary.written:,} written, {summary.removed:,} removed"
    return click.echo(printable(f"{summary.files:,} files, {changed}; to look at them: open {summary.open}"))
