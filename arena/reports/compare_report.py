"""Which of two bots is better."""

from __future__ import annotations

from collections.abc import Sequence

from arena.reports.base import Report
from arena.tournament.comparison import Answer, ComparisonQuestion


class Comparison(Report):
    """Which of two bots is better."""

    game: str
    """Name of the game."""
    players: int
    """Number of seats."""
    bots: Sequence[str]
    """The two bots, as they were named."""
    field: Sequence[str]
    """The others among which they were compared."""
    seed: str
    """With it the same matches can be played again."""
    matches: int
    """Number of matches that were played."""
    groups: int
    """Number of complete groups among them."""
    points: float
    """The first bot's share of the points or, with a field, one half plus half of its lead."""
    low: float
    """End of the interval of `points` that holds however often one looks; `high` is the other."""
    high: float
    """Upper end of the interval of `points`."""
    better: str | None
    """None if it is not decided."""
    alike: bool
    """Whether they are known to be less than `difference` apart."""
    difference: float | None
    """Share of the points that matters; None if none was named."""
    alpha: float
    """Bound of the probability that equal bots are found different."""
    beta: float
    """Bound of the probability that bots `difference` apart are found alike."""
    forfeits: Sequence[int]
    """How many matches each of the two forfeited."""
    void_groups: int
    """Number of groups that count for nobody, since the arena failed in them."""
    interrupted: bool
    """Whether it was stopped before an answer was found."""


def comparison(question: ComparisonQuestion, answer: Answer, seed: str, *, interrupted: bool) -> Comparison:
    """Report on the answer to which of two bots is better."""
    low, high = answer.test.interval
    labels = [entrant.label for entrant in question.pair]
    return Comparison(
        game=question.game.name,
        players=question.seats,
        bots=labels,
        field=[entrant.label for entrant in question.field],
        seed=seed,
        matches=answer.matches,
        groups=answer.test.count,
        points=answer.test.mean,
        low=low,
        high=high,
        better=labels[answer.test.mean < 0.5] if answer.test.decided else None,
        alike=answer.test.alike and not answer.test.decided,
        difference=question.test.difference,
        alpha=question.test.alpha,
        beta=question.test.beta,
        forfeits=answer.forfeits,
        void_groups=answer.void,
        interrupted=interrupted,
    )
