"""The questions of a match put to a bot again: the same build chooses the same, and another shows where it differs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ladder import store
from tests.cli.commands import arena
from tests.tournament import programs

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]  # whichever comes first plays the ladder

MINE = programs.program("""
updates, seen = True, 0
def update(self, update):
    self.seen += 1
def choose(self, turn):
    return turn.legal[(self.seen + self.random.randrange(9)) % len(turn.legal)]
""")


MENDED = programs.program("""
def choose(self, turn):
    self.log("tagged", turn.number)
    print("untagged", turn.number)
    return turn.legal[0]
""")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished ladder between two bots, one of which gives up in the end."""
    cwd = tmp_path_factory.mktemp("debug")
    programs.write(cwd, mine=MINE, fails=programs.CRASHES_SECOND)
    ladder = ("ladder", "--game", "birth", "--rounds", "1", "--bots", "mine,fails", "--seed", "debug")
    for words in (("submit", "mine.py", "-g", "birth"), ("submit", "fails.py", "-g", "birth"), ladder):
        ran = arena(*words, cwd=cwd)
        assert ran.code == 0, ran.err
    return cwd


def first(cwd: Path, bot: str) -> Any:
    """The match of a bot that is listed first: with its forfeit, if it has one."""
    return json.loads(arena("show", bot, "--json", cwd=cwd).out)["matches"][0]


def debug(cwd: Path, match: Any, bot: str, *words: str) -> Any:
    return arena("debug", match["id"], "--seat", str(match["seat"]), bot, *words, cwd=cwd)


def test_the_same_build_chooses_the_same(played: Path) -> None:
    """Its luck and the updates it asked for come again as they were."""
    ran = debug(played, first(played, "mine"), "mine@1")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("0 of ")


def test_another_build_shows_where_it_differs(played: Path) -> None:
    """By number and name; exit code 3."""
    programs.write(played, other=MINE.replace("randrange(9)", "randrange(9) + 1"))
    ran = debug(played, first(played, "mine"), "./other.py")
    assert ran.code == 3
    head, _, difference, *_, last = ran.out.splitlines()
    assert head.split() == ["decision", "in", "the", "match", "this", "build"]
    assert difference.split()[1] == difference.split()[3] == "play"
    assert last.endswith("decisions differ")


def test_a_choice_that_is_not_legal_is_said(played: Path) -> None:
    """Even if the match had the same one: that nothing differs does not mean that it is mended."""
    programs.write(played, illegal=programs.program("def choose(self, turn): return 999"))
    ran = debug(played, first(played, "mine"), "./illegal.py")
    assert ran.code == 3
    assert re.fullmatch(r"decision \d+: this build chooses 999.*, which is not legal", ran.out.splitlines()[-1])


def test_a_fault_comes_again(played: Path) -> None:
    """By the very command that the fault card names, with the decision at which it comes and the position."""
    match = first(played, "fails")
    card = arena("show", match["id"], cwd=played).out.splitlines()
    (again,) = [line.removeprefix("  again: arena ") for line in card if line.startswith("  again:")]
    ran = arena(*again.split(), cwd=played)
    assert (ran.code, ran.out) == (3, "")
    *_, decision, asked, counted, printed, error = ran.err.splitlines()
    assert counted == "match 1: a process counts the matches that it plays, and this one plays no other"
    (number,) = re.findall(r"^decision (\d+): play ", decision)
    assert asked.startswith('it was asked: {"match": 1, "decision": ' + number + ', "legal": [')
    assert printed == r"  | \x1b[31mred\x1b[0m"
    assert error == f"Error: it failed at decision {number}: the process exited with code 7"


def test_the_seat_may_be_left_out_where_one_forfeited(played: Path) -> None:
    """It is whom one asks about."""
    match = first(played, "fails")
    failed = arena("debug", match["id"], "fails@1", cwd=played)
    assert f"seat {match['seat']}, fails@1, which forfeited" in failed.err
    assert failed.code == 3


def test_a_mended_build_answers_where_the_other_failed(played: Path) -> None:
    """One decision, in full: the table, what was legal, what was and what is chosen."""
    match = first(played, "fails")
    number = json.loads(arena("show", match["id"], "--json", cwd=played).out)["seats"][match["seat"]]["evidence"][
        "request"
    ]["decision"]
    programs.write(played, mended=MENDED)
    ran = debug(played, match, "./mended.py", "--at", str(number))
    assert ran.code == 3
    assert re.findall(r"(?m)^  \| (.*)$", ran.out) == [f"tagged {number}", f"untagged {number}"]
    assert f"decision {number}: play " in ran.out
    assert "in the match: no answer; this build: play " in ran.out


def test_a_decision_of_somebody_else_is_said(played: Path) -> None:
    """With those that there are."""
    match = first(played, "mine")
    ran = debug(played, match, "mine@1", "--at", str(2 - match["seat"]))
    assert ran.code == 1
    assert f"seat {match['seat']} was asked the decisions {1 + match['seat']}, " in ran.err


def test_no_die_is_shown_before_its_time(played: Path, tmp_path: Path) -> None:
    """A group's dice are one bot's future until all of its matches are over."""
    shutil.copytree(played / ".arena", tmp_path / ".arena")
    with store.open(tmp_path / ".arena", checkpoints=True) as db:
        match = first(played, "mine")
        db.execute("UPDATE matches SET status = 'scheduled' WHERE id != ?", [match["id"]])
    ran = debug(tmp_path, match, "mine@1")
    assert (ran.code, ran.out) == (1, "")
    assert "known when every match of its group is done" in ran.err
