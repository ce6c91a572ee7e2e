"""Submissions from macOS and Windows: what is meant is clear, and nothing of these systems is in the bot."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.submission import Program
from arena.submission.intake import take_in
from arena.submission.mending import mend
from tests.submission.systems import APPLE_DOUBLE, mac_tar, mac_zip, windows_zip

MANIFEST = b'run = ["./go.sh"]\nbuild = [["./make.sh", "x"], ["cc", "-v"]]\n'
FILES = {"bot.toml": MANIFEST, "go.sh": b"#!/bin/sh\n", "make.sh": b"#!/bin/sh\r\ntrue\r\n", "note.sh": b"#!/bin/sh\n"}


def old_windows_zip(path: Path, folder: str, files: dict[str, bytes]) -> None:
    """With backslashes in names."""
    windows_zip(path, folder, files, slash="\\")


MADE: list[tuple[str, Callable[[Path, str, dict[str, bytes]], None]]] = [
    ("x.tgz", mac_tar),
    ("x.zip", mac_zip),
    ("x.zip", windows_zip),
    ("x.zip", old_windows_zip),
]


def taken(path: Path) -> Program:
    scratch = path.parent / "scratch"
    scratch.mkdir()
    return take_in(path, scratch).program


@pytest.mark.parametrize(("name", "pack"), MADE, ids=lambda each: getattr(each, "__name__", str(each)))
def test_an_archive_from_another_system_is_the_bot_in_it(
    name: str, pack: Callable[[Path, str, dict[str, bytes]], None], tmp_path: Path
) -> None:
    """It is called after its one folder, has the author's files and no others, and what is begun may be begun."""
    pack(tmp_path / name, "Bot für Ann", FILES)
    program = taken(tmp_path / name)
    assert program.name == "bot-fuer-ann"
    assert [str(file) for file in program.files] == sorted(FILES)
    assert all(os.access(program.root / each, os.X_OK) for each in ("go.sh", "make.sh"))
    assert program.mended == ("make.sh",)
    assert (program.root / "make.sh").read_bytes() == b"#!/bin/sh\ntrue\n"


def test_what_no_command_begins_with_stays_what_it_is(tmp_path: Path) -> None:
    """A script that is only read needs no permission to run, nor does a text that a command names."""
    windows_zip(tmp_path / "x.zip", "mine", FILES | {"bot.toml": b'run = ["./bot.toml"]\n'})
    program = taken(tmp_path / "x.zip")
    assert not any(os.stat(program.root / file).st_mode & 0o111 for file in program.files)


@pytest.mark.parametrize("command", ["../victim.sh", "./../victim.sh", "{}/victim.sh", "./link.sh"])
def test_nothing_outside_of_the_bot_is_touched(command: str, tmp_path: Path) -> None:
    """A build may begin with a program of the machine, or of somebody: it stays as it is, and unread."""
    victim = tmp_path / "victim.sh"
    victim.write_bytes(b"#!/bin/sh\r\n")
    victim.chmod(0o600)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "bot.toml").write_text(f'run = ["./go.sh"]\nbuild = [["{command.format(tmp_path)}"]]\n')
    (mine / "go.sh").write_text("#!/bin/sh\n")
    (mine / "go.sh").chmod(0o755)
    (mine / "link.sh").symlink_to("go.sh")
    mend(mine)
    assert (victim.stat().st_mode & 0o777, victim.read_bytes()) == (0o600, b"#!/bin/sh\r\n")


def test_names_of_files_may_have_latin_letters(tmp_path: Path) -> None:
    """A note for the teacher is no reason to refuse a bot; one name spelled in two ways is one name."""
    mac_zip(tmp_path / "x.zip", "mine", FILES | {"Übersicht für Lehrer.txt": b"", "U\u0308bung": b""})
    assert {str(file) for file in taken(tmp_path / "x.zip").files} >= {"Übersicht für Lehrer.txt", "Übung"}


def test_folders_are_freed_of_the_same(tmp_path: Path) -> None:
    """A folder that was copied from a stick has these files, too."""
    (tmp_path / "mine").mkdir()
    notes = {"._go.sh": APPLE_DOUBLE, ".DS_Store": b"", "Thumbs.db": b"", "Icon\r": b"", ".fseventsd/1": b"\0"}
    (tmp_path / "mine/.fseventsd").mkdir()
    for name, content in {**FILES, **notes}.items():
        (tmp_path / "mine" / name).write_bytes(content)
    program = taken(tmp_path / "mine")
    assert [str(file) for file in program.files] == sorted(FILES)
    assert os.access(program.root / "go.sh", os.X_OK)


def test_links_where_nothing_is_looked_at_are_no_harm(tmp_path: Path) -> None:
    """An environment of Python has links; it is left out of an archive as it is left out of a folder."""
    with tarfile.open(tmp_path / "mine.tar", "w") as archive:
        for name, target in (("mine/bot.py", ""), ("mine/.venv/bin/python", "/usr/bin/python3")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = (tarfile.SYMTYPE, target) if target else (tarfile.REGTYPE, "")
            archive.addfile(info)
    (tmp_path / "scratch").mkdir()
    program, left_out = take_in(tmp_path / "mine.tar", tmp_path / "scratch")
    assert ([str(file) for file in program.files], left_out) == (["bot.py"], (".venv",))


def test_a_folder_around_the_folder_is_no_bot(tmp_path: Path) -> None:
    """Archives of archives have several; the innermost with anything in it is meant."""
    windows_zip(tmp_path / "x.zip", "Downloads/mine/mine-main", FILES)
    assert taken(tmp_path / "x.zip").name == "mine-main"


TEXTS = {
    "UTF-16": ("bot.py", "print('ä')\r\n".encode("utf-16"), "print('ä')\r\n".encode()),
    "a script in UTF-16": ("go", "#!/bin/sh\r\ntrue\r\n".encode("utf-16"), b"#!/bin/sh\ntrue\n"),
    "a mark before a script": ("go", b"\xef\xbb\xbf#!/bin/sh\ntrue\r\n", b"#!/bin/sh\ntrue\r\n"),
    "a script that Python is given": ("bot.py", b"#!/usr/bin/env python3\r\n", b"#!/usr/bin/env python3\r\n"),
    "data": ("data.txt", "ä".encode("utf-16"), "ä".encode("utf-16")),
    "a text with the line ends of Windows": ("data.csv", b"1\r\n2\r\n", b"1\r\n2\r\n"),
    "a program of the machine": ("go", b"\x7fELF\r\n", b"\x7fELF\r\n"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_only_what_could_not_be_run_is_changed(case: str, tmp_path: Path) -> None:
    """Scripts, and Python's files in UTF-16; a bot's data are its own."""
    name, given, kept = TEXTS[case]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.toml").write_text('run = ["python", "bot.py"]')
    (tmp_path / "mine" / name).write_bytes(given)
    program = taken(tmp_path / "mine")
    assert (program.root / name).read_bytes() == kept
    assert program.mended == ((name,) if given != kept else ())


def test_a_script_of_python_that_is_begun_itself_is_mended(tmp_path: Path) -> None:
    """There the kernel reads its first line, and not Python."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.toml").write_text('run = ["./bot.py"]')
    (tmp_path / "mine/bot.py").write_bytes(b"#!/usr/bin/env python3\r\npass\r\n")
    assert (taken(tmp_path / "mine").root / "bot.py").read_bytes() == b"#!/usr/bin/env python3\npass\n"
