"""Caches of compilers: what a build leaves in its home, kept for the next build of the same name.

A cache is the folder `NAME/N`. N is the number of builds in a row that failed with it. After too many the cache is
dropped, since it could be the reason why builds fail.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.sandbox.contents import raise_limit
from arena.sandbox.grades import MIB
from arena.sandbox.run_folder import open_up, remove, run_folder

LARGEST_CACHE = 1024 * MIB
"""Bytes of a cache; a larger cache is dropped, as a page says."""
MAX_CACHED_FILES = 200_000
"""Files and folders of a cache; a larger cache is dropped. About any number would do."""
FAILURES = 2
"""Builds in a row that may fail with the same cache, as a page says, before the next one begins without."""


@contextmanager
def lent(cache: Path | None, home: Path) -> Iterator[None]:
    """Fill `home` from `cache`, or leave it empty, and keep what the block leaves there as the new cache.

    While a build uses the cache no other build finds it. Ctrl-C leaves nothing that was not there before.
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
    """Move a cache to a build's home; return how many builds failed with it, or None if there is none."""
    if not cache.is_dir():
        return None
    try:
        with run_folder(_beside(cache)) as mine:
            own_cache = cache.rename(mine / "cache")  # of several builds only one can do this
            (content,) = own_cache.iterdir()
            shutil.move(content, home)
            return int(content.name)
    except (OSError, ValueError):
        remove(home)
        return None


def _keep(home: Path, cache: Path, failures: int) -> None:
    """Move a build's home to its place as a cache, unless it is empty, too large, or failed too often."""
    with suppress(OSError, RecursionError):
        if failures >= FAILURES or not stat.S_ISDIR(home.lstat().st_mode):  # the build may have replaced it by a link
            return
        open_up(home, 0o700)  # Go makes its downloads read-only; they could not be moved to another disk
        if not any(home.iterdir()) or raise_limit([home], LARGEST_CACHE, MAX_CACHED_FILES, copied=True):
            return
        with run_folder(_beside(cache)) as mine:
            (mine / "cache").mkdir()
            shutil.move(home, mine / "cache" / str(failures))
            (mine / "cache").rename(cache)  # fails if another build has stored one meanwhile


def _beside(cache: Path) -> Path:
    """Make and return a folder on the same disk that can be no bot's cache: no name of a bot begins with a dot."""
    folder = cache.parent / ".moved"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
