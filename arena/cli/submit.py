"""The `arena submit` command: one bot, or many with a table of what became of each."""

from __future__ import annotations

import errno
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from arena.cli.check import explain, steps_shown
from arena.reports.check_report import HandedIn, Submission, Submissions, last_words, submission, surprises
from arena.roster import sources
from arena.roster.admission import HAND_IN_ERRORS, Admission, HandIn, NameTaken, Qualification, admit
from arena.roster.sources import Naming
from arena.submission import BadSubmission
from arena.submission.manifest import Protocol
from arena.terminal import home_choice
from arena.terminal.machine import Conditions
from arena.terminal.options import (
    begin_with,
    conditions_options,
    home_option,
    json_option,
    plays_option,
    protocol_option,
)
from arena.terminal.output import Announcer, draw, print_json, printable, progress, table
from arena.terminal.stderr import say
from arena.terminal.typed import as_typed, typed_as
from arena.terminal.workshop import building
from ladder.store import Version


@click.command()
@click.argument("paths", metavar="PATH...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--name", help="What it is called.  [default: what bot.toml says, or the name of the file or folder]")
@click.option(
    "--names",
    "naming",
    type=click.Choice(["from-folder", "from-file"]),
    help="Call each after its folder, or its file, whatever it says itself.",
)
@plays_option
@protocol_option
@conditions_options
@home_option
@json_option
def submit(
    paths: tuple[Path, ...],
    name: str | None,
    naming: Naming | None,
    plays: tuple[str, ...],
    protocol: Protocol | None,
    conditions: Conditions,
    home: Path,
    as_json: bool,
) -> None:
    """Enter a bot, if it passes its qualification, or many.

    PATH is a .py file, an executable file, a folder with bot.toml, or such a folder as an archive. To qualify, the bot
    plays a match of every game and number of players that it claims. A version that fails is not entered; earlier
    versions stay entered. With several PATHs a table says what became of each; what is entered already costs nothing,
    so the same command goes on where it was stopped.

    \b
    Example:
      arena submit mybot.py --game buttons
      arena submit students/*/bot.py --names from-folder
    """
    if name is not None and (naming or len(paths) > 1):
        raise click.UsageError("--name is for one bot alone: leave out --names, and all PATHs but one")
    job = _Job(conditions, name, naming, plays, protocol, home, as_json)
    with progress("checking", "matches and tests", paced=False, caution=conditions.machine.caution) as report:
        if len(paths) == 1:
            _submit_one(paths[0], job, report)
        else:
            _many(paths, job, report)


class _Job(NamedTuple):
    """How bots are submitted."""

    conditions: Conditions
    name: str | None
    naming: Naming | None
    games: Sequence[str]
    protocol: Protocol | None
    home: Path
    as_json: bool

    def admit(
        self,
        path: Path,
        report: Announcer,
        agree: Callable[[str], bool] | None = None,
        beside: Sequence[Path] = (),
    ) -> Admission:
        """Submit what is at a path, and show how far that is; `beside` are all that are handed in with it."""
        naming = None if self.naming is None else sources.naming(path, self.naming, beside)
        limits, machine = self.conditions
        steps = steps_shown(report, limits.start)
        return admit(
            self.home,
            HandIn(path, self.name, naming, self.games, self.protocol),
            Qualification(limits, machine.sandbox, building(report), steps, agree),
        )


def _submit_one(path: Path, job: _Job, report: Announcer) -> None:
    asks = not job.as_json and sys.stdin.isatty() and sys.stderr.isatty()
    try:
        admitted = job.admit(path, report, _ask if asks else None)
    except BadSubmission as error:
        if job.as_json:
            print_json(submission(None, "refused", str(error)))
        raise
    if job.as_json:
        print_json(_report(path, admitted, job.games))
    else:
        _warn(admitted)
        if admitted.twins:
            say(f"note: {_alike(admitted.twins)}")
    version = admitted.version
    if version is None:
        if not job.as_json:
            explain(admitted.failures[0], to_stderr=True)
        raise click.ClickException(_refusal(path, job.games, admitted, is_shown=not job.as_json))
    home_choice.say_if_above(job.home)
    if not job.as_json:
        click.echo(_news(version, admitted))


def _warn(admitted: Admission) -> None:
    for line in surprises(admitted.intake):
        say(line)


def _report(path: Path, admitted: Admission, games: Sequence[str]) -> Submission:
    refusal = None if admitted.version else _refusal(path, games, admitted, is_shown=False)
    elsewhere = None if admitted.elsewhere is None else str(admitted.elsewhere)
    return submission(
        admitted.version, admitted.news, refusal, admitted.failures, twins=admitted.twins, elsewhere=elsewhere
    )


def _ask(question: str) -> bool:
    """Ask a yes-or-no question on the terminal; an empty answer means no."""
    try:
        return click.confirm(printable(question), err=True)
    except click.Abort:
        raise KeyboardInterrupt from None


def _news(version: Version, admitted: Admission) -> str:
    if admitted.news == "unchanged":
        source = f", from {str(admitted.elsewhere)!r}" if admitted.elsewhere else ""
        return f"{version.label} has just this content already{source}: nothing to do"
    how = "accepted as" if admitted.news == "entered" else "was retired, and plays again:"
    then = typed_as("ladder", "--game", begin_with(version.games))
    return f"{how} {version.label} for {', '.join(version.games)}; next: {then}"


def _refusal(path: Path, games: Sequence[str], admitted: Admission, *, is_shown: bool) -> str:
    """Return why a bot was refused and what its author can do; `is_shown`: the first failure was printed in full."""
    program, failures = admitted.intake.program, admitted.failures
    first, *further = failures
    why = f"it failed {first.name!r}" + ("" if is_shown else f": {printable(first.detail or '')}{last_words(first)}")
    if further:
        why += f"; it failed {' and '.join(repr(failure.name) for failure in further)} too"
    claimed = {f"play {game}" for game in program.games}
    failed = claimed & {failure.name for failure in failures}
    if failed and failed != claimed:
        why += "; if there are games that it does not play, say with --game which it plays"
    if further or not is_shown:
        again = typed_as("check", path, *(word for game in games for word in ("--game", game)))
        why += f"; see it whole: {again}"
    return f"{program.name} is not entered: {why}"


# Many


def _many(paths: Sequence[Path], job: _Job, report: Announcer) -> None:
    """Submit one after the other, whatever becomes of those before; then print what became of each."""
    handed_in = sources.handed_in(paths)
    submissions: list[HandedIn] = []
    is_called_alike = False
    try:
        for number, path in enumerate(handed_in, 1):
            say(printable(f"{number} of {len(handed_in)}: {path}"))
            try:
                became = _verdict(path, job, report, handed_in)
            except NameTaken as error:
                became, is_called_alike = submission(None, "refused", str(error)), True
            submissions.append(
                HandedIn(path=str(path), **{key: getattr(became, key) for key in became.__struct_fields__})
            )
            if became.news == "interrupted":
                raise KeyboardInterrupt("the same command goes on with what is left")
    finally:
        remaining = len(handed_in) - sum(entry.news != "interrupted" for entry in submissions)
        if job.as_json:
            print_json(Submissions(submissions=submissions, left=remaining))
        else:
            _draw(submissions, remaining)
    home_choice.say_if_above(job.home)
    refused = sum(entry.accepted is None for entry in submissions)
    if refused:
        hint = f"; {_ALIKE}" if is_called_alike and not job.naming else ""
        raise click.ClickException(f"{refused} of {len(submissions)} are not entered{hint}")


_ALIKE = "some are called alike: --names from-folder calls each after its folder, or its file where several lie in one"
"""What is said if several bots that are handed in together have one name."""
_OF_THE_MACHINE = {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""Errors that say nothing of what was handed in, whatever file they name."""


def _verdict(path: Path, job: _Job, report: Announcer, handed_in: Sequence[Path]) -> Submission:
    """Submit one bot of many; return what became of it, also if it is none or if the person stops. Raises NameTaken."""
    try:
        admitted = job.admit(path, report, beside=handed_in)
    except NameTaken:
        raise
    except HAND_IN_ERRORS as error:
        return submission(None, "refused", str(error))
    except (ArithmeticError, RecursionError, ValueError) as error:  # those who come after it are not to wait for a mend
        return submission(None, "refused", f"it cannot be read: {error}")
    except OSError as error:
        if error.filename is None or error.errno in _OF_THE_MACHINE:
            raise
        return submission(None, "refused", f"cannot use {str(error.filename)!r}: {error.strerror}")
    except KeyboardInterrupt as stopped:
        return submission(None, "interrupted", str(stopped))
    _warn(admitted)
    return _report(path, admitted, job.games)


def _draw(submissions: Sequence[HandedIn], remaining: int) -> None:
    rows = table("handed in", "bot", "")
    for entry in submissions:
        rows.add_row(printable(entry.path), entry.accepted or "", as_typed(printable(_in_words(entry))))
    draw(rows)
    counted: Counter[str] = Counter(entry.news for entry in submissions if entry.news != "interrupted")
    if remaining:
        counted["left"] = remaining
    click.echo(f"\n{', '.join(f'{number} {news}' for news, number in counted.items())}")


def _in_words(entry: Submission) -> str:
    if entry.accepted is None:
        return f"refused: {entry.reason}" if entry.news == "refused" else str(entry.reason)
    source = f", from {entry.elsewhere!r}" if entry.elsewhere else ""
    same = f"has just this content already{source}"
    how = "was retired, and plays again," if entry.news == "returned" else entry.news
    what = same if entry.news == "unchanged" else f"{how} for {', '.join(entry.games)}"
    return what + (f"; {_alike(entry.twins)}" if entry.twins else "")


def _alike(labels: Sequence[str]) -> str:
    """Return which versions of other bots have the content that was just handed in."""
    same = f"{', '.join(labels)} {'have' if len(labels) > 1 else 'has'} the same content"
    return f"{same} (if it is the same bot: {typed_as('retire', *labels)}; if that was banned, ban this one, too)"
