"""What a check of all that is stored found."""

from __future__ import annotations

from collections.abc import Sequence

from arena.reports.base import Report
from arena.tournament.verification import MatchVerdict


class StoredDifference(Report):
    """The first difference between what is stored and what was computed anew."""

    ladder: str | None
    """Id of the ladder in which it is; None if in none."""
    match: str | None
    """Id of the match in which it is; None if in none."""
    what: str
    """What is stored, and what was computed."""


class Verified(Report):
    """The result of a check of all that is stored."""

    matches: int
    """How many matches were played again."""
    difference: StoredDifference | None
    """The first one that was found; None if there is none."""
    remarks: Sequence[str]
    """What is no difference but worth knowing."""


def verified(verdict: MatchVerdict) -> Verified:
    """Report on a check of all that is stored."""
    difference = verdict.difference and StoredDifference(**verdict.difference._asdict())
    return Verified(matches=verdict.matches, difference=difference, remarks=verdict.remarks)
