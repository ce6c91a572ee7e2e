"""Folders for temporary files may have any path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import arena
from tests.quick import quick_first

NAMES = [
    'it\'s "quoted"',
    "two\nlines",
    "/".join(["x" * 200] * 5),
    "a b:c,d=e 100%41 what? #1 ümläut *[a] $HOME",
    "\udcff",
    "-rf",
]


@pytest.mark.parametrize("name", quick_first(NAMES, 3), ids=lambda name: ascii(name)[:12])
@pytest.mark.parametrize(
    "words", [["match", "random", "greedy", "--game", "birth"], ["submit", "mine"]], ids=lambda words: words[0]
)
def test_temporary_files_may_lie_anywhere(
    words: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot used to be unable to start where gRPC, a shell or SQLite reads something else in the path than a path."""
    folder = tmp_path / "temporary" / name
    folder.mkdir(parents=True)
    for each in (folder, *folder.parents[: 1 + name.count("/")]):
        each.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(folder))
    if words[0] == "submit":
        assert arena("new", "mine", cwd=tmp_path).code == 0
    ran = arena(*words, cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert list(folder.iterdir()) == []
