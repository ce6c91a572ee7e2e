"""What a bot is called that does not say it: a name that a person would choose, made of that of its file or folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.submission import BadSubmission, read_program
from arena.submission.intake import take_in
from arena.submission.names import NAME, proposed, spelled

PROPOSED = {
    "mine": "mine",
    "Mine": "mine",
    "team.alpha": "team.alpha",
    "bot-": "bot-",
    "Müller, Fritz": "mueller-fritz",
    "Mu\u0308ller, Fritz": "mueller-fritz",  # as macOS spells it
    "José Núñez": "jose-nunez",
    "Søren Weiß": "soeren-weiss",
    "Łukasz": "lukasz",
    "İlker": "ilker",
    "O'Brien": "o-brien",
    "My Bot (1)": "my-bot-1",
    "c++": "cpp",
    " - Ann - ": "ann",
    "Ann_Lee_4711_assignsubmission_file_": "ann_lee_4711",
}


@pytest.mark.parametrize("text", PROPOSED)
def test_a_name_is_what_a_person_would_choose(text: str) -> None:
    """Letters are spelled as in passports, everything else that a name may not have becomes a dash."""
    assert proposed(text) == PROPOSED[text]
    assert NAME.fullmatch(PROPOSED[text])


@pytest.mark.parametrize("text", ["张伟", "Иван2", "bоt", "", "...", "(  )", "assignment-3-buttons-tournament-anna"])
def test_no_letter_is_lost(text: str) -> None:
    """What remained could be somebody else's name: of two Cyrillic names with a 2 behind them both would be "2".

    Nor is the end of a long name, in which those of a course may differ.
    """
    assert proposed(text) is None


def test_a_file_that_makes_no_name_needs_one(tmp_path: Path) -> None:
    """Whoever hands it in is told how to say one."""
    (tmp_path / "Иван.py").touch()
    with pytest.raises(BadSubmission, match=r"makes no name for a bot: 1 to 32 of .*; choose one with --name"):
        read_program(tmp_path / "Иван.py")
    assert read_program(tmp_path / "Иван.py", name="ivan").name == "ivan"


def called(path: Path, scratch: Path) -> str:
    scratch.mkdir()
    return take_in(path, scratch).program.name


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that is called as everybody's."""
    folder = tmp_path / "repos/ann/bot"
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text('run = ["python", "bot.py"]')
    (folder / "bot.py").touch()
    return folder


def test_a_linked_folder_is_called_after_the_link(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever makes the link chooses the name, also if its folder is the current one, or the path ends with a slash."""
    (tmp_path / "Ann").symlink_to(shared)
    monkeypatch.chdir(tmp_path)
    assert called(Path("Ann"), tmp_path / "s1") == called(tmp_path / "Ann/", tmp_path / "s2") == "ann"
    monkeypatch.chdir("Ann")
    monkeypatch.setenv("PWD", str(tmp_path / "Ann"))
    assert called(Path("."), tmp_path / "s3") == read_program(Path(".")).name == "ann"
    monkeypatch.setenv("PWD", str(tmp_path))  # of another shell
    assert called(Path("."), tmp_path / "s4") == "bot"


def test_a_folder_above_is_called_what_it_is(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`..` of a linked folder is the folder around the real one."""
    (tmp_path / "ann").symlink_to(shared)
    (shared.parent / "bot.toml").write_text('run = ["python", "bot/bot.py"]')
    monkeypatch.chdir(tmp_path)
    assert called(Path("ann/.."), tmp_path / "s") == "ann"
    (shared / "bot.py").touch()
    assert spelled(Path("ann/../bot/bot.py")) == shared / "bot.py"
