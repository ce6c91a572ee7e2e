"""Show a stored match step by step, or as a document for other programs; docs/reference/json.md lists its keys."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from arena import games
from arena.base import suggest
from arena.games.dice import Dice, KeyedDice, commitment
from arena.games.rules import BadOption, Game
from arena.referee.limits import Limits
from arena.referee.match import Match
from arena.replay.record import Breach, Forfeited, RecordedChoice, Replay, Unreadable, recorded, replayed, unpack
from arena.worker.bot_output import Line

if TYPE_CHECKING:
    from arena.worker.jobs import Played, Task
    from ladder import store

T = TypeVar("T")

_FORMAT = 1
"""Number of the document's format; fields that are added later do not change it."""


Logs: TypeAlias = tuple[tuple[Line, ...], ...]
"""By seat, what its bot printed in a match."""


class Roll(msgspec.Struct, frozen=True, omit_defaults=True):
    """The numbers that the dice gave for a key: faces of dice or, if there are `bounds`, numbers below these."""

    key: str
    """What the roll was for; the page of the games lists the keys."""
    numbers: tuple[int, ...]
    """In the order in which they were drawn."""
    bounds: tuple[int, ...] | None = None
    """Bounds of the numbers; dice with faces have none."""


class Allowed(msgspec.Struct, frozen=True):
    """The time that a seat had, in seconds."""

    decision: float
    """For each decision; the first one may take ten times as long."""
    bank: float
    """For the whole match, from which time beyond that is taken."""


class NotedDice(Dice):
    """Dice of a seed that record every roll."""

    def __init__(self, seed: bytes) -> None:
        self._keyed = KeyedDice(seed)
        self.rolls: list[Roll] = []

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        self.rolls.append(Roll(key, self._keyed.roll(key, count)))
        return self.rolls[-1].numbers

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        self.rolls.append(Roll(key, self._keyed.draws(key, bounds), tuple(bounds)))
        return self.rolls[-1].numbers


class Document(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A match with everything that it takes to play it again; binary values are hexadecimal, scores decimal text."""

    format: int
    """1; keys may be added without another number."""
    match: str
    """Id of the match."""
    ladder: str
    """Id of the ladder; empty for a match that is not rated."""
    game: str
    """Name of the game."""
    rules_version: int
    """Version of the game's rules."""
    options: dict[str, Any]
    """Every option of the game with its value."""
    seed: str
    """32 bytes from which all dice follow."""
    commitment: str
    """SHA-256 of the 32 bytes of the seed."""
    bots: tuple[str, ...]
    """Labels of the versions by seat."""
    choices: tuple[RecordedChoice, ...]
    """Seat and action, in the order applied, seats ascending in a step; those for seats that had forfeited, too."""
    forfeits: tuple[Forfeited, ...]
    """Seats that forfeited; often none."""
    times_ms: tuple[tuple[float, ...], ...]
    """By seat, the time of each decision; what was played for a seat that had forfeited has none."""
    dice: tuple[Roll, ...]
    """Every roll, in order."""
    ranks: tuple[int, ...]
    """By seat; 0 is the best, and equal ones tie."""
    scores: tuple[str, ...]
    """By seat."""
    finished: float | None
    """Seconds since 1970; None if it is not known."""
    limits: tuple[Allowed | None, ...] = ()
    """By seat; None for a seat without limits. Not there if they are not known."""
    charged_ms: tuple[dict[int, float], ...] = ()
    """By seat and index in `times_ms`: the time charged, where it is not the time elapsed."""
    logs: tuple[tuple[Line, ...], ...] = ()
    """By seat what its bot printed, as far as it was kept; not there if nothing was, or if it may not be shown yet."""

    @property
    def replay(self) -> Replay:
        """The record of the match, without conditions, which a document does not have."""
        return Replay(self.choices, self.forfeits, self.times_ms, self.charged_ms)


class Step(NamedTuple):
    """Choices made at the same time, the rolls that followed, and the state after. The first step has no choices."""

    choices: tuple[RecordedChoice, ...]
    rolls: tuple[Roll, ...]
    state: Any


def document(match: store.Match, logs: Logs = ()) -> Document:
    """Return a finished match as a document, if its seed may be shown. Raises Unreadable and Breach."""
    if match.replay is None:
        raise Unreadable(f"match {match.id} is {match.status}: there is nothing to show")
    if match.seed is None:
        raise Unreadable(f"match {match.id} is shown when every match of its group is done: they share its dice")
    key = match.ladder.key
    record = _without_dice(
        unpack(match.replay),
        match.seed,
        match=match.id,
        ladder=match.ladder.id,
        game=key.game,
        rules_version=key.rules_version,
        options=dict(key.options),
        bots=match.line_up,
        ranks=tuple(seat.rank for seat in match.seats),
        scores=tuple(str(seat.score) for seat in match.seats),
        finished=match.finished,
        limits=(_allowed(Limits(**key.limits)),) * len(match.line_up),
        logs=_any(logs),
    )
    return _with_dice(record)


def _any(by_seat: tuple[T, ...]) -> tuple[T, ...]:
    """Return what there is by seat, or nothing if all of it is empty."""
    return by_seat if any(by_seat) else ()


def unrated(task: Task, bots: Sequence[str], result: Played, logs: Logs = ()) -> Document:
    """Return a match of no ladder, which has an outcome, as a document; `bots` are their names by seat."""
    assert result.outcome is not None
    ranks, scores, _ = result.outcome
    record = _with_dice(_of_task(task, bots, recorded(result), ranks, tuple(map(str, scores))))
    return msgspec.structs.replace(record, logs=_any(logs))


def _allowed(limits: Limits) -> Allowed:
    return Allowed(limits.decision, limits.bank)


def begun(task: Task, bots: Sequence[str]) -> Document:
    """Return a match of no ladder as it begins: a document without choices, dice, ranks and scores."""
    return _of_task(task, bots, Replay((), (), ()), (), ())


def _of_task(task: Task, bots: Sequence[str], record: Replay, ranks: Sequence[int], scores: Sequence[str]) -> Document:
    return _without_dice(
        record,
        task.seed,
        match=task.id,
        ladder="",
        game=task.game,
        rules_version=games.game(task.game).rules_version,
        options=dict(task.options),
        bots=tuple(map(_readable, bots)),
        ranks=tuple(ranks),
        scores=tuple(scores),
        finished=time.time(),
        limits=tuple([None if entrant.is_external else _allowed(task.limits) for entrant in task.lineup]),
    )


def _without_dice(record: Replay, seed: bytes, **fields: Any) -> Document:
    """Return a document without dice; `fields` are those that neither the record nor the seed has."""
    return Document(
        format=_FORMAT,
        seed=seed.hex(),
        commitment=commitment(seed).hex(),
        choices=record.choices,
        forfeits=record.forfeits,
        times_ms=record.times_ms,
        charged_ms=_any(tuple([dict(charged) for charged in record.charged_ms])),
        dice=(),
        **fields,
    )


def _readable(name: str) -> str:
    """Return a name without bytes of a path that are no text."""
    return name.encode(errors="backslashreplace").decode()


def _with_dice(record: Document) -> Document:
    """Return a document with all rolls. Raises Unreadable and Breach."""
    _replayed(record)
    return msgspec.structs.replace(record, dice=_rolls(record))


def opened(text: bytes) -> Document:
    """Read a document from its JSON text, as it was exported, or that of `arena match --json`. Raises Unreadable."""
    try:
        if inner := bytes(msgspec.json.decode(text, type=_Matches).replay):
            text = inner
        if (number := msgspec.json.decode(text, type=_Format).format) > _FORMAT:
            raise Unreadable(f"it is of format {number}, this arena knows {_FORMAT}: update the arena")
        return msgspec.json.decode(text, type=Document)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"it is no replay: {error}") from error


class _Format(msgspec.Struct):
    format: int


class _Matches(msgspec.Struct):
    replay: msgspec.Raw = msgspec.Raw()


def check_document(record: Document) -> None:
    """Play the match again by the rules, and compare it with the document. Raises Unreadable and Breach."""
    outcome = _replayed(record).outcome
    assert outcome is not None
    by_the_rules = {
        "ranks": outcome.ranks,
        "scores": tuple(map(str, outcome.scores)),
        "dice": _rolls(record),
    }
    for name, expected in by_the_rules.items():
        if getattr(record, name) != expected:
            raise Breach(f"{name} are not what the rules make of seed and choices")


def _replayed(record: Document) -> Match:
    game, seed = games.game(record.game), _seed(record)
    if game.rules_version != record.rules_version:
        raise Unreadable(f"it follows version {record.rules_version} of the rules, this arena has {game.rules_version}")
    if commitment(seed).hex() != record.commitment:
        raise Breach("the commitment is not that of the seed")
    _check_setting(game, record)
    return replayed(game, len(record.bots), record.options, KeyedDice(seed), record.replay)


def _seed(record: Document) -> bytes:
    if not re.fullmatch("[0-9a-fA-F]{64}", record.seed):  # bytes.fromhex would let spaces pass
        raise Unreadable(f"its seed {suggest.short(record.seed)} is not 64 hexadecimal digits")
    return bytes.fromhex(record.seed)


def _check_setting(game: Game[Any], record: Document) -> None:
    if not len(record.bots) == len(record.times_ms) in game.seats:
        raise Breach(f"it has {len(record.bots)} bots, and times of {len(record.times_ms)}")
    for name in ("logs", "limits", "charged_ms"):
        if (values := getattr(record, name)) and len(values) != len(record.bots):
            raise Breach(f"it has {len(record.bots)} bots, and {name} of {len(values)}")
    try:
        missing = sorted(game.options(record.options).keys() - record.options.keys())
    except BadOption as error:
        raise Breach(str(error)) from error
    if missing:
        raise Breach(f"the option {missing[0]} has no value")
    _check_finished(record.finished)


def _check_finished(finished: float | None) -> None:
    try:
        datetime.fromtimestamp(finished or 0.0, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise Breach(f"it finished at {finished}, which is no time") from error


def _rolls(record: Document) -> tuple[Roll, ...]:
    return tuple(roll for step in document_steps(record) for roll in step.rolls)


class Steps:
    """The steps of a match one after the other, also while it is still played."""

    def __init__(self, record: Document) -> None:
        self._game = games.game(record.game)
        self._dice = NotedDice(bytes.fromhex(record.seed))
        self._state = self._game.start(len(record.bots), self._dice, record.options)
        self._rolls_told = 0
        """Number of rolls that belong to earlier steps."""
        self._at: int | None = None
        """Number of choices that belong to earlier steps; None before the first step."""

    def next(self, choices: Sequence[RecordedChoice]) -> Step | None:
        """Return the next step, made of the match's choices so far; None if these are not enough."""
        if self._at is None:
            self._at = 0
            return Step((), self._new_rolls(), self._state)
        chosen = tuple(choices[self._at : self._at + len(self._game.pending(self._state))])
        if not chosen:
            return None
        self._at += len(chosen)
        self._state = self._game.apply(self._state, dict(chosen), self._dice)
        return Step(chosen, self._new_rolls(), self._state)

    def _new_rolls(self) -> tuple[Roll, ...]:
        rolls = tuple(self._dice.rolls[self._rolls_told :])
        self._rolls_told += len(rolls)
        return rolls


def document_steps(record: Document) -> Iterator[Step]:
    """Yield the steps of the match, from its start to the end of its choices."""
    every = Steps(record)
    while (step := every.next(record.choices)) is not None:
        yield step
