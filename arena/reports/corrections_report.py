"""What people corrected by hand: matches annulled, bots banned or given another name, and the record of all that."""

from __future__ import annotations

from collections.abc import Sequence

from arena.reports.base import Report
from ladder import store


class CorrectionLine(Report):
    """An entry of the record; times are seconds since 1970."""

    id: int
    """Number of the entry, from 1."""
    at: float
    """When it was made."""
    who: str | None
    """User of the operating system; None for what an older arena stored without it."""
    what: str
    """"submit", "retire", "reinstate", "forgive", "annul", "ban", "unban" or "rename"."""
    subject: str
    """Id of a match, label of a version or name of a bot."""
    ladder: str | None
    """The only ladder that it is about."""
    since: float | None
    """When the first match was finished that it annulled, at the earliest; None for all."""
    title: str | None
    """The name that a bot has for people from then on."""
    why: str | None
    """The reason that was given with `--why`."""
    digest: str
    """SHA-256 over this entry, the matches that it annulled, and the entries before it."""
    matches: int
    """Number of matches that it annulled."""


class Corrected(Report):
    """A correction that was just made."""

    correction: CorrectionLine
    """Its entry in the record."""
    ladders: Sequence[str]
    """Ids of the ladders in which matches were annulled; their ratings were computed anew."""
    retired: Sequence[str]
    """Labels of the versions that it retired."""
    dropped: int
    """Number of matches that will not be played any more."""


class CorrectionsLog(Report):
    """The record, or the end of it."""

    corrections: Sequence[CorrectionLine]
    """The newest last."""


def entry(correction: store.journal.Correction) -> CorrectionLine:
    """Report an entry of the record."""
    return CorrectionLine(**correction._asdict() | {"digest": correction.digest.hex()})


def corrected(change: store.annulment.Annulled) -> Corrected:
    """Report on a correction that was just made."""
    return Corrected(
        correction=entry(change.correction),
        ladders=change.ladders,
        retired=[version.label for version in change.retired],
        dropped=change.dropped,
    )


def corrections_log(entries: Sequence[store.journal.Correction]) -> CorrectionsLog:
    """Report the record."""
    return CorrectionsLog(corrections=[entry(correction) for correction in entries])
