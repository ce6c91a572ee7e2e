"""Whether a bot keeps the protocol, plays what it claims, and how long it takes: for its author, and at submission."""


class Unjudged(RuntimeError):
    """The arena or its machine failed, so nothing is known of the bot; the message is one line for people."""
