"""The `arena selftest` command."""

from __future__ import annotations

import click

from arena.reports import machine_report
from arena.sandbox import probe
from arena.sandbox.attack_run import run_attacks
from arena.sandbox.grades import Grade
from arena.terminal.options import json_option
from arena.terminal.output import draw, print_json, printable, progress, table

_CHECK_FAILED = 3


@click.command()
@click.option(
    "--sandbox",
    "wanted",
    type=click.Choice(["auto", *(grade.value for grade in Grade)]),
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
    sandbox = probe(None if wanted == "auto" else Grade(wanted))
    with progress("attacks") as report:
        verdicts = run_attacks(sandbox, report)
    if as_json:
        print_json(machine_report.attack_results(sandbox, verdicts))
    else:
        rows = table("attack", "", "how it ended")
        for each in verdicts:
            held = "held" if not each.achieved else "NOT HELD" if each.promised else "not promised"
            rows.add_row(
                each.attack.replace("_", " "), held if each.ran else "NEVER RAN", printable(each.achieved or each.end)
            )
        draw(rows)
        well = sum(each.is_well for each in verdicts)
        click.echo(f"sandbox grade {sandbox.grade}: {well} of {len(verdicts)} as promised")
    if not all(each.is_well for each in verdicts):
        raise SystemExit(_CHECK_FAILED)
