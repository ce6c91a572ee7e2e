"""Bots as people hand them in, from every system: a folder full, and what is to become of each."""

from __future__ import annotations

import io
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.submission.systems import APPLE_DOUBLE, mac_tar, mac_zip, windows_zip
from tests.tournament import programs

MANIFEST = b'run = ["python", "bot.py"]\n'
SCRIPT = b'#!/bin/sh\r\nexec python bot.py "$@"\r\n'
RUN_SCRIPT = b'run = ["./run.sh"]\r\n'
FREEZE = "-e git+https://example.org/x@0123#egg=arena\r\nprotobuf==7.36.2\r\ngrpcio==1.85.3\r\n"
"""What `pip freeze` says where nothing but the SDK is installed that a bot would use."""


Pack: TypeAlias = Callable[[Path, str, Mapping[str, bytes]], None]
"""Makes an archive of files in a folder of this name."""


class HandIn(NamedTuple):
    """Something in the folder; `make` is called with its path."""

    make: Callable[[Path], object]
    version: str | None
    """What it becomes; None if it is refused."""
    why: str = ""
    """A part of the reason."""


def source(about: str) -> bytes:
    """A bot unlike all others."""
    return f"{programs.FIRST}\n# {about}\n".encode()


def text(encoding: str = "utf-8", end: str = "\n", first: str = "") -> Callable[[Path], object]:
    """A lone file, as an editor saves it."""
    return lambda path: path.write_bytes((first + source(path.name).decode()).replace("\n", end).encode(encoding))


def folder(files: Mapping[str, bytes] = {}, *, manifest: bytes | None = MANIFEST) -> Callable[[Path], object]:
    """A folder with a manifest, a bot and other files, or with these in place of them."""

    def make(path: Path) -> None:
        whole = {"bot.py": source(path.name), **({"bot.toml": manifest} if manifest is not None else {}), **files}
        for name, content in whole.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)

    return make


def packed(
    how: Callable[[Path, str, Mapping[str, bytes]], None], inside: str, **files: bytes
) -> Callable[[Path], object]:
    """An archive of a folder of this name."""
    return lambda path: how(path, inside, {"bot.toml": MANIFEST, "bot.py": source(path.name), **files})


def linux_tar(path: Path, inside: str, files: Mapping[str, bytes]) -> None:
    """What `tar` makes of a folder or, if it has no name, of the files in it."""
    with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"{inside}/{name}" if inside else f"./{name}")
            info.size, info.mode = len(content), 0o644
            archive.addfile(info, io.BytesIO(content))


def old_windows_zip(path: Path, inside: str, files: Mapping[str, bytes]) -> None:
    """With backslashes in names."""
    windows_zip(path, inside, files, slash="\\")


def zip_with_a_link(path: Path, inside: str, files: Mapping[str, bytes]) -> None:
    """What `zip --symlinks` makes of a folder with a link in it."""
    windows_zip(path, inside, files)
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo(f"{inside}/link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")


def executable(content: bytes) -> Callable[[Path], object]:
    """A lone file that may be run."""

    def make(path: Path) -> None:
        path.write_bytes(content)
        path.chmod(0o755)

    return make


def link(name: str) -> Callable[[Path], object]:
    """A link to a folder, or a file, that is called as everybody's."""

    def make(path: Path) -> None:
        target = path.parent.parent / "repos" / path.stem / name
        folder()(target.parent if target.suffix else target)
        if target.suffix:
            target.write_bytes(source(path.name))
        else:
            (target / "bot.py").write_bytes(source(path.name))
        path.symlink_to(target)

    return make


def with_environment(path: Path) -> None:
    """A folder in which its author has made an environment, full of links."""
    folder({"__pycache__/x.pyc": b""})(path)
    (path / ".venv/bin").mkdir(parents=True)
    (path / ".venv/bin/python").symlink_to("/usr/bin/python3")


LONE_SCRIPT = "\ufeff#!/bin/sh\r\nexec python - <<'END'\r\n{}\r\nEND\r\n"
HAND_INS = {
    # lone files
    "ann.py": HandIn(text(), "ann@1"),
    "Müller, Fritz.py": HandIn(text(), "mueller-fritz@1"),
    unicodedata.normalize("NFD", "José.py"): HandIn(text(), "jose@1"),
    "My Bot (2).py": HandIn(text(), "my-bot-2@1"),
    "c++.py": HandIn(text(), "cpp@1"),
    "windows.py": HandIn(text(end="\r\n"), "windows@1"),
    "notepad.py": HandIn(text("utf-8-sig", "\r\n"), "notepad@1"),
    "powershell.py": HandIn(text("utf-16", "\r\n"), "powershell@1"),
    "first-line.py": HandIn(text(end="\r\n", first="#!/usr/bin/env python3\n"), "first-line@1"),
    "lone.sh": HandIn(executable(LONE_SCRIPT.format(programs.FIRST).encode()), "lone@1"),
    "again-ann.py": HandIn(lambda path: path.write_bytes(source("ann.py")), "again-ann@1"),
    # folders
    "plain": HandIn(folder(), "plain@1"),
    "Großes Haus": HandIn(folder(), "grosses-haus@1"),
    "marked": HandIn(folder(manifest=b"\xef\xbb\xbf" + MANIFEST.replace(b"\n", b"\r\n")), "marked@1"),
    "wide": HandIn(folder(manifest=MANIFEST.decode().encode("utf-16")), "wide@1"),
    "no-manifest": HandIn(folder(manifest=None), "no-manifest@1"),
    "named": HandIn(folder(manifest=b'name = "given"\n' + MANIFEST), "given@1"),
    "from-a-stick": HandIn(folder({"._bot.py": APPLE_DOUBLE, ".DS_Store": b"", "Thumbs.db": b""}), "from-a-stick@1"),
    "with-environment": HandIn(with_environment, "with-environment@1"),
    "in-src": HandIn(folder({"src/bot.py": source("src")}, manifest=b'run = ["python", "src/bot.py"]'), "in-src@1"),
    "script": HandIn(folder({"run.sh": SCRIPT}, manifest=RUN_SCRIPT), "script@1"),
    "built": HandIn(
        folder({"b.sh": b"#!/bin/sh\r\ntouch made\r\n"}, manifest=MANIFEST + b'build = [["./b.sh"]]\r\n'), "built@1"
    ),
    # links
    "linked": HandIn(link("bot"), "linked@1"),
    "linked-2": HandIn(link("bot"), "linked-2@1"),
    "linked-file.py": HandIn(link("bot.py"), "linked-file@1"),
    # requirements
    "frozen": HandIn(folder({"requirements.txt": FREEZE.encode("utf-16")}), "frozen@1"),
    "sdk": HandIn(folder({"requirements.txt": b"\xef\xbb\xbfarena\r\n"}), "sdk@1"),
    "other-file": HandIn(folder({"requirements.txt": b"-r base.txt\n", "base.txt": b"arena"}), "other-file@1"),
    "project": HandIn(folder({"pyproject.toml": b'[project]\nname = "x"\ndependencies = ["arena"]\n'}), "project@1"),
    # archives
    "mac.tgz": HandIn(packed(mac_tar, "macbook"), "macbook@1"),
    "mac.zip": HandIn(packed(mac_zip, "Jürgens Bot", **{"Für Lehrer.txt": b""}), "juergens-bot@1"),
    "win.zip": HandIn(packed(windows_zip, "Explorer", **{"bot.toml": RUN_SCRIPT, "run.sh": SCRIPT}), "explorer@1"),
    "old.zip": HandIn(packed(old_windows_zip, "net", **{"data/x.txt": b"1"}), "net@1"),
    "linux.tar.xz": HandIn(packed(linux_tar, "linux-main"), "linux-main@1"),
    "top.tar.gz": HandIn(packed(linux_tar, ""), "top@1"),
    "deep.zip": HandIn(packed(windows_zip, "Downloads/deep/deep-main"), "deep-main@1"),
    # what is refused
    "claims": HandIn(folder(manifest=b'name = "ann"\n' + MANIFEST), None, "would be called ann, which is entered"),
    "claims.zip": HandIn(packed(windows_zip, "Ann"), None, "says it is called ann, which is entered already"),
    "x.zip": HandIn(packed(windows_zip, "plain"), None, "is called plain, which is entered"),
    "link.zip": HandIn(packed(zip_with_a_link, "link"), None, "is a link, device or the like"),
    "notes.txt": HandIn(text(), None, "cannot be run"),
    "empty": HandIn(Path.mkdir, None, "is empty"),
    "random.py": HandIn(text(), None, "built-in"),
    "Иван.py": HandIn(text(), None, "makes no name for a bot"),
    "broken.py": HandIn(lambda path: path.write_text("syntax error"), None, "it failed 'start'"),
    "latin-1": HandIn(folder(manifest=MANIFEST + 'about = "ä"'.encode("latin-1")), None, "line 2 is no text in utf-8"),
    "own-tools": HandIn(folder({"requirements.txt": b"-e /home/ann/tools"}), None, "is on its author's machine"),
    "lucky.py": HandIn(lambda path: path.write_bytes(b"import numpy\n" + source("x")), None, "it failed 'start'"),
}  # fmt: skip
"""By name in the folder; files of a system are there as well."""


def make(at: Path) -> None:
    """Fill a folder with all of them."""
    at.mkdir()
    for name, hand_in in HAND_INS.items():
        hand_in.make(at / name)
    for name in ("Thumbs.db", "desktop.ini"):
        (at / name).touch()
