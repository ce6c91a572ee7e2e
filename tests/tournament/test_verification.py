"""`arena verify` finds every change to the stored data that matters, and says where it is."""

from __future__ import annotations

import gzip
import json
import math
import os
import pickle
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from arena import replay as replays
from arena.games.burning_desire import BurningDesire
from arena.tournament import verification as verifying
from arena.tournament.match_forms import finished, task
from arena.tournament.verification import MatchVerdict, verify_home
from arena.worker import local_host
from arena.worker.jobs import Delivery, Entrant, StartCommand, Trouble
from arena.worker.local_host import LocalHost
from ladder import store
from tests.cli.commands import typed
from tests.ladder.fakes import older
from tests.tournament import playing

UNCHECKED = {
    "versions": {"created", "retired", "packed"},
    "ladders": {"created", "last_played", "rated_by"},
    "groups": {"dropped"},
    "chances": {"used", "evidence", "forgiven"},
}
"""Columns that are not checked, since nothing is computed from them: times, reasons, origins, and who computed."""
LOGS = {"logs", "log_sizes"}
"""Tables of what bots printed, which is for their authors alone."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two small ladders: one has two finished legs, the other has three seats and forfeits.

    The first also has a leg that was not played, in which one match was void three times. One bot is retired. Of the
    second a match was annulled.
    """
    home = tmp_path_factory.mktemp("played") / "home"
    playing.make(home, "burning-desire", ["ann", "bob"], 1)
    duel = playing.make(home, "burning-desire", ["ann", "bob", "eve"], 1)
    triel = playing.make(home, "birth", ["ann", "bob", "eve"], 3, seats=3, forfeits=1.0)
    with store.open(home) as db:
        store.ladders.plan(db, duel, ["ann", "bob", "eve"], 3)
        store.retirement.retire(db, "eve")
        first, *_ = store.ladders.scheduled(db, duel)
        store.matches.record(db, duel, [store.records.VoidMatch(first.id, "overload")] * 3)
        store.chances.use(db, duel, "eve@1", {"detail": "the process exited with code 3"})
        (last,) = db.execute("SELECT id FROM matches WHERE ladder = ? ORDER BY seq DESC", [triel.id]).fetchone()
        store.annulment.annul_match(db, last, "it was a test")
        for ladder in (duel, triel):
            store.ratings.apply(db, ladder)
            store.evidence.settle(db, ladder)
        store.cards.complete(db, replays.times_of)
    return home


@pytest.fixture
def home(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "home"))


def verdict(home: Path) -> MatchVerdict:
    return verify_home(home, jobs=1, report=lambda _done, _total: None)


def test_what_was_played_is_as_it_follows(home: Path) -> None:
    """Unchanged data passes, including forfeits in matches of three, void matches and unfinished legs.

    Matches that were never played are not counted in the progress.
    """
    told: list[tuple[int, int]] = []
    found = verify_home(home, jobs=1, report=lambda done, total: told.append((done, total)))
    assert told[-1] == (found.matches, found.matches)
    assert (found.difference, found.remarks) == (None, ())
    with store.open_read(home) as db:
        counts = [store.ladders.counts(db, ladder) for ladder in store.ladders.all(db)]
        assert found.matches == sum(each.done + each.annulled for each in counts)
        assert sorted(each.annulled for each in counts) == [0, 3]
        assert db.execute("SELECT count(*) FROM seats WHERE forfeit IS NOT NULL").fetchone()[0] > 3


def columns(home: Path) -> Iterator[tuple[str, str]]:
    with store.open_read(home) as db:
        for table in sorted(set(db.table_names()) - LOGS):
            for column in db[table].columns:
                yield table, column.name


def changed(value: Any, kind: str) -> Any:
    """Another value for a column of this SQL type, mostly as close to the first as possible."""
    match value:
        case None:
            return {"TEXT": "x", "BLOB": b"x"}.get(kind, 1)
        case int():
            return value + 1000
        case float():
            return math.nextafter(value, math.inf) if value > 1 else value * 1.001
        case str():
            last = len(value) - 1 if value[-1:].isalnum() else len(value) // 2
            return value[:last] + chr(ord(value[last]) ^ 1) + value[last + 1 :] if value else "x"
    return bytes([value[0] ^ 1]) + value[1:]


def change(home: Path, table: str, column: str, row: int) -> Any:
    """Change one cell of a table; return its value before."""
    with closing(sqlite3.connect(home / "arena.db", isolation_level=None)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        lines = db.execute(f"PRAGMA table_info({table})").fetchall()
        keys = [name for _, name, *_, is_key in lines if is_key]
        (kind,) = [kind for _, name, kind, *_ in lines if name == column]
        rows = db.execute(f"SELECT {', '.join(keys)}, {column} FROM {table} ORDER BY {', '.join(keys)}").fetchall()
        *key, value = rows[row % len(rows)]
        where = " AND ".join(f"{name} = ?" for name in keys)
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [changed(value, kind), *key])
        return value


@pytest.mark.long
@pytest.mark.timeout(300)
def test_every_column_is_checked(home: Path, tmp_path: Path) -> None:
    """A change in any column, in the first or last row of its table, is found, except in those of `UNCHECKED`."""
    missed = []
    for table, column in columns(home):
        for row in (0, -1):
            other = Path(shutil.copytree(home, tmp_path / "other"))
            was = change(other, table, column, row)
            found = verdict(other).difference
            if found is None and column not in UNCHECKED.get(table, set()):
                missed.append((table, column, row, was))
            shutil.rmtree(other)
    assert not missed, "\n".join(map(str, missed))


def forge(home: Path, change: Callable[[dict[str, Any], list[list[Any]]], None]) -> str:
    """Change the replay or the seats of a match and make all digests fit; return the difference that is found."""
    with store.open(home) as db:
        ladder = store.ladders.all(db, "burning-desire")[0]
        id, voids, finished, packed = db.execute(
            "SELECT m.id, m.voids, m.finished, r.replay FROM matches m JOIN replays r ON r.match = m.id"
            " WHERE m.ladder = ? AND seq = 1",
            [ladder.id],
        ).fetchone()
        seats = [list(seat[2:]) for seat in db.execute("SELECT * FROM seats WHERE match = ? ORDER BY seat", [id])]
        record = json.loads(gzip.decompress(packed))
        change(record, seats)
        replay = gzip.compress(json.dumps(record).encode())
        choices = replays.plain([(seat, action) for seat, action in record["choices"]])
        digests = sha256(choices).digest(), sha256(replay).digest()
        whole = store.matches.record_digest(id, voids, finished, *digests, [tuple(seat) for seat in seats])
        db.execute(
            "UPDATE matches SET choices_digest = ?, replay_digest = ?, digest = ? WHERE id = ?", [*digests, whole, id]
        )
        db.execute("UPDATE replays SET replay = ? WHERE match = ?", [replay, id])
        for number, (_, rank, score, *_) in enumerate(seats):
            db.execute("UPDATE seats SET rank = ?, score = ? WHERE match = ? AND seat = ?", [rank, score, id, number])
    found = verdict(home).difference
    assert found is not None
    assert (found.ladder, found.match) == (ladder.id, id), found
    return found.what


def illegal(record: dict[str, Any], _seats: list[list[Any]]) -> None:
    record["choices"][0][1] = 131


def shorter(record: dict[str, Any], _seats: list[list[Any]]) -> None:
    del record["choices"][-1]


def forfeited(record: dict[str, Any], _seats: list[list[Any]]) -> None:
    record["forfeits"] = [[1, "crash", 3]]


def never_begun(record: dict[str, Any], _seats: list[list[Any]]) -> None:
    record |= {"choices": [], "forfeits": [[7, "start", -1]]}


def won(_record: dict[str, Any], seats: list[list[Any]]) -> None:
    seats[0][1], seats[1][1] = seats[1][1], seats[0][1]


def scored(_record: dict[str, Any], seats: list[list[Any]]) -> None:
    seats[1][2] = str(int(seats[1][2]) + 5)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (illegal, "decision 1: seat 0 chose 131, which is not legal"),
        (shorter, "no choice recorded"),
        (forfeited, "by the rules"),
        (never_begun, "seat 7 has forfeited, of 2 seats"),
        (won, "its ranks are"),
        (scored, "its scores are"),
    ],
)
def test_a_forgery_with_all_digests_right_is_found_by_the_rules(
    change: Callable[[dict[str, Any], list[list[Any]]], None], what: str, home: Path
) -> None:
    """Digests only protect from accidents, so the match is also played again by the rules."""
    assert what in forge(home, change)


def rated_anew(home: Path, game: str, change: Callable[[sqlite3.Connection, str], object]) -> MatchVerdict:
    """Change something and compute everything that follows from it again: ratings, history, settled ratings, hash."""
    with store.open(home) as db:
        ladder = store.ladders.all(db, game, 2 if game == "burning-desire" else 3)[0]
        with store.database.write(db):
            change(db.conn, ladder.id)
            db.execute("UPDATE ladders SET folded = 0, settled = 0, hash = NULL WHERE id = ?", [ladder.id])
        again = store.ladders.find(db, ladder.id)
        assert again is not None
        store.ratings.apply(db, again)
        store.evidence.settle(db, again)
    return verdict(home)


def draw_often(db: sqlite3.Connection, ladder: str) -> None:
    db.execute("UPDATE ladders SET draw_probability = 0.5 WHERE id = ?", [ladder])


def set_back(db: sqlite3.Connection, ladder: str, seq: int = 1, *, voids: str = "[]") -> str:
    """Make a match look as if it had never been played or, with `voids`, were unplayable; return its id."""
    (id,) = db.execute("SELECT id FROM matches WHERE ladder = ? AND seq = ?", [ladder, seq]).fetchone()
    for table in ("seats", "replays"):
        db.execute(f"DELETE FROM {table} WHERE match = ?", [id])
    empty = "finished = NULL, choices_digest = NULL, replay_digest = NULL"
    status, digest = ("scheduled", None) if voids == "[]" else ("unplayable", store.matches.record_digest(id, voids))
    db.execute(
        f"UPDATE matches SET status = ?, voids = ?, digest = ?, {empty} WHERE id = ?", [status, voids, digest, id]
    )
    return str(id)


THREE_VOIDS = '["a","b","c"]'


def test_another_draw_probability_is_no_way_to_other_ratings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference is found although all ratings fit the other draw probability.

    Only an arena that has this version of the game's rules can find it; another one remarks that it cannot check.
    """
    found = rated_anew(home, "burning-desire", draw_often)
    assert found.difference is not None
    assert found.difference.what == "its draw probability is 0.5, that of its game 0.001"
    monkeypatch.setattr(BurningDesire, "rules_version", 2)
    found = verdict(home)
    assert found.difference is None
    assert "nor is its draw probability checked" in found.remarks[0]


def test_a_match_cannot_be_set_back_once_a_later_leg_was_begun(home: Path) -> None:
    """A leg begins only when all earlier legs are finished, so nobody can have an unwelcome result played again."""
    found = rated_anew(home, "burning-desire", set_back)
    assert found.difference is not None
    assert found.difference.match
    assert "it is scheduled in leg 0, and leg 1 was begun" in found.difference.what


@pytest.mark.parametrize("voids", ["[]", THREE_VOIDS], ids=["scheduled", "unplayable"])
@pytest.mark.parametrize("folded", ["folded", "0", "1"])
def test_a_match_that_was_rated_cannot_be_set_back(voids: str, folded: str, home: Path) -> None:
    """Deleting the match's entry in the history as well does not help."""
    with store.open(home) as db:
        ladder = store.ladders.all(db, "birth")[0].id
        with store.database.write(db):
            id = set_back(db.conn, ladder, voids=voids)
            db.execute(f"UPDATE ladders SET folded = {folded} WHERE id = ?", [ladder])
    found = verdict(home).difference
    assert found is not None
    assert (found.match, "and was rated" in found.what) == (id, True)
    with store.open(home) as db, store.database.write(db):
        db.execute("DELETE FROM history WHERE ladder = ? AND seq = 1", [ladder])
    found = verdict(home).difference
    assert found is not None
    assert found.ladder == ladder


def play(db: Database, ladder: store.Ladder, matches: Iterable[store.records.ScheduledMatch]) -> None:
    """Play matches by the rules and store the results."""
    nobody = Entrant("nobody", "", ())
    tasks = [task(ladder, match, lambda _label: nobody) for match in matches]
    store.matches.record(db, ladder, [finished(playing.played(each, 0.0)) for each in tasks])


def play_all(db: Database, ladder: store.Ladder) -> None:
    """Play all scheduled matches, phase by phase, in one block."""
    while (phase := store.phases.next_phase(db, ladder)) is not None:
        matches = list(store.ladders.scheduled(db, ladder, phase))
        play(db, ladder, matches)
        if phase.end is None:
            store.phases.close_block(db, ladder, phase.begin, matches[-1].seq + ladder.key.seats)


def test_an_unplayable_match_is_no_forgery_whatever_comes_after_it(home: Path) -> None:
    """An unplayable match is skipped, later legs are played, and with --retry it may still be played afterwards."""
    with store.open(home) as db:
        duel = store.ladders.all(db, "burning-desire", 2)[0]
        unplayable, *_ = store.ladders.scheduled(db, duel, retry=True)
        play_all(db, duel)
        assert store.ladders.plan(db, duel, ["ann", "bob"], 4)
        play_all(db, duel)
        store.ratings.apply(db, duel)
    assert verdict(home).difference is None
    with store.open(home) as db:
        play(db, duel, [unplayable])
    found = verdict(home)
    assert found.difference is None
    assert "an unplayable match was played after all" in found.remarks[0]


def dumped(db: Database) -> list[str]:
    """All that is stored but the corrections: of an older home it is not known who made them."""
    return sorted(line for line in db.conn.iterdump() if not line.startswith('INSERT INTO "corrections"'))


def test_an_older_home_gets_sums_that_follow_from_its_matches(tmp_path: Path) -> None:
    """Those of times are read from the replays; everything is as if the sums had been there from the start."""
    home, old = tmp_path / "home", tmp_path / "old"
    playing.make(home, "burning-desire", ["ann", "bob", "eve"], 1)
    playing.make(home, "birth", ["ann", "bob", "eve"], 3, seats=3, forfeits=1.0)
    older(old, home)
    shutil.copytree(home / "bots", old / "bots")
    with store.open(home) as db, store.open(old) as other:
        db.execute("UPDATE ladders SET zero = 'field'")  # as it was then
        db.execute("UPDATE legs SET rule = 1")
        for each in (db, other):
            store.cards.complete(each, replays.times_of)
        assert dumped(other) == dumped(db)
        assert db.execute("SELECT count(*) FROM time_sums").fetchone() == (6,)
    assert verdict(old).difference is None


def test_matches_under_other_rules_are_not_played_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything else about these matches is checked, and a remark says what was not."""
    monkeypatch.setattr(BurningDesire, "rules_version", 2)
    found = verdict(home)
    assert found.difference is None
    assert "this arena has no version 1 of the rules of burning-desire" in found.remarks[0]


def test_the_command_names_the_first_difference(home: Path) -> None:
    """It is printed on stderr, or as JSON with --json. The exit code 3 means that the stored data is wrong."""
    assert typed("verify", "--home", home, "-j", "1").code == 0
    change(home, "seats", "score", 0)
    ran, data = typed("verify", "--home", home), typed("verify", "--home", home, "--json")
    assert (ran.code, ran.out, data.code) == (3, "", 3)
    difference = json.loads(data.out)["difference"]
    assert ran.err == f"ladder {difference['ladder']}, match {difference['match']}: {difference['what']}\n"


def test_several_processes_come_to_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference that is reported is the first in the data, whichever process finds one first."""
    monkeypatch.setattr(verifying, "CHUNK", 2)
    change(home, "seats", "score", -1)
    alone = verdict(home)
    assert alone.difference is not None
    assert verify_home(home, jobs=2, report=lambda _done, _total: None).difference == alone.difference


class Elsewhere(LocalHost):
    """A host whose only worker makes each call at once, as it would arrive there."""

    def __init__(self) -> None:
        super().__init__(1)
        self.calls = 0
        self.returned: list[object] = []

    def start(self) -> Any:
        return self

    def wait(self, workers: Sequence[Any], _seconds: float) -> Sequence[Any]:
        return workers

    def send(self, order: StartCommand) -> None:
        self.calls += 1
        call = pickle.loads(pickle.dumps(order)).call
        self.returned.append(call())

    def receive(self) -> Delivery:
        return Delivery((), Trouble(), returned=self.returned.pop())

    @property
    def has_ended(self) -> bool:
        return False

    def kill(self) -> None:
        """Be no process."""

    def close(self) -> None:
        """Be no process."""


FORGERIES = [
    "SELECT 1",
    "UPDATE seats SET score = '-1' WHERE match = (SELECT max(id) FROM matches WHERE status = 'done')",
    "UPDATE seats SET rank = 1 - rank WHERE match = (SELECT min(id) FROM matches WHERE status = 'done')",
    "UPDATE matches SET voids = '[' WHERE id = (SELECT max(id) FROM matches WHERE status = 'done')",
    "DELETE FROM replays WHERE match = (SELECT max(match) FROM replays)",
    "UPDATE ladders SET options = 'null'",
    "UPDATE ladders SET game = 'birth'",
]


@pytest.mark.parametrize("forgery", FORGERIES)
def test_hosts_come_to_the_same(forgery: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is the same wherever matches are replayed, also if what is sent there was changed."""
    monkeypatch.setattr(verifying, "CHUNK", 3)
    with closing(sqlite3.connect(home / "arena.db", isolation_level=None)) as db:
        db.execute(forgery)
        (matches,) = db.execute("SELECT count(*) FROM matches").fetchone()
    hosts = Elsewhere()
    assert verify_home(home, jobs=1, report=lambda _done, _total: None, hosts=hosts) == verdict(home)
    assert hosts.calls >= matches // 3 or forgery != "SELECT 1"


def without_ratings(home: Path) -> None:
    """Make a home look as if nothing had been rated yet."""
    with closing(sqlite3.connect(home / "arena.db", isolation_level=None)) as db:
        for table in ("history", "ratings", "settled"):
            db.execute(f"DELETE FROM {table}")
        db.execute("UPDATE ladders SET folded = 0, settled = 0, hash = NULL")


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """A home with one ladder, which has one leg in one block."""
    home = tmp_path / "single"
    playing.make(home, "birth", ["ann", "bob", "eve"], 3, seats=3)
    return home


def test_a_result_cannot_be_taken_back_once_a_later_rotation_was_played(single: Path) -> None:
    """Otherwise an unwelcome result could be played again although all bots have seen the dice."""
    without_ratings(single)
    assert verdict(single).difference is None
    with store.open(single) as db, store.database.write(db):
        set_back(db.conn, store.ladders.all(db)[0].id, seq=1)
    found = verdict(single).difference
    assert found is not None
    assert "it was tried, although a match is still to be played that comes before it" in found.what


def test_a_match_outside_every_block_was_not_played_in_its_phase(single: Path) -> None:
    """Otherwise deleting the blocks would hide matches that were played out of turn."""
    with closing(sqlite3.connect(single / "arena.db", isolation_level=None)) as db:
        db.execute("DELETE FROM blocks")
    found = verdict(single).difference
    assert found is not None
    assert "of a block of which nothing is known" in found.what


def test_results_that_came_out_of_turn_are_found_in_a_ladder_that_is_complete(single: Path) -> None:
    """Matches played out of turn can be seen in a finished ladder, too; only legs of older arenas are not checked."""
    with closing(sqlite3.connect(single / "arena.db", isolation_level=None)) as db:
        db.execute("UPDATE replays SET rowid = rowid + 1000 WHERE match = (SELECT id FROM matches WHERE seq = 3)")
    found = verdict(single).difference
    assert found is not None
    assert "of the block from seq 0, rotation 1 was begun before all that comes before it" in found.what
    with closing(sqlite3.connect(single / "arena.db", isolation_level=None)) as db:
        db.execute("UPDATE legs SET phased = 0")  # an older arena began it
        db.execute("UPDATE times_known SET replay = (SELECT max(rowid) FROM replays)")
    assert verdict(single).difference is None


def test_settled_ratings_of_no_match_are_made_up(home: Path) -> None:
    """Settled ratings that cover no match are a difference, since they would be shown as real."""
    with closing(sqlite3.connect(home / "arena.db", isolation_level=None)) as db:
        db.execute("UPDATE ladders SET settled = 0")
        db.execute("UPDATE settled SET mu = mu + 9")
    found = verdict(home).difference
    assert found is not None
    assert "and they cover no match" in found.what


def killed(*_: object) -> None:
    """A checking process that is killed, as for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_check_whose_process_is_killed_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a check is neither passed nor a difference: it is an error with advice that mostly helps."""
    monkeypatch.setattr(verifying, "CHUNK", 2)
    monkeypatch.setattr(local_host, "run_worker", killed)
    ran = typed("verify", "--home", home, "-j", "2")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1] == (
        "Error: a process was killed by SIGKILL, perhaps for want of memory: try a smaller -j"
    )
