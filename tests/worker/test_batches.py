"""Many matches at once: a fault in one match costs no other match anything and changes no other result."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.referee.limits import Limits
from arena.referee.match import Fault, Forfeit
from arena.worker.bot_process import Bot
from arena.worker.jobs import Entrant, Played, Task, Trouble
from arena.worker.worker import Worker
from tests.worker.conftest import PATIENT, bot, judged, task

MATCHES = 8
FAULTS = [
    "exits --at 3",
    "closes_stream --at 3",
    "plays_illegal --code 0 --at 2",
    "changes_its_mind",
    "floods_empty --at 2",
    "floods_repeats --at 3",
    "opens_second_stream",
    "leaves_after_match",
]
"""Misdeeds that a bot commits in one match of three; the seed of a match decides whether it is one of them."""


def matches(
    *lineup: Entrant, count: int = MATCHES, series: int = 0, limits: Limits = PATIENT, **options: Any
) -> list[Task]:
    """Tasks for `count` matches of one line-up; with another `series` they have other seeds."""
    names = [f"{lineup[0].label} in series {series}, {number}" for number in range(count)]
    return [task(name, *lineup, limits=limits, **options) for name in names]


def results(played: Sequence[Played]) -> dict[str, object]:
    """The parts of the results that must be equal when the matches are played again, by match id.

    Times and evidence may differ.
    """
    return {
        result.id: (result.outcome and result.outcome._replace(forfeits=()), forfeits(result), result.choices)
        for result in played
    }


def forfeits(result: Played) -> list[tuple[int, Forfeit, int]]:
    """The forfeits of a match: seat, reason and step of each."""
    assert result.outcome is not None
    return [(forfeit.seat, forfeit.reason, forfeit.step) for forfeit in result.outcome.forfeits]


@pytest.fixture
def worker(scratch: Path) -> Iterator[Worker]:
    """A worker whose bot processes may play many matches at once."""
    made = Worker(scratch)
    yield made
    made.close()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_results_do_not_depend_on_how_many_matches_were_in_flight(worker: Worker, scratch: Path) -> None:
    """Outcomes and choices are the same as if each match had been played alone, whatever goes wrong in a match."""
    tasks = []
    for series, doing in enumerate(FAULTS):
        hostile, honest = bot(*doing.split(), "--one-in", "3", "--play", "random"), bot("--play", "random")
        tasks += matches(hostile, honest, series=series, count=4) + matches(honest, hostile, series=series, count=4)
    alone = Worker(scratch, in_flight=1)
    try:
        expected = results(alone.play(tasks))
    finally:
        alone.close()
    got = results(worker.play(tasks))
    assert {name: got[name] for name in expected if got[name] != expected[name]} == {}
    assert len(got) == len(tasks)
    assert len(worker.trouble.chances) >= 5  # or nothing went wrong while several were in flight


def test_a_crash_among_many_matches_costs_only_the_match_it_happens_in_again(worker: Worker) -> None:
    """The matches of its version are played again, one at a time, so it is clear in which of them it crashes."""
    played = worker.play(matches(bot("exits", "--at", "3", "--one-in", "4"), bot(), count=20))
    crashed = [result for result in played if forfeits(result)]
    assert 2 <= len(crashed) <= 12
    assert all(forfeits(result) == [(0, Forfeit.CRASH, 2)] for result in crashed)


@pytest.mark.long
def test_a_version_that_crashed_among_many_plays_one_at_a_time(worker: Worker) -> None:
    """Its second chance is given only once, and other versions still play many matches at once."""
    worker.play(matches(bot("exits", "--at", "3", "--one-in", "4"), bot(), count=20))
    assert worker.trouble.chances.keys() == {"exits --at 3 --one-in 4"}


def test_who_is_killed_has_a_second_chance_also_alone(worker: Worker, tmp_path: Path) -> None:
    """SIGKILL may come from outside, so the match is played again in fresh processes; the second time it is lost."""
    killed = bot("is_killed", "--at", "3", "--code", "9", name="always")
    (lost,) = worker.play(matches(killed, bot(), count=1))
    assert forfeits(lost) == [(0, Forfeit.CRASH, 2)]
    once = f'mkdir {tmp_path}/met 2>/dev/null && exec "$0" "$@"; exec "$0" "$1"'
    spared = killed._replace(label="once", digest="once", command=("/bin/sh", "-c", once, *killed.command))
    (played,) = worker.play(matches(spared, bot(), count=1, series=1))
    assert forfeits(played) == []
    assert (tmp_path / "met").is_dir()


@pytest.mark.long
def test_a_slow_thinker_loses_nothing_among_many(worker: Worker) -> None:
    """A bot that takes 50 ms a decision keeps a limit of 100 ms, however many of its matches wait meanwhile."""
    limits = Limits(decision=0.1, bank=2.0)
    thinker = bot("thinks", "--seconds", "0.05")
    played = worker.play(matches(thinker, bot(), count=8, limits=limits))
    assert [forfeits(result) for result in played] == [[]] * 8


@pytest.mark.long
def test_a_slow_thinker_does_not_keep_others_waiting(worker: Worker) -> None:
    """A bot that takes 50 ms of a limit of 100 ms loses nothing, and matches without it end long before its own."""
    limits = Limits(decision=0.1, bank=10.0)
    slow = matches(bot("thinks", "--seconds", "0.05"), bot(), count=8, limits=limits, steps=10)
    fast = matches(bot("--play", "last"), bot(), count=20, steps=10)
    played = worker.play([*slow, *fast])
    assert [forfeits(result) for result in played] == [[]] * 28
    assert {result.id for result in played[-2:]} < {each.id for each in slow}


@pytest.mark.long
def test_a_bot_that_turns_slow_among_many_loses_nothing_while_its_bank_lasts(worker: Worker) -> None:
    """Its frames are full when each decision begins to take 0.15 s of a limit of 0.1 s.

    Its matches are then played one at a time, and the bank pays for the excess.
    """
    limits = Limits(decision=0.1, bank=3.0)
    slow = bot("thinks", "--seconds", "0.15", "--at", "8")
    played = worker.play(matches(slow, bot(), count=6, limits=limits, steps=10))
    assert [forfeits(result) for result in played] == [[]] * 6


@pytest.mark.long
def test_a_stalled_process_ends_the_match_that_it_stalls_in(worker: Worker) -> None:
    """At first a whole frame is overdue. Played again one at a time, only the matches that stall are lost."""
    stalls = bot("stalls", "--at", "3", "--one-in", "5")
    played = judged(worker, matches(stalls, bot(), count=20, limits=Limits(decision=0.2, bank=0.3)))
    lost = [forfeits(result) for result in played.values() if forfeits(result)]
    assert 1 <= len(lost) <= 10
    assert set(map(tuple, lost)) == {((0, Forfeit.TIMEOUT, 2),)}


HANGS = """
import sys, time
from arena_bot import Bot, run

class Hangs(Bot):
    begun = 0

    def start(self):
        Hangs.begun += 1
        self.place = Hangs.begun

    def choose(self, turn):
        if self.place == 50:
            print(time.monotonic(), file=sys.stderr, flush=True)
            time.sleep(1000)
        return turn.legal[0]

run(Hangs)
"""


class Watchful(Worker):
    """A worker that measures in `waited` how many seconds after a process hung it was found to hang."""

    waited: float | None = None

    def ended(self, bot: Bot, fault: Fault) -> None:
        assert fault.reason is Forfeit.TIMEOUT
        assert bot.stream is not None
        assert len(bot.stream.held) > 40
        self.waited = time.monotonic() - float(bot.evidence()["output"][-1])
        super().ended(bot, fault)


@pytest.mark.long
def test_a_bot_that_hangs_among_many_matches_is_found_in_the_time_of_one_decision(scratch: Path) -> None:
    """It is found after the limit of a first decision, ten ordinary limits, and the bank: after 2.5 s here.

    The worker does not wait for the limits of all decisions that the bot owes.
    """
    hangs = Entrant("hangs", "hangs", (sys.executable, "-c", HANGS), "/tmp")
    worker = Watchful(scratch)
    try:
        limits = Limits(decision=0.2, bank=0.5)
        worker.play(matches(hangs, bot(), count=120, limits=limits), stop=lambda: worker.waited is not None)
    finally:
        worker.close()
    assert worker.waited is not None
    assert 2.0 < worker.waited < limits.first + limits.bank + 3.0


TURNS_SLOW = """
import time
from arena_bot import Bot, run

class TurnsSlow(Bot):
    asked = 0

    def choose(self, turn):
        self.asked += 1
        if self.asked > 8:
            time.sleep(0.1)
        return turn.legal[0]

run(TurnsSlow)
"""


@pytest.mark.long
def test_a_bot_that_shows_progress_is_not_taken_for_stopped(worker: Worker) -> None:
    """Its frames are full when each decision begins to take half of a limit.

    It sends its answers in pieces, so it is neither punished nor made to play one match at a time.
    """
    slow = Entrant("turns slow", "turns slow", (sys.executable, "-c", TURNS_SLOW), "/tmp")
    played = worker.play(matches(slow, bot(), count=24, limits=Limits(decision=0.2, bank=0.2), steps=10))
    assert [forfeits(result) for result in played] == [[]] * 24
    assert not worker.trouble.plays_singly(slow.digest)


def test_frames_are_full_while_many_matches_are_in_play(worker: Worker) -> None:
    """A frame costs as much as ten decisions, so it is full frames that make a ladder fast, on any machine."""
    worker.play(matches(bot("--play", "last"), bot("--play", "random"), count=60, turns=True, steps=60))
    streams = [found.stream for found in worker._pool if found.stream is not None]
    assert sum(stream.decisions for stream in streams) > 8 * sum(stream.frames for stream in streams)


def test_others_in_flight_are_unharmed(worker: Worker) -> None:
    """Honest bots lose no match that is played at the same time as four matches in which a bot crashes."""
    honest = matches(bot("--play", "last"), bot("--play", "random"), steps=40)
    hostile = matches(bot("is_killed"), bot(), count=4)
    played = {result.id: result for result in worker.play([*honest, *hostile])}
    assert all(forfeits(played[each.id]) == [] for each in honest)
    assert all(forfeits(played[each.id]) == [(0, Forfeit.CRASH, 0)] for each in hostile)


@pytest.mark.long
def test_a_bot_that_leaves_after_each_match_gets_a_process_for_each(worker: Worker) -> None:
    """The bot may exit before it hears of its next match: no forfeit, but then each process gets only one match."""
    leaver = bot("leaves_after_match", "--matches", "1")
    played = worker.play(matches(leaver, bot()))
    assert [forfeits(result) for result in played] == [[]] * MATCHES
    assert worker.trouble.single_use == {leaver.digest}


@pytest.mark.long
def test_no_process_meets_a_seed_twice(worker: Worker) -> None:
    """A bot that remembers every roll guesses no more rolls than a bot that remembers none.

    Four rotations share each seed, and a third bot crashes, so that matches are played again.
    """
    memory = bot("remembers_rolls", "--play", "last")
    forgetful = bot("--play", "last", name="forgetful")
    crashes = bot("exits", "--at", "3", "--one-in", "4")
    played = []
    for rotation in range(4):
        names = [(f"{number}/{rotation}", f"seed {number}") for number in range(4)]
        played += worker.play([task(name, memory, forgetful, crashes, seed=seed, steps=8) for name, seed in names])
    assert len(played) == 16
    assert any(forfeits(result) for result in played)
    for result in played:
        assert result.outcome is not None
        assert result.outcome.scores[0] == result.outcome.scores[1]


@pytest.mark.long
def test_a_batch_that_was_stopped_is_played_again_by_fresh_processes(worker: Worker) -> None:
    """The processes of the stopped batch may have seen the dice, so they do not play these matches again."""
    memory, forgetful = bot("remembers_rolls", "--play", "last"), bot("--play", "last")
    long = matches(memory, forgetful, count=6, steps=300)
    first = worker.play([task("short", memory, forgetful), *long], stop=lambda: bool(worker._results))
    assert 0 < len(first) < 7
    for result in worker.play(long):
        assert result.outcome is not None
        assert result.outcome.scores[0] == result.outcome.scores[1]


@pytest.mark.long
def test_a_leaver_is_let_go_when_its_last_match_is_over(worker: Worker) -> None:
    """A process of a single-use version ends only when it holds no match, and other matches do not wait for ever."""
    holder = bot(name="holder")
    worker.play([task("it is quick enough to be given many", holder, bot("--play", "last"), steps=30)])
    worker.learn(Trouble(single_use=frozenset([holder.digest])))
    tasks = [task(f"{steps}", holder, bot("--play", "last"), steps=steps) for steps in range(1, 25)]
    played = worker.play(tasks)
    assert [forfeits(result) for result in played] == [[]] * len(tasks)
