"""What messages make of text that a user typed."""

from __future__ import annotations

import os
import subprocess

import pytest

from arena.base.suggest import meant, short
from tests.cli.commands import ARENA


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Müller Bot", "'Müller Bot'"),
        ("機械", "'機械'"),
        ("a\x1b[31m\n", r"'a\x1b[31m\n'"),
        ("a\u202eb\u200f", r"'a\u202eb\u200f'"),
        ("a\u2028\xa0\udcff", r"'a\u2028\xa0\udcff'"),
        ("ü" * 41, f"'{'ü' * 40}' …"),
    ],
)
def test_what_can_be_printed_is_shown_as_it_was_typed(text: str, shown: str) -> None:
    """Nobody finds M\\xfcller in a list of names; what moves a cursor or turns the direction of writing is escaped."""
    assert short(text) == shown


def test_what_an_encoding_lacks_is_escaped() -> None:
    """As ü is by one for Cyrillic letters."""
    env = {**os.environ, "PYTHONIOENCODING": "iso8859-5"}
    ran = subprocess.run([ARENA, "leaderboard", "--game", "Müller"], env=env, capture_output=True, check=False)
    assert ran.returncode == 2
    assert rb"M\xfcller" in ran.stderr


def test_names_are_found_without_their_accents() -> None:
    """What is called mueller-bot is so since no name of a bot has an umlaut."""
    assert meant("Müller", ["gambler", "mueller-bot"]) == " (did you mean mueller-bot?)"
    assert meant("Crème", ["creme"]) == " (did you mean creme?)"
    assert meant("BOB", ["bob"]) == " (did you mean bob?)"
    assert meant("xyz", ["bob"]) == ""
