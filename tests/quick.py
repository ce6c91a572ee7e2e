"""Which of many like cases are in the quick run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def quick_first(cases: Sequence[Case], quick: int = 1) -> list[object]:
    """Return cases for `parametrize`: the first ones are in every run, the others are long."""
    return [*cases[:quick], *(pytest.param(case, marks=pytest.mark.long) for case in cases[quick:])]
