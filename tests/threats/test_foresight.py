"""What a bot foresees of its dice that has its other processes tell it, by any way they find: in ladders that it plays.

Against its twin, which is the same program without that: who foresees nothing plays exactly alike, on the same dice.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import pytest

from arena import submission
from arena.roster.bots import enter_bot
from arena.sandbox import Grade
from ladder import store
from ladder.shares import Estimate
from tests.cli.commands import arena
from tests.needs import grades
from tests.worker.conftest import HOSTILE

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

GAME = "burning-desire"
FORESEER = HOSTILE.with_name("foreseer.py")
PLANNER = Path(__file__).parents[2] / "bots/python/builtin/burning_desire"


class Met(NamedTuple):
    """What came of a ladder of the foreseer and its twin."""

    share: Estimate
    """Of the points, what the foreseer took."""
    forfeits: int


def enter_both(cwd: Path, *switches: str) -> None:
    """The foreseer with these switches, and its twin; without the qualification that submitting has."""
    with store.open(cwd / ".arena") as db:
        for name, own in (("foreseer", switches), ("twin", ())):
            shutil.copytree(PLANNER, cwd / name / PLANNER.name)
            shutil.copy(FORESEER, cwd / name)
            words = ", ".join(f'"{word}"' for word in ("python", FORESEER.name, *own))
            (cwd / name / "bot.toml").write_text(f"run = [{words}]\n")
            enter_bot(db, cwd / ".arena", submission.read_program(cwd / name, plays=[GAME]), "submitted")


def met(cwd: Path, rounds: int, *switches: str, grade: Grade = Grade.D) -> Met:
    """A ladder of two matches a round, in which nobody is ever late."""
    enter_both(cwd, *switches)
    words = ["--game", GAME, "--seed", "foreseen", "--bots", "foreseer,twin", "-j", "2", "--limit", "60s"]
    ran = arena("ladder", *words, "--rounds", str(rounds), "--sandbox", grade.value, cwd=cwd, patience=280)
    assert ran.code == 0, ran.err
    with store.open_read(cwd / ".arena") as db:
        (ladder,) = store.ladders.all(db)
        share = store.evidence.of_ladder(db, ladder).head_to_head("foreseer@1", "twin@1")
        faults = [*store.matches.faults(db, "foreseer"), *store.matches.faults(db, "twin")]
    assert share is not None
    assert share.groups == rounds
    return Met(share, sum(sum(each.forfeits.values()) for each in faults))


class Traced(NamedTuple):
    """What the foreseer's processes say, after each match, of what they were told."""

    heard: dict[str, int]
    """By process, how many rolls it heard its siblings had told."""
    used: int
    """The choices that were made by what somebody had told."""


def traced(trace: Path) -> Traced:
    """No bot reads that file."""
    heard, used = dict[str, int](), 0
    for process, rolls, choices in (line.split() for line in trace.read_text().splitlines()):
        heard[process] = max(heard.get(process, 0), int(rolls))
        used += int(choices)
    return Traced(heard, used)


@pytest.fixture
def name() -> str:
    """Of a keeper that nobody else has."""
    return f"foreseer-{token_hex(8)}"


@contextmanager
def kept(name: str) -> Iterator[None]:
    """A keeper that was not started by a bot, so that no phase ends it."""
    words = [sys.executable, str(FORESEER), "--keep", name]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as keeper:
        assert keeper.stdout is not None
        keeper.stdout.readline()
        try:
            yield
        finally:
            keeper.kill()


@pytest.fixture
def notes() -> Iterator[Path]:
    """A folder in which everybody may write, if it is not the sandbox that keeps them from it."""
    with tempfile.TemporaryDirectory(prefix="notes", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_what_living_processes_tell_each_other_gains_nothing(cwd: Path, name: str) -> None:
    """Two thousand matches where nothing keeps processes apart: the channel works, and what it tells comes too late.

    Its keeper is a process that bots left on their own, in another session, and ends with the phase like them.
    """
    share, forfeits = met(cwd, 1000, "--keeper", name, "--trace", str(cwd / "trace"))
    trace = traced(cwd / "trace")
    assert len(trace.heard) >= 4, "two workers, and two phases at least"
    assert sum(rolls > 1000 for rolls in trace.heard.values()) >= 2
    assert (trace.used, forfeits) == (0, 0)
    assert share.low <= 0.5 <= share.high


def test_the_same_channel_gains_if_somebody_keeps_it_alive(cwd: Path, name: str) -> None:
    """Or the test before would prove nothing: it is the end of all processes that makes it worthless."""
    with kept(name):
        share, _ = met(cwd, 200, "--keeper", name, "--trace", str(cwd / "trace"))
    assert traced(cwd / "trace").used > 1000
    assert share.low > 0.5


def test_notes_in_files_gain_at_grade_d(cwd: Path, notes: Path) -> None:
    """Where nothing is promised, and the documents say so."""
    share, _ = met(cwd, 200, "--notes", str(notes), "--trace", str(cwd / "trace"))
    assert traced(cwd / "trace").used > 1000
    assert share.low > 0.5


def test_who_finds_notes_confesses(cwd: Path, notes: Path) -> None:
    """If it is to, by a choice that is not legal: the one thing that a bot can say from within a sandbox."""
    assert met(cwd, 10, "--notes", str(notes), "--confess").forfeits > 0


@pytest.mark.parametrize("grade", grades("ABC"))
def test_no_process_finds_notes_in_files_where_a_sandbox_holds(grade: Grade, cwd: Path, notes: Path) -> None:
    """Writing fails, or what was written is gone with the process, wherever it tries."""
    share, forfeits = met(cwd, 200, "--notes", str(notes), "--confess", grade=grade)
    assert forfeits == 0
    assert list(notes.iterdir()) == []
    assert share.low <= 0.5 <= share.high
