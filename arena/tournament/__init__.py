"""Play what a ladder's schedule still lacks: matches go to workers, and their results to the store."""


class WorkersDied(RuntimeError):
    """Processes that the arena started were killed; the message is one line for people."""


class NothingStarts(RuntimeError):
    """This machine starts no bots any more, whosever they are; the message is one line for people."""


class DiskFull(RuntimeError):
    """The disk has no room for a run's temporary files; the message is one line for people."""
