"""Which home a command works in, and whose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.base import homes
from tests.cli.commands import everything_in, typed


@pytest.fixture
def below(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the test: a folder two levels below that of the home."""
    folder = home.parent / "bots" / "mine"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_the_nearest_home_above_is_found(below: Path) -> None:
    """As git finds `.git`, so that nobody begins a second home by standing in another folder; the nearer one counts."""
    assert "ann@1" in typed("bots").out
    (below.parent / ".arena").mkdir()
    assert "ann@1" not in typed("bots").out


def test_what_is_written_above_is_said_and_nothing_is_made_here(below: Path, home: Path) -> None:
    """Who is surprised sees where it went. Who named the home is told nothing; nor who only reads, or is refused."""
    assert typed("retire", "ann").err == f"using the home '{home}'\n"
    assert typed("bots").err == typed("retire", "ann", "--undo", "--home", home).err == ""
    assert len(typed("retire", "nobody").err.splitlines()) == 1
    assert everything_in(below) == {}


def test_without_one_above_it_is_made_here(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without a word: that is what everybody expects."""
    (cwd / "deeper").mkdir()
    monkeypatch.chdir(cwd / "deeper")
    assert typed("retire", "random").err == ""
    assert [path.name for path in (*cwd.iterdir(), *Path().iterdir())] == ["deeper", ".arena"]


def test_a_strangers_home_is_used_only_by_name(home: Path, below: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others may write, one could lie in wait with programs in it; one line says how to go on."""
    stranger = home.stat().st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    for words in (["bots"], ["retire", "ann"], ["ladder", "--game", "birth"]):
        ran = typed(*words)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
        assert f"'{home}' belongs to another user" in ran.err
        assert f"--home {home} or ARENA_HOME" in ran.err
        assert "--home .arena for one of your own" in ran.err
    assert "ann@1" in typed("bots", "--home", home).out
    monkeypatch.setenv("ARENA_HOME", str(home))
    assert "ann@1" in typed("bots").out
    monkeypatch.delenv("ARENA_HOME")
    monkeypatch.chdir(home.parent)
    assert "'.arena' belongs to another user" in typed("bots").err
    assert typed("bots", "--help").code == 0
    assert everything_in(below) == {}


def test_the_owner_of_a_link_counts_too(tmp_path: Path) -> None:
    """Whoever made the link decided where it leads, here to a folder of the machine."""
    (tmp_path / ".arena").symlink_to("/proc")
    homes.check_owner(tmp_path / ".arena", {Path("/proc").stat().st_uid, os.geteuid()})
    homes.check_owner(tmp_path / "missing", set())
    with pytest.raises(homes.ForeignHome, match="belongs to another user"):
        homes.check_owner(tmp_path / ".arena", {os.geteuid() + 1})


def test_root_under_sudo_uses_the_callers_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever calls sudo decides what it does anyway; for root as such, and in a container, others are strangers."""
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert homes.trusted() == {0, 1234}
    monkeypatch.delenv("SUDO_UID")
    assert homes.trusted() == {0}
    monkeypatch.setattr(os, "geteuid", lambda: 7)
    monkeypatch.setenv("SUDO_UID", "1234")
    assert homes.trusted() == {7}


@pytest.mark.parametrize(
    "words",
    [
        ["retire", "nobody"],
        ["show", "nobody"],
        ["show", "ann@9"],
        ["ladder", "--game", "birth", "--bots", "ann,nobody"],
        ["ladder", "--game", "birth", "--bots", "ann@1,bob@1", "--rounds", "2", "--forgive", "nobody"],
        ["match", "nobody", "random", "--game", "birth"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("below")
def test_who_is_unknown_is_unknown_in_a_home(words: list[str], home: Path) -> None:
    """Most often the name is right and the folder is wrong."""
    ran = typed(*words)
    assert (ran.code, f"in '{home}'" in ran.err) == (1, True)
