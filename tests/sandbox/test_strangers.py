"""Programs of strangers run only where something holds them, or whoever runs the arena says that they may."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from arena import roster
from arena.referee.limits import Limits
from arena.roster.admission import HandIn, Qualification, admit
from arena.sandbox import Grade, NoSandbox, Sandbox
from arena.submission import Program
from arena.submission.build import Building
from arena.submission.intake import take_in
from ladder import store
from tests.cli.commands import arena
from tests.tournament import programs

MANIFEST = 'run = ["python", "bot.py"]\ngames = ["birth"]\n'


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A bot as strangers send it."""
    with zipfile.ZipFile(tmp_path / "theirs.zip", "w") as archive:
        archive.writestr("bot.toml", MANIFEST)
        archive.writestr("bot.py", programs.FIRST)
    return tmp_path / "theirs.zip"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The same in a folder."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "bot.py").write_text(programs.FIRST)
    return folder


def entered(home: Path, program: Program, sandbox: Sandbox) -> str:
    """Whom a worker would start, in this sandbox, for a bot that was entered in a better one."""
    with store.open(home) as db:
        version, _ = roster.enter_bot(db, home, program, "submitted")
        return roster.Starter(db, home, sandbox)(version.label).label


@pytest.mark.parametrize("grade", Grade)
@pytest.mark.parametrize("trusting", [False, True])
def test_what_came_as_an_archive_is_started_where_it_is_held(
    packed: Path, tmp_path: Path, grade: Grade, trusting: bool
) -> None:
    """Also when it was entered long ago, on a machine that held it."""
    program, sandbox = take_in(packed, tmp_path / "scratch").program, Sandbox(grade, trusting=trusting)
    if grade is Grade.D and not trusting:
        with pytest.raises(NoSandbox, match=r"theirs came as an archive, .* or say --i-trust-these-bots"):
            entered(tmp_path / "home", program, sandbox)
    else:
        assert entered(tmp_path / "home", program, sandbox) == "theirs@1"


def test_what_is_ones_own_is_started_anywhere(own: Path, tmp_path: Path) -> None:
    """Who wrote it need not be kept from the machine."""
    assert entered(tmp_path / "home", take_in(own, tmp_path / "scratch").program, Sandbox()) == "own@1"


def test_what_is_submitted_again_from_a_folder_is_ones_own(packed: Path, own: Path, tmp_path: Path) -> None:
    """Also when it came as an archive before: whoever has it there could read it."""
    home, sandbox = tmp_path / "home", Sandbox()
    entered(home, take_in(packed, tmp_path / "scratch").program, Sandbox(Grade.A))
    qualification = Qualification(Limits(), sandbox, Building(print), lambda *_: None)
    again = admit(home, HandIn(own, name="theirs"), qualification)
    assert again.news == "unchanged"
    with store.open_read(home) as db:
        assert roster.Starter(db, home, sandbox)("theirs@1").label == "theirs@1"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_an_archive_is_refused_in_one_line_before_anything_of_it_runs(packed: Path, own: Path) -> None:
    """Unless somebody says that he trusts it; a folder needs no trust."""
    match = ("match", "./theirs.zip", "random", "--game=birth", "--sandbox=D", "--json")
    refused = arena(*match, cwd=packed.parent)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines()[-1].startswith("Error: theirs came as an archive, perhaps from a stranger, ")
    assert arena(*match, "--i-trust-these-bots", cwd=packed.parent).code == 0
    assert arena("match", f"./{own.name}", *match[2:], cwd=own.parent).code == 0
