"""Programs as people hand them in: what a bot is called, what it plays, how it is run, and its digest.

A program is a `.py` file, an executable file, or a folder with a `bot.toml`. Stored, it is a folder named after the
SHA-256 of its content, which never changes.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from arena import games

if TYPE_CHECKING:
    from arena.seated import Entrant

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
MAX_FILES = 2000
MAX_BYTES = 64 * 1024 * 1024
MAX_MANIFEST = 64 * 1024
_LEFT_OUT = {"__pycache__", ".git", ".venv", ".arena", "node_modules", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
"""Folders that are no part of a bot; the home is one that grows with every submission."""


class BadSubmission(ValueError):
    """What was handed in cannot be a bot; the message is one line that says what is expected."""


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """What `bot.toml` may say."""

    run: list[str]
    """The command, as a list; `python` is the arena's own interpreter."""
    name: str | None = None
    games: list[str] | None = None
    """The games it plays; all of them if not said."""
    about: str = ""
    """What it does, in a line."""


@dataclass(frozen=True)
class Program:
    """A bot on disk, checked: `files` are its paths inside `root`, sorted."""

    name: str
    games: tuple[str, ...]
    run: tuple[str, ...]
    root: Path
    files: tuple[Path, ...]
    digest: str
    about: str = ""
    slow: bool = False
    """Whether it is in a field only if it is named."""

    def entrant(self) -> Entrant:
        """The program as a worker starts it, where it lies."""
        return entrant(self.name, self.digest, self.run, self.root)


def check_name(name: str) -> str:
    """The name, if it may be a bot's. Raises BadSubmission."""
    if NAME.fullmatch(name):
        return name
    allowed = "1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit (see --name)"
    raise BadSubmission(f"{short(name)} cannot be a bot's name: {allowed}")


def short(text: str) -> str:
    """Somebody's text, quoted and escaped, in a message; long ones are cut."""
    return ascii(text if len(text) <= 40 else text[:40] + "…")


def read(path: Path, *, name: str | None = None, plays: Sequence[str] = ()) -> Program:
    """The program at a path. `name` and `plays` go before what the manifest says. Raises BadSubmission."""
    if path.is_dir():
        return _folder(path.resolve(), name, plays)
    if path.is_file():
        return _single_file(path, name, plays)
    if path.exists():
        raise BadSubmission(f"{short(str(path))} is neither a file nor a folder")
    raise BadSubmission(f"no such file or folder: {short(str(path))}")


def _folder(root: Path, name: str | None, plays: Sequence[str]) -> Program:
    toml = root / "bot.toml"
    if not toml.is_file():
        raise BadSubmission(f'{str(root)!r} has no bot.toml; it needs at least: run = ["python", "bot.py"]')
    manifest = _manifest(toml)
    if not manifest.run or not all(manifest.run):
        raise BadSubmission(f'{str(toml)!r}: run must be a command, as a list: ["python", "bot.py"]')
    if name is None:
        name = manifest.name if manifest.name is not None else root.name.lower()
    return _program(name, plays or manifest.games or (), tuple(manifest.run), root, _files(root), manifest.about)


def _manifest(toml: Path) -> Manifest:
    if toml.stat().st_size > MAX_MANIFEST:
        raise BadSubmission(f"{str(toml)!r} is longer than {MAX_MANIFEST // 1024} KiB")
    try:
        return msgspec.toml.decode(toml.read_bytes(), type=Manifest)
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        allowed = ", ".join(field.name for field in msgspec.structs.fields(Manifest))
        raise BadSubmission(f"{str(toml)!r}: {error}; keys are {allowed}") from error


def _single_file(path: Path, name: str | None, plays: Sequence[str]) -> Program:
    if path.suffix == ".py":
        run: tuple[str, ...] = ("python", path.name)
    elif os.access(path, os.X_OK):
        run = (f"./{path.name}",)
    else:
        allowed = "a .py file, an executable file (chmod +x) or a folder with bot.toml"
        raise BadSubmission(f"{short(str(path))} cannot be run: a bot is {allowed}")
    if path.stat().st_size > MAX_BYTES:
        raise BadSubmission(f"{short(str(path))} is too large: {MAX_BYTES // 2**20} MiB are allowed")
    stem = path.name.partition(".")[0].lower()
    return _program(stem if name is None else name, plays, run, path.parent.resolve(), (Path(path.name),))


def _program(
    name: str, plays: Sequence[str], run: tuple[str, ...], root: Path, files: tuple[Path, ...], about: str = ""
) -> Program:
    try:
        known = tuple(sorted({games.game(game).name for game in plays or games.names()}))
    except games.UnknownGame as error:
        raise BadSubmission(str(error)) from error
    return Program(check_name(name), known, run, root, files, digest(run, known, root, files), about)


def _files(root: Path) -> tuple[Path, ...]:
    """Every file of a folder, sorted. Raises BadSubmission for too many, and for what is no file."""
    found: list[Path] = []
    size = 0
    for path in _walk(root):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise BadSubmission(f"{str(path)!r} is a link, socket or the like: a bot is made of ordinary files")
        found.append(path.relative_to(root))
        size += status.st_size
        if len(found) > MAX_FILES or size > MAX_BYTES:
            raise BadSubmission(
                f"{str(root)!r} is too large: {MAX_FILES} files and {MAX_BYTES // 2**20} MiB are allowed"
            )
    return tuple(sorted(found))


def _walk(root: Path) -> Iterator[Path]:
    """All in a folder that is no folder itself."""

    def unreadable(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, onerror=unreadable):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        yield from (Path(folder, name) for name in names)
        yield from (path for name in folders if (path := Path(folder, name)).is_symlink())


def digest(run: Sequence[str], plays: Sequence[str], root: Path, files: Sequence[Path]) -> str:
    """SHA-256 over the command, the games, and every file's path, whether it may be executed, and its content."""
    total = sha256("".join(f"{word}\0" for word in (*run, "", *plays)).encode("utf-8", "surrogateescape"))
    for file in files:
        content = (root / file).read_bytes()
        executable = os.access(root / file, os.X_OK)
        total.update(f"{file.as_posix()}\0{int(executable)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


def store(program: Program, bots: Path) -> Program:
    """Keep a copy of a program under its digest; gives the copy. Raises BadSubmission."""
    stored = replace(program, root=bots / program.digest)
    if not stored.root.exists():
        bots.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=bots) as scratch:
            copy = copied(program, Path(scratch, "bot"))
            try:
                copy.root.rename(stored.root)
            except OSError:
                if not stored.root.exists():  # another process was faster
                    raise
    return stored


def copied(program: Program, root: Path) -> Program:
    """A read-only copy of a program in a new folder. Raises BadSubmission if it changes meanwhile."""
    for file in program.files:
        _copy(program.root / file, root / file)
    if digest(program.run, program.games, root, program.files) != program.digest:
        raise BadSubmission(f"{str(program.root)!r} changed while it was read; try again")
    return replace(program, root=root)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o555 if os.access(source, os.X_OK) else 0o444)


def entrant(label: str, digest: str, run: Sequence[str], root: Path) -> Entrant:
    """A program as a worker starts it: `python` is the arena's interpreter, with the SDK and the games."""
    from arena.seated import Entrant  # here, because gRPC comes with it and most commands start nothing

    head = sys.executable if run[0] in {"python", "python3"} else run[0]
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ.get("PATH", "/usr/bin:/bin")])
    return Entrant(label, digest, (head, *run[1:]), str(root), {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})


class _BuiltIn(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the built-in bots' table."""

    about: str
    games: list[str]
    slow: bool = False
    """Thinks for more than 2 ms a decision: a ladder of all bots is to be quick."""


@cache
def built_ins() -> dict[str, Program]:
    """The bots that come with the arena, by name; they share one folder."""
    root = _built_in_folder()
    table = msgspec.toml.decode((root / "bots.toml").read_bytes(), type=dict[str, _BuiltIn])
    files = _files(root)
    return {
        name: replace(_program(name, bot.games, ("python", "bot.py", name), root, files, bot.about), slow=bot.slow)
        for name, bot in table.items()
    }


def _built_in_folder() -> Path:
    """Beside the packages in a checkout, inside `arena` when installed."""
    here = Path(__file__).parent
    installed = here / "_builtin"
    return installed if installed.exists() else here.parent / "bots" / "python" / "builtin"


def about(root: Path) -> str:
    """What the manifest of a stored program says it does; empty if it has none."""
    toml = root / "bot.toml"
    return _manifest(toml).about if toml.is_file() else ""
