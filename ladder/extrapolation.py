"""Finds a fixed point in few passes, even where passes alone would approach it slowly.

Anderson, "Iterative procedures for nonlinear integral equations" (1965): how far the last passes moved shows how the
remaining distance will shrink, so the best mixture of their results is closer to the fixed point than any of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import fsum, hypot
from operator import mul

_REMEMBERED = 4
"""Passes that are mixed."""
_NEAR = 1.0
"""Largest move of a pass that is mixed: one that moves anything further says nothing of the next pass."""
_WORSE = 2.0
"""A pass that moves this many times further than the one before shows that the mixture it began with was bad."""


class Extrapolation:
    """The last passes: how far each would have moved (a few numbers of about the same scale), and its result."""

    def __init__(self) -> None:
        self._moves: list[Sequence[float]] = []
        self._results: list[array[float]] = []

    def forget(self) -> None:
        """Forget all passes, because mixing them did not help."""
        self._moves.clear()
        self._results.clear()

    def mix(self, moves: Sequence[float], result: array[float]) -> array[float]:
        """Return a better start for the next pass than the result of this one, or that result itself."""
        if self._moves and hypot(*moves) > _WORSE * hypot(*self._moves[-1]):
            self.forget()
        if max(map(abs, moves), default=0.0) > _NEAR:
            return result
        self._moves = [*self._moves[1 - _REMEMBERED :], moves]
        self._results = [*self._results[1 - _REMEMBERED :], result]
        shares = _shares(self._moves)
        mixed = [shares[-1] * value for value in result]
        for share, earlier in zip(shares[:-1], self._results[:-1], strict=True):
            mixed = [value + share * more for value, more in zip(mixed, earlier, strict=True)]
        return array("d", mixed)


def _shares(moves: Sequence[Sequence[float]]) -> list[float]:
    """Return the share of each pass, with sum 1, so that the mixture of their moves is as small as possible."""
    *earlier_moves, last = moves
    apart = [[old - now for old, now in zip(earlier, last, strict=True)] for earlier in earlier_moves]
    products = [[fsum(map(mul, row, column)) for column in apart] for row in apart]
    shares = _solved(products, [-fsum(map(mul, row, last)) for row in apart])
    return [*shares, 1 - fsum(shares)]


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve a positive definite system of equations; unknowns that depend on others, to ten digits, get 0."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        if rows[at][at] <= 1e-10 * matrix[at][at]:
            rows[at] = [0.0] * at + [1.0] + [0.0] * (size - at)
        for below in range(at + 1, size):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [value - factor * above for value, above in zip(rows[below], rows[at], strict=True)]
    unknowns = [0.0] * size
    for at in reversed(range(size)):
        sum_right = fsum(map(mul, rows[at][at + 1 : size], unknowns[at + 1 :]))
        unknowns[at] = (rows[at][size] - sum_right) / rows[at][at]
    return unknowns
