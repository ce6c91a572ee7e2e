"""Matches told step by step, as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from arena import games
from arena.base.suggest import printable
from arena.games.rules import remark
from arena.replay.annotated import Annotated, Annotator
from arena.replay.document import Document, Roll, Step, document_steps


def frames(record: Document) -> list[str]:
    """Return a text for every step; the first also says who plays, the last how the match ended."""
    teller = Teller(record)
    *most, last = [teller.tell(step) for step in document_steps(record)]
    return [*most, "\n".join([last, *map(printable, [*teller.remaining_lines(), *final_lines(record)])])]


class Teller:
    """Describes the steps of a match in words; expects them in order, each once."""

    def __init__(self, record: Document) -> None:
        self._record, self._game = record, games.game(record.game)
        self.annotator = Annotator(record)
        self._banks = list(self.annotator.banks)
        self._reasons = {forfeit.seat: f" ({forfeit.reason})" for forfeit in record.forfeits}

    def tell(self, step: Step) -> str:
        """Return the choices, rolls and board of the next step, without any character that moves the cursor."""
        choices = self.annotator.annotate(step)
        lines = [line for choice in choices for line in self._choice(choice)] or self._head()
        lines += [_roll(roll) for roll in step.rolls]
        picture = self._game.picture(step.state).split("\n")
        return "\n".join(map(printable, [*lines, "", *picture]))  # a file may hold anybody's text

    def _head(self) -> list[str]:
        title, *seats = head(self._record)
        printed = (_quoted(self.annotator.printed(seat, 0)) for seat in range(len(seats)))
        return [title, *(line for seat, said in zip(seats, printed, strict=True) for line in (seat, *said))]

    def remaining_lines(self) -> list[str]:
        """Return what bots printed at decisions that were told with no step: those at which the match was decided."""
        lines: list[str] = []
        for seat, decision, printed in self.annotator.remaining_lines():
            who = f"seat {seat} ({self._record.bots[seat]})"
            lines += ["", f"{who} printed at decision {decision}:", *_quoted(printed)]
        return lines

    def _choice(self, choice: Annotated) -> list[str]:
        seat, name = choice.seat, choice.name
        step, who = f"step {self.annotator.steps}", f"seat {seat} ({self._record.bots[seat]})"
        if choice.ms is None:
            line = f"{step}: {who} has forfeited{self._reasons.get(seat, '')}, for it: {name}"
        else:
            line = f"{step}, decision {choice.decision}: {who}: {name}   {choice.ms:.1f} ms{self._bank(choice)}"
        return [line, *_quoted(choice.printed)]

    def _bank(self, choice: Annotated) -> str:
        """Return what is left of the bank, if the choice took something from it."""
        before, self._banks[choice.seat] = self._banks[choice.seat], choice.bank
        if before is None or choice.bank is None or choice.bank == before:
            return ""
        return f", {choice.bank:.2f} s left in the bank"


def _quoted(lines: Iterable[str]) -> list[str]:
    return [f"  | {line}" for line in lines]


def _roll(roll: Roll) -> str:
    return f"  dice {roll.key}: {' '.join(map(str, roll.numbers))}"


def head(record: Document) -> list[str]:
    """Return a line that says which match it is, and one for each seat."""
    ladder = f" of ladder {record.ladder}" if record.ladder else ""
    seats = (f"  seat {seat}: {bot}" for seat, bot in enumerate(record.bots))
    return [f"{games.game(record.game).title}, match {record.match}{ladder}", *seats]


def final_lines(record: Document) -> Iterator[str]:
    """Yield lines that say who forfeited, in which order the seats finished, and why if their scores do not say it."""
    yield ""
    for seat, reason, step in record.forfeits:
        when = f"in step {step + 1}" if step >= 0 else "before the first step"
        yield f"seat {seat} ({record.bots[seat]}) forfeited {when}: {reason}"
    places = sorted(zip(record.ranks, range(len(record.bots)), strict=True))
    for rank, seat in places:
        yield f"{rank + 1}. seat {seat} ({record.bots[seat]}), score {record.scores[seat]}"
    if why := beyond_scores(record):
        yield why


def beyond_scores(record: Document) -> str:
    """Return why a seat is placed above one whose score is not smaller; nothing if only forfeits did that."""
    forfeited = {forfeit.seat for forfeit in record.forfeits}
    return remark(games.game(record.game), record.ranks, list(map(int, record.scores)), forfeited)
