"""Matches that are annulled and bots that are banned: no number has a trace of them, and the record has all."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest
from sqlite_utils import Database

from ladder import store
from ladder.store import checks, database, schema
from ladder.store.checks import Mismatch
from ladder.store.sums import SUM_COLUMNS
from tests.ladder.fakes import begin, enter, finished, void
from tests.ladder.test_retirement import NAMES, dump, half_played, play_all


def check(db: Database, ladder: store.Ladder) -> None:
    """All that `arena verify` checks of a ladder without the rules of its game."""
    checks.check_file(db)
    checks.check_corrections(db)
    checks.check_schedule(db, ladder)
    checks.check_phases(db, ladder)
    counts = store.ladders.counts(db, ladder)
    assert len(list(checks.results(db, ladder, 0, 10_000))) == counts.done + counts.annulled
    assert checks.check_ratings(db, ladder) == []
    assert checks.check_settled(db, ladder) == []


def rated(db: Database, ladder: store.Ladder) -> tuple[object, ...]:
    """All that is computed of what counts, with the sums of cards."""
    store.ratings.apply(db, ladder)
    store.evidence.settle(db, ladder)
    store.sums.add_rated(db, ladder)
    found = store.evidence.of_ladder(db, ladder)
    points = {bot: found.score(bot) for bot in sorted(found.bots)}
    added = [
        db.execute(f"SELECT * FROM {table} ORDER BY {', '.join(of)}").fetchall() for table, of in SUM_COLUMNS.items()
    ]
    return store.ratings.leaderboard(db, ladder), store.evidence.find_settled(db, ladder), points, added


def ids(db: Database, status: str = "done") -> list[str]:
    return [id for (id,) in db.execute("SELECT id FROM matches WHERE status = ? ORDER BY seq", [status])]


@pytest.mark.parametrize("seats", [2, 3])
def test_ratings_are_those_of_a_ladder_without_the_annulled_matches(tmp_path: Path, seats: int) -> None:
    """To the last bit, live and settled, with the points: whoever was beaten by a cheat has no trace of it left."""
    luck = random.Random(seats)
    with store.open(tmp_path / "with") as db, store.open(tmp_path / "without") as other:
        ladder = begin(db, "a", "b", "c", "d", seats=seats, rounds=4)
        play_all(db, ladder)
        rated(db, ladder)
        groups = [ids(db)[at : at + seats] for at in range(0, len(ids(db)), seats)]
        chosen = luck.sample(groups, 5)
        out = {id for group in chosen for id in group}
        same = begin(other, "a", "b", "c", "d", seats=seats, rounds=4)
        for match in list(store.ladders.scheduled(other, same)):  # void three times, they never were in any number
            store.matches.record(other, same, void(match, 3) if match.id in out else [finished(match)])
        for group in chosen:
            made = store.annulment.annul_match(db, luck.choice(group), "it was not fair")  # and the others with it
            assert made.correction.matches == seats
        assert rated(db, ladder) == rated(other, same)
        assert store.ladders.counts(db, ladder).annulled == len(out)
        check(db, ladder)


def test_a_bot_whose_matches_are_annulled_is_gone_from_every_number(db: Database) -> None:
    """Its groups are incomplete without it, so they count in no interval; those of the others stay."""
    ladder = begin(db, *NAMES, rounds=3)
    play_all(db, ladder)
    assert store.annulment.annul_bot(db, "b", "it cheated").correction.matches == 12
    rated(db, ladder)
    assert {row.label for row in store.ratings.leaderboard(db, ladder)} == {"a@1", "c@1"}
    assert store.evidence.find_settled(db, ladder).ratings.keys() == {"a@1", "c@1"}
    assert store.evidence.of_ladder(db, ladder).bots == ["a@1", "c@1"]
    check(db, ladder)


def test_only_what_is_meant_is_annulled(db: Database) -> None:
    """A version or all of them, in one ladder or all, and from a time on."""
    ladder = begin(db, *NAMES, rounds=2)
    play_all(db, ladder)
    other = begin(db, *NAMES, seats=3)
    play_all(db, other)
    with pytest.raises(store.StoreError, match="c has no match there or then that counts"):
        store.annulment.annul_bot(db, "c", "too late", since=2e10)
    assert store.annulment.annul_bot(db, "c@1", "here", ladder=other.id).ladders == (other.id,)
    assert store.ladders.counts(db, ladder).annulled == 0
    assert store.annulment.annul_bot(db, "c", "everywhere", since=0.0).ladders == (ladder.id,)
    assert store.ladders.counts(db, ladder) == store.records.Counts(0, 4, 0, 0, annulled=8)


def test_an_annulled_match_is_kept_and_says_why(db: Database) -> None:
    """With its result and its replay; and its dice may be shown, as nothing of its group is left to play."""
    ladder = begin(db, *NAMES)
    play_all(db, ladder)
    first, *_ = ids(db)
    before = store.matches.find(db, first)
    made = store.annulment.annul_match(db, first[:6], "the machine was asleep").correction
    after = store.matches.find(db, first)
    assert (after.annulled, after.status) == (made, "annulled")
    assert (made.what, made.subject, made.why, made.matches) == ("annul", first, "the machine was asleep", 2)
    assert after._replace(annulled=None, status="done", ratings=before.ratings) == before
    assert before.seed is not None


def test_what_is_annulled_is_planned_again_with_other_dice(db: Database) -> None:
    """As a group of its own: the old one stays annulled, and a result that arrives twice changes nothing."""
    ladder = begin(db, *NAMES)
    matches = list(store.ladders.scheduled(db, ladder))
    play_all(db, ladder)
    store.annulment.annul_bot(db, "a", "the machine was asleep")
    assert list(store.ladders.scheduled(db, ladder, retry=True)) == []
    assert store.matches.record(db, ladder, [finished(match) for match in matches]) == 0
    assert store.ladders.plan(db, ladder, ["b", "c"], 1) == 0
    assert store.ladders.plan(db, ladder, NAMES, 1) == 4
    assert not {match.seed for match in store.ladders.scheduled(db, ladder)} & {match.seed for match in matches}
    play_all(db, ladder)
    assert store.ladders.counts(db, ladder) == store.records.Counts(0, 6, 0, 0, annulled=4)
    check(db, ladder)


def test_of_a_group_in_play_the_rest_is_dropped(db: Database) -> None:
    """Whatever of it is on its way counts no more."""
    ladder = begin(db, *NAMES)
    first, second, *rest = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [finished(first)])
    assert store.annulment.annul_match(db, first.id, "why").dropped == 1
    assert store.matches.record(db, ladder, [finished(second)]) == 0
    assert store.ladders.counts(db, ladder) == store.records.Counts(len(rest), 0, 0, 1, annulled=1)
    check(db, ladder)
    play_all(db, ladder)
    check(db, ladder)


def test_what_does_not_count_cannot_be_annulled(db: Database) -> None:
    """One line says why: it was annulled by somebody already, it is not finished, or there is none."""
    ladder = half_played(db)
    done, todo = ids(db)[0], ids(db, "scheduled")[-1]
    store.annulment.annul_match(db, done, "first")
    for call, what in (
        (partial(store.annulment.annul_match, db, done, "x"), "is annulled already, on .* by .*: first"),
        (partial(store.annulment.annul_match, db, todo, "x"), "is scheduled, not finished"),
        (partial(store.annulment.annul_match, db, "nothing", "x"), "no match has an id that begins with 'nothing'"),
        (partial(store.annulment.annul_bot, db, "b@7", "x"), "no version 'b@7'"),
        (partial(store.annulment.ban, db, "b@1", "x"), "b@1 is one version: name the bot, b"),
        (partial(store.annulment.unban, db, "b", "x"), "b is not banned"),
    ):
        with pytest.raises(store.StoreError, match=what):
            call()
    assert [entry.what for entry in store.journal.entries(db)] == ["submit"] * 3 + ["annul"]
    check(db, ladder)


def test_a_ladder_without_annulments_keeps_its_hash(db: Database) -> None:
    """Bit for bit that of the arena before there were any; the text is that arena's."""
    ladder = begin(db, *NAMES, rounds=2)
    play_all(db, ladder)
    assert store.ratings.keep_hash(db, ladder) == "4dd49539e88a4b6283f470a0149feb97819665fc1a7bb143d94e89fcd05e1c68"


def test_the_hash_has_what_was_annulled_and_why(db: Database) -> None:
    """So whoever wrote it down sees it if an annulment disappears, or gets another reason."""
    ladder = begin(db, *NAMES, rounds=2)
    play_all(db, ladder)
    hashes = [store.ratings.keep_hash(db, ladder)]
    store.annulment.annul_match(db, ids(db)[-1], "why")
    store.ratings.apply(db, ladder)
    hashes.append(store.ratings.keep_hash(db, ladder))
    db.execute("UPDATE corrections SET why = 'because' WHERE what = 'annul'")
    hashes.append(store.ratings.ladder_hash(db, ladder))
    db.execute("UPDATE matches SET status = 'done', annulled = NULL")
    hashes.append(store.ratings.ladder_hash(db, ladder))
    assert len({*hashes}) == 4


FORGERIES: dict[str, str] = {
    "UPDATE corrections SET why = 'else' WHERE id = 4": "correction 4 is not what its digest is of",
    "UPDATE corrections SET who = 'else' WHERE id = 4": "correction 4 is not what its digest is of",
    "DELETE FROM corrections WHERE id = 5": "correction 5 is gone",
    "DELETE FROM corrections WHERE id = 4": "what it refers to in table corrections is not there",
    "UPDATE matches SET status = 'done', annulled = NULL": "correction 4 is not what its digest is of, or not with",
    "UPDATE matches SET status = 'done' WHERE status = 'annulled'": "it was dropped, and was complete",
    "UPDATE matches SET annulled = 6 WHERE annulled = 4": "correction 4 is not what its digest is of, or not with",
}


@pytest.mark.parametrize(("forgery", "what"), FORGERIES.items())
def test_nobody_takes_an_annulment_back_unseen(db: Database, forgery: str, what: str) -> None:
    """Nor any other correction, but the last; of that the ladder hash tells, if it annulled something."""
    ladder = begin(db, *NAMES)
    play_all(db, ladder)
    store.annulment.annul_match(db, ids(db)[0], "why")
    store.bots.rename(db, "a", "Ann")
    store.annulment.annul_bot(db, "b", "why")
    rated(db, ladder)
    check(db, ladder)
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute(forgery)
    with pytest.raises(Mismatch) as found:
        check(db, ladder)
    assert what in str(found.value)


def test_an_annulled_match_is_still_checked(db: Database) -> None:
    """Its result, replay and digest stay what they were, and it may not be in the ratings."""
    ladder = begin(db, *NAMES)
    play_all(db, ladder)
    first, *_ = ids(db)
    store.annulment.annul_match(db, first, "why")
    rated(db, ladder)
    for forgery, what in (
        ("UPDATE seats SET score = 77 WHERE match = ? AND seat = 0", "is not what its digest is of"),
        ("UPDATE replays SET replay = x'00' WHERE match = ?", "its replay is not the one of its digest"),
        ("INSERT INTO history SELECT ladder, seq, '{}' FROM matches WHERE id = ?", "it is annulled, and was rated"),
    ):
        db.execute("SAVEPOINT before")
        db.execute(forgery, [first])
        with pytest.raises(Mismatch, match=what) as found:
            check(db, ladder)
        assert found.value.match == first
        db.execute("ROLLBACK TO before")
        db.execute("RELEASE before")


def test_after_a_kill_nothing_is_rated_until_the_next_command(db: Database) -> None:
    """The annulment is one transaction, the ratings are more: in between nobody sees ratings with the match in them."""
    ladder = begin(db, *NAMES, rounds=2)
    play_all(db, ladder)
    store.evidence.settle(db, ladder)
    store.annulment.annul_match(db, ids(db)[3], "why")
    assert (store.ratings.leaderboard(db, ladder), store.evidence.find_settled(db, ladder)) == ([], ({}, 0))
    assert sum(row.matches for row in store.ratings.provisional(db, ladder)) == 20
    check(db, ladder)
    assert store.ratings.apply(db, ladder) == 12
    assert sum(row.matches for row in store.ratings.leaderboard(db, ladder)) == 20
    check(db, ladder)


def test_a_fit_that_an_annulment_overtook_is_not_stored(db: Database) -> None:
    """Not even if as many matches count as before: another one, void three times, was played meanwhile."""
    ladder = begin(db, *NAMES, rounds=2)
    *most, last = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [*map(finished, most), *void(last, 3)])
    store.ratings.apply(db, ladder)

    def meanwhile(done: int, _most: int) -> None:
        if done == 0:
            store.annulment.annul_match(db, most[0].id, "why")
            store.matches.record(db, ladder, [finished(last)])
            store.ratings.apply(db, ladder)

    store.evidence.settle(db, ladder, meanwhile)
    assert store.evidence.find_settled(db, ladder) == ({}, 0)
    rated(db, ladder)
    assert checks.check_settled(db, ladder) == []


def test_a_banned_bot_is_out_for_good(db: Database) -> None:
    """What it played counts no more, what it was to play is dropped, and it cannot come back by itself."""
    ladder = half_played(db)
    banned = store.annulment.ban(db, "c", "it read the seeds")
    assert ([version.label for version in banned.retired], banned.dropped) == (["c@1"], 4)
    assert store.ladders.counts(db, ladder) == store.records.Counts(2, 2, 0, 4, annulled=4)
    check(db, ladder)
    refused = "c was banned on .*: it read the seeds"
    for come_back in (
        lambda: enter(db, "c"),
        lambda: store.bots.add(db, store.bots.NewBot("c", "new", games=["dice"], run=["bot"], origin="submitted")),
        lambda: store.retirement.reinstate(db, "c"),
        lambda: store.retirement.reinstate(db, "c@1"),
    ):
        with pytest.raises(store.StoreError, match=refused):
            come_back()
    with pytest.raises(store.StoreError, match="c is banned already"):
        store.annulment.ban(db, "c", "again")
    play_all(db, ladder)
    assert {row.label for row in store.ratings.leaderboard(db, ladder)} == {"a@1", "b@1"}
    store.annulment.unban(db, "c", "it was another one")
    assert store.journal.bans(db) == {}
    assert store.bots.find(db, "c").retired is not None
    assert store.retirement.reinstate(db, "c")
    assert store.ladders.plan(db, ladder, NAMES, 2) == 8
    play_all(db, ladder)
    assert store.ladders.counts(db, ladder).annulled == 4
    check(db, ladder)


def test_a_ban_may_leave_what_was_played_before_a_time(db: Database) -> None:
    """A bot that was honest until somebody changed it keeps what it had."""
    ladder = begin(db, *NAMES)
    play_all(db, ladder)
    assert store.annulment.ban(db, "c", "lately", since=2e10).correction.matches == 0
    assert "c@1" in {row.label for row in store.ratings.leaderboard(db, ladder)}
    check(db, ladder)


def test_a_banned_bot_is_in_no_leg(db: Database) -> None:
    """Even if somebody had chosen the field before."""
    ladder = begin(db, *NAMES)
    play_all(db, ladder)
    store.annulment.ban(db, "c", "why")
    assert store.ladders.plan(db, ladder, ["a@1", "b@1", "c@1"], 2) == 2
    assert {label for match in store.ladders.scheduled(db, ladder) for label in match.line_up} == {"a@1", "b@1"}


def test_a_built_in_bot_that_is_banned_enters_retired(db: Database) -> None:
    """An update of the arena brings a new version, which is no way back."""
    for digest in "xy":
        new, _ = store.bots.add(db, store.bots.NewBot("own", digest, games=["dice"], run=["bot"], origin="built-in"))
        if digest == "x":
            store.annulment.ban(db, "own", "too strong")
    assert new.retired is not None
    assert store.bots.find(db, "own").retired == new.retired
    assert store.bots.field(db, "dice") == ()


def test_a_new_name_is_for_people_only(db: Database) -> None:
    """The last one holds, and a bot's own name takes it away."""
    ladder = begin(db, *NAMES)
    play_all(db, ladder)
    before = store.ratings.keep_hash(db, ladder)
    store.bots.rename(db, "a", "Ann")
    store.bots.rename(db, "b", "Bob")
    store.bots.rename(db, "a", "Anna")
    store.bots.rename(db, "b", "b")
    assert store.journal.titles(db) == {"a": "Anna"}
    assert store.ratings.ladder_hash(db, ladder) == before
    check(db, ladder)


def test_the_record_has_all_that_is_done_by_hand(db: Database) -> None:
    """With the user who did it; what changed nothing is not in it."""
    ladder = half_played(db)
    store.chances.use(db, ladder, "b@1", {"detail": "it crashed"})
    for _ in range(2):
        store.chances.forgive(db, ladder, "b")
        store.retirement.retire(db, "c@1")
        store.retirement.reinstate(db, "c")
    enter(db, "c")
    store.retirement.retire(db, "c")
    enter(db, "c")
    said = [(entry.what, entry.subject, entry.ladder) for entry in store.journal.entries(db)][3:]
    assert said == [
        ("forgive", "b@1", ladder.id),
        *[("retire", "c@1", None), ("reinstate", "c", None)] * 2,
        ("retire", "c", None),
        ("submit", "c@1", None),
    ]
    assert all(entry.who for entry in store.journal.entries(db))
    checks.check_corrections(db)


def test_an_older_home_keeps_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of matches is made anew; what is known of earlier corrections is on record, but for who made them."""
    with store.open(tmp_path / "new") as db:
        ladder = half_played(db)
        store.matches.record(db, ladder, void(next(store.ladders.scheduled(db, ladder))))
        store.chances.use(db, ladder, "b@1", {"detail": "it crashed"})
        store.chances.forgive(db, ladder, "b")
        store.retirement.retire(db, "c")
        store.ratings.apply(db, ladder)
        store.evidence.settle(db, ladder)
        store.ratings.keep_hash(db, ladder)
        db.execute("UPDATE ladders SET zero = 'field'")  # as it was then
        db.execute("UPDATE legs SET rule = 1")
        before, entries = dump(db), store.journal.entries(db)
    with monkeypatch.context() as patch:
        names = [step.__name__ for step in schema.MIGRATIONS]
        patch.setattr(database, "MIGRATIONS", schema.MIGRATIONS[: names.index("_11_corrections")])
        with store.open(tmp_path / "old") as db:
            db.execute("PRAGMA foreign_keys = OFF")
            db.execute("ATTACH ? AS new", [str(tmp_path / "new" / "arena.db")])
            for table in db.table_names():
                columns = ", ".join(column.name for column in db[table].columns)
                db.execute(f"DELETE FROM {table}")
                db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
    with store.open(tmp_path / "old") as db:
        assert dump(db) == before
        assert [(entry.what, entry.who) for entry in store.journal.entries(db)] == [
            (entry.what, None) for entry in entries
        ]
        check(db, ladder)
        play_all(db, ladder)
        store.annulment.annul_match(db, ids(db)[0], "why")
        rated(db, ladder)
        check(db, ladder)
