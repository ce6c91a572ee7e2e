"""What belongs to the project in a clone: a user may keep bots and notes beside it, as README tells them to."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent


def own(paths: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """Return those paths that git tracks or, where there is no git or no clone, all of them; in their order."""
    tracked = _tracked(root)
    return [path for path in paths if not tracked or path in tracked]


def _tracked(root: Path) -> frozenset[Path]:
    """Return the tracked files of a clone, and the folders they are in."""
    try:
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=False
        ).stdout
    except OSError:
        return frozenset()
    files = [root / name for name in listed.split("\0") if name]
    return frozenset([*files, *(folder for file in files for folder in file.parents)])
