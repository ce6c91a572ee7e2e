"""Bots that come while a ladder runs: they play as soon as the block that is played then is over."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from subprocess import PIPE

import pytest
from sqlite_utils import Database

from arena import games, roster, submission
from arena.tournament import block_player, field_watch, ladder_run
from arena.tournament.budget import Budget
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.run_result import Run
from arena.tournament.verification import verify_home
from arena.worker.jobs import Played, Task
from ladder import store
from ladder.newcomers import FIRST
from ladder.store.legs import Leg
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import playing, programs

LADDER = ("ladder", "--game", "birth", "--seed", "same", "-j", "2")
BOTS = [f"bot{number}" for number in range(10)]


class Visited(playing.ByTheRules):
    """Workers during whose matches somebody enters bots: after so many matches each."""

    def __init__(self, home: Path, visits: dict[int, str]) -> None:
        super().__init__()
        self._home = home
        self._visits = visits
        self._played = 0

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        for results in super().play(tasks):
            self._played += 1
            if self._played in self._visits:
                enter(self._home, self._visits[self._played], f"after {self._played} matches")
            yield results


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes is noticed with the next result, and whatever is lacking is worth a leg of newcomers."""
    monkeypatch.setattr(field_watch, "NEWS", -1.0)
    monkeypatch.setattr(block_player, "GATHERING", 0.0)
    monkeypatch.setattr(ladder_run, "SMALL", 0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which ten bots have played one round."""
    playing.make(tmp_path / ".arena", "birth", BOTS, 1)
    return tmp_path / ".arena"


def enter(home: Path, name: str, text: str) -> None:
    """Submit a bot from another process, as far as the run can tell; the program of one who is "lost" is moved away."""
    with store.open(home) as other:
        source = home.with_name(f"{name}.py")
        source.write_text(f"# {text}\n")
        kept = submission.store(submission.read_program(source, plays=["birth"]), roster.folder(home))
        store.bots.add(other, store.bots.NewBot(name, kept.digest, games=kept.games, run=kept.run, origin="submitted"))
        if name == "lost":
            kept.root.rename(kept.root.with_name("moved"))


def field(db: Database) -> list[str]:
    """The field as `arena ladder` chooses it, without the built-in bots."""
    return [label for label in roster.players(db, games.game("birth"), slow=False) if "@" in label]


def run(home: Path, visits: dict[int, str], matches: int | None = None, rounds: int | None = 3) -> Run:
    """Play while bots come."""
    with store.open(home, checkpoints=True) as db, Visited(home, visits) as workers:
        (ladder,) = store.ladders.all(db)
        budget = Budget(matches=matches)
        request = LadderRequest(partial(field, db), rounds, budget=budget)
        return run_ladder(db, home, ladder, request, workers=workers, report=lambda _done, _total: None)


def all_legs(home: Path) -> Sequence[tuple[int, set[str], list[str]]]:
    """Of each leg the number of groups, the field and the newcomers."""
    with store.open_read(home) as db:
        rows = db.execute(
            "SELECT count(*), l.field, coalesce(l.newcomers, '[]') FROM legs l JOIN groups g USING (leg) GROUP BY leg"
        )
        return [(count, {*json.loads(field)}, json.loads(new)) for count, field, new in rows]


def outcome(home: Path) -> str:
    """The ladder's hash; everything that is stored passes the checks."""
    found = verify_home(home, jobs=1, report=lambda _done, _total: None)
    assert found.difference is None, found.difference
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
        return store.ratings.keep_hash(db, ladder)


def replayed(home: Path, other: Path) -> str:
    """The hash of another home, in which the same bots play the same legs, each in one piece."""
    other.mkdir(parents=True)
    with store.open(other, checkpoints=True) as db, store.open_read(home) as source, playing.ByTheRules() as workers:
        (old,) = store.ladders.all(source)
        ladder = store.ladders.find_or_make(db, old.key, draw_probability=old.draw_probability, seed=old.seed_text)
        for row in source.query("SELECT * FROM versions"):
            db["versions"].insert(row)
        (home / "bots").rename(other / "bots")
        for (groups, *_), row in zip(all_legs(home), source.query("SELECT * FROM legs ORDER BY leg"), strict=True):
            new = json.loads(row["newcomers"] or "[]")
            leg = Leg(db, ladder, json.loads(row["field"]), row["rounds"], groups, newcomers=new)
            assert leg.more() == groups
            request = LadderRequest(json.loads(row["field"]), row["rounds"], budget=Budget(matches=0))
            run_ladder(db, other, ladder, request, workers=workers, report=lambda _done, _total: None)
    (other / "bots").rename(home / "bots")
    return outcome(other)


def test_who_comes_is_rated_before_the_others_go_on(home: Path, tmp_path: Path) -> None:
    """The block ends soon, the next leg is the newcomer's, and then the whole field's; other legs give the same hash.

    All rounds are complete in the end.
    """
    result = run(home, {7: "new"})
    assert result.joined == ("new@1",)
    before, cut, first, rest = all_legs(home)
    assert before[0] == 45
    assert 4 <= cut[0] <= 8
    assert (first[0], first[2]) == (FIRST, ["new@1"])
    assert (rest[0], rest[2]) == (3 * 55 - 45 - cut[0] - FIRST, [])
    assert outcome(home) == replayed(home, tmp_path / "other" / ".arena")


def test_two_who_come_together_share_a_leg(home: Path) -> None:
    """And so does who comes while others have theirs: later, in one of its own."""
    run(home, {7: "new", 8: "news", 30: "newest"})
    assert [new for _, _, new in all_legs(home) if new] == [["new@1", "news@1"], ["newest@1"]]
    outcome(home)


def test_a_new_version_takes_the_place_of_the_old_one(home: Path) -> None:
    """The old one has no place in legs that begin later, as if the command had been typed then."""
    run(home, {7: "bot3"})
    assert [{"bot3@1", "bot3@2"} & labels for _, labels, _ in all_legs(home)][1:] == [
        {"bot3@1"},
        {"bot3@2"},
        {"bot3@2"},
    ]
    outcome(home)


def test_who_cannot_play_keeps_nobody_from_it(home: Path) -> None:
    """The run goes on, and says at its end why it left the bot out."""
    result = run(home, {7: "lost", 9: "new"})
    assert result.joined == ("new@1",)
    ((label, why),) = result.left_out
    assert (label, why.partition(" from ")[0]) == ("lost@1", "the program of lost@1 is gone")
    assert [new for _, _, new in all_legs(home) if new] == [["new@1"]]
    with store.open_read(home) as db:
        lost = roster.folder(home) / store.bots.find(db, "lost").digest
    lost.with_name("moved").rename(lost)
    outcome(home)


@pytest.mark.parametrize("matches", [10, 20, 31, 70])
def test_a_budget_counts_the_matches_of_newcomers(home: Path, matches: int) -> None:
    """Whatever it allows: every group is complete, and the next run goes on."""
    assert run(home, {7: "new"}, matches=matches, rounds=None).played == matches // 2 * 2
    outcome(home)
    run(home, {}, rounds=3)
    assert sum(groups for groups, _, _ in all_legs(home)) == 3 * 55
    outcome(home)


def test_where_little_is_lacking_who_comes_plays_with_everybody_else(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leg of newcomers would only end the bots once more."""
    monkeypatch.setattr(ladder_run, "SMALL", 1000)
    assert run(home, {7: "new"}).joined == ("new@1",)
    assert [new for _, _, new in all_legs(home)] == [[], [], []]
    outcome(home)


def test_a_field_that_was_named_stays(home: Path) -> None:
    """Who names bots plays these, whoever comes."""
    with store.open(home, checkpoints=True) as db, Visited(home, {7: "new"}) as workers:
        (ladder,) = store.ladders.all(db)
        request = LadderRequest(BOTS, 2)
        result = run_ladder(db, home, ladder, request, workers=workers, report=lambda _done, _total: None)
    assert (result.played, result.joined) == (90, ())


@pytest.mark.long
def test_a_bot_that_is_submitted_while_a_ladder_runs_is_soon_rated(cwd: Path) -> None:
    """By commands as people type them; the ladder goes on until it is interrupted, and all that is stored fits."""
    assert arena(*LADDER, "--rounds", "1", cwd=cwd).code == 0
    words = [str(ARENA), *LADDER, "--rounds", "10000"]
    process = subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True)
    try:
        wait_until(lambda: results(cwd) > 100)
        programs.enter(cwd, late=programs.FIRST)
        wait_until(lambda: rated(cwd)["late@1"] > 0)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, said
    assert "joined meanwhile: late@1" in said
    assert [new for _, _, new in all_legs(cwd / ".arena") if new] == [["late@1"]]
    assert arena("verify", cwd=cwd).code == 0


def results(cwd: Path) -> int:
    """How many matches have a result."""
    with store.open_read(cwd / ".arena") as db:
        return int(db.execute("SELECT count(*) FROM matches WHERE status = 'done'").fetchone()[0])


def rated(cwd: Path) -> Counter[str]:
    """How many rated matches each bot has."""
    with store.open_read(cwd / ".arena") as db:
        return Counter(dict(db.execute("SELECT version, matches FROM ratings").fetchall()))


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until it is so, as long as a busy machine may take."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
