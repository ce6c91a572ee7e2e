"""How many bot processes a worker may keep: as many as fit into its share of the memory, by what running ones use."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path

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
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""Files, of either version of control groups, that say how much memory a container has."""


def free_memory() -> int:
    """Return how many bytes of memory programs can still take on this machine, or in this container."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    amounts = [int(fields["MemAvailable"].split()[0]) << 10]
    for name in _LIMITS:
        try:
            limit = Path("/sys/fs/cgroup", name).read_text().strip()
        except OSError:
            continue
        if limit.isdecimal():
            amounts.append(int(limit))
    return min(amounts)


def most_bots(memory: int, sizes: Sequence[int]) -> int:
    """Return how many bots fit into so many bytes if the next are as large as those measured are on average."""
    size = (sum(sizes) / len(sizes) if sizes else _FIRST_SIZE) + _KERNEL
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(1, min(MOST, int(memory / size), files // _FILES))
