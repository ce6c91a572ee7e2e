"""Stored programs in a data directory ("home"): each in a read-only folder named after the digest of its content."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from arena.base.suggest import short
from arena.sandbox.run_folder import open_up, run_folder
from arena.submission.manifest import BadSubmission, Manifest, load
from arena.submission.program import Program, files_in, is_executable, program_digest, walk

_MAX_FILES = 50_000
"""Files and links that a build may leave in its folder; a page promises as many."""
_MAX_BYTES = 1024 * 1024 * 1024
"""Bytes that a build may leave in its folder; a page promises as many."""


def store(program: Program, bots: Path) -> Program:
    """Store a copy of a program under its digest and return the copy. Raises BadSubmission."""
    stored = replace(program, root=bots / program.kept_as)

    def fill(folder: Path) -> None:
        if program.built:
            shutil.copytree(program.root, folder, symlinks=True)
        else:
            for file in program.files:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(program.root / file, folder / file)
        open_up(folder)
        make_read_only(folder)
        if not intact(replace(program, root=folder)):
            raise BadSubmission(f"{program.name} changed while it was copied; try again")

    appear(stored.root, fill)
    return stored


def appear(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder so that it exists completely or not at all; do nothing if it already exists."""
    if folder.exists():
        return
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with run_folder(folder.parent) as scratch:
        fill(scratch / "bot")
        try:
            (scratch / "bot").rename(folder)
        except OSError:
            if not folder.exists():  # another process was faster
                raise


def make_read_only(folder: Path) -> None:
    """Let nobody write to the files of a folder; they stay executable if they were."""
    for path in walk(folder, without=set()):
        if not path.is_symlink():
            path.chmod(0o555 if is_executable(path) else 0o444)


def intact(program: Program) -> bool:
    """Tell whether the files of a stored program match its digest."""
    try:
        if program.built:
            return tree_digest(program.root) == program.built
        files = files_in(program.root, str(program.root), without=set())
        return program_digest(program.run, program.games, program.root, files) == program.digest
    except BadSubmission:
        return False


def manifest(root: Path) -> Manifest:
    """Return the manifest of a stored program, or one of defaults if it has none that can be read.

    The command is then empty, because the store has it: without a bot.toml nothing but a command was ever given.
    """
    toml = root / "bot.toml"
    with suppress(BadSubmission):  # an older arena may have had weaker rules
        if toml.is_file():
            return load(toml, str(toml))
    return Manifest(run=[])


def tree_digest(root: Path) -> str:
    """Return the SHA-256 over everything in a folder: every path, its kind, and its content.

    Raises BadSubmission if there is too much, for links that lead out, and for anything but files and links.
    """
    paths = sorted(walk(root, without=set()))
    if len(paths) > _MAX_FILES or sum(path.lstat().st_size for path in paths) > _MAX_BYTES:
        raise BadSubmission(f"its build left more than {_MAX_FILES:,} files or {_MAX_BYTES // 2**20} MiB")
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
    """Tell whether a link stays in the folder, even if it leads through other links."""
    return Path(os.path.realpath(link)).is_relative_to(os.path.realpath(root))
