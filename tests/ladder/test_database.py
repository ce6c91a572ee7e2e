"""Opening, writing and locking: what goes wrong is one line, and nothing stored is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
from sqlite_utils import Database

from ladder import store
from ladder.store import database, locks, schema
from tests.ladder.fakes import begin, enter, play


def start(script: str, home: Path) -> subprocess.Popen[str]:
    """Another process that works on the same home."""
    prelude = "import sys; from pathlib import Path; from ladder import store; home = Path(sys.argv[1])\n"
    return subprocess.Popen([sys.executable, "-c", prelude + script, str(home)], stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    """The next line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    """End it as a power cut would, without a chance to tidy up."""
    process.kill()
    process.communicate()


def refusal(home: Path) -> str:
    """The one line that says why a home cannot be opened, for writing as for reading."""
    with pytest.raises(store.StoreError) as writing:
        store.open(home)
    with pytest.raises(store.StoreError) as reading:
        store.open_read(home)
    assert str(writing.value) == str(reading.value)
    assert "\n" not in str(writing.value)
    return str(writing.value)


def test_the_first_command_needs_no_setting_up(tmp_path: Path) -> None:
    """A home is made with everything above it, and opened again as it is."""
    home = tmp_path / "not" / "there # yet?"
    with store.open(home) as db:
        enter(db, "greedy")
    with store.open(home) as db:
        assert store.bots.find(db, "greedy").label == "greedy@1"


def test_reading_a_home_that_is_not_there_makes_none(home: Path) -> None:
    """`arena leaderboard` before the first ladder has nothing to show and leaves no trace."""
    with store.open_read(home) as db:
        assert (store.bots.versions(db), store.ladders.all(db)) == ((), ())
    assert not home.exists()


def test_an_empty_file_is_a_new_database(home: Path) -> None:
    """What a process leaves that was killed before its first transaction."""
    home.mkdir()
    (home / "arena.db").touch()
    with store.open_read(home) as db:
        assert store.bots.versions(db) == ()


def test_a_reader_sees_what_is_written_meanwhile(home: Path, db: Database) -> None:
    """`arena leaderboard --watch` during a ladder."""
    with store.open_read(home) as reader:
        enter(db, "greedy")
        assert store.bots.find(reader, "greedy").number == 1


def test_a_reader_cannot_write(home: Path, db: Database) -> None:  # noqa: ARG001 - makes the home
    """What only looks must not be able to break anything."""
    with store.open_read(home) as reader, pytest.raises(store.StoreError, match="cannot be written"):
        enter(reader, "greedy")


def test_what_is_stored_survives_a_power_cut(home: Path) -> None:
    """FULL syncs every commit; and only the ladder's own process moves the log, which old SQLites do not do safely."""

    def setting(db: Database, pragma: str) -> object:
        return db.execute(f"PRAGMA {pragma}").fetchone()[0]

    with store.open(home) as db, store.open(home, checkpoints=True) as ladder:
        assert [setting(db, name) for name in ("journal_mode", "synchronous", "foreign_keys")] == ["wal", 2, 1]
        assert [setting(each, "wal_autocheckpoint") for each in (db, ladder)] == [0, 8192]


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    db.close()


def newer(path: Path) -> None:
    store.open(path.parent).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


def torn(path: Path) -> None:
    store.open(path.parent).close()
    path.write_bytes(path.read_bytes()[:8192])


def flipped(path: Path) -> None:
    store.open(path.parent).close()
    content = bytearray(path.read_bytes())
    content[4096:6000] = bytes(range(256))[:238] * 8
    path.write_bytes(content)


def directory(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (garbage, "is not a database: move it away"),
        (foreign, "belongs to another program: move it away"),
        (newer, f"was written by a newer arena (schema 99, this one knows {len(schema.MIGRATIONS)}): update the arena"),
        (torn, "is damaged: put a backup in its place"),
        (flipped, "is damaged: put a backup in its place"),
        (directory, "is a folder, a pipe or the like: move it away"),
        (pipe, "is a folder, a pipe or the like: move it away"),
    ],
)
def test_what_is_no_store_is_refused_and_left_alone(home: Path, spoil: Callable[[Path], None], line: str) -> None:
    """The line names the file and the next step; overwriting it would make things worse."""
    home.mkdir()
    path = home / "arena.db"
    spoil(path)
    before = path.is_file() and path.read_bytes()
    assert f"{path} {line}" in refusal(home)
    assert (path.is_file() and path.read_bytes()) == before


def without_log(home: Path, other: Path) -> None:
    """Copy a home as somebody would who does not know that the newest of it is in another file."""
    other.mkdir()
    with store.open(home) as db:
        enter(db, "greedy")
        for name in ("arena.db", "arena.db-lock"):
            (other / name).write_bytes((home / name).read_bytes())


def test_a_lost_write_ahead_log_is_missed(home: Path, tmp_path: Path) -> None:
    """SQLite would open what is left without a word, and the last results would be gone without one."""
    without_log(home, other := tmp_path / "other")
    assert "arena.db holds less than was stored: arena.db-wal was beside it and is gone" in refusal(other)
    (other / "arena.db-lock").unlink()
    with store.open(other) as db:
        assert store.bots.versions(db) == ()


def test_groups_that_are_taken_out_are_not_missed(home: Path) -> None:
    """Also by somebody who opens the home at that moment: a run does so every now and then."""
    path = home / "arena.db"
    with store.open(home) as db:
        ladder = begin(db, "ann", "bob")
        before = locks.noted(path)
        store.ladders.end_leg(db, ladder)
        with store.open_read(home) as other:
            database.check_whole(other, path, before)


def test_what_is_noted_is_never_more_than_what_a_kill_leaves(home: Path) -> None:
    """Where groups are taken out it falls before they go: else whoever opened the home later would miss them."""
    with store.open(home) as db:
        ladder = begin(db, "ann", "bob")
        statements, noted = [""], []

        def look(statement: str) -> None:
            if statement == "COMMIT" and any(before.startswith("DELETE FROM groups") for before in statements):
                noted.append(locks.noted(home / "arena.db"))
            statements.append(statement)

        db.conn.set_trace_callback(look)
        store.ladders.end_leg(db, ladder)
        db.conn.set_trace_callback(None)
        assert noted
        assert max(noted) <= locks.noted(home / "arena.db")


def test_a_database_that_was_emptied_is_missed(home: Path) -> None:
    """Else it would pass for a new one."""
    with store.open(home) as db:
        enter(db, "greedy")
    (home / "arena.db").write_bytes(b"")
    assert "holds less than was stored" in refusal(home)
    assert (home / "arena.db").read_bytes() == b""


def test_a_database_that_was_removed_is_missed(home: Path) -> None:
    """To begin anew without a word would look like a ladder that went well; who wants it says so."""
    with store.open(home) as db:
        enter(db, "greedy", "other")
    (home / "arena.db").unlink()
    assert "arena.db is gone, and results or bots were stored in it: put it or a backup in its place" in refusal(home)
    assert not (home / "arena.db").exists()
    (home / "arena.db-lock").unlink()
    with store.open(home) as db:
        assert enter(db, "late") == ["late@1"]
    with store.open_read(home) as db:
        assert len(store.bots.versions(db)) == 1


def removed(path: Path) -> None:
    path.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced(path: Path) -> None:
    path.with_name("older.db").rename(path)


def overwritten(path: Path) -> None:
    shutil.copyfile(path.with_name("older.db"), path)


def without_its_log(path: Path) -> None:
    path.with_name("arena.db-wal").unlink()


def without_its_index(path: Path) -> None:
    path.with_name("arena.db-shm").unlink()


def without_its_home(path: Path) -> None:
    shutil.rmtree(path.parent)


DISPLACED = [
    (removed, "arena.db was taken away while it was in use: put it", "arena.db is gone, and results"),
    (moved, "arena.db was taken away while it was in use: put it", "arena.db is gone, and results"),
    (replaced, "arena.db was replaced while it was in use: put back", "arena.db holds less than was stored"),
    (overwritten, "arena.db was overwritten while it was in use: put a", "arena.db holds less than was stored"),
    (without_its_log, "arena.db-wal was taken away while it was in use: run the command again", None),
    (without_its_index, "arena.db-shm was taken away while it was in use: run the command again", None),
    (without_its_home, "home was removed while it was in use: put it back, or run the command again", None),
]


@pytest.mark.parametrize(("displace", "line", "afterwards"), DISPLACED, ids=[case[0].__name__ for case in DISPLACED])
def test_a_database_that_was_displaced_is_not_written(
    home: Path, displace: Callable[[Path], None], line: str, afterwards: str | None
) -> None:
    """SQLite would write on into a file that nobody finds again. The next one hears that something is missing."""
    with store.open(home) as db:
        enter(db, "greedy")
    shutil.copyfile(home / "arena.db", home / "older.db")
    with store.open(home, checkpoints=True) as db:
        enter(db, "other")
        displace(home / "arena.db")
        with pytest.raises(store.StoreError, match=line):
            enter(db, "third")
    if afterwards:
        assert afterwards in refusal(home)
    elif home.exists():
        with store.open(home, thorough=True) as db:
            assert [version.name for version in store.bots.versions(db)] == ["greedy", "other"]


def test_a_database_that_was_moved_away_is_whole_and_can_be_put_back(home: Path) -> None:
    """With everything that was stored before it went."""
    with store.open(home, checkpoints=True) as db:
        enter(db, "greedy")
        moved(home / "arena.db")
        with pytest.raises(store.StoreError):
            enter(db, "other")
    (home / "elsewhere.db").rename(home / "arena.db")
    with store.open(home, thorough=True) as db:
        assert enter(db, "other") == ["other@1"]
        assert store.bots.find(db, "greedy").number == 1


def test_a_database_that_is_displaced_in_the_middle_of_a_write_is_not_written(home: Path) -> None:
    """A thousand matches that are rated at once take a second."""
    with store.open(home, checkpoints=True) as db:
        enter(db, "greedy")

        def interrupted() -> None:
            with store.database.write(db):
                db.execute("UPDATE versions SET retired = 0")
                moved(home / "arena.db")

        with pytest.raises(store.StoreError, match="was taken away"):
            interrupted()
        assert not db.conn.in_transaction
    (home / "elsewhere.db").rename(home / "arena.db")
    with store.open_read(home) as db:
        assert store.bots.find(db, "greedy").retired is None


def test_a_log_that_is_moved_into_the_database_is_nothing_new(home: Path, db: Database) -> None:
    """The ladder's own process does it every so often, and others may write in between."""
    with store.open(home, checkpoints=True) as ladder:
        ladder.execute("PRAGMA wal_autocheckpoint = 1")
        for name in ("a", "b", "c"):
            before = (home / "arena.db").stat().st_mtime_ns
            enter(ladder, name)
            assert (home / "arena.db").stat().st_mtime_ns > before
            enter(db, name * 2)
    assert len(store.bots.versions(db)) == 6


def test_a_large_database_is_checked_when_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading every page of a long ladder before each command would be slow, so damage may show late."""
    home.mkdir()
    flipped(home / "arena.db")
    monkeypatch.setattr(database, "QUICKLY_CHECKED", 0)
    store.open(home).close()
    with pytest.raises(store.StoreError, match="damaged"):
        store.open(home, thorough=True)


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Here a file is in the way."""
    (tmp_path / "file").touch()
    with pytest.raises(
        store.StoreError, match=r"cannot use .*/file/home/arena.db: Not a directory; choose another home"
    ):
        store.open(tmp_path / "file" / "home")


@pytest.mark.parametrize("opened", [store.open, store.open_read])
def test_an_older_database_is_brought_up_to_date(
    home: Path, opened: Callable[[Path], Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whichever command comes first after an update; nothing that was stored is lost."""
    with store.open(home) as db:
        enter(db, "greedy")
    later = [*schema.MIGRATIONS, lambda db: db.execute("ALTER TABLE versions ADD COLUMN motto TEXT")]
    monkeypatch.setattr(database, "MIGRATIONS", later)
    with opened(home) as db:
        assert db.execute("SELECT label, motto FROM versions").fetchall() == [("greedy@1", None)]


@pytest.fixture
def read_only_home() -> Iterator[Path]:
    """A home with one bot in it that this process may not write to; root steps down for it."""
    with TemporaryDirectory() as name:  # tmp_path is closed to everybody but root
        home = Path(name)
        with store.open(home) as db:
            enter(db, "greedy")
        (home / "arena.db").chmod(0o444)
        home.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        yield home
        os.seteuid(user)
        home.chmod(0o755)


def test_a_read_only_home_can_be_read(read_only_home: Path) -> None:
    """An archived tournament, or somebody else's."""
    with store.open_read(read_only_home) as db:
        assert store.bots.find(db, "greedy").number == 1
    with pytest.raises(store.StoreError, match=r"arena.db cannot be written: make it and its directory writable"):
        store.open(read_only_home)


def test_a_transaction_that_fails_leaves_nothing(db: Database) -> None:
    """Half a result would be worse than none."""
    enter(db, "greedy")

    def interrupted() -> None:
        with store.database.write(db):
            db.execute("UPDATE versions SET retired = 0")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert store.bots.find(db, "greedy").retired is None
    assert not db.conn.in_transaction


def test_a_full_disk_loses_nothing_that_was_stored(db: Database) -> None:
    """The ladder stops with a line, and goes on when there is room."""
    ladder = begin(db, "a", "b", "c", rounds=5)
    play(db, ladder)
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(store.StoreError, match="the disk is full: make room"):
        store.ladders.plan(db, ladder, ["a", "b", "c"], rounds=500)
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=0, done=30, unplayable=0)
    db.execute("PRAGMA max_page_count = 1000000")
    assert store.ladders.plan(db, ladder, ["a", "b", "c"], rounds=6) == 6


def test_the_arena_stops_before_a_disk_is_full(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others need room on it, too, and so does whoever makes some."""
    monkeypatch.setattr(database, "FLOOR", 1 << 60)
    with pytest.raises(store.StoreError, match=r"the disk is full: make room .* MiB left, and the arena stops at"):
        enter(db, "greedy")
    assert store.bots.versions(db) == ()


def test_a_writer_that_has_no_turn_says_so(home: Path, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two never write at the same instant, which SQLite before 3.51.3 does not always survive."""
    monkeypatch.setattr(locks, "PATIENCE", 0.05)
    with locks.turn(home / "arena.db"), pytest.raises(store.StoreError, match="is busy"):
        enter(db, "greedy")
    assert enter(db, "greedy") == ["greedy@1"]


def test_who_waits_gets_a_turn_between_many_long_writes(tmp_path: Path) -> None:
    """A ladder that stores results does not wait until all ratings of another are computed anew."""
    path = tmp_path / "arena.db"
    begun, had_turn = Event(), Event()

    def waits() -> None:
        begun.wait(30)
        with locks.turn(path):
            had_turn.set()

    with ThreadPoolExecutor() as threads:
        other = threads.submit(waits)
        for _ in range(20):
            with locks.turn(path):
                begun.set()
                time.sleep(0.1)  # a long write
            locks.let_others_in()
            if had_turn.is_set():
                break
        else:
            pytest.fail("twenty others had a turn before")
        other.result(30)


def test_writers_wait_for_each_other(home: Path) -> None:
    """Read, then write, from three processes at once: no number is given twice and none is lost."""
    script = """
with store.open(home) as db:
    for number in range(20):
        digest = sys.argv[1] + str(id(db)) + str(number)
        store.bots.add(db, store.bots.NewBot("greedy", digest, games=[], run=[], origin="submitted"))
"""
    processes = [start(script, home) for _ in range(3)]
    assert [(process.communicate(), process.returncode)[1] for process in processes] == [0, 0, 0]
    with store.open_read(home) as db:
        assert [version.number for version in store.bots.versions(db)] == list(range(1, 61))


def test_a_second_ladder_is_refused_at_once(home: Path) -> None:
    """Two would play the same matches; the line names the first one's process."""
    with (
        store.database.exclusive(home),
        pytest.raises(store.StoreError, match=f"running in .* already .process {os.getpid()}."),
    ):
        store.database.exclusive(home).__enter__()
    with store.database.exclusive(home):
        assert (home / "arena.lock").read_text() == str(os.getpid())


def test_a_killed_ladder_holds_no_lock(home: Path) -> None:
    """Nobody has to remove a file by hand after a crash."""
    process = start("with store.database.exclusive(home):\n    print('held', flush=True)\n    sys.stdin.read()", home)
    assert said(process) == "held"
    kill(process)
    with store.database.exclusive(home):
        pass


PLAY = """
from tests.ladder.fakes import begin, finished
with store.open(home, checkpoints=True) as db:
    ladder = begin(db, "a", "b", "c", "d", rounds=100)
    for match in store.ladders.scheduled(db, ladder):
        store.matches.record(db, ladder, [finished(match)])
        print(match.id, flush=True)
        store.ratings.apply(db, ladder)
"""


def test_kill_9_loses_no_acknowledged_result_and_rates_none_twice(db: Database, tmp_path: Path) -> None:
    """Stopped anywhere and run again, a ladder ends like one that was never stopped."""
    process = start(PLAY, tmp_path)
    acknowledged = [said(process) for _ in range(60)]
    kill(process)
    with store.open(tmp_path, thorough=True) as killed:
        ladder = begin(killed, "a", "b", "c", "d", rounds=100)
        assert {store.matches.find(killed, id).status for id in acknowledged} == {"done"}
        assert store.ladders.counts(killed, ladder).scheduled > 0
        play(killed, ladder)
        play(db, begin(db, "a", "b", "c", "d", rounds=100))
        assert store.ratings.ladder_hash(killed, ladder) == store.ratings.ladder_hash(db, ladder)


def test_what_is_read_at_one_moment_stays_so_within(home: Path) -> None:
    """A page is made of several reports, each of one moment; a site of many pages is of one moment all the same."""
    with store.open(home) as db:
        enter(db, "ann")
        with store.open_read(home) as other:
            with store.database.one_state(other):
                with store.database.one_state(other):
                    assert len(store.bots.versions(other)) == 1
                enter(db, "bob")
                with store.database.one_state(other):
                    assert len(store.bots.versions(other)) == 1
            assert len(store.bots.versions(other)) == 2
