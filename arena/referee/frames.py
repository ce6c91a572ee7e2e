"""Frames as the referee sends them, joined from encoded parts.

An encoded protobuf message is the concatenation of its encoded fields. Most fields of a decision repeat, and joining
cached bytes costs a fifth of filling in a message. Messages that are rare are encoded by protobuf itself.
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
from arena.referee.limits import Limits
from arena.referee.match import MatchOutcome
from arena.v1 import referee_pb2 as pb

PROTOCOL = 1
"""Version of the protocol that this referee speaks."""
UNLIMITED_MS = 2**32 - 1
"""Milliseconds that stand for no limit."""

_FRAME = {field.name: bytes([field.number << 3 | 2]) for field in pb.PlayResponse.DESCRIPTOR.fields}
"""How each field of a frame begins, by its name."""
_DECISION = {field.name: field.number for field in pb.Decision.DESCRIPTOR.fields}
"""Numbers of a decision's fields, by their names."""
_ASKED = bytes([_DECISION["decision"] << 3])
"""How the field begins that numbers a decision."""


def welcome() -> bytes:
    """Encode the Welcome, the first message that a bot is sent."""
    return part("welcome", pb.Welcome(protocol=PROTOCOL).SerializeToString())


def part(field: str, message: bytes) -> bytes:
    """Encode a message as a field of a frame, for example as one of its `decisions`."""
    return _FRAME[field] + varint(len(message)) + message


def match_frame(match: int) -> bytes:
    """Encode the field `match` of a message."""
    return number(1, match)


def view_number(field: str) -> int:
    """Return the number of the field that holds a view; `field` is the game's `view_field`."""
    return _DECISION[field]


def view(field: str, view: bytes) -> bytes:
    """Encode the view of a decision or an update; `field` is the game's `view_field`."""
    return block(_DECISION[field], view)


@lru_cache(maxsize=1 << 14)
def legal_actions(legal: range | tuple[int, ...]) -> bytes:
    """Encode the legal actions of a decision, as two numbers if they are a range without gaps."""
    if isinstance(legal, range) and legal.step == 1:
        return pb.Decision(legal_first=legal.start, legal_count=len(legal)).SerializeToString()
    return pb.Decision(legal=legal).SerializeToString()


@lru_cache(maxsize=1 << 10)
def bank(seconds: float) -> bytes:
    """Encode what is left of the bank; cached, because most decisions leave it unchanged."""
    return pb.Decision(bank_ms=int(min(seconds * 1000, UNLIMITED_MS))).SerializeToString()


def decision(of: bytes, decision_number: int, legal: Sequence[int], seconds: float, view: bytes) -> bytes:
    """Encode a decision as a part of a frame; `of` is the encoded field `match`, `decision_number` says which."""
    actions = legal_actions(legal if type(legal) is range else tuple(legal))
    return part("decisions", b"".join((of, _ASKED, varint(decision_number), actions, bank(seconds), view)))


def match_start(game: str, seats: int, options: Options, seed: bytes, seat: Seat, limits: Limits) -> bytes:
    """Encode what a seat is told at the start of a match, without the match's number."""
    seat_part = pb.MatchStart(seat=seat, dice_commitment=commitment(seed), bot_seed=bot_seed(seed, seat))
    return _match_start(game, seats, json.dumps(options), limits) + seat_part.SerializeToString()


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
    """Derive the 32 bytes that a bot may seed its own luck with; no die can be computed from them."""
    return hmac.digest(seed, f"bot/{seat}".encode(), "sha256")


def start(of: bytes, start: bytes) -> bytes:
    """Add the match's number `of` to what `match_start` encoded, as a part of a frame."""
    return part("starts", of + start)


def update(of: bytes, actions: Sequence[tuple[int, int]], view: bytes) -> bytes:
    """Encode what happened in a step, as a part of a frame."""
    seat_actions = [pb.SeatAction(seat=seat, action=action) for seat, action in actions]
    return part("updates", of + pb.Update(actions=seat_actions).SerializeToString() + view)


def end(of: bytes, outcome: MatchOutcome | None) -> bytes:
    """Encode the end of a match, as a part of a frame; an outcome of None says that it is void."""
    return part("ends", of + _ended(outcome))


@lru_cache(maxsize=64)  # every seat is told
def _ended(outcome: MatchOutcome | None) -> bytes:
    if outcome is None:
        return pb.MatchEnd(void=True).SerializeToString()
    end = pb.MatchEnd(ranks=outcome.ranks, scores=map(str, outcome.scores))
    for seat, reason, detail, _ in outcome.forfeits:
        end.forfeits.add(seat=seat, reason=pb.Forfeit.Value(f"FORFEIT_{reason.name}"), detail=detail)
    return end.SerializeToString()
