"""The unrated matches that a home keeps."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from arena.replay import Unreadable, unrated_store
from arena.replay.document import Document, opened

MATCH = opened((Path(__file__).parent / "exported/birth-2.json").read_bytes())


def keep(home: Path, count: int) -> list[str]:
    return [each.match for each in unrated_store.keep(home, [MATCH] * count)]


def found(home: Path, name: str) -> Document:
    return unrated_store.find_match(home, name)


def test_matches_have_names_in_the_order_in_which_they_were_played(tmp_path: Path) -> None:
    """In a home that is made for them, and across calls; `last` is the latest."""
    home = tmp_path / "new/home"
    assert keep(home, 2) == ["unrated-1", "unrated-2"]
    assert keep(home, 1) == ["unrated-3"]
    assert found(home, "last").match == "unrated-3"
    assert found(home, "unrated-1").choices == MATCH.choices
    assert stat.S_IMODE((home / "unrated/1.json").stat().st_mode) == 0o600


def test_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is never given again, so it never shows another match."""
    monkeypatch.setattr(unrated_store, "KEPT_MATCHES", 3)
    keep(tmp_path, 2)
    assert keep(tmp_path, 5) == ["unrated-3", "unrated-4", "unrated-5"]
    assert sorted(file.name for file in (tmp_path / "unrated").iterdir()) == ["3.json", "4.json", "5.json"]
    with pytest.raises(Unreadable, match=r"unrated-1 is not kept in .*: there are unrated-3 to unrated-5"):
        found(tmp_path, "unrated-1")


def test_another_process_that_keeps_matches_takes_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds a name taken takes the next one."""
    keep(tmp_path, 1)
    listdir, before = os.listdir, [list[str]()]  # first as before the other wrote
    monkeypatch.setattr(os, "listdir", lambda folder: before.pop() if before else listdir(folder))
    assert keep(tmp_path, 1) == ["unrated-2"]
    assert before == []


def test_where_nothing_is_kept_it_is_said_how_to_begin(tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(Unreadable, match="keeps no unrated match yet: play one with `arena match`"):
        found(tmp_path, "last")
