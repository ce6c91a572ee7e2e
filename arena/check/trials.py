"""Matches that a bot plays to qualify: one of every game and number of players that it claims."""

from __future__ import annotations

import hmac
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from arena import games, submission
from arena.check import Unjudged
from arena.check.examined import nothing_starts
from arena.referee.limits import Bank, Limits
from arena.referee.match import Forfeit, VoidReason
from arena.replay.questions import QuestionSitting, Setup
from arena.replay.record import Forfeited, Replay
from arena.sandbox import NoSandbox
from arena.worker import unrated
from arena.worker.jobs import Entrant, Played, Task

LOAD = 3
"""How many times as long a decision may take in a ladder. There a core runs a referee and all bots of a match."""


class Trial(NamedTuple):
    """A match that the bot is to play, and its seat there."""

    game: str
    players: int
    seat: int
    task: Task
    decisions: int
    """How many decisions the bot has in this match if everybody plays at random."""

    @property
    def setup(self) -> Setup:
        """What the match is played with, from which its questions can be made again."""
        return Setup(self.game, self.players, self.task.options, self.task.seed)


class Failure(NamedTuple):
    """A match in which the bot forfeited or that it did not join, and why."""

    game: str
    players: int
    reason: Forfeit
    detail: str
    evidence: dict[str, Any]


class Times(NamedTuple):
    """How long decisions of one kind took, in milliseconds."""

    game: str
    kind: str
    decisions: int
    p50: float
    p95: float
    longest: float


class BusyMachine(NamedTuple):
    """How the bot's matches would have gone on a busy machine."""

    matches: int
    lost: int
    """Number of matches in which the bank would not last if every decision took `LOAD` times as long."""
    longest: float
    """Time of the longest decision, in seconds, as it was played."""


def trials(entrant: Entrant, name: str, limits: Limits) -> Iterator[Trial]:
    """Yield a match of a game for each number of players, against the built-in random bot, each in another seat."""
    game = games.game(name)
    filler = submission.built_ins()["random"].entrant()
    for place, players in enumerate(game.seats):
        seat = place % players
        lineup = [filler] * players
        lineup[seat] = entrant
        seed = hmac.digest(b"qualification", f"{name}/{players}".encode(), "sha256")
        (task,) = unrated.tasks(game, lineup, options=game.options({}), limits=limits, seed=seed, count=1)
        sitting = QuestionSitting(Setup(name, players, task.options, seed), 1, seat, limits)
        yield Trial(name, players, seat, task, _at_random(sitting, Random(seed)))


def _at_random(sitting: QuestionSitting, luck: Random) -> int:
    """Play a match to its end; return the number of decisions."""
    decisions = 0
    while (decision := sitting.decision) is not None:
        sitting.answer(luck.choice(decision.legal))
        decisions += 1
    return decisions


def failure(trial: Trial, result: Played) -> Failure | None:
    """Return why the bot failed in a match; None if it did not. Raises NoSandbox or Unjudged if the arena failed."""
    if result.outcome is None:
        if result.is_void_by(VoidReason.NOBODY):
            nobody = "neither it nor the built-in random bot joined"
            raise Unjudged(f"{nobody}: {VoidReason.NO_STARTS}, or the start limit is too short")
        if result.void is not None and result.void.reason is VoidReason.NO_STARTS:
            raise nothing_starts(result.void.detail)
        if result.is_void_by(VoidReason.SANDBOX):
            raise NoSandbox(str(result.void))
        what = f"the bot could not be judged: a match of {trial.game} with {trial.players} players was void"
        raise Unjudged(f"{what} ({' '.join(str(result.void).split())}); {_remedy(result)}")
    for forfeit in result.outcome.forfeits:
        if forfeit.seat == trial.seat:
            evidence = result.seats[trial.seat].evidence or {}
            detail = evidence.get("detail", forfeit.detail)
            return Failure(trial.game, trial.players, forfeit.reason, detail, evidence)
    return None


def _remedy(result: Played) -> str:
    if is_overload(result):
        return "try again when less runs on this machine"
    if result.is_void_by(VoidReason.DISK):
        return f"make room in {tempfile.gettempdir()} and try again"
    return "try again"


def is_overload(result: Played) -> bool:
    """Return whether a match is void because the machine was too busy to judge anybody."""
    return result.is_void_by(VoidReason.OVERLOAD)


def times(matches: Sequence[tuple[Trial, Played]]) -> list[Times]:
    """Return how long the bot took for its decisions, by game and kind of decision."""
    by_kind: dict[tuple[str, str], list[float]] = defaultdict(list)
    for trial, result in matches:
        for kind, seconds in zip(_kinds(trial, result), result.seats[trial.seat].times, strict=False):
            by_kind[trial.game, kind].append(1000 * seconds)
    return [Times(*key, len(values), *_summary(sorted(values))) for key, values in sorted(by_kind.items())]


def typical(matches: Sequence[tuple[Trial, Played]]) -> float | None:
    """Return how many milliseconds half of all decisions took at most; None if there was none."""
    milliseconds = sorted(1000 * seconds for trial, result in matches for seconds in result.seats[trial.seat].times)
    return _summary(milliseconds)[0] if milliseconds else None


def _kinds(trial: Trial, result: Played) -> Iterator[str]:
    """Yield the kind of each decision of the bot: the first words of the names of its legal actions."""
    game, first = games.game(trial.game), True
    assert result.outcome is not None
    forfeits = tuple(Forfeited(forfeit.seat, forfeit.reason, forfeit.step) for forfeit in result.outcome.forfeits)
    for _, decision, _ in trial.setup.replayed(Replay(result.choices, forfeits, ())):
        if decision.seat == trial.seat:
            words = sorted({game.action_name(action).split()[0] for action in decision.legal})
            yield "the first of a match" if first else " or ".join(words[:3]) + (" …" if words[3:] else "")
            first = False


def _summary(values: Sequence[float]) -> tuple[float, float, float]:
    def quantile(share: float) -> float:
        return values[min(len(values) - 1, int(share * len(values)))]

    return quantile(0.5), quantile(0.95), values[-1]


def busy_machine(matches: Sequence[tuple[Trial, Played]]) -> BusyMachine:
    """Return how many matches the bot would lose by the clock on a busy machine."""
    every = [(trial.task.limits, result.seats[trial.seat].times) for trial, result in matches]
    longest = max((seconds for _, times in every for seconds in times), default=0.0)
    return BusyMachine(len(every), sum(_runs_out(*match) for match in every), longest)


def _runs_out(limits: Limits, times: Sequence[float]) -> bool:
    bank = Bank.full(limits)
    return not all(bank.charge(LOAD * seconds) for seconds in times)
