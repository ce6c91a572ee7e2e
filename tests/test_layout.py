"""The table below is the architecture: who may import whom. Imports point down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MAY_IMPORT = {
    # a module or package: what of the project it may import besides itself
    "arena.v1": set[str](),
    "arena.naming": set(),
    "arena.games": {"arena.v1", "arena.naming"},
    "arena.rl": {"arena.games"},
    "arena.match": {"arena.games"},
    "arena.clock": set(),
    "arena.sandbox": {"arena.scratch"},
    "arena.scratch": set(),
    "arena.usage": {"arena.clock"},
    "arena.selftest": {"arena.launch", "arena.sandbox", "arena.scratch"},
    "arena.launch": {"arena.sandbox", "arena.clock", "arena.usage"},
    "arena.starting": {"arena.launch"},
    "arena.wire": {"arena.match", "arena.games", "arena.v1"},
    "arena.stream": {"arena.match", "arena.clock", "arena.table", "arena.wire", "arena.games", "arena.v1"},
    "arena.table": {"arena.match", "arena.stream", "arena.wire", "arena.games", "arena.v1"},
    "arena.service": {"arena.v1"},
    "arena.seated": {
        "arena.service",
        "arena.launch",
        "arena.stream",
        "arena.match",
        "arena.sandbox",
        "arena.scratch",
        "arena.clock",
        "arena.v1",
    },
    "arena.task": {"arena.seated", "arena.wire", "arena.match", "arena.clock", "arena.games", "arena.v1"},
    "arena.lanes": {"arena.task", "arena.seated"},
    "arena.worker": {
        "arena.lanes",
        "arena.task",
        "arena.usage",
        "arena.sandbox",
        "arena.scratch",
        "arena.seated",
        "arena.stream",
        "arena.table",
        "arena.wire",
        "arena.match",
        "arena.clock",
        "arena.launch",
        "arena.games",
        "arena.v1",
    },
    "arena.submission": {
        "arena.naming",
        "arena.sandbox",
        "arena.scratch",
        "arena.seated",
        "arena.launch",
        "arena.usage",
        "arena.games",
    },
    "arena.casual": {
        "arena.sandbox",
        "arena.scratch",
        "arena.worker",
        "arena.task",
        "arena.submission",
        "arena.seated",
        "arena.match",
        "arena.clock",
        "arena.games",
    },
    "arena.questions": {
        "arena.replay",
        "arena.task",
        "arena.seated",
        "arena.wire",
        "arena.match",
        "arena.clock",
        "arena.games",
    },
    "arena.check": {
        "arena.scratch",
        "arena.sandbox",
        "arena.casual",
        "arena.questions",
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.task",
        "arena.seated",
        "arena.service",
        "arena.launch",
        "arena.stream",
        "arena.wire",
        "arena.match",
        "arena.clock",
        "arena.games",
        "arena.v1",
    },
    "arena.debug": {
        "arena.sandbox",
        "arena.check",
        "arena.questions",
        "arena.replay",
        "arena.seated",
        "arena.wire",
        "arena.match",
        "arena.clock",
        "arena.games",
        "arena.v1",
        "ladder",
    },
    "arena.admission": {
        "arena.scratch",
        "arena.check",
        "arena.sandbox",
        "arena.roster",
        "arena.submission",
        "arena.clock",
        "ladder",
    },
    "arena.roster": {
        "arena.naming",
        "arena.sandbox",
        "arena.submission",
        "arena.seated",
        "arena.clock",
        "arena.games",
        "ladder",
    },
    "arena.replay": {"arena.task", "arena.match", "arena.games"},
    "arena.playback": {"arena.replay", "arena.match", "arena.games", "ladder"},
    "arena.verify": {
        "arena.tournament",
        "arena.roster",
        "arena.submission",
        "arena.replay",
        "arena.starting",
        "arena.match",
        "arena.games",
        "ladder",
    },
    "arena.tournament": {
        "arena.starting",
        "arena.sandbox",
        "arena.scratch",
        "arena.launch",
        "arena.roster",
        "arena.replay",
        "arena.worker",
        "arena.task",
        "arena.seated",
        "arena.match",
        "arena.clock",
        "arena.games",
        "ladder",
    },
    "arena.bench": {
        "arena.starting",
        "arena.scratch",
        "arena.casual",
        "arena.tournament",
        "arena.roster",
        "arena.submission",
        "arena.worker",
        "arena.task",
        "arena.wire",
        "arena.service",
        "arena.seated",
        "arena.launch",
        "arena.match",
        "arena.clock",
        "arena.games",
        "arena.v1",
        "arena_bot",
        "ladder",
    },
    "arena.cli": {
        "arena.naming",
        "arena.selftest",
        "arena.sandbox",
        "arena.scratch",
        "arena.bench",
        "arena.admission",
        "arena.check",
        "arena.debug",
        "arena.match",
        "arena.replay",
        "arena.playback",
        "arena.verify",
        "arena.tournament",
        "arena.casual",
        "arena.roster",
        "arena.seated",
        "arena.submission",
        "arena.task",
        "arena.clock",
        "arena.games",
        "ladder",
    },
    "ladder": set(),
    "arena_bot": {"arena.v1", "arena.games"},
    "builtin": {"arena_bot", "arena.games", "arena.v1"},
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
