"""How the strongest bot of Burning Desire reckons: exactly where it says so."""

from __future__ import annotations

import pytest

from builtin.burning_desire import turn


def test_a_turn_played_for_points_brings_the_most_there_is() -> None:
    """The known mean of the best play: a hand forgotten, or counted twice, would show."""
    assert turn.mean(float) == pytest.approx(114.118, abs=5e-4)
