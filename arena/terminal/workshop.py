"""Where the bots that people name by a path are copied and built, and how people see that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.roster.bots import Workshop
from arena.sandbox.run_folder import run_folder
from arena.submission.build import Building
from arena.terminal.machine import Machine
from arena.terminal.output import Announcer


def building(report: Announcer) -> Building:
    """Return what tells people of builds as the report tells them of the rest."""
    return Building(report.announce, report.passing)


@contextmanager
def workshop_for(machine: Machine) -> Iterator[Callable[[Announcer], Workshop]]:
    """Keep a folder for copies of bots as long as the block lasts; yield what makes a workshop of it with a report.

    It is kept longer than the report, and than workers: what is built in it must outlive the processes of the bots.
    """
    with run_folder() as scratch:
        yield lambda report: Workshop(scratch, machine.here, building(report))
