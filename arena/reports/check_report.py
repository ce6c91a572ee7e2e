"""What the checks of a bot found, and what became of its submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from arena.base.suggest import printable, short
from arena.check.bot_check import Checked, Finding
from arena.reports.base import Report
from arena.submission.intake import Intake
from ladder import store

_SHOWN = 3
"""Number of paths named of what was left out of a submission, or changed."""


class FrameLine(Report):
    """A frame that was sent, and by whom: "referee" or "bot"."""

    who: str
    """"referee" or "bot"."""
    frame: Mapping[str, Any]
    """The frame, with the names of the protocol."""


class CheckFinding(Report):
    """What one check found."""

    check: str
    """Name of the check."""
    passed: bool
    """Whether the bot passed it."""
    detail: str | None
    """What was wrong; None if the bot passed."""
    reason: str | None
    """The reason for which the bot would forfeit a match, if there is one."""
    advice: str
    """What to do about it; empty if it passed."""
    output: Sequence[str]
    """What the bot printed last."""
    transcript: Sequence[FrameLine]
    """The last frames, in both directions."""


class KindTimes(Report):
    """How long decisions of one kind took, in milliseconds."""

    game: str
    """Name of the game."""
    kind: str
    """First words of the names of the actions to choose from."""
    decisions: int
    """Number of decisions of that kind."""
    p50: float
    """Half of them took at most this."""
    p95: float
    """95 % of them took at most this."""
    longest: float
    """The longest one."""


class BusyForecast(Report):
    """How the matches would have gone on a busy machine."""

    matches: int
    """Number of matches that were looked at."""
    lost: int
    """Matches in which the bank would not last."""
    longest: float
    """Seconds of the longest decision, as it was played."""


class UntriedPart(Report):
    """A check that was left out, as `play birth` or `birth with 3 players`."""

    check: str
    """Name of the check."""
    why: str
    """Why it was left out."""


class Check(Report):
    """The result of all checks of a bot."""

    name: str
    """Name of the bot."""
    passed: bool
    """Whether it passed all checks."""
    checks: Sequence[CheckFinding]
    """The checks that were made."""
    not_tried: Sequence[UntriedPart]
    """Those that were left out."""
    times_ms: Sequence[KindTimes]
    """How long its decisions took, by game and kind."""
    decision_ms: float | None
    """What half of all decisions took at most."""
    forecast: BusyForecast | None
    """How its matches would go on a busy machine; None if it played no game to its end."""


News = Literal["entered", "unchanged", "returned", "refused", "interrupted"]


class Submission(Report):
    """What became of a submission."""

    accepted: str | None
    """Label of the version; None if it was refused."""
    news: News
    """What happened to it; `returned` was retired and plays again."""
    reason: str | None
    """Why it was refused."""
    games: Sequence[str]
    """Names of the games that it plays; none if it was refused."""
    failures: Sequence[CheckFinding]
    """Checks that it did not pass."""
    twins: Sequence[str]
    """Labels of the versions of other bots that have the same content."""
    elsewhere: str | None = None
    """Where the version came from, if it was there already and was handed in from another place."""


class HandedIn(Submission, kw_only=True):
    """What became of one of many submissions."""

    path: str
    """Where it was handed in from, as it was named."""


class Submissions(Report):
    """What became of many submissions, in their order."""

    submissions: Sequence[HandedIn]
    """One for each bot."""
    left: int
    """How many were not looked at, because the command was stopped before."""


def check_summary(name: str, checked: Checked) -> Check:
    """Report on the checks of a bot with this name."""
    return Check(
        name=name,
        passed=not checked.failed,
        checks=[_finding(finding) for finding in checked.findings],
        not_tried=[UntriedPart(**untried._asdict()) for untried in checked.untried],
        times_ms=[KindTimes(**times._asdict()) for times in checked.times],
        decision_ms=checked.typical,
        forecast=None if checked.forecast is None else BusyForecast(**checked.forecast._asdict()),
    )


def last_words(finding: Finding) -> str:
    """Return the last line that a bot printed before it failed a check, in brackets: mostly it says why."""
    lines = "\n".join(finding.output).strip().splitlines()
    last = printable(lines[-1]).strip() if lines else ""
    return f" ({short(last)})" if last else ""


def surprises(taken: Intake) -> Iterator[str]:
    """Yield lines on what may surprise an author: what was left out or changed, and hints about the program."""
    if taken.left_out:
        yield f"left out as no part of a bot: {_some(taken.left_out)}"
    if taken.program.mended:
        yield f"changed to the line ends and encoding of Linux: {_some(taken.program.mended)}"
    for hint in taken.program.hints():
        yield f"hint: {printable(hint)}"


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
    return printable(", ".join(paths[:_SHOWN])) + more


def submission(
    version: store.Version | None,
    news: News,
    reason: str | None,
    failures: Sequence[Finding] = (),
    *,
    twins: Sequence[str] = (),
    elsewhere: str | None = None,
) -> Submission:
    """Report on a submission."""
    return Submission(
        accepted=version.label if version else None,
        news=news,
        reason=reason,
        games=version.games if version else (),
        failures=[_finding(finding) for finding in failures],
        twins=twins,
        elsewhere=elsewhere,
    )


def _finding(finding: Finding) -> CheckFinding:
    return CheckFinding(
        check=finding.name,
        passed=finding.detail is None,
        detail=finding.detail,
        reason=finding.reason and finding.reason.value,
        advice=finding.advice,
        output=finding.output,
        transcript=[FrameLine(who=line.who, frame=line.frame) for line in finding.transcript],
    )
