"""A program on disk: its manifest and files, its digest, how it is started, and where it is stored."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePath

from arena import games
from arena.base.suggest import short
from arena.submission.copying import MAX_BYTES, CopyBudget, too_large
from arena.submission.machine_code import built_for
from arena.submission.manifest import (
    DEFAULT_NEEDS,
    BadSubmission,
    Manifest,
    Needs,
    Protocol,
    check_name,
    load,
    name_from,
)
from arena.submission.names import spelled
from arena.submission.outside import LEFT_OUT, is_of_a_system
from arena.worker.jobs import Entrant
from arena_bot import packages
from arena_bot.requirements import wanted

OF_THE_SDK = {"arena", "arena_bot", "google", "grpc"}
"""Modules that a bot imports with the SDK; its own file of such a name would hide them."""


@dataclass(frozen=True)
class Program:
    """A checked bot on disk: `files` are its paths inside `root`, sorted. If it has a `build`, that has yet to run."""

    name: str
    games: tuple[str, ...]
    run: tuple[str, ...]
    root: Path
    files: tuple[Path, ...]
    digest: str
    about: str = ""
    language: str = ""
    build: tuple[tuple[str, ...], ...] = ()
    needs: Needs = DEFAULT_NEEDS
    protocol: Protocol = "grpc"
    built: str | None = None
    """Digest of what its build made; None before the build, or without one."""
    says_games: bool = True
    """Whether anybody said which games the bot plays; if not, it plays every game."""
    packed: bool = False
    """Whether the bot came as an archive, as strangers' programs do."""
    mended: tuple[str, ...] = ()
    """Its files that were handed in with the line ends or the encoding of another system."""
    passed_over: tuple[str, ...] = ()
    """Lines of its requirements that name the SDK, or what the SDK uses."""
    slow: tuple[str, ...] = ()
    """Games whose ladders it enters only if it is named."""

    @property
    def kept_as(self) -> str:
        """Name of the folder that it is stored in: the digest of what runs."""
        return self.built or self.digest

    def entrant(self) -> Entrant:
        """Return the program as a worker starts it, in its folder.

        One that speaks in lines is started by its bridge.
        """
        run = (*(_BRIDGE if self.protocol == "stdio" else ()), *command(self.run))
        variables = environment()
        if (self.root / packages.FOLDER).is_dir():
            variables["PYTHONPATH"] = packages.FOLDER
        return Entrant(self.name, self.digest, run, str(self.root), variables, self.needs.memory_mib, self.needs.tasks)

    @property
    def is_python(self) -> bool:
        """Whether the arena's own interpreter runs it."""
        return self.run[0] in _PYTHON

    def hints(self) -> list[str]:
        """Return hints about probable mistakes of its author."""
        if not self.is_python:
            return []
        script = next((PurePath(word).parent for word in self.run[1:] if word.endswith(".py")), PurePath())
        by_name = {file.relative_to(script).parts[0]: file for file in self.files if _is_imported(file, script)}
        hiding = [(name, name.partition(".")[0]) for name in sorted(by_name) if _hides(name.partition(".")[0])]
        hints = [
            f"{script / name} hides {'the SDK' if module in OF_THE_SDK else 'Python'}'s own module {module},"
            " which may be imported: rename it"
            for name, module in hiding
        ]
        if self.passed_over:
            lines = ", ".join(self.passed_over)
            hints.append(f"passed over in its requirements: {lines}; the SDK, protobuf and grpcio are there anyway")
        return hints


_PYTHON = {"python", "python3"}
"""First words of a command that stand for the arena's own interpreter."""
_BRIDGE = (sys.executable, "-P", "-m", "arena_bot.plain")
"""Start of the command of a program that speaks in lines; -P keeps it from importing what is in the bot's folder."""


def _is_imported(file: PurePath, script: PurePath) -> bool:
    """Tell whether Python finds a file beside the script, or in a package there, before any other of its name."""
    if not file.is_relative_to(script):
        return False
    inside = file.relative_to(script)
    module = inside.suffix in {".py", ".so"} and len(inside.parts) == 1
    return module or (inside.name == "__init__.py" and len(inside.parts) == 2)


def _hides(module: str) -> bool:
    return module in sys.stdlib_module_names | OF_THE_SDK and module != "__main__"


def read_program(path: Path, *, name: str | None = None, plays: Sequence[str] = ()) -> Program:
    """Read the program at a path, without copying it. `name` and `plays` override the manifest.

    An archive must be unpacked first, by `take`. Raises BadSubmission.
    """
    if path.is_dir():
        return read_folder(path.resolve(), name, plays, str(path), spelled(path).name)
    if path.is_file():
        return _single_file(path, name, plays)
    raise missing_tools_of(path)


def missing_tools_of(path: Path) -> BadSubmission:
    """Return the error for a path without a file or folder."""
    if path.exists():
        return BadSubmission(f"{short(str(path))} is neither a file nor a folder")
    return BadSubmission(f"no such file or folder: {short(str(path))}")


def read_folder(root: Path, name: str | None, plays: Sequence[str], label: str, called: str) -> Program:
    """Read the program in a folder, which messages call `label`.

    A program without a name in its manifest is named after `called`, what people call the folder.
    """
    manifest = _manifest(root, label)
    if not manifest.build:
        _check_machine(root / manifest.run[0], f"{label}/{manifest.run[0].removeprefix('./')}")
    if name is None:
        name = manifest.name if manifest.name is not None else name_from(called)
    return program(name, plays or manifest.games or (), tuple(manifest.run), root, files_in(root, label), manifest)


def _manifest(root: Path, label: str) -> Manifest:
    """Return the manifest of a folder or, if that has none but says what to run, what it would say."""
    toml = root / "bot.toml"
    if toml.is_file() and not toml.is_symlink():
        return load(toml, f"{label}/bot.toml")
    names = sorted(path.name for path in root.iterdir() if path.is_file() and not is_of_a_system(path.name))
    if misnamed := [name for name in names if name.lower() in {"bot.toml", "bot.toml.txt"}]:
        raise BadSubmission(f"{label!r} has no bot.toml, but {misnamed[0]}: rename it")
    scripts = [name for name in names if name.endswith(".py")]
    script = "bot.py" if "bot.py" in scripts else scripts[0] if len(scripts) == 1 else None
    if script is None or _deeper(root):
        raise _no_manifest(root, label, scripts)
    return Manifest(run=["python", script])


def _deeper(root: Path) -> list[str]:
    manifests = [*root.glob("*/bot.toml"), *root.glob("*/*/bot.toml")]
    return sorted(path.parent.relative_to(root).as_posix() for path in manifests)


def _no_manifest(root: Path, label: str, scripts: Sequence[str]) -> BadSubmission:
    """Return the error for a folder without a manifest: what to write, or where there is a bot a folder deeper."""
    if deeper := _deeper(root):
        where = " and in ".join(repr(f"{label}/{name}") for name in deeper[:3])
        return BadSubmission(f"{label!r} has no bot.toml, but there is one in {where}: hand in that folder")
    if not any(root.iterdir()):
        return BadSubmission(f'{label!r} is empty; a bot is a program and a bot.toml: run = ["python", "bot.py"]')
    script = "main.py" if "main.py" in scripts else scripts[0] if scripts else "bot.py"
    line = f'it needs at least: run = ["python", {json.dumps(script, ensure_ascii=False)}]'
    bots = sum(1 for folder in root.iterdir() if folder.is_dir() and any(folder.glob("*.py")))
    if not scripts and bots > 1 and Path(label).is_dir():  # no archive
        line += f"; if each folder in it is a bot, hand in {shlex.quote(label)}/*"
    return BadSubmission(f"{label!r} has no bot.toml; {line}")


def _check_machine(program: Path, label: str) -> None:
    """Raise BadSubmission for a program that was built for another machine; one without a file here passes."""
    if program.is_file() and (mismatch := built_for(program)):
        raise BadSubmission(f"{label!r} was {mismatch}: build it for this one")


def _single_file(path: Path, name: str | None, plays: Sequence[str]) -> Program:
    if path.suffix == ".py":
        run: tuple[str, ...] = ("python", path.name)
    elif os.access(path, os.X_OK):
        _check_machine(path, str(path))
        run = (f"./{path.name}",)
    else:
        raise _no_program(path)
    if path.stat().st_size > MAX_BYTES:
        raise too_large(str(path))
    name = name_from(path.stem) if name is None else name
    return program(name, plays, run, path.parent.resolve(), (Path(path.name),))


def _no_program(path: Path) -> BadSubmission:
    """Return the error for a file that is no kind of bot."""
    from arena.submission.archive import READERS  # imported here, because it imports five libraries

    archives = ", ".join(READERS)
    allowed = f"a .py file, an executable file (chmod +x), or a folder with bot.toml, also as an archive ({archives})"
    return BadSubmission(f"{short(str(path))} cannot be run: a bot is {allowed}")


def program(
    name: str,
    plays: Sequence[str],
    run: tuple[str, ...],
    root: Path,
    files: tuple[Path, ...],
    manifest: Manifest | None = None,
    *,
    about: str = "",
) -> Program:
    """Return a program of these parts, after checking its name and games. Raises BadSubmission."""
    try:
        game_names = tuple(sorted({games.game(game).name for game in plays or games.names()}))
    except games.UnknownGame as error:
        where = "bot.toml: " if manifest is not None and plays is manifest.games else ""
        raise BadSubmission(f"{where}{error}") from error
    total = program_digest(run, game_names, root, files)
    bot = Program(check_name(name), game_names, run, root, files, total, about, says_games=bool(plays))
    return bot if manifest is None else _as_asked(bot, manifest)


def _as_asked(bot: Program, manifest: Manifest) -> Program:
    bot = replace(bot, about=manifest.about, language=manifest.language, needs=manifest.limits)
    bot = replace(bot, build=tuple(map(tuple, manifest.build)), protocol=manifest.protocol)
    return bot if bot.build or not bot.is_python else _with_packages(bot)


def _with_packages(bot: Program) -> Program:
    """Return a bot in Python with the build that installs the packages it names, if it names any."""
    try:
        lines, passed_over = wanted(bot.root)
    except ValueError as error:
        raise BadSubmission(f"the packages of {bot.name} cannot be read: {error}") from error
    build = (("python", "-P", "-m", "arena_bot.packages"),) if lines else ()
    return replace(bot, build=build, passed_over=tuple(passed_over))


def playing(bot: Program, plays: Sequence[str]) -> Program:
    """Return the program as one that says it plays these games."""
    return replace(bot, games=tuple(plays), digest=program_digest(bot.run, plays, bot.root, bot.files), says_games=True)


# Files


def files_in(root: Path, label: str, without: Set[str] = LEFT_OUT) -> tuple[Path, ...]:
    """Return every file of a folder, sorted; messages call the folder `label`.

    Raises BadSubmission for anything that is not an ordinary file.
    """
    budget = CopyBudget(label)
    paths: list[Path] = []
    for path in walk(root, without):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            inside = f"{label}/{path.relative_to(root)}"
            raise BadSubmission(f"{inside!r} is a link, socket or the like: a bot is made of ordinary files")
        budget.spend(files=1, size=status.st_size)
        paths.append(path.relative_to(root))
    return tuple(sorted(paths))


def is_executable(path: Path) -> bool:
    """Tell whether the owner, the group or others may execute a file."""
    return bool(path.stat().st_mode & 0o111)


def walk(root: Path, without: Set[str] = LEFT_OUT) -> Iterator[Path]:
    """Yield everything in a folder that is not a folder itself.

    Folders named in `without` are skipped and, if it names any, what a system made for itself.
    """

    def unreadable(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, onerror=unreadable):
        if without:
            folders[:] = [name for name in folders if not (name in without or is_of_a_system(name))]
            names[:] = [name for name in names if not is_of_a_system(name)]
        yield from (Path(folder, name) for name in names)
        yield from (path for name in folders if (path := Path(folder, name)).is_symlink())


def program_digest(run: Sequence[str], plays: Sequence[str], root: Path, files: Sequence[Path]) -> str:
    """Return the SHA-256 over the command, the games, and each file's path, executable bit and content."""
    total = sha256("".join(f"{word}\0" for word in (*run, "", *plays)).encode("utf-8", "surrogateescape"))
    for file in files:
        content = (root / file).read_bytes()
        executable = is_executable(root / file)
        total.update(f"{file.as_posix()}\0{int(executable)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


# Starting


def command(run: Sequence[str]) -> tuple[str, ...]:
    """Return the command that is executed for a manifest's command."""
    return (sys.executable if run[0] in _PYTHON else run[0], *run[1:])


def environment() -> dict[str, str]:
    """Return the environment of every program of a bot: the folder of the arena's interpreter is first in PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "/usr/bin:/bin")])
    return {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
