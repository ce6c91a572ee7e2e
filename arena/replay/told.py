"""Matches told step by step, as text for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from arena import games
from arena.replay.document import Document, Roll, Step, steps
from arena.suggest import printable
from arena.worker.logs import by_decision

LINES = 20
"""Lines shown of what a bot printed at one decision; the document has all."""


def frames(shown: Document) -> list[str]:
    """Return a text for every step; the first also says who plays, the last how the match ended."""
    teller = Teller(shown)
    *most, last = [teller.tell(step) for step in steps(shown)]
    return [*most, "\n".join([last, *map(printable, [*teller.untold(), *_end(shown)])])]


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
        self._asked = 0
        """Number of the decision that was told last."""
        self._logs = [by_decision(lines) for lines in shown.logs or [()] * len(shown.bots)]

    def tell(self, step: Step) -> str:
        """Return the choices, rolls and board of the next step, without any character that moves the cursor."""
        lines = [line for choice in step.choices for line in self._choice(*choice)] or self._head()
        lines += [_roll(roll) for roll in step.rolls]
        self._steps += bool(step.choices)
        picture = self._game.picture(step.state).split("\n")
        return "\n".join(map(printable, [*lines, "", *picture]))  # a file may hold anybody's text

    def _head(self) -> list[str]:
        shown = self._shown
        seats = [
            line for seat, bot in enumerate(shown.bots) for line in (f"  seat {seat}: {bot}", *self._said(seat, 0))
        ]
        ladder = f" of ladder {shown.ladder}" if shown.ladder else ""
        return [f"{self._game.title}, match {shown.match}{ladder}", *seats]

    def untold(self) -> list[str]:
        """Return what bots printed at decisions that were told with no step: those at which the match was decided."""
        lines: list[str] = []
        for seat, bot in enumerate(self._shown.bots):
            for decision in sorted(self._logs[seat]):
                lines += ["", f"seat {seat} ({bot}) printed at decision {decision}:", *self._said(seat, decision)]
        return lines

    def _choice(self, seat: int, action: int) -> list[str]:
        name = self._game.action_name(action)
        who = f"seat {seat} ({self._shown.bots[seat]})"
        end = self.forfeited.get(seat, math.inf)
        self._asked += self._steps <= end  # also in the step in which it forfeited, but not after that
        if self._steps >= end:
            told = f"step {self._steps + 1}: {who} has forfeited{self._reasons.get(seat, '')}, for it: {name}"
        else:
            time = f"{next(self.times[seat], 0.0):.1f} ms"
            told = f"step {self._steps + 1}, decision {self._asked}: {who}: {name}   {time}"
        return [told, *(self._said(seat, self._asked) if self._steps <= end else ())]

    def _said(self, seat: int, decision: int) -> list[str]:
        """Return what a bot printed at a decision, each line once; 0 is the time before the first one."""
        lines = self._logs[seat].pop(decision, [])
        more = [f"  | … {len(lines) - LINES:,} more lines"] if len(lines) > LINES else []
        return [f"  | {line}" for line in lines[:LINES]] + more


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
