"""Takes in a submission: a copy is checked, built and stored, so that later changes of the original do not matter."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from arena.sandbox.run_folder import open_up
from arena.submission.archive import kind, unpack
from arena.submission.copying import CopyBudget, NotOrdinary, open_ordinary, write_file
from arena.submission.manifest import BadSubmission, Protocol
from arena.submission.mending import mend
from arena.submission.names import spelled
from arena.submission.outside import LEFT_OUT
from arena.submission.program import Program, missing_tools_of, read_folder, read_program, walk
from arena.submission.program_store import manifest
from arena_bot.text import decoded


class Intake(NamedTuple):
    """A copy of a submission, and the folders that were left out of it."""

    program: Program
    left_out: tuple[str, ...] = ()


def take_in(
    path: Path,
    scratch: Path,
    *,
    name: str | None = None,
    plays: Sequence[str] = (),
    protocol: Protocol | None = None,
) -> Intake:
    """Copy or unpack what is at a path into an empty folder, and read it there.

    `name` and `plays` override the manifest; `protocol` is for a lone file, which has none. Raises
    BadSubmission.
    """
    copy = _copy_and_read(path, scratch, name, plays, protocol)
    open_up(scratch / "bot")  # despite the umask: bots may run as another user
    return copy


def _copy_and_read(
    path: Path, scratch: Path, name: str | None, plays: Sequence[str], protocol: Protocol | None
) -> Intake:
    if protocol and (path.is_dir() or kind(path)):
        raise BadSubmission(f'{str(path)!r} is more than a lone file: say protocol = "{protocol}" in its bot.toml')
    if path.is_dir():
        root = scratch / "bot" / (spelled(path).name or "bot")
        build_results = made_by_builds(path)
        _copy_folder(path, root, build_results)
        mended = mend(root)
        results_left_out = tuple(sorted(name for name in build_results if (path / name).exists()))
        program = replace(read_folder(root, name, plays, str(path), spelled(path).name), mended=mended)
        return Intake(program, (*_left_out(path), *results_left_out))
    if not path.is_file():
        raise missing_tools_of(path)
    if ending := kind(path):
        return _unpacked(path, scratch / "bot", name, plays, called=path.name[: -len(ending)])
    lone = read_program(path, name=name, plays=plays)  # also for the errors that it raises
    copy = scratch / "bot" / path.name
    with _opened(path.resolve()) as source:
        write_file(source, copy, _executable(source), CopyBudget(str(path)))
    mended = mend(copy.parent)
    if protocol is None:
        return Intake(replace(read_program(copy, name=name, plays=plays), mended=mended))
    manifest = f"run = {json.dumps(lone.run)}\nprotocol = {json.dumps(protocol)}\n"
    (copy.parent / "bot.toml").write_text(manifest)
    return Intake(replace(read_folder(copy.parent, lone.name, plays, str(path), path.stem), mended=mended))


def _unpacked(path: Path, folder: Path, name: str | None, plays: Sequence[str], *, called: str) -> Intake:
    """Unpack an archive and read the bot at its top or, while there is nothing but one folder, in that folder."""
    left_out = unpack(path, folder)
    root = folder
    while (inside := list(root.iterdir())) and len(inside) == 1 and inside[0].is_dir():
        root = inside[0]
    mended = mend(root)
    default = called if root == folder else root.name
    program = replace(read_folder(root, name, plays, str(path), default), packed=True, mended=mended)
    inside_root = f"{root.relative_to(folder).as_posix()}/"
    return Intake(program, tuple(entry.removeprefix(inside_root) for entry in left_out))


def made_by_builds(folder: Path) -> set[str]:
    """Return the names at the folder's top that the author's own builds made.

    With a build in the manifest these are the entries that `.gitignore` names there. An old `build` of CMake would
    break the new one, and Rust's `target` is larger than a bot may be.
    """
    ignored = folder / ".gitignore"
    if not (manifest(folder).build and ignored.is_file()):
        return set()
    lines: list[str] = []
    with suppress(ValueError):
        lines = decoded(ignored.read_bytes()).splitlines()
    return {line.strip("/") for line in lines if re.fullmatch(r"/[^/*?\[\\]+/?", line)}


def _copy_folder(folder: Path, target: Path, without: Set[str]) -> None:
    budget = CopyBudget(str(folder))
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
    paths = []
    for at, names, _ in os.walk(folder):
        paths += [str(Path(at, name).relative_to(folder)) for name in names if name in LEFT_OUT]
        names[:] = [name for name in names if name not in LEFT_OUT]
    return tuple(sorted(paths))
