"""What people and machines get wrong: one line that names it and says what is allowed, and nothing changed on disk."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arena.submission import MAX_BYTES, MAX_FILES, MAX_MANIFEST
from ladder import store
from tests.cli.commands import RUN_BOTS, everything_in, typed

GAMES = "birth, burning-desire, buttons"
BIRTH = ("--game", "birth")


def refused(code: int, words: Sequence[str | Path], *parts: str) -> None:
    """The command ends with this code and one line that has these parts, and leaves everything as it was.

    Nobody hears of a weak sandbox where none is used.
    """
    before = everything_in(Path())
    weak = ["--sandbox=D"] if words[0] in RUN_BOTS else []
    ran = typed(*words, *weak)
    assert (ran.code, ran.out, ran.caution) == (code, "", "")
    (line,) = ran.err.splitlines()
    assert line.startswith("Error: ")
    assert line.isprintable()
    assert [part for part in parts if part not in line] == []
    assert everything_in(Path()) == before


USAGE: dict[str, tuple[list[str], list[str]]] = {
    "no such command": (["ladders"], ["'ladders' (did you mean ladder?)", "games, bots, new, submit"]),
    "no game": (["ladder"], ["--game", GAMES]),
    "no such game": (["ladder", "-g", "chess"], ["'chess':", GAMES]),
    "nearly a game": (["ladder", "-g", "button"], ["'button' (did you mean buttons?)", GAMES]),
    "a game of control characters": (["ladder", "-g", "\x1b[2J\n"], [r"\x1b[2J\n", GAMES]),
    "no such game to list": (["bots", "-g", "chess"], ["'chess'", GAMES]),
    "no such game to submit for": (["submit", "x.py", "-g", "chess"], ["'chess'", GAMES]),
    "too many players": (["ladder", *BIRTH, "-p", "9"], ["2 to 3 players", "9"]),
    "too few players": (["leaderboard", *BIRTH, "-p", "1"], ["2 to 3 players", "1"]),
    "players in words": (["leaderboard", *BIRTH, "-p", "two"], ["'two'", "is not a whole number"]),
    "too many bots": (["match", *["ann"] * 4, *BIRTH], ["2 to 3 players", "4"]),
    "no bots": (["match", *BIRTH], ["BOT"]),
    "no workers": (["ladder", *BIRTH, "-j", "0"], ["0", "1<=x<=256"]),
    "workers in words": (["ladder", *BIRTH, "-j", "x"], ["'x' is not a whole number"]),
    "memory in words": (["ladder", *BIRTH, "--memory", "much"], ["'much'", "write 512M or 4G"]),
    "memory without a unit": (["compare", "ann", "bob", *BIRTH, "--memory", "4"], ["'4'", "write 512M or 4G"]),
    "more memory than there is": (["ladder", *BIRTH, "--memory", "99999G"], ["--memory", "this machine has only"]),
    "too little memory": (["compare", "a", "b", *BIRTH, "--memory=9M"], ["--memory", "may need", "fewer --jobs"]),
    "no rounds": (["ladder", *BIRTH, "--rounds", "0"], ["0", "1<=x"]),
    "nothing in flight": (["ladder", *BIRTH, "--in-flight", "0"], ["0", "1<=x<=768"]),
    "no matches": (["match", "ann", "ann", *BIRTH, "-n", "0"], ["0", "1<=x"]),
    "a limit in words": (["ladder", *BIRTH, "--limit", "abc"], ["'abc'", "250ms, 1s, 2m or 1h"]),
    "a negative limit": (["ladder", *BIRTH, "--limit", "-1s"], ["'-1s'", "250ms, 1s, 2m or 1h"]),
    "no time at all": (["ladder", *BIRTH, "--limit", "0"], ["'0'", "more than 0"]),
    "no time to start": (["submit", "x.py", "--start-limit", "0ms"], ["'0ms'", "more than 0"]),
    "more than a day": (["ladder", *BIRTH, "--bank", "99999999"], ["'99999999'", "at most a day"]),
    "no number at all": (["ladder", *BIRTH, "--bank", "nan"], ["'nan'", "250ms, 1s, 2m or 1h"]),
    "no such option of a game": (["ladder", *BIRTH, "-o", "size=3"], ["'size'", "areas, start"]),
    "a bad value of an option": (["ladder", *BIRTH, "-o", "start=-1"], ["start", "-1"]),
    "an infinite option": (["ladder", *BIRTH, "-o", "start=1e999"], ["start"]),
    "an option that is no JSON": (["ladder", *BIRTH, "-o", "start=x"], ["'start=x'", "NAME=JSON"]),
    "an option that JSON does not have": (["ladder", *BIRTH, "-o", "start=NaN"], ["'start=NaN'", "NAME=JSON"]),
    "an option without a value": (["ladder", *BIRTH, "-o", "start"], ["'start'", "NAME=JSON"]),
    "an option deeper than any stack": (
        ["ladder", *BIRTH, "-o", "start=" + "[" * 99999],
        [r"start=[[[[", "[[[' …", "NAME=JSON"],
    ),
    "an argument too many": (["games", "x"], ["x"]),
    "a bot beside itself": (["compare", "random", "random", *BIRTH], ["'random'", "two that differ"]),
    "several matches to watch": (["match", "random", "random", *BIRTH, "--watch", "-n", "2"], ["--watch", "one match"]),
    "no reason to annul": (["annul", "ann"], ["Missing option '--why'"]),
    "an empty reason": (["ban", "ann", "--why", " "], ["--why", "1 to 500 characters"]),
    "a reason that is no text": (["ban", "ann", "--why", "\udcff"], ["--why", "bytes"]),
    "no such time": (["annul", "ann", "--why", "x", "--since", "yesterday"], ["'yesterday'", "2026-07-31"]),
    "a time before all others": (["ban", "ann", "--why", "x", "--since", "0001-01-01"], ["'0001-01-01'"]),
    "a ban lifted since": (["ban", "ann", "--why", "x", "--undo", "--since", "2026-07-31"], ["--since", "--undo"]),
    "nothing to repaint": (["leaderboard", *BIRTH, "--watch"], ["--watch repaints a terminal, and stdout is none"]),
    "players that are counted": (
        ["match", "random", "random", *BIRTH, "--players", "2"],
        ["No such option '--players': the number of bots is the number of players; see `arena match --help`"],
    ),
    "players at a table": (["play", "random", *BIRTH, "-p", "2"], ["'-p': you and the bots that you name are"]),
    "another option that is none": (["match", "random", *BIRTH, "--play"], ["Did you mean '--replay'?"]),
    "too few matches, in short": (["compare", "random", "greedy", *BIRTH, "-n", "1"], ["'-n' / '--matches'", "2<=x"]),
    "no number of matches, in short": (["publish", "public", "-n", "-1"], ["'-n' / '--matches'"]),
    "more than it repaints": (["leaderboard", *BIRTH, "--watch", "--plot"], ["--watch shows the leaderboard alone"]),
}


@pytest.mark.parametrize("case", USAGE)
@pytest.mark.usefixtures("home")
def test_wrong_usage_is_one_line_and_changes_nothing(case: str) -> None:
    """Exit code 2, the value, and what is allowed."""
    words, parts = USAGE[case]
    refused(2, [*words], *parts)


ERRORS: dict[str, tuple[list[str], list[str]]] = {
    "no such bot": (["match", "carl", "ann", *BIRTH], ["'carl'", "ann, bob", "./mine.py"]),
    "nearly a bot": (
        ["match", "gredy", "ann", *BIRTH],
        ["'gredy' in '.arena' (did you mean greedy?)", "ann, bob", "./mine.py"],
    ),
    "no such version": (["match", "bob@7", "ann", *BIRTH], ["'bob@7'", "bob@1, bob@2"]),
    "a path to nothing": (["match", "./carl.py", "ann", *BIRTH], ["'carl.py'"]),
    "a bot that plays other games": (["match", "ann", "random", "-g", "buttons"], ["'ann'", "birth"]),
    "a bot of control characters": (["match", "\x1b]0;x\x07", "ann", *BIRTH], [r"\x1b]0;x\x07"]),
    "an endless name": (["match", "x" * 300, "ann", *BIRTH], ["xxx' …", "ann, bob"]),
    "no such bot in the field": (["ladder", *BIRTH, "--bots", "ann,carl"], ["'carl'", "ann, bob"]),
    "a path in the field": (["ladder", *BIRTH, "--bots", "ann,./x.py"], ["'./x.py'", "ann, bob"]),
    "an empty field": (["ladder", *BIRTH, "--bots", ""], ["''", "ann, bob"]),
    "an empty place in the field": (["ladder", *BIRTH, "--bots", "ann,,bob"], ["''", "ann, bob"]),
    "a bot twice in the field": (["ladder", *BIRTH, "--bots", "ann,bob,ann"], ["'ann'", "once"]),
    "a version twice in the field": (["ladder", *BIRTH, "--bots", "bob,bob@2"], ["'bob@2'", "once"]),
    "a field of one": (["ladder", *BIRTH, "--bots", "ann"], ["2 bots", "ann"]),
    "more seats than bots": (["ladder", *BIRTH, "-p", "3", "--bots", "ann,bob"], ["3 bots", "ann, bob"]),
    "nobody to forgive": (["ladder", *BIRTH, "-p", "3", "--forgive", "carl"], ["'carl'", "ann, bob"]),
    "another seed": (["ladder", *BIRTH, "--seed", "new"], ["'known'", "'new'"]),
    "nobody to retire": (["retire", "carl"], ["'carl'", "ann, bob"]),
    "no such version to retire": (["retire", "ann@9"], ["'ann@9'", "ann@1"]),
    "nothing to annul": (["annul", "zzzzzz", "--why", "x"], ["'zzzzzz'", "no bot"]),
    "hardly anything to annul": (["annul", "", "--why", "x"], ["''", "less than 6 characters"]),
    "nearly a bot to annul": (["annul", "gredy", "--why", "x"], ["'gredy'", "(did you mean greedy?)"]),
    "bytes to annul": (["annul", "\udcff", "--why", "x"], [r"\udcff"]),
    "no such version to annul": (["annul", "bob@9", "--why", "x"], ["'bob@9'", "bob@1, bob@2"]),
    "no such ladder to annul in": (["annul", "bob", "--why", "x", "--ladder", "xyz"], ["'xyz'", "there is"]),
    "a match of a ladder": (["annul", "zzz", "--why", "x", "--ladder", "xyz"], ["'zzz' is no bot"]),
    "no home to annul in": (["annul", "ann", "--why", "x", "--home", "nowhere"], ["'nowhere'"]),
    "nobody to ban": (["ban", "carl", "--why", "x"], ["'carl'", "ann, bob"]),
    "bytes to ban": (["ban", "\udcff", "--why", "x"], [r"\udcff"]),
    "nobody to rename": (["rename", "carl", "Carl"], ["'carl'", "ann, bob"]),
    "a name of control characters": (["rename", "ann", "\x1b[2J"], [r"'\x1b[2J'", "1 to 32"]),
    "a name that is no text": (["rename", "ann", "\udcff"], [r"'\udcff'", "1 to 32"]),
    "a name that turns the line around": (["rename", "ann", "\u202ebob"], [r"\u202e", "1 to 32"]),
    "a name that looks like a label": (["rename", "ann", "bob@1"], ["'bob@1'", "1 to 32"]),
    "an endless name for people": (["rename", "ann", "x" * 33], ["1 to 32"]),
    "no name for people": (["rename", "ann", ""], ["''", "1 to 32"]),
    "nothing to show": (["show", "zzz"], ["'zzz'", "no bot"]),
    "nearly a bot to show": (["show", "gredy"], ["'gredy'", "no bot in '.arena' is called so (did you mean greedy?)"]),
    "no such version to show": (["show", "bob@9"], ["'bob@9'", "bob@1, bob@2"]),
    "too many to show": (["show", ""], ["several", "''"]),
    "no such ladder": (["leaderboard", *BIRTH, "--ladder", "xyz"], ["'xyz'", "BIRTH"]),
    "no home to verify": (["verify", "--home", "nowhere"], ["'nowhere'"]),
    "no home to export": (["export", "seats", "--home", "nowhere"], ["'nowhere'"]),
    "nothing at the path": (["submit", "nothing.py"], ["'nothing.py'"]),
    "a bot instead of a path": (["submit", "ann"], ["'ann'", "no file or folder", "arena show ann"]),
    "a built-in bot to check": (["check", "random"], ["'random'", "no file or folder", "arena show random"]),
    "a device at the path": (["submit", "/dev/null"], ["'/dev/null'"]),
}


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.usefixtures("home")
def test_an_error_is_one_line_and_changes_nothing(case: str) -> None:
    """Exit code 1, the value, and what there is."""
    words, parts = ERRORS[case]
    refused(1, [*words], *parts)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "two words",
        "a/b",
        "../up",
        "Caps",
        "-x",
        "a\nb",
        "\x1b[31m",
        "x" * 33,
        "x" * 300,
        "аnn",
        "ann\u200b",
        "ａnn",
    ],
    ids=ascii,
)
def test_names_are_plain(name: str, cwd: Path) -> None:
    """A name stands in tables, paths and command lines, and two that look alike would be two bots."""
    (cwd / "bot.py").touch()
    refused(1, ["submit", "bot.py", f"--name={name}"], "a-z 0-9 . _ -", "1 to 32")


def test_a_name_of_the_arenas_own_is_taken(cwd: Path) -> None:
    """Whoever looks for `random` must find the bot that comes with the arena."""
    (cwd / "random.py").touch()
    refused(1, ["submit", "random.py"], "'random'", "built-in", "--name")


MANIFESTS = {
    "broken": (b"run = [", "bot.toml"),
    "of an unknown key": (b'run = ["x"]\ncolour = "red"', "colour"),
    "of a wrong type": (b'run = "python bot.py"', "array"),
    "without a command": (b'name = "x"', "run"),
    "of an empty command": (b"run = []", '["python", "bot.py"]'),
    "of an empty program": (b'run = ["", "x"]', '["python", "bot.py"]'),
    "of an unknown game": (b'run = ["x"]\ngames = ["chess"]', f"bot.toml: unknown game 'chess': games are {GAMES}"),
    "of a bad name": (b'run = ["x"]\nname = "A B"', "'A B'"),
    "of an empty name": (b'run = ["x"]\nname = ""', "1 to 32"),
    "in Latin-1": ('run = ["x"]\nabout = "größe"'.encode("latin-1"), "utf-8"),
    "of ten megabytes": (b"#" * 10_000_000, f"{MAX_MANIFEST // 1024} KiB"),
    "nested beyond any stack": (b"run = " + b"[" * 60_000, "bot.toml"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_bad_manifest_is_one_line(case: str, cwd: Path) -> None:
    """The author learns what is wrong with it, and mostly what it should have said."""
    content, part = MANIFESTS[case]
    (cwd / "mine").mkdir()
    (cwd / "mine/bot.toml").write_bytes(content)
    refused(1, ["submit", "mine"], part)


def _symlink(folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")


def _linked_folder(folder: Path) -> None:
    (folder / "link").symlink_to("/etc")


def _socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(folder.relative_to(Path.cwd()) / "link"))  # the whole path is too long for a socket


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "link")


@pytest.mark.parametrize("make", [_symlink, _linked_folder, _socket, _pipe])
def test_a_bot_is_made_of_ordinary_files(make: Callable[[Path], None], cwd: Path) -> None:
    """What is no file cannot be kept under a digest, and a link could bring in what nobody meant to hand in."""
    (cwd / "mine").mkdir()
    (cwd / "mine/bot.toml").write_text('run = ["x"]')
    make(cwd / "mine")
    refused(1, ["submit", "mine"], "mine/link", "ordinary files")


def test_a_folder_has_a_largest_size(cwd: Path) -> None:
    """A bot travels to every worker; whoever submits a whole disk hears it at once."""
    (cwd / "mine").mkdir()
    (cwd / "mine/bot.toml").write_text('run = ["x"]')
    for number in range(MAX_FILES):
        (cwd / f"mine/{number}").touch()
    refused(1, ["submit", "mine"], f"{MAX_FILES} files", "64 MiB")


def test_a_file_has_a_largest_size(cwd: Path) -> None:
    """The same for a program of one file, which is not even read."""
    with (cwd / "huge.py").open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    refused(1, ["submit", "huge.py"], "'huge.py'", "64 MiB")


def test_a_folder_needs_a_manifest(cwd: Path) -> None:
    """And whoever has none learns what the shortest one says."""
    (cwd / "mine").mkdir()
    refused(1, ["submit", "mine"], "bot.toml", 'run = ["python", "bot.py"]')


def test_a_file_that_cannot_be_run_is_no_bot(cwd: Path) -> None:
    """The usual reason is a forgotten chmod, so it is said."""
    (cwd / "bot.sh").write_text("#!/bin/sh\n")
    refused(1, ["submit", "bot.sh"], "'bot.sh'", "chmod +x", "bot.toml")


def below_a_file(cwd: Path) -> Path:
    (cwd / "file").touch()
    return cwd / "file/home"


def where_nothing_can_be_made(cwd: Path) -> Path:
    assert cwd.exists()
    return Path("/proc/home")


HOME_COMMANDS = (["ladder", *BIRTH, "--rounds", "1"], ["retire", "random"])


@pytest.mark.parametrize("words", HOME_COMMANDS, ids=lambda words: str(words[0]))
@pytest.mark.parametrize("where", [below_a_file, where_nothing_can_be_made])
def test_a_home_that_cannot_be_made_is_said(words: list[str], where: Callable[[Path], Path], cwd: Path) -> None:
    """Before anything is played."""
    home = where(cwd)
    refused(1, [*words, "--home", home], str(home), "choose another home")


@pytest.mark.parametrize("words", [*HOME_COMMANDS, ["leaderboard", *BIRTH], ["bots"]], ids=lambda words: str(words[0]))
def test_a_home_that_is_a_file_is_wrong_usage(words: list[str], cwd: Path) -> None:
    """A file is never replaced by a folder."""
    (cwd / "file").touch()
    refused(2, [*words, "--home", "file"], "'file'", "--home")


def newer(database: Path) -> None:
    with sqlite3.connect(database) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()


def foreign(database: Path) -> None:
    database.unlink()
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()


def no_database(database: Path) -> None:
    database.write_text("a shopping list\n" * 100)


def truncated(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:5000])


def a_folder(database: Path) -> None:
    database.unlink()
    database.mkdir()


@pytest.mark.parametrize(
    "words", [*HOME_COMMANDS, ["leaderboard", *BIRTH], ["bots"], ["show", "ann"]], ids=lambda words: str(words[0])
)
@pytest.mark.parametrize("spoil", [newer, foreign, no_database, truncated, a_folder])
def test_a_database_that_cannot_be_used_is_said(spoil: Callable[[Path], None], words: list[str], home: Path) -> None:
    """What is in the way stays as it is: it may be somebody's data."""
    spoil(home / "arena.db")
    refused(1, words, "arena.db")


def test_a_second_ladder_in_a_home_is_refused(home: Path) -> None:
    """Two would play everything twice; the line says which process has the first."""
    with store.database.exclusive(home):
        refused(1, ["ladder", *BIRTH, "--bots", "ann,bob", "--rounds", "2"], str(os.getpid()))
