"""Archives as programs of other systems make them, and their notes about files."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

APPLE_DOUBLE = bytes.fromhex("0005160700020000") + b"Mac OS X        " + bytes(80)
"""A file `._name`, in which macOS keeps what other file systems have no place for."""
WINDOWS = 0
"""System of an entry in a zip file whose attributes say nothing of who may run it."""


def mac_tar(path: Path, folder: str, files: Mapping[str, bytes]) -> None:
    """What `tar` on macOS makes of a folder whose files have extended attributes."""
    with tarfile.open(path, "w:gz") as archive:

        def add(name: str, content: bytes, mode: int = 0o644) -> None:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            archive.addfile(info, io.BytesIO(content))

        add(f"._{folder}", APPLE_DOUBLE)
        for name, content in files.items():
            add(f"{folder}/._{name}", APPLE_DOUBLE)
            add(f"{folder}/{name}", content, 0o755 if content.startswith(b"#!") else 0o644)


class _Unflagged(zipfile.ZipInfo):
    """An entry whose name is in UTF-8, which nothing says."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode(), self.flag_bits


def mac_zip(path: Path, folder: str, files: Mapping[str, bytes]) -> None:
    """What Finder compresses: names in UTF-8 without the flag that says so, notes beside the folder."""
    with zipfile.ZipFile(path, "w") as archive:

        def add(name: str, content: bytes) -> None:
            info = _Unflagged(name)
            info.external_attr = 0o100755 << 16 if content.startswith(b"#!") else 0o100644 << 16
            archive.writestr(info, content)

        for name, content in files.items():
            add(f"{folder}/{name}", content)
            add(f"__MACOSX/{folder}/._{name}", APPLE_DOUBLE)
        add(f"{folder}/.DS_Store", b"\0\0\0\1Bud1")
        add(f"__MACOSX/._{folder}", APPLE_DOUBLE)


def windows_zip(path: Path, folder: str, files: Mapping[str, bytes], *, slash: str = "/") -> None:
    """What Explorer or, with `slash` a backslash, the older Compress-Archive makes: nothing says what may be run."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        inside = {"": b"", **files, "desktop.ini": b"[.ShellClassInfo]", "Thumbs.db": b"\xd0\xcf"}
        for name, content in inside.items():
            info = zipfile.ZipInfo(f"{folder}/{name}".replace("/", slash))
            info.create_system, info.external_attr = WINDOWS, 0x20
            archive.writestr(info, content)
