"""Encodes protobuf fields as bytes, for views whose parts are cached: a message is its fields one after another.

A view is sent with every decision, and joining bytes costs a fraction of filling in a message. Numbers below 128 take
one byte each, so most of what a game shows needs nothing more.
"""

from __future__ import annotations


def _encoded(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _encoded(number >> 7)


_KEPT = 1 << 9
"""Numbers below this one are encoded once; most views are shorter. Only the time depends on it."""
_VARINTS = tuple(map(_encoded, range(_KEPT)))
"""Small numbers, encoded."""


def varint(number: int) -> bytes:
    """Encode a number as a protobuf varint: seven bits a byte, the low ones first."""
    return _VARINTS[number] if 0 <= number < _KEPT else _encoded(number)


def number(field: int, value: int) -> bytes:
    """Encode a field that holds a number; `field` is below 16, as in `block`."""
    return bytes([field << 3]) + varint(value)


_BLOCKS = [bytes([field << 3 | 2]) for field in range(16)]
"""First byte of a field with a length prefix, by the field's number."""


def block(field: int, content: bytes) -> bytes:
    """Encode a field with a length prefix: a message, a text or packed numbers; `field` is below 16."""
    return _BLOCKS[field] + varint(len(content)) + content
