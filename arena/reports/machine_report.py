"""What holds bots on this machine, by what was found and by attacks, and what plays matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.core.compilation import find_core
from arena.reports.base import Report
from arena.sandbox import Grade, probe
from arena.sandbox.launching import find_launcher

if TYPE_CHECKING:
    from arena.cluster.inspection import HostFinding


class SandboxLayer(Report):
    """One part of the sandbox; `why` says what it is for or, if it is off, what is missing."""

    name: str
    """Name of the part."""
    on: bool
    """Whether it works here."""
    why: str
    """What it is for or, if it is off, what is missing."""


class Compiled(Report):
    """Whether something compiled is used; if not, `why` says what is missing."""

    on: bool
    """Whether it is used."""
    why: str
    """What it does or, if it is not used, what is missing."""


class Doctor(Report):
    """How well bots can be confined here, and how fast they are played."""

    grade: str
    """Grade of the sandbox, A to D."""
    promise: str
    """What this grade is made of."""
    layers: Sequence[SandboxLayer]
    """Parts of the sandbox."""
    core: Compiled
    """What plays matches of the arena's own games."""
    launcher: Compiled
    """What starts bots."""


class HostCard(Report):
    """What a host of a cluster says of itself; without an answer only the first two, and the problem."""

    name: str
    """Name of the host."""
    jobs: int
    """Number of matches that it may play at once."""
    grade: str | None
    """Grade of its sandbox."""
    machine: str | None
    """Kind of processor, such as "x86_64"."""
    python: str | None
    """Version of its Python."""
    clock_ahead: float | None
    """Seconds by which its clock is ahead of that of this machine."""
    toolchains: Sequence[str]
    """Programs it has that bots may need."""
    problem: str | None
    """Why it cannot take part; None if it can."""


class ClusterState(Report):
    """The hosts of a cluster."""

    hosts: Sequence[HostCard]
    """By name."""


class AttackLine(Report):
    """The result of one attack."""

    attack: str
    """What was tried."""
    ran: bool
    """Whether it could be tried."""
    achieved: str | None
    """What it achieved; None if nothing."""
    promised: bool
    """Whether the grade promises to prevent it."""
    end: str
    """How the attacking process ended."""
    well: bool
    """Whether it ran, and achieved nothing that the grade promises to prevent."""


class Selftest(Report):
    """The results of all attacks."""

    grade: str
    """Grade of the sandbox, A to D."""
    well: bool
    """Whether all attacks ended well."""
    attacks: Sequence[AttackLine]
    """In the order in which they were made."""


def machine_state() -> Doctor:
    """Try out what holds bots on this machine, and report on it."""
    sandbox = probe()
    layers = [SandboxLayer(**layer._asdict()) for layer in sandbox.layers]
    return Doctor(
        grade=sandbox.grade.value,
        promise=sandbox.grade.promise,
        layers=layers,
        core=Compiled(**find_core()._asdict()),
        launcher=Compiled(**find_launcher()._asdict()),
    )


def cluster_state(address: str, certificates: Path | None) -> ClusterState:
    """Ask each host of a Dask cluster what it is, and report on them. Raises ClusterError."""
    from arena.cluster.dask_engine import DaskEngine  # imported here, since Dask may not be installed
    from arena.cluster.inspection import inspect

    return ClusterState(hosts=[_host(finding) for finding in inspect(DaskEngine(address, certificates), None, None)])


def _host(finding: HostFinding) -> HostCard:
    card = finding.card
    return HostCard(
        name=finding.name,
        jobs=finding.jobs,
        grade=card and card.grade.value,
        machine=card and card.versions.machine,
        python=card and card.versions.python,
        clock_ahead=card and round(finding.ahead, 3),
        toolchains=sorted(card.toolchains) if card else [],
        problem=finding.problem,
    )


def attack_results(grade: str | None, report: Callable[[int, int], None]) -> Selftest:
    """Attack this machine from inside its sandbox, of this grade or else of the best, and report on what came of it."""
    from arena.sandbox.attack_run import run_attacks  # imported here, since `arena doctor` needs no attacks

    sandbox = probe(None if grade is None else Grade(grade))
    verdicts = run_attacks(sandbox, report)
    attacks = [AttackLine(**verdict._asdict(), well=verdict.is_well) for verdict in verdicts]
    return Selftest(grade=sandbox.grade.value, well=all(attack.well for attack in attacks), attacks=attacks)
