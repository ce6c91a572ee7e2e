"""Matches as they travel to a worker and back: plain values, which pickle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from arena.games.rules import Options
from arena.referee.limits import Limits
from arena.referee.match import MatchOutcome, Void, VoidReason
from arena.worker.bot_output import Logged, Piece

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


Key: TypeAlias = tuple[str, int]
"""What one process is kept for: the digest of the version, and which of its seats at one table, from 0."""


class Entrant(NamedTuple):
    """A version as a worker starts it. Without a command somebody starts it by hand and it has no limits."""

    label: str
    digest: str
    command: tuple[str, ...]
    cwd: str = "."
    env: Mapping[str, str] = {}
    memory_mib: int | None = None
    tasks: int | None = None
    """Processes and threads together; None, like that of memory, if it does not say how many it wants."""

    @property
    def is_external(self) -> bool:
        """Whether the arena waits for a process that it did not start."""
        return not self.command


class Task(NamedTuple):
    """A match to be played, as it travels to a worker."""

    id: str
    game: str
    options: Options
    seed: bytes
    lineup: tuple[Entrant, ...]
    limits: Limits

    @property
    def keys(self) -> tuple[Key, ...]:
        """The process of each seat; a version that has several has as many processes."""
        digests = [entrant.digest for entrant in self.lineup]
        return tuple((digest, digests[:seat].count(digest)) for seat, digest in enumerate(digests))


class SeatRecord(NamedTuple):
    """What is kept of one seat of a finished match; times in seconds, in the order of its decisions."""

    times: tuple[float, ...]
    """By the clock on the wall."""
    evidence: dict[str, Any] | None = None
    charged: Mapping[int, float] = {}
    """Where it is not the time by the wall: what was charged, by the number of the decision in `times`."""


class Played(NamedTuple):
    """A finished match as it travels back. Without an outcome it is void, and `void` says why."""

    id: str
    outcome: MatchOutcome | None
    void: Void | None = None
    choices: tuple[tuple[int, int], ...] = ()
    """(seat, action) in the order applied."""
    seats: tuple[SeatRecord, ...] = ()
    conditions: Mapping[str, Any] = {}
    """What held the bots, and how busy the machine was: see `arena.sandbox.cpu_usage.pressure`."""

    def is_void_by(self, reason: VoidReason) -> bool:
        """Whether it is void for this reason."""
        return self.void is not None and self.void.reason is reason


class Trouble(NamedTuple):
    """What befell versions meanwhile, faults of their processes above all; workers are told of each other's."""

    slow: frozenset[str] = frozenset()
    """Digests of bots that were slow among several matches."""
    chances: Mapping[str, Mapping[str, Any]] = {}
    """Digests that had their second chance, with the evidence of the fault: each fault from now on costs a match."""
    single_use: frozenset[str] = frozenset()
    """Digests whose processes exit after a match: they are given no second one."""
    disabled: Mapping[str, Mapping[str, Any]] = {}
    """Digests that cannot be started, with the evidence."""
    retired: frozenset[str] = frozenset()
    """Labels of bots that are to play no more, though matches of theirs were dealt."""

    def plays_singly(self, digest: str) -> bool:
        """Whether its processes are given one match at a time."""
        return digest in self.slow or digest in self.chances or digest in self.single_use

    def merge(self, other: Trouble) -> Trouble:
        """Union of both; of two facts about one version the own one stays."""
        return Trouble(
            self.slow | other.slow,
            {**other.chances, **self.chances},
            self.single_use | other.single_use,
            {**other.disabled, **self.disabled},
            self.retired | other.retired,
        )

    def leaves_out(self, task: Task) -> bool:
        """Whether a match is not to be played any more."""
        return not self.retired.isdisjoint(entrant.label for entrant in task.lineup)


class Effort(NamedTuple):
    """What bots used for some of their decisions, where that was looked at."""

    cpu: float = 0.0
    """Seconds of a processor."""
    decisions: int = 0
    """How many decisions took them, or were asked meanwhile."""


class StartCommand(NamedTuple):
    """What a worker that serves is to do, and what the others found out."""

    tasks: Sequence[Task] = ()
    """Matches to play, of which no two share a seed, nor with any since it rested."""
    trouble: Trouble = Trouble()
    spare: bool = False
    """Whether to give back about half of what has not begun, for another worker."""
    rest: bool = False
    """Whether to end every bot."""
    call: Callable[[], Any] | None = None
    """A function of the arena's, for a worker that plays nothing: what it returns, never None, comes as `returned`."""


class Delivery(NamedTuple):
    """What a worker that serves gives back; nothing follows the last one."""

    results: Sequence[Played]
    trouble: Trouble
    taken_back: Sequence[str] = ()
    """Matches, by id, that had begun and are to be played again after a rest, or of bots that were retired."""
    spared: Sequence[str] | None = None
    """Matches that had not begun and that it plays no more; None if it was not asked for any."""
    rested: bool = False
    """Whether, as it was asked to, it has ended every bot."""
    logs: Sequence[Logged | Piece] = ()
    """What bots printed in matches whose results are in this or an earlier delivery."""
    starts: int = 0
    """Processes of bots that were started since the last delivery."""
    frames: int = 0
    """Frames of decisions that bots were sent since the last delivery."""
    effort: Effort = Effort()
    """What decisions cost the bot that was looked at since the last delivery, if one was."""
    room: int | None = None
    """How many bot processes it can keep at once; None if it plays none."""
    returned: Any = None
    """What the function returned that it was told to call."""
    last: bool = False


Link: TypeAlias = "Connection[Delivery | str | OSError, StartCommand | None]"
"""A worker's end: orders come in, None to finish; deliveries go out, or the traceback of a bug."""
