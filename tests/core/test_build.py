"""The core is compiled where that can be done, and nobody needs it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from arena.base import compiler
from arena.core import compilation

ROOT = Path(__file__).parents[2]
COMPILING = "arena: compiling the core (once) …"

pytestmark = pytest.mark.long


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sources in a folder where nothing was compiled."""
    folder = tmp_path / "core"
    folder.mkdir()
    for source in compilation.sources():
        (folder / source.name).write_bytes(source.read_bytes())
    monkeypatch.setattr(compilation, "HERE", folder)
    monkeypatch.setattr(compilation, "BUILT", folder / "built")
    monkeypatch.delenv(compiler.SWITCH, raising=False)
    forget()
    yield folder
    forget()


def forget() -> None:
    """Have the core looked for anew."""
    compilation.target.cache_clear()
    compilation.core.cache_clear()


def prepared() -> list[str]:
    """What `prepare` says."""
    said: list[str] = []
    compilation.prepare_core(said.append)
    return said


@pytest.mark.needs("core")
def test_it_is_compiled_once(copy: Path) -> None:
    """One line says so, and from then on it is used; other sources are compiled anew."""
    assert (compilation.core(), compilation.find_core()) == (
        None,
        (False, "is compiled by the first command that plays"),
    )
    assert prepared() == [COMPILING]
    assert compilation.find_core().on
    assert compilation.core() is not None
    assert prepared() == []
    assert [path.suffix for path in compilation.BUILT.iterdir()] == [".so"]
    with open(copy / "rules.h", "a") as file:
        file.write("/* changed */\n")
    forget()
    assert not compilation.find_core().on


def test_without_a_compiler_nothing_is_said(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands play in Python, and `arena doctor` says why."""
    monkeypatch.setenv("PATH", str(copy))
    monkeypatch.delenv("CC", raising=False)
    assert prepared() == []
    assert compilation.find_core() == (False, "no C compiler (cc) is found")


@pytest.mark.needs("core")
def test_without_the_headers_of_python_nothing_is_said(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are a package of their own in many systems."""
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(copy))
    assert prepared() == []
    assert "python3-dev" in compilation.find_core().why


@pytest.mark.needs("core")
def test_where_others_own_the_folder_nothing_is_said(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who plays with an arena that belongs to root cannot compile there."""
    monkeypatch.setattr("os.access", lambda path, mode: not (Path(path) == copy and mode == os.W_OK))
    assert prepared() == []
    assert compilation.find_core() == (False, f"{copy} belongs to somebody else")


@pytest.mark.needs("core")
def test_it_can_be_switched_off(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was compiled or not."""
    assert prepared() == [COMPILING]
    monkeypatch.setenv(compiler.SWITCH, "0")
    compilation.core.cache_clear()
    assert (compilation.core(), compilation.find_core()) == (None, (False, "ARENA_CORE=0 switches it off"))
    assert prepared() == []
    assert copy.exists()


@pytest.mark.needs("core")
def test_a_compiler_that_fails_is_a_line_and_asked_once(copy: Path) -> None:
    """What it said is kept for whoever looks into it."""
    (copy / "birth.c").write_text("this is no C;\n")
    forget()
    first, second = prepared()
    assert first == COMPILING
    assert second.startswith("arena: the core cannot be compiled and matches are played without it: ")
    assert (compilation.core(), prepared()) == (None, [])
    assert "could not be compiled: see " in compilation.find_core().why
    (note,) = compilation.BUILT.iterdir()
    assert "birth.c" in note.read_text()
    note.unlink()
    assert prepared()[0] == COMPILING


@pytest.mark.needs("core")
def test_a_file_that_is_no_core_is_not_loaded(copy: Path) -> None:
    """As after a disk was full: it is said, and matches are played in Python."""
    compilation.BUILT.mkdir()
    compilation.target().write_bytes(b"\x7fELF")
    assert compilation.core() is None
    assert compilation.find_core().why.startswith("cannot be loaded: ")
    assert copy.exists()


@pytest.mark.needs("core")
def test_a_file_that_is_no_core_is_made_anew(copy: Path) -> None:
    """By the next command that plays."""
    compilation.BUILT.mkdir()
    compilation.target().write_bytes(b"\x7fELF")
    assert prepared() == [COMPILING]
    assert compilation.core() is not None, copy


@pytest.mark.needs("core")
def test_a_compiler_that_makes_no_core_is_a_line_and_asked_once(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some say that all went well, whatever they have written."""
    program = script(copy, 'while [ "$1" != -o ]; do shift; done; echo trash >"$2"')
    monkeypatch.setenv("CC", str(program))
    _, said = prepared()
    assert "what the compiler made cannot be loaded" in said
    assert (compilation.core(), prepared()) == (None, [])


@pytest.mark.needs("core")
def test_a_compiler_that_hangs_is_ended_with_all_it_started(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says how long it took."""
    monkeypatch.setenv("CC", str(script(copy, f"sleep 1000 & echo $! >{copy}/child; wait")))
    monkeypatch.setattr(compiler, "COMPILER_PATIENCE", 1)
    assert prepared()[1].endswith("the compiler took longer than 1 s")
    child = int((copy / "child").read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


@pytest.mark.needs("core")
def test_everybody_may_use_what_one_has_compiled(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after somebody who lets nobody read new files; and a compiler may be named with options."""
    monkeypatch.setenv("CC", "cc -pipe")
    before = os.umask(0o077)
    try:
        assert prepared() == [COMPILING]
    finally:
        os.umask(before)
    assert compilation.core() is not None, copy
    assert [path.stat().st_mode & 0o777 for path in (compilation.BUILT, compilation.target())] == [0o755, 0o755]


def script(folder: Path, text: str) -> Path:
    """A program of the shell."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


@pytest.mark.needs("core")
def test_two_commands_at_once_compile_it_both(copy: Path) -> None:
    """Neither finds half a core."""
    code = (
        "import sys; from pathlib import Path; from arena.core import compilation\n"
        "compilation.HERE = Path(sys.argv[1]); compilation.BUILT = compilation.HERE / 'built'\n"
        "compilation.prepare_core(lambda said: None); assert compilation.core() is not None, compilation.find_core()\n"
    )
    words = [sys.executable, "-c", code, str(copy)]
    both = [subprocess.Popen(words, cwd=ROOT) for _ in range(2)]
    assert [each.wait(120) for each in both] == [0, 0]
    assert len(list(compilation.BUILT.iterdir())) == 1


@pytest.mark.needs("core")
@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_wheel_brings_it_along(tmp_path: Path) -> None:
    """Whoever installs it needs no compiler."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(pip, check=True, timeout=500)
    (wheel,) = tmp_path.glob("*.whl")
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        (launcher,) = [each for each in archive.infolist() if each.filename.startswith("arena/sandbox/built/launcher-")]
    assert launcher.external_attr >> 16 & 0o777 == 0o755, "pip makes files executable that are so in the wheel"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, tmp_path / "there"], check=True)
    code = "from arena.core.compilation import core, find_core; print(core().__file__); print(find_core().on)"
    given = {**os.environ, "PYTHONPATH": str(tmp_path / "there"), "PATH": ""}
    ran = subprocess.run([sys.executable, "-P", "-c", code], env=given, capture_output=True, text=True, check=True)
    place, on = ran.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert on == "True"
