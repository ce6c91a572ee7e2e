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
    slots: tuple[int, ...]
    """By seat: matches on one seed differ in it, so that they never share a process."""
    limits: Limits
    generation: int = 0

    @property
    def keys(self) -> tuple[Key, ...]:
        """The process of each seat; a version that has several has as many processes."""
        digests = [entrant.digest for entrant in self.lineup]
        return tuple(
            (digest, slot, digests[:seat].count(digest), self.generation)
            for seat, (digest, slot) in enumerate(zip(digests, self.slots, strict=True))
        )

    def again(self) -> Task:
        """The same match for fresh processes."""
        return self._replace(generation=self.generation + 1)


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
    """Versions that showed a fault of their process; whoever sends the batches tells the workers of each other's."""

    solo: frozenset[str] = frozenset()
    """Digests that play one match at a time from now on."""
    leavers: frozenset[str] = frozenset()
    """Digests whose processes go after a match: they get no second one."""
    benched: Mapping[str, Mapping[str, Any]] = {}
    """Digests that cannot be started, with the evidence."""

    def and_also(self, other: Trouble) -> Trouble:
        """What either knows."""
        benched = {**other.benched, **self.benched}
        return Trouble(self.solo | other.solo, self.leavers | other.leavers, benched)


class Order(NamedTuple):
    """Matches for a worker that serves, and what the others found out."""

    tasks: Sequence[Task]
    trouble: Trouble


class Delivery(NamedTuple):
    """What a worker that serves gives back; nothing follows the last one."""

    played: Sequence[Played]
    trouble: Trouble
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
