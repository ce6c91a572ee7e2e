"""Two tools of Python, faster: for states of games, of which nothing else is made and read as often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

Value = TypeVar("Value")
Fields = TypeVar("Fields", bound=NamedTuple)


class cached_property(Generic[Value]):
    """Property that is computed once per instance and then cached.

    Unlike `functools.cached_property` it takes no lock, which would cost more time than most values it is used for.
    """

    def __init__(self, work: Callable[[Any], Value]) -> None:
        self._work = work
        self._name = work.__name__

    def __get__(self, owner: Any, _: type[Any]) -> Value:
        value = owner.__dict__[self._name] = self._work(owner)
        return value


def fast_replace(named: type[Fields]) -> type[Fields]:
    """Return the named-tuple class with a faster `_replace`, which looks up only the fields that change.

    With 14 fields it takes 0.6 to 0.8 of the usual time, depending on how many fields change. A referee calls few
    things as often.
    """
    places_of = {name: place for place, name in enumerate(named._fields)}

    def replace(self: Fields, /, **changes: Any) -> Fields:
        values = list(self)
        for name, value in changes.items():
            values[places_of[name]] = value
        return tuple.__new__(type(self), values)

    free: Any = named  # mypy treats the methods of a named tuple as final
    free._replace = replace
    return named
