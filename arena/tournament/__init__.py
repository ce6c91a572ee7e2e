"""Play what a ladder's schedule still lacks: matches out to workers, results in to the store."""


class WorkersDied(RuntimeError):
    """Worker processes are killed again and again; the message is one line for people."""
