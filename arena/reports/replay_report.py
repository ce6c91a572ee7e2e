"""A match step by step, with everything that a viewer shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToDict
from msgspec import UNSET, UnsetType

from arena import games
from arena.base.suggest import printable
from arena.games.rules import Game
from arena.referee.match import SeatForfeit, final_ranks
from arena.replay.annotated import Annotated, Annotator
from arena.replay.document import Allowed, Document, Roll, Step, document_steps
from arena.replay.narration import beyond_scores
from arena.reports.base import Report


class ReplayChoice(Report):
    """What a seat chose."""

    seat: int
    action: int
    name: str
    forfeited: bool
    """Whether it was played for a seat that had forfeited."""
    ms: float | UnsetType = UNSET
    """Milliseconds that it took; left out if it was played for a seat that had forfeited."""


class ReplayRoll(Report):
    """What the dice gave for a key: faces or, if there are bounds, numbers from 0 below each of them."""

    key: str
    numbers: Sequence[int]
    bounds: Sequence[int] | UnsetType = UNSET


class ReplayForfeit(Report):
    """A seat that lost by misbehaviour, and why."""

    seat: int
    reason: str
    step: int
    """The number of the step that shows it first: one more than a document's, which counts the steps from 0."""


class PrintedText(Report):
    """What a bot printed at one decision."""

    seat: int
    lines: Sequence[str]


class ReplayStep(Report):
    """Choices made at the same time, and the match after them. Step 0 has no choices.

    If forfeits decided the match, it has a last step without choices, in which nothing changes but that it is over.
    """

    choices: Sequence[ReplayChoice]
    rolls: Sequence[ReplayRoll]
    view: Mapping[str, Any]
    """What a spectator is shown: the game's message as JSON, with the names of its fields in the protocol."""
    picture: str
    pending: Sequence[int]
    """The seats that owe a decision; for those that forfeited the arena plays."""
    over: bool
    scores: Sequence[str]
    """By seat, as decimal text, since some games have no largest score."""
    ranks: Sequence[int]
    """By seat, if the match ended now; 0 is best, equal ranks tie, and seats that forfeited are last."""
    leaders: Sequence[int]
    """The seats that would be first if the match ended now. Nobody leads while all scores are equal and no seat has
    forfeited: only the end breaks ties."""
    forfeits: Sequence[ReplayForfeit]
    """All until now."""
    thought_ms: Sequence[float]
    """By seat, the time that all its decisions took until now."""
    bank_ms: Sequence[float | None]
    """By seat, the time that it has left beyond its limits; None if it has none, or they are not known."""
    events: Sequence[str]
    """What people will look for in the match."""
    printed: Sequence[PrintedText]


class MatchReplay(Report):
    """A match step by step. Text from outside the arena is printable: whatever could move a cursor is escaped."""

    match: str
    ladder: str
    game: str
    title: str
    options: Mapping[str, Any]
    seed: str
    commitment: str
    bots: Sequence[str]
    limits: Sequence[Allowed | None]
    """By seat, in seconds; None for a seat without limits. Empty if they are not known."""
    caution: str
    """What to know before the match is looked at, such as that it does not count; often empty."""
    finished: float | None
    """Seconds since 1970."""
    scores: Sequence[str]
    ranks: Sequence[int]
    remark: str
    """Why a seat is placed above one whose score is not smaller; often empty."""
    steps: Sequence[ReplayStep]


def match_replay(record: Document, caution: str = "") -> MatchReplay:
    """Report on a match that the rules allow: see `document.check`."""
    return MatchReplay(
        match=printable(record.match),
        ladder=printable(record.ladder),
        game=record.game,
        title=games.game(record.game).title,
        options=record.options,
        seed=record.seed,
        commitment=record.commitment,
        bots=[printable(bot) for bot in record.bots],
        limits=record.limits,
        caution=printable(caution),
        finished=record.finished,
        scores=record.scores,
        ranks=record.ranks,
        remark=printable(beyond_scores(record)),
        steps=list(Reporter(record).steps()),
    )


class Reporter:
    """Goes through a match once; `live.py` does so while it is played, and brings what is known meanwhile."""

    def __init__(self, record: Document) -> None:
        self.annotator = Annotator(record)
        self.forfeits = record.forfeits
        self._record = record
        self._game: Game[Any] = games.game(record.game)
        self._thought = [0.0] * len(record.bots)
        self._leader: int | None = None
        """The last seat that was ahead of all others."""

    def steps(self) -> Iterator[ReplayStep]:
        """Yield the steps; the one that ends the match is known by what comes after it."""
        before, last = None, None
        for step in document_steps(self._record):
            if last is not None:
                yield last
            last, before = self.report(step, before), step
        assert last is not None
        if any(forfeit.step >= self.annotator.steps for forfeit in self.forfeits):
            yield last
            last = self._decided(last)
        remaining = [_printed(seat, lines) for seat, _, lines in self.annotator.remaining_lines()]
        printed = [*last.printed, *remaining]
        yield msgspec.structs.replace(last, over=True, pending=[], leaders=_first(last.ranks), printed=printed)

    def report(self, step: Step, before: Step | None) -> ReplayStep:
        """Report on the next step, which follows another one unless it is the first."""
        choices = self.annotator.annotate(step)
        for choice in choices:
            self._thought[choice.seat] += choice.ms or 0.0
        forfeits = self._forfeits(self.annotator.steps)
        scores = self._game.scores(step.state)
        ranks = final_ranks(self._game.ranks(step.state), forfeits)
        leaders = _first(ranks) if forfeits or len(set(scores)) > 1 else []
        happened = () if before is None else self._game.events(before.state, dict(step.choices), step.state)
        return ReplayStep(
            choices=[_choice(choice) for choice in choices],
            rolls=[_roll(roll) for roll in step.rolls],
            view=MessageToDict(self._game.view(step.state, None), preserving_proto_field_name=True),
            picture="\n".join(map(printable, self._game.picture(step.state).split("\n"))),
            pending=sorted(self._game.pending(step.state)),
            over=False,
            scores=[str(score) for score in scores],
            ranks=ranks,
            leaders=leaders,
            forfeits=list(map(_forfeit, forfeits.values())),
            thought_ms=[round(thought, 2) for thought in self._thought],
            bank_ms=[None if bank is None else round(1000 * bank, 2) for bank in self.annotator.banks],
            events=[*self._new_forfeits(self.annotator.steps), *happened, *self._new_leader(leaders)],
            printed=self._said(choices),
        )

    def _decided(self, last: ReplayStep) -> ReplayStep:
        """Return the step in which forfeits decided the match: nobody's choice was applied any more."""
        number = self.annotator.steps + 1
        return msgspec.structs.replace(
            last,
            choices=[],
            rolls=[],
            ranks=self._record.ranks,
            forfeits=list(map(_forfeit, self._forfeits(number).values())),
            events=self._new_forfeits(number),
            printed=[],
        )

    def _said(self, choices: Sequence[Annotated]) -> Sequence[PrintedText]:
        """Return what was printed at these choices, or, if there are none, before the first decision."""
        if choices:
            return [_printed(choice.seat, choice.printed) for choice in choices if choice.printed]
        before = [(seat, self.annotator.printed(seat, 0)) for seat in range(len(self._record.bots))]
        return [_printed(seat, lines) for seat, lines in before if lines]

    def _forfeits(self, number: int) -> Mapping[int, SeatForfeit]:
        """Return, by seat, the forfeits up to the step with this number."""
        return {
            forfeit.seat: SeatForfeit(forfeit.seat, forfeit.reason, "", forfeit.step)
            for forfeit in self.forfeits
            if forfeit.step < number
        }

    def _new_forfeits(self, number: int) -> Sequence[str]:
        new = [forfeit for forfeit in self.forfeits if forfeit.step == number - 1]
        return [f"seat {forfeit.seat} forfeits: {forfeit.reason}" for forfeit in new]

    def _new_leader(self, leaders: Sequence[int]) -> Sequence[str]:
        """Tell whether a seat is ahead of all others that was not the last to be so."""
        if len(leaders) != 1 or leaders[0] == self._leader:
            return []
        self._leader = leaders[0]
        return [f"seat {self._leader} takes the lead"]


def _first(ranks: Sequence[int]) -> Sequence[int]:
    return [seat for seat, rank in enumerate(ranks) if rank == 0]


def _choice(choice: Annotated) -> ReplayChoice:
    return ReplayChoice(
        seat=choice.seat,
        action=choice.action,
        name=printable(choice.name),
        forfeited=choice.ms is None,
        ms=UNSET if choice.ms is None else choice.ms,
    )


def _roll(roll: Roll) -> ReplayRoll:
    return ReplayRoll(key=roll.key, numbers=roll.numbers, bounds=UNSET if roll.bounds is None else roll.bounds)


def _forfeit(forfeit: SeatForfeit) -> ReplayForfeit:
    return ReplayForfeit(seat=forfeit.seat, reason=forfeit.reason, step=forfeit.step + 1)


def _printed(seat: int, lines: Sequence[str]) -> PrintedText:
    return PrintedText(seat=seat, lines=[printable(line) for line in lines])
