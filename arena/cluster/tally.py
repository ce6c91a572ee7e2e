"""What each host of a run has played, and which of them had more trouble than the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.worker.jobs import Played

_ODD = 4.0
"""Standard deviations by which a host's share of troubled matches may exceed that of the others before it is named:
about one host in thirty thousand that is like the others."""
_MANY = 3
"""Number of hosts up to which progress names each."""
FEW_MATCHES = 5
"""Number of troubled matches below which no host is named."""


class Tally:
    """Matches of one host, and those of them that were void or in which a bot forfeited."""

    def __init__(self, matches: int = 0, void: int = 0, forfeited: int = 0) -> None:
        self.matches = matches
        self.void = void
        self.forfeited = forfeited

    def add(self, played: Sequence[Played]) -> None:
        """Count more matches."""
        self.matches += len(played)
        self.void += sum(each.outcome is None for each in played)
        self.forfeited += sum(each.outcome is not None and bool(each.outcome.forfeits) for each in played)

    @property
    def troubled(self) -> int:
        """Number of matches that were void or had a forfeit."""
        return self.void + self.forfeited

    @property
    def line(self) -> str:
        """The tally for people."""
        trouble = [(self.void, "void"), (self.forfeited, "with a forfeit")]
        return ", ".join([f"{self.matches:,} matches", *(f"{count:,} {what}" for count, what in trouble if count)])


def note_match(tallies: Mapping[str, Tally]) -> str:
    """Return how many matches each host has played, in a few words."""
    counts = {name: own.matches for name, own in sorted(tallies.items())}
    if len(counts) > _MANY:
        return f"{len(counts)} hosts, {min(counts.values()):,} to {max(counts.values()):,} each"
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def lines(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """Yield a line for each host, and one for each that has much more trouble than the others together."""
    for name, own in sorted(tallies.items()):
        yield f"{name} played {own.line}"
    for name, own in sorted(tallies.items()):
        others = [other for other in tallies.values() if other is not own]
        matches, troubled = sum(other.matches for other in others), sum(other.troubled for other in others)
        if own.troubled >= FEW_MATCHES and matches and _deviations(own.troubled, own.matches, troubled, matches) > _ODD:
            yield (
                f"careful: on {name} {own.troubled / own.matches:.1%} of the matches were void or had a forfeit, on the"
                f" other hosts {troubled / matches:.1%}: if it is broken, `arena annul --host {name}` helps"
            )


def _deviations(troubled: int, matches: int, others_troubled: int, others: int) -> float:
    """Return by how many standard deviations the first share exceeds the second, if both were the same in truth."""
    share = (troubled + others_troubled) / (matches + others)
    spread = math.sqrt(share * (1 - share) * (1 / matches + 1 / others))
    return (troubled / matches - others_troubled / others) / spread if spread else 0.0
