"""Matches told step by step, as text for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from arena import games
from arena.replay.document import Document, Roll, Step, steps
from arena.suggest import printable


def frames(shown: Document) -> list[str]:
    """Return a text for every step; the first also says who plays, the last how the match ended."""
    teller = Teller(shown)
    *most, last = [teller.tell(step) for step in steps(shown)]
    return [*most, "\n".join([last, *map(printable, _end(shown))])]


class Teller:
    """Describes the steps of a match in words; expects them in order, each once."""

    def __init__(self, shown: Document) -> None:
        self._shown, self._game = shown, games.game(shown.game)
        self.times: Sequence[Iterator[float]] = [iter(times) for times in shown.times_ms]
        """By seat: the milliseconds of each decision that is still to be told."""
        self.forfeited = {forfeit.seat: forfeit.step for forfeit in shown.forfeits}
        """The step in which each seat forfeited."""
        self._reasons = {forfeit.seat: f" ({forfeit.reason})" for forfeit in shown.forfeits}
        self._steps = 0

    def tell(self, step: Step) -> str:
        """Return the choices, rolls and board of the next step, without any character that moves the cursor."""
        lines = [self._choice(seat, action) for seat, action in step.choices] or self._head()
        lines += [_roll(roll) for roll in step.rolls]
        self._steps += bool(step.choices)
        picture = self._game.picture(step.state).split("\n")
        return "\n".join(map(printable, [*lines, "", *picture]))  # a file may hold anybody's text

    def _head(self) -> list[str]:
        shown = self._shown
        seats = [f"  seat {seat}: {bot}" for seat, bot in enumerate(shown.bots)]
        ladder = f" of ladder {shown.ladder}" if shown.ladder else ""
        return [f"{self._game.title}, match {shown.match}{ladder}", *seats]

    def _choice(self, seat: int, action: int) -> str:
        name = self._game.action_name(action)
        who = f"step {self._steps + 1}: seat {seat} ({self._shown.bots[seat]})"
        if self._steps >= self.forfeited.get(seat, math.inf):
            return f"{who} has forfeited{self._reasons.get(seat, '')}, for it: {name}"
        return f"{who}: {name}   {next(self.times[seat], 0.0):.1f} ms"


def _roll(roll: Roll) -> str:
    return f"  dice {roll.key}: {' '.join(map(str, roll.numbers))}"


def _end(shown: Document) -> Iterator[str]:
    yield ""
    for seat, reason, step in shown.forfeits:
        when = f"in step {step + 1}" if step >= 0 else "before the first step"
        yield f"seat {seat} ({shown.bots[seat]}) forfeited {when}: {reason}"
    places = sorted(zip(shown.ranks, range(len(shown.bots)), strict=True))
    for rank, seat in places:
        yield f"{rank + 1}. seat {seat} ({shown.bots[seat]}), score {shown.scores[seat]}"
