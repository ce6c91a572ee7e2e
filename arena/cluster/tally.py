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
"""Number of hosts up to which progress names each; any number whose names fit on a line would do."""
FEW_MATCHES = 5
"""Number of troubled matches below which no host is named: so few tell nothing, whatever the arithmetic says."""


class Tally:
    """Matches of one host, and those of them that were void or in which a bot forfeited."""

    def __init__(self, matches: int = 0, void: int = 0, forfeited: int = 0) -> None:
        self.matches = matches
        self.void = void
        self.forfeited = forfeited

    def add(self, results: Sequence[Played]) -> None:
        """Count more matches."""
        self.matches += len(results)
        self.void += sum(result.outcome is None for result in results)
        self.forfeited += sum(result.outcome is not None and bool(result.outcome.forfeits) for result in results)

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
    counts = {name: tally.matches for name, tally in sorted(tallies.items())}
    if len(counts) > _MANY:
        return f"{len(counts)} hosts, {min(counts.values()):,} to {max(counts.values()):,} each"
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def lines(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """Yield a line for each host, and one for each that has much more trouble than the others together."""
    for name, tally in sorted(tallies.items()):
        yield f"{name} played {tally.line}"
    for name, tally in sorted(tallies.items()):
        rest = [rival for rival in tallies.values() if rival is not tally]
        matches, troubled = sum(rival.matches for rival in rest), sum(rival.troubled for rival in rest)
        if (
            tally.troubled >= FEW_MATCHES
            and matches
            and _deviations(tally.troubled, tally.matches, troubled, matches) > _ODD
        ):
            yield (
                f"careful: on {name} {tally.troubled / tally.matches:.1%} of the matches were void or had a forfeit, on"
                f" the other hosts {troubled / matches:.1%}: if it is broken, `arena annul --host {name}` helps"
            )


def _deviations(troubled: int, matches: int, rest_troubled: int, rest: int) -> float:
    """Return by how many standard deviations the first share exceeds the second, if both were the same in truth."""
    share = (troubled + rest_troubled) / (matches + rest)
    spread = math.sqrt(share * (1 - share) * (1 / matches + 1 / rest))
    return (troubled / matches - rest_troubled / rest) / spread if spread else 0.0
