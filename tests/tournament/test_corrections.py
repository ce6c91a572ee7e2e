"""Annulling and banning while a ladder is running."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE

import pytest

from arena.tournament.budget import Budget
from arena.tournament.ladder_run import LadderRequest, run_ladder
from ladder import store
from tests.cli.commands import ARENA, arena, environment, typed
from tests.tournament import playing, programs
from tests.tournament.test_retirement import wait_for_matches

LADDER = ("ladder", "--game", "birth", "--seed", "same", "--bots", "sleeps,random,cautious", "-j", "2")
ROUNDS = 200
SECONDS = 60.0
"""Time within which the ladder ends; with the slow bot it would take minutes."""


def wait_for_a_match_without_sleeps(cwd: Path) -> str:
    """Return the id of a match of the two others, once one is stored."""
    deadline = time.monotonic() + SECONDS
    while True:
        assert time.monotonic() < deadline
        with store.open_read(cwd / ".arena") as db:
            for match in store.matches.of_bot(db, "random", 1000):
                if "sleeps@1" not in match.line_up:
                    return match.id
        time.sleep(0.05)


@pytest.mark.long
def test_a_bot_that_is_banned_while_it_plays_leaves_no_trace(cwd: Path) -> None:
    """Nor does a match that is annulled meanwhile; another group of the same bots is played in its place."""
    programs.enter(cwd, sleeps=programs.SLEEPS)
    words = [str(ARENA), *LADDER, "--rounds", str(ROUNDS)]
    process = subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True)
    try:
        wait_for_matches(cwd, "sleeps@1")
        annulled = arena("annul", wait_for_a_match_without_sleeps(cwd), "--why", "a test", cwd=cwd)
        banned = arena("ban", "sleeps", "--why", "it sleeps", cwd=cwd)
        board, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert (annulled.code, banned.code, process.returncode) == (0, 0, 0), said
    assert "sleeps" not in board
    with store.open_read(cwd / ".arena") as db:
        (ladder,) = store.ladders.all(db)
        counts = store.ladders.counts(db, ladder)
        assert (counts.scheduled, counts.done + counts.annulled + counts.dropped) == (0, 6 * ROUNDS + 2)
        assert counts.annulled == sum(entry.matches for entry in store.journal.entries(db))
        assert {row.label for row in store.ratings.leaderboard(db, ladder)} == {"random@1", "cautious@1"}
        assert store.evidence.find_settled(db, ladder).matches == counts.done
    assert arena("verify", cwd=cwd).code == 0


@pytest.mark.parametrize("step", [1, 12, 31])
def test_a_ladder_goes_on_whatever_is_annulled_meanwhile(tmp_path: Path, step: int) -> None:
    """It neither crashes nor counts what was annulled, at whatever match of the run that was."""
    home = tmp_path / "home"
    playing.make(home, "birth", ["ann", "bob"], 2)
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
    seen: list[Sequence[str]] = []

    def report(done: int, _total: int) -> None:
        if done >= step and not seen:
            with store.open(home) as other:
                played = [id for (id,) in other.execute("SELECT id FROM matches WHERE status = 'done' ORDER BY seq")]
                seen.append([played[0], played[-1]])
                for id in seen[0]:
                    store.annulment.annul_match(other, id, "why")
                store.annulment.ban(other, "eve", "why")

    playing.make(home, "birth", ["ann", "bob", "eve"], 6, report=report)
    with store.open(home) as db:
        store.evidence.settle(db, ladder)
        assert store.ladders.counts(db, ladder).annulled >= 2
        assert {row.label for row in store.ratings.leaderboard(db, ladder)} == {"ann@1", "bob@1"}
    assert typed("verify", "--home", home, "-j", "1").code == 0


@pytest.mark.parametrize("matches", [None, 40])
def test_a_bot_that_is_banned_before_a_leg_is_planned_is_left_out(tmp_path: Path, matches: int | None) -> None:
    """Though the field was chosen before; where too few are left, the run ends as if nothing were missing."""
    home = tmp_path / "home"
    playing.make(home, "birth", ["ann", "bob"], 1)

    class BannedMeanwhile(Budget):
        """A budget; while it reckons what is left, somebody bans ann."""

        def groups_left(self, so_far: int, seats: int) -> int:
            with store.open(home) as other:
                if "ann" not in store.journal.bans(other):
                    store.annulment.ban(other, "ann", "why", keep=True)
            return super().groups_left(so_far, seats)

    with store.open(home, checkpoints=True) as db, playing.ByTheRules(0.0) as workers:
        (ladder,) = store.ladders.all(db)
        budget = BannedMeanwhile(matches=matches)
        bots = ["ann", "bob"]
        run = run_ladder(
            db, home, ladder, LadderRequest(bots, budget=budget), workers=workers, report=lambda _done, _total: None
        )
    assert (run.played, run.retired) == (0, ("ann@1",))


def test_a_killed_annulment_is_mended_by_the_next_run(tmp_path: Path) -> None:
    """It was one transaction, and what follows from it another: in between, nothing is rated."""
    home = tmp_path / "home"
    ladder = playing.make(home, "birth", ["ann", "bob"], 3)
    with store.open(home) as db:
        store.annulment.annul_bot(db, "ann", "why", since=0.0)
        assert store.ratings.leaderboard(db, ladder) == []
    playing.make(home, "birth", ["ann", "bob"], 4)
    with store.open(home) as db:
        assert (
            sum(row.matches for row in store.ratings.leaderboard(db, ladder)) == 2 * 8
        )  # those that were annulled, too
    assert typed("verify", "--home", home, "-j", "1").code == 0
