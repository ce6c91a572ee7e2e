"""Takes in a submission: a copy is checked, built and stored, so that later changes of the original do not matter."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from arena.sandbox.run_folder import open_up
from arena.submission.archive import kind, unpack
from arena.submission.budget import Budget, NotOrdinary, open_ordinary, write_file
from arena.submission.kept import manifest
from arena.submission.manifest import BadSubmission, Protocol
from arena.submission.program import LEFT_OUT, Program, missing, read, read_folder, walk


class Taken(NamedTuple):
    """A copy of a submission, and the folders that were left out of it."""

    program: Program
    left_out: tuple[str, ...] = ()


def take(
    path: Path,
    scratch: Path,
    *,
    name: str | None = None,
    plays: Sequence[str] = (),
    protocol: Protocol | None = None,
) -> Taken:
    """Copy or unpack what is at a path into an empty folder, and read it there.

    `name` and `plays` override the manifest; `protocol` is for a lone file, which has none. Raises
    BadSubmission.
    """
    taken = _taken(path, scratch, name, plays, protocol)
    open_up(scratch / "bot")  # despite the umask: bots may run as another user
    return taken


def _taken(path: Path, scratch: Path, name: str | None, plays: Sequence[str], protocol: Protocol | None) -> Taken:
    if protocol and (path.is_dir() or kind(path)):
        raise BadSubmission(f'{str(path)!r} is more than a lone file: say protocol = "{protocol}" in its bot.toml')
    if path.is_dir():
        root = scratch / "bot" / (path.resolve().name or "bot")
        made = made_by_builds(path)
        _copy_folder(path, root, made)
        there = tuple(sorted(name for name in made if (path / name).exists()))
        return Taken(read_folder(root, name, plays, str(path)), (*_left_out(path), *there))
    if not path.is_file():
        raise missing(path)
    if ending := kind(path):
        return _unpacked(path, scratch / "bot", name, plays, called=path.name[: -len(ending)].lower())
    lone = read(path, name=name, plays=plays)  # also for the errors that it raises
    copy = scratch / "bot" / path.name
    with _opened(path.resolve()) as source:
        write_file(source, copy, _executable(source), Budget(str(path)))
    if protocol is None:
        return Taken(read(copy, name=name, plays=plays))
    manifest = f"run = {json.dumps(lone.run)}\nprotocol = {json.dumps(protocol)}\n"
    (copy.parent / "bot.toml").write_text(manifest)
    return Taken(read_folder(copy.parent, lone.name, plays, str(path)))


def _unpacked(path: Path, folder: Path, name: str | None, plays: Sequence[str], *, called: str) -> Taken:
    """Unpack an archive and read the bot at its top or, if there is nothing but one folder, in that folder."""
    unpack(path, folder)
    inside = [each for each in folder.iterdir() if each.name not in LEFT_OUT]
    alone = len(inside) == 1 and inside[0].is_dir()
    root = inside[0] if alone else folder
    default = inside[0].name.lower() if alone else called
    return Taken(replace(read_folder(root, name, plays, str(path), default), packed=True), _left_out(root))


def made_by_builds(folder: Path) -> set[str]:
    """Return the names at the folder's top that the author's own builds made.

    With a build in the manifest these are the entries that `.gitignore` names there. An old `build` of CMake would
    break the new one, and Rust's `target` is larger than a bot may be.
    """
    ignored = folder / ".gitignore"
    if not (manifest(folder).build and ignored.is_file()):
        return set()
    lines = ignored.read_text(errors="replace").splitlines()
    return {line.strip("/") for line in lines if re.fullmatch(r"/[^/*?\[\\]+/?", line)}


def _copy_folder(folder: Path, target: Path, without: Set[str]) -> None:
    budget = Budget(str(folder))
    target.mkdir(parents=True)
    for path in walk(folder):
        if path.relative_to(folder).parts[0] in without:
            continue
        with _opened(path) as source:
            write_file(source, target / path.relative_to(folder), _executable(source), budget)


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_ordinary(path)
    except NotOrdinary:
        raise BadSubmission(f"{str(path)!r} is a link, socket or the like: a bot is made of ordinary files") from None


def _executable(file: IO[bytes]) -> bool:
    return bool(os.fstat(file.fileno()).st_mode & 0o111)


def _left_out(folder: Path) -> tuple[str, ...]:
    """Return the paths of the folders inside that are no part of a bot."""
    found = []
    for at, names, _ in os.walk(folder):
        found += [str(Path(at, name).relative_to(folder)) for name in names if name in LEFT_OUT]
        names[:] = [name for name in names if name not in LEFT_OUT]
    return tuple(sorted(found))
