"""Admission of a bot: it is copied, built and checked, and entered as a version if it passes."""

from __future__ import annotations

import filecmp
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from arena import roster, submission
from arena.check.bot_check import CheckReporter, Finding, check_bot
from arena.check.extent import SUBMISSION
from arena.roster import sources
from arena.roster.corrections import looks
from arena.sandbox.grades import NoSandbox
from arena.sandbox.run_folder import run_folder
from arena.submission import BadSubmission, Program
from arena.submission.intake import Intake, take_in
from arena.submission.manifest import name_from
from arena.submission.names import spelled
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.referee.limits import Limits
    from arena.roster.sources import Naming
    from arena.sandbox import Sandbox
    from arena.submission.build import Building
    from arena.submission.manifest import Protocol


Agree: TypeAlias = Callable[[str], bool]
"""Callback that puts a yes-or-no question to a person and returns the answer."""
AdmissionNews: TypeAlias = Literal["entered", "unchanged", "returned", "refused"]
"""What became of a submission.

`returned`: the content was entered before and retired; now it is back in the field.
"""


class NameTaken(BadSubmission):
    """Error for a hand-in that has the name of another bot, of which it may be no version."""


HAND_IN_ERRORS = BadSubmission, NoSandbox
"""What `admit` raises of one hand-in, and what says nothing of others."""


class Admission(NamedTuple):
    """Result of a submission."""

    intake: Intake
    version: store.Version | None
    """The version with the submitted content; None if the submission was refused."""
    news: AdmissionNews
    failures: Sequence[Finding] = ()
    twins: Sequence[str] = ()
    """Labels of the versions of other bots that have the same content."""
    elsewhere: Path | None = None
    """Where the version came from, if it was there already and somebody handed it in from another place."""


class HandIn(NamedTuple):
    """What somebody hands in, and what they say of it."""

    path: Path
    name: str | None = None
    naming: Naming | None = None
    """After what it is called, whatever it says itself."""
    plays: Sequence[str] = ()
    """The games that it plays; those of its manifest if there are none."""
    protocol: Protocol | None = None
    """That of a lone file, which has no manifest."""


class Qualification(NamedTuple):
    """How a hand-in is built and checked, and who is told."""

    limits: Limits
    sandbox: Sandbox
    building: Building
    report: CheckReporter
    agree: Agree | None = None


def admit(home: Path, hand_in: HandIn, qualification: Qualification) -> Admission:
    """Take what is handed in, build and check it, and enter it as a version.

    Content that is the newest version of its name already is not checked again. What may be somebody else's, because
    it comes from elsewhere or says in an archive what it is called, becomes the next version of a bot already entered
    only if `agree` says so or the submitter gives that `name`. Raises BadSubmission and StoreError, and
    KeyboardInterrupt with what was done until then.
    """
    path, name, naming, plays, protocol = hand_in
    limits, sandbox, building, report, agree = qualification
    with run_folder() as scratch, told_if_stopped(home, path) as reached:
        called = name if naming is None else name_from(sources.outer_name(path, naming))
        intake, newest = _take(home, path, scratch, called, plays, protocol)
        reached(intake.program)
        is_known = newest is not None and newest.digest == intake.program.digest
        roster.check_wishes(intake.program, sandbox)
        if newest is not None and not is_known and name is None:
            _check_is_meant(home, path, newest, agree, named=naming is not None, packed=intake.program.packed)
        if newest is not None and is_known and (stored_program := roster.program_of(home, newest)).root.exists():
            program = replace(stored_program, packed=intake.program.packed)
        else:
            # no cache for an archive with a new name: that name may later belong to somebody else
            own_cache = newest is not None or not intake.program.packed
            program = roster.built(home, intake.program, sandbox, building, cached=own_cache)
            is_known = is_known and newest is not None and newest.built == program.built
        if not is_known and (failures := check_bot(program, limits, sandbox, report, SUBMISSION).failed):
            return Admission(intake, None, "refused", failures)
        reached(program)
        with store.open(home) as db:
            version, new = roster.enter_bot(db, home, program, "submitted")
            candidates = [candidate for candidate in store.bots.versions(db) if candidate.name != version.name]
        elsewhere = _elsewhere(home, path, version.name, new=new)
    twins = [candidate.label for candidate in candidates if _is_same(home, candidate, version)]
    was_retired = newest is not None and newest.retired is not None
    news: AdmissionNews = "entered" if new else "returned" if was_retired else "unchanged"
    return Admission(intake, version, news, twins=twins, elsewhere=elsewhere)


def _elsewhere(home: Path, path: Path, name: str, *, new: bool) -> Path | None:
    """Return where a bot came from, if that is another place; remember this place if it is new, or none was known."""
    source = sources.recalled(home, name)
    if new or source is None:
        sources.remember(home, name, path)
        return None
    return None if sources.is_same(source, path) else source


def _is_same(home: Path, first: store.Version, second: store.Version) -> bool:
    """Tell whether two versions have the same content, whatever a file that is all of it is called."""
    if first.digest == second.digest:
        return True
    first_file, second_file = (_only_file(roster.program_of(home, version).root) for version in (first, second))
    return first_file is not None and second_file is not None and filecmp.cmp(first_file, second_file, shallow=False)


def _only_file(folder: Path) -> Path | None:
    """Return the only file in a stored program's folder; None if it has more, or is gone."""
    files = list(folder.iterdir()) if folder.is_dir() else []
    return files[0] if len(files) == 1 and files[0].is_file() else None


def prepare(
    home: Path,
    path: Path,
    workshop: roster.Workshop,
    *,
    plays: Sequence[str],
    protocol: Protocol | None,
) -> Intake:
    """Copy what is at a path into the workshop's folder, which is empty, and build it, as if it were submitted.

    Raises BadSubmission, and KeyboardInterrupt with what was done until then.
    """
    try:
        taken, _ = _take(home, path, workshop.scratch, None, plays, protocol, strict=False)
        return taken._replace(program=roster.built(home, taken.program, workshop.sandbox, workshop.building))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped before the first step: nothing was checked") from None


@contextmanager
def told_if_stopped(home: Path, path: Path) -> Iterator[Callable[[Program], None]]:
    """At Ctrl-C, say whether the bot was entered; yield a function to call with the program once there is one."""
    programs: list[Program] = []
    try:
        yield programs.append
    except KeyboardInterrupt:
        name = programs[-1].name if programs else str(path)
        newest = _newest(home, name) if programs else None
        if newest and (newest.digest, newest.built) == (programs[-1].digest, programs[-1].built) and not newest.retired:
            raise KeyboardInterrupt(f"stopped: {newest.label} is entered") from None
        raise KeyboardInterrupt(f"stopped: {name} was not entered") from None


def _newest(home: Path, name: str) -> store.Version | None:
    with store.open_read(home) as db:
        return next(reversed(store.bots.versions(db, name)), None)


def _take(
    home: Path,
    path: Path,
    scratch: Path,
    name: str | None,
    plays: Sequence[str],
    protocol: Protocol | None,
    *,
    strict: bool = True,
) -> tuple[Intake, store.Version | None]:
    """Copy a submission; return it, and the newest version of its name if there is one.

    If nobody says anew which games it plays, it plays those of that version.
    """
    with store.open_read(home) as db:
        _check_is_path(db, path)
        intake = take_in(path, scratch, name=name, plays=plays, protocol=protocol)
        called = intake.program.name
        if strict:
            _check_free(db, called)
        newest = next(reversed(store.bots.versions(db, called)), None)
    if newest is not None and newest.origin == "submitted" and not plays and _says_the_same(home, intake, newest):
        intake = intake._replace(program=submission.playing(intake.program, newest.games))
    return intake, newest


def _says_the_same(home: Path, intake: Intake, newest: store.Version) -> bool:
    """Tell whether the manifest names the same games as that of a version, or none; that may play others by --game."""
    now, then = (
        submission.manifest(root).games for root in (intake.program.root, roster.program_of(home, newest).root)
    )
    return now == then or not intake.program.says_games


def _check_is_meant(
    home: Path, path: Path, newest: store.Version, agree: Agree | None, *, named: bool, packed: bool
) -> None:
    """Raise BadSubmission unless a hand-in is surely a new version of the bot whose name it has, or somebody agrees.

    It surely is if it comes from the place of the version before, and its name from people (`named`) or from what is
    no archive. Of what an older arena entered nobody knows the place.
    """
    source = sources.recalled(home, newest.name)
    same = sources.is_same(source, path) if source is not None else not packed
    if same and (named or not packed):
        return
    day = time.strftime("%Y-%m-%d", time.localtime(newest.created))
    kind = "an archive" if newest.packed else "a file or folder"
    entry = f"{newest.number} version{'s' * (newest.number > 1)}, the newest of {day} from {_as_typed(source) or kind}"
    says = "would be called" if named or not packed else "says it is called"
    claim = f"{str(path)!r} {says} {newest.name}, which is entered already ({entry})"
    following = f"{newest.name}@{newest.number + 1}"
    if agree is None or not agree(f"{claim}: make it {following}?"):
        raise NameTaken(f"{claim}: say --name {newest.name} to make it {following}, or another name for a new bot")


def _as_typed(source: Path | None) -> str | None:
    """Return a path as people would type it here."""
    if source is None:
        return None
    folder = spelled(Path())
    return repr(str(source.relative_to(folder) if source.is_relative_to(folder) else source))


def _check_is_path(db: Database, path: Path) -> None:
    """Raise BadSubmission if a path does not exist but is the name of a bot: the program itself is needed."""
    name = str(path).partition("@")[0]
    if not path.exists() and name in roster.bot_names(db):
        problem = f"there is no file or folder {str(path)!r}; the bot {name} is here already"
        raise BadSubmission(f"{problem}: name what it is made from, or see `arena show {name}`")


def _check_free(db: Database, name: str) -> None:
    """Raise BadSubmission for the name of a built-in bot, and for one that could be mistaken for another bot's."""
    if name in roster.builtin_bots(db):
        raise BadSubmission(f"{name!r} is a built-in bot's name: choose another with --name")
    try:
        store.bots.check_not_banned(db, name)
    except store.StoreError as error:
        raise BadSubmission(str(error)) from error
    if name in (names := roster.bot_names(db)):
        return
    like = [bot for bot in sorted(names) if submission.skeleton(bot) == submission.skeleton(name)]
    like += [title for title in store.journal.titles(db).values() if looks(title) == looks(name)]
    if like:
        raise BadSubmission(f"{name!r} could be taken for {like[0]!r}, which is there: choose another with --name")
