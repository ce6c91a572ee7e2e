"""What is said of names that people write: which they may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def short(text: str) -> str:
    """Somebody's text, quoted and escaped, in a message; long ones are cut."""
    return ascii(text if len(text) <= 40 else text[:40] + "…")


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """What is said of a name that nothing has: what it may have meant, and what there is."""
    names = list(known)
    return f"unknown {what} {short(given)}{meant(given, names)}: {what}s are {', '.join(names)}"


def meant(given: str, known: Iterable[str]) -> str:
    """A remark that names what is written nearly so; empty if nothing is."""
    from difflib import get_close_matches  # here, because few names are wrong

    close = get_close_matches(given.lower(), known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""
