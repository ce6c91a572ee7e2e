"""Where on this machine each bot was last handed in from: two hand-ins of one name are then not taken for versions.

Each is a file in the home, named after the bot. Backups leave them out: elsewhere the paths mean nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from arena.submission.archive import kind
from arena.submission.names import spelled
from arena.submission.outside import is_of_a_system

FOLDER = "sources"
"""Name of the folder in a home that has, by bot, the path from which it was handed in."""
Naming: TypeAlias = Literal["from-folder", "from-file"]
"""After what bots are named, whatever they say themselves."""


def remember(home: Path, name: str, path: Path) -> None:
    """Store that a bot was handed in from this path."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor, new = tempfile.mkstemp(dir=folder, prefix=".")
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.fsencode(spelled(path)))
    os.replace(new, folder / name)


def recalled(home: Path, name: str) -> Path | None:
    """Return the path that a bot was last handed in from; None if nobody knows."""
    try:
        return Path(os.fsdecode((home / FOLDER / name).read_bytes()))
    except FileNotFoundError:
        return None


def is_same(first: Path, second: Path) -> bool:
    """Tell whether two paths are spelled alike or, by links, lead to the same place."""
    return spelled(first) == spelled(second) or os.path.realpath(first) == os.path.realpath(second)


def handed_in(paths: Sequence[Path]) -> list[Path]:
    """Return the paths that somebody means to hand in: a pattern of the shell also names what a system left there."""
    return [path for path in paths if not is_of_a_system(path.name)]


def naming(path: Path, wanted: Naming, handed_in: Sequence[Path]) -> Naming:
    """Return after what a hand-in is named if many are handed in at once.

    A folder in which several of them lie is nobody's: after it none can be called, and a file is called after itself.
    """
    folder = spelled(path).parent
    shared = len({neighbour for neighbour in map(spelled, handed_in) if neighbour.parent == folder}) > 1
    return "from-file" if shared and not path.is_dir() else wanted


def outer_name(path: Path, naming: Naming) -> str:
    """Return what people call the folder of a hand-in, which may be the hand-in itself, or its file."""
    whole = spelled(path)
    if path.is_dir():
        return whole.name
    if naming == "from-folder":
        return whole.parent.name
    ending = kind(path)
    return path.name[: -len(ending)] if ending else path.stem
