"""A folder to run commands in, and a home in it with a finished ladder."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena import games
from arena.referee.limits import Limits
from ladder import store

ESCAPES = "\x1b[31mred\x1b[0m \u202e \x07"
"""Text that a hostile bot may print: escape sequences that change what a terminal shows."""


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    return tmp_path


@pytest.fixture
def home(cwd: Path) -> Path:
    """The default home of the working directory, with a finished ladder in it."""
    make_home(cwd / ".arena")
    return cwd / ".arena"


def make_home(home: Path, *, rated: bool = True) -> None:
    """Make a home with a finished ladder of BIRTH between ann and bob, without playing it; bob has a second version.

    Bob forfeited the last match, with every kind of evidence. If not `rated`, the first match is still to be played.
    """
    with store.open(home, checkpoints=True) as db:
        for name, digest in (("ann", "a"), ("bob", "b"), ("bob", "c")):
            store.bots.add(db, store.bots.NewBot(name, digest * 64, games=["birth"], run=["./run"], origin="submitted"))
            (home / "bots" / (digest * 64)).mkdir(parents=True)
        birth = games.game("birth")
        key = store.records.LadderKey("birth", 2, birth.options({}), Limits().plain(), birth.rules_version)
        ladder = store.ladders.find_or_make(db, key, draw_probability=0.0, seed="known")
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=2)
        *clean, last = list(store.ladders.scheduled(db, ladder))[0 if rated else 1 :]
        store.matches.record(db, ladder, [_won(match.id) for match in clean])
        store.matches.record(db, ladder, [_crashed(last.id, last.line_up.index("bob@1"))])
        store.ratings.apply(db, ladder)


def _won(match: str) -> store.records.FinishedMatch:
    return store.records.FinishedMatch(
        match, (store.records.SeatOutcome(0, 7), store.records.SeatOutcome(1, 3)), b"[]", b""
    )


def _crashed(match: str, loser: int) -> store.records.FinishedMatch:
    evidence = {
        "detail": f"the process was killed {ESCAPES}",
        "exit": "was killed by SIGSEGV",
        "request": {"match": 1, "decision": 4, "legal": [1, 2, 3]},
        "command": ["./my bot", "--fast"],
        "output": ["Traceback", f"last words {ESCAPES}"],
    }
    seats = [store.records.SeatOutcome(0, 7), store.records.SeatOutcome(0, 7)]
    seats[loser] = store.records.SeatOutcome(1, 0, "crash", evidence, 3, 0.5, 0.25)
    return store.records.FinishedMatch(match, tuple(seats), b"[]", b"")
