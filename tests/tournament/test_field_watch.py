"""What a run does about bots that are retired, or use their second chance, while it plays."""

from __future__ import annotations

import time

import pytest
from sqlite_utils import Database

from arena.tournament.field_watch import FieldWatch
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Trouble
from ladder import store
from tests.tournament.scripted_hosts import ScriptedHosts

ANN, BOB = (Entrant(f"{name}@1", "same", (name,)) for name in ("ann", "bob"))
"""Two bots of the same program."""
CRASHED = {"detail": "it went"}


@pytest.fixture
def workers() -> Workers:
    return Workers(ScriptedHosts(1))


def watching(db: Database, ladder: store.Ladder, workers: Workers, since: float) -> FieldWatch:
    """The watch of a run whose field was chosen then: Ann and Bob."""
    return FieldWatch(db, ladder, workers, {"ann@1": ANN, "bob@1": BOB}.__getitem__, choose=list, since=since)


@pytest.fixture
def watch(db: Database, ladder: store.Ladder, workers: Workers) -> FieldWatch:
    """The watch of a run whose field was chosen now."""
    watch = watching(db, ladder, workers, time.time())
    watch.know([ANN, BOB])
    return watch


def test_who_uses_a_second_chance_has_none_left_in_the_next_run(
    db: Database, ladder: store.Ladder, workers: Workers, watch: FieldWatch
) -> None:
    """All bots of one program have used it: a worker cannot tell them apart. It is stored once."""
    workers.learn(Trouble(chances={"same": CRASHED}))
    for _ in range(2):
        watch.keep_chances()
    assert watch.chances == [("ann@1", "it went"), ("bob@1", "it went")]
    later = Workers(ScriptedHosts(1))
    watching(db, ladder, later, time.time()).know([BOB])
    assert later.trouble.chances == {"same": CRASHED}


def test_who_is_retired_during_a_run_plays_no_more(
    db: Database, ladder: store.Ladder, workers: Workers, watch: FieldWatch
) -> None:
    """It is noticed once, and what was planned since is dropped, too."""
    assert not watch.drop_retired()
    store.retirement.retire(db, "bob")
    store.ladders.plan(db, ladder, ["ann@1", "bob@1"], 1)
    assert watch.drop_retired()
    assert store.ladders.counts(db, ladder).scheduled == 0
    assert not watch.drop_retired()
    assert watch.retired == workers.trouble.retired == {"bob@1"}


def test_a_retired_bot_may_be_asked_to_play(db: Database, ladder: store.Ladder, workers: Workers) -> None:
    """By its name in the field; then only a retirement after that takes it out of the run."""
    store.retirement.retire(db, "bob")
    watch = watching(db, ladder, workers, time.time())
    watch.know([ANN, BOB])
    assert not watch.drop_retired()
    earlier = watching(db, ladder, workers, time.time() - 60)
    earlier.know([ANN, BOB])
    assert earlier.drop_retired()
