"""Makes the tables of `chances`: `python -m builtin.burning_desire.tabulate` takes a minute and prints their size."""

from __future__ import annotations

import lzma
from array import array
from collections.abc import Sequence
from itertools import chain
from sys import byteorder

from .chances import FAR, FILE, LEADS, SCALE, UNIT, Chances, gambling, overtaking
from .turn import mean

PRECISION = 1e-7


def final_round() -> Chances:
    """The chances of a last turn, and with them of a tie-break: they follow from each other."""
    begins, table = 0.5, _last_turns(0.5)
    while abs(table.begins() - begins) > PRECISION:
        begins = table.begins()
        table = _last_turns(begins)
    return table


def _last_turns(begins: float) -> Chances:
    return Chances([overtaking(UNIT * lead, 1 - begins) for lead in range(LEADS)], [])


def race(final: Chances, far: int = FAR) -> list[list[float]]:
    """The chances of the seat to move, by what it needs and what the other needs, up to so many units.

    Totals only grow, so positions follow from those nearer to the end; except that a turn may bring nothing, which
    ties each to the one with the seats exchanged: those two are solved together.
    """
    chance = [[0.5] * far for _ in range(far)]
    for both in range(2 * far - 1):
        for need in range(max(0, both - far + 1), both // 2 + 1):
            other, change = both - need, 1.0
            while change > PRECISION:
                before = chance[need][other]
                chance[other][need] = best_turn(final, chance, other, need)
                chance[need][other] = best_turn(final, chance, need, other)
                change = abs(chance[need][other] - before)
    return chance


def best_turn(final: Chances, chance: Sequence[Sequence[float]], need: int, other: int) -> float:
    """The chance of the seat to move, from the chances nearer to the end; needs as indices of the table."""

    def banked(points: int) -> float:
        left = need - points // UNIT
        return 1 - (chance[other][left] if left >= 0 else final.passes(UNIT * (other - left)))

    gamble = gambling(banked)
    return mean(lambda points: gamble(points) if points > UNIT * need else banked(points))


def pack(table: Chances) -> bytes:
    """The file: numbers of 16 bits, little end first, compressed."""
    numbers = array("H", (round(SCALE * odds) for odds in chain(table.passed, *table.race)))
    if byteorder == "big":
        numbers.byteswap()
    return lzma.compress(numbers.tobytes(), preset=9)


if __name__ == "__main__":
    final = final_round()
    FILE.write_bytes(pack(final._replace(race=race(final))))
    print(FILE.stat().st_size)  # noqa: T201
