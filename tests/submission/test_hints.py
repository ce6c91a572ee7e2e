"""Hints for authors in Python about files that Python would find before its own modules, or the SDK's."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.submission import read_program

HIDING = {
    "random.py": ("bot.py", "random.py hides Python's own module random, which may be imported: rename it"),
    "random/__init__.py": ("bot.py", "random hides Python's own module random, which may be imported: rename it"),
    "arena/__init__.py": ("bot.py", "arena hides the SDK's own module arena, which may be imported: rename it"),
    "google/__init__.py": ("bot.py", "google hides the SDK's own module google, which may be imported: rename it"),
    "json.cpython-311.so": ("bot.py", "json.cpython-311.so hides Python's own module json, which may be"),
    "src/random.py": ("src/bot.py", "src/random.py hides Python's own module random, which may be imported: rename it"),
}
HARMLESS = {
    "random.txt": "bot.py",
    "random/notes.py": "bot.py",  # a folder without __init__.py is found last
    "google/cloud.py": "bot.py",
    "lib/random.py": "bot.py",
    "random.py": "src/bot.py",
    "__main__.py": "bot.py",
}


def hints(folder: Path, file: str, script: str) -> list[str]:
    for name in (file, script):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    (folder / "bot.toml").write_text(f'run = ["python", "-u", "{script}"]')
    return read_program(folder).hints()


@pytest.mark.parametrize("file", HIDING)
def test_what_hides_a_module_is_named(file: str, tmp_path: Path) -> None:
    """Whether it is a file, a package or compiled, beside the script wherever that lies."""
    script, hint = HIDING[file]
    (said,) = hints(tmp_path, file, script)
    assert said.startswith(hint)


@pytest.mark.parametrize("file", HARMLESS)
def test_what_hides_none_is_not(file: str, tmp_path: Path) -> None:
    """Who is warned for nothing reads no warnings."""
    assert hints(tmp_path, file, HARMLESS[file]) == []


def test_lines_that_are_passed_over_are_named(tmp_path: Path) -> None:
    """Their author may wonder why another version of the SDK is not there."""
    (tmp_path / "requirements.txt").write_text("arena==9.0\nprotobuf==1.0\n")
    (said,) = hints(tmp_path, "notes.txt", "bot.py")
    assert said.startswith("passed over in its requirements: arena==9.0, protobuf==1.0; the SDK")
