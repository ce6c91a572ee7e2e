"""Backups: everything of a data directory ("home") that a restore needs, as one folder, and homes made from them.

A backup looks like a home: `arena.db`, `bots/`, `builds/` and `unrated/`. Backups and restored homes are made beside
their place (in it, if it is an empty folder), under a name that ends in `.part`, and get their own name when they are
complete and on the disk.

A backup may be a stranger's. So nothing in it that becomes a path is taken unchecked, and only ordinary files are read.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from arena import submission
from arena.roster.bots import build_log, folder, program_of
from arena.sandbox import places
from arena.sandbox.run_folder import remove
from arena.submission import BadSubmission
from arena.submission.copying import open_ordinary
from arena.submission.program import files_in
from ladder import store
from ladder.store import export, restoring
from ladder.store.home import UNRATED, make_file

if TYPE_CHECKING:
    from sqlite_utils import Database

_PART = ".part"
"""Ending of a file or folder that is not complete."""
LARGEST_BACKUP = 64 * 1024 * 1024
"""Size in bytes of the largest log or unrated match that is copied. Ours are far smaller, but a home may be
anybody's."""

_DIGEST = re.compile("[0-9a-f]{64}")
"""Matches the digest of a program."""

BackupReporter: TypeAlias = Callable[[int, int, str], None]
"""Called with how many parts are copied (the database, and each program), of how many, and what is copied now."""


class Copied(NamedTuple):
    """What was copied besides the database."""

    programs: int
    lacking: tuple[str, ...]
    """Labels of versions whose programs were missing, unreadable, or not what was entered: they are not in the copy.

    Built-in bots that this arena still has are left out: a ladder enters them again by itself.
    """
    unreadable: tuple[str, ...]
    """Paths in the home of logs and unrated matches that could not be read: they are not in the copy either."""


def make_backup(home: Path, target: Path, report: BackupReporter) -> Copied:
    """Copy a home, also while a ladder runs in it, to a folder that must not exist. Raises StoreError.

    The database comes first, as it is at one moment. A program is stored before its version is, and is never changed or
    removed: so afterwards the programs of all versions in that copy are there, and perhaps those of newer ones.
    """
    if os.path.lexists(target):
        raise store.StoreError(f"{target} is there already and stays as it is: choose another name")
    if not target.parent.is_dir():  # perhaps a disk that is not mounted
        raise store.StoreError(f"there is no folder {target.parent} to make {target.name} in")
    check_unseen(target)
    with store.open_read(home, must_exist=True) as db, _appearing(target) as part:
        export.copy_database(db, part / "arena.db", _of_database(db, report))
        return _copy_programs(_versions(db, home), home, part, report)


def restore_backup(source: Path, home: Path, report: BackupReporter) -> Copied:
    """Make a home from a backup, or from a copy of a database alone; neither is changed. Raises StoreError.

    The home must be missing or empty. Its database is brought up to date.
    """
    typed_path, source = source, source.resolve()  # `.` may be the folder of an incomplete backup
    file = source if source.is_file() else source / "arena.db"
    if _PART in (source.suffix, file.parent.suffix):
        raise store.StoreError(f"{typed_path} was never completed: choose another backup")
    if not (file.is_file() and file.stat().st_size):
        raise store.StoreError(f"{typed_path} is no backup: there is no database in it")
    _check_ordinary(file)
    _check_folders(file.parent)
    if os.path.lexists(home) and not (home.is_dir() and {*os.listdir(home)} <= {_part(home).name}):
        instead = "move it away, or name a new home with --home"
        raise store.StoreError(f"{home} is there already and stays as it is: {instead}")
    with restoring.open_copy(file) as old, _appearing(home.resolve()) as part:
        restoring.restore_database(old, part / "arena.db", _of_database(old, report))
        with store.open(part) as db:  # brings it up to date
            return _copy_programs(_versions(db, typed_path), source, part, report)


def check_unseen(target: Path) -> None:
    """Raise StoreError for a path in a folder that every bot may read: in a backup are the seeds of future dice."""
    if (place := places.shown_to_all(target)) is not None:
        raise store.StoreError(f"{target} would be in {place}, where bots may read it: choose a folder elsewhere")


def _check_ordinary(file: Path) -> None:
    """Raise StoreError if a database or a file that SQLite opens beside it is a link, a pipe or the like."""
    for path in (file, *(file.with_name(f"{file.name}-{end}") for end in ("wal", "shm", "journal", "lock"))):
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            raise store.StoreError(f"{path} is a link, a pipe or the like: choose a backup of ordinary files")


def _check_folders(source: Path) -> None:
    """Raise StoreError if a folder of a backup is a link: what it leads to may be somebody's who gave it to nobody."""
    for path in (source / name for name in ("bots", "builds", UNRATED)):
        if path.is_symlink():
            raise store.StoreError(f"{path} is a link, a pipe or the like: choose a backup of ordinary files")


def _versions(db: Database, source: Path) -> tuple[store.Version, ...]:
    """Return the versions of a database that may be a stranger's.

    Raises StoreError unless their names are names and their digests are digests, since those become paths.
    """
    with suppress(BadSubmission, TypeError, ValueError, RecursionError):
        versions = store.bots.versions(db)
        if all(submission.check_name(version.name) and _has_digests(version) for version in versions):
            return versions
    strange = "has a version with a name or digest that no arena gives"
    raise store.StoreError(f"{source} {strange}: choose another backup")


def _has_digests(version: store.Version) -> bool:
    return all(_DIGEST.fullmatch(digest) for digest in (version.digest, version.built or version.digest))


def _part(target: Path) -> Path:
    """Return where a target is made: beside it or, if it is there, in it, since it may be a mount point."""
    return target / f"restored{_PART}" if target.is_dir() else target.with_name(f"{target.name}{_PART}")


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """Yield a new folder that becomes `target` when the block ends, complete and on the disk, or disappears.

    If the target is there, and empty, it gets what was put into the folder.
    """
    part = _part(target)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir(mode=0o700)
    except FileExistsError:
        hint = "a copy that was cut off has left it, or one is just being made"
        raise store.StoreError(f"{part} is there ({hint}): remove it, or choose another name") from None
    except OSError as error:
        raise store.StoreError(f"cannot make {part}: {error.strerror}") from error
    try:
        yield part
        os.sync()  # at once: one call for each of many thousand files would take minutes
        if part.parent == target:
            _move_up(part)
        else:
            part.rename(target)
        _sync(target.parent)
    except OSError as error:
        raise store.StoreError(f"cannot make {target}: {_reason(error)}") from error
    except KeyboardInterrupt:
        state = "is complete" if target.exists() and not part.exists() else "was not made"
        raise KeyboardInterrupt(f"stopped: {target} {state}") from None
    finally:
        remove(part)


def _move_up(part: Path) -> None:
    """Move what is in a folder into the one around it, which must hold nothing else, and remove the folder.

    The database comes last, because it makes a home of a folder. If that fails, all is moved back.
    """
    target = part.parent
    if os.listdir(target) != [part.name]:
        raise store.StoreError(f"something was put into {target} meanwhile, so nothing was restored: name a new home")
    with suppress(OSError):  # it may be another user's, who shares it
        target.chmod(0o700)
    names = sorted(os.listdir(part), key="arena.db".__eq__)
    try:
        for name in names:
            (part / name).rename(target / name)
        _sync(target)
        part.rmdir()
    except BaseException:
        for name in names:
            with suppress(OSError):
                (target / name).rename(part / name)
        raise


def _copy_programs(versions: Sequence[store.Version], source: Path, part: Path, report: BackupReporter) -> Copied:
    """Copy the programs of versions, the logs of their builds, and unrated matches from one home to another."""
    copied, lacking, unreadable = set(), [], []
    came_with_arena = {program.digest for program in submission.built_ins().values()}
    for count, version in enumerate(versions, 1):
        report(count, 1 + len(versions), version.label)
        if _is_stored(version, source, folder(part)):
            copied.add(version.built or version.digest)
        elif version.digest not in came_with_arena:
            lacking.append(version.label)
        unreadable += _copy_log(build_log(source, version.digest), build_log(part, version.digest))
    unreadable += _copy_unrated(source / UNRATED, part / UNRATED)
    return Copied(len(copied), tuple(lacking), tuple(dict.fromkeys(unreadable)))


def _is_stored(version: store.Version, source: Path, bots: Path) -> bool:
    """Copy a stored program to another home; return False if it is gone, unreadable, or not what was entered.

    It is read completely before anything is written: then an OSError is the fault of the copy's disk, and is raised.
    """
    try:
        program = program_of(source, version)
        if program.root.is_symlink() or not (program.root.is_dir() and submission.intact(program)):
            return False
        files = () if program.built else files_in(program.root, str(program.root), without=set())
    except (BadSubmission, OSError, ValueError, RecursionError):  # of a strange command, of folders nested too deep
        return False
    try:
        submission.store(replace(program, files=files), bots)
    except BadSubmission:
        return False
    return True


def _copy_log(log: Path, copy: Path) -> list[str]:
    """Copy the output of a build, if there is any; return its path in the home if it cannot be read."""
    try:
        content = _content(log)
    except (FileNotFoundError, NotADirectoryError):  # the source may be a database alone
        return []
    except OSError:
        return [_in_home(log)]
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(content)
    return []


def _copy_unrated(source: Path, copies: Path) -> list[str]:
    """Copy the unrated matches that a home keeps, except those that are just being written or removed.

    Returns the paths in the home of those that cannot be read.
    """
    unreadable = []
    for file in sorted(source.glob("*.json")):
        try:
            json.loads(content := _content(file))
        except (FileNotFoundError, ValueError, RecursionError):
            continue
        except OSError:
            unreadable.append(_in_home(file))
            continue
        copies.mkdir(mode=0o700, exist_ok=True)
        make_file(copies / file.name)
        (copies / file.name).write_bytes(content)
    return unreadable


def _in_home(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _content(file: Path) -> bytes:
    """Return the content of an ordinary file. Raises OSError for all else, and for one larger than `LARGEST`."""
    with open_ordinary(file) as stream:
        if os.fstat(stream.fileno()).st_size > LARGEST_BACKUP:
            raise OSError(errno.EFBIG, "too large", str(file))
        return stream.read(LARGEST_BACKUP)


def _of_database(db: Database, report: BackupReporter) -> Callable[[int, int], None]:
    """Return a function to report pages of the database with, which are one part of all."""
    parts = 1 + int(db.execute("SELECT count(*) FROM versions").fetchone()[0])  # its other columns may be of old
    return lambda count, total: report(0, parts, f"the database, {count / total:.0%}")


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
