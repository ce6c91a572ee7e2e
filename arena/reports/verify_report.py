"""What a check of all that is stored found."""

from __future__ import annotations

from collections.abc import Sequence

from arena.reports.base import Report
from arena.tournament.verification import MatchVerdict


class StoredDifference(Report):
    """The first difference between what is stored and what was computed anew."""

    ladder: str | None
    match: str | None
    what: str


class Verified(Report):
    """The result of a check of all that is stored."""

    matches: int
    """How many matches were played again."""
    difference: StoredDifference | None
    remarks: Sequence[str]


def verified(verdict: MatchVerdict) -> Verified:
    """Report on a check of all that is stored."""
    difference = verdict.difference and StoredDifference(**verdict.difference._asdict())
    return Verified(matches=verdict.matches, difference=difference, remarks=verdict.remarks)
