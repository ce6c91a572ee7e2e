"""The protocol without the wire: a frame of the referee's in, a frame of choices out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import index
from typing import SupportsIndex

from arena.v1.referee_pb2 import Decision, Hello, PlayRequest, PlayResponse, Rejected
from arena_bot.bot import Bot, Turn, seated

PROTOCOL = 1
_LARGEST = 2**32 - 1  # an action is a uint32 on the wire


class Table:
    """The matches that one process holds, each with a bot of its own."""

    def __init__(self, bot_class: type[Bot]) -> None:
        self._bot_class = bot_class
        self._bots: dict[int, Bot] = {}

    def hello(self, token: str) -> bytes:
        """The first frame of a stream."""
        maker = f"arena_bot, Python {sys.version.split()[0]}"
        matches, updates = self._bot_class.matches, self._bot_class.updates
        hello = Hello(protocol=PROTOCOL, token=token, matches=matches, updates=updates, sdk=maker)
        return PlayRequest(hello=hello).SerializeToString()

    def answer(self, frame: PlayResponse) -> bytes | None:
        """One frame with every choice that `frame` asks for; None if it asks for none."""
        for start in frame.starts:
            self._bots[start.match] = seated(self._bot_class, start)
        for rejected in frame.rejections:
            _complain(rejected)
        for update in frame.updates:
            self._bots[update.match].update(update)
        reply = self._choices(frame.decisions) if frame.decisions else None
        for end in frame.ends:
            self._bots.pop(end.match).end(end)
        return reply

    def _choices(self, decisions: Iterable[Decision]) -> bytes:
        reply = PlayRequest()
        add, bots = reply.choices.add, self._bots
        for decision in decisions:
            match = decision.match
            bot = bots[match]
            action = bot.choose(Turn(bot, decision))
            if type(action) is not int or not 0 <= action <= _LARGEST:
                action = _action(bot, action)
            add(match=match, decision=decision.decision, action=action)
        return reply.SerializeToString()


def _action(bot: Bot, choice: SupportsIndex) -> int:
    """What can travel of a choice; whether it is legal is the referee's to say."""
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
