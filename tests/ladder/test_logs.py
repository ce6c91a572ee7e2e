"""What bots printed is kept within bounds, and shown when it can tell nobody of dice that are still to be rolled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlite_utils import Database

from ladder import store
from ladder.store import logs
from tests.ladder.fakes import begin, finished, play, void
from tests.ladder.test_retirement import half_played

PROCESS = "p"


def log(
    match: str, lines: bytes = b"lines", *, bot: str = "a", seat: int = 0, since: int = 0, until: int = 0
) -> store.logs.Log:
    """What a bot printed in a match."""
    return store.logs.Log(bot, match, seat, PROCESS, since, until, lines)


def piece(number: int, lines: bytes, bot: str = "a") -> store.logs.Log:
    """What a process printed besides."""
    return store.logs.Log(bot, None, None, PROCESS, number, number + 1, lines)


def ids(db: Database) -> list[str]:
    return [id for (id,) in db.execute("SELECT id FROM matches ORDER BY seq")]


def sizes(db: Database) -> dict[str, int]:
    """What is counted of each bot, which is what there is."""
    counted = dict(db.execute("SELECT bot, bytes FROM log_sizes").fetchall())
    there = db.execute("SELECT bot, sum(length(lines) + ?) FROM logs GROUP BY bot", [logs.ROW])
    assert dict(there.fetchall()) == {bot: size for bot, size in counted.items() if size}
    return counted


def kept(db: Database, matches: Sequence[str], seat: int = 0) -> list[bytes]:
    """All that is kept of a seat in these matches."""
    return [lines for match in matches for lines in store.logs.printed(db, store.matches.find(db, match), seat).lines]


def test_logs_are_found_by_match_and_seat(db: Database) -> None:
    """What came later follows what came before; of the process's pieces those that came meanwhile."""
    play(db, begin(db, "a", "b"))
    one, two = ids(db)
    store.logs.keep(db, [log(one, b"first", since=1, until=3), *[piece(number, b"%d" % number) for number in range(4)]])
    store.logs.keep(db, [log(one, b"second"), log(one, b"other", bot="b", seat=1), log(two, b"else")])
    match = store.matches.find(db, one)
    assert store.logs.seats(db, match) == (0, 1)
    assert store.logs.printed(db, match, 0) == store.logs.Printed((b"first", b"second"), (b"1", b"2"))
    assert store.logs.printed(db, match, 1) == store.logs.Printed((b"other",), ())


def test_a_match_without_a_result_has_no_log(db: Database) -> None:
    """Void, still to be played, or of a bot that was retired before its result came."""
    ladder = half_played(db)
    store.matches.record(db, ladder, void(next(iter(store.ladders.scheduled(db, ladder))), 3))
    store.retirement.retire(db, "c")
    done = {id for (id,) in db.execute("SELECT id FROM matches WHERE status = 'done'")}
    store.logs.keep(db, [log(id) for id in ids(db)])
    assert {id for (id,) in db.execute("SELECT match FROM logs")} == done
    sizes(db)


def test_logs_are_shown_when_nothing_of_the_leg_is_left_to_play(db: Database) -> None:
    """Bots may print the dice of one match as if they were of another, and others of the leg share these dice."""
    ladder = half_played(db)
    first = ids(db)[0]
    store.logs.keep(db, [log(first)])
    with pytest.raises(store.NotFound, match="is shown when all that was planned with it has been played: `arena"):
        store.logs.printed(db, store.matches.find(db, first), 0)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(match) for match in matches[:-1]])
    assert not store.logs.may_be_shown(db, store.matches.find(db, first))
    store.matches.record(db, ladder, [finished(matches[-1])])
    assert kept(db, [first]) == [b"lines"]


def test_a_later_leg_hides_only_its_own_logs(db: Database) -> None:
    """Its groups have other dice."""
    ladder = begin(db, "a", "b")
    play(db, ladder)
    store.ladders.plan(db, ladder, ["a@1", "b@1"], 2)
    store.matches.record(db, ladder, [finished(next(iter(store.ladders.scheduled(db, ladder))))])
    assert [store.logs.may_be_shown(db, store.matches.find(db, id)) for id in ids(db)] == [True, True, False, False]


def test_an_unplayable_match_hides_the_logs_of_its_leg(db: Database) -> None:
    """As --retry may play it: a process that played several groups may have printed its dice as those of another."""
    ladder = begin(db, "a", "b", rounds=2)
    first, second, *others = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [finished(first), *void(second, 3), *map(finished, others)])
    assert [store.logs.may_be_shown(db, store.matches.find(db, match.id)) for match in (first, others[0])] == [
        False,
        False,
    ]
    store.matches.record(db, ladder, [finished(match) for match in store.ladders.scheduled(db, ladder, retry=True)])
    assert [store.logs.may_be_shown(db, store.matches.find(db, match.id)) for match in (first, others[0])] == [
        True,
        True,
    ]


def test_the_oldest_of_a_bot_goes_when_it_has_too_much(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all its versions; others lose nothing, however much one prints."""
    monkeypatch.setattr(logs, "A_BOT", 1000)
    play(db, begin(db, "a", "b", rounds=5))
    every = ids(db)
    store.logs.keep(db, [log(every[0], bot="b", seat=1)])
    for match in every:
        store.logs.keep(db, [log(match, b"x" * 100)])
    assert sizes(db) == {"a": 900, "b": 205}
    assert [bool(kept(db, [match])) for match in every] == [False] * 7 + [True] * 3


def test_many_bots_share_what_there_is(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of sixty bots does not grow sixty times; who prints no more makes room, too."""
    monkeypatch.setattr(logs, "ALL", 1000)
    play(db, begin(db, "a", "b", rounds=5))
    every = ids(db)
    store.logs.keep(db, [log(match, b"") for match in every])
    assert sizes(db) == {"a": 1000}
    store.logs.keep(db, [log(match, b"", bot="b", seat=1) for match in every])
    assert sizes(db) == {"a": 400, "b": 400}


def test_one_that_is_larger_than_all_room_is_not_kept(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else goes wrong."""
    monkeypatch.setattr(logs, "A_BOT", 100)
    play(db, begin(db, "a", "b"))
    store.logs.keep(db, [log(ids(db)[0])])
    assert sizes(db) == {"a": 0}
