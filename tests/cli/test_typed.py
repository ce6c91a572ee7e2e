"""Commands that the arena proposes: they work as they are printed, also in a clone, where `arena` is no command."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.base import suggest
from arena.check.bot_check import Finding
from arena.cli.check import explain
from arena.cli.command_list import COMMANDS
from arena.terminal.stderr import say
from arena.terminal.typed import as_typed
from ladder import store
from tests.cli.commands import typed
from tests.clone import ROOT

HERE = "./my clone/arena"
"""How people call the arena here."""
WHY = ("--why", "it read the seeds")
BARE = re.compile(rf"(?<![`\w./-])arena ({'|'.join(COMMANDS)})\b")
"""A command in a message without the backquotes by which it becomes what people type."""


@pytest.fixture(autouse=True)
def called_by_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `scripts/arena` does in a clone."""
    monkeypatch.setenv("ARENA_TYPED", HERE)


def test_a_command_between_backquotes_becomes_what_is_typed() -> None:
    """Wherever the message was made: the store knows nothing of commands. Nothing else of it changes."""
    said = "an arena log, `arena log`, `arena show X` and `arena`"
    assert as_typed(said) == "an arena log, `'./my clone/arena' log`, `'./my clone/arena' show X` and `arena`"


def test_lines_beside_results_name_commands_as_they_are_typed(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever module has them printed."""
    say("careful: `arena match` shows why")
    assert capsys.readouterr().err == "careful: `'./my clone/arena' match` shows why\n"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ban", "bob", *WHY, "--undo"], "to bring it back: `arena retire bob --undo`"),
        (["leaderboard", "-g", "birth"], "annulled matches count for nothing here: `arena log` says why"),
        (["show", "bob@1"], "all its matches were annulled: `arena log` says why"),
        (["retire", "bob", "--undo"], "(to lift it: `arena ban bob --undo --why TEXT`)"),
        (["replay", "last"], "play one with `arena match`"),
        (["show", "last"], "last is an unrated match: `arena replay last` shows it"),
        (["debug", "last", "--seat", "0", "--at", "1", "x"], "`arena replay last` shows"),
        (["show", "--no-such-option"], "see `arena show --help`"),
    ],
)
def test_what_a_command_proposes_can_be_typed_as_it_stands(words: list[str], told: str) -> None:
    """On stdout, on stderr and in errors."""
    typed("ban", "bob", *WHY)
    ran = typed(*words)
    assert told.replace("`arena", f"`{shlex.quote(HERE)}") in ran.out + ran.err


def test_a_forfeit_says_how_to_ask_again_as_it_is_typed(home: Path) -> None:
    """By the command that stands on its card; all other lines may be what a bot has printed, and stay as they are."""
    with store.open(home) as db:
        found = [store.matches.find(db, match.id) for match in store.matches.of_bot(db, "bob@1", 9)]
    (match,) = [each for each in found if any(seat.forfeit for seat in each.seats)]
    seat = match.line_up.index("bob@1")
    assert f"\n  again: '{HERE}' debug {match.id} --seat {seat} --at 4 bob@1\n" in typed("show", match.id).out


def test_advice_is_typed_for_people_and_the_same_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """What a bot has printed before it stays as it was, too."""
    explain(Finding("starts", "it died", None, "with `arena match` you can look", ["try `arena match`"]))
    said = capsys.readouterr().out
    assert "advice: with `'./my clone/arena' match` you can look" in said
    assert "try `arena match`" in said


def messages(path: Path) -> Iterator[str]:
    """The texts in a module that are no documentation."""
    tree = ast.parse(path.read_text())
    documentation = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in documentation:
            yield each.value


def test_every_message_names_commands_so_that_they_can_be_typed() -> None:
    """Between backquotes, or made by `typed_as`."""
    files = [path.relative_to(ROOT) for part in ("arena", "ladder") for path in sorted((ROOT / part).rglob("*.py"))]
    bare = {(str(path), text) for path in files for text in messages(ROOT / path) if BARE.search(text)}
    assert bare == set()
    assert BARE.search("again: arena log says why")
    assert not BARE.search("the arena plays, `arena log` says why")


def test_packages_that_are_not_there_are_installed_as_documented(tmp_path: Path) -> None:
    """By a command that works from any folder, whatever the clone is called; a wheel has no clone."""
    clone = tmp_path / "my clone"
    clone.mkdir()
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    assert suggest.to_install("rl", "gymnasium numpy", clone) == f"{pip} gymnasium numpy"
    (clone / "pyproject.toml").touch()
    assert suggest.to_install("rl", "gymnasium numpy", clone) == f"{pip} --editable '{clone}[rl]'"
