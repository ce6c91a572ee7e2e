"""Results are stored once, in any order, and can be looked at."""

from __future__ import annotations

from hashlib import sha256

import pytest
from sqlite_utils import Database

from ladder import store
from tests.ladder.fakes import begin, finished, play, scores, void


def test_a_result_counts_once(db: Database) -> None:
    """A worker may send it twice, and another machine may play the match again: the first one stands."""
    ladder = begin(db, "a", "b")
    match = next(store.ladders.scheduled(db, ladder))
    first = finished(match)
    other = first._replace(choices=b"other", seats=first.seats[::-1])
    assert store.matches.record(db, ladder, [first, other]) == 1
    assert store.matches.record(db, ladder, [other, *void(match)]) == 0
    assert store.matches.find(db, match.id).seats == first.seats
    assert store.matches.find(db, match.id).voids == ()
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=1, done=1, unplayable=0)


def test_what_a_seat_did_comes_back_as_it_was(db: Database) -> None:
    """Scores know no largest number; evidence is whatever the referee noted."""
    ladder = begin(db, "a", "b")
    match = next(store.ladders.scheduled(db, ladder))
    seats = (
        store.records.SeatOutcome(0, 10**30, decisions=7, think_total=0.25, think_max=0.125),
        store.records.SeatOutcome(1, -3, "ILLEGAL", {"sent": [1, None], "line": "é\x1b"}, 2, 0.5, 0.5),
    )
    store.matches.record(db, ladder, [store.records.FinishedMatch(match.id, seats, b"[1,2]", b"\x1f\x8b packed")])
    stored = store.matches.find(db, match.id)
    assert stored.seats == seats
    assert (stored.line_up, stored.status, stored.rotation, stored.ladder) == (
        match.line_up,
        "done",
        0,
        store.ladders.find(db, ladder.id),
    )
    assert stored.replay == b"\x1f\x8b packed"
    assert stored.replay_digest == sha256(b"\x1f\x8b packed").digest()
    assert stored.choices_digest == sha256(b"[1,2]").digest()


def test_a_match_void_three_times_is_unplayable(db: Database) -> None:
    """It is listed with every reason; until then it stays scheduled."""
    ladder = begin(db, "a", "b")
    match = next(store.ladders.scheduled(db, ladder))
    for reason in ("DISK", "OVERLOAD"):
        store.matches.record(db, ladder, [store.records.VoidMatch(match.id, reason)])
    assert next(store.ladders.scheduled(db, ladder)).attempts == 2
    store.matches.record(db, ladder, [store.records.VoidMatch(match.id, "INTERNAL")])
    stored = store.matches.find(db, match.id)
    assert (stored.status, stored.voids) == ("unplayable", ("DISK", "OVERLOAD", "INTERNAL"))
    assert stored.seats == ()


def test_an_unknown_match_stores_nothing(db: Database) -> None:
    """One transaction: the results that came with it are not half stored either."""
    ladder, other = begin(db, "a", "b"), begin(db, "a", "b", "c", seats=3)
    match, foreign = next(store.ladders.scheduled(db, ladder)), next(store.ladders.scheduled(db, other))
    with pytest.raises(store.NotFound, match=f"ladder {ladder.id} has no match '{foreign.id}'"):
        store.matches.record(db, ladder, [finished(match), finished(foreign)])
    assert store.ladders.counts(db, ladder).done == 0


def test_a_seed_is_shown_when_its_group_is_done(db: Database) -> None:
    """The other rotations roll the same dice: shown earlier, a submitter could foresee them."""
    ladder = begin(db, "a", "b")
    first, second = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [finished(first), *void(second, 3)])
    assert store.matches.find(db, first.id).seed is None
    store.matches.record(db, ladder, [finished(second)])
    assert store.matches.find(db, first.id).seed == first.seed


def test_the_ratings_of_a_match_are_shown_once_it_is_rated(db: Database) -> None:
    """How much a match moved its bots."""
    ladder = begin(db, "a", "b")
    first, second = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [finished(first), finished(second)])
    assert store.matches.find(db, second.id).ratings is None
    store.ratings.apply(db, ladder)
    ratings = store.matches.find(db, second.id).ratings
    assert ratings == {row.label: (row.mu, row.sigma) for row in store.ratings.leaderboard(db, ladder)}


def test_any_unique_beginning_names_a_match(db: Database) -> None:
    """As with commits; letters may be typed in either case."""
    ladder = begin(db, *"abcdefgh", rounds=3)
    ids = sorted(match.id for match in store.ladders.scheduled(db, ladder))
    for id in ids[::10]:
        unique = next(id[:size] for size in range(1, 11) if sum(other.startswith(id[:size]) for other in ids) == 1)
        assert store.matches.find(db, unique.upper()).id == id
    with pytest.raises(store.NotFound, match=f"begin with '{ids[0][0]}': {ids[0]}, {ids[1]}"):
        store.matches.find(db, ids[0][0])


@pytest.mark.parametrize("prefix", ["00", "%", "*", "zzzzzzzzzzz", "' OR 1=1"])
def test_a_match_that_is_not_there_is_named(db: Database, prefix: str) -> None:
    """No digit 0 is in any id, and no pattern is understood."""
    begin(db, "a", "b")
    with pytest.raises(store.NotFound) as error:
        store.matches.find(db, prefix)
    assert str(error.value) == f"no match has an id that begins with {prefix!r}"


def test_a_bots_matches_begin_with_what_it_forfeited(db: Database) -> None:
    """Its author looks for the faults; then for what was played last."""
    ladder = begin(db, "a", "b", "c", rounds=2)
    results = [finished(match) for match in store.ladders.scheduled(db, ladder)]
    of_a = [match for match in store.ladders.scheduled(db, ladder) if "a@1" in match.line_up]
    lost = next(result for result in results if result.id == of_a[3].id)
    seat = of_a[3].line_up.index("a@1")
    seats = [outcome._replace(forfeit="TIMEOUT") if seat == i else outcome for i, outcome in enumerate(lost.seats)]
    results[results.index(lost)] = lost._replace(seats=tuple(seats))
    store.matches.record(db, ladder, results)
    lines = store.matches.of_bot(db, "a", limit=5)
    expected = [of_a[place] for place in (3, 7, 6, 5, 4)]
    assert [line.id for line in lines] == [match.id for match in expected]
    assert (lines[0].forfeit, lines[0].seat, lines[0].line_up) == ("TIMEOUT", seat, of_a[3].line_up)
    assert [line.score for line in lines] == [scores(match)[match.line_up.index("a@1")] for match in expected]


def test_matches_of_a_bot_that_plays_rarely_are_found_behind_all_others(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the newest of all matches are looked at first; the answer is the same without that."""
    play(db, begin(db, "a", "b", "c", rounds=3))
    expected = {name: store.matches.of_bot(db, name, 4) for name in "abc"}
    assert all(len(found) == 4 for found in expected.values())
    for few in (1, 5, 8):
        monkeypatch.setattr("ladder.store.watching.RECENT_RESULTS", few)
        assert {name: store.matches.of_bot(db, name, 4) for name in "abc"} == expected


def test_a_bot_without_matches_has_none(db: Database) -> None:
    """An empty list, while a bot that does not exist is an error."""
    play(db, begin(db, "a", "b"))
    store.bots.add(db, store.bots.NewBot("a", "better", games=["dice"], run=["bot"], origin="submitted"))
    assert store.matches.of_bot(db, "a", 5) == ()
    assert len(store.matches.of_bot(db, "a@1", 5)) == 2
    with pytest.raises(store.NotFound, match="no bot 'x'"):
        store.matches.of_bot(db, "x", 5)
