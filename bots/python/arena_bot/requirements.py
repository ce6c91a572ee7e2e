"""Reads what packages a bot in Python wants: as pip reads it, without what the SDK brings along and pip must not fetch.

`pip freeze` names whatever its author had installed, the arena among them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from arena_bot.text import decoded

SHARED = ("protobuf", "grpcio")
"""Packages that the SDK itself uses. Those of a bot come first, so they have to be of the same version."""
SDK = ("arena", "arena-bot")
"""Names of the SDK, which is there anyway: an index has other packages under these names."""
MOST = 256 * 1024
"""Bytes that all files of requirements together may have. They are read outside the sandbox, so no step here may take
longer than their length."""
DEEPEST = 10
"""Files of which each is named by the one before, at most."""
_FROZEN = "# Editable "
"""How a line begins that `pip freeze` writes above the folder of a package that the author works on."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_AT = re.compile(r"[\w.-]+\s*(?:\[[^\]]*\]\s*)?@")
"""Matches the beginning of `name @ address`."""
_OPTION = re.compile(r"(-[a-z]|--[a-z-]+)[\s=]*(.*)")


class Wanted(NamedTuple):
    """Lines for pip, and those that are passed over because the SDK and what it uses are there anyway."""

    lines: list[str]
    passed_over: list[str]


def wanted(folder: Path) -> Wanted:
    """Return what `requirements.txt` or, without one, `[project] dependencies` in `pyproject.toml` names.

    Raises ValueError for what cannot be read, and for a line that leads out of the folder.
    """
    requirements, project = folder / "requirements.txt", folder / "pyproject.toml"
    if requirements.is_file():
        lines = list(_lines(folder, requirements.name, {}))
    elif project.is_file():
        lines = [(line, None) for each in _dependencies(project) for line in each.splitlines()]
    else:
        lines = []
    found = Wanted([], [])
    for line, frozen in lines:
        own = _normal(frozen or _name(line)) in (*SDK, *SHARED)
        (found.passed_over if own else found.lines).append(line if own else _for_pip(folder, line))
    return found


def _dependencies(project: Path) -> list[str]:
    try:
        table = tomllib.loads(decoded(project.read_bytes())).get("project", {})
    except RecursionError:
        raise ValueError("pyproject.toml is nested too deeply") from None
    found = table.get("dependencies", []) if isinstance(table, dict) else None
    if not (isinstance(found, list) and all(isinstance(each, str) for each in found)):
        raise ValueError("[project] dependencies in pyproject.toml is no list of texts")
    return found


def _lines(folder: Path, name: str, met: dict[str, int], depth: int = 0) -> Iterator[tuple[str, str | None]]:
    """Yield the lines of a file and of those that it names, each with the name of a package that `pip freeze` notes.

    `met` gets the length of each file.
    """
    if name in met:
        return
    if depth > DEEPEST:
        raise ValueError(f"{name} is named by more than {DEEPEST} files, one by the other")
    text = _text(folder, name)
    met[name] = len(text)
    if sum(met.values()) > MOST:
        raise ValueError(f"files of requirements have more than {MOST // 1024} KiB")
    frozen = None
    for line, before in _logical(text):
        option = _OPTION.match(line)
        if option and option[1] in {"-r", "--requirement"}:
            inner = PurePosixPath(name).parent / option[2]
            yield from _lines(folder, str(inner), met, depth + 1)
        elif line:
            yield line, frozen
        frozen = _noted(before)


def _logical(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line without its comment, and as it was; one that ends with a backslash goes on in the next."""
    parts: list[str] = []
    for line in [*text.splitlines(), ""]:
        parts.append(line.removesuffix("\\").strip())
        if line.endswith("\\"):
            continue
        whole = " ".join(parts)
        parts.clear()
        comment = next((at for at, char in enumerate(whole) if char == "#" and whole[at - 1 : at].strip() == ""), None)
        yield whole[:comment].strip(), whole


def _noted(line: str) -> str | None:
    """Return the name of the package that a line of `pip freeze` says the next line is; None if it says nothing."""
    name = _NAME.match(line.rpartition("(")[2])
    return name[0] if line.startswith(_FROZEN) and name else None


def _text(folder: Path, name: str) -> str:
    path = folder / name
    if not _is_inside(name) or not path.is_file():
        raise ValueError(f"-r {name} names no file of the bot's folder")
    if path.stat().st_size > MOST:
        raise ValueError(f"{name} has more than {MOST // 1024} KiB")
    try:
        return decoded(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _is_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return not (pure.is_absolute() or ".." in pure.parts or "://" in path)


def _name(line: str) -> str:
    """Return the name of the package that a line wants; empty if it names none."""
    option = _OPTION.match(line)
    if option and option[1] not in {"-e", "--editable"}:
        return ""
    what = option[2] if option else line
    for said in what.partition("#")[2].split("&"):
        if egg := _NAME.match(said.removeprefix("egg=")) if said.startswith("egg=") else None:
            return egg[0]
    if "/" in what and not _AT.match(what):  # a path or an address: name-1.0-py3-none-any.whl
        last = re.split(r"[#?@;\s]", what.rstrip("/").rpartition("/")[2])[0]
        return re.sub(r"-\d.*|\.(git|whl|zip|tar\.\w+)$", "", last)
    return found[0] if (found := _NAME.match(what)) else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _for_pip(folder: Path, line: str) -> str:
    """Return a line as pip takes it in another folder, and without "editable", which cannot be kept."""
    option = _OPTION.match(line)
    if option and option[1] in {"-e", "--editable"}:
        line, option = option[2], None
    if option and option[1] in {"-c", "--constraint", "-f", "--find-links"} and _is_inside(option[2]):
        return f"{option[1]} {folder / option[2]}"
    what = line.partition("@")[2].strip() if _AT.match(line) else line
    if what.startswith(("file:", "/", "~", "..")):
        raise ValueError(f"{line!r} is on its author's machine: write NAME==VERSION, or put it into the bot's folder")
    return line
