"""What one bot is asked: questions wait, are sent in frames, and are owed until they are answered.

All that a stream knows of who plays its matches is `Questions`. Here tables play all of them; `loans.py` has the same
for a stream of which some matches are lent, and decides which of the two a stream has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from arena.referee.seat import BotSeat
from arena.v1 import referee_pb2 as pb

Cut: TypeAlias = tuple[int, int, Sequence[bytes]]
"""The questions of one frame: how many there are, how many of them are the first of their seat; and, encoded, the
starts of matches that were not sent before, then the questions."""
PlayedFrame: TypeAlias = tuple[Sequence[Any], Sequence[Any]]
"""What came of a frame of choices that was played as a whole: the lenders of the matches that have ended, and the
streams where questions wait now."""
UsualShare: TypeAlias = Callable[[float, int], float | None]
"""The seconds that each of so many answers took that are heard now, None if that may be too much."""


class Questions:
    """Those that tables put to the seats of one stream."""

    def __init__(self) -> None:
        self.owed: dict[int, BotSeat] = {}
        """The seats whose question was sent and is not answered, by the match's number; without those that are lent."""
        self._queue: dict[int, BotSeat] = {}
        """The seats whose question waits, by the match's number, since a match asks a seat one thing at a time."""

    @property
    def queued(self) -> int:
        """How many questions wait."""
        return len(self._queue)

    @property
    def owes(self) -> bool:
        """Whether answers are awaited."""
        return bool(self.owed)

    def owing(self, held: Mapping[int, BotSeat]) -> Sequence[BotSeat]:  # noqa: ARG002 - those lent are found in it
        """Return those of the bot's seats whose answers are awaited."""
        return [*self.owed.values()]

    def ask(self, at: BotSeat) -> None:
        """Queue the decision that was put to a seat."""
        self._queue[at.number] = at

    def cut(self, size: int, first_size: int) -> Cut:
        """Take the next frame's questions, `size` at most and `first_size` first ones; answers to them are owed now."""
        asked, rest = self._queue, dict[int, BotSeat]()
        firsts = sum([at.bank.first for at in asked.values()])
        if len(asked) > size or firsts > first_size:
            asked, rest, firsts = self._split(size, first_size)
        self.owed, self._queue = asked, rest
        starts = [at.take_opening() for at in asked.values() if at.opening] if firsts else ()
        return len(asked), firsts, [*starts, *[at.question for at in asked.values()]]

    def _split(self, size: int, first_size: int) -> tuple[dict[int, BotSeat], dict[int, BotSeat], int]:
        asked, rest, firsts = dict[int, BotSeat](), dict[int, BotSeat](), 0
        for number, at in self._queue.items():
            if len(asked) == size or (at.bank.first and firsts == first_size):
                rest[number] = at
            else:
                asked[number] = at
                firsts += at.bank.first
        return asked, rest, firsts

    def drop(self, at: BotSeat) -> bool:
        """Forget what a seat was to be asked or was; return whether it owed an answer."""
        self._queue.pop(at.number, None)
        return self.owed.pop(at.number, None) is not None

    def play(self, raw: bytes, now: float, share: UsualShare) -> PlayedFrame | None:  # noqa: ARG002 - tables read none of it
        """Play a frame if nothing in it is unusual; None: nothing has changed, and each choice is to be read."""
        return None  # tables judge one answer after the other

    def take_back(self, choices: Sequence[pb.Choice]) -> None:
        """Have the matches that these choices name go on at their tables, where here they are."""
