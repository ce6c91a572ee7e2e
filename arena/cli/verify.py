"""The `arena verify` command."""

from __future__ import annotations

from pathlib import Path

import click

from arena.reports import verify_report
from arena.terminal.host_choice import hosts
from arena.terminal.machine import Machine
from arena.terminal.options import certificates_option, home_option, jobs_option, json_option
from arena.terminal.output import SOON, print_json, printable, progress
from arena.terminal.stderr import say
from arena.tournament.verification import Difference
from arena.tournament.verification import verify_home as verified

_DIFFERS = 3
"""The exit code when something stored differs from what is computed anew."""


@click.command()
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Have the hosts of this Dask cluster replay the matches; ARENA_CLUSTER is not heeded here.",
)
@certificates_option
@jobs_option
@home_option
@json_option
def verify(cluster: str | None, certificates: Path | None, jobs: int, home: Path, as_json: bool) -> None:
    """Check everything that is stored.

    Every match is played again from its record, with all dice and by the rules; schedule, seeds and ratings are
    computed anew. The first difference found is printed, and the exit code is then 3.

    \b
    Example:
      arena verify
    """
    machines = None if cluster is None else hosts(Machine.for_replays(home, cluster, certificates), jobs)
    with progress("verifying", first=SOON) as report:
        verdict = verified(home, jobs=jobs, report=report, hosts=machines)
    if as_json:
        print_json(verify_report.verified(verdict))
    for remark in verdict.remarks:
        say(remark)
    if verdict.difference is not None:
        say(f"{_where(verdict.difference)}: {printable(verdict.difference.what)}")
        raise SystemExit(_DIFFERS)
    if not as_json:
        what = f"{verdict.matches:,} matches, their schedule and ratings"
        click.echo(f"{what}: all agree with what follows from seeds and choices")


def _where(difference: Difference) -> str:
    names = {"ladder": difference.ladder, "match": difference.match}
    return ", ".join(f"{name} {value}" for name, value in names.items() if value) or "the home"
