"""What `arena backup` copies is a whole home, at whatever moment, and `arena restore` brings it back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from arena import roster
from arena.roster import backup as backups
from ladder import store
from ladder.store.database import APPLICATION_ID
from ladder.store.export import PAGES
from ladder.store.schema import MIGRATIONS
from tests.cli.commands import Ran, arena, environment, everything_in, typed
from tests.tournament import programs
from tests.tournament.test_interruptions import finish, in_the_middle

CUT = """
import os, sys
from pathlib import Path
from arena.roster.backup import backup

def stop(done, total, note):
    if note == "two@1":
        os._exit(9)

backup(Path(".arena"), Path("monday"), stop)
"""
"""A backup that is killed when it comes to the program of the second bot."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the working directory, with two bots that have not played."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    programs.enter(tmp_path, one=programs.FIRST, two=programs.FIRST + "\n")
    return tmp_path / ".arena"


def program_of(home: Path, label: str) -> Path:
    with store.open_read(home) as db:
        return roster.program_of(home, store.version(db, label)).root


def verified(home: Path) -> int:
    """The number of matches of a home in which everything is as it should be."""
    ran = typed("verify", "--home", home, "--json")
    assert ran.code == 0, ran.err
    return int(json.loads(ran.out)["matches"])


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_backup_of_a_running_ladder_goes_on_as_if_nothing_had_happened(cwd: Path) -> None:
    """To the same hash, with the programs that are in it: the home that it was made of is gone."""
    programs.enter(cwd, slow=programs.SLOW)
    with in_the_middle(cwd) as ladder:
        ran = arena("backup", "monday", cwd=cwd)
        assert ladder.poll() is None
        programs.enter(cwd, later=programs.FIRST)
        ladder.communicate(timeout=120)
    expected = finish(cwd)
    assert (ran.code, ran.err) == (0, "")
    shutil.move(cwd / ".arena", cwd / "lost")
    assert arena("restore", "monday", cwd=cwd).code == 0
    shutil.rmtree(cwd / "monday")
    assert 0 < verified(cwd / ".arena") < 120
    assert "later" not in arena("bots", cwd=cwd).out
    assert finish(cwd) == expected
    assert verified(cwd / ".arena") == 120


def test_all_that_is_stored_comes_back(home: Path) -> None:
    """The database, every program as it is, output of builds, unrated matches; closed to others."""
    with store.open_read(home) as db:
        log = roster.build_log(home, store.version(db, "one").digest)
    log.parent.mkdir()
    log.write_text("built")
    (home / "unrated").mkdir()
    (home / "unrated" / "7.json").write_text("{}")
    before = everything_in(home)
    (home / "unrated" / "8.json").write_text("{")  # as another command writes it at this moment
    assert (
        typed("backup", "monday").out
        == "copied to monday: the database and 2 programs; to get it back: arena restore monday\n"
    )
    shutil.rmtree(home)
    kept = everything_in(Path("monday"))
    ran = typed("restore", "monday")
    assert (ran.code, ran.err) == (0, "")
    assert "arena verify" in ran.out
    assert everything_in(Path("monday")) == kept
    assert {path: what for path, what in everything_in(home).items() if path != "arena.db"} == {
        path: what for path, what in before.items() if path != "arena.db"
    }
    assert {path.stat().st_mode & 0o777 for path in (home, Path("monday"))} == {0o700}
    with store.open_read(home) as db:
        assert roster.starter(db, home)("two@1").label == "two@1"


def test_a_bot_that_is_entered_meanwhile_is_there_whole_or_not_at_all(home: Path) -> None:
    """The database is copied first, as it was when the copy began, so there is no version without its program."""
    times: list[int] = []

    def enter(done: int, _total: int, _note: str) -> None:
        times.append(done)
        if len(times) == 1:
            programs.enter(home.parent, later=programs.SLOW)

    with store.open(home) as db:  # larger than what is copied at a time
        db.execute("CREATE TABLE filler (bytes BLOB)")
        db.execute("INSERT INTO filler VALUES (zeroblob(?))", [3 * PAGES * 4096])
    copied = backups.backup(home, Path("monday"), enter)
    assert times[:2] == [0, 0]
    assert copied.lacking == ()
    with store.open_read(Path("monday")) as db:
        assert [each.name for each in store.versions(db)] == ["one", "two"]


@pytest.mark.usefixtures("home")
def test_a_backup_that_is_cut_off_does_not_look_like_one() -> None:
    """It keeps a name that says so, and nothing is restored from it."""
    cut = subprocess.run([sys.executable, "-c", CUT], env=environment(), check=False)
    assert cut.returncode == 9
    assert sorted(os.listdir()) == [".arena", "monday.part", "one.py", "two.py"]
    assert "monday.part was never completed" in refused("restore", "monday.part", "--home", "new")
    assert "monday.part is there" in refused("backup", "monday")
    shutil.rmtree("monday.part")
    assert typed("backup", "monday").code == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_backup_that_fails_leaves_nothing(home: Path, error: BaseException) -> None:
    """And says so."""
    before = everything_in(home.parent)

    def fail(done: int, _total: int, _note: str) -> None:
        if done:
            raise error

    said = "^stopped: monday was not made$" if isinstance(error, KeyboardInterrupt) else "cannot make monday: No space"
    with pytest.raises((KeyboardInterrupt, store.StoreError), match=said):
        backups.backup(home, Path("monday"), fail)
    assert everything_in(home.parent) == before


@pytest.mark.usefixtures("home")
def test_nothing_is_overwritten() -> None:
    """Neither by a backup nor by a restore; what is empty may be filled."""
    assert typed("backup", "monday").code == 0
    assert "monday is there already and stays as it is: choose another name" in refused("backup", "monday")
    assert "move it away, or name a new home with --home" in refused("restore", "monday")
    assert "is no backup" in refused("restore", "monday/bots", "--home", "new")
    Path("cut.db").touch()  # what a killed backup of the database alone leaves
    assert "is no backup" in refused("restore", "cut.db", "--home", "new")
    assert "'nowhere'" in refused("backup", "tuesday", "--home", "nowhere")
    Path("new").mkdir()
    assert typed("restore", "monday", "--home", "new").code == 0
    assert "new is there already" in refused("restore", "monday", "--home", "new")


def test_a_program_that_is_gone_or_changed_is_named(home: Path) -> None:
    """The rest is saved all the same; the arena runs nothing that was not entered."""
    assert typed("backup", "whole").code == 0
    shutil.rmtree(program_of(home, "one"))
    (changed,) = program_of(home, "two").iterdir()
    changed.chmod(0o600)
    changed.write_text("print('other')")
    ran = typed("backup", "monday")
    assert ran.code == 0
    assert "not in the copy are the programs of one@1, two@1" in ran.err
    assert os.listdir("monday/bots") == []
    shutil.rmtree(program_of(Path("whole"), "two"))
    assert "programs of two@1:" in typed("restore", "whole", "--home", "new").err


def test_a_database_alone_is_a_backup_too(home: Path) -> None:
    """Those that were made before there were others; the programs have to come from elsewhere."""
    assert typed("backup", "monday.db").out == "copied to monday.db, without the bots' programs\n"
    shutil.rmtree(home)
    ran = typed("restore", "monday.db")
    assert (ran.code, "programs of one@1, two@1:" in ran.err) == (0, True)
    assert "one@1" in typed("bots").out


@pytest.mark.usefixtures("home")
def test_a_damaged_backup_is_refused() -> None:
    """Before anything is made of it."""
    assert typed("backup", "monday").code == 0
    with Path("monday/arena.db").open("r+b") as file:
        file.truncate(4096 * 3)
    assert "monday/arena.db is damaged" in refused("restore", "monday", "--home", "new")


def test_an_old_backup_is_brought_up_to_date_in_the_new_home_only(home: Path) -> None:
    """A backup may be on a disk that cannot be written, and stays what it was."""
    old = home.parent / "old"
    old.mkdir()
    with closing(Database(old / "arena.db")) as db:
        MIGRATIONS[0](db)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")
        row = {
            "label": "ann@1",
            "name": "ann",
            "number": 1,
            "digest": "a" * 64,
            "games": '["birth"]',
            "run": '["./run"]',
        }
        db.table("versions").insert({**row, "origin": "submitted", "created": 0.0})
    before = everything_in(old)
    ran = typed("restore", old, "--home", "new")
    assert (ran.code, "programs of ann@1:" in ran.err) == (0, True)
    assert everything_in(old) == before
    assert "ann@1" in typed("bots", "--home", "new").out


def refused(*words: str) -> str:
    """What people are told in one line by a command that changes nothing."""
    before = everything_in(Path())
    ran: Ran = typed(*words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert everything_in(Path()) == before
    return ran.err
