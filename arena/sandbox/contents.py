"""Counts what folders hold.

It is also a program, `python -I -S contents.py SIZE ENTRIES FOLDERS…`, for an account: into what its builds have closed
it may look only where it is root, in its namespace (see `users`). It needs only the standard library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

LEVELS = 100
"""Largest number of nested folders that are searched; deeper ones count as too much."""


def raise_limit(folders: Sequence[str | Path], size: int, entries: int, *, copied: bool = False) -> bool:
    """Tell whether the files in some folders take more than `size` bytes on disk, or are more than `entries`.

    If they will be `copied`, holes in sparse files count, too: the copy on another disk may be filled. Folders that
    cannot be read or are nested too deep count as too much, since they could hide any amount.
    """
    queue = [(str(folder), 0) for folder in folders]
    while queue:
        at, depth = queue.pop()
        try:
            with os.scandir(at) as listing:
                for entry in listing:
                    entries -= 1
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        size -= max(status.st_blocks * 512, status.st_size if copied else 0)
                    if entry.is_dir(follow_symlinks=False):
                        queue.append((entry.path, depth + 1))
                    if entries < 0 or size < 0 or depth > LEVELS:
                        return True
        except (FileNotFoundError, NotADirectoryError):
            continue  # removed in the meantime
        except OSError:
            return True
    return False


def main() -> None:
    """Print whether some folders hold more than they may."""
    size, entries, *folders = sys.argv[1:]
    sys.stdout.write(str(raise_limit(folders, int(size), int(entries))))


if __name__ == "__main__":
    main()
