"""Text as editors of every system save it: UTF-8, or whatever a mark at its beginning says."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, and what follows them."""


def decoded(content: bytes) -> str:
    """Return a text without its byte order mark. Raises ValueError, which says in what line it is no text."""
    mark, encoding = next((each for each in _MARKS if content.startswith(each[0])), (b"", "utf-8"))
    try:
        return content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].decode(encoding, "replace").count("\n") + 1
        raise ValueError(f"line {line} is no text in {encoding}: save the file as utf-8") from None
