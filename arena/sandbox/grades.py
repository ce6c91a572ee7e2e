"""How well a machine can hold a program: grades, the layers they are made of, and what a program may use up."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

MIB = 2**20


class NoSandbox(Exception):
    """The machine does not offer what was asked for; the message is one line that says why."""


class Grade(StrEnum):
    """From the best to the weakest: each letter is weaker than those before it."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"

    @property
    def promise(self) -> str:
        """What it is made of, in a few words."""
        return _PROMISES[self]

    def at_least(self, wanted: Grade) -> bool:
        """Whether it is as good as another."""
        return self.value <= wanted.value


_PROMISES = {
    Grade.A: "bubblewrap, system call filter and control groups",
    Grade.B: "bubblewrap, without control groups or without a system call filter",
    Grade.C: "Landlock and system call filter, without bubblewrap",
    Grade.D: "limits only: bots can read your files and use the network",
}


class Layer(NamedTuple):
    """One of the things a sandbox is made of; `why` says what it is for or, if it is off, what is missing."""

    name: str
    on: bool
    why: str


class Bounds(NamedTuple):
    """What one bot's processes may use up, all together."""

    memory_mib: int = 512
    tasks: int = 64
    """Processes and threads."""
    disk_mib: int = 32
    """Of temporary files; also the longest file."""
    cores: int = 1
    """So much of the processors, where a control group can hold it to that."""


DEFAULT = Bounds()
LEAST = Bounds(memory_mib=64, tasks=32)
"""Less than this no runtime starts with."""
MOST = Bounds(memory_mib=4096, tasks=512)
"""What a bot may wish for, unless the organiser says otherwise."""


class Sandbox(NamedTuple):
    """What holds the bots on this machine. Without a probe nothing does but limits: grade D."""

    grade: Grade = Grade.D
    layers: tuple[Layer, ...] = ()
    bwrap: str | None = None
    staged: bool = False
    """Whether places are shown where the bots' user can reach them, whoever may go through their parents."""
    own_user: bool = False
    """Whether bots run as users of their own: only root can have that."""
    filtered: bool = False
    landlock: int = 0
    """The ABI of Landlock; 0: none."""
    groups: Mapping[str, str] = {}
    """Control groups in which ours may be made, by controller."""
    hidden: tuple[str, ...] = ()
    """Folders that no bot may see, wherever they lie: homes."""
    trusting: bool = False
    """Whether the organiser trusts every bot, strangers' too."""
    allowed: Bounds = MOST
    """What a bot may wish for at most."""

    @property
    def is_for_strangers(self) -> bool:
        """Whether it holds programs of people whom nobody knows, or need not."""
        return self.trusting or self.grade.at_least(Grade.C)

    def bounds(self, memory_mib: int | None, tasks: int | None) -> Bounds:
        """What a bot may use up that wishes for so much; without a wish (None) the usual, or all that is allowed."""
        memory_mib = min(DEFAULT.memory_mib if memory_mib is None else memory_mib, self.allowed.memory_mib)
        tasks = min(DEFAULT.tasks if tasks is None else tasks, self.allowed.tasks)
        return self.allowed._replace(memory_mib=memory_mib, tasks=tasks)

    def hide(self, *folders: str) -> Sandbox:
        """The same, with more to be hidden."""
        return self._replace(hidden=(*self.hidden, *folders))

    @property
    def warning(self) -> str | None:
        """What to say loudly when it is weak: one line."""
        if self.grade.at_least(Grade.B):
            return None
        own = "" if self.own_user or self.grade is Grade.D else " and without a user of their own"
        weak = f"sandbox grade {self.grade}: {self.grade.promise}{own}"
        return f"{weak}; run only bots that you trust, or install bubblewrap (see arena doctor)"


UNCONFINED = Sandbox()
"""Limits only."""
