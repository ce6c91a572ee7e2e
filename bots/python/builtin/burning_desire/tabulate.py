"""Makes the tables of `chances`: `python -m builtin.burning_desire.tabulate` takes a minute and prints their size."""

from __future__ import annotations

import lzma
from array import array
from sys import byteorder

from .chances import FAR, FILE, LEADS, SCALE, UNIT, Chances, gambling, overtaking
from .turn import mean

PRECISION = 1e-7


def final_round() -> Chances:
    """The chances of a last turn, with those of a tie-break, which follow from each other."""
    begins, found = 0.5, -1.0
    while abs(found - begins) > PRECISION:
        begins = found if found >= 0 else begins
        table = Chances([overtaking(UNIT * lead, 1 - begins) for lead in range(LEADS)], [])
        found = table.begins()
    return table


def race(final: Chances) -> list[list[float]]:
    """The chances of the seat to move, by what it needs and what the other needs.

    Totals only grow, so positions follow from those nearer to the end; except that a turn may bring nothing, which
    ties each to the one with the seats exchanged: those two are solved together.
    """
    chance = [[0.5] * FAR for _ in range(FAR)]
    for both in range(2 * FAR - 1):
        for need in range(max(0, both - FAR + 1), both // 2 + 1):
            other, change = both - need, 1.0
            while change > PRECISION:
                before = chance[need][other]
                chance[other][need] = best_turn(final, chance, other, need)
                chance[need][other] = best_turn(final, chance, need, other)
                change = abs(chance[need][other] - before)
    return chance


def best_turn(final: Chances, chance: list[list[float]], need: int, other: int) -> float:
    """The chance of the seat to move, from the chances nearer to the end; needs as indices of the table."""

    def banked(points: int) -> float:
        left = need - points // UNIT
        return 1 - (chance[other][left] if left >= 0 else final.passes(UNIT * (other - left)))

    gamble = gambling(banked)
    return mean(lambda points: gamble(points) if points > UNIT * need else banked(points))


def pack(table: Chances) -> bytes:
    """The file: numbers of 16 bits, little end first, compressed."""
    numbers = array(
        "H", (round(SCALE * odds) for odds in (*table.passed, *(odds for row in table.race for odds in row)))
    )
    if byteorder == "big":
        numbers.byteswap()
    return lzma.compress(numbers.tobytes(), preset=9)


if __name__ == "__main__":
    final = final_round()
    FILE.write_bytes(pack(final._replace(race=race(final))))
    print(FILE.stat().st_size)  # noqa: T201
