"""A build that was just made is not made again, unless anything of it may have changed."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena import roster
from arena.sandbox import UNCONFINED, Grade, Sandbox
from arena.submission import Program, build_results
from arena.submission.build import BuildFailed, Building
from arena.submission.intake import take_in
from tests.cli.commands import arena
from tests.tournament import programs

BUILD = ["sh", "-c", "cat /proc/sys/kernel/random/uuid > made"]


def handed_in(folder: Path, *command: str) -> Path:
    source = folder / "mine"
    source.mkdir(exist_ok=True)
    (source / "bot.py").write_text(programs.FIRST)
    build = json.dumps([command or BUILD])
    (source / "bot.toml").write_text(f'run = ["python", "bot.py"]\nbuild = {build}\n')
    return source


def built(folder: Path, *, sandbox: Sandbox = UNCONFINED, cached: bool = False, plays: str = "birth") -> Program:
    """Take in what was handed in, and build it in the folder's home."""
    scratch = folder / f"scratch-{len(list(folder.glob('scratch-*')))}"
    scratch.mkdir()
    taken = take_in(folder / "mine", scratch, plays=[plays]).program
    return roster.built(folder / "home", taken, sandbox, Building(lambda _: None), cached=cached)


def test_what_was_built_is_used_again(tmp_path: Path) -> None:
    """For whatever games, and by whatever command; the content is the same."""
    handed_in(tmp_path)
    first, second, third = built(tmp_path), built(tmp_path, plays="buttons"), built(tmp_path, cached=True)
    assert first.built == second.built == third.built
    assert (second.root / "made").read_bytes() == (first.root / "made").read_bytes()
    assert second.digest != first.digest


def change_content(folder: Path) -> None:
    (folder / "mine/more.txt").touch()


def change_the_command(folder: Path) -> None:
    handed_in(folder, *BUILD, "x")


def change_a_permission(folder: Path) -> None:
    (folder / "mine/bot.py").chmod(0o755)


def spoil(folder: Path) -> None:
    (made,) = (folder / "home/built").glob("*/*/made")
    made.chmod(0o644)
    made.write_text("something else")


def rename(folder: Path) -> None:
    (root,) = (folder / "home/built").glob("*/*")
    root.rename(root.with_name("0" * 64))


def age(folder: Path) -> None:
    (result,) = (folder / "home/built").iterdir()
    old = result.stat().st_mtime - build_results.LONGEST - 1
    os.utime(result, (old, old))


def lose(folder: Path) -> None:
    shutil.rmtree(folder / "home/built")


@pytest.mark.parametrize("change", [change_content, change_the_command, change_a_permission, spoil, rename, age, lose])
def test_whatever_changed_is_built(change: Callable[[Path], None], tmp_path: Path) -> None:
    """What was handed in, what is kept, or the day on which its packages were fetched."""
    handed_in(tmp_path)
    first = built(tmp_path)
    change(tmp_path)
    second = built(tmp_path)
    assert first.built != second.built
    assert built(tmp_path).built == second.built


def test_other_tools_build_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that was installed or brought up to date, another sandbox, another way to the network."""
    handed_in(tmp_path)
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    digests = [built(tmp_path).built]
    (tmp_path / "tools/cc").touch()
    digests.append(built(tmp_path).built)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    digests.append(built(tmp_path).built)
    scratch = tmp_path / "s"
    scratch.mkdir()
    program = take_in(tmp_path / "mine", scratch).program
    assert build_results.key(program, UNCONFINED) != build_results.key(program, Sandbox(Grade.C))
    assert len(set(digests)) == 3


def test_what_failed_is_tried_again_and_little_is_kept(tmp_path: Path) -> None:
    """A network that was away comes back; and the disk does not fill."""
    handed_in(tmp_path, "sh", "-c", "exit 1")
    for _ in range(2):
        with pytest.raises(BuildFailed):
            built(tmp_path)
    for number in range(build_results.KEPT_RESULTS + 2):
        handed_in(tmp_path, *BUILD, str(number))
        built(tmp_path)
    assert len(list((tmp_path / "home/built").glob("[!.]*"))) == build_results.KEPT_RESULTS + 2, "all are in use"
    for kept in (tmp_path / "home/built").glob("[!.]*"):
        os.utime(kept, (time.time() - build_results.IN_USE - 1, kept.stat().st_mtime))
    handed_in(tmp_path, *BUILD, "another")
    built(tmp_path)
    assert len(list((tmp_path / "home/built").glob("[!.]*"))) == build_results.KEPT_RESULTS


def test_what_an_older_build_left_in_its_home_is_nobody_elses(tmp_path: Path) -> None:
    """Only what was built from nothing but the files is kept for other commands."""
    handed_in(tmp_path)
    assert built(tmp_path, cached=True).built != built(tmp_path, cached=True).built


@pytest.mark.long
def test_check_and_submit_build_once(tmp_path: Path) -> None:
    """The compiler of Rust works for minutes."""
    handed_in(tmp_path, "sh", "-c", "cat /proc/sys/kernel/random/uuid > made")
    words = ("mine", "--game", "birth")
    assert arena("check", *words, "--quick", cwd=tmp_path).code == 0
    (checked,) = (tmp_path / ".arena/built").glob("*/*")
    ran = arena("submit", *words, cwd=tmp_path)
    assert (ran.code, "mine is built already" in ran.err) == (0, True)
    assert json.loads(arena("show", "mine", "--json", cwd=tmp_path).out)["bot"]["built"] == checked.name
