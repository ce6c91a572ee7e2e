"""How often a process of the arena searches for garbage."""

from __future__ import annotations

import gc

_OBJECTS = 10_000
"""Number of objects that may be made, less those that were freed, before garbage is collected: 700 are usual. Of the
arena's own objects hardly any are garbage, as what a match leaves is freed at once; looking for them takes a twentieth
of a process's time."""


def collect_rarely() -> None:
    """Collect garbage less often than is usual, and never search what is there now, such as what was imported."""
    gc.freeze()
    gc.set_threshold(_OBJECTS)
