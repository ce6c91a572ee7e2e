"""A match while it is played, as one seat is shown it: for who plays it in a browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from google.protobuf.json_format import MessageToDict

from arena import games
from arena.base.suggest import printable
from arena.games.rules import Game, drawn
from arena.replay.document import Document, Step, Steps, begun
from arena.replay.record import Forfeited
from arena.reports.base import Report
from arena.reports.replay_report import ReplayChoice, ReplayRoll, ReplayStep, Reporter, match_replay

if TYPE_CHECKING:
    from arena.referee.match import Asked
    from arena.worker.jobs import Task
    from arena.worker.matches_in_play import MatchInPlay


class About(Report):
    """What stays the same throughout a match."""

    game: str
    title: str
    options: Mapping[str, Any]
    bots: Sequence[str]
    """By seat, the person too."""
    seat: int
    """The person's."""


class LegalAction(Report):
    """One of the actions to choose from."""

    action: int
    name: str


class Question(Report):
    """What the seat is asked."""

    number: int
    """Unique in the match; whoever answers names it."""
    choices: Sequence[LegalAction]


class LiveNews(Report):
    """What happened in a step."""

    choices: Sequence[ReplayChoice]
    rolls: Sequence[ReplayRoll]
    events: Sequence[str]


class LiveMatch(Report):
    """A match as it is now."""

    number: int
    """Of the last step."""
    step: ReplayStep
    previous: Mapping[str, Any] | None
    """The view before that step; None if it is the first."""
    news: Sequence[LiveNews]
    """The steps from the seat's last choice on."""
    question: Question | None
    """None while others decide, and at the end."""


def about(task: Task, bots: Sequence[str], seat: int) -> About:
    """Tell what a match is, before it begins."""
    return About(
        game=task.game,
        title=games.game(task.game).title,
        options=task.options,
        bots=list(map(printable, bots)),
        seat=seat,
    )


class LiveReporter:
    """Reports on a match whenever it has changed."""

    def __init__(self, task: Task, bots: Sequence[str], seat: int) -> None:
        record = begun(task, bots)
        self._game: Game[Any] = games.game(task.game)
        self._options = task.options
        self._seat = seat
        self._steps, self._reporter = Steps(record), Reporter(record)
        self._last: Step | None = None
        self._reported: list[ReplayStep] = []
        self._news: list[LiveNews] = []
        self._decision: Asked | None = None

    def look(self, playing: MatchInPlay) -> LiveMatch | None:
        """Return the match as it is now; None if it is as it was at the last look."""
        match = playing.table.match
        self._reporter.annotator.follow(playing)
        self._reporter.forfeits = tuple(
            Forfeited(forfeit.seat, forfeit.reason, forfeit.step) for forfeit in match.forfeits.values()
        )
        steps, decision = list(self._new_steps(match.choices)), match.pending.get(self._seat)
        if not steps and decision is self._decision:
            return None
        self._decision = decision
        return self._now(steps)

    def finish(self, record: Document) -> LiveMatch:
        """Return the match as it ended: its last step was not in play any more, and nothing need be hidden now."""
        self._decision = None
        return self._now(match_replay(record).steps[len(self._reported) :])

    def _new_steps(self, choices: Sequence[tuple[int, int]]) -> Iterator[ReplayStep]:
        while (step := self._steps.next(choices)) is not None:
            yield self._as_shown(self._reporter.report(step, self._last), step)
            self._last = step

    def _as_shown(self, reported: ReplayStep, step: Step) -> ReplayStep:
        """Return a step without what a game may hide from the seat: all but its view, the choices and whose turn it is.

        Dice, scores and events are of the whole state.
        """
        if not self._game.hides:
            return reported
        view = self._game.view(step.state, self._seat)
        picture = drawn(self._game, view, self._options)
        return msgspec.structs.replace(
            reported,
            rolls=(),
            view=MessageToDict(view, preserving_proto_field_name=True),
            picture="\n".join(map(printable, picture.split("\n"))),
            scores=(),
            ranks=(),
            leaders=(),
            events=(),
        )

    def _now(self, steps: Sequence[ReplayStep]) -> LiveMatch:
        for step in steps:
            if any(choice.seat == self._seat for choice in step.choices):
                self._news = []
            self._news.append(LiveNews(choices=step.choices, rolls=step.rolls, events=step.events))
        self._reported += steps
        *before, last = self._reported
        return LiveMatch(
            number=len(before),
            step=last,
            previous=before[-1].view if before else None,
            news=self._news,
            question=self._decision and self._question(self._decision),
        )

    def _question(self, decision: Asked) -> Question:
        names = [(action, printable(self._game.action_name(action))) for action in decision.legal]
        return Question(
            number=decision.number, choices=[LegalAction(action=action, name=name) for action, name in names]
        )
