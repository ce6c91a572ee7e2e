"""How many bot processes a worker may keep: as many as fit into its share of the machine, by what running ones use."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from arena.sandbox import cgroups

MOST = 2000
"""Bot processes a worker keeps at once, however much memory there is; the longest unused makes room. More than the bots
of most ladders: any such number would do."""
_FIRST_SIZE = 32 << 20
"""Bytes that a bot is thought to use before any is measured: a program in Python with gRPC. Any usual one would do."""
_KERNEL = 1 << 20
"""Bytes that a bot takes beside its own memory: page tables, stacks, pipes. Half as much or a few times would do."""
_FILES = 10
"""Open files of the worker that a bot takes at most: six were counted. With fewer the worker could run out of files,
with many more it would keep fewer bots than it can."""
_TASKS = 16
"""Processes and threads that a bot is thought to take, with the two of its sandbox. The template in Rust takes three,
that in Python up to fifteen; some runtimes take more. With too few the machine could refuse to start bots."""
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""Files, of either version of control groups, that say how much memory a container has."""


class NoRoom(ValueError):
    """Error for an amount of memory with which this machine cannot play; the message is one line for people."""


class Share(NamedTuple):
    """What all bots of a worker may take together."""

    memory: int
    """Bytes."""
    tasks: int
    """Processes and threads."""


def share_for_each(jobs: int, memory: int | None = None) -> Share:
    """Return the share of each worker in so many bytes for all, by default in half of what is free, and in the tasks.

    Tasks of other programs that start later are not reckoned with.
    """
    return Share((free_memory() // 2 if memory is None else memory) // jobs, _free_tasks() // jobs)


def check_memory(memory: int, jobs: int, bots: int = 2) -> None:
    """Raise NoRoom if the machine has less memory, or if that is too little for a match of so many bots by each worker.

    What bots really use is known only when they run.
    """
    if memory > (whole := _amount("MemTotal")):
        raise NoRoom(f"this machine has only {whole >> 20:,}M")
    if memory < (least := jobs * bots * (_FIRST_SIZE + _KERNEL)):
        each = f"{jobs} worker{'s' * (jobs > 1)} with a match of {bots} bots"
        raise NoRoom(f"{each} may need {least >> 20:,}M: allow more, or fewer --jobs")


def free_memory() -> int:
    """Return how many bytes of memory programs can still take on this machine, or in this container."""
    return _amount("MemAvailable")


def _amount(field: str) -> int:
    """Return an amount of the machine's memory in bytes, at most what a container has."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    limits = (_number(Path("/sys/fs/cgroup", name)) for name in _LIMITS)
    return min([int(fields[field].split()[0]) << 10, *(limit for limit in limits if limit is not None)])


def _number(file: Path) -> int | None:
    """Return the number in a file; None if there is none, as where a limit is "max"."""
    with suppress(OSError, ValueError):
        return int(file.read_text())
    return None


def _free_tasks() -> int:
    """Return how many processes and threads can still be started here."""
    return max(0, min(_rooms(), default=sys.maxsize))


def _rooms() -> Iterator[int]:
    """Yield how many tasks each limit leaves: the kernel's, the user's, and those of the control groups."""
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    for name in ("threads-max", "pid_max"):
        if (most := _number(Path("/proc/sys/kernel", name))) is not None:
            yield most - running
    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() and limit != resource.RLIM_INFINITY:  # root may start more
        yield limit - _tasks_of_user(os.getuid())
    groups = cgroups.own_groups()
    if folder := groups.get("pids", groups.get(cgroups.UNIFIED)):
        for group in (Path(folder), *Path(folder).parents):
            if (most := _number(group / "pids.max")) is not None:
                yield most - (_number(group / "pids.current") or 0)


def _tasks_of_user(user: int) -> int:
    tasks = 0
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):  # it has ended
            if os.stat(f"/proc/{process}").st_uid == user:
                tasks += len(os.listdir(f"/proc/{process}/task"))
    return tasks


def most_bots(share: Share, sizes: Sequence[int]) -> int:
    """Return how many bots fit into a share if the next are as large as those are, in bytes, on average."""
    size = (sum(sizes) / len(sizes) if sizes else _FIRST_SIZE) + _KERNEL
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(1, min(MOST, int(share.memory / size), share.tasks // _TASKS, files // _FILES))
