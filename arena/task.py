"""Matches as they travel to a worker and back: plain values, which pickle."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from arena import games, wire
from arena.clock import Limits
from arena.games.dice import commitment
from arena.games.rules import Options
from arena.match import Outcome
from arena.seated import Entrant, Key
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


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
    outcome: Outcome | None
    void: str | None = None
    choices: tuple[tuple[int, int], ...] = ()
    """(seat, action) in the order applied."""
    seats: tuple[SeatRecord, ...] = ()
    conditions: Mapping[str, Any] = {}
    """What held the bots, and how busy the machine was: see `arena.usage.pressure`."""


class Trouble(NamedTuple):
    """What befell versions meanwhile, faults of their processes above all; workers are told of each other's."""

    slow: frozenset[str] = frozenset()
    """Digests of bots that were slow among several matches."""
    chances: Mapping[str, Mapping[str, Any]] = {}
    """Digests that had their second chance, with the evidence of the fault: each fault from now on costs a match."""
    leavers: frozenset[str] = frozenset()
    """Digests whose processes go after a match: they get no second one."""
    benched: Mapping[str, Mapping[str, Any]] = {}
    """Digests that cannot be started, with the evidence."""
    retired: frozenset[str] = frozenset()
    """Labels of bots that are to play no more, though matches of theirs were dealt."""

    def plays_singly(self, digest: str) -> bool:
        """Whether its processes are given one match at a time."""
        return digest in self.slow or digest in self.chances or digest in self.leavers

    def and_also(self, other: Trouble) -> Trouble:
        """What either knows."""
        return Trouble(
            self.slow | other.slow,
            {**other.chances, **self.chances},
            self.leavers | other.leavers,
            {**other.benched, **self.benched},
            self.retired | other.retired,
        )

    def leaves_out(self, task: Task) -> bool:
        """Whether a match is not to be played any more."""
        return not self.retired.isdisjoint(entrant.label for entrant in task.lineup)


class Order(NamedTuple):
    """What a worker that serves is to do, and what the others found out."""

    tasks: Sequence[Task] = ()
    """Matches to play, of which no two share a seed, nor with any since it rested."""
    trouble: Trouble = Trouble()
    spare: bool = False
    """Whether to give back about half of what has not begun, for another worker."""
    rest: bool = False
    """Whether to end every bot."""


class Delivery(NamedTuple):
    """What a worker that serves gives back; nothing follows the last one."""

    played: Sequence[Played]
    trouble: Trouble
    taken_back: Sequence[str] = ()
    """Matches, by id, that had begun and are to be played again after a rest, or of bots that were retired."""
    spared: Sequence[str] | None = None
    """Matches that had not begun and that it plays no more; None if it was not asked for any."""
    rested: bool = False
    """Whether, as it was asked to, it has ended every bot."""
    last: bool = False


Link: TypeAlias = "Connection[Delivery | str, Order | None]"
"""A worker's end: orders come in, None to finish; deliveries go out, or the traceback of a bug."""


def match_start(task: Task, seat: int, limits: Limits) -> bytes:
    """What a seat is told at the beginning, all but the match's number."""
    own = pb.MatchStart(seat=seat, dice_commitment=commitment(task.seed), bot_seed=bot_seed(task.seed, seat))
    common = _match_start(task.game, len(task.lineup), json.dumps(task.options), limits)
    return common + own.SerializeToString()


@lru_cache(maxsize=64)
def _match_start(game: str, seats: int, options: str, limits: Limits) -> bytes:
    start = pb.MatchStart(game=game, seats=seats, rules_version=games.game(game).rules_version)
    start.options.update(json.loads(options))
    for name in ("decision", "first", "bank"):
        seconds = getattr(limits, name)
        field = "first_decision_ms" if name == "first" else f"{name}_ms"
        setattr(start.limits, field, int(min(seconds * 1000, wire.UNLIMITED_MS)))
    return start.SerializeToString()


def bot_seed(seed: bytes, seat: int) -> bytes:
    """A seat's own 32 bytes, from which no die can be computed."""
    return hmac.digest(seed, f"bot/{seat}".encode(), "sha256")
