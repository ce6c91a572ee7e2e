"""An archive that claims the name of a bot in the arena does not become its next version without a decision."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import zipfile
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from ladder import store
from tests.cli.commands import ARENA, Ran, arena, environment, everything_in
from tests.tournament import programs

pytestmark = pytest.mark.timeout(300)  # several processes one after the other, on whatever machine

ARCHIVES = {
    "a manifest": ("theirs.zip", "", 'name = "mine"\n'),
    "a folder": ("theirs.zip", "Mine/", ""),
    "a file name": ("mine.zip", "", ""),
}
"""Ways in which an archive may claim the name `mine`: each has the file's name, a folder in it, and a manifest line."""


def pack(cwd: Path, says: str, *, bot: str = programs.LAST, build: str = "") -> str:
    """Write an archive that claims the name `mine` in this way; return the archive's file name."""
    file, folder, line = ARCHIVES[says]
    with zipfile.ZipFile(cwd / file, "w") as archive:
        archive.writestr(f"{folder}bot.toml", f'run = ["python", "bot.py"]\ngames = ["birth"]\n{line}{build}')
        archive.writestr(f"{folder}bot.py", bot)
    return file


@pytest.fixture
def entered(cwd: Path) -> Path:
    """A folder in whose home `mine@1` is entered from a file."""
    programs.enter(cwd, mine=programs.FIRST)
    return cwd


def versions(cwd: Path) -> list[str]:
    with store.open_read(cwd / ".arena") as db:
        return [version.label for version in store.bots.versions(db) if version.origin == "submitted"]


SUBMIT = ("submit", "--i-trust-these-bots")
"""The option is needed because archives are refused if the sandbox is weak, whatever they are called."""


def answered(answer: str, *words: str, cwd: Path) -> Ran:
    """Run a command on a terminal and answer its question once; `err` is what the terminal shows."""
    ours, theirs = pty.openpty()
    with Popen([ARENA, *words], cwd=cwd, env=environment(), stdin=theirs, stderr=theirs, stdout=PIPE) as process:
        os.close(theirs)
        shown, asked = b"", False
        with contextlib.suppress(OSError):  # raised when the command has ended
            while part := os.read(ours, 4096):
                shown += part
                if not asked and b"[y/N]" in shown:
                    asked = bool(os.write(ours, f"{answer}\n".encode()))
        assert process.stdout is not None
        out = process.stdout.read().decode()
    os.close(ours)
    return Ran(process.returncode, out, shown.decode())


@pytest.mark.parametrize("says", ARCHIVES)
def test_an_archive_with_the_name_of_a_bot_is_refused(says: str, entered: Path) -> None:
    """The refusal is one line that says whose name it is and what to type instead; nothing is built or run before."""
    file = pack(entered, says, build='build = [["true"]]\n')
    before = everything_in(entered)
    ran = arena(*SUBMIT, file, cwd=entered)
    assert (ran.code, ran.out, everything_in(entered)) == (1, "", before)
    assert "building" not in ran.err
    claim, there, instead = re.split(r" \(|\): ", ran.err.splitlines()[-1])
    assert claim == f"Error: '{file}' says it is called mine, which is entered already"
    assert re.fullmatch(r"1 version, the newest of \d{4}-\d\d-\d\d from a file or folder", there)
    assert instead == "say --name mine to make it mine@2, or another name for a new bot"


def test_a_program_is_refused_and_not_asked(entered: Path) -> None:
    """With --json a program reads the output, so no question is asked, even on a terminal."""
    ran = answered("y", *SUBMIT, pack(entered, "a manifest"), "--json", cwd=entered)
    assert ran.code == 1
    assert "says it is called mine" in json.loads(ran.out)["reason"]
    assert versions(entered) == ["mine@1"]


@pytest.mark.long
def test_who_says_the_name_means_it(entered: Path) -> None:
    """With `--name` the person who submits has decided, not the archive."""
    ran = arena(*SUBMIT, pack(entered, "a manifest"), "--name", "mine", cwd=entered)
    assert (ran.code, versions(entered)) == (0, ["mine@1", "mine@2"])


@pytest.mark.long
def test_a_name_that_nobody_has_is_free(entered: Path) -> None:
    """A name that no bot has needs no question; nor does an archive whose content is entered already."""
    with zipfile.ZipFile(entered / "other.zip", "w") as archive:
        archive.writestr("bot.toml", 'run = ["python", "bot.py"]\ngames = ["birth"]\n')
        archive.writestr("bot.py", programs.LAST)
    assert arena(*SUBMIT, "other.zip", cwd=entered).out.startswith("accepted as other@1")
    again = arena(*SUBMIT, "other.zip", cwd=entered)
    assert (again.code, again.out) == (0, "other@1 has just this content already: nothing to do\n")


@pytest.mark.long
def test_on_a_terminal_it_is_asked(entered: Path) -> None:
    """An empty answer means no, the end of the input interrupts, and yes makes the archive the next version."""
    submit = (*SUBMIT, pack(entered, "a manifest"))
    for answer in ("", "n"):
        refused = answered(answer, *submit, cwd=entered)
        assert (refused.code, refused.out, versions(entered)) == (1, "", ["mine@1"])
        assert "make it mine@2? [y/N]" in refused.err
    assert answered("\x04", *submit, cwd=entered).code == 130
    assert answered("y", *submit, cwd=entered).out.startswith("accepted as mine@2 for birth")


@pytest.mark.long
def test_what_comes_from_elsewhere_is_asked_about_too(cwd: Path) -> None:
    """A folder that was moved is the same bot, another person's folder is not: only people know."""
    for place, bot in (("ann", programs.FIRST), ("ben", programs.LAST)):
        (cwd / place).mkdir()
        programs.write(cwd / place, mine=bot)
    assert arena("submit", "ann/mine.py", "--game", "birth", cwd=cwd).code == 0
    refused = answered("n", "submit", "ben/mine.py", cwd=cwd)
    assert (refused.code, versions(cwd)) == (1, ["mine@1"])
    assert "from 'ann/mine.py'): make it mine@2? [y/N]" in " ".join(refused.err.split())
    assert answered("y", "submit", "ben/mine.py", cwd=cwd).out.startswith("accepted as mine@2 for birth")
