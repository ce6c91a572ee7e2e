"""`arena new`: a folder with a bot to begin with, for every language whose folder has a bot.toml."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from arena import games, submission
from arena.submission.intake import take_in
from arena.submission.templates import templates
from arena.submission.tools import missing_tools
from tests.cli.commands import everything_in, typed

ROOT = Path(__file__).parents[2]
NO_NAME = "cannot be a bot's name: 1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit"
every_language = pytest.mark.parametrize("language", sorted(templates()))


@pytest.fixture(autouse=True)
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@every_language
def test_a_new_bot_is_a_submission(language: str, cwd: Path) -> None:
    """It is called as its folder, plays what it is to play, and stands alone: links would be refused."""
    made = typed("new", "mine", "--language", language, "--game", "buttons", "--json")
    said = json.loads(made.out)
    assert (made.code, said["name"], said["language"]) == (0, "mine", language)
    program = submission.read_program(cwd / "mine")
    assert (program.name, program.games, program.language) == ("mine", ("buttons",), language)
    assert program.about == "a few rules of thumb for buttons"
    readme = (cwd / "mine" / "README.md").read_text()
    assert re.findall(r"^    arena (.*)", readme, re.MULTILINE)[:4] == [
        "check ./mine",
        "submit ./mine",
        "ladder --game buttons",
        "leaderboard --game buttons",
    ]
    assert "It is asked to play buttons only" in readme
    assert "arena new" not in readme


@every_language
def test_without_a_game_it_plays_them_all(language: str, cwd: Path) -> None:
    """The example of every language knows every game."""
    made = typed("new", "mine", "--language", language)
    assert made.code == 0, made.err
    assert submission.read_program(cwd / "mine").games == tuple(sorted(games.names()))
    assert "It is asked" not in (cwd / "mine" / "README.md").read_text()
    assert made.out.endswith("next:\n  arena check ./mine\n  arena submit ./mine\n  arena ladder --game buttons\n")


def test_what_builds_made_is_left_behind(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever works on a template, or on a bot, builds it where it lies; what is called alike elsewhere is source."""
    template = cwd / "template"
    for folder in (template / "bin", template / "src" / "bin"):
        folder.mkdir(parents=True)
        (folder / "bot").touch()
    (template / ".gitignore").write_text("/bin/\n*.o\n")
    (template / "bot.toml").write_text('run = ["./bin/bot"]\nbuild = [["make"]]\nlanguage = "elvish"\n')
    monkeypatch.setattr("arena.submission.templates.templates", lambda: {"elvish": template})
    assert typed("new", "mine", "--language", "elvish").code == 0
    assert everything_in(cwd / "mine").keys() == {".gitignore", "bot.toml", "src", "src/bin", "src/bin/bot"}
    taken = take_in(template, cwd / "scratch")
    assert [str(file) for file in taken.program.files] == [".gitignore", "bot.toml", "src/bin/bot"]
    assert taken.left_out == ("bin",)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["mine", "--language", "elvish"], "unknown language 'elvish': languages are awk, c, "),
        (["mine", "--language", "pyhton"], "unknown language 'pyhton' (did you mean python?): "),
        (["."], "'.' exists already: choose a folder that does not exist yet"),
        (["there"], "'there' exists already: choose a folder that does not exist yet"),
        (["My Bot"], f"'My Bot' {NO_NAME}; name the folder so: my-bot\n"),
        (["Myc++", "--language", "c++"], f"'Myc++' {NO_NAME}; name the folder so: mycpp\n"),
        (["away/mine"], "no folder 'away'"),
    ],
)
def test_a_mistake_makes_nothing(words: list[str], problem: str, cwd: Path) -> None:
    """One line says what is allowed."""
    (cwd / "there").mkdir()
    made = typed("new", *words)
    assert (made.code, made.out, made.err.count("\n")) == (1, "", 1)
    assert made.err.startswith(f"Error: {problem}"), made.err
    assert everything_in(cwd).keys() == {"there"}


def test_tools_that_are_missing_are_named(cwd: Path) -> None:
    """What the bot brings along is not looked for."""
    (cwd / "bot.toml").write_text(
        'run = ["./bot"]\nbuild = [["no-such-compiler"], ["sh", "x"], ["no-such-compiler"]]\n'
    )
    assert missing_tools(submission.manifest(cwd)) == ["no-such-compiler"]


def test_packages_that_are_missing_are_named(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pkg-config and pkgconf say it in different words, and each of several packages has to be named."""
    tools = cwd / "tools"
    tools.mkdir()
    (tools / "pkg-config").write_text('#!/bin/sh\n[ "$1 $2" = "--exists there++" ] && [ $# = 2 ]\n')
    (tools / "pkg-config").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    asked = '["pkg-config", "--exists", "away++", "there++", "far"]'
    (cwd / "bot.toml").write_text(f'run = ["./bot"]\nbuild = [{asked}]\n')
    assert missing_tools(submission.manifest(cwd)) == ["away++", "far"]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_installed_arena_makes_the_same_bots(cwd: Path) -> None:
    """There is no checkout then, and no links."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(cwd), str(ROOT)]
    subprocess.run(pip, check=True, timeout=500)
    (wheel,) = cwd.glob("*.whl")
    ZipFile(wheel).extractall(cwd / "installed")
    run = "import sys; from arena.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(cwd / "installed")}
    for language in templates():
        name = language.replace("+", "p")
        typed("new", name, "--language", language)
        words = [sys.executable, "-P", "-c", run, "new", f"installed/{name}", "--language", language]
        subprocess.run(words, env=environment, check=True, timeout=60, stdout=subprocess.DEVNULL)
        assert everything_in(cwd / "installed" / name) == everything_in(cwd / name)
    assert not (cwd / "installed/arena/bench").exists()
