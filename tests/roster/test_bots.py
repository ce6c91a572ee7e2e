"""Who is in the field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from arena import games, roster, submission
from ladder import store
from tests.cli.commands import typed

BIRTH = games.game("birth")
BUILT_IN = ["cautious", "greedy", "random"]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with store.open(tmp_path, checkpoints=True) as db:
        yield db


def submitted(db: Database, *names: str) -> None:
    for number, name in enumerate(names):
        store.bots.add(db, store.bots.NewBot(name, f"{name} {number}", games=["birth"], run=["x"], origin="submitted"))


def field(home: Path) -> list[str]:
    return sorted(roster.check_field(home, BIRTH, 2, None))


def test_an_empty_home_has_the_built_in_bots_that_play_the_game(tmp_path: Path) -> None:
    """So the first command ever typed ends with a leaderboard."""
    assert field(tmp_path) == BUILT_IN


def test_a_built_in_bot_that_searches_long_plays_only_when_it_is_named(tmp_path: Path) -> None:
    """A ladder of all bots is to be quick; whoever wants a strong opponent asks for it."""
    assert submission.built_ins()["searcher"].slow == ("birth",)
    assert "searcher" not in field(tmp_path)
    assert roster.check_field(tmp_path, BIRTH, 2, ["searcher", "random"]) == ["searcher", "random"]
    listed = {line.split()[0]: line for line in typed("bots", "--home", tmp_path).out.splitlines()}
    assert listed["searcher"].endswith("(slow in birth: only with --bots)")
    assert "slow in" not in listed["greedy"]


def test_of_every_submitted_bot_the_newest_version_plays(db: Database, tmp_path: Path) -> None:
    """Of the built-ins always what this arena has, so they are named without a version."""
    submitted(db, "ann", "bob", "bob")
    roster.enter_built_ins(db, tmp_path)
    assert field(tmp_path) == ["ann@1", "bob@2", *BUILT_IN]


def test_without_its_newest_version_a_bot_plays_the_one_before(db: Database, tmp_path: Path) -> None:
    """Whoever retires a version that was a mistake has the bot as it was."""
    submitted(db, "bob", "bob")
    roster.retire_bot(tmp_path, "bob@2")
    assert field(tmp_path) == ["bob@1", *BUILT_IN]


def test_what_is_retired_already_is_said(db: Database, tmp_path: Path) -> None:
    """Of a bot, the versions that this command took out or put back."""
    submitted(db, "bob", "bob")
    words = (["bob@1"], ["bob@1"], ["bob"], ["--undo", "bob@2"], ["--undo", "bob@2"])
    assert [typed("retire", "--home", tmp_path, *each).out for each in words] == [
        "retired bob@1\n",
        "bob@1 was retired already: nothing to do\n",
        "retired bob@2\n",
        "back in the field: bob@2\n",
        "bob@2 was not retired: nothing to do\n",
    ]


def test_a_retired_built_in_stays_out(tmp_path: Path) -> None:
    """Also one that has never played here."""
    roster.retire_bot(tmp_path, "greedy")
    assert field(tmp_path) == ["cautious", "random"]


def test_a_newer_arena_takes_nobody_his_name(db: Database, tmp_path: Path) -> None:
    """A bot that was there before a built-in of the same name keeps name and ratings; the built-in stays away."""
    submitted(db, "greedy")
    roster.enter_built_ins(db, tmp_path)
    assert [version.origin for version in store.bots.versions(db, "greedy")] == ["submitted"]
    assert field(tmp_path) == ["cautious", "greedy@1", "random"]


def test_built_ins_are_entered_once(db: Database, tmp_path: Path) -> None:
    """Every ladder enters them; as long as they do not change they stay the same version."""
    for _ in range(2):
        roster.enter_built_ins(db, tmp_path)
    assert {version.number for version in store.bots.versions(db)} == {1}
