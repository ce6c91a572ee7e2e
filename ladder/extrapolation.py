"""Getting to a fixed point in few passes, however slowly the passes by themselves would.

Anderson, "Iterative procedures for nonlinear integral equations" (1965): what the last passes made of their beginnings
tells how what is left will shrink, so the best mixture of their results is further than any of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import fsum, hypot
from operator import mul

REMEMBERED = 4
"""Passes that are mixed."""
NEAR = 1.0
"""A pass that moves anything by more tells nothing of the next one."""
WORSE = 2.0
"""A pass that moves everything by so many times more than the last one came of a mixture that was none."""


class Extrapolation:
    """The last passes: what each would have moved (a few numbers, all of about one scale), and its result."""

    def __init__(self) -> None:
        self._moves: list[Sequence[float]] = []
        self._results: list[array[float]] = []

    def forget(self) -> None:
        """What was mixed was no good."""
        self._moves.clear()
        self._results.clear()

    def mix(self, moves: Sequence[float], result: array[float]) -> array[float]:
        """A better beginning for the next pass than the result of this one, which it may be itself."""
        if self._moves and hypot(*moves) > WORSE * hypot(*self._moves[-1]):
            self.forget()
        if max(map(abs, moves), default=0.0) > NEAR:
            return result
        self._moves = [*self._moves[1 - REMEMBERED :], moves]
        self._results = [*self._results[1 - REMEMBERED :], result]
        shares = _shares(self._moves)
        mixed = [shares[-1] * value for value in result]
        for share, other in zip(shares[:-1], self._results[:-1], strict=True):
            mixed = [value + share * more for value, more in zip(mixed, other, strict=True)]
        return array("d", mixed)


def _shares(moves: Sequence[Sequence[float]]) -> list[float]:
    """Of each pass, together 1: the mixture of their moves is the smallest there is."""
    *others, last = moves
    apart = [[one - now for one, now in zip(other, last, strict=True)] for other in others]
    products = [[fsum(map(mul, one, other)) for other in apart] for one in apart]
    shares = _solved(products, [-fsum(map(mul, one, last)) for one in apart])
    return [*shares, 1 - fsum(shares)]


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Of a positive definite system; what the others say already, to ten digits, gets 0."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        if rows[at][at] <= 1e-10 * matrix[at][at]:
            rows[at] = [0.0] * at + [1.0] + [0.0] * (size - at)
        for below in range(at + 1, size):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [value - factor * above for value, above in zip(rows[below], rows[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        known = fsum(map(mul, rows[at][at + 1 : size], found[at + 1 :]))
        found[at] = (rows[at][size] - known) / rows[at][at]
    return found
