"""What runs bots for a command, as its options say; every command needs this module, and so it imports little."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.base import homes
from arena.referee.limits import Limits
from arena.sandbox.grades import UNCONFINED, Grade, NoSandbox, Sandbox
from arena.sandbox.probe import probe


class Cluster(NamedTuple):
    """The cluster whose hosts play, and the sandbox that they use."""

    address: str
    certificates: Path | None
    wanted: Grade | None
    """Grade to use; None: the best that works."""
    least: Grade | None
    """Weakest grade with which a host takes part; None: any."""

    @classmethod
    def asked(cls, address: str, certificates: Path | None, wanted: str, least: str | None, trusting: bool) -> Cluster:
        """Return a cluster as the options say; a host that holds nobody takes part only if they say so."""
        grade = None if wanted == "auto" else Grade(wanted)
        weakest = Grade(least) if least is not None else grade or (None if trusting else Grade.C)
        return cls(address, certificates, grade, weakest)


class Machine(NamedTuple):
    """What holds the bots that a command runs, and where their matches are played."""

    sandbox: Sandbox
    """What holds them; in a cluster, what holds them at least."""
    home: Path
    """The home, which no bot may see."""
    cluster: Cluster | None = None
    """The cluster whose hosts play; None: this machine does."""

    @classmethod
    def for_replays(cls, home: Path, address: str, certificates: Path | None) -> Machine:
        """Return the hosts of a cluster that play matches from their records, for which no bot runs."""
        return cls(UNCONFINED, home, Cluster(address, certificates, None, None))

    @property
    def caution(self) -> str | None:
        """The warning of a weak sandbox here; each host of a cluster says its own grade when it joins."""
        return self.sandbox.warning if self.cluster is None else None

    def caution_for(self, bots: Sequence[str]) -> str | None:
        """Return the caution, or None if all bots are started by hand: the sandbox does not confine those."""
        return self.caution if set(bots) - {"attach:"} else None

    @property
    def here(self) -> Sandbox:
        """The sandbox of this machine, in which bots are built, also if they play in a cluster."""
        if self.cluster is None:
            return self.sandbox
        own = sandbox_here("auto", None, self.home)
        return own._replace(trusting=self.sandbox.trusting, allowed=self.sandbox.allowed)


class Conditions(NamedTuple):
    """Under which a bot is checked: how long it may think, and what runs it."""

    limits: Limits
    machine: Machine


def sandbox_here(wanted: str, least: str | None, home: Path) -> Sandbox:
    """Return the sandbox of this machine as options say. Raises NoSandbox if it is weaker than the `least`."""
    sandbox = probe(None if wanted == "auto" else Grade(wanted))
    if least is not None and not sandbox.grade.at_least(Grade(least)):
        raise NoSandbox(f"--require-sandbox={least}: this is grade {sandbox.grade}, {sandbox.grade.promise}")
    return sandbox.hide(*homes.hidden(home))
