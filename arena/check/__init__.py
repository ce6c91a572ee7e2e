"""Checks, for authors and at submission, that a bot keeps the protocol and plays what it claims, and how fast it is."""


class Unjudged(RuntimeError):
    """The arena or its machine failed, so the bot could not be judged; the message is one line for people."""
