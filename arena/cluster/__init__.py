"""Many machines: one coordinator deals matches to the hosts of a cluster that somebody else manages.

The engine of the cluster, such as Dask, is asked for two things only: which hosts there are, and to call a function on
one of them. On a host that function reaches a process of the arena, `host.py`, which starts workers and ends with the
run. Hosts are trusted, bots are not.
"""

from arena.base.suggest import to_install

NO_DASK = f"a cluster takes Dask: {to_install('cluster', 'distributed')}"
"""What is said where Dask is not installed."""


def error_line(error: Exception) -> str:
    """Return the last line of what an error says, or its name if it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[-1]


class ClusterError(Exception):
    """Error for a cluster that cannot be used; the message is one line for people."""
