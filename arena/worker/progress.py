"""How what takes long tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

ProgressReport: TypeAlias = Callable[[int, int], None]
"""Called with how many steps are done, and of how many."""
