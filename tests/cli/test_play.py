"""A person plays: `arena play` in a terminal, where lines come from a pipe, and in a browser."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import termios
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena import games
from arena.games import names as game_names
from arena.games.rules import Mark
from arena.people import rulebook
from arena.people.person import HELP, chosen_action, paint
from arena.site.tables import FAILED
from tests.cli.commands import ARENA, PATIENCE, environment, typed
from tests.cli.test_leaderboard import use_terminal
from tests.site.people import Person
from tests.tournament import programs

ROLLS = ["roll", "quit", "place 1,1", "place 1,2"]


@pytest.mark.parametrize(
    ("answer", "names", "meant"),
    [
        ("2", ROLLS, ["quit"]),
        ("quit", ROLLS, ["quit"]),
        ("q", ROLLS, ["quit"]),
        ("  Place   1,2 ".strip(), ROLLS, ["place 1,2"]),
        ("place", ROLLS, ["place 1,1", "place 1,2"]),
        ("", ["roll"], ["roll"]),
        ("", ROLLS, []),
        ("0", ROLLS, []),
        ("5", ROLLS, []),
        ("keep 1", ["keep 1", "keep 1 1"], ["keep 1"]),
        ("fold", ["Fold", "Raise"], ["Fold"]),
        ("r", ["Fold", "Raise"], ["Raise"]),
        ("3", ["5", "4", "3", "2"], ["3"]),
        ("9" * 5000, ROLLS, []),
        ("bank", ROLLS, []),
    ],
)
def test_an_answer_is_a_number_a_name_or_its_beginning(answer: str, names: Sequence[str], meant: list[str]) -> None:
    """A whole name is meant even if others begin with it; Enter alone only where there is one choice."""
    assert chosen_action(answer, names) == meant


def played(cwd: Path, *words: str, answers: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [ARENA, "play", *words],
        cwd=cwd,
        env=environment(),
        input=answers,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", game_names())
def test_a_person_plays_every_game_to_its_end(name: str, tmp_path: Path) -> None:
    """By number alone: the first choice always. The match is kept, with all that was chosen."""
    most = max(games.game(name).seats)
    bots = ["random"] * (most - 1)
    code, out, err = played(tmp_path, *bots, "--game", name, "--seat", "1", "--seed", "a", answers="1\n" * 2000)
    assert code == 0, err
    assert f"{games.game(name).title}, seat 0: random, seat 1: you" in out
    assert len(re.findall(r"(?m)^\d\. seat \d \((?:you|random)\), score -?\d+$", out)) == most
    assert out.endswith("kept as unrated-1 in the new home '.arena'; step by step: arena replay last\n")
    document = json.loads(typed("replay", "last", "--json", "--home", tmp_path / ".arena").out)
    assert document["bots"] == ["random", "you", *["random"] * (most - 2)]
    assert document["forfeits"] == []
    own = [action for seat, action in document["choices"] if seat == 1]
    assert out.count("\n> ") + out.startswith("> ") >= len(own)


def test_what_others_did_is_told_and_what_is_no_choice_explained(tmp_path: Path) -> None:
    """Nothing that is typed ends the match but the end of the input."""
    answers = "?\nfoo\n77\n\nplay\n1\n"
    code, out, err = played(tmp_path, "greedy", "--game", "birth", "--seed", "a", answers=answers)
    assert (code, err.splitlines()[-1]) == (130, "you left the match: it is not kept")
    assert HELP in out
    assert "no choice begins with 'foo'" in out
    assert re.search(r"play may mean play \d, play \d", out)
    assert out.count("type the number of a choice, or its name") == 2
    assert re.search(r"(?m)^(> )?you: play \d\ngreedy: play \d$", out)
    assert list(tmp_path.iterdir()) == []


SLOW = """
def choose(self, turn):
    time.sleep(0.5)
    return turn.legal[0]
"""
CRASHES = """
def choose(self, turn):
    self.log("before the end")
    raise ValueError("too hard")
"""


def test_who_leaves_does_not_wait_for_the_others(tmp_path: Path) -> None:
    """The arena would play the seat of a bot that is gone to its end; a person has no use for that."""
    programs.write(tmp_path, slow=programs.program(SLOW))
    begun = time.monotonic()
    code, _, err = played(tmp_path, "./slow.py", "./slow.py", "--game", "buttons", "--seed", "a", answers="1\n")
    assert (code, err.splitlines()[-1]) == (130, "you left the match: it is not kept")
    assert time.monotonic() - begun < 20, "a match of Buttons has 40 decisions of each bot and more"


def test_a_bot_that_crashes_is_explained_as_after_a_match(tmp_path: Path) -> None:
    """With what it printed, now and in the replay; the person is no longer waited for."""
    programs.write(tmp_path, mine=programs.program(CRASHES))
    code, out, err = played(tmp_path, "./mine.py", "--game", "birth", "--seat", "1", answers="1\n" * 99)
    assert code == 0
    assert "ValueError: too hard" in err
    assert "what to do about it: arena check ./mine.py --game birth" in err
    assert "1. seat 1 (you), score 0\n" in out
    assert "before the end" in typed("show", "last", "--log", "0", "--home", tmp_path / ".arena").out


def test_files_in_the_current_folder_are_not_run(tmp_path: Path) -> None:
    """Bots lie there, and may be called like a module of Python or of a package."""
    for name in ("random", "queue", "click", "rich", "readline"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit('ran')\n")
    code, _, err = played(tmp_path, "greedy", "--game", "birth", answers="1\n" * 99)
    assert (code, (tmp_path / "ran").exists()) == (0, False), err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("greedy", "--game", "birth", "--seat", "2"), "--seat 2: with 2 players there are the seats 0 to 1"),
        (("greedy", "random", "random", "--game", "birth"), "BIRTH is for 2 to 3 players, not 4"),
        (("attach:", "--game", "birth"), "attach: is for `arena match`"),
        (("nobody", "--game", "birth"), "unknown bot 'nobody'"),
        (("greedy", "--game", "birth", "--browser", "--lines"), "--lines is for another program than a browser"),
        (("greedy", "--game", "birth", "--browser", "--seat", "2"), "--seat 2: with 2 players"),
        (("nobody", "--game", "birth", "--browser"), "unknown bot 'nobody'"),
        (("planner", "--game", "birth", "--browser"), "'planner' does not play birth"),
        (("./gone.py", "--game", "birth", "--open"), "no such file or folder: 'gone.py'"),
    ],
)
def test_what_cannot_be_played_is_refused(words: Sequence[str], said: str, tmp_path: Path) -> None:
    """Before anything is asked."""
    code, out, err = played(tmp_path, *words, answers="")
    assert code in {1, 2}
    assert (out, said in err) == ("", True), err


@pytest.mark.parametrize("sign", ["the bots are starting", "BIRTH, seat 0", "> "])
def test_ctrl_c_in_a_terminal_leaves_nothing_behind(sign: str, tmp_path: Path) -> None:
    """It reaches the person's process as well as the command; both end without a traceback, at any moment.

    The terminal shows what is typed, as before.
    """
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(ours)
    words = [str(ARENA), "play", "greedy", "--game", "birth"]
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        text=True,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown = b""
        while sign.encode() not in shown:
            shown += os.read(ours, 4096)
        os.killpg(process.pid, signal.SIGINT)
        with suppress(OSError):  # at the end, when nobody holds the other side any more
            while more := os.read(ours, 4096):
                shown += more
        assert process.wait(PATIENCE) == 130
        assert _alive(process.pid) == []
    after = termios.tcgetattr(ours)
    os.close(ours)
    assert b"Traceback" not in shown
    assert after == before


def _alive(group: int) -> list[int]:
    """The processes of a group that are not over."""
    there = (each for each in psutil.process_iter(["pid", "status"]) if each.info["status"] != psutil.STATUS_ZOMBIE)
    found = []
    for each in there:
        with suppress(ProcessLookupError):
            if os.getpgid(each.info["pid"]) == group:
                found.append(each.info["pid"])
    return found


# --- With a program in between


LINES = ["play", "--lines", "--game", "birth", "--seed", "a"]


@contextmanager
def talking(cwd: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[str], dict[str, Any]]]]:
    """A process that talks in lines, and a function that reads on until a line has this text in it."""
    pipe = subprocess.PIPE
    command = [str(ARENA), *LINES, *words]
    with subprocess.Popen(
        command, cwd=cwd, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        lines = process.stdout
        yield process, lambda sign: json.loads(next(line for line in lines if sign in line))


def test_a_program_plays_in_lines(tmp_path: Path) -> None:
    """It is told all that there is to show, and names the question that it answers; what is no answer is not taken."""
    with talking(tmp_path, "random") as (process, told):
        assert process.stdin is not None
        assert told('"match":')["match"]["bots"] == ["you", "random"]
        first = told('"question":{')
        assert (first["number"], first["previous"], first["step"]["choices"]) == (0, None, [])
        number, legal = first["question"]["number"], [each["action"] for each in first["question"]["choices"]]
        for wrong in ("", "1", "[" * 9999, '{"question": 99, "action": 1}', f'{{"question": {number}, "action": 77}}'):
            process.stdin.write(f"{wrong}\n")
        process.stdin.write(json.dumps({"question": number, "action": legal[0]}) + "\n")
        second = told('"question":{')
        assert second["news"][0]["choices"][0] == {**second["news"][0]["choices"][0], "seat": 0, "action": legal[0]}
        process.stdin.close()
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert [line.strip().partition(":")[0] for line in process.stderr if "sandbox" not in line] == [
            "the bots are starting",
            *["no choice"] * 3,
            f"action 1 is no answer to question {number}",
            f"action 77 is no answer to question {number}",
        ]
    assert list(tmp_path.iterdir()) == []


def test_a_person_whose_table_dies_is_gone(tmp_path: Path) -> None:
    """The process that waits for a choice would otherwise wait for ever."""
    with talking(tmp_path, "random") as (process, told):
        told('"question":{')
        below = psutil.Process(process.pid).children(recursive=True)
        assert len(below) >= 2
        process.kill()
        assert psutil.wait_procs(below, PATIENCE)[1] == []


# --- In a browser


@contextmanager
def in_browser(cwd: Path, *words: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A process that shows a table, with the address of its site and the name of the table. It ends with Ctrl-C."""
    command = [str(ARENA), "play", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=cwd, env=environment() | variables, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stderr is not None
        try:
            address, table = process.stderr.readline().split()[0].split("/play/")
            yield process, address, table
            below = psutil.Process(process.pid).children(recursive=True)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert psutil.wait_procs(below, PATIENCE)[1] == []
        assert process.stderr.read().endswith("the site has ended\n")


@pytest.mark.long
def test_a_person_plays_in_a_browser(tmp_path: Path) -> None:
    """With the options of the command. The result is printed, and the replay can be watched until Ctrl-C."""
    programs.write(tmp_path, mine=programs.FIRST)
    words = ["./mine.py", "--browser", "--game", "birth", "--seat", "1", "--seed", "a", "-o", "start=7"]
    with in_browser(tmp_path, *words) as (process, address, table):
        _, seen = Person(address).play(table, lambda choices: choices[0])
        assert process.stdout is not None
        result = re.compile(r"[12]\. seat \d \(.*\), score \d+\n")
        assert result.fullmatch(process.stdout.readline())
        assert result.fullmatch(process.stdout.readline())
        assert seen[-1]["match"]["options"]["start"] == 7
        assert seen[-1]["match"]["bots"] == ["./mine.py", "you"]
        assert urllib.request.urlopen(f"{address}/unrated/1", timeout=PATIENCE).status == 200
        status, again = Person(address).send(f"/play/{table}/again")
        assert status == 303
        _, other = Person(address).play(again.removeprefix("/play/"), lambda choices: choices[0])
        assert result.fullmatch(process.stdout.readline()), "of every match there the result is printed"
    assert other[-1]["step"]["view"] != seen[-1]["step"]["view"], "the dice are new ones, which nobody knows"
    document = json.loads(typed("replay", "last", "--json", "--home", tmp_path / ".arena").out)
    assert (document["bots"], document["options"]["start"]) == (["./mine.py", "you"], 7)


@pytest.mark.long
def test_ctrl_c_ends_a_match_in_a_browser(tmp_path: Path) -> None:
    """With all its processes, also while a page listens; nothing is kept."""
    with in_browser(tmp_path, "random", "--browser", "--game", "birth") as (_, address, table):
        person = Person(address)
        with person.listening(table) as states:
            assert any(state.get("question") for state in states)
            below = psutil.Process().children(recursive=True)
            words = [each.as_dict(["cmdline"])["cmdline"] or [] for each in below]  # of a zombie there are none
            assert any("--lines" in each for each in words)
            assert not any("--seed" in each for each in words), "anybody on the machine could read the dice"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_open_opens_the_table(tmp_path: Path) -> None:
    """In whatever browser the machine has."""
    opener = tmp_path / "bin/xdg-open"
    opener.parent.mkdir()
    os.mkfifo(tmp_path / "opened")
    opener.write_text(f"#!/bin/sh\necho $1 > {shlex.quote(str(tmp_path / 'opened'))}\n")
    opener.chmod(0o755)
    path = f"{opener.parent}:{os.environ['PATH']}"
    with in_browser(tmp_path, "random", "--open", "--game", "birth", PATH=path) as (_, address, table):
        assert (tmp_path / "opened").read_text() == f"{address}/play/{table}\n"


def test_a_bot_that_cannot_be_played_is_told_on_the_page(tmp_path: Path) -> None:
    """And in the terminal."""
    (tmp_path / "empty").mkdir()
    with in_browser(tmp_path, "./empty", "--browser", "--game", "birth") as (process, address, table):
        with Person(address).listening(table) as states:
            *_, end = states
        assert process.stdout is not None
        assert process.stdout.readline().strip() == end["end"]["told"][0] == FAILED
        assert process.stderr is not None
        assert "empty" in process.stderr.readline()


# --- In colours


def test_a_terminal_with_colours_shows_what_can_be_chosen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe it is plain text; with NO_COLOR what can be chosen is still seen."""
    marks = [Mark(1, 2, 1, "red"), Mark(1, 4, 1, "blue"), Mark(1, 4, 1, "legal"), Mark(0, 0, 6, "own")]
    paint("seat 0\n1 r b", marks)
    assert capsys.readouterr().out == "seat 0\n1 r b\n\n"
    use_terminal(monkeypatch, 80)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    paint("seat 0\n1 r b", marks)
    assert capsys.readouterr().out == "\x1b[1;4mseat 0\x1b[0m\n1 \x1b[31mr\x1b[0m \x1b[1;7;34mb\x1b[0m\n\n"
    monkeypatch.setenv("NO_COLOR", "1")
    paint("seat 0\n1 r b", marks)
    assert capsys.readouterr().out == "\x1b[1;4mseat 0\x1b[0m\n1 r \x1b[1;7mb\x1b[0m\n\n"


def test_a_picture_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """A game of another package may draw what it wants."""
    paint("\x1b[2J", [])
    assert capsys.readouterr().out == "\\x1b[2J\n\n"


@pytest.mark.parametrize("name", game_names())
def test_the_rules_are_told_where_they_are_needed(name: str) -> None:
    """From the page of the games, without its pictures, links and what only authors of bots need."""
    told = rulebook.rules_text(games.game(name))
    assert "The end" in told
    assert "](" not in told
    assert "| action |" not in told
    assert len(told) > 1000


def test_the_rules_name_cells_as_people_type_them() -> None:
    """How their numbers are computed is for authors of bots."""
    told = rulebook.rules_text(games.game("buttons"))
    assert told.endswith("`place 3,2` is the second cell of the third row.")
    assert "(row − 1)" not in told
    assert games.game("buttons").action_name(6 * (3 - 1) + (2 - 1)) == "place 3,2"


def test_where_there_is_no_documentation_the_rules_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arena that was installed has no pages; so it is with a game of another package."""
    monkeypatch.setattr(rulebook, "GAMES_PAGE", Path("nowhere"))
    assert rulebook.rules_text(games.game("birth")).startswith("BIRTH by Takashi Sakaue")


def test_a_question_mark_shows_the_rules_in_a_terminal(tmp_path: Path) -> None:
    """A real one, with colours."""
    ours, theirs = pty.openpty()
    words = [str(ARENA), "play", "greedy", "--game", "birth", "--seed", "a"]
    env = {**environment(), "TERM": "xterm"}
    with subprocess.Popen(
        words, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        try:
            os.close(theirs)
            shown = _read_on(ours, "> ")
            assert b"\x1b[1;4mseat 0\x1b[0m" in shown
            assert re.search(rb"\x1b\[1;7m\d\x1b\[0m", shown)
            os.write(ours, b"?\n")
            assert b"Pawns move around a ring" in _read_on(ours, "winner.")
        finally:
            os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    os.close(ours)


def _read_on(terminal: int, sign: str) -> bytes:
    """Read what a terminal shows, until it has shown this, for 60 s at most."""
    shown, deadline = b"", time.monotonic() + 60
    while sign.encode() not in shown:
        assert time.monotonic() < deadline, shown[-200:]
        if select.select([terminal], [], [], 1.0)[0]:
            shown += os.read(terminal, 4096)
    return shown
