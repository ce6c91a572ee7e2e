"""Opens the database, writes to it, and reports what is wrong with it in one line.

StoreError
└── NotFound (also a LookupError)
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ladder.store import locks
from ladder.store.home import close_home, make_file, make_home
from ladder.store.locks import PATIENCE
from ladder.store.moved_files import Files, go_on
from ladder.store.schema import MIGRATIONS, _11_corrections

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = int.from_bytes(b"aren")
"""Number in the head of an SQLite file that says that it is the arena's."""
FLOOR = int(os.environ.get("ARENA_FREE_SPACE", 64 << 20))
"""Bytes that are left free on the disk of a data directory ("home"); the variable is for tests."""
LOCK = "arena.lock"
"""Name of the file that the process which plays ladders in a home holds."""
BOOKKEEPING = 64 << 10
"""Bytes that SQLite needs in addition to a database to open it."""
CORRECTIONS = MIGRATIONS.index(_11_corrections) + 1
"""Version of the schema since which corrections are recorded."""
LOG_PAGES = 8192
"""Pages in the write-ahead log from which the process that plays a ladder moves them, 32 MiB. Ids are random, so in a
long ladder each result changes other pages of the indexes. The later they are moved, the more results share a page."""
QUICKLY_CHECKED = 16 << 20
"""Largest database, in bytes, that is checked for damage whenever it is opened. The check takes about 20 ms."""

_UNUSABLE = "cannot be opened, read or written: it must be a file of yours, on a disk without errors"
"""What is said of a file that SQLite cannot use."""
_AGAIN = "put it back, or run the command again to begin anew"
"""What to do about a home that has gone."""
_FAULTS = {
    "SQLITE_NOTADB": "is not a database: move it away, or choose another home",
    "SQLITE_CORRUPT": "is damaged: put a backup in its place, or move it away and start anew",
    "SQLITE_FULL": "cannot grow, the disk is full: make room and run the command again; what was stored is safe",
    "SQLITE_READONLY": "cannot be written: make it and its directory writable, or choose another home",
    "SQLITE_BUSY": f"is busy: another process has been writing for {PATIENCE:.0f} s; try again when it has ended",
    "SQLITE_CANTOPEN": _UNUSABLE,
    "SQLITE_IOERR": _UNUSABLE,
}
"""What is said of a database, by how the name of SQLite's error begins."""


class StoreError(Exception):
    """Error of the store; the message is one line that names the value and what to do."""


class NotFound(StoreError, LookupError):
    """Error for a name that the store does not have; the message says what there is."""


def open(home: Path, *, thorough: bool = False, checkpoints: bool = False) -> Database:
    """Open the database of a home for reading and writing; make both if missing, accessible to their owner only.

    `thorough` checks a large database for damage, too. `checkpoints` is only for the holder of `exclusive`: SQLite
    before 3.51.3 can damage a database that one process writes to while another moves its write-ahead log. Raises
    StoreError.
    """
    path = home / "arena.db"
    with one_line(path), ExitStack() as on_error:
        make_home(home)
        check_ordinary(path)
        # One process makes it: SQLite does not wait for others when a new database gets its write-ahead log.
        with nullcontext() if _begun(path) else locks.turn(path):
            noted = locks.noted(path)
            if not path.exists():
                _check_new(path, noted)
                make_file(path)
            db = connect(path, "mode=rw")
            on_error.callback(db.close)
            check_origin(db, path)
            check_content(db, path, noted, thorough=thorough)
            db.enable_wal()
        assert isinstance(db.conn, _Connection)
        db.conn.path = path
        db.execute("PRAGMA synchronous = FULL")
        db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES if checkpoints else 0}")
        schema_version(db)  # the first read creates the write-ahead log
        db.conn.files, db.conn.checkpoints = Files.at(path), checkpoints
        migrate(db)
        close_home(home)
        on_error.pop_all()
        return db


def open_read(home: Path, *, must_exist: bool = False) -> Database:
    """Open the database of a home for reading; a home without one reads as empty and is not changed.

    Raises StoreError, also if `must_exist` and there is none.
    """
    path = home / "arena.db"
    with one_line(path), ExitStack() as on_error:
        check_ordinary(path)
        noted = locks.noted(path)
        if not _is_there(path):
            _check_new(path, noted)
            if must_exist:
                raise StoreError(f"no bot was submitted and no ladder played in {str(home)!r} yet")
            return in_memory()
        db = connect(path, "mode=ro" + _immutable(path))
        on_error.callback(db.close)
        check_origin(db, path)
        check_content(db, path, noted, thorough=False)
        if schema_version(db) < len(MIGRATIONS):
            open(home).close()
        on_error.pop_all()
        return db


def in_memory(schema: int | None = None) -> Database:
    """Return an empty store in memory, with the tables of today or of an older schema; it ends with its connection."""
    db = _prepared(sqlite3.connect(":memory:", isolation_level=None))
    migrate(db, schema)
    return db


def is_stored(db: Database) -> bool:
    """Tell whether the database is in a file."""
    return bool(db.execute("PRAGMA database_list").fetchone()[2])


def where(db: Database) -> str:
    """Return for a message in which home the database is; empty for one in memory."""
    return f" in {str(_path(db).parent)!r}" if is_stored(db) else ""


@contextmanager
def write(db: Database) -> Iterator[None]:
    """Run the block as one transaction: all of it is stored when the block ends, none of it if it raises.

    A short lock separates writers, because SQLite before 3.51.3 can damage a database that two processes write to at
    the same instant. The transaction is IMMEDIATE: one that reads before it writes is refused at once, whatever the
    time-out, if another process wrote in between. Raises StoreError, also if the database is no longer at its path.
    """
    path = _path(db)
    with one_line(path), _turn(db, path) if is_stored(db) else nullcontext() as lock:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            if lock is not None:
                _check_files(db, path, lock)  # again, because the block may have taken long
                if (stored := _stored(db)) < locks.noted(path):  # said first: it must never say too much
                    locks.note_holder(lock, stored)
            db.execute("COMMIT")
        except BaseException:
            db.conn.rollback()
            raise
        if lock is not None:
            locks.note_holder(lock, stored)
            _see_content(db, path)


def changes(db: Database) -> int:
    """Return a number that is another one than before, on the same connection, if others have written meanwhile."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


@contextmanager
def one_state(db: Database) -> Iterator[None]:
    """Run the block so that all its reads show the database at one moment, even if others write meanwhile.

    A block inside another one shows the moment of the outer one.
    """
    if db.conn.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("COMMIT")


@contextmanager
def _turn(db: Database, path: Path) -> Iterator[int]:
    """Check that the database can be written, and hold the short lock."""
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
        # more than the database holds, so that opening it is refused from now on
        locks.note_holder(lock, locks.noted(path) + 1)
    raise StoreError(change.what)


def _empty_log(db: Database) -> bool:
    """Move the write-ahead log into its own database file; return whether that worked.

    If it were left behind it would change the file that is now at the path.
    """
    is_busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


def _see_content(db: Database, path: Path) -> None:
    """Remember the file's size and time after a commit, which may have moved the write-ahead log."""
    assert isinstance(db.conn, _Connection)
    if db.conn.files is not None:
        db.conn.files = db.conn.files._replace(content=Files.at(path).content)


def _check_room(path: Path) -> None:
    if (free := _free(path)) < FLOOR:
        state = f"its disk has {free >> 20} MiB left, and the arena stops at {FLOOR >> 20}"
        raise StoreError(f"{path} {_FAULTS['SQLITE_FULL']} ({state})")


def _check_new(path: Path, noted: int) -> None:
    """Raise StoreError if something was stored at a path without a database."""
    if noted:
        raise StoreError(f"{path} is gone, and results or bots were stored in it: {go_on(path)}")


def _free(path: Path) -> int:
    """Return the free bytes on a file's disk."""
    disk = os.statvfs(path.parent)
    return disk.f_bavail * disk.f_frsize


def _stored(db: Database) -> int:
    """Return a number that grows with everything important that is stored, and falls where groups are taken out."""
    counted = ["max(rowid) FROM versions", "max(id) FROM groups", "max(rowid) FROM replays"]
    if schema_version(db) >= CORRECTIONS:  # else it is of an older arena
        counted.append("max(id) FROM corrections")
    row = db.execute(f"SELECT {' + '.join(f'coalesce((SELECT {expression}), 0)' for expression in counted)}").fetchone()
    return int(row[0])


@contextmanager
def exclusive(home: Path) -> Iterator[None]:
    """Hold the lock for the process that plays a ladder; in a home a second such process raises StoreError."""
    path = home / LOCK
    with ExitStack() as held:
        with one_line(path):
            make_home(home)
            try:
                held.enter_context(locks.for_the_run(path))
            except locks.LockTaken as holder:
                busy = f"a ladder is running in {home} already (process {holder})"
                raise StoreError(f"{busy}: wait for it, or choose another home") from None
        yield


def is_running(home: Path) -> bool:
    """Tell whether a process plays a ladder in a home; False where that cannot be seen."""
    return locks.is_held(home / LOCK)


class _Connection(sqlite3.Connection):
    """Connection that waits for the short lock even to close, because closing may move the write-ahead log."""

    path: Path | None = None
    """Path of the database, once it may be written to."""
    files: Files | None = None
    """Files that were there when it was last opened or written."""
    checkpoints = False
    """Whether only this connection moves the write-ahead log."""

    def close(self) -> None:
        with ExitStack() as held:
            if self.path is not None:
                with suppress(OSError):
                    held.enter_context(locks.turn(self.path))
            super().close()


def _is_there(path: Path) -> bool:
    """Tell whether a file exists. Raises PermissionError where looking is not allowed: such a home is not empty."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _begun(path: Path) -> bool:
    """Tell whether the file exists and is not empty."""
    return path.exists() and path.stat().st_size > 0


def connect(path: Path, mode: str) -> Database:
    """Connect to the file of a database, which is not looked at yet; `mode` is that of SQLite's addresses."""
    uri = f"{path.absolute().as_uri()}?{mode}"
    return _prepared(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, factory=_Connection))


def _prepared(connection: sqlite3.Connection) -> Database:
    with _without("numpy", "pandas"):
        from sqlite_utils import Database  # imported here, because it takes 0.1 s

    db = Database(connection, execute_plugins=False)
    for pragma in ("foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        db.execute(f"PRAGMA {pragma}")
    return db


@contextmanager
def _without(*modules: str) -> Iterator[None]:
    """Make modules impossible to import while sqlite_utils is first imported.

    It would load them for features we do not use.
    """
    loaded: dict[str, Any] = sys.modules
    hidden = set() if "sqlite_utils" in loaded else {*modules} - loaded.keys()
    loaded.update(dict.fromkeys(hidden))  # None: as if they were not installed
    try:
        yield
    finally:
        for name in hidden:
            del loaded[name]


def _immutable(path: Path) -> str:
    """Return the option that reads a database on a read-only or full disk."""
    writable = os.access(path.parent, os.W_OK, effective_ids=True) and _free(path) >= BOOKKEEPING
    return "" if writable else run_alone(path)


def run_alone(path: Path) -> str:
    """Return the option that reads a database without making files beside it, unless a write-ahead log is there."""
    log = path.with_name(path.name + "-wal")
    size = log.exists() and log.stat().st_size
    return "" if size else "&immutable=1"


def check_ordinary(path: Path) -> None:
    """Raise StoreError if a database, or a file that is opened beside it, is a pipe or the like: it might never end."""
    for file in (path, *(path.with_name(f"{path.name}-{end}") for end in ("wal", "shm", "journal", "lock"))):
        with suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISREG(file.stat().st_mode):
                raise StoreError(f"{file} is a folder, a pipe or the like: move it away, or choose another home")


def check_origin(db: Database, path: Path) -> None:
    """Raise StoreError unless a database is new, or was made by this arena or an older one."""
    # in one statement, because another process may be making it; a new home has neither
    facts = "(SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)"
    owner, objects = db.execute(f"SELECT {facts}").fetchone()
    schema = schema_version(db)
    if objects and (owner != APPLICATION_ID or schema < 0):
        raise StoreError(f"{path} belongs to another program: move it away, or choose another home")
    if schema > len(MIGRATIONS):
        knows = f"(schema {schema}, this one knows {len(MIGRATIONS)})"
        raise StoreError(f"{path} was written by a newer arena {knows}: update the arena, or choose another home")


def check_content(db: Database, path: Path, noted: int, *, thorough: bool) -> None:
    """Raise StoreError if a database is damaged, as far as that is looked for, or holds less than was stored."""
    if thorough or path.stat().st_size <= QUICKLY_CHECKED:
        check_damage(db, path, "1")
    check_whole(db, path, noted)


def check_damage(db: Database, path: Path, what: str) -> None:
    """Raise StoreError if a database is damaged; `what` is looked at: a table, or with "1" all, up to a first fault."""
    verdict = db.execute(f"PRAGMA quick_check({what})").fetchone()[0]
    if verdict != "ok":
        raise StoreError(f"{path} {_FAULTS['SQLITE_CORRUPT']} ({verdict.splitlines()[-1]})")


def check_whole(db: Database, path: Path, noted: int) -> None:
    """Raise StoreError if a database holds less than was noted beside it, now or a moment ago."""
    while noted and noted > (_stored(db) if schema_version(db) else 0):
        if (now := locks.noted(path)) == noted:
            raise StoreError(
                f"{path} holds less than was stored: {path.name}-wal was beside it and is gone, or this is an older"
                f" copy; put the missing file back, or remove {path.name}-lock to go on with what there is"
            )
        noted = now  # somebody has written meanwhile


def schema_version(db: Database) -> int:
    """Return how many of the changes in schema.py were made to a database."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: Database, schema: int | None = None) -> None:
    """Make the changes that a database lacks, all or up to a schema, in one transaction."""
    schema = len(MIGRATIONS) if schema is None else schema
    if schema_version(db) == schema:
        return
    db.execute("PRAGMA foreign_keys = OFF")  # so that a table can be replaced; impossible within a transaction
    try:
        with write(db):
            for number in range(schema_version(db), schema):
                MIGRATIONS[number](db)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {schema}")
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{_path(db)} cannot be brought up to date ({error}): put a backup in its place") from error
    finally:
        db.execute("PRAGMA foreign_keys = ON")


def _path(db: Database) -> Path:
    return Path(db.execute("PRAGMA database_list").fetchone()[2])


@contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Turn errors of files and disks into a StoreError of one line; errors in our own SQL stay as they are."""
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
