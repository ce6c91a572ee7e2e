"""What people hand in, from every system, goes in with one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import Ran, arena
from tests.roster.hand_ins import HAND_INS, make

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def submitted(cwd: Path, *words: str) -> Ran:
    """Submit all that the shell finds in the folder."""
    paths = sorted(path.relative_to(cwd) for path in (cwd / "course").iterdir())
    return arena("submit", *paths, "--game", "birth", *words, cwd=cwd)


def test_each_becomes_what_a_person_expects(cwd: Path) -> None:
    """Nobody reads forty messages: the table is right for each, and twice the same command changes nothing."""
    make(cwd / "course")
    ran = submitted(cwd, "--json")
    rows = {each["path"].removeprefix("course/"): each for each in json.loads(ran.out)["submissions"]}
    assert rows.keys() == HAND_INS.keys()
    became = {name: row["accepted"] for name, row in rows.items()}
    assert became == {name: hand_in.version for name, hand_in in HAND_INS.items()}
    for name, hand_in in HAND_INS.items():
        assert hand_in.why in (rows[name]["reason"] or ""), name
    refused = sum(each.version is None for each in HAND_INS.values())
    assert (ran.code, f"Error: {refused} of {len(HAND_INS)} are not entered" in ran.err) == (1, True)
    again = submitted(cwd)
    assert again.out.splitlines()[-1] == f"{len(HAND_INS) - refused} unchanged, {refused} refused"
    assert "@2" not in arena("bots", cwd=cwd).out
