"""Reading a case: a value that fits is given back, else ValueError names what, what is allowed and the value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def number(what: str, value: object, allowed: range) -> int:
    """A whole number; true and 1.0 are none."""
    if type(value) is not int or value not in allowed:
        raise ValueError(f"{what}: expected a number {allowed[0]} … {allowed[-1]}, not {value!r}")
    return value


def items(what: str, value: object, lengths: range) -> list[Any]:
    """A list of one of these lengths."""
    if not isinstance(value, list) or len(value) not in lengths:
        sizes = " … ".join(map(str, sorted({lengths[0], lengths[-1]})))
        raise ValueError(f"{what}: expected a list of {sizes} items, not {value!r}")
    return value


def faces(what: str, value: object, lengths: range) -> list[int]:
    """Dice as they lie."""
    return [number(what, face, range(1, 7)) for face in items(what, value, lengths)]


def names(what: str, value: object, allowed: Iterable[str]) -> Mapping[str, Any]:
    """An object with no names but these; it may lack some."""
    if not isinstance(value, dict):
        raise ValueError(f"{what}: expected an object, not {value!r}")
    for name in value:
        if name not in allowed:
            raise ValueError(f"{what}: unknown name {name!r}: names are {', '.join(allowed)}")
    return value


def exactly(length: int) -> range:
    """The lengths of a list that has only one."""
    return range(length, length + 1)
