"""The table below is the architecture: which room may import which others. Imports point down."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.clone import ROOT, own

MAY_IMPORT = {
    # a room: which others it may import; each stands below all that it imports
    "ladder": set[str](),
    "arena.v1": set(),
    "arena.base": set(),
    "arena.games": {"arena.base", "arena.v1"},
    "arena.core": {"arena.base", "arena.games"},
    "arena_bot": {"arena.games", "arena.v1"},
    "builtin": {"arena_bot", "arena.games"},
    "arena.sandbox": {"arena.base"},
    "arena.referee": {"arena.sandbox", "arena.core", "arena.games", "arena.v1"},
    "arena.worker": {
        "arena.base",
        "arena.referee",
        "arena.sandbox",
        "arena.games",
        "arena.v1",
    },
    "arena.submission": {"arena.worker", "arena.sandbox", "arena_bot", "arena.games", "arena.base"},
    "arena.replay": {"arena.worker", "arena.referee", "arena.games", "arena.base", "ladder"},
    "arena.check": {
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena.games",
        "arena.v1",
        "ladder",
    },
    "arena.roster": {
        "arena.check",
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena.games",
        "arena.base",
        "ladder",
    },
    "arena.tournament": {
        "arena.roster",
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena.games",
        "arena.base",
        "ladder",
    },
    "arena.cluster": {
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena.core",
        "arena.games",
        "arena.base",
    },
    "arena.rl": {
        "arena.roster",
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena_bot",
        "arena.core",
        "arena.games",
        "arena.base",
        "arena.v1",
        "ladder",
    },
    "arena.reports": {
        "arena.tournament",
        "arena.cluster",
        "arena.roster",
        "arena.check",
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena.core",
        "arena.games",
        "arena.base",
        "ladder",
    },
    "arena.terminal": {
        "arena.reports",
        "arena.tournament",
        "arena.cluster",
        "arena.roster",
        "arena.check",
        "arena.replay",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena.core",
        "arena.games",
        "arena.base",
        "ladder",
    },
    "arena.people": {
        "arena.terminal",
        "arena.reports",
        "arena.replay",
        "arena.worker",
        "arena.sandbox",
        "arena_bot",
        "arena.games",
        "arena.v1",
    },
    "arena.site": {"arena.base", "arena.reports", "arena.replay", "arena.games", "ladder"},
    "arena.bench": {
        "arena.terminal",
        "arena.reports",
        "arena.tournament",
        "arena.cluster",
        "arena.roster",
        "arena.submission",
        "arena.worker",
        "arena.referee",
        "arena.sandbox",
        "arena_bot",
        "arena.core",
        "arena.games",
        "arena.v1",
        "ladder",
    },
    "arena.cli": {
        "arena.site",
        "arena.people",
        "arena.terminal",
        "arena.reports",
        "arena.tournament",
        "arena.roster",
        "arena.check",
        "arena.replay",
        "arena.submission",
        "ladder",
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
    """The room that a module belongs to; None if it is in none."""
    entries = [entry for entry in MAY_IMPORT if name == entry or name.startswith(f"{entry}.")]
    return max(entries, key=len, default=None)


def imported(path: Path) -> Iterator[str]:
    """The modules of the project that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
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


def test_no_two_modules_need_each_other() -> None:
    """Also within a room: whoever reads a module need not have read what is above it."""
    files = dict(modules())
    graph = {name: {_module(other, files) for other in imported(path)} - {name, None} for name, path in files.items()}
    assert set(TopologicalSorter(graph).static_order()) == files.keys()


def test_the_referee_knows_the_core_in_one_module() -> None:
    """Whether a match is played by the core or at its table is decided there; all else sees `Questions` and a loan."""
    importers = {
        name
        for name, path in modules()
        if name.startswith("arena.referee.") and any(other.startswith("arena.core.") for other in imported(path))
    }
    assert importers == {"arena.referee.loans"}


def _module(name: str, files: Mapping[str, Path]) -> str | None:
    """The module that an imported name is, or is in."""
    while name and name not in files:
        name = name.rpartition(".")[0]
    return name or None


def test_top_level_folders_are_the_documented_ones() -> None:
    """What is not listed here has no place to live; the bots that users make beside it have."""
    allowed = {"proto", "arena", "ladder", "bots", "tests", "scripts", "docs"}
    folders = {path.name for path in own(ROOT.iterdir()) if path.is_dir() and not path.name.startswith(".")}
    assert folders - {"dist"} <= allowed


def test_what_a_user_keeps_in_a_clone_is_not_part_of_it(tmp_path: Path) -> None:
    """README has them make a bot there; where nothing is tracked, as in an unpacked archive, everything counts."""
    mine, theirs = tmp_path / "mybot", tmp_path / "arena"
    for folder in (mine, theirs):
        folder.mkdir()
        (folder / "README.md").touch()
    assert own([mine, theirs], root=tmp_path) == [mine, theirs]
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "arena"], check=True)
    assert own([mine, theirs, mine / "README.md", theirs / "README.md"], root=tmp_path) == [
        theirs,
        theirs / "README.md",
    ]
