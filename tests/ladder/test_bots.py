"""Bots enter version by version, and a version never changes."""

from __future__ import annotations

import pytest
from sqlite_utils import Database

from ladder import store
from tests.ladder.fakes import enter


def add(db: Database, name: str, digest: str, origin: str = "submitted", games: tuple[str, ...] = ("dice",)) -> str:
    """Submit a bot; gives its label, with a plus if it is new."""
    version, new = store.bots.add(db, store.bots.NewBot(name, digest, games=games, run=["./bot", "-v"], origin=origin))
    return version.label + "+" * new


def test_a_version_comes_back_as_it_was_entered(db: Database) -> None:
    """What to run, and what it plays, is known from the store alone."""
    entered, _ = store.bots.add(
        db, store.bots.NewBot("greedy", "d1", games=["dice", "cards"], run=["./bot", "-v"], origin="submitted")
    )
    assert store.bots.find(db, "greedy") == entered
    assert (entered.games, entered.run, entered.retired) == (("dice", "cards"), ("./bot", "-v"), None)


def test_another_digest_is_another_version(db: Database) -> None:
    """Submitting the same bot again changes nothing; going back to an old one is a step forward too."""
    assert [add(db, "greedy", digest) for digest in ("d1", "d1", "d2", "d1")] == [
        "greedy@1+",
        "greedy@1",
        "greedy@2+",
        "greedy@3+",
    ]
    assert [version.digest for version in store.bots.versions(db)] == ["d1", "d2", "d1"]


def test_a_name_means_its_newest_version(db: Database) -> None:
    """By number, not by letters: 10 comes after 9."""
    for digest in range(11):
        add(db, "greedy", str(digest))
    assert store.bots.find(db, "greedy").label == "greedy@11"
    assert store.bots.find(db, "greedy@2").digest == "1"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gredy", "no bot 'gredy' in .*: bots are greedy, other"),
        ("greedy@3", "no version 'greedy@3' in .*: there is greedy@1, greedy@2"),
        ("greedy@x", "no version 'greedy@x' in .*: there is greedy@1, greedy@2"),
        ("greedy@", "no version 'greedy@' in .*: there is greedy@1, greedy@2"),
    ],
)
def test_an_unknown_bot_is_answered_with_those_there_are(db: Database, name: str, line: str) -> None:
    """A typing error must not cost a look at the manual; it is a LookupError to callers."""
    add(db, "greedy", "d1")
    add(db, "greedy", "d2")
    add(db, "other", "d1")
    with pytest.raises(LookupError, match=f"^{line}$"):
        store.bots.find(db, name)


@pytest.mark.parametrize("name", ["", "Greedy", "-x", "a b", "a@1", "a,b", "ä", "x" * 33, "a\n"])
def test_a_name_that_would_need_quoting_is_refused(db: Database, name: str) -> None:
    """Labels stand in seeds, tables and command lines."""
    with pytest.raises(store.StoreError, match="a bot's name is 1 to 32 of"):
        add(db, name, "d1")


def test_a_name_belongs_to_built_ins_or_to_submitters(db: Database) -> None:
    """Nobody may pass off a bot as a built-in, nor lose theirs to one that comes with an update."""
    add(db, "greedy", "d1", origin="built-in")
    add(db, "mine", "d1")
    with pytest.raises(store.StoreError, match="the name 'greedy' belongs to a built-in bot: choose another"):
        add(db, "greedy", "d2")
    with pytest.raises(store.StoreError, match="the name 'mine' belongs to a submitted bot"):
        add(db, "mine", "d1", origin="built-in")


def test_the_field_is_the_newest_version_of_each_bot_that_plays_the_game(db: Database) -> None:
    """Older versions have played already; one that gave the game up is not represented by an older one."""
    for name, digest, games in [
        ("both", "d1", ("dice", "cards")),
        ("cards", "d1", ("cards",)),
        ("new", "d1", ("dice",)),
        ("new", "d2", ("dice",)),
        ("gone", "d1", ("dice",)),
        ("gone", "d2", ("cards",)),
    ]:
        add(db, name, digest, games=games)
    assert [version.label for version in store.bots.field(db, "dice")] == ["both@1", "new@2"]


def test_a_retired_version_leaves_the_field_to_the_one_before(db: Database) -> None:
    """A bad new version can be taken back; retiring the name takes the bot out altogether."""
    for digest in ("d1", "d2"):
        add(db, "greedy", digest)
    assert [version.label for version in store.retirement.retire(db, "greedy@2").versions] == ["greedy@2"]
    assert [version.label for version in store.bots.field(db, "dice")] == ["greedy@1"]
    assert all(version.retired is not None for version in store.retirement.retire(db, "greedy").versions)
    assert store.bots.field(db, "dice") == ()


def test_submitting_it_again_ends_retirement(db: Database) -> None:
    """But the built-ins, entered anew by every ladder, stay out."""
    add(db, "mine", "d1")
    add(db, "theirs", "d1", origin="built-in")
    for name in ("mine", "theirs"):
        store.retirement.retire(db, name)
    assert add(db, "mine", "d1") == "mine@1"
    add(db, "theirs", "d1", origin="built-in")
    assert [version.name for version in store.bots.field(db, "dice")] == ["mine"]


def test_an_archives_content_in_a_folder_is_ones_own(db: Database) -> None:
    """Whoever has it in a folder could read it; that it comes as an archive once more takes nothing back."""
    for packed, marked in ((True, True), (False, False), (True, False)):
        known, _ = store.bots.add(
            db, store.bots.NewBot("greedy", "d1", games=["dice"], run=["x"], origin="submitted", packed=packed)
        )
        assert (known.packed, store.bots.find(db, "greedy").packed) == (marked, marked)


def test_retiring_nobody_is_an_error(db: Database) -> None:
    """Silence would look like success."""
    enter(db, "greedy")
    with pytest.raises(store.NotFound, match="no bot 'gredy'"):
        store.retirement.retire(db, "gredy")
