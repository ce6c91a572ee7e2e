"""How well a machine can hold a program: grades, the layers of a sandbox, and the limits of a program."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

MIB = 2**20
"""Bytes in a mebibyte."""
SANDBOX_TASKS = 4
"""Tasks (processes and threads) of the sandbox itself, which do not count as the bot's. Two are bubblewrap's, one of
them inside; a few more than needed do no harm."""


class NoSandbox(Exception):
    """Error if the machine does not offer the sandbox that was asked for; the message is one line that says why."""


class Grade(StrEnum):
    """How well a sandbox holds bots, from A, the best, to D; each letter is weaker than those before it."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"

    @property
    def promise(self) -> str:
        """Layers of this grade, in a few words."""
        return _PROMISES[self]

    def at_least(self, wanted: Grade) -> bool:
        """Tell whether this grade is as good as another or better."""
        return self.value <= wanted.value


_PROMISES = {
    Grade.A: "bubblewrap, system call filter and control groups",
    Grade.B: "bubblewrap, without control groups or without a system call filter",
    Grade.C: "Landlock and system call filter, without bubblewrap",
    Grade.D: "limits only: bots can read your files and use the network",
}
"""What each grade consists of, in words for people."""


class Layer(NamedTuple):
    """One part of a sandbox; `why` says what it is for or, if it is off, what is missing."""

    name: str
    on: bool
    why: str


class Bounds(NamedTuple):
    """Limits for all processes of one bot together."""

    memory_mib: int = 512
    tasks: int = 64
    """Processes and threads."""
    disk_mib: int = 32
    """Size of all temporary files; also the largest single file."""
    cores: int = 1
    """Number of processors whose time a bot may use, where a control group can enforce it."""


DEFAULT = Bounds()
"""Limits of a bot that asks for none; pages promise the memory and the tasks.

Any disk would do that is small beside the memory: without a disk for it, temporary files are kept in memory, too.
"""
WEAKEST = Bounds(memory_mib=64, tasks=32)
"""Smallest limits that a bot may ask for. To connect, a bot in Python takes 34 MiB and nine threads."""
STRONGEST = Bounds(memory_mib=4096, tasks=512)
"""Largest limits that a bot may ask for, unless the organiser sets others."""


class Sandbox(NamedTuple):
    """The sandbox for bots on this machine. The default, without a probe, has only limits: grade D."""

    grade: Grade = Grade.D
    layers: tuple[Layer, ...] = ()
    bwrap: str | None = None
    staged: bool = False
    """Whether places are mounted where the bots' user can reach them, even if folders above them are closed to it."""
    own_user: bool = False
    """Whether bots and builds run as users of their own, which only root, or who has subordinate ids, can arrange."""
    filtered: bool = False
    landlock: int = 0
    """ABI version of Landlock; 0: none."""
    groups: Mapping[str, str] = {}
    """Control groups in which the arena may make groups, by controller."""
    hidden: tuple[str, ...] = ()
    """Folders that no bot may see, wherever they are: data directories ("homes")."""
    trusting: bool = False
    """Whether the organiser trusts every bot, including those of strangers."""
    allowed: Bounds = STRONGEST
    """Largest limits that a bot may ask for."""

    @property
    def is_for_strangers(self) -> bool:
        """Whether this sandbox may run bots of strangers: at grade C or better, or if the organiser trusts all bots."""
        return self.trusting or self.grade.at_least(Grade.C)

    def bounds(self, memory_mib: int | None, tasks: int | None) -> Bounds:
        """Return the limits of a bot that asks for these; None asks for nothing and gives the default.

        No limit exceeds what is allowed.
        """
        memory_mib = min(DEFAULT.memory_mib if memory_mib is None else memory_mib, self.allowed.memory_mib)
        tasks = min(DEFAULT.tasks if tasks is None else tasks, self.allowed.tasks)
        return self.allowed._replace(memory_mib=memory_mib, tasks=tasks)

    def hide(self, *folders: str) -> Sandbox:
        """Return this sandbox with more folders hidden."""
        return self._replace(hidden=(*self.hidden, *folders))

    @property
    def warning(self) -> str | None:
        """Warning if the sandbox is weak, one line; None at grade B or better."""
        if self.grade.at_least(Grade.B):
            return None
        lack = "" if self.own_user or self.grade is Grade.D else " and without a user of their own"
        weak = f"sandbox grade {self.grade}: {self.grade.promise}{lack}"
        return f"{weak}; run only bots that you trust, or install bubblewrap (see `arena doctor`)"


UNCONFINED = Sandbox()
"""Sandbox with limits only, grade D."""
