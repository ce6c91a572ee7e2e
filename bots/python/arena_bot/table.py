"""The protocol without the connection: for each frame of the referee a frame of choices, or more if they take long."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from operator import index
from time import monotonic
from typing import SupportsIndex

from arena.v1.referee_pb2 import Decision, Hello, MatchStart, PlayRequest, PlayResponse, Rejected
from arena_bot.bot import Bot, Turn, seated

PROTOCOL = 1
PIECES = 4
"""How often, in a decision's limit, choices made so far are sent: the referee takes a silent bot for a stopped one."""
_LARGEST = 2**32 - 1  # an action is a uint32 on the wire


class Table:
    """The matches that one process holds, each with a bot of its own."""

    def __init__(self, bot_class: type[Bot]) -> None:
        self._bot_class = bot_class
        self._bots: dict[int, Bot] = {}
        self._piece = math.inf
        """Seconds that a choice may be held back, by the smallest limit of any match so far."""

    def hello(self, token: str) -> bytes:
        """Return the first frame of the stream: Hello, with the token of the arena."""
        maker = f"arena_bot, Python {sys.version.split()[0]}"
        matches, updates = self._bot_class.matches, self._bot_class.updates
        hello = Hello(protocol=PROTOCOL, token=token, matches=matches, updates=updates, sdk=maker)
        return PlayRequest(hello=hello).SerializeToString()

    def answer(self, frame: PlayResponse) -> Iterator[bytes]:
        """Yield every choice that `frame` asks for, in one frame or in several, each of which is to be sent at once.

        Yield nothing if it asks for nothing. The bots are called as the iterator is read, so read it to its end.
        """
        began = monotonic()
        for start in frame.starts:
            self._seat(start)
        for rejected in frame.rejections:
            _complain(rejected)
        for update in frame.updates:
            self._bots[update.match].update(update)
        yield from self._choices(frame.decisions, began)
        for end in frame.ends:
            self._bots.pop(end.match).end(end)

    def _seat(self, start: MatchStart) -> None:
        if limit := start.limits.decision_ms:
            self._piece = min(self._piece, limit / 1000 / PIECES)
        self._bots[start.match] = seated(self._bot_class, start)

    def _choices(self, decisions: Iterable[Decision], began: float) -> Iterator[bytes]:
        reply, due = PlayRequest(), began + self._piece
        add, bots = reply.choices.add, self._bots
        for decision in decisions:
            match = decision.match
            bot = bots[match]
            action = bot.choose(Turn(bot, decision))
            if type(action) is not int or not 0 <= action <= _LARGEST:
                action = _action(bot, action)
            add(match=match, decision=decision.decision, action=action)
            if (now := monotonic()) >= due:
                yield reply.SerializeToString()
                reply, due = PlayRequest(), now + self._piece
                add = reply.choices.add
        if reply.choices:
            yield reply.SerializeToString()


def _action(bot: Bot, choice: SupportsIndex) -> int:
    """Return a choice as an int that fits into a message; whether it is legal is for the referee to say.

    Raises TypeError and ValueError if it is no such int.
    """
    try:
        action = index(choice)  # takes the integers of numpy too
    except TypeError:
        raise TypeError(f"{type(bot).__name__}.choose returned {choice!r}: an action is an int") from None
    if not 0 <= action <= _LARGEST:
        raise ValueError(f"{type(bot).__name__}.choose returned {action}: actions are 0 … {_LARGEST}")
    return action


def _complain(rejected: Rejected) -> None:
    where = f"match {rejected.match}, decision {rejected.decision}"
    sys.stderr.write(f"the referee rejected a choice ({where}): {rejected.reason}\n")
