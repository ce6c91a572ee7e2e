"""The record of one match: packed for the store, re-played by the rules."""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import msgspec

from arena.games.dice import Dice
from arena.games.rules import Game, Options, Seat
from arena.referee.match import Asked, Forfeit, Match
from arena.worker.jobs import Played

_FORMAT = 2
"""Number of the record's format; format 1 had no forfeits. To raise it also takes a step in `ladder/store/schema.py`
that sets `times_known` to 0: an older arena cannot read the times in newer replays."""

RecordedChoice: TypeAlias = tuple[Seat, int]
"""A seat, and the action that it chose."""


class Unreadable(ValueError):
    """A record or document that cannot be read or shown; the message says why, in one line."""


class Breach(ValueError):
    """A record that does not follow the rules; the message says where and why."""


class Forfeited(NamedTuple):
    """A seat that forfeited, why, and in which step (−1: before the first)."""

    seat: Seat
    """Number of the seat, from 0."""
    reason: Forfeit
    """The kind of fault."""
    step: int
    """Number of the step, from 0; −1 is before the first."""


class Replay(NamedTuple):
    """What is kept of how a match went; `times_ms` has the times of each seat, in the order of its decisions."""

    choices: tuple[RecordedChoice, ...]
    """All choices in the order applied, including those made for seats that had forfeited."""
    forfeits: tuple[Forfeited, ...]
    times_ms: tuple[tuple[float, ...], ...]
    charged_ms: tuple[Mapping[int, float], ...] = ()
    """For each seat, by index in `times_ms`: the time charged, where it is not the time elapsed."""
    conditions: Mapping[str, Any] = {}
    """The sandbox of the bots, how busy the machine was and, in a cluster, the host."""


def plain(choices: Sequence[RecordedChoice]) -> bytes:
    """Return choices as canonical JSON, of which their digest is computed: [[seat, action], …]."""
    return msgspec.json.encode(choices)


def recorded(result: Played) -> Replay:
    """Return what is kept of how a match went that has an outcome."""
    assert result.outcome is not None
    return Replay(
        tuple(result.choices),
        tuple([Forfeited(forfeit.seat, forfeit.reason, forfeit.step) for forfeit in result.outcome.forfeits]),
        tuple([tuple(map(milliseconds, seat.times)) for seat in result.seats]),
        tuple([in_milliseconds(seat.charged) for seat in result.seats]),
        result.conditions,
    )


def milliseconds(seconds: float) -> float:
    """Return a time, which is not negative, as a replay has it: in milliseconds, to two decimals."""
    return int(seconds * 100_000 + 0.5) / 100  # `round` takes three times as long, and a match has a hundred times


def in_milliseconds(charged: Mapping[int, float]) -> dict[int, float]:
    """Return what a seat was charged, by the number of the decision, as a replay has it."""
    return {decision: milliseconds(seconds) for decision, seconds in charged.items()}


def pack(replay: Replay) -> bytes:
    """Return the replay as it is stored: gzipped JSON."""
    return packed_json({"format": _FORMAT, **replay._asdict()})


def packed_json(record: Mapping[str, Any]) -> bytes:
    """Compress a record; the same record gives the same bytes each time."""
    return gzip.compress(msgspec.json.encode(record), compresslevel=1, mtime=0)


class _Packed(msgspec.Struct):
    format: int
    choices: tuple[RecordedChoice, ...]
    times_ms: tuple[tuple[float, ...], ...]
    forfeits: tuple[tuple[Seat, Forfeit, int], ...] = ()
    charged_ms: tuple[dict[int, float], ...] = ()
    conditions: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Packed).decode


def unpack(packed: bytes) -> Replay:
    """Read a replay from what `pack` returned. Raises Unreadable."""
    try:
        record = _decode(gzip.decompress(packed))
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError) as error:
        raise Unreadable(f"cannot be read: {error}") from error
    if record.format > _FORMAT:
        raise Unreadable(f"is of format {record.format}, this arena knows {_FORMAT}: update the arena")
    forfeits = tuple(Forfeited(*forfeit) for forfeit in record.forfeits)
    return Replay(record.choices, forfeits, record.times_ms, record.charged_ms, record.conditions)


def times_of(packed: bytes) -> Sequence[Sequence[float]]:
    """Return the times of each seat's decisions, in milliseconds; none of a replay that cannot be read.

    `arena verify` says what is wrong with that one.
    """
    try:
        return unpack(packed).times_ms
    except Unreadable:
        return ()


def replayed(game: Game[Any], seats: int, options: Options, dice: Dice, replay: Replay) -> Match:
    """Play a recorded match to its end by the rules, and return it. Raises Breach."""
    match = Match(game, seats, options, dice)
    for _ in questions(match, replay):
        pass
    _check_whole(match, replay)
    return match


def questions(match: Match, replay: Replay) -> Iterator[tuple[Asked, int | None]]:
    """Play a new match by its record; yield each decision, while the match stands where it was asked, and the action.

    The action is None if the seat forfeited instead. In a step in which forfeits decided the match, only the forfeits
    are yielded: what others chose there was never applied, nor recorded. Raises Breach.
    """
    chosen = _by_seat(replay.choices, match.seats)
    forfeits = {forfeit.seat: forfeit for forfeit in replay.forfeits}
    for seat in forfeits:
        if seat not in range(match.seats):
            raise Breach(f"seat {seat} has forfeited, of {match.seats} seats")
    match.begin([(seat, "") for seat, forfeit in forfeits.items() if forfeit.step < 0])
    while match.outcome is None:
        leaving = {seat for seat in match.pending if seat in forfeits and forfeits[seat].step == match.steps}
        # forfeits come first
        for decision in sorted(match.pending.values(), key=lambda decision: decision.seat not in leaving):
            if decision.seat in leaving:
                yield decision, None
                match.forfeit(decision.seat, forfeits[decision.seat].reason, "")
            elif match.is_decided:
                match.answer(decision.seat, decision.legal[0])
            else:
                yield decision, (action := _legal(decision, chosen[decision.seat]))
                match.answer(decision.seat, action)


def _by_seat(choices: Sequence[RecordedChoice], seats: int) -> list[deque[int]]:
    chosen: list[deque[int]] = [deque() for _ in range(seats)]
    for seat, action in choices:
        if seat not in range(seats):
            raise Breach(f"seat {seat} has chosen, of {seats} seats")
        chosen[seat].append(action)
    return chosen


def _legal(decision: Asked, chosen: deque[int]) -> int:
    if not chosen:
        raise Breach(f"decision {decision.number}: seat {decision.seat} has no choice recorded")
    action = chosen.popleft()
    if action not in decision.legal:
        raise Breach(f"decision {decision.number}: seat {decision.seat} chose {action}, which is not legal")
    return action


def _check_whole(match: Match, replay: Replay) -> None:
    """Raise Breach unless the match used everything that is recorded, in the order recorded."""
    assert match.outcome is not None
    for number, (by_the_rules, recorded) in enumerate(zip_longest(match.choices, replay.choices), 1):
        if by_the_rules != recorded:
            raise Breach(f"choice {number} is {_choice(recorded)}, by the rules {_choice(by_the_rules)}")
    played_forfeits = [Forfeited(forfeit.seat, forfeit.reason, forfeit.step) for forfeit in match.outcome.forfeits]
    if played_forfeits != list(replay.forfeits):
        raise Breach(
            f"forfeits (seat, reason, step) are {_listed(replay.forfeits)}, by the rules {_listed(played_forfeits)}"
        )


def _choice(choice: RecordedChoice | None) -> str:
    return "missing" if choice is None else f"{choice[1]} by seat {choice[0]}"


def _listed(forfeits: Sequence[Forfeited]) -> str:
    return ", ".join(f"{seat} {reason} {step}" for seat, reason, step in forfeits) or "none"
