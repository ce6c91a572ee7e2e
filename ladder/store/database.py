"""Opening the database, writing to it, and saying in one line what is wrong with it.

StoreError
└── NotFound (also a LookupError)
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder.store import locks
from ladder.store.files import Files, go_on
from ladder.store.home import close_home, make_file, make_home
from ladder.store.locks import PATIENCE
from ladder.store.schema import MIGRATIONS

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = int.from_bytes(b"aren")
FLOOR = int(os.environ.get("ARENA_FREE_SPACE", 64 << 20))
"""Bytes that are left free on the disk of a home; the variable is for tests."""
BOOKKEEPING = 64 << 10
"""Bytes that SQLite needs beside a database to open it."""
QUICKLY_CHECKED = 16 << 20
"""Bytes up to which a database is checked for damage at every opening: some 20 ms."""

_UNUSABLE = "cannot be opened, read or written: it must be a file of yours, on a disk without errors"
_AGAIN = "put it back, or run the command again to begin anew"
_FAULTS = {
    "SQLITE_NOTADB": "is not a database: move it away, or choose another home",
    "SQLITE_CORRUPT": "is damaged: put a backup in its place, or move it away and start anew",
    "SQLITE_FULL": "cannot grow, the disk is full: make room and run the command again; what was stored is safe",
    "SQLITE_READONLY": "cannot be written: make it and its directory writable, or choose another home",
    "SQLITE_BUSY": f"is busy: another process has been writing for {PATIENCE:.0f} s; try again when it has ended",
    "SQLITE_CANTOPEN": _UNUSABLE,
    "SQLITE_IOERR": _UNUSABLE,
}


class StoreError(Exception):
    """The store cannot do what was asked; the message is one line that names the value and what to do."""


class NotFound(StoreError, LookupError):
    """The store has nothing of that name; the message says what there is."""


def open(home: Path, *, thorough: bool = False, checkpoints: bool = False) -> Database:
    """The database of a home for reading and writing; makes both where there is nothing yet, for their owner alone.

    `thorough` checks a large database for damage too. `checkpoints` is for the holder of `exclusive` alone:
    SQLite before 3.51.3 can damage a database that one process writes while another moves its write-ahead log.
    Raises StoreError.
    """
    path = home / "arena.db"
    with one_line(path), ExitStack() as on_error:
        make_home(home)
        # Only one makes it: SQLite does not wait for others when a new database gets its write-ahead log.
        with nullcontext() if _begun(path) else locks.turn(path):
            noted = locks.noted(path)
            if not path.exists():
                _check_new(path, noted)
                make_file(path)
            db = _connect(path, "mode=rw")
            on_error.callback(db.close)
            _check(db, path, noted, thorough=thorough)
            db.enable_wal()
        assert isinstance(db.conn, _Connection)
        db.conn.path = path
        db.execute("PRAGMA synchronous = FULL")
        if not checkpoints:
            db.execute("PRAGMA wal_autocheckpoint = 0")
        _schema_version(db)  # with the first look at it the write-ahead log is there
        db.conn.files, db.conn.checkpoints = Files.at(path), checkpoints
        _migrate(db)
        close_home(home)
        on_error.pop_all()
        return db


def open_read(home: Path, *, must_exist: bool = False) -> Database:
    """The database of a home for reading; a home without one reads as empty and stays as it is.

    Raises StoreError, also for a home without one that must have it.
    """
    path = home / "arena.db"
    with one_line(path), ExitStack() as on_error:
        noted = locks.noted(path)
        if not _is_there(path):
            _check_new(path, noted)
            if must_exist:
                raise StoreError(f"there is no arena in {str(home)!r}: nothing was played or submitted there")
            return in_memory()
        db = _connect(path, "mode=ro" + _immutable(path))
        on_error.callback(db.close)
        _check(db, path, noted)
        if _schema_version(db) < len(MIGRATIONS):
            open(home).close()
        on_error.pop_all()
        return db


def in_memory() -> Database:
    """An empty store that ends with its connection."""
    db = _prepared(sqlite3.connect(":memory:", isolation_level=None))
    _migrate(db)
    return db


def is_stored(db: Database) -> bool:
    """Whether there is a file behind it."""
    return bool(db.execute("PRAGMA database_list").fetchone()[2])


@contextmanager
def write(db: Database) -> Iterator[None]:
    """One transaction: all of it is stored when the block ends, none of it when it raises.

    A short lock keeps writers apart, since SQLite before 3.51.3 can damage a database that two write to at the same
    instant. IMMEDIATE, since a transaction that reads before it writes is refused at once, patience or not, when
    another process wrote in between. Raises StoreError, also if the database is no longer at its place.
    """
    path = _path(db)
    with one_line(path), _turn(db, path) if is_stored(db) else nullcontext() as lock:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            if lock is not None:
                _check_files(db, path, lock)  # again: it may have been long
            db.execute("COMMIT")
        except BaseException:
            db.conn.rollback()
            raise
        if lock is not None:
            locks.note(lock, _stored(db))
            _see_content(db, path)


@contextmanager
def one_state(db: Database) -> Iterator[None]:
    """What is read in the block is of one moment, whoever writes meanwhile."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("COMMIT")


@contextmanager
def _turn(db: Database, path: Path) -> Iterator[int]:
    """The short lock, once all is as it must be for a write."""
    if not path.parent.exists():
        raise StoreError(f"{path.parent} was removed while it was in use: {_AGAIN}")
    with locks.turn(path) as lock:
        _check_files(db, path, lock)
        _check_room(path)
        yield lock


def _check_files(db: Database, path: Path, lock: int) -> None:
    assert isinstance(db.conn, _Connection)
    if db.conn.files is None or not (change := db.conn.files.change(path, writes_alone=db.conn.checkpoints)):
        return
    db.conn.rollback()
    if change.is_mixed or (change.is_elsewhere and not _empty_log(db)):
        locks.note(lock, locks.noted(path) + 1)  # more than will be found, so that it is refused from now on
    raise StoreError(change.what)


def _empty_log(db: Database) -> bool:
    """Move the write-ahead log into the file that it belongs to: left behind it would change the one at its place."""
    is_busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


def _see_content(db: Database, path: Path) -> None:
    """Know it for the next time: a commit may have moved the write-ahead log."""
    assert isinstance(db.conn, _Connection)
    if db.conn.files is not None:
        db.conn.files = db.conn.files._replace(content=Files.at(path).content)


def _check_room(path: Path) -> None:
    if (free := _free(path)) < FLOOR:
        left = f"its disk has {free >> 20} MiB left, and the arena stops at {FLOOR >> 20}"
        raise StoreError(f"{path} {_FAULTS['SQLITE_FULL']} ({left})")


def _check_new(path: Path, noted: int) -> None:
    """Whether nothing was ever stored where there is no database."""
    if noted:
        raise StoreError(f"{path} is gone, and results or bots were stored in it: {go_on(path)}")


def _free(path: Path) -> int:
    """Bytes that are free beside a file."""
    disk = os.statvfs(path.parent)
    return disk.f_bavail * disk.f_frsize


def _stored(db: Database) -> int:
    """A number that grows with everything of worth that is stored, and never falls."""
    counted = ("max(rowid) FROM versions", "max(id) FROM groups", "max(rowid) FROM replays")
    row = db.execute(f"SELECT {' + '.join(f'coalesce((SELECT {each}), 0)' for each in counted)}").fetchone()
    return int(row[0])


@contextmanager
def exclusive(home: Path) -> Iterator[None]:
    """For the process that plays a ladder: only one at a time in a home, the second raises StoreError."""
    path = home / "arena.lock"
    with ExitStack() as held:
        with one_line(path):
            make_home(home)
            try:
                held.enter_context(locks.for_the_run(path))
            except locks.Taken as holder:
                busy = f"a ladder is running in {home} already (process {holder})"
                raise StoreError(f"{busy}: wait for it, or choose another home") from None
        yield


class _Connection(sqlite3.Connection):
    """Takes its turn for closing too, which may move the write-ahead log."""

    path: Path | None = None
    """Of the database, once it may be written."""
    files: Files | None = None
    """What was there when it was opened or written last."""
    checkpoints = False
    """Whether it alone moves the write-ahead log."""

    def close(self) -> None:
        with ExitStack() as held:
            if self.path is not None:
                with suppress(OSError):
                    held.enter_context(locks.turn(self.path))
            super().close()


def _is_there(path: Path) -> bool:
    """Whether there is a file. Raises PermissionError where one may not look: such a home is not an empty one."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _begun(path: Path) -> bool:
    """Whether there is anything in the file yet."""
    return path.exists() and path.stat().st_size > 0


def _connect(path: Path, mode: str) -> Database:
    uri = f"{path.absolute().as_uri()}?{mode}"
    return _prepared(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, factory=_Connection))


def _prepared(connection: sqlite3.Connection) -> Database:
    with _without("numpy", "pandas"):
        from sqlite_utils import Database  # here, because its import costs 0.1 s

    db = Database(connection, execute_plugins=False)
    for pragma in ("foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        db.execute(f"PRAGMA {pragma}")
    return db


@contextmanager
def _without(*modules: str) -> Iterator[None]:
    """Modules that cannot be imported while sqlite_utils first is, which loads these for nothing of ours."""
    loaded: dict[str, Any] = sys.modules
    hidden = set() if "sqlite_utils" in loaded else {*modules} - loaded.keys()
    loaded.update(dict.fromkeys(hidden))  # None: as if they were not installed
    try:
        yield
    finally:
        for name in hidden:
            del loaded[name]


def _immutable(path: Path) -> str:
    """A home on read-only ground, or on a full disk, can be read too, if no write-ahead log was left there."""
    log = path.with_name(path.name + "-wal")
    left = log.exists() and log.stat().st_size
    writable = os.access(path.parent, os.W_OK, effective_ids=True) and _free(path) >= BOOKKEEPING
    return "" if writable or left else "&immutable=1"


def _check(db: Database, path: Path, noted: int, *, thorough: bool = False) -> None:
    # in one statement, since another process may be making it: a home that is new has neither
    facts = "(SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_master)"
    owner, tables = db.execute(f"SELECT {facts}").fetchone()
    if tables and owner != APPLICATION_ID:
        raise StoreError(f"{path} belongs to another program: move it away, or choose another home")
    if _schema_version(db) > len(MIGRATIONS):
        raise StoreError(
            f"{path} was written by a newer arena (schema {_schema_version(db)}, this one knows"
            f" {len(MIGRATIONS)}): update the arena, or choose another home"
        )
    if thorough or path.stat().st_size <= QUICKLY_CHECKED:
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise StoreError(f"{path} {_FAULTS['SQLITE_CORRUPT']} ({verdict.splitlines()[-1]})")
    if noted and noted > (_stored(db) if tables else 0):
        raise StoreError(
            f"{path} holds less than was stored: {path.name}-wal was beside it and is gone, or this is an older copy;"
            f" put the missing file back, or remove {path.name}-lock to go on with what there is"
        )


def _schema_version(db: Database) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _migrate(db: Database) -> None:
    if _schema_version(db) == len(MIGRATIONS):
        return
    db.execute("PRAGMA foreign_keys = OFF")  # so that a table can be replaced; impossible within a transaction
    try:
        with write(db):
            for number in range(_schema_version(db), len(MIGRATIONS)):
                MIGRATIONS[number](db)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    finally:
        db.execute("PRAGMA foreign_keys = ON")


def _path(db: Database) -> Path:
    return Path(db.execute("PRAGMA database_list").fetchone()[2])


@contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Turns what the machine did to a file into a StoreError; errors of our own SQL pass as they are."""
    try:
        yield
    except TimeoutError as error:
        raise StoreError(f"{path} {_FAULTS['SQLITE_BUSY']}") from error
    except OSError as error:
        raise StoreError(f"cannot use {path}: {error.strerror}; choose another home") from error
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorname", "")
        if kind.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and path.is_file() and _free(path) < BOOKKEEPING:
            kind = "SQLITE_FULL"
        for name, fault in _FAULTS.items():
            if kind.startswith(name):
                raise StoreError(f"{path} {fault}") from error
        raise
