"""Orders to the launcher: what every process gets, and the sequence in which they are carried out."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from typing import Any, TypeAlias

from arena.sandbox.grades import MIB, Bounds, Grade, Sandbox
from arena.sandbox.launching import launcher
from arena.sandbox.users import User

REPORT = 101
"""File descriptor on which bubblewrap reports the end of a command that began.

The launcher gets that pipe as its stdin.
"""
_HEADROOM = 512 * MIB
"""Bytes of address space that runtimes reserve but never use, allowed on top of the memory that a bot may use.

It is mostly stacks: 32 threads, the least that a bot may ask for, reserve 256 MiB. With a few times more, a bot could
take that much real memory before the watchdog looks.
"""
FILES, BUILD_FILES = 256, 4096
"""Limits of open files for each process of a bot, and of a build.

A bot in Python has less than a dozen open. Any limit of some dozens or more would do, and a higher one for builds.
"""
_SIGNALS = 512
"""Signals that may wait for a bot, and timers that it may have: no runtime has more than a few for each thread.

Any number would do that leaves the account, for which they may count too, most of its own.
"""
SEQUENCE = (
    "report",
    "umask",
    "join",
    "expendable",
    "enter",
    "stage",
    "uncover",
    "temporary",
    "filter",
    "become",
    "end_predecessors",
    "drop_capabilities",
    "die_with",
    "limit",
    "landlock",
    "seccomp",
    "begin",
)
"""Names of orders that the launcher gets, in a sequence that works.

Some take away rights that others need, and a change of user resets the signal that `die_with` sets.
"""
Orders: TypeAlias = dict[str, list[Any]]
"""Values of the orders that the launcher gets, by name."""


def orders_for(sandbox: Sandbox, bounds: Bounds, user: User | None, *, files: int = FILES) -> Orders:
    """Return the orders that the launcher gets at every grade."""
    wrapped = sandbox.bwrap is not None
    orders: Orders = {
        "report": [REPORT, int(wrapped)],
        "umask": [0o022],  # builds and bots have different users, and the one must read what the other made
        "expendable": [],
        "die_with": [os.getpid()],
        "limit": _limits(sandbox, bounds, user, files),
    }
    if not wrapped:
        orders["begin"] = [REPORT]  # bubblewrap reports it otherwise
    if user is not None:
        orders |= {"become": [*user.inside], "end_predecessors": []}
        if user.namespace is not None:
            orders["enter"] = [user.namespace.path]
    elif sandbox.grade is Grade.C and os.geteuid() == 0:
        orders["drop_capabilities"] = []
    return orders


def _limits(sandbox: Sandbox, bounds: Bounds, user: User | None, files: int) -> list[int]:
    """Return the numbers of limits, each with its value."""
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: bounds.disk_mib * MIB,
        resource.RLIMIT_NOFILE: files,
        resource.RLIMIT_MEMLOCK: 65536,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_SIGPENDING: _SIGNALS,  # they count for the account that made the namespace, too, if any
    }
    if not sandbox.groups:
        limits[resource.RLIMIT_DATA] = bounds.memory_mib * MIB + _HEADROOM
    if user is not None and sandbox.bwrap is None:
        limits[resource.RLIMIT_NPROC] = bounds.tasks  # counted by user; inside bubblewrap `_counted` sets it
    return [number for limit in limits.items() for number in limit]


def launch(orders: Orders, command: Sequence[str]) -> tuple[str, ...]:
    """Return the command with the launcher and its orders in front.

    Start it from this process, in a thread that outlives it: the kernel kills it when the thread that started it ends.
    """
    names = sorted(orders, key=SEQUENCE.index)
    words = [word for name in names for word in (name, len(orders[name]), *orders[name])]
    return (*launcher(), *map(str, words), "run", *command)
