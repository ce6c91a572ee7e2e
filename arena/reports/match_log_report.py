"""What a bot printed in a match."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from arena.replay import log_text
from arena.replay.document import Document
from arena.reports.base import Report
from ladder import store

_MEANWHILE = 1000
"""Lines at most of what a process printed meanwhile: the last ones."""


class PrintedLine(Report):
    """A line, and the number of the decision at which it was printed; None if it belongs to none."""

    decision: int | None
    """Number of the decision; None if the line belongs to none."""
    text: str
    """The line, without what ends it."""


class MatchLog(Report):
    """What a bot printed in a match, and what its process printed meanwhile that may belong to other matches."""

    match: str
    """Id of the match."""
    seat: int
    """Number of the seat, from 0."""
    bot: str
    """Label of the version."""
    lines: Sequence[PrintedLine]
    """What the bot printed about this match."""
    meanwhile: Sequence[str]
    """The last 1,000 lines of its process that came meanwhile without a tag, perhaps about other matches."""


def unrated_log(match: Document, seat: int) -> MatchLog:
    """Report on what a kept match has of a seat."""
    lines = match.logs[seat] if match.logs else ()
    return MatchLog(
        match=match.match,
        seat=seat,
        bot=match.bots[seat],
        lines=[PrintedLine(decision=decision, text=text) for decision, text in lines],
        meanwhile=(),
    )


def match_log(match: store.Match, seat: int, printed: store.logs.Printed) -> MatchLog:
    """Report on what is kept of a seat. Raises Unreadable."""
    meanwhile = deque((text for _, text in log_text.read_log(printed.pieces)), maxlen=_MEANWHILE)
    return MatchLog(
        match=match.id,
        seat=seat,
        bot=match.line_up[seat],
        lines=[PrintedLine(decision=decision, text=text) for decision, text in log_text.read_log(printed.lines)],
        meanwhile=list(meanwhile),
    )
