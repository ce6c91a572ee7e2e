"""What `arena backup` copies is a whole home, at whatever moment, and `arena restore` brings it back."""

from __future__ import annotations

import errno
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
from arena.sandbox import places
from ladder import store
from ladder.store import restoring
from ladder.store.database import APPLICATION_ID
from ladder.store.export import PAGES
from ladder.store.schema import MIGRATIONS
from tests.cli.commands import Ran, arena, environment, everything_in, typed
from tests.tournament import programs
from tests.tournament.test_interruptions import finish, in_the_middle

ROOT = Path(__file__).parents[2]
CUT = """
import os, sys
from pathlib import Path
from arena.roster.backup import make_backup

def stop(done, total, note):
    if note == "two@1":
        os._exit(9)

make_backup(Path(".arena"), Path("monday"), stop)
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
        return roster.program_of(home, store.bots.find(db, label)).root


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
        log = roster.build_log(home, store.bots.find(db, "one").digest)
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
        assert roster.Starter(db, home)("two@1").label == "two@1"


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
    copied = backups.make_backup(home, Path("monday"), enter)
    assert times[:2] == [0, 0]
    assert copied.lacking == ()
    with store.open_read(Path("monday")) as db:
        assert [each.name for each in store.bots.versions(db)] == ["one", "two"]


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
        backups.make_backup(home, Path("monday"), fail)
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


@pytest.mark.usefixtures("home")
def test_a_backup_goes_into_a_folder_that_is_there(tmp_path: Path) -> None:
    """A path to a disk that is not mounted is not made on another disk."""
    ran = typed("backup", "disk/monday")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "Error: there is no folder disk to make monday in\n"
    assert not (tmp_path / "disk").exists()


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
    assert not Path("monday/bots").exists()
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


HOSTILE = {
    "digest": "digest = 'd1/../../../victim'",
    "built": "built = '/etc'",
    "name": "name = '..', label = '..@1'",
}
"""Changes of a version to what leads elsewhere, or to what no arena writes."""


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_database_that_leads_elsewhere_is_refused(home: Path, change: str) -> None:
    """A stranger's backup cannot make the arena write outside the new home, or take other folders for programs."""
    assert typed("backup", "monday").code == 0
    with closing(Database("monday/arena.db")) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute(f"UPDATE versions SET {change} WHERE name = 'one'")
        db.conn.commit()
    (home.parent / "victim.log").write_text("mine")
    (home.parent / "monday/builds").mkdir()
    (home.parent / "monday/builds/d1").symlink_to(home.parent / "monday/bots")
    (home.parent / "monday/victim.log").write_text("theirs")
    assert "has a version with a name or digest that no arena gives" in refused("restore", "monday", "--home", "new")


ENDLESS = "CREATE VIEW chances AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
STRANGE = {
    "a view in the place of a table": f"ALTER TABLE chances RENAME TO c; {ENDLESS}",
    "a view for the versions": "ALTER TABLE versions RENAME TO v; CREATE VIEW versions AS SELECT 1 << 62 AS label",
    "a computed column": "ALTER TABLE legs ADD COLUMN extra TEXT AS (hex(zeroblob(1000000)))",
    "tables of today in a schema of old": "PRAGMA user_version = 1",
    "a schema below zero": "PRAGMA user_version = -5",
    "tables that no schema has": "PRAGMA user_version = 0",
    "a table without its rows' names": "DROP TABLE log_sizes; CREATE TABLE log_sizes (bot TEXT, bytes INTEGER)",
    "a row that refers to none": "INSERT INTO chances VALUES ('none', 'one@1', 0, '{}', NULL)",
    "a text that no machine should read": f"UPDATE versions SET run = CAST(zeroblob({65 << 20}) AS TEXT)",
    "a name that moves the cursor": "INSERT INTO log_sizes VALUES (char(27) || '[2J', 0)",
    "a name that turns the direction": """UPDATE versions SET games = '["buttons\\u202e"]'""",
    "a text where JSON should be": "UPDATE versions SET run = 'run'",
    "JSON that is nested too deep": f"UPDATE versions SET run = '{'[' * 100_000}'",
}
"""Databases that no arena makes."""


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
@pytest.mark.usefixtures("home")
def test_a_database_that_no_arena_makes_is_refused(change: str) -> None:
    """In one line, and before what a stranger put into the place of a table is read: it may never end."""
    assert typed("backup", "monday").code == 0
    _change(Path("monday/arena.db"), change)
    assert "monday/arena.db" in refused("restore", "monday", "--home", "new")


@pytest.mark.usefixtures("home")
def test_nothing_of_a_stranger_runs_in_the_new_home() -> None:
    """Triggers and views of a backup stay behind, and so do tables and indexes that the arena does not know."""
    assert typed("backup", "monday").code == 0
    trigger = "CREATE TRIGGER t AFTER INSERT ON versions BEGIN DELETE FROM ladders; END"
    more = "CREATE TABLE more (x); CREATE INDEX i ON versions (name); CREATE VIEW v AS SELECT 1"
    _change(Path("monday/arena.db"), f"{trigger}; {more}")
    assert typed("restore", "monday", "--home", "new").code == 0
    with store.open_read(Path("new")) as restored, store.open_read(Path(".arena")) as own:
        made = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
        assert list(restored.execute(made)) == list(own.execute(made))
        assert store.bots.versions(restored) == store.bots.versions(own)


def test_a_check_of_a_stranger_is_not_made(home: Path) -> None:
    """A table may be the arena's in all but a condition that takes hours, in one step that no clock interrupts."""
    assert typed("backup", "monday").code == 0
    hours = "instr(zeroblob(60000000) || x'01', zeroblob(20000000) || x'02') >= 0"
    table = (
        f"CREATE TABLE log_sizes (bot TEXT PRIMARY KEY CHECK ({hours}), bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID"
    )
    row = "PRAGMA ignore_check_constraints = ON; INSERT INTO log_sizes VALUES ('one', 0)"
    _change(Path("monday/arena.db"), f"DROP TABLE log_sizes; {table}; {row}")
    assert typed("restore", "monday", "--home", "new").code == 0
    with store.open_read(Path("new")) as restored:
        assert list(restored.execute("SELECT * FROM log_sizes")) == [("one", 0)]
    assert home.exists()


def test_a_program_may_be_called_as_its_author_called_it(home: Path) -> None:
    """Its file may have any name, also one with a space that does not break, which a slip on a Mac makes."""
    with store.open(home) as db:
        store.bots.add(
            db,
            store.bots.NewBot(
                "mine", "a" * 64, games=["birth"], run=["python", "Mein\u00a0Bot.py"], origin="submitted"
            ),
        )
    assert typed("backup", "monday").code == 0
    assert typed("restore", "monday", "--home", "new").code == 0
    assert "mine@1" in typed("bots", "--home", "new").out


def test_what_people_typed_comes_back_as_it_was(home: Path) -> None:
    """Reasons may be any text: they are made printable where they are shown."""
    assert typed("ban", "one", "--why", "no\u202e").code == 0
    assert typed("backup", "monday").code == 0
    assert typed("restore", "monday", "--home", "new").code == 0
    assert typed("log", "--home", "new") == typed("log", "--home", home)


@pytest.mark.usefixtures("home")
def test_reading_a_backup_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table can be made so that each of its rows takes long to check."""
    monkeypatch.setattr(restoring, "PATIENCE", -1e9)
    monkeypatch.setattr(restoring, "STEPS", 1)
    assert typed("backup", "monday").code == 0
    assert "interrupted" in refused("restore", "monday", "--home", "new")


@pytest.mark.parametrize("name", ["bots", "builds", "unrated"])
def test_a_folder_that_is_a_link_is_not_followed(home: Path, name: str) -> None:
    """A stranger's backup could name a folder of yours, whose files would then be in a home that you give away."""
    assert typed("backup", "monday").code == 0
    (home.parent / "mine").mkdir()
    (home.parent / "mine/secret.json").write_text('{"key": 1}')
    shutil.rmtree(home.parent / "monday" / name, ignore_errors=True)
    (home.parent / "monday" / name).symlink_to(home.parent / "mine")
    assert f"{name} is a link" in refused("restore", "monday", "--home", "new")


def test_a_program_that_is_a_link_is_not_followed(home: Path) -> None:
    """It counts as missing, like a program that was changed."""
    assert typed("backup", "monday").code == 0
    program = home.parent / "monday/bots" / program_of(home, "one@1").name
    shutil.rmtree(program)
    program.symlink_to(program_of(home, "one@1"))
    ran = typed("restore", "monday", "--home", "new")
    assert (ran.code, "the programs of one@1:" in ran.err) == (0, True)


def _change(database: Path, script: str) -> None:
    """Change a copy of a database as a stranger could, with all rules switched off."""
    with closing(Database(database)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.executescript(f"PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; {script}")


@pytest.mark.parametrize("name", ["arena.db", "arena.db-wal", "arena.db-lock"])
def test_a_database_that_is_a_link_or_pipe_is_refused(home: Path, name: str) -> None:
    """It is not opened: a pipe would make the command wait for ever."""
    assert typed("backup", "monday").code == 0
    link = home.parent / "monday" / name
    link.unlink(missing_ok=True)
    if name == "arena.db":
        link.symlink_to(home / name)
    else:
        os.mkfifo(link)
    assert f"{name} is a link, a pipe or the like" in refused("restore", "monday", "--home", "new")


def test_what_cannot_be_read_is_named_and_the_rest_is_saved(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pipes, links and folders in place of files, JSON that is nested too deep, and faults of the disk."""
    with store.open(home) as db:
        store.bots.add(
            db, store.bots.NewBot("built", "a" * 64, games=["birth"], run=["./run"], origin="submitted", built="b" * 64)
        )
    (home / "bots" / ("b" * 64)).mkdir()
    os.mkfifo(home / "bots" / ("b" * 64) / "pipe")
    (home / "builds").mkdir()
    os.mkfifo(home / "builds" / f"{'a' * 64}.log")
    (home / "unrated").mkdir()
    (home / "unrated" / "1.json").write_text("{}")
    (home / "unrated" / "2.json").write_text("[" * 100_000)
    os.mkfifo(home / "unrated" / "7.json")
    (home / "unrated" / "8.json").symlink_to("1.json")
    (home / "unrated" / "9.json").mkdir()
    broken, read = program_of(home, "one"), Path.read_bytes

    def fail(path: Path) -> bytes:
        if path.parent.name == broken.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", fail)
    for command in (["backup", "monday"], ["restore", home, "--home", "new"]):
        ran = typed(*command)
        programs_line, files_line = ran.err.splitlines()
        assert ran.code == 0
        assert "the programs of built@1, one@1:" in programs_line
        assert f"not in the copy: builds/{'a' * 64}.log, unrated/7.json, unrated/8.json, unrated/9.json," in files_line
    for copy in (Path("monday"), Path("new")):
        assert os.listdir(copy / "unrated") == ["1.json"]
        assert program_of(copy, "two").is_dir()


@pytest.mark.usefixtures("home")
def test_an_empty_folder_is_filled_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a mount point, which cannot be replaced, or the folder in which the command runs."""
    assert typed("backup", "monday").code == 0
    Path("new").mkdir(mode=0o755)
    monkeypatch.chdir("new")
    before = os.stat(".").st_ino
    ran = typed("restore", "../monday", "--home", ".")
    assert (ran.code, ran.err) == (0, "")
    assert (os.stat("../new").st_ino, os.stat(".").st_mode & 0o777) == (before, 0o700)
    assert not list(Path().glob("*.part"))
    assert "one@1" in typed("bots", "--home", ".").out


@pytest.mark.parametrize("when", ["copying", "moving"])
def test_an_empty_folder_stays_empty_if_that_fails(home: Path, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the copy is left in it."""
    assert typed("backup", "monday").code == 0
    Path("new").mkdir()
    rename = Path.rename

    def fail(done: int, *_: object) -> None:
        if done and when == "copying":
            raise OSError(errno.ENOSPC, "No space left on device")

    def rename_all_but_the_database(path: Path, target: Path) -> Path:
        if path.name == "arena.db":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_all_but_the_database)
    with pytest.raises(store.StoreError, match=r"cannot make .*new: "):
        backups.restore_backup(home.parent / "monday", home.parent / "new", fail)
    assert os.listdir("new") == []


@pytest.mark.usefixtures("home")
def test_what_came_into_an_empty_folder_meanwhile_stays() -> None:
    """Another command may have made a home there."""
    assert typed("backup", "monday").code == 0
    Path("new").mkdir()
    with pytest.raises(store.StoreError, match=r"something was put into .*new meanwhile"):
        backups.restore_backup(Path("monday"), Path("new"), lambda *_: Path("new/arena.db").touch())
    assert os.listdir("new") == ["arena.db"]
    assert Path("new/arena.db").stat().st_size == 0


@pytest.mark.usefixtures("home")
def test_an_incomplete_backup_is_one_by_whatever_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from within, as its database, or by a link."""
    assert typed("backup", "monday").code == 0
    Path("monday").rename("monday.part")
    Path("link").symlink_to("monday.part")
    for path in ("monday.part/arena.db", "link"):
        assert f"{path} was never completed" in refused("restore", path, "--home", "new")
    monkeypatch.chdir("monday.part")
    assert ". was never completed" in refused("restore", ".", "--home", "../new")


def test_a_backup_is_not_made_where_bots_may_read_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the seeds of future dice. The folder of a clone is not such a place, only the packages in it are."""
    backups.check_unseen(ROOT / "monday")
    monkeypatch.setattr(places, "python", lambda: (str(home.parent / "venv"),))
    Path("venv").mkdir()
    Path("link").symlink_to("venv")
    for target in ("venv/monday", "venv/monday.db", "link/monday"):
        assert "where bots may read it: choose a folder elsewhere" in refused("backup", target)


def refused(*words: str) -> str:
    """What people are told in one line by a command that changes nothing."""
    before = everything_in(Path())
    ran: Ran = typed(*words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    assert everything_in(Path()) == before
    return ran.err
