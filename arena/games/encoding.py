"""Protobuf fields as bytes, for views whose parts are kept: a message is its fields in a row.

A view travels with every decision, and to join bytes costs a fraction of filling in a message. Numbers below 128 are
one byte each, so most of what a game shows needs nothing further.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1 << 12)
def varint(number: int) -> bytes:
    """A number of protobuf's: seven bits a byte, the low ones first."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def number(field: int, value: int) -> bytes:
    """A field that holds a number; `field` is below 16, as in `block`."""
    return bytes([field << 3]) + varint(value)


_BLOCKS = [bytes([field << 3 | 2]) for field in range(16)]


def block(field: int, content: bytes) -> bytes:
    """A field that has a length: a message, a text or numbers in a row."""
    return _BLOCKS[field] + varint(len(content)) + content
