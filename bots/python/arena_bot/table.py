"""Answers each frame of the referee with a frame of choices, or with several if the choices take long.

This is the protocol without the connection, which is in `stream.py`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import index
from time import monotonic
from typing import SupportsIndex

from arena.v1.referee_pb2 import Decision, Hello, MatchStart, PlayRequest, PlayResponse, Rejected
from arena_bot.bot import Bot, Turn, seated

PROTOCOL = 1
PIECES = 4
"""How often within the time limit of a decision the choices made so far are sent.

The referee would take a bot that is silent for much longer for one that hangs.
"""
_LARGEST = 2**32 - 1  # an action is a uint32 on the wire


class NoAction(Exception):
    """A bot's `choose` returned something that cannot be an action; the message is one line for the author."""


class Table:
    """The matches that one process plays at the same time, each with an instance of the bot's class."""

    def __init__(self, bot_class: type[Bot]) -> None:
        self._bot_class = bot_class
        self._bots: dict[int, Bot] = {}
        self._piece = math.inf
        """Seconds that a choice may wait to be sent with others; it follows from the smallest limit of any match."""

    def hello(self, token: str) -> bytes:
        """Return the first frame of the stream: a Hello with the token that the arena gave to this process."""
        maker = f"arena_bot, Python {sys.version.split()[0]}"
        matches, updates = self._bot_class.matches, self._bot_class.updates
        hello = Hello(protocol=PROTOCOL, token=token, matches=matches, updates=updates, sdk=maker)
        return PlayRequest(hello=hello).SerializeToString()

    def answer(self, frame: PlayResponse) -> Iterator[bytes]:
        """Yield frames with all choices that `frame` asks for; the caller sends each frame as soon as it is yielded.

        Nothing is yielded if nothing is asked. The bots are called while the iterator is read, so read it to its end.
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
            if type(action) is not int or not 0 <= action <= _LARGEST:  # seldom: this saves calls
                action = _action(bot, action)
            add(match=match, decision=decision.decision, action=action)
            if (now := monotonic()) >= due:
                yield reply.SerializeToString()
                reply, due = PlayRequest(), now + self._piece
                add = reply.choices.add
        if reply.choices:
            yield reply.SerializeToString()


def _action(bot: Bot, choice: SupportsIndex) -> int:
    """Return a choice as an int that fits into a message; the referee checks later whether the action is legal.

    Raises NoAction if it is no integer or does not fit.
    """
    try:
        action = index(choice)  # takes the integers of numpy too
    except TypeError:
        raise NoAction(f"{type(bot).__name__}.choose returned {choice!r}: {_expected(bot, choice)}") from None
    if not 0 <= action <= _LARGEST:
        raise NoAction(f"{type(bot).__name__}.choose returned {action}: actions are 0 … {_LARGEST}")
    return action


def _expected(bot: Bot, choice: object) -> str:
    """Return what `choose` should have returned instead of something that is no integer."""
    with suppress(ValueError):
        if isinstance(choice, str):
            bot.rules.action(choice)
            return f"an action is a number, return turn.action({choice!r})"
    return "return one of turn.legal" + (", at the end of every branch" if choice is None else "")


def _complain(rejected: Rejected) -> None:
    where = f"match {rejected.match}, decision {rejected.decision}"
    sys.stderr.write(f"the referee rejected a choice ({where}): {rejected.reason}\n")
