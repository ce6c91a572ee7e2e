"""Matches that the core plays end as those in Python do, whatever bots do in them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena import games
from arena.base.compiler import SWITCH
from arena.core.compilation import core
from arena.referee.limits import Limits
from arena.referee.stream import Heard
from arena.worker.bot_process import Bot
from arena.worker.jobs import Entrant, Played, Task
from arena.worker.worker import Worker
from tests.quick import quick_first
from tests.referee.conftest import scratch as scratch
from tests.worker.conftest import PATIENT, bot, judged

pytestmark = pytest.mark.needs("core")

SHORT = Limits(decision=0.3, bank=0.5)
TABLES = [("buttons", 3), ("birth", 2), ("burning-desire", 3)]
ALONE = {
    "plays_illegal --code 127 --at 2": PATIENT,
    "plays_illegal --code 4294967295 --at 3": PATIENT,
    "answers_unasked --at 2": PATIENT,
    "answers_foreign_matches --at 2": PATIENT,
    "changes_its_mind": PATIENT,
    "repeats_itself": PATIENT,
    "floods_repeats --at 2": PATIENT,
    "floods_empty --at 2": PATIENT,
    "sends_garbage --at 2": PATIENT,
    "sends_a_long_tag --at 2": PATIENT,
    "sends_what_nobody_knows": PATIENT,
    "says_hello_twice --at 2": PATIENT,
    "exits --at 3": PATIENT,
    "closes_stream --at 2": PATIENT,
    "answers_late --at 2 --seconds 0.6": SHORT,
    "stalls --at 2": SHORT,
    "--updates": PATIENT,
}
"""What the bot in seat 0 does, a process of its own each time, and the limits."""
BEGINS_A_LINE = (
    sys.executable,
    "-c",
    """
from arena_bot import Bot, run

class BeginsALine(Bot):
    def choose(self, turn):
        print(end=".", flush=True)
        return turn.legal[0]

run(BeginsALine)
""",
)
"""A bot that prints a dot at each decision, and never ends the line."""
CROWDED = ["plays_illegal --code 200 --at 6", "repeats_itself --at 6", "answers_in_pieces"]
"""What a bot does in every third match, among many that its process plays at the same time."""


class Kept(NamedTuple):
    """What is kept of a match and does not depend on the time."""

    outcome: Any
    void: Any
    choices: Sequence[tuple[int, int]]
    decisions: Sequence[int]
    asked: Sequence[Any]
    answers: Sequence[Any]


def kept(played: Played) -> Kept:
    evidence = [record.evidence or {} for record in played.seats]
    return Kept(
        played.outcome,
        played.void,
        played.choices,
        [len(record.times) for record in played.seats],
        [each.get("request") for each in evidence],
        [each.get("answer") for each in evidence],
    )


def tasks(doing: str, lineups: Sequence[Sequence[Entrant]], game: str, limits: Limits) -> list[Task]:
    """A match for each line-up, with dice of its own."""
    options = games.game(game).options({})
    names = [f"{game} {len(lineup)} {doing} {number}" for number, lineup in enumerate(lineups)]
    return [
        Task(name, game, options, sha256(name.encode()).digest(), tuple(lineup), limits)
        for name, lineup in zip(names, lineups, strict=True)
    ]


class CountingWorker(Worker):
    """A worker that keeps what the frames came to that the core played."""

    def __init__(self, root: Path, **settings: Any) -> None:
        super().__init__(root, **settings)
        self.by_core: list[Heard] = []

    def hear(self, bot: Bot, news: Heard) -> None:
        if news.touched:  # of a match at its table the answers are told instead
            self.by_core.append(news)
        super().hear(bot, news)


@pytest.fixture(autouse=True)
def known_anew() -> Iterator[None]:
    """Whether there is a core is found out anew in each test, and after it."""
    core.cache_clear()
    yield
    core.cache_clear()


class BothWays(NamedTuple):
    """What is kept of matches that were played by the core and then without it."""

    with_core: dict[str, Kept]
    without: dict[str, Kept]
    by_core: Sequence[Heard]
    """What the frames came to that the core played."""


def both_ways(folder: Path, patch: pytest.MonkeyPatch, wanted: Sequence[Task], **settings: Any) -> BothWays:
    """Play all matches by the core and then without it."""
    results: list[dict[str, Kept]] = []
    by_core: list[Heard] = []
    for switch in ("1", "0"):
        patch.setenv(SWITCH, switch)
        core.cache_clear()
        worker = CountingWorker(folder, **settings)
        try:
            results.append({id: kept(played) for id, played in judged(worker, wanted).items()})
        finally:
            worker.close()
        assert switch == "1" or not worker.by_core
        by_core += worker.by_core
    return BothWays(results[0], results[1], by_core)


@pytest.mark.long
@pytest.mark.parametrize(("game", "seats"), [("buttons", 3), ("burning-desire", 2)])
def test_every_misdeed_ends_alike(scratch: Path, monkeypatch: pytest.MonkeyPatch, game: str, seats: int) -> None:
    """The same forfeits with the same words, the same question in evidence, the same choices of everybody."""
    wanted = []
    for doing, limits in ALONE.items():
        others = [bot("--play", "random", name=f"{doing} against {seat}") for seat in range(1, seats)]
        guilty = bot("--play", "random", *doing.split())
        wanted += tasks(doing, [(guilty, *others)], game, limits)
    monkeypatch.setattr("arena.worker.capacity.MOST", seats * len(wanted))
    monkeypatch.setattr(
        "arena.worker.bot_process.GRACE", 5.0
    )  # so an exit is seen before the verdict on a busy machine, too
    with_core, without, by_core = both_ways(scratch, monkeypatch, wanted, in_flight=1)
    assert with_core == without
    assert len(with_core) == len(ALONE)
    assert sum(bool(each.outcome.forfeits) for each in with_core.values()) >= 10
    assert by_core, "no frame was played by the core"


@pytest.mark.long
@pytest.mark.parametrize("doing", CROWDED)
@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_a_fault_among_many_matches_costs_the_one(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, game: str, seats: int, doing: str
) -> None:
    """Matches in the same frame as a fault go on as if nothing had been."""
    guilty = bot("--play", "random", "--matches", "64", "--one-in", "3", *doing.split())
    others = [bot("--play", "random", "--matches", "64", name=f"other {seat}") for seat in range(1, seats)]
    wanted = tasks(doing, [(guilty, *others)] * 60, game, PATIENT)
    with_core, without, by_core = both_ways(scratch, monkeypatch, wanted, in_flight=64)
    assert with_core == without
    assert len(with_core) == 60
    spoilt = [each for each in with_core.values() if each.outcome.forfeits]
    assert bool(spoilt) == doing.startswith("plays_illegal")
    assert len(spoilt) < 45
    assert len(by_core) > 3, "hardly a frame was played by the core"
    assert all(re.match("chose 200, legal: ", forfeit.detail) for each in spoilt for forfeit in each.outcome.forfeits)


def test_a_match_ends_with_its_last_decision_known(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that a bot has begun to print belongs there."""
    logs: list[Any] = []
    lineup = [Entrant(f"seat {seat}", f"seat {seat}", BEGINS_A_LINE, "/tmp") for seat in range(2)]
    both_ways(scratch, monkeypatch, tasks("ends", [lineup], "birth", PATIENT), logs=logs)
    lines = [(log.seat, *log.lines) for log in sorted(logs, key=lambda log: log.label)]
    assert lines[::2] == lines[1::2]
    assert [(seat, set(text)) for seat, (_, text) in lines[::2]] == [(0, {"."}), (1, {"."})]
    assert all(decision >= len(text) for _, (decision, text) in lines)


@pytest.mark.parametrize("seats", quick_first([2, 3, 4]))
def test_what_gathers_while_answers_are_owed_is_sent_after_them(scratch: Path, seats: int) -> None:
    """Also after answers that complete no step, as when all seats decide at once; else matches would wait for ever."""
    lineup = [bot("--play", "random", "--matches", "6", name=f"seat {seat}") for seat in range(seats)]
    worker = CountingWorker(scratch, in_flight=6)
    try:
        played = worker.play(tasks("waits", [lineup] * 80, "buttons", PATIENT))
    finally:
        worker.close()
    assert [each.void for each in played] == [None] * 80
    assert any(not heard.ended and len({*heard.touched}) == 1 for heard in worker.by_core), (
        "every frame completed a step"
    )
