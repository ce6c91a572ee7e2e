"""Backups: everything of a data directory ("home") that a restore needs, as one folder, and homes made from them.

A backup looks like a home: `arena.db`, `bots/`, `builds/` and `unrated/`. Backups and restored homes are made beside
their place, under a name that ends in `.part`, and get their own name when they are complete and on the disk.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from arena import submission
from arena.roster.bots import build_log, folder, program_of
from arena.sandbox.run_folder import remove
from arena.submission import BadSubmission, Program
from arena.submission.program import files_in
from ladder import store
from ladder.store.home import UNRATED, make_file

if TYPE_CHECKING:
    from sqlite_utils import Database

PART = ".part"

Report: TypeAlias = Callable[[int, int, str], None]
"""Called with how many parts are copied (the database, and each program), of how many, and what is copied now."""


class Copied(NamedTuple):
    """What was copied besides the database."""

    programs: int
    lacking: tuple[str, ...]
    """Labels of versions whose programs were missing, or were not what was entered: they are not in the copy.

    Built-in bots that this arena still has are left out: a ladder enters them again by itself.
    """


def backup(home: Path, target: Path, report: Report) -> Copied:
    """Copy a home, also while a ladder runs in it, to a folder that must not exist. Raises StoreError.

    The database comes first, as it is at one moment. A program is stored before its version is, and is never changed or
    removed: so afterwards the programs of all versions in that copy are there, and perhaps those of newer ones.
    """
    if os.path.lexists(target):
        raise store.StoreError(f"{target} is there already and stays as it is: choose another name")
    with store.open_read(home, must_exist=True) as db, _appearing(target) as part:
        store.backup(db, part / "arena.db", _of_database(db, report))
        return _copy_programs(store.versions(db), home, part, report)


def restore(source: Path, home: Path, report: Report) -> Copied:
    """Make a home from a backup, or from a copy of a database alone; neither is changed. Raises StoreError.

    The home must be missing or empty. Its database is brought up to date.
    """
    file = source if source.is_file() else source / "arena.db"
    if source.name.endswith(PART):
        raise store.StoreError(f"{source} was never completed: choose another backup")
    if not (file.is_file() and file.stat().st_size):
        raise store.StoreError(f"{source} is no backup: there is no database in it")
    if os.path.lexists(home) and not (home.is_dir() and not any(home.iterdir())):
        instead = "move it away, or name a new home with --home"
        raise store.StoreError(f"{home} is there already and stays as it is: {instead}")
    with store.open_copy(file) as old, _appearing(home.resolve()) as part:
        store.backup(old, part / "arena.db", _of_database(old, report))
        with store.open(part) as db:  # brings it up to date
            return _copy_programs(store.versions(db), source, part, report)


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """Yield a new folder that becomes `target` when the block ends, complete and on the disk, or disappears."""
    part = target.with_name(f"{target.name}{PART}")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir(mode=0o700)
    except FileExistsError:
        left = "a copy that was cut off has left it, or one is just being made"
        raise store.StoreError(f"{part} is there ({left}): remove it, or choose another name") from None
    except OSError as error:
        raise store.StoreError(f"cannot make {part}: {error.strerror}") from error
    try:
        yield part
        os.sync()  # at once: one call for each of many thousand files would take minutes
        part.rename(target)
        _sync(target.parent)
    except OSError as error:
        raise store.StoreError(f"cannot make {target}: {_reason(error)}") from error
    except KeyboardInterrupt:
        done = "is complete" if target.exists() and not part.exists() else "was not made"
        raise KeyboardInterrupt(f"stopped: {target} {done}") from None
    finally:
        remove(part)


def _copy_programs(versions: Sequence[store.Version], source: Path, part: Path, report: Report) -> Copied:
    """Copy the programs of versions, the logs of their builds, and unrated matches from one home to another."""
    copied, lacking = set(), []
    came_with_arena = {program.digest for program in submission.built_ins().values()}
    for done, version in enumerate(versions, 1):
        report(done, 1 + len(versions), version.label)
        program = program_of(source, version)
        if _is_stored(program, folder(part)):
            copied.add(program.kept_as)
        elif version.digest not in came_with_arena:
            lacking.append(version.label)
        if (log := build_log(source, version.digest)).is_file():
            build_log(part, version.digest).parent.mkdir(exist_ok=True)
            shutil.copyfile(log, build_log(part, version.digest))
    _copy_unrated(source, part)
    return Copied(len(copied), tuple(lacking))


def _copy_unrated(source: Path, part: Path) -> None:
    """Copy the unrated matches that a home keeps, except those that are just being written or removed."""
    for file in sorted((source / UNRATED).glob("*.json")):
        with suppress(FileNotFoundError, ValueError):
            json.loads(content := file.read_bytes())
            (part / UNRATED).mkdir(mode=0o700, exist_ok=True)
            make_file(part / UNRATED / file.name)
            (part / UNRATED / file.name).write_bytes(content)


def _is_stored(program: Program, bots: Path) -> bool:
    """Copy a stored program to another home; return False if it is gone, or not what was entered."""
    if not program.root.is_dir():
        return False
    try:
        files = () if program.built else files_in(program.root, str(program.root), without=set())
        submission.store(replace(program, files=files), bots)
    except BadSubmission:
        return False
    return True


def _of_database(db: Database, report: Report) -> Callable[[int, int], None]:
    """Return a function to report pages of the database with, which are one part of all."""
    parts = 1 + int(db.execute("SELECT count(*) FROM versions").fetchone()[0])  # its other columns may be of old
    return lambda done, total: report(0, parts, f"the database, {done / total:.0%}")


def _sync(folder: Path) -> None:
    """Put the names in a folder on the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _reason(error: OSError) -> str:
    """Return why files could not be copied; of several reasons the first."""
    return str(error.args[0][0][2]) if isinstance(error, shutil.Error) else error.strerror or str(error)
