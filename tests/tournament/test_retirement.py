"""Retiring a bot while a ladder is running."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from ladder import store
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import programs

ROUNDS = 200
LADDER = ("ladder", "--game", "birth", "--seed", "same", "--bots", "sleeps,random,cautious", "-j", "2")
SECONDS = 40.0
"""Time within which the ladder ends; with the slow bot it would take minutes."""


@pytest.mark.long
def test_a_bot_that_is_retired_holds_a_ladder_up_no_more(cwd: Path) -> None:
    """Its matches in play are abandoned within seconds, and all other matches are played.

    When the retirement is undone, the next run plays the matches that the bot missed.
    """
    programs.enter(cwd, sleeps=programs.SLEEPS)
    words = [str(ARENA), *LADDER, "--rounds", str(ROUNDS)]
    process = subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True)
    try:
        wait_for_matches(cwd, "sleeps@1")
        told = arena("retire", "sleeps", cwd=cwd).out
        begun = time.monotonic()
        board, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, said
    assert time.monotonic() - begun < SECONDS
    assert "retired or banned meanwhile: sleeps@1; what they were to play is dropped" in said
    dropped = int(told.removeprefix("retired sleeps@1; ").split()[0].replace(",", ""))
    with store.open_read(cwd / ".arena") as db:
        (ladder,) = store.ladders.all(db)
        assert store.ladders.counts(db, ladder) == store.records.Counts(0, 6 * ROUNDS - dropped, 0, dropped)
        assert store.ratings.rateable_range(db, ladder)[0] == 6 * ROUNDS
    assert f"{dropped:,} dropped" in board.splitlines()[0]
    assert arena("verify", cwd=cwd).code == 0
    assert arena("retire", "sleeps", "--undo", cwd=cwd).out == "back in the field: sleeps@1\n"
    again = json.loads(arena(*LADDER, "--rounds", "1", "--json", cwd=cwd).out)
    assert again["played"] == 4
    assert arena("verify", cwd=cwd).code == 0


def wait_for_matches(cwd: Path, label: str) -> None:
    """Wait until more than two results of the bot are stored."""
    deadline = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < deadline
        with store.open_read(cwd / ".arena") as db:
            if db.execute("SELECT count(*) FROM seats WHERE version = ?", [label]).fetchone()[0] > 2:
                return
        time.sleep(0.05)
