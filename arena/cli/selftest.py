"""The `arena selftest` command."""

from __future__ import annotations

import click

from arena.reports import machine_report
from arena.terminal.options import GRADES, json_option
from arena.terminal.output import draw, print_json, printable, progress, table

_CHECK_FAILED = 3
"""The exit code when an attack did not run, or achieved what the grade promises to prevent."""


@click.command()
@click.option(
    "--sandbox",
    "wanted",
    type=GRADES,
    is_flag=False,
    flag_value="auto",
    default="auto",
    help="Attack from inside the sandbox, of this grade if one is named.",
)
@json_option
def selftest(wanted: str, as_json: bool) -> None:
    """Test the sandbox with attacks like those of a hostile bot.

    Each attack must prove that it ran. Exit code 3 if one did not run, or achieved what the sandbox's grade promises
    to prevent.

    \b
    Example:
      arena selftest --sandbox
    """
    with progress("attacks") as report:
        found = machine_report.attack_results(None if wanted == "auto" else wanted, report)
    if as_json:
        print_json(found)
    else:
        rows = table("attack", "", "how it ended")
        for verdict in found.attacks:
            held = "held" if not verdict.achieved else "NOT HELD" if verdict.promised else "not promised"
            rows.add_row(
                verdict.attack.replace("_", " "),
                held if verdict.ran else "NEVER RAN",
                printable(verdict.achieved or verdict.end),
            )
        draw(rows)
        well = sum(verdict.well for verdict in found.attacks)
        click.echo(f"sandbox grade {found.grade}: {well} of {len(found.attacks)} as promised")
    if not found.well:
        raise SystemExit(_CHECK_FAILED)
