"""What a machine lacks to build a bot is named where the build fails, with what to install."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from arena.sandbox import UNCONFINED, Grade
from arena.submission.build import BuildFailed, Building, build
from arena.submission.intake import take_in
from arena.submission.manifest import load
from arena.submission.program import command
from arena.submission.templates import templates
from arena.submission.tools import TOOLS, install_hint, missed

MISSED = {
    "cmake without protoc": ("  Could not find PROTOC using the following names: protoc", ["protoc"]),
    "cmake without the plug-in": ("Could not find GRPC_CPP_PLUGIN using the following names:", ["grpc_cpp_plugin"]),
    "cmake without a compiler": ("  No CMAKE_CXX_COMPILER could be found.", ["c++"]),
    "cmake without pkg-config": ("Could NOT find PkgConfig (missing: PKG_CONFIG_EXECUTABLE)", ["pkg-config"]),
    "pkg-config": ("Package grpc++ was not found in the pkg-config search path.", ["grpc++"]),
    "pkgconf": ("Package 'protobuf', required by 'virtual:world', not found", ["protobuf"]),
    "cargo without a linker": ("error: linker `cc` not found", ["cc"]),
    "maven without a compiler": ("[ERROR] No compiler is provided in this environment. Perhaps a JRE?", ["javac"]),
    "npm without node": ("/usr/bin/env: ‘node’: No such file or directory", ["node"]),
    "a shell": ("make.sh: 3: protoc: not found", ["protoc"]),
    "pip without git": ("ERROR: Cannot find command 'git' - do you have 'git' installed", ["git"]),
    "a mistake of the author": ("bot.cpp:3: error: 'protoc' was not declared", []),
}


@pytest.mark.parametrize("case", MISSED)
def test_what_tools_say_of_others_is_understood(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own words for it, and none says which package has it."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    said, names = MISSED[case]
    assert missed(["before", said, "after"]) == names
    assert bool(install_hint(names)) == bool(names)


def test_what_is_there_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a log says: nobody should install what he has."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/usr/bin/it")
    assert missed([MISSED["cmake without protoc"][0]]) == []


@pytest.mark.parametrize("language", sorted(templates()))
def test_it_is_known_what_to_install_for_every_template(language: str) -> None:
    """Of every program that its build and its bot begin with."""
    manifest = load(templates()[language] / "bot.toml", language)
    programs = {command(words)[0] for words in (*manifest.build, manifest.run)}
    assert {program for program in programs if "/" not in program} - {"rm"} <= TOOLS.keys()


def failure(folder: Path, *words: str, grade: Grade = Grade.D) -> str:
    (folder / "mine").mkdir()
    (folder / "mine/bot.toml").write_text(f'run = ["./bot"]\nbuild = [{json.dumps(words)}]\n')
    (folder / "scratch").mkdir()
    program = take_in(folder / "mine", folder / "scratch").program
    with pytest.raises(BuildFailed) as failed:
        build(program, folder / "log", UNCONFINED._replace(grade=grade), Building(lambda _: None))
    return str(failed.value)


def test_a_build_that_cannot_begin_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is started: the machine is no business of the bot's author."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path))
    assert failure(tmp_path, "cargo", "build") == (
        "mine is not built: this machine has no cargo: install it (Debian, Ubuntu: apt install cargo), or see"
        " https://rustup.rs"
    )


def test_a_build_that_misses_a_tool_on_its_way_says_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that it printed are the end of what it did, and do not say what to do."""
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    said = failure(tmp_path, "sh", "-c", "protoc --version")
    assert "exited with code 127, since this machine has no protoc: install it (Debian, Ubuntu: apt install" in said


def test_a_tool_where_no_build_may_look_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there for the organiser: "not found" alone would not be believed."""
    (tmp_path / "go").write_text("#!/bin/sh\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    expected = f"mine is not built: {tmp_path}/go is where no build may look: install go in /usr"
    assert failure(tmp_path, "go", "build", grade=Grade.C) == expected
