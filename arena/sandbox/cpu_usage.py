"""Measures from /proc how much processor time a bot's processes had, and how long they had to wait for a processor."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

_TICK = os.sysconf("SC_CLK_TCK")
"""Units in a second in which /proc counts processor time."""
_PROCESS_CLOCK = 2
"""Kind of clock that counts all threads of a process, including ended ones."""


class Usage(NamedTuple):
    """What the processes of a bot have used of the machine by some moment, in seconds."""

    cpu: float
    """Processor time of all processes together."""
    waited: Mapping[int, float]
    """By thread: how long it was ready to run while others ran."""
    referee_waited: float = 0.0
    """How long the referee's own thread was ready to run while others ran."""
    uncounted: frozenset[int] = frozenset()
    """Ids of processes that were looked at one by one, so that others may have come and gone between two looks unseen;
    empty where a control group counts all of them."""

    def stirred(self) -> Usage:
        """Copy this usage, marked so that it differs in `uncounted` from every later one."""
        return self._replace(uncounted=frozenset({0}))


def look(processes: Iterable[int], cpu: float | None) -> Usage:
    """Measure the usage of some processes so far.

    `cpu` is their processor time if it is known, as from a control group.
    """
    pids = list(processes)
    waited: dict[int, float] = {}
    for process in pids:
        waited |= _waited(process)
    own_wait = _waited_of(os.getpid(), threading.get_native_id())
    if cpu is None:
        return Usage(sum(map(_cpu, pids)), waited, own_wait, frozenset(pids))
    return Usage(cpu, waited, own_wait)


def family(process: int) -> list[int]:
    """Return a process and all its descendants."""
    members = [process]
    for member in members:  # the list grows meanwhile
        members.extend(children(member))
    return members


def children(process: int) -> list[int]:
    """Return the child processes that any thread of a process started; empty if the process has ended."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            children.extend(map(int, _content(f"/proc/{process}/task/{thread}/children").split()))
    return children


def pressure() -> float | None:
    """Return the percentage of the last ten seconds in which a task waited for a processor.

    None if the kernel has no file.
    """
    try:
        first = Path("/proc/pressure/cpu").read_text().split(maxsplit=2)[1]
    except (OSError, IndexError):
        return None
    return float(first.removeprefix("avg10="))


def _waited(process: int) -> dict[int, float]:
    """Return the seconds that each thread was ready to run but had to wait."""
    waited = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            waited[int(thread)] = _waited_of(process, thread)
    return waited


def _waited_of(process: int, thread: int | str) -> float:
    fields = _content(f"/proc/{process}/task/{thread}/schedstat").split()
    return int(fields[1]) / 1e9 if len(fields) == 3 else 0.0


def _cpu(process: int) -> float:
    """Return the seconds of processor time of a process, including its children that ended and that it waited for."""
    try:
        seconds = time.clock_gettime(~process << 3 | _PROCESS_CLOCK)
    except OSError:
        return 0.0  # it has ended, so its parent counts it now
    fields = _content(f"/proc/{process}/stat").rpartition(")")[2].split()
    return seconds + (int(fields[13]) + int(fields[14])) / _TICK if len(fields) > 14 else seconds


def _content(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
