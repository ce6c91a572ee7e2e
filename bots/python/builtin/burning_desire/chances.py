"""How likely the match is to be won from its end backwards: the multiplier dice, the final round, the race to it.

Exact for two players, both playing best. Points and totals are multiples of `UNIT`.
"""

from __future__ import annotations

import lzma
from array import array
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from sys import byteorder
from typing import NamedTuple

from .turn import FACTORS, Worth, mean

UNIT = 5
FAR = 200
"""Units to the goal beyond which the table of the race does not go."""
LEADS = 800
"""Units of a lead, likewise."""
SCALE = 0xFFFF
FILE = Path(__file__).with_name("chances.xz")
SURVIVES = 1 - FACTORS[0]


class Chances(NamedTuple):
    """What `tabulate` found."""

    passed: Sequence[float]
    """By lead in units: the chance that whoever has the last turn passes it, or wins the tie-break."""
    race: Sequence[Sequence[float]]
    """By what the seat to move needs to reach the goal, and what the other needs, in units less one: its chance."""

    def passes(self, lead: int) -> float:
        """The chance that one more turn makes up a lead in points; large ones are passed in inverse proportion."""
        units = lead // UNIT
        if units < 0:
            return 1.0
        return self.passed[units] if units < LEADS else self.passed[-1] * (LEADS - 1) / units

    def wins(self, need: int, other: int) -> float:
        """The chance of the seat to move when two race to the goal, from the points that each needs."""
        return self.race[_units(need)][_units(other)]

    def begins(self) -> float:
        """The chance of whoever plays first in a tie-break of two."""
        return mean(gambling(lambda points: 1 - self.passes(points)))


def gambling(banked: Worth) -> Worth:
    """The worth of points that may be banked or multiplied, as often as one likes.

    Banking must not be worth less for more points. Where it is worth as much as surviving could be, nobody gambles.
    """
    lost = banked(0)
    enough = lost + (1 - lost) * SURVIVES

    @cache
    def best(points: int) -> float:
        worth = banked(points)
        return worth if not points or worth >= enough else max(worth, gambled(points))

    def gambled(points: int) -> float:
        worth = 0.0
        for factor, odds in FACTORS.items():
            worth += odds * best(points * factor)
        return worth

    return best


def overtaking(lead: int, tie: float) -> float:
    """The chance of a last turn to make up a lead; a tie is worth `tie`."""
    return mean(gambling(lambda points: 1.0 if points > lead else tie if points == lead else 0.0))


@cache
def chances() -> Chances:
    """The tables that come with this bot."""
    numbers = array("H", lzma.decompress(FILE.read_bytes()))
    if byteorder == "big":
        numbers.byteswap()
    odds = [number / SCALE for number in numbers]
    race = odds[LEADS:]
    return Chances(odds[:LEADS], [race[start : start + FAR] for start in range(0, len(race), FAR)])


def _units(need: int) -> int:
    return min(-(-need // UNIT), FAR) - 1
