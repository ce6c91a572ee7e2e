"""Changes from one JSON value to the next, much smaller than the values: most of a match stays as it is in a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def patch(before: Any, after: Any) -> Any:
    """Return what makes `after` of `before`; `patched` in `static/viewer.js` does so.

    An object is a JSON Merge Patch (RFC 7396): the members to set, and null for those to remove; so no value may
    become null. For a list of the same length, its members are the places that change. Anything else replaces what was
    there; but no list or text may become an object.
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        removed = {name: None for name in before if name not in after}
        changed = {name: patch(before.get(name), value) for name, value in after.items() if before.get(name) != value}
        return removed | changed
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return {place: patch(before[place], value) for place, value in enumerate(after) if before[place] != value}
    return after
