"""Entering a bot: it is taken, built, checked, and made a version if it comes through."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from arena import roster, submission
from arena.check.run import Finding, check
from arena.sandbox.run_folder import run_folder
from arena.submission import BadSubmission
from arena.submission.intake import Taken, take
from arena.worker.progress import Progress
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.referee.clock import Limits
    from arena.sandbox import Sandbox
    from arena.submission.build import Building


Agree: TypeAlias = Callable[[str], bool]
"""Asked a question that is answered by yes or no."""


class Admission(NamedTuple):
    """What became of a submission."""

    taken: Taken
    version: store.Version | None
    """None if it failed."""
    news: Literal["entered", "unchanged", "returned", "refused"]
    """`returned`: the content was there already, but retired."""
    failures: Sequence[Finding] = ()


def admit(
    home: Path,
    path: Path,
    limits: Limits,
    *,
    name: str | None = None,
    plays: Sequence[str] = (),
    report: Progress,
    building: Building,
    sandbox: Sandbox,
    agree: Agree | None = None,
) -> Admission:
    """Take what is at a path, build and check it, and enter it as a version.

    What is entered already, and newest, is not tried again. An archive that gives itself the name of another bot is its
    next version if `agree` says so, or whoever submits it says that `name`. Raises BadSubmission and StoreError.
    """
    with run_folder() as scratch:
        taken, newest = _take(home, path, scratch, name, plays)
        known = newest is not None and newest.digest == taken.program.digest
        roster.check_wishes(taken.program, sandbox)
        if newest is not None and not known and taken.program.packed and name is None:
            _check_is_meant(path, newest, agree)
        if newest is not None and known and (there := roster.program_of(home, newest)).root.exists():
            program = replace(there, packed=taken.program.packed)
        else:
            own = newest is not None or not taken.program.packed  # a stranger's new name may become another's
            program = roster.built(home, taken.program, sandbox, building, cached=own)
            known = known and newest is not None and newest.built == program.built
        if not known and (failures := check(program, limits, sandbox, report, quick=True).failed):
            return Admission(taken, None, "refused", failures)
        with store.open(home) as db:
            version, new = roster.enter(db, home, program, "submitted")
    was_retired = newest is not None and newest.retired is not None
    return Admission(taken, version, "entered" if new else "returned" if was_retired else "unchanged")


def prepare(
    home: Path, path: Path, scratch: Path, *, plays: Sequence[str], building: Building, sandbox: Sandbox
) -> Taken:
    """Take what is at a path and build it in an empty folder, as if it were submitted. Raises BadSubmission."""
    taken, _ = _take(home, path, scratch, None, plays, strict=False)
    return taken._replace(program=roster.built(home, taken.program, sandbox, building))


def _take(
    home: Path, path: Path, scratch: Path, name: str | None, plays: Sequence[str], *, strict: bool = True
) -> tuple[Taken, store.Version | None]:
    """A copy of a submission, and the newest version of its name; nobody need say again which games that plays."""
    with store.open_read(home) as db:
        _check_is_path(db, path)
        taken = take(path, scratch, name=name, plays=plays)
        called = taken.program.name
        if strict:
            _check_free(db, called)
        newest = next(reversed(store.versions(db, called)), None)
    if newest is not None and newest.origin == "submitted" and not taken.program.says_games:
        taken = taken._replace(program=submission.playing(taken.program, newest.games))
    return taken, newest


def _check_is_meant(path: Path, newest: store.Version, agree: Agree | None) -> None:
    """Raises BadSubmission if nobody agrees that an archive is a new version of the bot whose name it gives itself."""
    day = time.strftime("%Y-%m-%d", time.localtime(newest.created))
    source = "an archive" if newest.packed else "a file or folder"
    there = f"{newest.number} version{'s' * (newest.number > 1)}, the newest of {day} from {source}"
    claim = f"{str(path)!r} says it is called {newest.name}, which is entered already ({there})"
    following = f"{newest.name}@{newest.number + 1}"
    if agree is None or not agree(f"{claim}: make it {following}?"):
        raise BadSubmission(f"{claim}: say --name {newest.name} to make it {following}, or another name for a new bot")


def _check_is_path(db: Database, path: Path) -> None:
    """Raises BadSubmission for the name of a bot where the program itself is asked for."""
    name = str(path).partition("@")[0]
    if not path.exists() and name in roster.names(db):
        here = f"there is no file or folder {str(path)!r}; the bot {name} is here already"
        raise BadSubmission(f"{here}: name what it is made from, or see arena show {name}")


def _check_free(db: Database, name: str) -> None:
    """Raises BadSubmission for the name of a built-in bot, and for one that could be taken for another bot's."""
    if name in roster.built_ins(db):
        raise BadSubmission(f"{name!r} is a built-in bot's name: choose another with --name")
    others = roster.names(db)
    for other in sorted(others) if name not in others else ():
        if submission.skeleton(other) == submission.skeleton(name):
            raise BadSubmission(f"{name!r} could be taken for {other!r}, which is there: choose another with --name")
