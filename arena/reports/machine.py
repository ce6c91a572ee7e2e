"""What the sandbox holds on this machine: what was found, and what attacks on it came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.reports.base import Report
from arena.sandbox import Sandbox

if TYPE_CHECKING:
    from arena.sandbox.selftest import Verdict  # imports the attacks, which `arena doctor` does not need


class SandboxLayer(Report):
    """One part of the sandbox; `why` says what it is for or, if it is off, what is missing."""

    name: str
    on: bool
    why: str


class Doctor(Report):
    """How well bots can be confined here."""

    grade: str
    promise: str
    layers: Sequence[SandboxLayer]


class Attack(Report):
    """The result of one attack."""

    attack: str
    ran: bool
    achieved: str | None
    """What it achieved; None if nothing."""
    promised: bool
    """Whether the grade promises to prevent it."""
    end: str
    well: bool
    """Whether it ran, and achieved nothing that the grade promises to prevent."""


class Selftest(Report):
    """The results of all attacks."""

    grade: str
    well: bool
    attacks: Sequence[Attack]


def doctor(sandbox: Sandbox) -> Doctor:
    """Report on a sandbox."""
    layers = [SandboxLayer(**layer._asdict()) for layer in sandbox.layers]
    return Doctor(grade=sandbox.grade.value, promise=sandbox.grade.promise, layers=layers)


def selftest(sandbox: Sandbox, verdicts: Sequence[Verdict]) -> Selftest:
    """Report on attacks from inside a sandbox."""
    attacks = [Attack(**verdict._asdict(), well=verdict.is_well) for verdict in verdicts]
    return Selftest(grade=sandbox.grade.value, well=all(attack.well for attack in attacks), attacks=attacks)
