"""Programs of bots on their way to hosts, and where a host keeps them: each under the digest of its content."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from arena.cluster.messages import Parcel, ProgramFile
from arena.sandbox.run_folder import open_up, run_folder
from arena.submission.program import environment, is_executable
from arena.submission.program_store import make_read_only, tree_digest
from arena.worker.jobs import Entrant

_PYTHON = "{python}"
"""Stands in a command for the interpreter of the arena, which is in another place on each host."""


class Unfit(Exception):
    """Error for a program that this host cannot run; the message is one line for people."""


class Damaged(Unfit):
    """Error for a program that is not what its digest says."""


def program_folder() -> Path:
    """Return the folder where this host keeps programs for all runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "arena" / "programs"


def packed(root: Path, digest: str) -> Parcel:
    """Return a program's folder, whose content has this digest, as a parcel."""
    entries = []
    for folder, folders, files in os.walk(root):
        for path in sorted(Path(folder, name) for name in (*folders, *files)):
            name = path.relative_to(root).as_posix()
            if path.is_symlink():
                entries.append(ProgramFile(name, "link", os.fsencode(path.readlink())))
            elif path.is_dir():
                entries.append(ProgramFile(name, "folder"))
            else:
                entries.append(ProgramFile(name, "program" if is_executable(path) else "file", path.read_bytes()))
    return Parcel(digest, tuple(entries))


def keep_program(parcel: Parcel, programs: Path) -> None:
    """Unpack a parcel, so that the program is there completely or not at all. Raises Damaged."""
    place = programs / parcel.digest
    programs.mkdir(mode=0o700, parents=True, exist_ok=True)
    with run_folder(programs) as scratch:
        root = scratch / "bot"
        root.mkdir()
        for entry in parcel.entries:
            _unpack(entry, root)
        open_up(root)
        make_read_only(root)
        if tree_digest(root) != parcel.digest:
            raise Damaged("a program came changed")
        try:
            root.rename(place)
        except OSError:
            if not place.is_dir():  # another process was faster
                raise


def _unpack(entry: ProgramFile, root: Path) -> None:
    path = root / entry.name
    if not path.parent.resolve().is_relative_to(root.resolve()):
        raise Damaged("a program has a file outside its folder")
    if entry.kind == "folder":
        path.mkdir()
    elif entry.kind == "link":
        path.symlink_to(os.fsdecode(entry.content))
    else:
        path.write_bytes(entry.content)
        path.chmod(0o755 if entry.kind == "program" else 0o644)


def stored_digests(programs: Path) -> frozenset[str]:
    """Return the digests of the programs that are kept."""
    return frozenset(path.name for path in programs.glob("[0-9a-f]*")) if programs.is_dir() else frozenset()


def check_program_files(digest: str, programs: Path) -> None:
    """Raise Damaged unless a kept program is what its digest says; it is removed then, so that it is sent again."""
    place = programs / digest
    if not place.is_dir() or tree_digest(place) != digest:
        shutil.rmtree(place, ignore_errors=True)
        raise Damaged(
            f"the program {digest[:12]} in {str(programs)!r} was changed; it is removed, and sent again in the next run"
        )


def as_sent(entrant: Entrant, digest: str) -> Entrant:
    """Return an entrant as it is told to a host: without what is true on this machine alone."""
    command = tuple(_PYTHON if word == sys.executable else word for word in entrant.command)
    python_path = {name: value for name, value in entrant.env.items() if name == "PYTHONPATH"}
    return entrant._replace(command=command, cwd=digest, env=python_path)


def placed(entrant: Entrant, programs: Path) -> Entrant:
    """Return an entrant as this host starts it."""
    command = tuple(sys.executable if word == _PYTHON else word for word in entrant.command)
    return entrant._replace(command=command, cwd=str(programs / entrant.cwd), env={**environment(), **entrant.env})


def missing_tool(entrant: Entrant) -> str | None:
    """Return the program that an entrant's command lacks on this host, None if it lacks none."""
    first = entrant.command[0]
    if "/" in first or shutil.which(first, path=entrant.env["PATH"]):
        return None
    return first
