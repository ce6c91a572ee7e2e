"""The `arena bench` command, of a clone: an installed arena comes without this package."""

from __future__ import annotations

from typing import Any

import click

from arena.bench.bench_run import run_bench as measured
from arena.bench.fields import field_table
from arena.core.compilation import prepare_core
from arena.reports.bench_report import Bench
from arena.sandbox.launching import prepare_launcher
from arena.terminal.options import Seconds, Whole, jobs_option, json_option
from arena.terminal.output import draw, print_json, table
from arena.terminal.stderr import say


@click.command()
@click.option("--only", multiple=True, metavar="PART", help="A part, or one case of it, such as ladder/birth; repeat.")
@click.option(
    "--seconds",
    type=Seconds(),
    default="2s",
    help="About how long a ladder plays in each repeat.",
)
@click.option("--repeats", type=Whole(1, 100), metavar="N", default=3, help="Rounds over all parts.")
@jobs_option
@json_option
def bench(only: tuple[str, ...], seconds: float, repeats: int, jobs: int, as_json: bool) -> None:
    """Measure how fast this arena is on this machine.

    Nothing else should run on the machine meanwhile. Ratios are printed first: they say more than rates, which differ
    from machine to machine.

    \b
    Example:
      arena bench --only ladder --only raw_grpc
    """
    prepare_core(say)
    prepare_launcher(say)
    try:
        bench_report = measured(only, jobs=jobs, seconds=seconds, repeats=repeats, say=say)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        print_json(Bench(**bench_report))
    else:
        _draw(bench_report)


def _draw(bench_report: dict[str, Any]) -> None:
    click.echo(", ".join(f"{name} {value}" for name, value in bench_report["machine"].items()))
    if bench_report["ratios"]:
        rows = table("ratio", "case", "value", right=["value"])
        for name, cases in bench_report["ratios"].items():
            for case, value in cases.items():
                rows.add_row(name, case, f"{value:.3g}")
        draw(rows)
    rows = table("part", "case", "measure", "median", "least", "most", right=["median", "least", "most"])
    for kind, of_kind in bench_report["figures"].items():
        for case, measures in of_kind.items():
            for measure, spread in measures.items():
                rows.add_row(kind, case, measure, *(f"{value:,.4g}" for value in spread.values()))
    draw(rows)
    if fields := bench_report["figures"].get("fields"):
        for line in field_table(fields, bench_report["ratios"]):
            click.echo(line)
    for note in bench_report["method"]["notes"]:
        click.echo(note)
