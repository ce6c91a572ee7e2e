"""The folder of a published site: each of its files is whole at any time, and files of others stay as they are."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

NOTES = ".published.jsonl"
"""The file that says which files of the folder are ours; it is locked while somebody publishes."""
PART = ".published.part"
"""A file until it is complete."""


class CannotPublish(Exception):
    """Error if a folder cannot be used; the message is one line that says why."""


class Note(NamedTuple):
    """What is known of a file of ours; of several notes of a file the last one counts."""

    file: str
    made_of: str = ""
    """A digest of what it was made of; empty if that is not known, as while it is written."""
    leads_to: tuple[str, ...] = ()
    """Addresses to which it leads."""


@contextmanager
def open_folder(path: Path) -> Iterator[PublishedFolder]:
    """Open a folder that is new, empty or an earlier published one, for one process at a time. Raises CannotPublish."""
    with _explained(path):
        path.mkdir(exist_ok=True)
        if not (path / NOTES).exists() and any(path.iterdir()):
            raise CannotPublish(f"{str(path)!r} holds other files: name a new folder, an empty one, or a published one")
        notes = (path / NOTES).open("a+b")
    with notes:
        with _explained(path):
            _lock(notes, path)
            if not os.path.samestat(os.fstat(notes.fileno()), (path / NOTES).stat()):  # replaced before it was locked
                raise CannotPublish(f"another process has just published in {str(path)!r}: try again")
        try:
            yield PublishedFolder(path, notes)
        finally:
            with suppress(OSError):
                (path / PART).unlink(missing_ok=True)


class PublishedFolder:
    """A folder into which a site is published.

    Whenever the process ends, the notes name every file that it wrote: it is noted before it is there.
    """

    def __init__(self, path: Path, notes: BinaryIO) -> None:
        self.written = self.removed = 0
        """Number of files that were written, and removed."""
        self._path = path
        self._notes = notes
        self._known_notes = _read_notes(notes)
        self._wanted: dict[str, Note] = {}

    @property
    def before(self) -> Set[str]:
        """The files that were there when the folder was opened."""
        return self._known_notes.keys()

    @property
    def now(self) -> Set[str]:
        """The files that were kept or put."""
        return self._wanted.keys()

    def keep(self, file: str, made_of: str) -> Note | None:
        """Keep a file if it is there and was made of the same, and return what is known of it; else return None."""
        note = self._known_notes.get(file)
        if note is None or note.made_of != made_of or not (self._path / file).is_file():
            return None
        self._wanted[file] = note
        return note

    def put(self, note: Note, content: bytes) -> None:
        """Write a file, unless it is there with this content. Raises CannotPublish."""
        path = self._path / note.file
        with _explained(path):
            if not (path.is_file() and path.read_bytes() == content):
                self._claim(note.file)
                self._write(path, content)
                self.written += 1
            self._note(note)
        self._wanted[note.file] = note

    def remove_others(self) -> None:
        """Remove the files of ours that were neither kept nor put. Raises CannotPublish."""
        for file in self.before - self.now:
            path = self._path / file
            with _explained(path):
                self.removed += path.is_file()
                path.unlink(missing_ok=True)
            with suppress(OSError):  # others may have files there, too
                os.removedirs(path.parent)
        with _explained(self._path / NOTES):
            self._write(self._path / NOTES, b"".join(map(_line, self._wanted.values())))

    def _claim(self, file: str) -> None:
        if file not in self._known_notes and os.path.lexists(self._path / file):
            raise CannotPublish(f"{str(self._path / file)!r} was not published by the arena: move it away")
        self._note(Note(file))

    def _note(self, note: Note) -> None:
        self._notes.write(_line(note))
        self._notes.flush()

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path / PART
        part.write_bytes(content)
        part.replace(path)


def _lock(notes: BinaryIO, folder: Path) -> None:
    try:
        fcntl.flock(notes, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CannotPublish(f"another process is publishing in {str(folder)!r}: wait for it") from None


def _read_notes(notes: BinaryIO) -> dict[str, Note]:
    """Read notes, and end the line at which the process before was killed, if it was."""
    notes.seek(0)
    notes_by_file = {}
    for line in notes:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # such a line, or an empty one
            note = msgspec.json.decode(line, type=Note)
            if _is_inside(note.file):
                notes_by_file[note.file] = note
    notes.write(b"\n")
    return notes_by_file


def _is_inside(file: str) -> bool:
    """Tell whether a name leads to no other folder: notes may come from anywhere, and what they name is removed."""
    path = Path(file)
    return not path.is_absolute() and ".." not in path.parts


def _line(note: Note) -> bytes:
    return msgspec.json.encode(note) + b"\n"


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what the system refuses into one line; that of a full disk does not say which file it was."""
    try:
        yield
    except OSError as error:
        raise CannotPublish(f"cannot write {str(path)!r}: {error.strerror}") from error
