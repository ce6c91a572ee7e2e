"""The table below is the architecture: who may import whom. Imports point down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MAY_IMPORT = {
    # a module or package: what of the project it may import besides itself; each stands below all that it imports
    "arena.v1": set[str](),
    "arena.naming": set(),
    "arena.games": {"arena.naming", "arena.v1"},
    "arena.rl": {"arena.games"},
    "arena.match": {"arena.games"},
    "arena.clock": set(),
    "arena.scratch": set(),
    "arena.sandbox": {"arena.scratch"},
    "arena.usage": {"arena.clock"},
    "arena.launch": {"arena.usage", "arena.sandbox", "arena.clock"},
    "arena.selftest": {"arena.launch", "arena.sandbox", "arena.scratch"},
    "arena.starting": {"arena.launch"},
    "arena.wire": {"arena.clock", "arena.match", "arena.games", "arena.v1"},
    "arena.service": {"arena.wire", "arena.v1"},
    "arena.task": {"arena.clock", "arena.match", "arena.games"},
    "arena.lanes": {"arena.task"},
    "arena.submission": {
        "arena.task",
        "arena.launch",
        "arena.usage",
        "arena.sandbox",
        "arena.scratch",
        "arena.games",
        "arena.naming",
    },
    "arena.replay": {"arena.task", "arena.match", "arena.games"},
    "arena.questions": {"arena.replay", "arena.wire", "arena.clock", "arena.match", "arena.games"},
    "ladder": set(),
    "arena.roster": {"ladder", "arena.submission", "arena.task", "arena.sandbox", "arena.games", "arena.naming"},
    "arena.playback": {"ladder", "arena.replay", "arena.match", "arena.games"},
    "arena_bot": {"arena.games", "arena.v1"},
    "builtin": {"arena_bot", "arena.games"},
    "arena.progress": set(),
    "arena.stream": {"arena.table", "arena.wire", "arena.clock", "arena.match", "arena.v1"},
    "arena.table": {"arena.stream", "arena.wire", "arena.match", "arena.games", "arena.v1"},
    "arena.seated": {
        "arena.stream",
        "arena.task",
        "arena.service",
        "arena.launch",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.match",
        "arena.v1",
    },
    "arena.worker": {
        "arena.seated",
        "arena.table",
        "arena.stream",
        "arena.lanes",
        "arena.task",
        "arena.wire",
        "arena.launch",
        "arena.usage",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.match",
        "arena.games",
    },
    "arena.casual": {
        "arena.worker",
        "arena.progress",
        "arena.task",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.games",
    },
    "arena.check": {
        "arena.casual",
        "arena.worker",
        "arena.seated",
        "arena.stream",
        "arena.progress",
        "arena.questions",
        "arena.replay",
        "arena.submission",
        "arena.task",
        "arena.service",
        "arena.wire",
        "arena.launch",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.match",
        "arena.games",
        "arena.v1",
    },
    "arena.debug": {
        "arena.check",
        "ladder",
        "arena.questions",
        "arena.replay",
        "arena.task",
        "arena.wire",
        "arena.sandbox",
        "arena.clock",
        "arena.match",
        "arena.games",
        "arena.v1",
    },
    "arena.admission": {
        "arena.check",
        "arena.progress",
        "arena.roster",
        "ladder",
        "arena.submission",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
    },
    "arena.tournament": {
        "arena.worker",
        "arena.progress",
        "arena.roster",
        "ladder",
        "arena.replay",
        "arena.task",
        "arena.starting",
        "arena.launch",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.match",
        "arena.games",
    },
    "arena.verify": {
        "arena.tournament",
        "arena.progress",
        "arena.roster",
        "ladder",
        "arena.replay",
        "arena.submission",
        "arena.starting",
        "arena.games",
    },
    "arena.bench": {
        "arena.tournament",
        "arena.casual",
        "arena.worker",
        "arena.seated",
        "arena.progress",
        "arena_bot",
        "arena.roster",
        "ladder",
        "arena.submission",
        "arena.task",
        "arena.service",
        "arena.wire",
        "arena.starting",
        "arena.launch",
        "arena.scratch",
        "arena.clock",
        "arena.match",
        "arena.games",
        "arena.v1",
    },
    "arena.cli": {
        "arena.bench",
        "arena.verify",
        "arena.tournament",
        "arena.admission",
        "arena.debug",
        "arena.check",
        "arena.casual",
        "arena.playback",
        "arena.roster",
        "ladder",
        "arena.replay",
        "arena.submission",
        "arena.task",
        "arena.selftest",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.match",
        "arena.games",
        "arena.naming",
    },
}
FOLDERS = {"arena": ROOT, "ladder": ROOT, "arena_bot": ROOT / "bots/python", "builtin": ROOT / "bots/python"}


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the project and its file, generated stubs left out."""
    for package, folder in FOLDERS.items():
        for path in sorted((folder / package).rglob("*.py")):
            name = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
            if not name.startswith("arena.v1"):
                yield name, path


def owner(name: str) -> str | None:
    """The longest entry of the table that a module belongs to."""
    entries = [entry for entry in MAY_IMPORT if name == entry or name.startswith(f"{entry}.")]
    return max(entries, key=len, default=None)


def imported(path: Path) -> Iterator[str]:
    """The modules of the project that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if owner(inner) != owner(node.module) else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_imports_point_down(name: str, path: Path) -> None:
    """Rules, schedules and ratings stay free of processes and sockets, and `ladder` of the whole arena."""
    own = owner(name)
    if name == "arena":
        return
    assert own is not None, f"{name} is not in the table of {__file__}"
    for other in imported(path):
        target = owner(other)
        if other.partition(".")[0] in FOLDERS and target not in {own, None}:
            assert target in MAY_IMPORT[own], f"{name} may not import {other}"


def test_top_level_folders_are_the_documented_ones() -> None:
    """What is not listed here has no place to live."""
    allowed = {"proto", "arena", "ladder", "bots", "tests", "scripts", "docs"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert folders - {"dist"} <= allowed
