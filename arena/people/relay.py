"""A person who plays elsewhere, as a bot: the choices come as lines of JSON. `arena play --lines` starts this.

python -P -m arena.people.relay
"""

from __future__ import annotations

import os
import signal
import sys

import msgspec

from arena.sandbox.process import die_with_parent
from arena_bot import Bot, Turn, run


class Choice(msgspec.Struct):
    """A line: what was chosen, and the number of the question that it answers."""

    question: int
    action: int


class Relay(Bot):
    """The seat of a person: whoever shows the match knows what is asked, and sends what was chosen."""

    matches = 1

    def choose(self, turn: Turn) -> int:
        while line := sys.stdin.readline():
            try:
                choice = msgspec.json.decode(line, type=Choice)
            except (msgspec.DecodeError, RecursionError) as error:
                _complain(f"no choice: {error}")
                continue
            if choice.question == turn.number and choice.action in turn.legal:
                return choice.action
            _complain(f"action {choice.action} is no answer to question {turn.number}")
        raise SystemExit


def _complain(what: str) -> None:
    sys.stderr.write(f"{what}\n")


if __name__ == "__main__":
    die_with_parent(os.getppid())  # a process that waits for a line would not see that there is nobody to answer
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, wherever it is
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    run(Relay)
