"""Unrated matches that a home keeps: the latest ones, each as the document that `arena replay` shows."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from arena.replay.document import Document, opened
from arena.replay.record import Unreadable
from ladder.store.home import UNRATED, make_home

KEPT_MATCHES = 200
"""Number of matches that are kept; the oldest ones go first."""
_LAST = "last"
"""Stands for the name of the match that was played last."""
_NAME = re.compile(r"unrated-([1-9][0-9]*)")
"""Matches the name of a kept match, which has a number."""


def is_name(what: str) -> bool:
    """Tell whether a text is the name of a kept match, or `_LAST`."""
    return what == _LAST or _NAME.fullmatch(what) is not None


def keep(home: Path, matches: Sequence[Document]) -> list[Document]:
    """Store the last `KEPT_MATCHES` of these matches, and remove older ones.

    Return those stored, with their names as `match`. A home that is missing is made. Raises OSError.
    """
    make_home(home)
    folder = _folder(home)
    folder.mkdir(mode=0o700, exist_ok=True)
    _give_to_owner(folder, home)
    stored = [_store(folder, match) for match in matches[-KEPT_MATCHES:]]
    for number in _numbers(folder)[:-KEPT_MATCHES]:
        _file(folder, number).unlink(missing_ok=True)  # another process may remove it, too
    return stored


def _store(folder: Path, match: Document) -> Document:
    """Store a match under the next number; it appears completely or not at all."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".new-") as file:
        _give_to_owner(Path(file.name), folder)
        while True:
            number = max(_numbers(folder), default=0) + 1
            named = msgspec.structs.replace(match, match=f"unrated-{number}")
            file.seek(0)
            file.truncate()
            file.write(msgspec.json.encode(named))
            file.flush()
            with suppress(FileExistsError):  # another process was faster
                os.link(file.name, _file(folder, number))
                return named


def _give_to_owner(path: Path, folder: Path) -> None:
    """Give a path to the owner of a folder, if this is root: under sudo, what it makes is to stay the user's."""
    if os.geteuid() == 0:
        status = folder.stat()
        os.chown(path, status.st_uid, status.st_gid)


def latest(home: Path, most: int) -> list[str]:
    """Return the names of so many matches, the one played last first; none if nothing is kept. Raises OSError."""
    folder = _folder(home)
    return [f"unrated-{number}" for number in _numbers(folder)[: -most - 1 : -1]] if folder.exists() else []


def find_match(home: Path, name: str) -> Document:
    """Return a kept match by its name, or the one played last. Raises Unreadable and OSError."""
    folder = _folder(home)
    numbers = _numbers(folder) if folder.exists() else []
    if not numbers:
        raise Unreadable(f"{str(home)!r} keeps no unrated match yet: play one with `arena match`")
    name_match = _NAME.fullmatch(name)
    number = int(name_match[1]) if name_match else numbers[-1]
    if number not in numbers:
        names = f"unrated-{numbers[0]} to unrated-{numbers[-1]}"
        raise Unreadable(f"{name} is not kept in {str(home)!r}: there are {names}")
    return opened(_file(folder, number).read_bytes())


def _folder(home: Path) -> Path:
    return home / UNRATED


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number}.json"


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of the matches in the folder, in ascending order. Raises OSError."""
    return sorted(
        int(name_match[1]) for name in os.listdir(folder) if (name_match := re.fullmatch(r"([0-9]{1,18})\.json", name))
    )
