"""Whether a bot keeps the protocol, plays what it claims, and how long it takes: for its author, and at submission."""
