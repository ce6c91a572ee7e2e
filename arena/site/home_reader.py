"""The home that the site shows: read by a few threads, each with a connection of its own, and watched for changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_READERS = 2
"""Threads that read for pages. More would wait for each other: what takes long is arithmetic, and that is Python."""
CHANGE_INTERVAL = 1.0
"""Seconds between two looks at whether anything changed."""

T = TypeVar("T")


class SeenState(NamedTuple):
    """What was seen of a home: a text that changes with anything that is stored, and one for each ladder by its id."""

    version: str
    ladders: Mapping[str, str]
    running: bool = False
    """Whether a process plays a ladder in it."""


class Home:
    """A data directory that may be missing, be replaced, and change while it is read."""

    def __init__(self, folder: Path, look: float = CHANGE_INTERVAL) -> None:
        self.folder = folder
        self._look = look
        self._state, self._looked = SeenState("", {}), 0.0
        self._looking: asyncio.Task[None] | None = None
        self._readers = [_Reader(folder) for _ in range(_READERS)]
        self._watcher = _Reader(folder)

    async def state(self) -> SeenState:
        """Return what is there now, or was there less than `LOOK` seconds ago."""
        if self._looking is None and time.monotonic() - self._looked >= self._look:
            self._looking = asyncio.create_task(self._look_again())
        if self._looking is not None:
            await asyncio.shield(self._looking)
        return self._state

    async def _look_again(self) -> None:
        try:
            self._state = await self._watcher.run(self.look_now)
        except store.StoreError as error:
            self._state = SeenState(str(error), {})
        finally:
            self._looked, self._looking = time.monotonic(), None

    async def read(self, make: Callable[[Database], T]) -> T:
        """Return what a function makes of the database, in a thread. Raises StoreError, and what it raises."""
        reader = min(self._readers, key=lambda candidate: candidate.busy)
        return await reader.run(lambda: make(reader.connection()))

    def close(self) -> None:
        """End the threads."""
        for reader in (*self._readers, self._watcher):
            reader.close()

    def look_now(self) -> SeenState:
        """Return what is there now; in the thread of the watcher, whose connection this uses."""
        running = store.database.is_running(self.folder)
        db = self._watcher.connection()
        marks = {ladder: f"{mark} {running}" for ladder, mark in store.watching.marks(db).items()}
        changes = store.database.changes(db)
        unrated = _modified(self.folder / "unrated")
        return SeenState(f"{_identity(self.folder / 'arena.db')} {changes} {unrated} {running}", marks, running)


class _Reader:
    """A thread with a connection, which only this thread may use."""

    def __init__(self, folder: Path) -> None:
        self.busy = 0
        """Number of functions that run or wait."""
        self._path = folder / "arena.db"
        self._thread = ThreadPoolExecutor(1, "reader")
        self._db: Database | None = None
        self._file = ""

    async def run(self, make: Callable[[], T]) -> T:
        """Run a function in the thread, in the context of the request.

        Raises StoreError where files are at fault, and what the function raises.
        """

        def make_in_thread() -> T:
            try:
                with store.database.one_line(self._path):
                    return make()
            except store.NotFound:
                raise
            except store.StoreError:  # perhaps in the middle of a transaction
                self._disconnect()
                raise

        self.busy += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, copy_context().run, make_in_thread)
        finally:
            self.busy -= 1

    def connection(self) -> Database:
        """Return the connection, within the thread; a new one if the file at the path is another than before."""
        file = _identity(self._path)
        if self._db is None or self._file != file:
            self._disconnect()
            self._db = store.open_read(self._path.parent)
            self._file = file  # from before: if it was replaced meanwhile, it is opened again the next time
        return self._db

    def close(self) -> None:
        """End the thread, and with it the connection."""
        self._thread.submit(self._disconnect)
        self._thread.shutdown()

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None


def _identity(path: Path) -> str:
    """Return which file is at a path; "none" if there is none."""
    try:
        file = path.stat()
    except OSError:
        return "none"
    return f"{file.st_dev}:{file.st_ino}"


def _modified(path: Path) -> str:
    """Return when a folder was changed, as text."""
    try:
        return str(path.stat().st_mtime_ns)
    except OSError:
        return "none"
