"""A run plans what it reaches: blocks, results and hashes are as if all had been planned at once."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from arena.tournament import block_player
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.verification import verify_home
from arena.worker.jobs import Played, Task
from ladder import store
from ladder.store import legs
from tests.cli.commands import typed
from tests.tournament import playing

BOTS = ["ann", "bob", "cid", "dan", "eve"]
MATCHES = {2: 40, 3: 120}
"""Those of five bots in two rounds, by seats."""


class StoppedAfter(playing.ByTheRules):
    """Workers that are stopped after some matches."""

    def __init__(self, matches: int) -> None:
        super().__init__()
        self._left = matches

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        for results in super().play(tasks):
            self._left -= 1
            if not self._left:
                self.stop()
            yield results


def made(home: Path, seats: int) -> Path:
    """A home in which the bots have played one round of the ladder."""
    home.parent.mkdir()
    playing.make(home, "birth", BOTS, 1, seats=seats)
    return home


def played(home: Path, seats: int, stop: int = sys.maxsize, totals: list[int] | None = None) -> int:
    """Play what three rounds lack; return how many matches that were."""
    with store.open(home, checkpoints=True) as db, StoppedAfter(stop) as workers:
        (ladder,) = store.ladders.all(db, seats=seats)
        shown = [] if totals is None else totals
        request = LadderRequest(BOTS, 3)
        run = run_ladder(db, home, ladder, request, workers=workers, report=lambda _done, total: shown.append(total))
        assert run.played + store.ladders.counts(db, ladder).scheduled + run.beyond <= MATCHES[seats]
        return run.played


def outcome(home: Path) -> tuple[str, Sequence[object], Sequence[object]]:
    """The hash, the blocks and the legs; everything that is stored passes the checks."""
    assert verify_home(home, jobs=1, report=lambda _done, _total: None).difference is None
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
        tables = ("SELECT begin, end FROM blocks ORDER BY begin", "SELECT leg, rounds, most, open FROM legs")
        blocks, all_legs = (db.execute(table).fetchall() for table in tables)
        return store.ratings.keep_hash(db, ladder), blocks, all_legs


@pytest.mark.parametrize("seats", [2, 3])
def test_blocks_are_the_same_wherever_pieces_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seats: int) -> None:
    """One that has lasted long ends if what is left is worth a block of its own, planned or not."""
    monkeypatch.setattr(block_player, "SMALL", 12)
    monkeypatch.setattr(block_player, "PHASE_SECONDS", 0.0)
    found = []
    for piece in (500, 1, 4):
        monkeypatch.setattr(legs, "PIECE", piece)
        home = made(tmp_path / str(piece) / "home", seats)
        assert played(home, seats) == MATCHES[seats]
        found.append(outcome(home))
    assert found[0] == found[1] == found[2]
    assert len(found[0][1]) > 1


@pytest.mark.parametrize("seats", [2, 3])
def test_a_run_that_is_stopped_goes_on_in_its_leg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seats: int) -> None:
    """However often: the hash is that of a run in one go, and little more was planned than was played."""
    whole = made(tmp_path / "whole" / "home", seats)
    played(whole, seats)
    monkeypatch.setattr(legs, "PIECE", 2)
    home = made(tmp_path / "pieces" / "home", seats)
    before = 0
    while more := played(home, seats, stop=7):
        before += more
        with store.open_read(home) as db:
            (planned,) = db.execute("SELECT count(*) FROM matches").fetchone()
        assert planned <= MATCHES[seats] // 2 + before + (7 + 2) * seats
    assert (outcome(home)[0], outcome(home)[2]) == (outcome(whole)[0], outcome(whole)[2])


def test_progress_knows_all_matches_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of those that are not planned yet."""
    monkeypatch.setattr(legs, "PIECE", 2)
    totals: list[int] = []
    played(made(tmp_path / "first" / "home", 2), 2, totals=totals)
    assert {*totals} == {MATCHES[2]}


def test_who_begins_a_long_ladder_is_told_how_long_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows yet how long its bots think: at least the number of matches is known."""
    monkeypatch.setattr("arena.cli.ladder.MANY", 12)
    home = ("--home", str(tmp_path / "home"), "-j", "1")
    words = ("ladder", "--game", "birth", "--bots", "random,greedy,cautious", *home, "--rounds")
    for rounds, is_said in (("1", False), ("3", False)):
        assert ("matches are to be played" in typed(*words, rounds).err) == is_said
    ran = typed(*words, "2", "--players", "3")
    assert "some 12 matches are to be played; how long that takes is shown once some are over" in ran.err
