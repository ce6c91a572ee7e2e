"""Matches that were played without a ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from arena.games.rules import Game
from arena.replay.document import Document
from arena.reports.base import Report
from arena.worker.jobs import Played


class PlayedForfeit(Report):
    """A seat that lost by misbehaviour."""

    seat: int
    """Number of the seat, from 0."""
    reason: str
    """The kind of fault, such as `timeout`."""
    detail: str
    """What happened, in a line."""


class PlayedMatch(Report):
    """A match by seat, or, if it counts for nobody, just `void`: the reason for that."""

    ranks: Sequence[int] | UnsetType = UNSET
    """Places from 0; equal ones are ties."""
    scores: Sequence[int] | UnsetType = UNSET
    """Scores of the game."""
    forfeits: Sequence[PlayedForfeit] | UnsetType = UNSET
    """Seats that forfeited; often none."""
    evidence: Mapping[str, Mapping[str, Any]] | UnsetType = UNSET
    """What is kept for the author of a bot, by the number of a seat that forfeited."""
    decisions: int | UnsetType = UNSET
    """Number of decisions of all seats."""
    void: str | UnsetType = UNSET
    """Why it counts for nobody; only then it is there."""


class UnratedMatches(Report):
    """Unrated matches of one line-up."""

    game: str
    """Name of the game."""
    bots: Sequence[str]
    """By seat, as they were named."""
    seed: str
    """With it the same matches can be played again."""
    matches: Sequence[PlayedMatch]
    """In the order in which they were numbered."""
    kept: Sequence[str]
    """Names under which the home keeps matches, the last one last."""
    replay: Mapping[str, Any] | None
    """The last match that counts, as a document."""


def unrated_matches(
    game: Game[Any],
    bots: Sequence[str],
    seed: str,
    results: Sequence[Played],
    names: Sequence[str],
    last: Document | None,
) -> UnratedMatches:
    """Report on matches of one line-up."""
    return UnratedMatches(
        game=game.name,
        bots=bots,
        seed=seed,
        matches=[_match(result) for result in results],
        kept=names,
        replay=None if last is None else msgspec.to_builtins(last),
    )


def _match(result: Played) -> PlayedMatch:
    if result.outcome is None:
        return PlayedMatch(void=str(result.void))
    ranks, scores, forfeits = result.outcome
    return PlayedMatch(
        ranks=ranks,
        scores=scores,
        forfeits=[
            PlayedForfeit(seat=forfeit.seat, reason=forfeit.reason.value, detail=forfeit.detail) for forfeit in forfeits
        ],
        evidence={str(seat): record.evidence for seat, record in enumerate(result.seats) if record.evidence},
        decisions=len(result.choices),
    )
