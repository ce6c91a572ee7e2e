"""Frames as the referee sends them, put together from bytes.

A protobuf message is its fields in a row. Most of what a decision says was said before, and joining bytes that are
kept costs a fifth of filling in a message. Whatever is not asked all the time is still a message of protobuf's own.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from functools import lru_cache

from arena import games
from arena.games.dice import commitment
from arena.games.encoding import block, number, varint
from arena.games.rules import Options, Seat
from arena.referee.clock import Limits
from arena.referee.match import Outcome
from arena.v1 import referee_pb2 as pb

PROTOCOL = 1
"""The version that is spoken here."""
UNLIMITED_MS = 2**32 - 1
"""For no limit at all."""

_FRAME = {field.name: bytes([field.number << 3 | 2]) for field in pb.PlayResponse.DESCRIPTOR.fields}
_DECISION = {field.name: field.number for field in pb.Decision.DESCRIPTOR.fields}
_ASKED = bytes([_DECISION["decision"] << 3])


def welcome() -> bytes:
    """The first thing that a bot is told."""
    return part("welcome", pb.Welcome(protocol=PROTOCOL).SerializeToString())


def part(field: str, message: bytes) -> bytes:
    """A message as a part of a frame: one of its `decisions`, say."""
    return _FRAME[field] + varint(len(message)) + message


def match(match: int) -> bytes:
    """The field `match` of any message."""
    return number(1, match)


def view(field: str, view: bytes) -> bytes:
    """The view of a decision or an update."""
    return block(_DECISION[field], view)


@lru_cache(maxsize=1 << 14)
def legal_actions(legal: range | tuple[int, ...]) -> bytes:
    """The legal actions of a decision, as two numbers where they are a whole range."""
    if isinstance(legal, range) and legal.step == 1:
        return pb.Decision(legal_first=legal.start, legal_count=len(legal)).SerializeToString()
    return pb.Decision(legal=legal).SerializeToString()


@lru_cache(maxsize=1 << 10)
def bank(left: float) -> bytes:
    """What is left of the bank, which is unchanged in most decisions."""
    return pb.Decision(bank_ms=int(min(left * 1000, UNLIMITED_MS))).SerializeToString()


def decision(of: bytes, asked: int, legal: Sequence[int], left: float, view: bytes) -> bytes:
    """The question number `asked` of a match, as a part of a frame; `of` is the field `match`."""
    actions = legal_actions(legal if type(legal) is range else tuple(legal))
    return part("decisions", b"".join((of, _ASKED, varint(asked), actions, bank(left), view)))


def match_start(game: str, seats: int, options: Options, seed: bytes, seat: Seat, limits: Limits) -> bytes:
    """What a seat is told at the beginning, all but the match's number."""
    own = pb.MatchStart(seat=seat, dice_commitment=commitment(seed), bot_seed=bot_seed(seed, seat))
    return _match_start(game, seats, json.dumps(options), limits) + own.SerializeToString()


@lru_cache(maxsize=64)
def _match_start(game: str, seats: int, options: str, limits: Limits) -> bytes:
    start = pb.MatchStart(game=game, seats=seats, rules_version=games.game(game).rules_version)
    start.options.update(json.loads(options))
    for name in ("decision", "first", "bank"):
        seconds = getattr(limits, name)
        field = "first_decision_ms" if name == "first" else f"{name}_ms"
        setattr(start.limits, field, int(min(seconds * 1000, UNLIMITED_MS)))
    return start.SerializeToString()


def bot_seed(seed: bytes, seat: Seat) -> bytes:
    """A seat's own 32 bytes, from which no die can be computed."""
    return hmac.digest(seed, f"bot/{seat}".encode(), "sha256")


def start(of: bytes, start: bytes) -> bytes:
    """The start of a match, which lacks only its number, as a part of a frame."""
    return part("starts", of + start)


def update(of: bytes, actions: Sequence[tuple[int, int]], view: bytes) -> bytes:
    """What happened in a step, as a part of a frame."""
    taken = [pb.SeatAction(seat=seat, action=action) for seat, action in actions]
    return part("updates", of + pb.Update(actions=taken).SerializeToString() + view)


def end(of: bytes, outcome: Outcome | None) -> bytes:
    """The end of a match (None: it is void), as a part of a frame."""
    return part("ends", of + _ended(outcome))


@lru_cache(maxsize=64)  # every seat is told
def _ended(outcome: Outcome | None) -> bytes:
    if outcome is None:
        return pb.MatchEnd(void=True).SerializeToString()
    end = pb.MatchEnd(ranks=outcome.ranks, scores=map(str, outcome.scores))
    for seat, reason, detail, _ in outcome.forfeits:
        end.forfeits.add(seat=seat, reason=pb.Forfeit.Value(f"FORFEIT_{reason.name}"), detail=detail)
    return end.SerializeToString()
