"""What a build leaves at home, kept for the next build of the same name: compilers' caches.

A cache is `NAME/N` where caches are kept. N builds in a row failed with it, and it is dropped before it could be the
reason why none ever comes through.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.sandbox.grades import MIB
from arena.sandbox.run_folder import open_up, remove, run_folder
from arena.sandbox.watchdog import hold_more

LARGEST = 1024 * MIB
MAX_ENTRIES = 200_000
"""Files and folders of a cache; a larger one is dropped."""
FAILURES = 2
"""Builds in a row that fail with the same cache, before the next begins without."""


@contextmanager
def lent(cache: Path | None, home: Path) -> Iterator[None]:
    """Have `home` be what is kept as `cache`, or else empty, and keep what the block leaves there.

    While it is lent nobody else finds it. Ctrl-C leaves nothing that was not there before.
    """
    failures = None if cache is None else _take(cache, home)
    home.mkdir(exist_ok=True)
    try:
        yield
    except KeyboardInterrupt:
        if cache is not None and failures is not None:
            _keep(home, cache, failures)
        raise
    except BaseException:
        if cache is not None:
            _keep(home, cache, 0 if failures is None else failures + 1)
        raise
    if cache is not None:
        _keep(home, cache, 0)


def _take(cache: Path, home: Path) -> int | None:
    """Move a cache to where a build is at home; gives how many builds failed with it, or None if there is none."""
    if not cache.is_dir():
        return None
    try:
        with run_folder(_beside(cache)) as mine:
            taken = cache.rename(mine / "cache")  # only one of several can do that
            (kept,) = taken.iterdir()
            shutil.move(kept, home)
            return int(kept.name)
    except (OSError, ValueError):
        remove(home)
        return None


def _keep(home: Path, cache: Path, failures: int) -> None:
    """Move what a build left at home to where caches are kept, unless there is none, or too much of it."""
    with suppress(OSError, RecursionError):
        if failures >= FAILURES or not stat.S_ISDIR(home.lstat().st_mode):  # it may have made a link of it
            return
        open_up(home, 0o700)  # Go closes what it has fetched, which then could not be moved to another disk
        if not any(home.iterdir()) or hold_more([home], LARGEST, MAX_ENTRIES, copied=True):
            return
        with run_folder(_beside(cache)) as mine:
            (mine / "cache").mkdir()
            shutil.move(home, mine / "cache" / str(failures))
            (mine / "cache").rename(cache)  # refused if another build's is there meanwhile


def _beside(cache: Path) -> Path:
    """On the same disk, and where no bot's cache is: no name begins with a dot."""
    folder = cache.parent / ".moved"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
