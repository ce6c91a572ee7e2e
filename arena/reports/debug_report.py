"""The decisions of a match, put to another build of a bot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena import games
from arena.check.decision_check import Compared
from arena.reports.base import Report
from ladder import store


class ActionNames(Report):
    """Names of two actions."""

    then: str
    """That of the choice in the match; "no answer" if there was none."""
    now: str
    """That of the choice of this build."""


class ComparedDecision(Report):
    """A decision, what was chosen in the match (None: nothing), and what the other build chooses."""

    decision: int
    """Number of the decision in the match."""
    then: int | None
    """Number of the action that was chosen in the match; None if none was."""
    now: int
    """Number of the action that this build chooses."""
    legal: Sequence[int]
    """Numbers of the actions to choose from."""
    request: Mapping[str, Any]
    """What the bot was asked, as JSON of the protocol."""
    picture: str
    """The board before the decision, as text."""
    names: ActionNames
    """Names of both actions."""
    printed: Sequence[str]
    """What the other build printed at it."""


class Debug(Report):
    """The decisions of a seat in a match, put to another build of the bot."""

    match: str
    """Id of the match."""
    seat: int
    """Number of the seat, from 0."""
    decisions: Sequence[ComparedDecision]
    """Those that were put to the bot, in order."""


def decisions_compared(match: store.Match, seat: int, compared: Sequence[Compared]) -> Debug:
    """Report on a seat's decisions."""
    name = action_names(match)
    decisions = [
        ComparedDecision(
            **comparison.question._asdict(),
            then=comparison.then,
            now=comparison.now,
            printed=comparison.printed,
            names=ActionNames(then=name(comparison.then), now=name(comparison.now)),
        )
        for comparison in compared
    ]
    return Debug(match=match.id, seat=seat, decisions=decisions)


def action_names(match: store.Match) -> Callable[[int | None], str]:
    """Return what names the actions of a match, or says in words that there is none. Raises UnknownGame."""
    game = games.game(match.ladder.key.game)

    def name(action: int | None) -> str:
        if action is None:
            return "no answer"
        return game.action_name(action) if action < game.actions else f"{action}, which is no action"

    return name
