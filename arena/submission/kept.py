"""Programs as a home keeps them: each in a folder named after the digest of what is in it, read-only."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from arena.sandbox.run_folder import open_up, run_folder
from arena.submission.manifest import BadSubmission, Manifest, load
from arena.submission.program import Program, digest, files_in, is_executable, walk
from arena.suggest import short

MAX_FILES = 50_000
MAX_BYTES = 1024 * 1024 * 1024
"""Of what a build made."""


def store(program: Program, bots: Path) -> Program:
    """Keep a copy of a program under its digest; gives the copy. Raises BadSubmission."""
    stored = replace(program, root=bots / program.kept_as)

    def fill(folder: Path) -> None:
        if program.built:
            shutil.copytree(program.root, folder, symlinks=True)
        else:
            for file in program.files:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(program.root / file, folder / file)
        open_up(folder)
        _make_read_only(folder)
        if not intact(replace(program, root=folder)):
            raise BadSubmission(f"{program.name} changed while it was copied; try again")

    _appear(stored.root, fill)
    return stored


def _appear(folder: Path, fill: Callable[[Path], None]) -> None:
    """Have a folder filled that is there whole or not at all; does nothing if it is there already."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with run_folder(folder.parent) as scratch:
        fill(scratch / "bot")
        try:
            (scratch / "bot").rename(folder)
        except OSError:
            if not folder.exists():  # another process was faster
                raise


def _make_read_only(folder: Path) -> None:
    for path in walk(folder, without=set()):
        if not path.is_symlink():
            path.chmod(0o555 if is_executable(path) else 0o444)


def intact(program: Program) -> bool:
    """Whether a stored program is, file by file, what its digest says."""
    try:
        if program.built:
            return tree_digest(program.root) == program.built
        files = files_in(program.root, str(program.root), without=set())
        return digest(program.run, program.games, program.root, files) == program.digest
    except BadSubmission:
        return False


def manifest(root: Path) -> Manifest:
    """What the manifest of a stored program says, as far as it has one; nothing else was to be said of `run`."""
    toml = root / "bot.toml"
    with suppress(BadSubmission):  # an older arena may have asked for less
        if toml.is_file():
            return load(toml, str(toml))
    return Manifest(run=[])


def tree_digest(root: Path) -> str:
    """SHA-256 over all that a folder holds: every path, what it is, and its content.

    Raises BadSubmission for too much of it, for links that lead out, and for what is neither file nor link.
    """
    paths = sorted(walk(root, without=set()))
    if len(paths) > MAX_FILES or sum(path.lstat().st_size for path in paths) > MAX_BYTES:
        raise BadSubmission(f"its build left more than {MAX_FILES:,} files or {MAX_BYTES // 2**20} MiB")
    total = sha256()
    for path in paths:
        what, content = _file_or_link(root, path)
        name = path.relative_to(root).as_posix()
        total.update(f"{name}\0{what}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


def _file_or_link(root: Path, path: Path) -> tuple[str, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return ("program" if is_executable(path) else "file"), path.read_bytes()
    target = os.readlink(path) if stat.S_ISLNK(mode) else "/"
    inside = os.path.normpath(path.parent.relative_to(root) / target)
    if os.path.isabs(target) or inside.startswith("..") or not _is_really_in(path, root):
        name = short(str(path.relative_to(root)))
        raise BadSubmission(f"its build left {name}, a link that leads out of its folder, a socket or the like")
    return "link", os.fsencode(target)


def _is_really_in(link: Path, root: Path) -> bool:
    """Whether it leads into the folder also by way of other links."""
    return Path(os.path.realpath(link)).is_relative_to(os.path.realpath(root))
