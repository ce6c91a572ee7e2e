"""Protobuf fields as bytes, for views whose parts are kept: a message is its fields in a row.

A view travels with every decision, and to join bytes costs a fraction of filling in a message. Numbers below 128 are
one byte each, so most of what a game shows needs nothing further.
"""

from __future__ import annotations


def _encoded(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _encoded(number >> 7)


_KEPT = 1 << 9  # longer than most views
_VARINTS = tuple(map(_encoded, range(_KEPT)))


def varint(number: int) -> bytes:
    """A number of protobuf's: seven bits a byte, the low ones first."""
    return _VARINTS[number] if 0 <= number < _KEPT else _encoded(number)


def number(field: int, value: int) -> bytes:
    """A field that holds a number; `field` is below 16, as in `block`."""
    return bytes([field << 3]) + varint(value)


_BLOCKS = [bytes([field << 3 | 2]) for field in range(16)]


def block(field: int, content: bytes) -> bytes:
    """A field that has a length: a message, a text or numbers in a row."""
    return _BLOCKS[field] + varint(len(content)) + content
