"""What the arena asks of an engine that manages a cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

Function: TypeAlias = Callable[[str, bytes], Awaitable[bytes]]
"""A function of `arena.cluster.endpoint`, which takes the name of a session and a request."""


class Place(NamedTuple):
    """A host as the engine lists it."""

    name: str
    jobs: int
    """Number of matches that it may play at once: that of its cores, unless its owner says otherwise."""


class Engine(Protocol):
    """A connection to a cluster. All methods are called in one event loop, and raise OSError if it is out of reach."""

    async def connect(self) -> None:
        """Connect for the first time. Raises ClusterError if that is impossible."""

    async def places(self) -> Mapping[str, Place]:
        """Return the hosts that are listed now, by address; some may be frozen or cut off."""

    async def call(self, address: str, function: Function, session: str, request: bytes) -> bytes:
        """Call a function in the event loop of a host and return its result; raises what the function raised."""

    async def close(self) -> None:
        """Close the connection."""
