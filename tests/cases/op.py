"""What one kind of case is: its fields, what it may expect, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

Case: TypeAlias = Mapping[str, Any]


def same(value: Any) -> Any:
    """The value itself."""
    return value


class Op(NamedTuple):
    """One op of one game; `id`, `game`, `op` and `expect` are in every case and not listed."""

    run: Callable[[Case], Any]
    required: frozenset[str]
    optional: frozenset[str] = frozenset()
    expects: frozenset[str] = frozenset()
    """Names allowed inside `expect` where that is an object; a case names only what it checks."""
    normal: Callable[[Any], Any] = same
    """Put over the expected and the actual value before they are compared: sorts what has no order."""
