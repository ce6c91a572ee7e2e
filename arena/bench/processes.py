"""Processor time and memory that processes use."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import psutil


class Crew(NamedTuple):
    """The processes of an open part: referees, or senders that stand in for them, and their bots."""

    referees: Sequence[psutil.Process]

    @property
    def bots(self) -> list[psutil.Process]:
        """The bots' processes that are alive now."""
        return [bot for referee in self.referees for bot in referee.children()]

    def cpu(self) -> Cpu:
        """Return the CPU time that they and this process have used so far, bots that have ended included."""
        bots = _seconds(self.bots) + sum(_seconds_of_ended(referee) for referee in self.referees)
        return Cpu(_seconds(self.referees), bots, _seconds([psutil.Process()]))

    def memory(self) -> dict[str, float]:
        """Return the mean MiB of each kind of process; memory that processes share is divided among them (PSS).

        The mean is 0 if none is alive, such as bots between two phases.
        """
        kinds = {"referee": self.referees, "bot": self.bots, "coordinator": [psutil.Process()]}
        return {f"{kind}_mib": _mib(processes) for kind, processes in kinds.items()}


class Cpu(NamedTuple):
    """CPU time of each side, in seconds, over all cores together."""

    referee: float
    bots: float
    coordinator: float

    def per_decision(self, before: Cpu, decisions: int) -> dict[str, float]:
        """Return the microseconds of each side for a decision, since `before`."""
        return {
            f"{side}_cpu_us_per_decision": (now - then) * 1e6 / decisions
            for side, now, then in zip(self._fields, self, before, strict=True)
        }


def child_processes() -> set[int]:
    """Return the ids of the worker processes that are alive."""
    return {child.pid for child in multiprocessing.active_children() if child.pid is not None}


def crew(earlier: Iterable[int]) -> Crew:
    """Return the worker processes that are not among `earlier`, which were alive before."""
    return Crew([psutil.Process(pid) for pid in sorted(child_processes() - set(earlier))])


def _seconds(processes: Sequence[psutil.Process]) -> float:
    used = (process.cpu_times() for process in processes)
    return sum(times.user + times.system for times in used)


def _seconds_of_ended(referee: psutil.Process) -> float:
    times = referee.cpu_times()
    return float(times.children_user + times.children_system)


def _mib(processes: Sequence[psutil.Process]) -> float:
    sizes = [process.memory_full_info().pss for process in processes]
    return float(sum(sizes)) / max(len(sizes), 1) / 2**20
