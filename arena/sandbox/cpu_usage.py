"""How much of the machine the processes of a bot had, and for how long they had to wait for it, from /proc."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from arena.referee.clock import Usage

_TICK = os.sysconf("SC_CLK_TCK")
_PROCESS_CLOCK = 2
"""The kind of clock that counts all threads of a process, ended ones too."""


def look(processes: Iterable[int], cpu: float | None) -> Usage:
    """The usage of some processes by now; `cpu` if it is known from elsewhere, as from a control group."""
    known = list(processes)
    waited: dict[int, float] = {}
    for process in known:
        waited |= _waited(process)
    own = _waited_of(os.getpid(), threading.get_native_id())
    if cpu is None:
        return Usage(sum(map(_cpu, known)), waited, own, frozenset(known))
    return Usage(cpu, waited, own)


def family(process: int) -> list[int]:
    """A process and all that descend from it."""
    found = [process]
    for each in found:  # grows
        found.extend(children(each))
    return found


def children(process: int) -> list[int]:
    """The processes that any of its threads started; none if it has ended."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            children.extend(map(int, _read(f"/proc/{process}/task/{thread}/children").split()))
    return children


def pressure() -> float | None:
    """Percentage of the last ten seconds in which something waited for a processor; None if the kernel does not say."""
    try:
        first = Path("/proc/pressure/cpu").read_text().split(maxsplit=2)[1]
    except (OSError, IndexError):
        return None
    return float(first.removeprefix("avg10="))


def _waited(process: int) -> dict[int, float]:
    """Seconds that each thread was ready to run and did not."""
    waited = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            waited[int(thread)] = _waited_of(process, thread)
    return waited


def _waited_of(process: int, thread: int | str) -> float:
    fields = _read(f"/proc/{process}/task/{thread}/schedstat").split()
    return int(fields[1]) / 1e9 if len(fields) == 3 else 0.0


def _cpu(process: int) -> float:
    """Seconds of processor time of a process, and of those of its children that it has seen ending."""
    try:
        own = time.clock_gettime(~process << 3 | _PROCESS_CLOCK)
    except OSError:
        return 0.0  # it has ended: its parent counts it now
    fields = _read(f"/proc/{process}/stat").rpartition(")")[2].split()
    return own + (int(fields[13]) + int(fields[14])) / _TICK if len(fields) > 14 else own


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
