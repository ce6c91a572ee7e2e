"""Programs for other machines are known by their first bytes, before anything is started."""

from __future__ import annotations

import platform
import shutil
import struct
from pathlib import Path

import pytest

from arena import submission
from arena.submission import BadSubmission, machine_code

OTHER = {"x86_64": (0xB7, "aarch64"), "aarch64": (0x3E, "x86_64")}
"""A machine that this one is not: its number in an ELF header, and its name."""
HEADERS = {
    "Windows": b"MZ" + bytes(30),
    "macOS": b"\xcf\xfa\xed\xfe" + bytes(30),
    "macOS, for two processors": b"\xca\xfe\xba\xbe\0\0\0\2" + bytes(30),
}
CLASS = b"\xca\xfe\xba\xbe\0\0\0\x41" + bytes(30)
"""A Java class: it begins like a program for macOS."""


@pytest.fixture(autouse=True)
def without_emulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that runs only its own programs, whatever this one can."""
    monkeypatch.setattr(machine_code, "EMULATORS", tmp_path / "binfmt_misc")
    return tmp_path / "binfmt_misc"


def program(folder: Path, content: bytes) -> Path:
    (folder / "mine").write_bytes(content)
    (folder / "mine").chmod(0o755)
    return folder / "mine"


def elf(number: int) -> bytes:
    return b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HH", 2, number) + bytes(40)


@pytest.mark.parametrize("kind", HEADERS)
def test_a_program_for_another_system_is_refused(kind: str, tmp_path: Path) -> None:
    """In words, since "exec format error" tells a beginner nothing."""
    with pytest.raises(BadSubmission, match=f"mine' was built for {kind.partition(',')[0]}, this machine has Linux"):
        submission.read_program(program(tmp_path, HEADERS[kind]))


def test_a_program_for_another_processor_is_refused(tmp_path: Path) -> None:
    """As a lone file, and as the program that a folder's bot.toml names."""
    number, name = OTHER.get(platform.machine(), OTHER["x86_64"])
    expected = f"was built for {name}, this machine is {platform.machine()}: build it for this one"
    with pytest.raises(BadSubmission, match=expected):
        submission.read_program(program(tmp_path, elf(number)))
    (tmp_path / "bot.toml").write_text('run = ["./mine"]')
    with pytest.raises(BadSubmission, match=expected):
        submission.read_program(tmp_path, name="mine")


@pytest.mark.parametrize(("name", "number"), [("armv7l", 0x28), ("i386", 0x03), ("aarch64", 0x28)])
def test_machines_with_several_names_run_their_own(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 32 bits there are many kinds, and 64-bit machines run them as well."""
    monkeypatch.setattr(platform, "machine", lambda: name)
    assert submission.read_program(program(tmp_path, elf(number))).name == "mine"


def test_where_an_emulator_may_run_it_nothing_is_refused(without_emulators: Path, tmp_path: Path) -> None:
    """With qemu registered, programs of other machines do run."""
    without_emulators.mkdir()
    (without_emulators / "register").touch()
    (without_emulators / "qemu-other").touch()
    assert submission.read_program(program(tmp_path, HEADERS["Windows"])).name == "mine"


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF", CLASS, elf(0xFFFF)])
def test_what_is_unknown_is_tried(content: bytes, tmp_path: Path) -> None:
    """Nobody is refused for a header that this arena has never seen."""
    assert submission.read_program(program(tmp_path, content)).name == "mine"


def test_a_program_of_this_machine_passes(tmp_path: Path) -> None:
    """By the header of a real one."""
    shell = shutil.which("sh")
    assert shell is not None
    assert submission.read_program(program(tmp_path, Path(shell).read_bytes())).name == "mine"
