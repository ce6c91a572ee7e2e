"""Measure the coordinator of a cluster alone: it plans, deals, stores and rates what many simulated hosts deliver.

It has one core. The hosts and Dask, its scheduler included, have the others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from arena.bench import real_ladders, simulated_hosts
from arena.bench.cases import REFERENCE, BenchSetting
from arena.bench.figures import Sample, Sampler
from arena.cluster import NO_DASK, ClusterError, endpoint
from arena.cluster.coordinator import ClusterHosts
from arena.cluster.dask_engine import DaskEngine
from arena.cluster.engine import Function
from arena.sandbox import UNCONFINED
from arena.tournament.worker_pool import Workers

_RATE = 3_000
"""Matches a second that it is assumed to take in, roughly: a repeat is the same work on any machine."""
_BOTS = 16
"""Bots in the ladder; none of them is ever started, and any number would do."""
_CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=arena"
"""Command that makes a certificate for a day."""
_SIMULATED: Mapping[Function, Function] = {
    endpoint.join_cluster: simulated_hosts.join_hosts,
    endpoint.ask: simulated_hosts.ask_hosts,
    endpoint.leave: simulated_hosts.leave_hosts,
}
"""What is called in place of each function of a host's."""


class SimulatedEngine(DaskEngine):
    """Dask whose workers only seem to play."""

    async def call(self, address: str, function: Function, session: str, request: bytes) -> bytes:
        """Call what a simulated host has in the place of this function."""
        return await super().call(address, _SIMULATED[function], session, request)


@contextmanager
def intake(setting: BenchSetting, hosts: int) -> Iterator[Sampler]:
    """Measure ladders of made-up results, delivered by so many hosts."""
    cores = sorted(os.sched_getaffinity(0))
    programs = [real_ladders.bench_program(setting.scratch / f"bot{number}", ["none"]) for number in range(_BOTS)]
    with ExitStack() as on_exit:
        address = on_exit.enter_context(_simulated(hosts, setting.scratch, cores[1:] or cores))
        engine = SimulatedEngine(address, simulated_hosts.host_certificates(setting.scratch))
        machines = ClusterHosts(engine, sandbox=UNCONFINED, logs=True)
        workers = on_exit.enter_context(Workers(machines, all_play=True))
        stand = real_ladders.Stand(REFERENCE, programs, workers, setting.scratch)
        stand.play(1)

        def sample() -> Sample:
            with _pinned(cores[:1]):
                cpu = time.process_time()
                leg = stand.play(max(_BOTS * hosts, int(_RATE * setting.seconds)))
                cpu = time.process_time() - cpu
            share = cpu / leg.seconds
            return {
                "matches_per_s": leg.matches / leg.seconds,
                "cpu_us_per_match": cpu * 1e6 / leg.matches,
                "share_of_its_core": share,
            }

        yield sample


@contextmanager
def _simulated(hosts: int, scratch: Path, cores: Collection[int]) -> Iterator[str]:
    """Yield the address of a cluster whose hosts run on these cores."""
    _make_certificates(simulated_hosts.host_certificates(scratch))
    words = [sys.executable, "-m", "arena.bench.simulated_hosts", str(hosts), str(scratch)]
    # A group of its own hears no Ctrl-C, at which it would print; in a session of its own it would pass for an orphan.
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0) as process:
        os.sched_setaffinity(process.pid, cores)
        assert process.stdout is not None
        if not (address := process.stdout.readline().strip()):
            raise ClusterError(NO_DASK)
        yield address


def _make_certificates(folder: Path) -> None:
    """Make a key, and a certificate that is its own authority, in a new folder."""
    folder.mkdir(mode=0o700)
    outputs = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    try:
        subprocess.run([*_CERTIFICATE.split(), *outputs], capture_output=True, check=True)
    except FileNotFoundError as error:
        raise ClusterError("there is no openssl, with which a cluster gets its certificates") from error
    shutil.copy(folder / "cert.pem", folder / "ca.pem")


@contextmanager
def _pinned(cores: Collection[int]) -> Iterator[None]:
    """Keep all threads of this process on these cores."""
    before = os.sched_getaffinity(0)
    try:
        _pin(cores)
        yield
    finally:
        _pin(before)


def _pin(cores: Collection[int]) -> None:
    for thread in psutil.Process().threads():
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(thread.id, cores)
