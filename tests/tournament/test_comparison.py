"""Comparing two bots: the answer does not depend on the order of results, and void groups are counted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from subprocess import PIPE
from typing import cast

import psutil
import pytest

from arena import games
from arena.cli.compare import percentages, sentence
from arena.referee.limits import Limits
from arena.referee.match import Forfeit, MatchOutcome, SeatForfeit, Void, VoidReason
from arena.reports.compare_report import comparison
from arena.tournament.comparison import ATTEMPTS, HOPELESS, Answer, Certainty, ComparisonQuestion, compare_bots
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Played, Task
from ladder.schedule import TooFewBots
from tests.cli.commands import ARENA, PATIENCE, arena, environment, typed
from tests.tournament import programs

GAME = games.game("buttons")
ASKED = ("compare", "greedy", "random", "--game", "buttons", "--limit", "60s", "--start-limit", "120s")
STRONG, WEAK, *OTHERS = (Entrant(name, name, ()) for name in ("strong", "weak", "x", "y", "z"))
STRENGTH = {"strong": 90, "even": 90, "weak": 0, "x": 60, "y": 60, "z": 60}
EQUAL = programs.program("def choose(self, turn): return self.random.choice(turn.legal)")

BUSY = 4
"""Number of child processes by which a command is playing: a worker, its resource tracker, and two bots or more."""


def question(seats: int = 2, field: int = 0, pair: tuple[Entrant, Entrant] = (STRONG, WEAK)) -> ComparisonQuestion:
    return ComparisonQuestion(GAME, seats, {}, Limits(), b"seed", pair, OTHERS[:field])


class Table:
    """Workers that invent results. A seat scores its bot's strength plus luck, the same luck in all rotations."""

    def __init__(self, chance: Random, void: dict[int, int] | None = None, forfeits: bool = False) -> None:
        self.stopped = False
        self.tasks: list[Task] = []
        self.phases = 0
        self._chance = chance
        self._void = Counter(void or {})
        """By group, how many times its second match is void."""
        self._forfeits = forfeits

    def stop(self) -> None:
        self.stopped = True

    def play(self, tasks: Sequence[Task]) -> Iterator[list[Played]]:
        """Yield the results of one phase in an order that `chance` decides."""
        assert len({task.seed for task in tasks}) == len(tasks)
        self.phases += 1
        waiting = iter(tasks)
        while not self.stopped and (batch := list(islice(waiting, 16))):
            self.tasks += batch
            yield [self._played(task) for task in self._chance.sample(batch, len(batch))]

    def _played(self, task: Task) -> Played:
        group, index = map(int, task.id.split("/"))
        if index == 1 and self._void[group]:
            self._void[group] -= 1
            return Played(task.id, None, Void(VoidReason.DISK, "no room"))
        got = [
            STRENGTH[entrant.label] + sha256(task.seed + bytes([seat])).digest()[0]
            for seat, entrant in enumerate(task.lineup)
        ]
        ranks = tuple(sum(other > own for other in got) for own in got)
        lost = [SeatForfeit(ranks.index(max(ranks)), Forfeit.CRASH, "gone", 1)] if self._forfeits else []
        return Played(task.id, MatchOutcome(ranks, tuple(got), tuple(lost)))


def ask(what: ComparisonQuestion, table: Table, budget: int = 2000) -> Answer:
    return compare_bots(what, cast("Workers", table), budget, lambda _answer: None)


def said(answer: Answer) -> tuple[object, ...]:
    return answer.test.mean, answer.test.interval, answer.test.count, answer.matches, answer.void, answer.forfeits


@pytest.mark.parametrize(("seats", "field"), [(2, 0), (3, 0), (4, 0), (2, 2), (3, 2), (4, 3)])
def test_the_better_bot_is_found_whoever_is_named_first(seats: int, field: int) -> None:
    """For any number of seats, with and without other bots, and long before the budget is used up."""
    one = ask(question(seats, field), Table(Random(1)))
    other = ask(question(seats, field, (WEAK, STRONG)), Table(Random(1)))
    assert one.test.decided
    assert other.test.decided
    assert one.test.mean > 0.5 > other.test.mean
    assert one.matches < 500


@pytest.mark.parametrize(("seats", "field"), [(2, 0), (3, 0), (5, 0), (3, 2)])
def test_a_group_is_fair(seats: int, field: int) -> None:
    """In a group both bots have every seat equally often, all matches share a seed, and each is in its own phase."""
    table = Table(Random(1))
    ask(question(seats, field), table, budget=100)
    for group in {task.id.split("/")[0] for task in table.tasks}:
        tasks = [task for task in table.tasks if task.id.startswith(f"{group}/")]
        for seat in range(seats):
            here = Counter(task.lineup[seat].label for task in tasks)
            assert here["strong"] == here["weak"] > 0
        assert len({task.seed for task in tasks}) == 1
    assert table.phases == len(tasks)


def test_the_order_of_finishing_changes_nothing() -> None:
    """The seed decides which matches count, so the number and the speed of workers do not matter."""
    answers = [said(ask(question(3), Table(Random(seed), void={1: 1, 4: 9}))) for seed in range(5)]
    assert answers == answers[:1] * 5


def test_a_void_group_is_played_again_whole() -> None:
    """All matches of the group are repeated: keeping those that did not fail would be a choice among results."""
    table = Table(Random(1), void={2: ATTEMPTS - 1})
    answer = ask(question(), table)
    assert answer.void == 0
    tasks = [task for task in table.tasks if task.id.startswith("2/")]
    assert Counter(task.id for task in tasks) == {"2/0": ATTEMPTS, "2/1": ATTEMPTS}
    assert said(answer) == said(ask(question(), Table(Random(1))))


def test_one_void_match_is_bad_luck_and_many_are_not_tried_for_ever() -> None:
    """A group is played again, but for a void that comes each time a few attempts are enough."""
    table = Table(Random(1), void={0: 1, 1: 99})
    answer = ask(question(), table, budget=10)
    assert answer.void == 1
    assert sum(task.id == "1/0" for task in table.tasks) < 6


def test_a_group_that_stays_void_counts_as_undecided() -> None:
    """If such groups were left out, a bot that makes the arena fail when it loses would gain."""
    answer = ask(question(), Table(Random(1), void=dict.fromkeys(range(5), 9)), budget=10)
    assert (answer.test.count, answer.test.mean, answer.void) == (5, 0.5, 5)
    assert not answer.test.decided


def test_where_no_group_can_be_played_it_ends() -> None:
    """The comparison ends after `HOPELESS` groups, not after a budget of thousands, and gives the reason."""
    answer = ask(question(), Table(Random(1), void=dict.fromkeys(range(1000), 9)))
    assert (answer.hopeless, answer.reason, answer.test.count) == (True, "disk: no room", HOPELESS)
    assert answer.test.count < 20


def test_some_void_groups_at_first_are_bad_luck() -> None:
    """The others are played, and decide."""
    answer = ask(question(), Table(Random(1), void=dict.fromkeys(range(5), 99)))
    assert (answer.void, answer.hopeless, answer.test.decided) == (5, False, True)


def test_the_budget_is_kept() -> None:
    """The budget is spent in whole groups; matches that are played again are not counted."""
    table = Table(Random(1), void={0: 1})
    answer = ask(question(3, pair=(STRONG, STRONG)), table, budget=20)
    assert (answer.matches, answer.test.count, len(table.tasks)) == (18, 3, 20)


def test_nothing_is_asked_of_workers_that_were_stopped() -> None:
    """After a Ctrl-C before the first group, the answer rests on no group."""
    table = Table(Random(1))
    table.stop()
    assert ask(question(), table).test.count == 0


def test_forfeits_of_the_two_are_counted() -> None:
    """A bot that loses because it crashes need not play worse, so its author wants to know the number."""
    answer = ask(question(), Table(Random(1), forfeits=True))
    assert sum(answer.forfeits) == answer.matches
    assert answer.forfeits[1] > answer.forfeits[0]


def test_a_field_too_small_for_the_table_is_refused() -> None:
    """It is refused before anything is played."""
    with pytest.raises(TooFewBots, match="4 players need 3 bots in the field"):
        ask(question(4, field=2), Table(Random(1)))


@pytest.mark.parametrize(
    ("low", "high", "equal", "shown"),
    [
        (50.3, 65.7, 50, "58.0 % (50.3 to 65.7)"),
        (50.02, 65.7, 50, "58.00 % (50.02 to 65.70)"),
        (50.0, 65.7, 50, "58.0 % (50.0 to 65.7)"),
        (0.004, 65.7, 0, "58.000 % (0.004 to 65.700)"),
        (49.99996, 65.7, 50, "58.0000 % (50.0000 to 65.7000)"),
    ],
)
def test_an_interval_shows_on_which_side_of_equal_it_lies(low: float, high: float, equal: float, shown: str) -> None:
    """Beside the word "decided", an interval from 50.0 on would look like a contradiction."""
    assert percentages(58, low, high, equal=equal) == shown


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_command_answers_in_one_sentence(cwd: Path) -> None:
    """The sentence is the same with any number of workers, and nothing is stored."""
    one, other = (arena(*ASKED, "--seed", "a", "-j", jobs, cwd=cwd) for jobs in ("1", "2"))
    assert (one.code, one.out) == (other.code, other.out)
    sentence = r"greedy beats random: \d+\.\d % \(\d+\.\d to \d+\.\d\) of the points, \d+ matches; decided\n"
    assert (one.code, one.err.splitlines()[-1]) == (0, "--seed a repeats this")  # before it, progress of a slow machine
    assert re.fullmatch(sentence, one.out)
    assert list(cwd.iterdir()) == []


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_budget_too_small_says_what_more_would_do(cwd: Path) -> None:
    """The sentence estimates how many more matches are needed. The exit code is 3, so that a script can tell."""
    programs.write(cwd, equal=EQUAL)
    ran = arena("compare", "random", "./equal.py", *ASKED[3:], "--matches", "12", "-p", "2", cwd=cwd)
    assert ran.code == 3
    outlook = r"about [\d,]+ more matches would settle 1 %"
    assert re.fullmatch(rf"not decided: \S+ has .* of the points, 12 matches, against \S+; {outlook}\n", ran.out)
    told = arena(*ASKED, "--field", "cautious", "--matches", "4", "--json", cwd=cwd)
    answer = json.loads(told.out)
    assert told.code == 3
    assert (answer["matches"], answer["groups"], answer["better"], answer["field"]) == (4, 1, None, ["cautious"])


@pytest.mark.long
@pytest.mark.timeout(300)
def test_ctrl_c_prints_what_is_known(cwd: Path) -> None:
    """An interrupted comparison prints its answer so far, so hours of matches are not lost."""
    programs.write(cwd, equal=EQUAL)
    words = [str(ARENA), "compare", "random", "./equal.py", *ASKED[3:], "--budget", "9999999", "-j", "1"]
    with subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        while len(psutil.Process(process.pid).children(recursive=True)) < BUSY:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out.startswith("not decided: ")
    assert "Traceback" not in err


def test_alike_is_an_answer() -> None:
    """Where a difference was named, equal bots are compared to an end, sooner with a field whose lead counts twice."""
    equal = (STRONG, Entrant("even", "even", ()))
    asked = question(pair=equal)._replace(test=Certainty(difference=0.2))
    answer = ask(asked, Table(Random(1)))
    assert answer.is_known
    assert not answer.test.decided
    assert sentence(asked, answer).startswith("strong and even are less than 20 % apart: strong has 50.0 % (")
    report = comparison(asked, answer, "a", interrupted=False)
    assert (report.alike, report.better, report.difference, report.alpha, report.beta) == (True, None, 0.2, 0.05, 0.05)
    wider = ask(question(pair=equal, field=2)._replace(test=Certainty(difference=0.2)), Table(Random(1)))
    assert wider.test.count > answer.test.count


@pytest.mark.parametrize("words", ["--alpha 0.7", "--beta nan", "--difference 0", "--difference x", "--beta 0.1"])
def test_bounds_of_a_comparison_are_checked(words: str) -> None:
    """A probability that is none, and an error for which no difference is named, are wrong usage."""
    ran = typed(*ASKED, *words.split())
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert words.split()[0] in ran.err
