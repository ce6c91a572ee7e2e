"""Play what a ladder's schedule still lacks: matches out to workers, results in to the store."""


class WorkersDied(RuntimeError):
    """Processes that we started are killed; the message is one line for people."""


class DiskFull(RuntimeError):
    """There is no room for what a run needs while it lasts; the message is one line for people."""
