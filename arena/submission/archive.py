"""Unpacks archives that nobody has checked: only ordinary files with plain names, and no more than is allowed.

The standard library reads headers and decompresses; this module decides what is written, where, and how much. Bytes are
counted while they are decompressed, since a header may state a false size.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import stat
import sys
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from arena.base.suggest import short
from arena.submission.copying import MAX_BYTES, CopyBudget, too_large, write_file
from arena.submission.manifest import BadSubmission
from arena.submission.outside import LEFT_OUT, is_of_a_system

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

_MAX_NAME = 200
"""Bytes of the longest path in an archive: paths of Java have about a hundred."""
_MAX_DEPTH = 16
"""Folders and file names in the deepest path in an archive: paths of Java have a dozen."""
_HEADERS = 16 * 1024 * 1024
"""Bytes that the headers and padding of a tar file may take in addition to its content.

For as many files as are allowed they are 4 MiB at most; a few times more would do, for files that are left out.
"""
_UTF_8 = 0x800
"""Flag of an entry in a zip file whose name is in UTF-8."""
_DIRECTORY, _ENTRIES = b"PK\x01\x02", 50_000
"""First bytes of every entry in the directory of a zip file, and the largest number of entries that is accepted.

`zipfile` reads the whole directory into memory: as many entries take 25 MiB. Entries that are left out count, too, such
as the many files of `node_modules`.
"""


class ArchiveEntry(NamedTuple):
    """A file or folder in an archive. `content` opens the file; it is None for a folder."""

    name: str
    executable: bool = False
    content: Callable[[], IO[bytes] | None] | None = None


def kind(path: Path) -> str | None:
    """Return the ending of a file's name that says which archive it is, such as ".tar.gz"; None if it says nothing."""
    return next((ending for ending in READERS if path.name.lower().endswith(ending)), None)


def unpack(path: Path, folder: Path) -> tuple[str, ...]:
    """Write the files of an archive into a new folder; return the folders that were left out as no part of a bot.

    Raises BadSubmission if the archive is damaged, too large, or has an entry that is not allowed. The folder may then
    hold some of its files.
    """
    ending = kind(path)
    assert ending is not None
    folder.mkdir(parents=True)
    if path.stat().st_size > MAX_BYTES:
        raise too_large(str(path))
    try:
        return _write(READERS[ending](path), folder, CopyBudget(str(path)))
    except BadSubmission:
        raise
    except Exception as error:  # the standard library raises almost anything, even OverflowError and struct.error
        if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
            raise  # an error of the disk; but a place before the beginning of a file comes from the archive
        raise BadSubmission(f"{str(path)!r} is no {ending} archive that can be read: {error}") from error


def _write(entries: Iterator[ArchiveEntry], folder: Path, budget: CopyBudget) -> tuple[str, ...]:
    names, left_out = _Names(), set[str]()
    for entry in entries:
        if (outside := _no_part(entry.name)) is not None:
            left_out.add(outside)
            continue
        target = folder / names.check(entry.name, is_file=entry.content is not None)
        content = entry.content and entry.content()
        if content is None:
            budget.spend(files=1)
            target.mkdir(parents=True, exist_ok=True)
        else:
            with content:
                write_file(content, target, entry.executable, budget)
    return tuple(sorted(left_out - {""}))


def _no_part(name: str) -> str | None:
    """Return the folder for which an entry is no part of a bot; "" for what a system made for itself, None for none."""
    parts = PurePosixPath(name).parts
    if any(map(is_of_a_system, parts)):
        return ""
    return next(("/".join(parts[: at + 1]) for at, part in enumerate(parts) if part in LEFT_OUT), None)


class _Names:
    """The names met in an archive so far. No two may differ only by case, and no file may occur twice."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[str, bool]] = {}

    def check(self, name: str, *, is_file: bool) -> str:
        """Return a name as a plain relative path, and remember it. Raises BadSubmission if it is not allowed."""
        parts = [part for part in unicodedata.normalize("NFC", name).split("/") if part not in {"", "."}]
        problem = "has no name" if is_file and not parts else _problem(name, parts)
        if problem is None:
            for depth in range(1, len(parts) + 1):
                problem = problem or self._meet("/".join(parts[:depth]), is_file=is_file and depth == len(parts))
        if problem is not None:
            raise BadSubmission(f"the archive's entry {short(name)} {problem}")
        return "/".join(parts)

    def _meet(self, path: str, *, is_file: bool) -> str | None:
        if path.casefold() not in self._paths:
            self._paths[path.casefold()] = path, is_file
            return None
        first_path, was_file = self._paths[path.casefold()]
        if first_path != path:
            return f"differs from {short(first_path)} by case only"
        return "is there twice" if was_file or is_file else None


def _problem(name: str, parts: list[str]) -> str | None:
    if name.startswith("/"):
        return "is an absolute path: names are relative"
    if ".." in parts:
        return "leads out of its folder"
    if not all(map(_is_plain, "".join(parts))) or "\\" in name:
        return "has characters other than printable ASCII without backslash, and Latin letters"
    if len(name.encode()) > _MAX_NAME or len(parts) > _MAX_DEPTH:
        return f"is too long: {_MAX_NAME} characters and {_MAX_DEPTH} levels are allowed"
    return None


def _is_plain(char: str) -> bool:
    """Tell whether a character is printable ASCII or a Latin letter: those of other scripts may look like these."""
    return char.isprintable() and (char.isascii() or unicodedata.name(char, "").startswith("LATIN "))


# Readers of the kinds of archives; each yields the entries


def _zip(path: Path) -> Iterator[ArchiveEntry]:
    if path.read_bytes().count(_DIRECTORY) > _ENTRIES:
        raise too_large(str(path))
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise zipfile.BadZipFile("an entry is neither stored nor deflated")
            name = _zipped_name(info)
            if name.endswith("/"):
                yield ArchiveEntry(name)
            else:
                _check_ordinary(name, stat.S_IFMT(mode) in {0, stat.S_IFREG}, mode)
                yield ArchiveEntry(name, bool(mode & 0o111), partial(archive.open, info))


def _zipped_name(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry: macOS writes UTF-8 without saying so, and some tools of Windows write backslashes.

    A name that would be refused with slashes stays as it is.
    """
    name = info.orig_filename  # `filename` is cut at a NUL
    if not info.flag_bits & _UTF_8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    with_slashes = name.replace("\\", "/")
    return name if _problem(with_slashes, with_slashes.split("/")) else with_slashes


def _tar(path: Path, opener: Callable[[Path], Any]) -> Iterator[ArchiveEntry]:
    with opener(path) as inflated, tarfile.open(fileobj=_Counted(inflated, str(path)), mode="r|") as archive:
        for member in archive:
            if member.isdir():
                yield ArchiveEntry(member.name)
            else:
                ordinary = member.type in {tarfile.REGTYPE, tarfile.AREGTYPE} and not member.issparse()
                _check_ordinary(member.name, ordinary, member.mode)
                yield ArchiveEntry(member.name, bool(member.mode & 0o111), partial(archive.extractfile, member))


def _check_ordinary(name: str, ordinary: bool, mode: int) -> None:
    if _no_part(name) is not None:
        return
    if not ordinary:
        raise BadSubmission(f"the archive's entry {short(name)} is a link, device or the like: a bot is ordinary files")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise BadSubmission(f"the archive's entry {short(name)} is to run as another user (setuid, setgid)")


class _Counted(io.RawIOBase):
    """A decompressed tar file that raises BadSubmission once too much of it is read.

    The limits on content are not enough: `tarfile` reads names into memory, and a header can state any length for one.
    """

    def __init__(self, source: IO[bytes], label: str) -> None:
        self._source = source
        self._budget = CopyBudget(label, size=MAX_BYTES + _HEADERS)

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self._budget.spend(size=len(data))
        return data


READERS: dict[str, Callable[[Path], Iterator[ArchiveEntry]]] = {
    ".zip": _zip,
    ".tar": partial(_tar, opener=lambda path: path.open("rb")),
    ".tar.gz": partial(_tar, opener=gzip.GzipFile),
    ".tgz": partial(_tar, opener=gzip.GzipFile),
    ".tar.xz": partial(_tar, opener=lzma.LZMAFile),
    ".tar.zst": partial(_tar, opener=zstd.ZstdFile),
}
"""Function that yields the entries of an archive, by the ending of the archive's name."""
