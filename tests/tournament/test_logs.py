"""What bots print while they play is kept with the match that it belongs to, and shown to whoever asks for it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from sqlite_utils import Database

from arena.tournament.budget import Budget
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.worker.jobs import Played, Task
from ladder import store
from tests.cli.commands import ARENA, PATIENCE, arena, environment, typed
from tests.tournament import playing, programs
from tests.tournament.playing import ByTheRules

BIRTH = ("--game", "birth")
SAYS = programs.program("""
def start(self):
    self.log("seat", self.seat, "of", self.seats)

def choose(self, turn):
    self.log(f"decision {turn.number}\\nof two lines")
    return turn.legal[0]

def end(self, end):
    if not end.void:
        self.log("I came", end.ranks[self.seat])
""")
PRINTS = programs.program("""
def choose(self, turn):
    print("at", turn.number)
    return turn.legal[0]
""")
TELLS_AND_DIES = programs.program("""
def choose(self, turn):
    self.log("farewell")
    raise SystemExit(3)
""")


def played(cwd: Path, *words: str) -> Any:
    ran = arena("match", *words, *BIRTH, "--json", cwd=cwd)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def test_each_line_stands_beside_its_step(cwd: Path) -> None:
    """In any of several matches, begun at once: what was said before, at each decision and afterwards."""
    programs.write(cwd, mine=SAYS)
    played(cwd, "./mine.py", "random", "-n", "20")
    for name in ("unrated-1", "unrated-7", "last"):
        shown = typed("replay", name, "--all", "--home", cwd / ".arena").out
        head, *steps, last = re.split(r"(?m)^step ", shown)
        assert [step.partition(":")[0] for step in steps] == [f"{at}, decision {at}" for at in range(1, len(steps) + 1)]
        assert "  seat 0: ./mine.py\n  | seat 0 of 2\n  seat 1: random\n" in head
        for number, step in enumerate([*steps, last], 1):
            said = re.findall(r"(?m)^  \| (.*)$", step)
            assert said[:2] == ([f"decision {number}", "of two lines"] if number % 2 else [])
        assert re.findall(r"  \| (I came \d)", steps[-1] + last) == re.findall(r"I came \d", shown)
        assert len(re.findall(r"I came \d", shown)) == 1


def test_the_log_of_an_unrated_match_is_shown_alone(cwd: Path) -> None:
    """With the decisions at which a replay shows it, and nothing where there is nothing."""
    programs.write(cwd, mine=SAYS)
    played(cwd, "./mine.py", "random")
    home = ("--home", cwd / ".arena")
    document = json.loads(typed("replay", "last", "--json", *home).out)
    log = json.loads(typed("show", "last", "--log", "0", "--json", *home).out)
    assert [[line["decision"], line["text"]] for line in log["lines"]] == document["logs"][0]
    assert (log["match"], log["bot"]) == ("unrated-1", "./mine.py")
    assert typed("show", "unrated-1", "--log", "0", *home).out.startswith("match unrated-1, seat 0 (./mine.py)\n")
    assert "nothing is kept of what it printed here" in typed("show", "last", "--log", "1", *home).out
    wrong = typed("show", "last", "--log", "2", *home)
    said = "Error: --log 2: match unrated-1 has the seats 0 to 1; see `arena show --help`\n"
    assert (wrong.code, wrong.err) == (2, said)


def test_what_is_printed_without_a_tag_is_exact_in_unrated_matches(cwd: Path) -> None:
    """A bot that prints plays one match at a time there, and its lines are known to be of that match."""
    programs.write(cwd, mine=PRINTS)
    played(cwd, "./mine.py", "random", "-n", "30")
    for number in (1, 2, 15, 30):
        document = json.loads(typed("replay", f"unrated-{number}", "--home", cwd / ".arena", "--json").out)
        decisions = range(1, len(document["choices"]) + 1, 2)
        assert document["logs"] == [[[decision, f"at {decision}"] for decision in decisions], []]


def test_a_silent_match_has_no_logs(cwd: Path) -> None:
    """Nor has its document."""
    assert "logs" not in played(cwd, "random", "greedy")["replay"]


def test_the_card_of_a_fault_has_what_was_logged(cwd: Path) -> None:
    """With the match and the decision in words."""
    programs.write(cwd, mine=TELLS_AND_DIES)
    (match,) = played(cwd, "./mine.py", "random")["matches"]
    assert match["evidence"]["0"]["output"] == ["match 1, decision 1: farewell"]
    shown = typed("replay", "last", "--all", "--home", cwd / ".arena").out
    assert "seat 0 (./mine.py) printed at decision 1:\n  | farewell\n\nseat 0 (./mine.py) forfeited" in shown


@pytest.fixture
def ladder(cwd: Path) -> list[str]:
    """A ladder of bots that print, played to its end; gives the ids of the matches of one that logs."""
    programs.enter(cwd, says=SAYS, prints=PRINTS)
    ran = arena("ladder", *BIRTH, "--bots", "says,prints,random", "--rounds", "4", cwd=cwd)
    assert ran.code == 0, ran.err
    with store.open_read(cwd / ".arena") as db:
        return [id for (id,) in db.execute("SELECT match FROM seats WHERE version = 'says@1'")]


def test_a_ladder_keeps_what_bots_log(cwd: Path, ladder: list[str]) -> None:
    """Of every match, by seat and decision, whichever matches the process held meanwhile."""
    home = ("--home", cwd / ".arena")
    for match in ladder:
        card = json.loads(typed("show", match, "--json", *home).out)
        printed = [bot.partition("@")[0] for bot in card["line_up"]]
        assert card["logs"] == [seat for seat, bot in enumerate(printed) if bot != "random"]
        document = json.loads(typed("replay", match, "--json", *home).out)
        for seat in card["logs"]:
            log = json.loads(typed("show", match, "--log", str(seat), "--json", *home).out)
            lines = [[line["decision"], line["text"]] for line in log["lines"]]
            assert document.get("logs", [[], []])[seat] == lines
            numbers = range(seat + 1, len(document["choices"]) + 1, 2)
            if printed[seat] == "says":
                twice = [[number, text] for number in numbers for text in (f"decision {number}", "of two lines")]
                rank = card["seats"][seat]["rank"]
                assert lines == [[None, f"seat {seat} of 2"], *twice, [numbers[-1], f"I came {rank}"]]
            else:
                assert {f"at {number}" for number in numbers} <= {text for _, text in lines} | set(log["meanwhile"])


@pytest.mark.long
def test_the_log_of_a_seat_is_text_for_people(cwd: Path, ladder: list[str]) -> None:
    """With the number of the decision before each line; the card of the match names the command."""
    home = ("--home", cwd / ".arena")
    with store.open_read(cwd / ".arena") as db:
        match, seat = ladder[0], store.matches.find(db, ladder[0]).line_up.index("says@1")
    assert f"what seat {seat} printed: arena show {match} --log {seat}\n" in typed("show", match, *home).out
    head, first, second, *_ = typed("show", match, "--log", str(seat), *home).out.splitlines()
    assert head == f"match {match}, seat {seat} (says@1)"
    assert first.strip() == f"| seat {seat} of 2"
    assert re.fullmatch(rf" *{seat + 1} \| decision {seat + 1}", second)
    ran = typed("show", match, "--log", "2", *home)
    assert (ran.code, ran.err) == (2, f"Error: --log 2: match {match} has the seats 0 to 1; see `arena show --help`\n")
    assert typed("show", "says", "--log", "0", *home).code == 1


@pytest.mark.long
def test_logs_go_with_a_backup(cwd: Path, ladder: list[str]) -> None:
    """They are in the database, and nothing that is verified depends on them."""
    assert arena("backup", "saved", cwd=cwd).code == 0
    assert arena("restore", "saved", "--home", "other", cwd=cwd).code == 0
    before, after = (typed("replay", ladder[0], "--json", "--home", cwd / home).out for home in (".arena", "other"))
    assert before == after
    assert "decision 1" in before
    with store.open(cwd / "other") as db:
        db.execute("UPDATE logs SET lines = x'00'")
    assert typed("verify", "-j", "1", "--home", cwd / "other").code == 0
    shown = typed("replay", ladder[0], "--all", "--home", cwd / "other")
    assert (shown.code, shown.err.count("\n")) == (0, 1)
    assert "what the bots printed is not shown: a log cannot be read" in shown.err


class Stopping(ByTheRules):
    """Workers that are told to stop when they have been dealt some matches of a phase, and give results of none."""

    def __init__(self, dealt: int) -> None:
        super().__init__()
        self.dealt: set[str] = set()
        self._most = dealt

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        for task in tasks:
            self.dealt.add(task.id)
            if len(self.dealt) == self._most:
                break
        self.stop()
        yield []


def run(home: Path, db: Database, ladder: store.Ladder, workers: ByTheRules) -> None:
    """A run that may play five of nine groups."""
    budget = Budget(matches=10)
    with workers:
        run_ladder(
            db, home, ladder, LadderRequest(["ann", "bob"], 10, budget=budget), workers=workers, report=lambda *_: None
        )


def scheduled(db: Database) -> set[str]:
    return {id for (id,) in db.execute("SELECT id FROM matches WHERE status = 'scheduled'")}


def test_what_was_dealt_before_a_stop_stays_scheduled(tmp_path: Path) -> None:
    """Bots saw these dice and may have printed them, so no later run may plan them anew once logs are shown.

    A run with a budget leaves the others unplanned.
    """
    ladder = playing.make(tmp_path, "birth", ["ann", "bob"], 1)
    with store.open(tmp_path) as db:
        workers = Stopping(dealt=3)
        run(tmp_path, db, ladder, workers)
        assert workers.dealt < scheduled(db)
        assert len(scheduled(db)) == 2 * len(workers.dealt)
        run(tmp_path, db, ladder, ByTheRules())
        assert scheduled(db) == set()


class Dying(Stopping):
    """Workers with which the arena dies instead."""

    def stop(self) -> None:
        raise MemoryError


def test_what_may_have_been_dealt_before_a_sudden_end_stays_scheduled(tmp_path: Path) -> None:
    """Nobody knows how much that was, so a run that is stopped before it has finished the leg leaves all of it."""
    ladder = playing.make(tmp_path, "birth", ["ann", "bob"], 1)
    with store.open(tmp_path) as db:
        with pytest.raises(MemoryError):
            run(tmp_path, db, ladder, Dying(dealt=3))
        before = scheduled(db)
        run(tmp_path, db, ladder, Stopping(dealt=1))
        assert scheduled(db) == before
        run(tmp_path, db, ladder, ByTheRules())
        assert not before & scheduled(db)


@pytest.mark.long
def test_after_an_interruption_logs_are_shown_when_the_leg_is_finished(cwd: Path) -> None:
    """Those of matches played before it, too."""
    programs.enter(cwd, says=SAYS, slow=programs.SLOW)
    words = ("ladder", *BIRTH, "--bots", "says,slow", "--rounds", "60", "-j", "1")
    ladder = subprocess.Popen([ARENA, *words], cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE)
    ends = time.monotonic() + PATIENCE
    match = None
    while match is None:
        assert time.monotonic() < ends
        time.sleep(0.05)
        with store.open_read(cwd / ".arena") as db:
            match = db.execute("SELECT match FROM logs WHERE match IS NOT NULL").fetchone()
    ladder.send_signal(signal.SIGINT)
    ladder.communicate(timeout=PATIENCE)
    show = ("show", match[0], "--log", "0", "--home", cwd / ".arena")
    ran = typed(*show)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "is shown when all that was planned with it has been played: `arena ladder --game birth` goes on" in ran.err
    assert arena(*words, cwd=cwd).code == 0
    assert "| decision " in typed(*show).out + typed(*show[:3], "1", *show[4:]).out
