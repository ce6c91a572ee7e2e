"""The leaderboard: each match rated once, in schedule order, whatever happens on the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import store
from ladder.store import checks
from ladder.store.database import in_memory
from ladder.trueskill_ratings import NEW, Rating, rate
from tests.ladder.fakes import begin, enter, finished, play, void

Change = Callable[[store.records.FinishedMatch], store.records.FinishedMatch]


def seen(db: Database, ladder: store.Ladder) -> tuple[list[store.records.Row], str]:
    """All that a ladder ends with."""
    return store.ratings.leaderboard(db, ladder), store.ratings.ladder_hash(db, ladder)


def rated_in_order(matches: Sequence[store.records.ScheduledMatch]) -> dict[str, Rating]:
    """The ratings after these matches in this order."""
    ratings: dict[str, Rating] = {}
    for match in matches:
        before = [ratings.get(label, NEW) for label in match.line_up]
        ranks = [outcome.rank for outcome in finished(match).seats]
        ratings |= zip(match.line_up, rate(before, ranks, 0.1), strict=True)
    return ratings


def rated(db: Database, ladder: store.Ladder) -> dict[str, Rating]:
    return {row.label: Rating(row.mu, row.sigma) for row in store.ratings.leaderboard(db, ladder)}


@pytest.mark.parametrize("seats", [2, 3])
def test_ratings_are_those_of_the_schedule_order(db: Database, seats: int) -> None:
    """To the last bit, and after every single match: `arena verify` finds the same numbers again."""
    ladder = begin(db, "a", "b", "c", "d", seats=seats, rounds=2)
    matches = list(store.ladders.scheduled(db, ladder))
    play(db, ladder)
    assert rated(db, ladder) == rated_in_order(matches)
    for number in (0, 5, len(matches) - 1):
        after = rated_in_order(matches[: number + 1])
        assert store.matches.find(db, matches[number].id).ratings == {
            bot: after[bot] for bot in matches[number].line_up
        }


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([2, 3]))
def test_the_order_of_finishing_changes_nothing(chance: Random, seats: int) -> None:
    """Any number of workers, any machine, interrupted or not: the same ratings and the same hash, bit for bit."""
    with in_memory() as straight, in_memory() as mixed:
        play(straight, begin(straight, "a", "b", "c", "d", seats=seats, rounds=2))
        ladder = begin(mixed, "a", "b", "c", "d", seats=seats, rounds=2)
        results = [finished(match) for match in store.ladders.scheduled(mixed, ladder)]
        for result in chance.sample(results, len(results)):
            store.matches.record(mixed, ladder, [result])
            if chance.random() < 0.3:
                store.ratings.apply(mixed, ladder)
        store.ratings.apply(mixed, ladder)
        assert seen(mixed, ladder) == seen(straight, ladder)


def test_rating_waits_for_the_first_match_that_is_not_done(db: Database) -> None:
    """Rating what came later first would make ratings depend on who was quick."""
    ladder = begin(db, "a", "b", "c", rounds=2)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(match) for match in matches if match is not matches[4]])
    assert store.ratings.apply(db, ladder) == 4
    assert rated(db, ladder) == rated_in_order(matches[:4])
    store.matches.record(db, ladder, [finished(matches[4])])
    assert store.ratings.apply(db, ladder) == 8
    assert rated(db, ladder) == rated_in_order(matches)


def test_rating_again_changes_nothing(db: Database) -> None:
    """Each match is rated once: there is nothing to rate, and before the first result neither."""
    ladder = begin(db, "a", "b", "c")
    assert store.ratings.apply(db, ladder) == 0
    play(db, ladder)
    before = seen(db, ladder)
    assert store.ratings.apply(db, ladder) == 0
    assert seen(db, ladder) == before


def test_an_unplayable_match_is_passed_over(db: Database) -> None:
    """It costs nobody a point."""
    ladder = begin(db, "a", "b", "c")
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, void(matches[1], 3))
    play(db, ladder)
    assert rated(db, ladder) == rated_in_order([match for match in matches if match is not matches[1]])
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=0, done=5, unplayable=1)


def test_an_unplayable_match_played_after_all_counts_in_its_place(db: Database) -> None:
    """The ladder ends as if the machine had never failed; until then the leaderboard shows what it had."""
    ladder = begin(db, "a", "b", "c")
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, void(matches[1], 3))
    play(db, ladder)
    before = rated(db, ladder)
    store.matches.record(db, ladder, [finished(matches[1])])
    assert rated(db, ladder) == before
    assert [row.matches for row in store.ratings.provisional(db, ladder)] == [4, 4, 4]
    store.ratings.apply(db, ladder)
    with in_memory() as sound:
        play(sound, begin(sound, "a", "b", "c"))
        assert seen(db, ladder) == seen(sound, ladder)


def interrupt_after_commits(db: Database, commits: int) -> None:
    """Have SQLite break off a transaction, once, where what it rated is about to count, after so many."""
    left, breaks_off = commits, False

    def note(statement: str) -> None:
        nonlocal left, breaks_off
        left -= statement.startswith("COMMIT")
        breaks_off = not left and statement.startswith("UPDATE ladders SET folded")
        if breaks_off:
            db.conn.set_trace_callback(None)

    def look() -> int:
        nonlocal breaks_off
        now, breaks_off = breaks_off, False
        return now

    db.conn.set_trace_callback(note)
    db.conn.set_progress_handler(look, 1)


def test_rating_that_is_stopped_begins_again_where_it_was(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings and the place reached are stored together, or not at all."""
    ladder = begin(db, "a", "b", "c", rounds=3)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(match) for match in matches])
    interrupt_after_commits(db, 2)
    monkeypatch.setattr(store.ratings, "RATED_AT_ONCE", 4)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        store.ratings.apply(db, ladder)
    assert rated(db, ladder) == rated_in_order(matches[:8])
    assert store.ratings.apply(db, ladder) == 10
    assert rated(db, ladder) == rated_in_order(matches)


def three_seats(db: Database, *results: Sequence[int], forfeit: str | None = None) -> dict[str, store.records.Row]:
    """The rows of a, b and c after matches with these ranks (by bot); a may forfeit them."""
    ladder = begin(db, "a", "b", "c", seats=3)
    for match, ranks in zip(store.ladders.scheduled(db, ladder), results, strict=False):
        outcomes = [store.records.SeatOutcome(ranks["abc".index(label[0])], 0) for label in match.line_up]
        seat = match.line_up.index("a@1")
        outcomes[seat] = outcomes[seat]._replace(forfeit=forfeit)
        store.matches.record(db, ladder, [store.records.FinishedMatch(match.id, tuple(outcomes), b"", b"")])
    store.ratings.apply(db, ladder)
    return {row.name: row for row in store.ratings.leaderboard(db, ladder)}


def test_a_win_is_the_first_place_alone(db: Database) -> None:
    """A tie is the first place shared, a loss anything else; the mean rank counts from 1."""
    rows = three_seats(db, [0, 1, 2], [0, 0, 2], [1, 0, 1], [2, 1, 0])
    assert [(row.matches, row.wins, row.ties, row.losses) for row in (rows["a"], rows["b"], rows["c"])] == [
        (4, 1, 1, 2),
        (4, 1, 1, 2),
        (4, 1, 0, 3),
    ]
    assert [rows[name].mean_rank for name in "abc"] == [1.75, 1.5, 2.25]


def test_a_tie_of_all_is_a_tie_for_all(db: Database) -> None:
    """Nobody has lost it."""
    assert [row.ties for row in three_seats(db, [0, 0, 0]).values()] == [1, 1, 1]


def test_forfeits_are_counted(db: Database) -> None:
    """They are rated like any place; the count tells a weak bot from a broken one."""
    rows = three_seats(db, [2, 0, 1], [2, 1, 0], forfeit="CRASH")
    assert [rows[name].forfeits for name in "abc"] == [2, 0, 0]


def test_the_leaderboard_goes_by_shown_rating(db: Database) -> None:
    """Not by mu: beating a veteran once does not make a champion."""
    ladder = begin(db, "a", "b", "c", rounds=10)
    play(db, ladder)
    store.ladders.plan(db, ladder, ["a", *enter(db, "z")], rounds=1)
    match = next(store.ladders.scheduled(db, ladder))
    outcomes = tuple(store.records.SeatOutcome(int(label != "z@1"), 0) for label in match.line_up)
    store.matches.record(db, ladder, [store.records.FinishedMatch(match.id, outcomes, b"", b"")])
    store.ratings.apply(db, ladder)
    rows = store.ratings.leaderboard(db, ladder)
    assert (max(rows, key=lambda row: row.mu).name, rows[-1].name) == ("z", "z")
    assert [row.shown for row in rows] == sorted((row.mu - 3 * row.sigma for row in rows), reverse=True)
    assert [row.place for row in rows] == [1, 2, 3, 4]


def test_older_and_retired_versions_stay_and_are_marked(db: Database) -> None:
    """Their results are part of everybody's rating."""
    ladder = begin(db, "a", "b")
    play(db, ladder)
    store.bots.add(db, store.bots.NewBot("a", "better", games=["dice"], run=["bot"], origin="submitted"))
    store.retirement.retire(db, "b")
    rows = {row.label: row for row in store.ratings.leaderboard(db, ladder)}
    assert (rows["a@1"].current, rows["a@1"].retired) == (False, False)
    assert (rows["b@1"].current, rows["b@1"].retired) == (True, True)
    assert "a@2" not in rows


def hash_after(change: Change) -> str:
    """The hash of a ladder one of whose results was changed."""
    with in_memory() as db:
        ladder = begin(db, "a", "b", "c")
        results = [finished(match) for match in store.ladders.scheduled(db, ladder)]
        store.matches.record(db, ladder, [change(results[0]), *results[1:]])
        store.ratings.apply(db, ladder)
        return store.ratings.ladder_hash(db, ladder)


def with_first_seat(**changes: Any) -> Change:
    def change(result: store.records.FinishedMatch) -> store.records.FinishedMatch:
        return result._replace(seats=(result.seats[0]._replace(**changes), *result.seats[1:]))

    return change


def unchanged(result: store.records.FinishedMatch) -> store.records.FinishedMatch:
    return result


@pytest.mark.parametrize(
    "change",
    [
        lambda result: result._replace(choices=b"[]"),
        with_first_seat(score=9),
        with_first_seat(rank=7),
        with_first_seat(forfeit="TIMEOUT"),
    ],
    ids=["choices", "score", "rank", "forfeit"],
)
def test_the_hash_signs_what_counts(change: Change) -> None:
    """A result that was tampered with shows."""
    assert hash_after(change) != hash_after(unchanged)


@pytest.mark.parametrize(
    "change",
    [
        lambda result: result._replace(replay=b"packed otherwise"),
        with_first_seat(evidence={"stderr": "warning"}),
        with_first_seat(think_total=3.0, think_max=1.0),
    ],
    ids=["replay", "evidence", "times"],
)
def test_the_hash_leaves_out_what_the_machine_decides(change: Change) -> None:
    """Or no two runs would ever agree."""
    assert hash_after(change) == hash_after(unchanged)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE versions SET digest = 'of another program' WHERE label = 'a@1'",
        "UPDATE groups SET seed = zeroblob(32) WHERE position = 0",
        "UPDATE ratings SET mu = mu + 1e-12 WHERE version = 'a@1'",
        "UPDATE ladders SET game = 'cards'",
    ],
    ids=["versions", "seed", "ratings", "game"],
)
def test_the_hash_signs_programs_luck_and_ratings(db: Database, tampering: str) -> None:
    """The same results of other programs, on other dice or rated otherwise, are another ladder."""
    ladder = begin(db, "a", "b")
    play(db, ladder)
    before = store.ratings.ladder_hash(db, ladder)
    db.execute(tampering)
    assert store.ratings.ladder_hash(db, store.ladders.all(db)[0]) != before


def test_a_hash_is_kept_until_something_is_recorded(db: Database) -> None:
    """Reading a hundred thousand matches takes a second; `arena verify` tells a kept hash that is none of theirs."""
    ladder = begin(db, "a", "b")
    play(db, ladder)
    first = store.ratings.keep_hash(db, ladder)
    assert first == store.ratings.kept_hash(db, ladder) == store.ratings.ladder_hash(db, ladder)
    store.ladders.plan(db, ladder, ["a", "b"], 2)
    store.matches.record(db, ladder, [finished(match) for match in store.ladders.scheduled(db, ladder)])
    recorded = store.ratings.keep_hash(db, ladder)
    store.ratings.apply(db, ladder)
    assert len({first, recorded, store.ratings.keep_hash(db, ladder)}) == 3
    assert store.ratings.keep_hash(db, ladder) == store.ratings.ladder_hash(db, ladder)
    db.execute("UPDATE ladders SET hash = ?", [first])
    with pytest.raises(checks.Mismatch, match="its hash is not that of"):
        checks.check_ratings(db, ladder)


def test_what_came_early_is_on_the_provisional_board_in_the_order_it_came(db: Database) -> None:
    """In the first phase no group is complete, and somebody watches; what is stored does not change by it."""
    ladder = begin(db, "a", "b", "c", "d", rounds=2)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(matches[0])])
    store.ratings.apply(db, ladder)
    assert store.ratings.provisional(db, ladder) == []
    late, early = matches[7], matches[3]
    for match in (late, early):
        store.matches.record(db, ladder, [finished(match)])
        store.ratings.apply(db, ladder)
    before = store.ratings.ladder_hash(db, ladder), store.ratings.leaderboard(db, ladder)
    found = {row.label: Rating(row.mu, row.sigma) for row in store.ratings.provisional(db, ladder)}
    assert found == rated_in_order([matches[0], late, early])
    assert (store.ratings.ladder_hash(db, ladder), store.ratings.leaderboard(db, ladder)) == before
