"""Who pays for the fault of a bot's process: what a worker knows of versions, and its rulings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from arena.referee.match import Fault, Forfeit
from arena.referee.seat import BotSeat
from arena.worker.jobs import Trouble

FAILED_STARTS = 2
"""Starts of a version that may fail in a row before its matches are forfeited without another try."""
LACKING_STARTS = 3
"""Starts in a row that may fail for want of something of the machine's, by the bot's own last words. Further ones count
as failed, since words can be made up. Only a version that has started before is believed."""
_LACKS = re.compile(
    "No space left on device|Too many open files|Cannot allocate memory|Resource temporarily unavailable"
    "|can't start new thread|unable to create (new )?native thread|pthread_create failed"
)
"""How runtimes say that a call failed for want of something (ENOSPC, EMFILE, ENOMEM, EAGAIN).

"No space" is also said where no more files can be watched.
"""


class Ruling(Enum):
    """What becomes of the matches that a process held when it came to its end."""

    FORFEIT = auto()
    """Its seats forfeit."""
    REPLAY_ITS_MATCHES = auto()
    """They are played again."""
    REPLAY_ALL_MATCHES = auto()
    """They are played again, with all other matches in which the version plays, in all workers: its second chance."""


class Learned(NamedTuple):
    """What is new in a report of other workers."""

    second_chances: Sequence[str] = ()
    """Digests whose matches are to be played again."""
    retires_bots: bool = False
    """Whether matches are not to be played any more: see `Trouble.leaves_out`."""
    one_at_a_time: Sequence[str] = ()
    """Digests whose processes are given one match at a time from now on."""


class FaultPolicy:
    """Rules on faults. It decides, and the worker acts."""

    def __init__(self) -> None:
        self.trouble = Trouble()
        self._failed_starts: Counter[str] = Counter()
        self._lacking_starts: Counter[str] = Counter()
        self._have_started: set[str] = set()

    def started(self, digest: str) -> None:
        """Count failed starts from zero again: a process of the version plays."""
        self._failed_starts.pop(digest, None)
        self._lacking_starts.pop(digest, None)
        self._have_started.add(digest)

    def is_last_start(self, digest: str) -> bool:
        """Whether the version has no start left, if the one that just failed counts."""
        return self._failed_starts[digest] + 1 >= FAILED_STARTS

    def lacked(self, digest: str, said: Sequence[str]) -> str | None:
        """Return the line among a process's last ones by which its start failed for want of something of the machine's.

        None if there is no such line, or if the version has never started or has said so too often.
        """
        lacks = next((line for line in reversed(said) if _LACKS.search(line)), None)
        if lacks is None or digest not in self._have_started:
            return None
        self._lacking_starts[digest] += 1
        return lacks if self._lacking_starts[digest] <= LACKING_STARTS else None

    def failed_start(self, digest: str, evidence: Mapping[str, Any]) -> None:
        """Count a process of the version that ended before it was given a match."""
        self._failed_starts[digest] += 1
        if self._failed_starts[digest] >= FAILED_STARTS:
            self._know(Trouble(disabled={digest: evidence}))

    def was_slow(self, digest: str) -> None:
        """Have the version play one match at a time: it took too long for a decision among several."""
        self._know(Trouble(slow=frozenset([digest])))

    def rule(
        self,
        digest: str,
        fault: Fault,
        held: Sequence[BotSeat],
        *,
        crowded: bool,
        was_killed: bool,
        has_played: bool,
        evidence: Callable[[], Mapping[str, Any]],
    ) -> Ruling:
        """Rule on a process that is at its end by its own doing and held these seats.

        `crowded` says that the fault cannot be attributed to one match, as `Choices.crowded`; `has_played` that the
        process had matches before those it holds.

        If it held one match, that match pays. If it held several, nobody can tell which, and how many it held is
        chance: so every match of its version is played again, and the version plays one at a time from now on. A
        version has this second chance once, and so also when somebody killed it.
        """
        killed = fault.reason is Forfeit.CRASH and was_killed
        if held and (crowded or killed) and digest not in self.trouble.chances:
            what = {"reason": fault.reason.value, "detail": fault.detail, **evidence()}
            self._know(Trouble(chances={digest: what}))
            return Ruling.REPLAY_ALL_MATCHES
        if held and fault.reason is Forfeit.CRASH and has_played and not any(at.answers for at in held):
            # It may have gone because the match before was over, and not have heard of this one. Nothing is gained by
            # that: it has answered nothing, and will be asked the same.
            self._know(Trouble(single_use=frozenset([digest])))
            return Ruling.REPLAY_ITS_MATCHES
        return Ruling.FORFEIT

    def learn(self, reported: Trouble) -> Learned:
        """Take over what other workers found out about versions."""
        before = self.trouble
        self._know(reported)
        singly = {*reported.slow, *reported.chances, *reported.single_use}
        return Learned(
            sorted(reported.chances.keys() - before.chances.keys()),
            bool(reported.retired - before.retired),
            sorted(digest for digest in singly if not before.plays_singly(digest)),
        )

    def _know(self, trouble: Trouble) -> None:
        self.trouble = self.trouble.merge(trouble)
