"""The `arena doctor` command."""

from __future__ import annotations

import click

from arena.cli.options import json_option
from arena.cli.output import draw, print_json, printable, table


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Say what confines bots here, and what plays their matches.

    Every layer of the sandbox is tried out, not just looked up. Grade A is the best, D the weakest.

    \b
    Example:
      arena doctor
    """
    from arena.reports import machine as reports
    from arena.sandbox import probe

    report = reports.doctor(probe())
    if as_json:
        return print_json(report)
    rows = table("layer", "here", "what for, or why not")
    for layer in report.layers:
        rows.add_row(layer.name, "on" if layer.on else "off", printable(layer.why))
    draw(rows)
    click.echo(f"sandbox grade {report.grade}: {report.promise}")
    click.echo(f"compiled core {'on' if report.core.on else 'off'}: {report.core.why}")
    return None
