"""The `arena doctor` command."""

from __future__ import annotations

from pathlib import Path

import click

from arena.reports import machine_report
from arena.terminal.failures import OneLine
from arena.terminal.options import cluster_options, json_option
from arena.terminal.output import draw, print_json, printable, table

_NOT_ALL = 3
"""Exit code if a host of a cluster cannot take part."""


@click.command()
@cluster_options
@json_option
def doctor(cluster: str | None, certificates: Path | None, as_json: bool) -> None:
    """Say what confines bots here, and what plays their matches.

    Every layer of the sandbox is tried out, not just looked up. Grade A is the best, D the weakest. With --cluster each
    host of a cluster is asked what it is; the exit code is 3 if one of them cannot take part.

    \b
    Example:
      arena doctor
      arena doctor --cluster tls://10.0.0.1:8786 --certificates certificates
    """
    if cluster is not None:
        return _hosts(cluster, certificates, as_json=as_json)

    report = machine_report.machine_state()
    if as_json:
        return print_json(report)
    rows = table("layer", "here", "what for, or why not")
    for layer in report.layers:
        rows.add_row(layer.name, "on" if layer.on else "off", printable(layer.why))
    draw(rows)
    click.echo(f"sandbox grade {report.grade}: {report.promise}")
    for name, compiled in (("core", report.core), ("launcher", report.launcher)):
        click.echo(f"compiled {name} {'on' if compiled.on else 'off'}: {compiled.why}")
    return None


def _hosts(address: str, certificates: Path | None, *, as_json: bool) -> None:
    """Print what the hosts of a cluster say of themselves."""
    report = machine_report.cluster_state(address, certificates)
    if as_json:
        print_json(report)
    else:
        rows = table("host", "at once", "grade", "machine", "Python", "clock", "has", "problem")
        for host in report.hosts:
            clock = "" if host.clock_ahead is None else f"{host.clock_ahead:+z.1f} s"
            has = ", ".join(host.toolchains)
            kinds = host.grade or "", host.machine or "", host.python or ""
            rows.add_row(printable(host.name), str(host.jobs), *kinds, clock, has, printable(host.problem or ""))
        draw(rows)
    if any(host.problem for host in report.hosts):
        raise SystemExit(_NOT_ALL)
    if not report.hosts:
        raise OneLine(f"no host has joined {address}: start dask worker on one")
