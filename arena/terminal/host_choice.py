"""Where the matches of a command are played: on this machine, or on the hosts of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from arena.cluster import tally
from arena.cluster.coordinator import ClusterHosts
from arena.cluster.tally import Tally
from arena.terminal.machine import Machine
from arena.terminal.output import Announcer, printable
from arena.terminal.stderr import say
from arena.worker.capacity import NoRoom, check_memory
from arena.worker.hosts import Hosts
from arena.worker.local_host import LocalHost
from arena.worker.progress import ProgressReport


def hosts(
    machine: Machine, jobs: int, *, in_flight: int | None = None, memory: int | None = None, logs: bool = False
) -> Hosts:
    """Return the hosts of a cluster or, without one, this machine with so many workers at most.

    All bots of a machine may take so many bytes of `memory` together; None: half of what is free.
    """
    cluster, sandbox = machine.cluster, machine.sandbox
    if cluster is None:
        return LocalHost(jobs, in_flight=in_flight, memory=memory, sandbox=sandbox, logs=logs)
    from arena.cluster.dask_engine import DaskEngine

    return ClusterHosts(
        DaskEngine(cluster.address, cluster.certificates),
        sandbox=sandbox,
        wanted=cluster.wanted,
        least=cluster.least,
        in_flight=in_flight,
        memory=memory,
        logs=logs,
        say=lambda line: say(printable(line)),
    )


def check_lent(memory: int | None, machine: Machine, jobs: int, seats: int) -> None:
    """Raise click.BadParameter if so much `memory` is not here, or too little for a match by each worker.

    Each host of a cluster looks for itself.
    """
    if memory is None or machine.cluster is not None:
        return
    try:
        check_memory(memory, jobs, seats)
    except NoRoom as error:
        raise click.BadParameter(str(error), param_hint="--memory") from error


def _tallies(hosts: Hosts) -> Mapping[str, Tally]:
    """Return what each host of a cluster has played so far, kept up to date; empty for this machine."""
    if isinstance(hosts, LocalHost):
        return {}

    assert isinstance(hosts, ClusterHosts)
    return hosts.tallies


def summary(hosts: Hosts) -> Iterator[str]:
    """Yield lines about what each host of a cluster has played, none for this machine."""
    return tally.lines(_tallies(hosts))


def by_host(report: Announcer, hosts: Hosts) -> ProgressReport:
    """Return what reports progress, with what each host of a cluster has played beside it."""
    tallies = _tallies(hosts)
    return lambda done, total: report(done, total, printable(tally.note_match(tallies)))
