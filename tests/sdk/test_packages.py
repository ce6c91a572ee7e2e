"""Packages of Python bots: which ones a folder names, and that they are fetched once."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from arena_bot.packages import wanted


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({}, []),
        ({"requirements.txt": "# nothing\n\n"}, []),
        ({"requirements.txt": "tiny == 1  # small\n-r more.txt\n"}, ["tiny == 1", "-r more.txt"]),
        ({"pyproject.toml": '[project]\nname = "x"\n'}, []),
        ({"pyproject.toml": '[project]\ndependencies = ["tiny"]\n'}, ["tiny"]),
        ({"pyproject.toml": '[project]\ndependencies = ["a"]\n', "requirements.txt": "b"}, ["b"]),
    ],
)
def test_what_a_folder_wants(files: dict[str, str], lines: list[str], tmp_path: Path) -> None:
    """requirements.txt goes before pyproject.toml, which most editors make for other reasons."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert wanted(tmp_path) == lines


@pytest.mark.parametrize(
    "text",
    [
        "no toml",
        "project = 3",
        "[[project]]",
        "[project]\ndependencies = 1",
        "[project]\ndependencies = [1]",
        f"x = {'[' * 50_000}",
    ],
)
def test_what_cannot_be_read_is_said(text: str, tmp_path: Path) -> None:
    """As an error of the author, not as a build without packages."""
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ValueError, match=r"dependencies|Expected|deeply|Invalid"):
        wanted(tmp_path)


@pytest.mark.parametrize("line", ["arena", "arena_bot==1", "Arena-Bot ; python_version > '3'"])
def test_the_sdk_is_no_package_to_install(line: str, tmp_path: Path) -> None:
    """An index has something else under its name, which would come before it."""
    (tmp_path / "requirements.txt").write_text(f"six\n{line}\n")
    with pytest.raises(ValueError, match="the SDK is there without being named"):
        wanted(tmp_path)


def wheel(folder: Path, name: str) -> None:
    """Make a wheel of a package with one module, which says what it is."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", f"NAME = {name!r}\n")
        about = f"{name}-1.0.dist-info"
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")


def install(bot: Path, home: Path, index: Path) -> int:
    """Install a bot's packages from an index on disk; return the exit code."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    environment |= {"PIP_INDEX_URL": index.as_uri(), "PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, "-P", "-m", "arena_bot.packages"]
    return subprocess.run(command, cwd=bot, env=environment, check=False, timeout=120).returncode


def modules(bot: Path) -> set[str]:
    return {file.name for file in (bot / ".packages").glob("*.py")}


@pytest.mark.long
def test_what_was_fetched_once_needs_no_network(tmp_path: Path) -> None:
    """The second version of a bot installs from the home of its builds, even if the index is gone."""
    home, index = tmp_path / "home", tmp_path / "index"
    wheel(index / "tiny", "tiny")
    link = "tiny-1.0-py3-none-any.whl"
    (index / "tiny/index.html").write_text(f'<a href="{link}">{link}</a>')
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for bot, package in ((first, "tiny"), (second, "tiny"), (third, "other")):
        bot.mkdir()
        (bot / "pyproject.toml").write_text(f'[project]\ndependencies = ["{package} == 1.0"]')
    assert install(first, home, index) == 0
    index.rename(tmp_path / "gone")
    assert install(second, home, index) == 0
    assert modules(first) == modules(second) == {"tiny.py"}
    assert install(third, home, index) == 1
