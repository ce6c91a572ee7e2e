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
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from arena import games
from arena.seated import Entrant

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_IGNORED = {"__pycache__", ".git", ".venv", "node_modules", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
MAX_FILES = 2000
MAX_BYTES = 64 * 1024 * 1024


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

    def entrant(self, label: str | None = None) -> Entrant:
        """The program as a worker starts it, where it lies."""
        return entrant(label or self.name, self.digest, self.run, self.root)


def check_name(name: str) -> str:
    """The name, if it may be a bot's. Raises BadSubmission."""
    if NAME.fullmatch(name):
        return name
    raise BadSubmission(
        f"{short(name)} cannot be a bot's name: 1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit (see --name)"
    )


def short(text: str) -> str:
    """Somebody's text, quoted and escaped, in a message; long ones are cut."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def read(path: Path, *, name: str | None = None, plays: Sequence[str] = ()) -> Program:
    """The program at a path. `name` and `plays` go before what the manifest says. Raises BadSubmission."""
    if not path.exists():
        raise BadSubmission(f"no such file or folder: {str(path)!r}")
    if path.is_dir():
        return _folder(path.resolve(), name, plays)
    if not path.is_file():
        raise BadSubmission(f"{str(path)!r} is neither a file nor a folder")
    return _single_file(path.resolve(), name, plays)


def _folder(root: Path, name: str | None, plays: Sequence[str]) -> Program:
    toml = root / "bot.toml"
    if not toml.is_file():
        raise BadSubmission(f'{str(root)!r} has no bot.toml; it needs at least: run = ["python", "bot.py"]')
    manifest = _manifest(toml)
    if not manifest.run or not all(manifest.run):
        raise BadSubmission(f'{str(toml)!r}: run must be a command, as a list: ["python", "bot.py"]')
    name = check_name(name or manifest.name or root.name)
    files = _files(root)
    run = tuple(manifest.run)
    return Program(name, _games(plays or manifest.games), run, root, files, digest(run, root, files), manifest.about)


def _manifest(toml: Path) -> Manifest:
    try:
        return msgspec.toml.decode(toml.read_bytes(), type=Manifest)
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        allowed = ", ".join(field.name for field in msgspec.structs.fields(Manifest))
        raise BadSubmission(f"{str(toml)!r}: {_one_line(error)}; keys are {allowed}") from error


def _single_file(path: Path, name: str | None, plays: Sequence[str]) -> Program:
    if path.suffix == ".py":
        run: tuple[str, ...] = ("python", path.name)
    elif os.access(path, os.X_OK):
        run = (f"./{path.name}",)
    else:
        raise BadSubmission(
            f"{str(path)!r} cannot be run: a bot is a .py file, an executable file (chmod +x) or a folder with bot.toml"
        )
    files = (Path(path.name),)
    stem = path.name.partition(".")[0].lower()
    return Program(check_name(name or stem), _games(plays), run, path.parent, files, digest(run, path.parent, files))


def _games(plays: Sequence[str] | None) -> tuple[str, ...]:
    try:
        return tuple(sorted({games.game(name).name for name in plays})) if plays else games.names()
    except games.UnknownGame as error:
        raise BadSubmission(str(error)) from error


def _files(root: Path) -> tuple[Path, ...]:
    """Every file of a folder, sorted; links, caches and anything that is no file are refused or left out."""
    found: list[Path] = []
    size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _IGNORED]
        for path in (Path(folder, name) for name in names):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise BadSubmission(f"{str(path)!r} is no ordinary file; a bot has only those")
            found.append(path.relative_to(root))
            size += status.st_size
    if len(found) > MAX_FILES or size > MAX_BYTES:
        limits = f"{MAX_FILES} files and {MAX_BYTES // 2**20} MiB are allowed"
        raise BadSubmission(f"{str(root)!r} is too large: {len(found)} files, {size / 2**20:.0f} MiB; {limits}")
    return tuple(sorted(found))


def digest(run: Sequence[str], root: Path, files: Sequence[Path]) -> str:
    """SHA-256 over the command and every file's path, whether it may be executed, and its content."""
    total = sha256("".join(f"{word}\0" for word in run).encode("utf-8", "surrogateescape"))
    for file in files:
        content = (root / file).read_bytes()
        executable = os.access(root / file, os.X_OK)
        total.update(f"{file.as_posix()}\0{int(executable)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


def store(program: Program, bots: Path) -> Path:
    """Copy a program under its digest, read-only; gives the folder."""
    target = bots / program.digest
    if target.exists():
        return target
    copy = bots / f".{program.digest}.{os.getpid()}"
    for file in program.files:
        to = copy / file
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(program.root / file, to)
        to.chmod(0o555 if os.access(program.root / file, os.X_OK) else 0o444)
    if digest(program.run, copy, program.files) != program.digest:
        shutil.rmtree(copy)
        raise BadSubmission(f"{str(program.root)!r} changed while it was read; try again")
    copy.rename(target)
    return target


def entrant(label: str, digest: str, run: Sequence[str], root: Path) -> Entrant:
    """A program as a worker starts it: `python` is the arena's interpreter, with the SDK and the games."""
    head = sys.executable if run[0] in {"python", "python3"} else run[0]
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ.get("PATH", "/usr/bin:/bin")])
    return Entrant(label, digest, (head, *run[1:]), str(root), {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


class _BuiltIn(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the built-in bots' table."""

    about: str
    games: list[str]


def built_ins() -> dict[str, Program]:
    """The bots that come with the arena, by name; they share one folder."""
    root = _built_in_folder()
    table = msgspec.toml.decode((root / "bots.toml").read_bytes(), type=dict[str, _BuiltIn])
    files = _files(root)
    runs = {name: ("python", "bot.py", name) for name in table}
    return {
        name: Program(name, tuple(bot.games), runs[name], root, files, digest(runs[name], root, files), bot.about)
        for name, bot in table.items()
    }


def _built_in_folder() -> Path:
    """Beside the packages in a checkout, inside `arena` when installed."""
    here = Path(__file__).parent
    installed = here / "_builtin"
    return installed if installed.exists() else here.parent / "bots" / "python" / "builtin"
