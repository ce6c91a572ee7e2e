"""Find out whether one bot is better than another: play groups of matches on shared dice until a test decides."""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

from arena import roster
from arena.base.suggest import printable
from arena.games.rules import Game, Options
from arena.referee.limits import Limits
from arena.roster.bots import Workshop
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Played, Task
from ladder import store
from ladder.points import point
from ladder.schedule import TooFewBots, rotations
from ladder.sequential import ALPHA, SequentialTest

ComparedLineUp: TypeAlias = tuple[int, ...]
"""The bot in each seat: 0 for the first of the pair, 1 for the second, from 2 on for the field."""

ATTEMPTS = 3
"""How often a group with a void match is played, as a whole, before it counts as void: the first may be bad luck."""

_FIRST_BLOCK = 32
"""Groups in the first block, which are begun before anything can be decided.

Any few dozens would do: the answer does not depend on blocks.
"""

HOPELESS = 10
"""If this many groups, and no others, have been played and all were void, more would be void, too."""


class Certainty(NamedTuple):
    """How certain the answer is to be, and which difference is too small to matter.

    `alpha` bounds the probability to find equal bots different; `beta`, to find them alike if they differ by
    `difference`, a share of the points. Without a difference bots are never found alike.
    """

    alpha: float = ALPHA
    beta: float = ALPHA
    difference: float | None = None


CERTAIN = Certainty()
"""How certain an answer is if nobody says otherwise."""


class ComparisonQuestion(NamedTuple):
    """Which two bots are compared, at which game, and among which others; without a field the two fill all seats."""

    game: Game[Any]
    seats: int
    options: Options
    limits: Limits
    seed: bytes
    pair: tuple[Entrant, Entrant]
    field: Sequence[Entrant] = ()
    test: Certainty = CERTAIN


class Answer:
    """Result of the groups so far. The mean of `test` says how the first bot does against the second.

    It is the first bot's share of their points or, with a field, one half plus half of its lead.
    """

    def __init__(self, question: ComparisonQuestion) -> None:
        alpha, beta, difference = question.test
        if difference is not None and question.field:
            difference /= 2  # the mean of the test is one half plus half of the lead
        self.test = SequentialTest(alpha, difference, beta)
        self.matches = 0
        self.forfeits = [0, 0]
        """Number of forfeits of each of the two bots."""
        self.void = 0
        """Number of groups that stayed void. They count as a half, since what is void may depend on how it went."""
        self.reason = ""
        """Why the last void group was void."""

    @property
    def is_known(self) -> bool:
        """Whether one bot is better, or they are alike."""
        return self.test.decided or self.test.alike

    @property
    def hopeless(self) -> bool:
        """Whether every group so far was void, and too many for bad luck."""
        return self.void == self.test.count >= HOPELESS

    def take(self, line_ups: Sequence[ComparedLineUp], results: Sequence[Played]) -> None:
        """Count one more group: its line-ups, and what was played of them."""
        outcomes = [result.outcome for result in results if result.outcome is not None]
        self.matches += len(outcomes)
        if len(outcomes) < len(line_ups):
            self.void += 1
            self.reason = next(str(result.void) for result in results if result.outcome is None)
            return self.test.add(0.5)
        for line_up, outcome in zip(line_ups, outcomes, strict=True):
            for forfeit in outcome.forfeits:
                if line_up[forfeit.seat] < 2:
                    self.forfeits[line_up[forfeit.seat]] += 1
        return self.test.add(_share(line_ups, [outcome.ranks for outcome in outcomes]))


def find_entrants(names: Sequence[str], game: Game[Any], home: Path, workshop: Workshop) -> list[Entrant]:
    """Return the bots that a person names. Raises BadSubmission and NoSandbox."""
    with store.open_read(home) as db:
        found = [roster.find_bot(db, home, name, game.name, workshop) for name in names]
    # a label without @ is shown as it was typed: `mine` alone could also mean mine@1
    return [
        entrant if "@" in entrant.label else entrant._replace(label=printable(name))
        for entrant, name in zip(found, names, strict=True)
    ]


def compare_bots(
    question: ComparisonQuestion, workers: Workers, budget: int, report: Callable[[Answer], None]
) -> Answer:
    """Play groups until the answer is known, it is `hopeless`, the budget is used up or the workers are stopped.

    Groups count in the order planned, whatever order they end in, and none counts after the decision: so the answer
    follows from the seed. Raises TooFewBots.
    """
    if question.field and len(question.field) < question.seats - 1:
        raise TooFewBots(f"{question.seats} players need {question.seats - 1} bots in the field")
    answer, plan = Answer(question), _Plan(question, budget)
    while not workers.stopped and (phase := plan.phase()):
        report(answer)
        for results in workers.play(phase):
            for result in results:
                plan.note(result)
            for line_ups, group_results in plan.ready():
                answer.take(line_ups, group_results)
                if answer.is_known or answer.hopeless:
                    workers.stop()
                    return answer
            report(answer)
    return answer


class _Plan:
    """The matches to be played, and the results of those that were.

    Groups are planned in blocks, each as large as all before it together. A phase plays one match of each group of the
    block: the first that it still lacks.
    """

    def __init__(self, question: ComparisonQuestion, budget: int) -> None:
        self._question = question
        self._budget = budget
        self._planned: list[list[ComparedLineUp]] = []
        self._attempts = Counter[int]()
        self._results: defaultdict[int, dict[int, Played]] = defaultdict(dict)
        self._next_group = 0

    def phase(self) -> list[Task]:
        """Return matches of which no two share a seed; none if everything has been played."""
        if self._next_group == len(self._planned):
            self._grow(max(_FIRST_BLOCK, len(self._planned)))
        groups = range(self._next_group, len(self._planned))
        return [self._task(group, len(self._results[group])) for group in groups if not self._is_over(group)]

    def _grow(self, groups: int) -> None:
        """Plan so many more groups, or as many as the budget allows."""
        for _ in range(groups):
            line_ups = _line_ups(self._question, len(self._planned))
            if len(line_ups) > self._budget:
                return
            self._budget -= len(line_ups)
            self._planned.append(line_ups)

    def _task(self, group: int, index: int) -> Task:
        return _task(self._question, group, index, self._planned[group][index])

    def _is_over(self, group: int) -> bool:
        return self._attempts[group] == ATTEMPTS or len(self._results[group]) == len(self._planned[group])

    def note(self, result: Played) -> None:
        """Keep a result; after a void match its group begins anew, until it was tried `ATTEMPTS` times."""
        group, index = map(int, result.id.split("/"))
        results = self._results[group]
        results[index] = result
        if result.outcome is None:
            self._attempts[group] += 1
            if self._attempts[group] < ATTEMPTS:
                results.clear()

    def ready(self) -> Iterator[tuple[list[ComparedLineUp], list[Played]]]:
        """Yield the groups that are over, in the order planned, each once."""
        while self._next_group < len(self._planned) and self._is_over(self._next_group):
            results = self._results.pop(self._next_group)
            line_ups = self._planned[self._next_group]
            self._next_group += 1
            yield line_ups, list(results.values())


def _line_ups(question: ComparisonQuestion, group: int) -> list[ComparedLineUp]:
    """Return the line-ups of a group: a drawn order of bots in all rotations, and again with the two bots exchanged.

    With a field, its bots in the group are drawn, too.
    """
    chance = Random(hmac.digest(question.seed, f"table/{group}".encode(), "sha256"))
    if question.field:
        order = [0, *chance.sample(range(2, 2 + len(question.field)), question.seats - 1)]
    else:
        order = [seat % 2 for seat in range(question.seats)]
    chance.shuffle(order)
    exchanged = [1 - bot if bot < 2 else bot for bot in order]
    return list(dict.fromkeys([*rotations(tuple(order)), *rotations(tuple(exchanged))]))


def _task(question: ComparisonQuestion, group: int, index: int, line_up: ComparedLineUp) -> Task:
    """Return a match as a worker gets it; the matches of a group share a seed."""
    bots = [*question.pair, *question.field]
    return Task(
        f"{group}/{index}",
        question.game.name,
        question.options,
        hmac.digest(question.seed, f"group/{group}".encode(), "sha256"),
        tuple(bots[bot] for bot in line_up),
        question.limits,
    )


def _share(line_ups: Sequence[ComparedLineUp], ranks: Sequence[Sequence[int]]) -> float:
    """Return the mean share of points of the first bot's seats against other seats.

    In matches without the first bot, it is that of the other seats against those of the second.
    """
    won: list[float] = []
    for line_up, placed in zip(line_ups, ranks, strict=True):
        side = 0 if 0 in line_up else 1
        for (bot, rank), (rival, rival_rank) in product(zip(line_up, placed, strict=True), repeat=2):
            if bot == side != rival:
                won.append(point(rank, rival_rank) if side == 0 else point(rival_rank, rank))
    return fmean(won)
