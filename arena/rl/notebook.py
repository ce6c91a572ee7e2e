"""Matches between functions, classes and bots, for a notebook: results that show themselves, and replays."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from html import escape
from numbers import Integral
from random import Random
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

from rich.console import Console
from rich.progress import track

from arena import games
from arena.base.suggest import printable
from arena.games import Options
from arena.games.rules import Game
from arena.referee.match import Asked, MatchOutcome
from arena.replay import narration
from arena.replay.document import Document, unrated
from arena.replay.questions import Setup
from arena.rl.other_players import LIMITS, Opponent
from arena.rl.players import Player, opponent
from arena.worker.jobs import Played, SeatRecord, Task
from ladder.intervals import Evidence
from ladder.schedule import rotations

_HIDDEN = ' style="display: none"'
"""Hides a step in a notebook."""
LineUp: TypeAlias = tuple[int, ...]
"""The player in each seat, by its place in the list that was given."""


class Result(NamedTuple):
    """How one player did. Points are the share of opponents beaten, a tie counting half: 0 to 1, ½ is average."""

    player: str
    matches: int
    wins: int
    """Matches in which it alone was first."""
    ties: int
    """Matches in which it was first together with others."""
    losses: int
    points: float
    low: float
    """End of the 95 % interval of `points`; `high` is the other."""
    high: float
    score: float
    """Mean of the scores."""


class _Match(NamedTuple):
    line_up: LineUp
    setup: Setup
    result: Played


def matches(
    game: str,
    players: Sequence[Player],
    n: int = 100,
    *,
    seed: str | int | None = None,
    options: Options | None = None,
) -> Matches:
    """Play matches and return what came of them; in a notebook the result shows itself.

    A player is a bot by its name or path, a function of a turn, or a class derived from `arena_bot.Bot`. They play in
    groups: the same dice once with each player in each seat, so `n` is rounded up to whole groups. There are no time
    limits. A seed, a text or a number, repeats the matches of players that use no other luck. Raises BadOpponent for a
    player, arena.games.UnknownGame, and ValueError for the rest.
    """
    rules = games.game(game)
    if isinstance(players, str) or len(players) not in rules.seats:
        raise ValueError(f"{game} needs a list of {rules.seats[0]} … {rules.seats[-1]} players, not {players!r}")
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n is the number of matches, at least 1, not {n!r}")
    text = secrets.token_hex(16) if seed is None else str(seed)
    whole = rules.options(options or {})
    opponents: list[Opponent] = []
    try:
        opponents.extend(opponent(rules, player) for player in players)
        return Matches(rules, _named(opponents), text, list(_play_all(rules, opponents, n, text, whole)))
    finally:
        for rival in opponents:
            rival.close()


class Matches:
    """Matches that were played: `results` has how each player did, `replay(0)` shows the first match."""

    def __init__(self, game: Game[Any], players: Sequence[str], seed: str, results: Sequence[_Match]) -> None:
        self.game = game.name
        self.players = players
        self.seed = seed
        """Text that repeats these matches."""
        self._title = game.title
        self._results = results

    @cached_property
    def results(self) -> Sequence[Result]:
        """How each player did, in the order given. The interval is that of a ladder's points."""
        evidence = Evidence(self._groups())
        return [self._result(number, evidence) for number in range(len(self.players))]

    def replay(self, number: int = 0) -> Replay:
        """Return one match, to be looked at step by step; a negative number counts from the last one."""
        line_up, setup, result = self._results[number]
        task = Task(result.id, setup.game, setup.options, setup.seed, (), LIMITS)
        return Replay(unrated(task, [self.players[player] for player in line_up], result))

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        rows = [_HEAD, *map(_cells, self.results)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join([self._caption(), *("  ".join(_aligned(row, widths)).rstrip() for row in rows)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in _HEAD)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(result))}</tr>" for result in self.results
        )
        return f"<table><caption>{escape(self._caption())}</caption><tr>{head}</tr>{rows}</table>"

    def _caption(self) -> str:
        return f"{self._title}: {len(self):,} matches, seed={printable(self.seed)!r}; .replay(0) shows the first"

    def _groups(self) -> Counter[Any]:
        """Return the groups as the statistics want them: the order of the players, and the ranks by rotation."""
        seats = len(self.players)
        groups = len(self._results) // seats
        counts: Counter[Any] = Counter()
        for group in range(groups):
            together = self._results[group::groups]
            order = tuple(str(player) for player in together[0].line_up)
            counts[order, tuple(_outcome(match).ranks for match in together)] += 1
        return counts

    def _result(self, number: int, evidence: Evidence) -> Result:
        places, scores = [], []
        for match in self._results:
            ranks, seat = _outcome(match).ranks, match.line_up.index(number)
            places.append((ranks[seat], ranks.count(0)))
            scores.append(_outcome(match).scores[seat])
        wins, ties = (sum(rank == 0 and (first > 1) is tied for rank, first in places) for tied in (False, True))
        points = evidence.score(str(number))
        assert points is not None  # everybody met all others
        losses = len(places) - wins - ties
        mean, low, high, _ = points
        return Result(self.players[number], len(places), wins, ties, losses, mean, low, high, fmean(scores))


class Replay(Sequence[str]):
    """One match as a text for each step: printed it is the whole match, in a notebook a slider leads through it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        """The match as docs/reference/json.md describes it."""
        self._frames = narration.frames(document)

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, step: Any) -> Any:
        return self._frames[step]

    def __repr__(self) -> str:
        return "\n\n".join(self._frames)

    def _repr_html_(self) -> str:
        last = len(self) - 1
        frames = "".join(f"<pre{_HIDDEN * bool(step)}>{escape(frame)}</pre>" for step, frame in enumerate(self))
        show = (
            "const all=this.parentNode.querySelectorAll('pre');"
            "all.forEach((each,step)=>each.style.display=step==this.value?'':'none');"
            f"this.nextElementSibling.value=this.value+' of {last}'"
        )
        slider = f'<input type="range" style="width: 50%" min="0" max="{last}" value="0" oninput="{escape(show)}">'
        return f"<div>{slider} <output>0 of {last}</output>{frames}</div>"


_HEAD = ("player", "points", "95 % interval", "matches", "wins", "ties", "losses", "mean score")
"""Heads of the columns of a table of results."""


def _cells(result: Result) -> tuple[str, ...]:
    points, *ends = (f"{100 * share:.1f}" for share in (result.points, result.low, result.high))
    counts = [f"{count:,}" for count in (result.matches, result.wins, result.ties, result.losses)]
    return (printable(result.player), points, " to ".join(ends), *counts, f"{result.score:z,.1f}")


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the cells of a line, the first one at the left, numbers at the right."""
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if place else cell.ljust(width)


def _outcome(match: _Match) -> MatchOutcome:
    assert match.result.outcome is not None
    return match.result.outcome


def _named(opponents: Sequence[Opponent]) -> list[str]:
    """Return names that differ: a player's own, with a number behind it if an earlier one has the same."""
    met: Counter[str] = Counter()
    names = []
    for player in opponents:
        met[player.name] += 1
        names.append(player.name if met[player.name] == 1 else f"{player.name} ({met[player.name]})")
    return names


def _play_all(game: Game[Any], opponents: Sequence[Opponent], n: int, seed: str, options: Options) -> Iterator[_Match]:
    """Play one match of each group, then the next of each: the same dice come again only after a rest."""
    key = sha256(seed.encode("utf-8", "surrogateescape")).digest()
    seats = len(opponents)
    groups = -(-n // seats)
    canvas = Console(stderr=True)
    planned = list(_planned(game, key, groups, seats, options))
    is_visible = canvas.is_terminal or canvas.is_jupyter
    for number, (line_up, setup) in enumerate(
        track(planned, game.title, console=canvas, transient=True, disable=not is_visible)
    ):
        if number % groups == 0:
            for rival in opponents:
                rival.rest()
        yield _Match(line_up, setup, _play(str(number), setup, [opponents[player] for player in line_up]))


def _planned(game: Game[Any], key: bytes, groups: int, seats: int, options: Options) -> Iterator[tuple[LineUp, Setup]]:
    """Yield the matches in the order in which they are played; a group has an order of its own around the table."""
    orders = []
    for group in range(groups):
        order = list(range(seats))
        Random(hmac.digest(key, f"table/{group}".encode(), "sha256")).shuffle(order)
        orders.append(rotations(tuple(order)))
    for rotation in range(seats):
        for group in range(groups):
            dice = hmac.digest(key, f"group/{group}".encode(), "sha256")
            yield orders[group][rotation], Setup(game.name, seats, options, dice)


def _play(name: str, setup: Setup, opponents: Sequence[Opponent]) -> Played:
    """Play a match to its end. Raises BadOpponent, and whatever a function raises."""
    match = setup.match()
    times: list[list[float]] = [[] for _ in opponents]
    for seat, player in enumerate(opponents):
        player.start(setup, seat)
    due, told_of = match.begin(), 0
    while due:
        chosen = [(decision.seat, _timed(opponents[decision.seat], decision, match.state, times)) for decision in due]
        for seat, action in chosen:
            due = match.answer(seat, action)
        for player in opponents:
            if player.updates:
                player.update(match.choices[told_of:], match.state)
        told_of = len(match.choices)
    for player in opponents:
        player.end(match.outcome)
    seats = tuple(SeatRecord(tuple(seconds)) for seconds in times)
    return Played(name, match.outcome, None, tuple(match.choices), seats)


def _timed(player: Opponent, decision: Asked, state: Any, times: Sequence[list[float]]) -> int:
    """Return what a player chooses, and note the seconds that it took."""
    begun = time.perf_counter()
    action = player.choose(decision, state)
    times[decision.seat].append(time.perf_counter() - begun)
    return action
