"""Packages of Python bots: which ones a folder names, and that they are fetched once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from arena_bot.packages import hiding
from arena_bot.requirements import MOST, wanted

FREEZE = """
-e git+https://example.org/x@0123#egg=arena
# Editable install with no version control (arena-bot==0.1.0)
-e /home/ann/work
numpy==2.4.6
protobuf==1.0
# Editable Git install with no remote (mine==1.0)
-e ./mine
six @ git+https://example.org/six@0123
"""
"""What `pip freeze` says where an author has installed the arena and works on a package of her own."""

WANTED: dict[str, tuple[dict[str, str], list[str], int]] = {
    "nothing": ({}, [], 0),
    "a note": ({"requirements.txt": "# nothing\n\n"}, [], 0),
    "notes behind lines": ({"requirements.txt": "tiny == 1  # small\n--pre\n"}, ["tiny == 1", "--pre"], 0),
    "no project's packages": ({"pyproject.toml": '[project]\nname = "x"\n'}, [], 0),
    "a project's packages": ({"pyproject.toml": '[project]\ndependencies = ["tiny", "arena"]\n'}, ["tiny"], 1),
    "both": ({"pyproject.toml": '[project]\ndependencies = ["a"]\n', "requirements.txt": "b"}, ["b"], 0),
    "other files": (
        {"requirements.txt": "-r a/b.txt\nsix", "a/b.txt": "-r c.txt\narena", "a/c.txt": "-r b.txt\nx"},
        ["x", "six"],
        1,
    ),
    "long lines": (
        {"requirements.txt": "six \\\n  --hash=sha256:0\narena_bot \\\r\n  >=0"},
        ["six --hash=sha256:0"],
        1,
    ),
    "pip freeze": (
        {"requirements.txt": FREEZE},
        ["numpy==2.4.6", "./mine", "six @ git+https://example.org/six@0123"],
        3,
    ),
    "a file": (
        {"requirements.txt": "./arena-0.1.0-py3-none-any.whl\nhttps://example.org/arena-tools-1.0.zip"},
        ["https://example.org/arena-tools-1.0.zip"],
        1,
    ),
    "names alike": (
        {"requirements.txt": "arena-tools\narenas\nARENA.bot[rl] ; python_version > '3'"},
        ["arena-tools", "arenas"],
        1,
    ),
}


@pytest.mark.parametrize("case", WANTED)
def test_what_a_folder_wants(case: str, tmp_path: Path) -> None:
    """What pip would install, in any way that it may be written, without the SDK: an index has others of that name."""
    files, lines, passed_over = WANTED[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, newline="")
    found = wanted(tmp_path)
    assert (found.lines, len(found.passed_over)) == (lines, passed_over)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_requirements_may_come_from_any_editor(encoding: str, tmp_path: Path) -> None:
    """`pip freeze > requirements.txt` writes UTF-16 in PowerShell."""
    (tmp_path / "requirements.txt").write_bytes("arena\r\nsix\r\n".encode(encoding))
    assert wanted(tmp_path) == (["six"], ["arena"])


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


BAD = {
    "-r /etc/passwd": "-r /etc/passwd names no file of the bot's folder",
    "-r ../other.txt": "names no file",
    "-r https://example.org/r.txt": "names no file",
    "-r lost.txt": "-r lost.txt names no file",
    "-e /home/ann/tools": "'/home/ann/tools' is on its author's machine: write NAME==VERSION",
    "numpy @ file:///croot/numpy.whl": "'numpy @ file:///croot/numpy.whl' is on its author's machine",
    "../tools": "is on its author's machine",
    "gr\udcfcn": "line 1 is no text in utf-8",
    "#" * 300_000: "requirements.txt has more than 256 KiB",
}


@pytest.mark.parametrize("line", BAD, ids=lambda line: line[:20])
def test_what_is_not_in_the_folder_is_named(line: str, tmp_path: Path) -> None:
    """No file of this machine is read, and an author learns what is on hers alone."""
    (tmp_path / "requirements.txt").write_bytes(f"{line}\n".encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=re.escape(BAD[line])):
        wanted(tmp_path)


@pytest.mark.parametrize("piece", [" ", " #", "#egg=", "-r ", "a==(", "\\\n", "[", "a [", "&egg", "@", "\t\\\r\n"])
def test_reading_takes_no_longer_than_its_length(piece: str, tmp_path: Path) -> None:
    """It happens outside the sandbox, where nothing else bounds what a hand-in costs."""
    text = f"# Editable {piece * 1000}\nsix{piece * (MOST // len(piece) // 2)}"
    (tmp_path / "requirements.txt").write_text(text, newline="")
    begun = time.process_time()
    with suppress(ValueError):
        wanted(tmp_path)
    assert time.process_time() - begun < 2


def test_files_that_name_each_other_are_few_and_small(tmp_path: Path) -> None:
    """A chain of them is an error of one line, and they are bounded together."""
    for number in range(2000):
        (tmp_path / f"{number}.txt").write_text(f"-r {number + 1}.txt\n")
    (tmp_path / "requirements.txt").write_text("-r 0.txt\n")
    with pytest.raises(ValueError, match="is named by more than 10 files, one by the other"):
        wanted(tmp_path)
    (tmp_path / "0.txt").write_text("#" * (MOST - 10))
    (tmp_path / "1.txt").write_text("#" * (MOST - 10))
    (tmp_path / "requirements.txt").write_text("-r 0.txt\n-r 1.txt\n")
    with pytest.raises(ValueError, match="files of requirements have more than 256 KiB"):
        wanted(tmp_path)


def wheel(folder: Path, name: str, needs: str = "") -> None:
    """Make a wheel of a package with one module, which says what it is; it may need another package."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", f"NAME = {name!r}\n")
        about = f"{name}-1.0.dist-info"
        need = f"Requires-Dist: {needs}\n" if needs else ""
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{need}")
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


@pytest.mark.long
@pytest.mark.parametrize(("name", "needs"), [("tiny", "arena"), ("random", "")])
def test_packages_that_hide_the_sdk_or_python_are_none(name: str, needs: str, tmp_path: Path) -> None:
    """Neither what another package needs may bring them; the bot would fail far from there, or do something else."""
    index, bot = tmp_path / "index", tmp_path / "bot"
    for each, need in ((name, needs), ("arena", "")):
        wheel(index / each, each, need)
        link = f"{each}-1.0-py3-none-any.whl"
        (index / each / "index.html").write_text(f'<a href="{link}">{link}</a>')
    bot.mkdir()
    (bot / "requirements.txt").write_text(name)
    assert install(bot, tmp_path / "home", index) == 1
    assert "arena.py" not in modules(bot)


def test_what_hides_nothing_may_be_there() -> None:
    """Packages bring all kinds of files; `test` is a module of Python that only its own tests import."""
    assert hiding(["random", "json.py", "arena", "enum"]) == ["arena", "enum", "json.py", "random"]
    assert hiding(["google", "grpc", "six.py", "numpy-1.0.dist-info", "bin", "test", "typing_extensions.py"]) == []
