"""Ladders as users see them, with real commands and real bots."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from ladder import store
from tests.cli.commands import Ran, arena
from tests.tournament import programs

BIRTH = ("--game", "birth")


def data(ran: Ran) -> Any:
    """The JSON that a command printed; fails if its exit code is not 0."""
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def ladder(cwd: Path, *words: str) -> Any:
    return data(arena("ladder", *BIRTH, "--json", *words, cwd=cwd))


def labels(board: Any) -> set[str]:
    return {bot["bot"] for bot in board["bots"]}


def line_ups(cwd: Path, leg: int) -> list[tuple[str, ...]]:
    """The line-ups of a leg, in a home with one ladder."""
    with store.open_read(cwd / ".arena") as db:
        ids = [id for (id,) in db.execute("SELECT id FROM matches ORDER BY seq")]
        matches = [store.matches.find(db, id) for id in ids]
    return [match.line_up for match in matches if match.leg == leg]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in whose home mine@1 and the built-in bots have played a round."""
    folder = tmp_path_factory.mktemp("played")
    programs.enter(folder, mine=programs.FIRST)
    ladder(folder, "--rounds", "1", "--seed", "played")
    return folder


@pytest.fixture
def later(played: Path, cwd: Path) -> Path:
    """A copy of the folder `played`, which a test may change."""
    return Path(shutil.copytree(played, cwd, dirs_exist_ok=True))


def test_the_first_command_ends_with_a_leaderboard(cwd: Path) -> None:
    """In an empty home the built-in bots play. The leaderboard goes to stdout, everything else to stderr."""
    ran = arena("ladder", *BIRTH, "--rounds", "1", cwd=cwd)
    assert ran.code == 0
    head, columns, _, *rows = ran.out.splitlines()
    assert head.startswith("BIRTH, 2 players (ladder ")
    assert columns.split() == ["rank", "bot", "rating", "points", "matches", "forfeits"]
    assert {row.split()[1] for row in rows[:3]} == {"random@1", "cautious@1", "greedy@1"}
    assert ran.err.startswith("BIRTH, 2 players: 6 matches to go\nplayed 6 matches in ")


@pytest.mark.long
def test_a_ladder_without_a_match_that_counts_is_an_error(cwd: Path) -> None:
    """Otherwise a machine on which no bot can run would look like one on which everything went well."""
    programs.enter(cwd, one="raise SystemExit(1)", two="raise SystemExit(2)")
    ran = arena("ladder", *BIRTH, "--rounds", "1", "--bots", "one,two", cwd=cwd)
    assert (ran.code, ran.err.splitlines()[-1]) == (1, "Error: no match counts: nobody joined")


def test_nothing_is_played_twice(later: Path) -> None:
    """The same command plays nothing more and prints the same leaderboard, best bot first."""
    again = ladder(later, "--rounds", "1")
    assert again["played"] == 0
    assert again["matches"] == {"to_play": 0, "done": 12, "rated": 12, "unplayable": 0, "dropped": 0, "annulled": 0}
    ratings = [bot["shown"] for bot in again["bots"]]
    assert ratings == sorted(ratings, reverse=True)
    assert [bot["rank"] for bot in again["bots"]] == [1, 2, 3, 4]


@pytest.mark.long
def test_a_new_bot_plays_only_its_own_groups(later: Path) -> None:
    """Only groups with the new bot are played, so entering a bot costs the others no further matches."""
    programs.enter(later, new=programs.LAST)
    assert ladder(later, "--rounds", "1")["played"] == 8
    assert all("new@1" in line_up for line_up in line_ups(later, leg=1))


def test_a_new_version_replaces_the_old_one(later: Path) -> None:
    """The old version stays on the leaderboard, marked as older, and plays no more."""
    programs.enter(later, mine=programs.LAST)
    shown = arena("ladder", *BIRTH, "--rounds", "1", cwd=later)
    assert "mine@1 (older)" in shown.out
    players = {bot for line_up in line_ups(later, leg=1) for bot in line_up}
    assert players == {"mine@2", "random@1", "cautious@1", "greedy@1"}


@pytest.mark.long
def test_a_retired_bot_plays_no_more(later: Path) -> None:
    """Its matches and its place on the leaderboard stay.

    The arena enters the built-in bots at every run, which must not bring a retired one back.
    """
    for name in ("mine", "greedy"):
        assert arena("retire", name, cwd=later).out == f"retired {name}@1\n"
    shown = arena("ladder", *BIRTH, "--rounds", "2", cwd=later)
    assert "mine@1 (retired)" in shown.out
    assert set(line_ups(later, leg=1)) == {("cautious@1", "random@1"), ("random@1", "cautious@1")}


@pytest.mark.long
def test_what_plays_against_expectation_is_said_before(later: Path) -> None:
    """Before the progress bar, one line each names a retired bot that plays, matches that an earlier run left, and a
    bot that has used its second chance.
    """
    arena("retire", "mine", cwd=later)
    with store.open(later / ".arena", checkpoints=True) as db:
        (mine,) = store.ladders.all(db)
        store.ladders.plan(db, mine, ["greedy@1", "cautious@1"], rounds=2)
        store.chances.use(db, mine, "mine@1", {"detail": "went"})
    ran = arena("ladder", *BIRTH, "--rounds", "2", "--bots", "mine,random", cwd=later)
    assert ran.err.startswith(
        "mine@1 is retired; it plays since --bots names it\n"
        "first come 2 matches that an earlier run left,"
        " also those of cautious@1, greedy@1 (`arena retire` drops them)\n"
        "mine@1 had its second chance, and plays one match at a time; --forgive mine@1 gives it back\n"
    )
    assert "played 4 matches" in ran.err


@pytest.mark.long
def test_the_field_can_be_named(later: Path) -> None:
    """Only the bots named play, by name or version. Matches played before count: of three rounds two are left."""
    assert ladder(later, "--rounds", "3", "--bots", "mine@1,random")["played"] == 4
    assert set(line_ups(later, leg=1)) == {("mine@1", "random@1"), ("random@1", "mine@1")}


@pytest.mark.long
def test_every_number_of_players_has_a_ladder_of_its_own(later: Path) -> None:
    """Being the best of three players at a table is another skill, so it is rated in another ladder."""
    three = arena("ladder", *BIRTH, "--rounds", "1", "--players", "3", "--bots", "mine,random,greedy", cwd=later)
    assert "BIRTH, 3 players" in three.out
    assert len(labels(data(arena("leaderboard", *BIRTH, "--json", cwd=later)))) == 4


@pytest.mark.long
def test_the_seed_decides_everything(cwd: Path) -> None:
    """The hash depends neither on the number of workers, nor on that of matches in flight, nor on the home."""
    ways = [("x", "-j", "1"), ("x", "-j", "2", "--in-flight", "1"), ("y", "-j", "1")]
    of_two = ("--bots", "random,greedy", "--rounds", "6")
    hashes = [
        ladder(cwd, *of_two, "--home", f"home{number}", "--seed", *way)["hash"] for number, way in enumerate(ways)
    ]
    assert [hashes.index(each) for each in hashes] == [0, 0, 2]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_many_workers_and_a_slow_bot_change_nothing(cwd: Path) -> None:
    """With more workers than cores, or one match at a time, the choices are the same and a slow bot never forfeits."""
    programs.enter(cwd, sleepy=programs.SLEEPS)
    boards = []
    for way in (["-j", "1"], ["-j", "2", "--in-flight", "1"], ["-j", "8"]):
        home = shutil.copytree(cwd / ".arena", cwd / "".join(way))
        words = ["--bots", "sleepy,random,greedy", "--rounds", "4", "--limit", "100ms", "--seed", "x"]
        boards.append(ladder(cwd, *words, *way, "--home", str(home)))
    assert len({board["hash"] for board in boards}) == 1
    assert [row["forfeits"] for board in boards for row in board["bots"]] == [0] * 9


@pytest.mark.parametrize("players", [pytest.param("2", marks=pytest.mark.long), "3"])
def test_memory_is_worth_nothing(players: str, cwd: Path) -> None:
    """The rotations of a group share their dice, so no bot process may play two of them."""
    programs.enter(cwd, memory=programs.REMEMBERS)
    board = ladder(cwd, "--players", players, "--rounds", "20", "--bots", "memory,random,greedy")
    assert {bot["bot"]: bot["forfeits"] for bot in board["bots"]} == {"memory@1": 0, "random@1": 0, "greedy@1": 0}


@pytest.mark.long
def test_a_bot_that_crashes_loses_its_matches_and_stops_nobody(cwd: Path) -> None:
    """The ladder goes on, the leaderboard counts the forfeits, and `arena show` has the evidence for the author."""
    programs.enter(cwd, shaky=programs.CRASHES_SECOND)
    board = ladder(cwd, "--rounds", "2", "--bots", "shaky,random")
    assert {bot["bot"]: (bot["matches"], bot["forfeits"]) for bot in board["bots"]} == {
        "shaky@1": (4, 2),
        "random@1": (4, 0),
    }
    first = data(arena("show", "shaky", "--json", cwd=cwd))["matches"][0]
    shown = arena("show", first["id"][:6], cwd=cwd).out
    assert re.search(r"seat 1 \(shaky@1\) forfeited at decision \d+: crash: the process exited with code 7", shown)
    assert "it was asked: {" in shown
    assert r"| \x1b[31mred\x1b[0m" in shown


@pytest.mark.long
def test_a_bot_that_hangs_among_many_matches_is_found_at_once(cwd: Path) -> None:
    """It is found in each seat after the time of one first decision and the bank, 2.5 s here, not of all it owes."""
    programs.enter(cwd, hangs=programs.HANGS_IN_A_CROWD)
    begun = time.monotonic()
    board = ladder(cwd, "--rounds", "80", "--bots", "hangs,random", "--limit", "200ms", "--bank", "500ms", "-j", "1")
    assert {bot["bot"]: bot["forfeits"] for bot in board["bots"]} == {"hangs@1": 0, "random@1": 0}
    assert time.monotonic() - begun < 40
