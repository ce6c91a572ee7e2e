"""Sums for the cards of bots: always those of the matches that count, however they came, and quick to read."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import store
from ladder.store import checks, sums
from ladder.store.database import in_memory
from tests.ladder.fakes import begin, finished, older, play, steps, void


def stored(db: Database, ladder: store.Ladder) -> dict[str, list[sums.SumRow]]:
    """All sums of a ladder."""
    return {table: sums.stored_rows(db, ladder.id, table) for table in sums.SUM_COLUMNS}


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_points_are_those_of_the_leaderboard(db: Database, seats: int, seed: str) -> None:
    """Mean and interval of every bot, and against every other, are known from sums as from all groups."""
    ladder = begin(db, "a", "b", "c", "d", "e", "f", seats=seats, seed=seed)
    play(db, ladder)
    evidence = store.evidence.of_ladder(db, ladder)
    shares = store.cards.shares(db, ladder, evidence.bots)
    assert shares.bots == evidence.bots
    for bot in evidence.bots:
        assert shares.score(bot) == evidence.score(bot)
        for other in evidence.bots:
            assert shares.head_to_head(bot, other) == evidence.head_to_head(bot, other)


def test_seats_add_up_to_the_leaderboard(db: Database) -> None:
    """The same matches are in both."""
    ladder = begin(db, "a", "b", "c", "d", seats=3)
    play(db, ladder)
    for row in store.ratings.leaderboard(db, ladder):
        seats = store.cards.seat_sums(db, ladder, row.label)
        assert [seat.seat for seat in seats] == [0, 1, 2]
        added = [sum(column) for column in zip(*seats, strict=True)][1:5]
        assert added == [row.matches, row.wins, row.ties, row.losses]
        assert 1 + sum(seat.rank_sum for seat in seats) / row.matches == row.mean_rank
    assert (
        sum(seat.halves for label in "abcd" for seat in store.cards.seat_sums(db, ladder, f"{label}@1"))
        == 2 * 3 * 12 * 2
    )


@settings(max_examples=8, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([2, 3]))
def test_the_order_of_finishing_changes_no_sum(chance: Random, seats: int) -> None:
    """Nor in how many pieces matches are rated, nor that some were void or came twice, nor that one was unplayable."""
    with in_memory() as straight, in_memory() as mixed:
        ladder = begin(straight, "a", "b", "c", "d", seats=seats)
        matches = list(store.ladders.scheduled(straight, ladder))
        play(straight, ladder)
        begin(mixed, "a", "b", "c", "d", seats=seats)
        store.matches.record(mixed, ladder, void(chance.choice(matches), 3))
        results = [finished(match) for match in matches]
        chance.shuffle(results)
        for result in [*results, results[0]]:
            store.matches.record(mixed, ladder, [result])
            if chance.random() < 0.5:
                store.ratings.apply(mixed, ladder)
            store.sums.add_rated(mixed, ladder, least=chance.randint(1, 9))
        store.ratings.apply(mixed, ladder)
        store.sums.add_rated(mixed, ladder)
        assert stored(mixed, ladder) == stored(straight, ladder)
        checks.check_sums(mixed, ladder)


def test_a_group_that_is_not_complete_counts_in_no_pair(db: Database) -> None:
    """As on the leaderboard; its other matches were played, so they count by seat."""
    ladder = begin(db, "a", "b", "c")
    first, second, *rest = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [finished(first), *void(second, 3), *map(finished, rest)])
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)
    groups = sum(row[2] for row in sums.stored_rows(db, ladder.id, "pair_sums"))
    matches = sum(row[2] for row in sums.stored_rows(db, ladder.id, "seat_sums"))
    assert (groups, matches) == (len(rest) // 2, 2 * (1 + len(rest)))


def test_matches_worth_a_look_are_few_and_the_most_notable(db: Database) -> None:
    """Forfeits come first; who forfeited did not lose narrowly, and nobody was upset by it."""
    ladder = begin(db, "a", "b", rounds=50)
    scheduled = list(store.ladders.scheduled(db, ladder))
    results = []
    for number, match in enumerate(scheduled):
        strong = match.line_up.index("a@1")
        if number in (60, 70, 80, 90):  # b forfeits
            seats = [store.records.SeatOutcome(0, 9), store.records.SeatOutcome(0, 9)]
            seats[1 - strong] = store.records.SeatOutcome(1, 9, "crash")
        else:  # a wins by more and more, but for one match
            winner = 1 - strong if number == 75 else strong
            seats = [store.records.SeatOutcome(1, 0), store.records.SeatOutcome(1, 0)]
            seats[winner] = store.records.SeatOutcome(0, number + 1)
        results.append(store.records.FinishedMatch(match.id, tuple(seats), b"", b""))
    store.matches.record(db, ladder, results)
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)
    found = {label: store.notable_matches.of_version(db, ladder, label) for label in ("a@1", "b@1")}
    ids = [match.id for match in scheduled]
    assert [(each.kind, ids.index(each.id)) for each in found["a@1"]] == [("lost", 75), ("narrow", 75)]
    assert [(each.kind, ids.index(each.id)) for each in found["b@1"]] == [
        *(("forfeit", seq) for seq in (90, 80, 70)),
        ("won", 75),
        *(("narrow", seq) for seq in (0, 1, 2)),
    ]
    (upset,) = [each for each in found["b@1"] if each.kind == "won"]
    assert upset.line_up[upset.seat] == "b@1"
    assert upset.rank == 0


def test_a_narrow_loss_is_one_whose_difference_the_database_can_hold(db: Database) -> None:
    """Scores are as large as a game likes, and numbers of SQLite are not."""
    ladder = begin(db, "a", "b")
    matches = list(store.ladders.scheduled(db, ladder))
    for match, best, other in zip(matches, (10**15 - 1, 10**30), (10**15 - 2, 0), strict=True):
        seats = [store.records.SeatOutcome(1, other), store.records.SeatOutcome(1, other)]
        seats[match.line_up.index("a@1")] = store.records.SeatOutcome(0, best)
        store.matches.record(db, ladder, [store.records.FinishedMatch(match.id, tuple(seats), b"", b"")])
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)
    assert [(each.kind, each.value) for each in store.notable_matches.of_version(db, ladder, "b@1")] == [("narrow", -1)]


@pytest.mark.parametrize("seats", [2, 3])
def test_an_older_home_gets_all_sums_of_results(tmp_path: Path, seats: int) -> None:
    """Of what is rated, as if they had been there from the start."""
    with store.open(tmp_path / "new") as db:
        ladder = begin(db, "a", "b", "c", "d", seats=seats, rounds=2)
        store.matches.record(db, ladder, [finished(match) for match in list(store.ladders.scheduled(db, ladder))[:-4]])
        store.ratings.apply(db, ladder)
        store.sums.add_rated(db, ladder)
        before = stored(db, ladder)
    older(tmp_path / "old", tmp_path / "new")
    with store.open(tmp_path / "old") as db:
        assert not stored(db, ladder)["seat_sums"]
        store.sums.add_rated(db, ladder)
        assert stored(db, ladder) == before
        play(db, ladder)
        checks.check_sums(db, ladder)


def test_an_older_arena_may_go_on_meanwhile(db: Database) -> None:
    """It knows no sums: what it rates is found later, and if it rates all anew the sums begin anew, too."""
    ladder = begin(db, "a", "b", "c", rounds=3)
    first, *rest = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, void(first, 3))
    store.matches.record(db, ladder, [finished(match) for match in rest[:9]])
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)
    store.matches.record(db, ladder, [finished(match) for match in [first, *rest[9:]]])
    store.ratings.apply(db, ladder)  # as an older arena does, and no more
    checks.check_sums(db, ladder)
    assert not stored(db, ladder)["seat_sums"]
    store.sums.add_rated(db, ladder)
    checks.check_sums(db, ladder)
    assert sum(row[2] for row in stored(db, ladder)["seat_sums"]) == 2 * len([first, *rest])


def test_sums_go_back_with_the_ratings(db: Database) -> None:
    """Over matches that were never played they lose nothing; if any is rated anew, they begin anew."""
    ladder = begin(db, "a", "b", "c", "d")
    store.matches.record(db, ladder, [finished(match) for match in islice(store.ladders.scheduled(db, ladder), 6)])
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)
    db.execute("UPDATE ladders SET folded = 8, summed = 8")
    db.execute("UPDATE ladders SET folded = 6")
    assert sums.gap(db, ladder) == (6, 6)
    checks.check_sums(db, ladder)
    db.execute("UPDATE ladders SET folded = 5")
    assert sums.gap(db, ladder) == (0, 5)
    assert not any(stored(db, ladder).values())


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE seat_sums SET wins = wins + 1 WHERE version = 'b@1'",
        "DELETE FROM pair_sums WHERE version = 'b@1'",
        "UPDATE triple_sums SET products = 0",
        "UPDATE notable SET seq = seq + 100",
    ],
)
def test_sums_cannot_be_made_up(db: Database, forgery: str) -> None:
    """`arena verify` computes them again."""
    ladder = begin(db, "a", "b", "c", seats=3)
    play(db, ladder)
    checks.check_sums(db, ladder)
    db.execute(forgery)
    with pytest.raises(checks.Mismatch, match=rf"the table {forgery.split()[1 + forgery.startswith('DELETE')]} has"):
        checks.check_sums(db, ladder)


def read_a_card(db: Database, ladder: store.Ladder) -> None:
    """Read all that a card shows."""
    store.cards.shares(db, ladder, ["a@1"])
    store.ratings.leaderboard(db, ladder)
    store.cards.seat_sums(db, ladder, "a@1")
    store.times.decision_times(db, ladder, "a@1")
    store.notable_matches.of_version(db, ladder, "a@1")
    store.cards.unrated_matches(db, ladder)
    store.matches.faults(db, "a")


def test_reading_takes_no_longer_with_more_matches(db: Database) -> None:
    """Counted in steps of SQLite: a card of 100,000 matches is there as soon as one of a hundred."""
    ladder = begin(db, "a", "b", "c", rounds=10)
    play(db, ladder)
    few = steps(db, lambda: read_a_card(db, ladder))
    begin(db, "a", "b", "c", rounds=200)
    play(db, ladder)
    assert store.ladders.counts(db, ladder).done == 1200
    assert steps(db, lambda: read_a_card(db, ladder)) <= 1.1 * few
