"""What coordinator and hosts tell each other: plain values, pickled.

Every order and every delivery has a number, from 1 on each host, so that a call that is repeated changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from arena.sandbox import Bounds, Grade
from arena.worker.jobs import Delivery, StartCommand

SEND_PATIENCE = 1.0
"""Seconds after which a host answers in any case, which shows that it is alive; a page says so."""
EXPIRES = 5.0
"""Seconds without a request after which a host ends its bots: the run is over, or has given the host up.

That is some seconds more than there are between two requests, so that a pause ends nobody.
"""
LOST = 7.0
"""Seconds without an answer after which a host is lost, as a page says.

By then it has ended its bots, unless it is frozen: what it is more than `EXPIRES` is the time for that.
"""


class Versions(NamedTuple):
    """What must be the same on each host."""

    rules: Mapping[str, int]
    """Version of the rules, by game."""
    protocol: int
    machine: str
    """Kind of processor, such as "x86_64": programs are built for it."""
    python: str
    """Version of Python, such as "3.11": packages are installed for it."""
    results: str
    """Digest of dice, matches and numbers that Python computes: see `self_check`."""


class Terms(NamedTuple):
    """What a run asks of each host."""

    run: str
    """Name that no other run has."""
    wanted: Grade | None
    """Grade of the sandbox to use; None: the best that works."""
    allowed: Bounds
    in_flight: int | None
    logs: bool
    """Whether what bots print is gathered."""
    memory: int | None = None
    """Bytes for all bots of a host together; None: half of what is free there."""


class Card(NamedTuple):
    """What a host says of itself when it joins."""

    grade: Grade
    versions: Versions
    machine_id: str
    """Different on any two machines, and in any two containers."""
    programs: frozenset[str]
    """Digests of the programs that it has."""
    toolchains: Mapping[str, str]
    """Programs that bots are built with or run by, and where they are."""
    clock: float
    """Seconds since 1970, by its clock."""


class ProgramFile(NamedTuple):
    """A file, program, link or folder in the folder of a program."""

    name: str
    """Its path there."""
    kind: Literal["file", "program", "link", "folder"]
    content: bytes = b""
    """Of a link: where it leads."""


class Parcel(NamedTuple):
    """A program on its way: what its folder has, parents first, and the digest of all that."""

    digest: str
    entries: Sequence[ProgramFile]

    @property
    def size(self) -> int:
        """Bytes in all files together."""
        return sum(len(entry.content) for entry in self.entries)


class HostOrder(NamedTuple):
    """A command for the worker of this number; it is started if there is none yet."""

    worker: int
    command: StartCommand | None


class Ended(NamedTuple):
    """How a worker has ended, in words."""

    how: str


class Bug(NamedTuple):
    """The traceback of a bug of the arena's in a worker."""

    trace: str


class Join(NamedTuple):
    """Request to begin; answered by a `Card`, or by a text that says why the host cannot."""

    terms: Terms
    jobs: int


class Tell(NamedTuple):
    """Request to carry out orders, of which the first has this number; answered by None."""

    first: int
    orders: Sequence[HostOrder | Parcel]


class Hear(NamedTuple):
    """Request for deliveries after that of this number, answered by `Heard` within so many seconds."""

    after: int
    patience: float


HostRequest: TypeAlias = Join | Tell | Hear


class HostNews(NamedTuple):
    """Deliveries of workers, each with the worker's number; the first delivery has the number `first`."""

    first: int
    deliveries: Sequence[tuple[int, Delivery | Ended | Bug]]
    refusal: str | None = None
    """Why this host can play no more in this run, as one line for people."""
