"""The reference is what its sources say: nobody writes it by hand, and nothing in it is without a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import reference

FOLDER = Path(__file__).parent.parent / "docs/reference"


def test_the_reference_is_what_its_sources_say() -> None:
    """Otherwise somebody changed a command, a report or a table, or wrote a page by hand."""
    kept = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert kept == reference.pages(), "run scripts/reference, which writes docs/reference anew"


@pytest.mark.parametrize("of", reference.structs(), ids=lambda of: of.__name__)
def test_every_key_has_a_sentence(of: type) -> None:
    """A name and a type do not say what a number counts."""
    said = reference.sentences(of)
    assert [name for name in reference.fields(of) if not said.get(name, "").endswith(".")] == []


def test_no_two_types_have_one_name() -> None:
    """Links lead to a type by its name."""
    names = [of.__name__ for of in reference.structs()]
    assert len(names) == len({*names})


def test_what_is_said_of_a_column_is_the_latest_word() -> None:
    """Beside it or above it, also where a later change made the table anew, or added the column to it."""
    changes = """
        CREATE TABLE bots (     -- programs
            name TEXT NOT NULL, -- as it was
            games TEXT          -- JSON
        );
        CREATE TABLE new_bots (
            -- what people
            -- call it
            name TEXT NOT NULL,
            games TEXT
        );
    # the day
    db.execute("ALTER TABLE bots ADD COLUMN born REAL")  # it was entered
    """
    assert reference.comments(changes) == {
        ("bots", ""): "programs",
        ("bots", "name"): "what people call it",
        ("bots", "games"): "JSON",
        ("bots", "born"): "the day it was entered",
    }
