"""Many bots handed in at once, and names: nobody's bot becomes a version of somebody else's by accident."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from arena.roster import sources
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.roster.test_submit import folder, wait_for_program
from tests.tournament import programs

pytestmark = pytest.mark.timeout(300)

BIRTH = ("--game", "birth")
MANIFEST = 'name = "bot"\nrun = ["python", "bot.py"]\n'


def course(cwd: Path, *people: str) -> None:
    """A folder for each, in which a file has the name that the exercise asked for."""
    for person in people:
        (cwd / person).mkdir(parents=True)
        (cwd / person / "bot.py").write_text(f"{programs.FIRST}\n# by {person}\n")


def many(cwd: Path, *words: str | Path, code: int = 0) -> list[tuple[str | None, str]]:
    """Submit several; return the version and the news of each."""
    ran = arena("submit", *words, *BIRTH, "--json", cwd=cwd)
    assert ran.code == code, ran.err
    return [(each["accepted"], each["news"]) for each in json.loads(ran.out)["submissions"]]


def refusal(cwd: Path, *words: str) -> str:
    ran = arena("submit", *words, *BIRTH, cwd=cwd)
    assert (ran.code, ran.out) == (1, "")
    return ran.err.splitlines()[-1]


@pytest.mark.long
def test_a_course_whose_files_are_called_alike_goes_in_at_once(cwd: Path) -> None:
    """Each is called after its folder; the same again is no work, and what changed is the next version."""
    course(cwd, "ann", "ben", "Müller, Fritz")
    files = ("ann/bot.py", "ben/bot.py", "Müller, Fritz/bot.py", "--names", "from-folder")
    labels = ["ann@1", "ben@1", "mueller-fritz@1"]
    assert many(cwd, *files) == [(label, "entered") for label in labels]
    programs.write(cwd / "ben", bot=programs.LAST)
    assert many(cwd, *files) == [("ann@1", "unchanged"), ("ben@2", "entered"), ("mueller-fritz@1", "unchanged")]


def test_a_table_says_what_became_of_each(cwd: Path) -> None:
    """One that is none does not keep out the others, and the exit code tells that there was one."""
    course(cwd, "ann", "ben")
    (cwd / "ben/bot.py").write_text("syntax error")
    for name in ("notes.txt", "Thumbs.db"):
        (cwd / name).touch()
    words = [*sorted(path.name for path in cwd.iterdir()), *BIRTH]
    ran = arena("submit", *words, cwd=cwd)
    _, _, ann, ben, notes, _, total = ran.out.splitlines()
    assert ann.split(maxsplit=2) == ["ann", "ann@1", "entered for birth"]
    assert ben.split(maxsplit=1)[1].startswith("refused: ben is not entered: it failed 'start': ")
    assert notes.split(maxsplit=1)[1].startswith("refused: 'notes.txt' cannot be run")
    assert total == "1 entered, 2 refused"
    assert (ran.code, ran.err.splitlines()[-1]) == (1, "Error: 2 of 3 are not entered")


def test_in_a_folder_of_all_sorts_each_is_called_after_itself(cwd: Path) -> None:
    """Files and folders of many people in one folder, whose name is nobody's: one option serves them all."""
    course(cwd / "course", "ann")
    for person in ("ben", "cem"):
        (cwd / "course" / f"{person}.py").write_text(f"{programs.FIRST}\n# by {person}\n")
    paths = ("course/ann", "course/ben.py", "course/cem.py")
    assert many(cwd, *paths, "--names", "from-folder") == [(f"{name}@1", "entered") for name in ("ann", "ben", "cem")]
    assert many(cwd, *paths, "--names", "from-folder") == [(f"{name}@1", "unchanged") for name in ("ann", "ben", "cem")]


def test_who_is_called_alike_is_told_what_helps(cwd: Path) -> None:
    """Nobody is told so whose bots only fail."""
    course(cwd, "ann", "ben")
    ran = arena("submit", "ann/bot.py", "ben/bot.py", *BIRTH, cwd=cwd)
    last = "Error: 1 of 2 are not entered; some are called alike: --names from-folder calls each"
    assert ran.err.splitlines()[-1].startswith(last)
    (cwd / "ben/bot.py").write_text("import sys\nsys.exit('no book of openings')")
    ran = arena("submit", "ann/bot.py", "ben/bot.py", *BIRTH, "--names", "from-folder", cwd=cwd)
    assert ran.err.splitlines()[-1] == "Error: 1 of 2 are not entered"
    assert "it failed 'start': the process exited with code 1 before it joined ('no book of openings')" in ran.out
    assert ran.err.count("no book of openings") == 0  # once is enough


@pytest.mark.needs("grade C")  # they are archives
def test_bots_may_be_called_after_their_files(cwd: Path) -> None:
    """As a system for homework names them; what is in an archive is called as the exercise asked for."""
    for person in ("ann", "ben"):
        (cwd / "bot").mkdir()
        (cwd / "bot/bot.py").write_text(f"{programs.FIRST}\n# by {person}\n")
        shutil.make_archive(str(cwd / person), "zip", cwd, "bot")
        shutil.rmtree(cwd / "bot")
    archives = ("ann.zip", "ben.zip", "--names", "from-file")
    assert many(cwd, *archives) == [("ann@1", "entered"), ("ben@1", "entered")]
    assert many(cwd, *archives) == [("ann@1", "unchanged"), ("ben@1", "unchanged")]


@pytest.mark.parametrize("words", [("--names", "from-folder"), ()], ids=["folder", "own"])
def test_of_two_with_one_name_the_second_is_refused(words: tuple[str, ...], cwd: Path) -> None:
    """Only one of them would play; which it is, nobody would have said."""
    course(cwd, "ann", "ben/ann")
    assert many(cwd, "ann/bot.py", "ben/ann/bot.py", *words, code=1)[1] == (None, "refused")
    name = "ann" if words else "bot"
    assert f"{name}@2" not in arena("bots", cwd=cwd).out


@pytest.mark.long
def test_what_comes_from_elsewhere_is_no_version_by_accident(cwd: Path) -> None:
    """Whether it is called so by its file, its folder or its manifest; who means it says the name."""
    course(cwd, "ann", "ben")
    folder(cwd, "cem", MANIFEST, programs.LAST)
    assert many(cwd, "ann/bot.py", "ann/bot.py") == [("bot@1", "entered"), ("bot@1", "unchanged")]
    for other in ("ben/bot.py", "cem"):
        said = refusal(cwd, other)
        assert f"'{other}' would be called bot, which is entered already (1 version, the newest of " in said
        assert "from 'ann/bot.py'): say --name bot to make it bot@2, or another name for a new bot" in said
    assert arena("submit", "cem", "--name", "bot", *BIRTH, cwd=cwd).out.startswith("accepted as bot@2")
    (cwd / "cem/bot.py").write_text(programs.FIRST)
    assert arena("submit", "cem", *BIRTH, cwd=cwd).out.startswith("accepted as bot@3")
    assert "from 'cem')" in refusal(cwd, "ben/bot.py")


@pytest.mark.long
def test_the_same_content_from_elsewhere_says_whose_it_is(cwd: Path) -> None:
    """Two people who handed in the same template may each think that theirs plays."""
    course(cwd, "ann")
    shutil.copytree(cwd / "ann", cwd / "ben")
    arena("submit", "ann/bot.py", *BIRTH, cwd=cwd)
    ran = arena("submit", "ben/bot.py", *BIRTH, cwd=cwd)
    source = repr(str(cwd / "ann/bot.py"))
    assert (ran.code, ran.out) == (0, f"bot@1 has just this content already, from {source}: nothing to do\n")


def test_a_place_is_the_same_by_any_path_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link, another folder to be in, a detour; and a link that now leads elsewhere is still the same link."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repos/v1").mkdir(parents=True)
    (tmp_path / "repos/v2").mkdir()
    (tmp_path / "ann").symlink_to("repos/v1")
    sources.remember(tmp_path, "ann", Path("ann"))
    known = sources.recalled(tmp_path, "ann")
    assert known == tmp_path / "ann"
    for same in ("ann", "ann/", "repos/v1", "repos/../ann", tmp_path / "ann"):
        assert sources.is_same(known, Path(same))
    assert not sources.is_same(known, Path("repos/v2"))
    (tmp_path / "ann").unlink()
    (tmp_path / "ann").symlink_to("repos/v2")
    assert sources.is_same(known, Path("ann"))
    assert sources.recalled(tmp_path, "ben") is None


def test_a_file_in_a_linked_folder_is_called_after_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From wherever it is handed in, also from inside."""
    (tmp_path / "repos/bot").mkdir(parents=True)
    (tmp_path / "repos/bot/bot.py").touch()
    (tmp_path / "ann").symlink_to("repos/bot")
    assert sources.outer_name(tmp_path / "ann/bot.py", "from-folder") == "ann"
    monkeypatch.chdir(tmp_path / "ann")
    monkeypatch.setenv("PWD", str(tmp_path / "ann"))
    assert sources.outer_name(Path("bot.py"), "from-folder") == "ann"
    assert sources.outer_name(Path("."), "from-folder") == "ann"


def test_a_name_for_many_is_refused(cwd: Path) -> None:
    """All would be versions of one bot."""
    ran = arena("submit", "a.py", "b.py", "--name", "ann", cwd=cwd)
    assert (ran.code, ran.err.startswith("Error: --name is for one bot alone")) == (2, True)


@pytest.mark.long
def test_what_is_left_after_ctrl_c_is_done_by_the_same_command(cwd: Path) -> None:
    """The table is printed all the same: who was entered knows it, and is not tried again."""
    course(cwd, "ann", "ben", "cem")
    (cwd / "ben/slow-to-start.py").write_text("import time\ntime.sleep(1000)")
    words = ["ann/bot.py", "ben/slow-to-start.py", "cem/bot.py", "--names", "from-folder", *BIRTH, "--json"]
    command = [str(ARENA), "submit", *words]
    with subprocess.Popen(command, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        wait_for_program("slow-to-start.py")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    said: Any = json.loads(out)
    assert (process.returncode, said["left"]) == (130, 2)
    assert [each["news"] for each in said["submissions"]] == ["entered", "interrupted"]
    assert said["submissions"][1]["reason"] == "stopped: ben was not entered"
    assert err.splitlines()[-1] == "the same command goes on with what is left"
    (cwd / "ben/slow-to-start.py").write_text(programs.FIRST)
    assert many(cwd, *words[:-3]) == [("ann@1", "unchanged"), ("ben@1", "entered"), ("cem@1", "entered")]
