"""What a `bot.toml` may not say: a corpus of bad ones, each refused with what is wrong, and none of them obeyed."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from arena.submission import MAX_MANIFEST, BadSubmission, read_program, skeleton
from arena.submission.names import NAME
from tests.cli.commands import everything_in

RUN = b'run = ["./bot"]\n'
ABSOLUTE = "name a program of the machine, or ./one of your folder"
WORDS = "no command of a program and arguments"

CORPUS: dict[str, tuple[bytes, str]] = {
    # what is run
    "no command": (b'name = "x"', "run"),
    "a command of nothing": (b"run = []", "run"),
    "a command without a name": (b'run = ["", "x"]', WORDS),
    "a line for a shell": (b'run = "./bot; touch canary"', "array"),
    "words that are numbers": (b'run = ["./bot", 1]', "str"),
    "words that are lists": (b'run = [["./bot"]]', "str"),
    "a program of the machine by its path": (b'run = ["/bin/sh", "-c", "touch canary"]', ABSOLUTE),
    "a program beside the folder": (b'run = ["../other/bot"]', ABSOLUTE),
    "a way out in the middle": (b'run = ["./a/../../bot"]', ABSOLUTE),
    "a program of somebody's home": (b'run = ["~/bot"]', ABSOLUTE),
    "a line break in a word": (b'run = ["./bot", "a\\nb"]', WORDS),
    "a NUL in a word": (b'run = ["./bot", "a\\u0000b"]', WORDS),
    "an escape sequence in a word": (b'run = ["./bot", "\\u001b[31m"]', WORDS),
    "a mark that turns the line around": (b'run = ["./bot", "\\u202e"]', WORDS),
    "too many words": (b"run = [" + b'"x",' * 101 + b"]", "length <= 100"),
    "an endless word": (b'run = ["' + b"x" * 1001 + b'"]', "length <= 1000"),
    # how it is built
    "a build for a shell": (RUN + b'build = "make; touch canary"', "build"),
    "a build of one list": (RUN + b'build = ["make"]', "build"),
    "a build of empty commands": (RUN + b"build = [[]]", "build"),
    "a build without a name": (RUN + b'build = [[""]]', WORDS),
    "a build with a line break": (RUN + b'build = [["make", "a\\r\\nb"]]', WORDS),
    "too many builds": (RUN + b"build = [" + b'["make"],' * 21 + b"]", "length <= 20"),
    # what surrounds it
    "an environment": (RUN + b'env = { LD_PRELOAD = "./evil.so" }', "env"),
    "an environment in a table": (RUN + b'[env]\nARENA_TOKEN = "x"', "env"),
    "a search path": (RUN + b'path = ["."]', "path"),
    "a working directory": (RUN + b'cwd = "/"', "cwd"),
    "a user": (RUN + b'user = "root"', "user"),
    "a key in other letters": (b'RUN = ["./bot"]', "RUN"),
    "a key with a dot": (RUN + b'limits.disk = "all"', "disk"),
    # what it asks for
    "hardly any memory": (RUN + b"[limits]\nmemory_mib = 1", ">= 64"),
    "memory below zero": (RUN + b"[limits]\nmemory_mib = -1", ">= 64"),
    "memory that is no number": (RUN + b"[limits]\nmemory_mib = nan", "int"),
    "memory without end": (RUN + b"[limits]\nmemory_mib = inf", "int"),
    "memory in words": (RUN + b'[limits]\nmemory_mib = "512"', "int"),
    "memory by true": (RUN + b"[limits]\nmemory_mib = true", "int"),
    "memory beyond any integer": (RUN + b"[limits]\nmemory_mib = " + b"9" * 400, "bot.toml"),
    "tasks beyond any machine": (RUN + b"[limits]\ntasks = 1000000000", "<= 999999999"),
    "no tasks": (RUN + b"[limits]\ntasks = 0", ">= 32"),
    "limits of its own": (RUN + b"[limits]\ncpu = 0", "cpu"),
    "limits as a list": (RUN + b"limits = [512, 64]", "limits"),
    # what it is called and plays
    "a name with a path": (RUN + b'name = "../x"', "cannot be a bot's name"),
    "a name in capitals": (RUN + b'name = "Ann"', "cannot be a bot's name"),
    "a name of control characters": (RUN + b'name = "\\u001b[2J"', "cannot be a bot's name"),
    "a name with a Cyrillic letter": ('run = ["./bot"]\nname = "\u0430nn"'.encode(), "cannot be a bot's name"),
    "a name with an invisible letter": (RUN + b'name = "ann\\u200b"', "cannot be a bot's name"),
    "a name for a table of SQL": (RUN + b'name = "x\'); DROP TABLE versions;--"', "cannot be a bot's name"),
    "a name that is a number": (RUN + b"name = 1", "str"),
    "a game that is none": (RUN + b'games = ["chess"]', "birth"),
    "games in one word": (RUN + b'games = "birth"', "array"),
    "a protocol that is none": (RUN + b'protocol = "tcp"', "protocols are grpc, stdio"),
    "a language that ends with a line feed": (RUN + b'language = "go\\n"', "language"),
    "a language of control characters": (RUN + b'language = "\\u0007"', "language"),
    "an endless description": (RUN + b'about = "' + b"x" * 201 + b'"', "length <= 200"),
    # no TOML
    "YAML": (b"run:\n  - !!python/object/apply:os.system ['touch canary']\n", "bot.toml"),
    "JSON": (b'{"run": ["./bot"]}', "bot.toml"),
    "the same key twice": (RUN + RUN, "bot.toml"),
    "a table twice": (RUN + b"[limits]\n[limits]\n", "bot.toml"),
    "bytes": (bytes(range(256)), "bot.toml"),
    "UTF-16 without a mark": ('run = ["./bot"]'.encode("utf-16-le"), "bot.toml"),
    "half a letter of UTF-16": ('run = ["./bot"]'.encode("utf-16")[:-1], "line 1 is no text in utf-16-le"),
    "Latin-1": (RUN + 'about = "größe"'.encode("latin-1"), "line 2 is no text in utf-8: save the file as utf-8"),
    "deep nesting": (b"run = " + b"[" * 60_000, "bot.toml"),
    "deep tables": (b"[" + b"a." * 30_000 + b"a]", "bot.toml"),
    "ten megabytes": (b"#" * 10_000_000, f"{MAX_MANIFEST // 1024} KiB"),
}


@pytest.mark.parametrize("case", CORPUS)
def test_a_bad_manifest_is_refused_with_its_reason(case: str, tmp_path: Path) -> None:
    """In one line that can be printed, and nothing that it says is done."""
    content, part = CORPUS[case]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.toml").write_bytes(content)
    before = everything_in(tmp_path)
    with pytest.raises(BadSubmission) as refused:
        read_program(tmp_path / "mine")
    assert part in str(refused.value)
    assert everything_in(tmp_path) == before


def test_a_good_manifest_says_all_there_is_to_say(tmp_path: Path) -> None:
    """The control: the corpus is not refused for want of anything else."""
    (tmp_path / "bot.toml").write_text(
        'run = ["./bot", "$HOME; *"]\nname = "a.b-c_9"\ngames = ["birth"]\nlanguage = "c++"\nabout = "plays"\n'
        'build = [["make"], ["make", "check"]]\n[limits]\nmemory_mib = 64\ntasks = 32\n'
    )
    program = read_program(tmp_path)
    assert (program.name, program.run, program.games) == ("a.b-c_9", ("./bot", "$HOME; *"), ("birth",))
    assert program.build == (("make",), ("make", "check"))
    assert (program.needs.memory_mib, program.needs.tasks, program.language) == (64, 32, "c++")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_manifest_may_come_from_any_editor(encoding: str, end: str, tmp_path: Path) -> None:
    """Windows marks its texts and ends their lines otherwise; what is meant is clear."""
    (tmp_path / "bot.toml").write_bytes(end.join(['run = ["./bot"]', 'about = "größe"', ""]).encode(encoding))
    assert read_program(tmp_path).about == "größe"


ALIKE = [
    ("bot", "b0t"),
    ("all", "a11"),
    ("list", "llst"),
    ("modern", "modem"),
    ("a-b", "a_b"),
    ("a.b", "a-b"),
    ("wide", "vvide"),
]
UNLIKE = ["greedy", "random", "planner", "cautious", "mine", "mine2", "mine3", "bot-1", "bot-2", "ann", "anna"]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_share_a_skeleton(one: str, other: str) -> None:
    """So that the second of them is refused."""
    assert NAME.fullmatch(one)
    assert NAME.fullmatch(other)
    assert skeleton(one) == skeleton(other)


def test_names_that_differ_do_not() -> None:
    """Nobody should have to look for a name for long."""
    assert all(skeleton(one) != skeleton(other) for one, other in itertools.combinations(UNLIKE, 2))


def test_a_manifest_one_folder_too_deep_is_found(tmp_path: Path) -> None:
    """As archives and clones often have it; the folder to hand in is named."""
    (tmp_path / "mine/inner").mkdir(parents=True)
    (tmp_path / "mine/inner/bot.toml").write_bytes(RUN)
    with pytest.raises(BadSubmission, match=r"mine' has no bot.toml, but there is one in .*mine/inner': hand in that"):
        read_program(tmp_path / "mine")


@pytest.mark.parametrize(
    ("files", "script"),
    [(["bot.py", "cards.py"], "bot.py"), (["mine.py", "notes.txt", "cards/__init__.py", "._mine.py"], "mine.py")],
)
def test_a_folder_without_a_manifest_may_be_clear(files: list[str], script: str, tmp_path: Path) -> None:
    """It runs what is called as everybody's, or the only program that is there."""
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert read_program(tmp_path, name="mine").run == ("python", script)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["one.py", "two.py"], 'it needs at least: run = ["python", "one.py"]'),
        (["cards.py", "main.py"], 'it needs at least: run = ["python", "main.py"]'),
        (["cards/bot.py"], 'it needs at least: run = ["python", "bot.py"]'),
        (["ann/bot.py", "ben/bot.py"], "if each folder in it is a bot, hand in "),
        ([], "is empty"),
        (["bot.py", "bot.toml.txt"], "has no bot.toml, but bot.toml.txt: rename it"),
        (["bot.py", "Bot.toml"], "has no bot.toml, but Bot.toml: rename it"),
        (["bot.py", "inner/bot.toml"], "hand in that folder"),
    ],
)
def test_a_folder_whose_program_is_not_clear_needs_one(files: list[str], why: str, tmp_path: Path) -> None:
    """Nothing is guessed where its author has said it, or there are several; Windows hides the end of a name."""
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(BadSubmission, match=re.escape(why)):
        read_program(tmp_path)
