"""What is left of banks in a replay is what the bots were told when they were asked."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from arena.replay import document as documents
from arena.reports.replay_report import match_replay
from tests.cli.commands import arena, typed
from tests.site import matches
from tests.tournament import programs

SLOW = """
def choose(self, turn):
    self.log(turn.bank)
    if len(turn.legal) > 1:
        time.sleep(0.08)
    return turn.legal[0]
"""


def test_what_is_left_of_a_bank_is_what_the_bot_was_told(tmp_path: Path) -> None:
    """A real bot takes longer than it may; what it was told at each question is compared with the replay."""
    programs.write(tmp_path, slow=programs.program(SLOW))
    words = ("match", "./slow.py", "random", "--game", "birth", "--limit", "20ms", "--bank", "20s", "--seed", "a")
    document = documents.opened(arena(*words, "--json", cwd=tmp_path).out.encode())
    told = {decision: float(text) for decision, text in document.logs[0] if decision is not None}
    assert min(told.values()) < 19.8, "it took something from its bank"
    shown, asked, compared = match_replay(document), 0, 0
    for before, after in zip(shown.steps, shown.steps[1:], strict=False):
        asked += len(after.choices)
        if after.choices[0].seat == 0:
            left = before.bank_ms[0]
            assert left is not None
            assert left / 1000 == pytest.approx(told[asked], abs=0.002)
            compared += 1
    assert compared == len(told) > 3
    (tmp_path / "slow.json").write_bytes(msgspec.json.encode(document))
    left = shown.steps[-1].bank_ms[0]
    assert left is not None
    assert f"{left / 1000:.2f} s left in the bank" in typed("replay", tmp_path / "slow.json", "--all").out


def test_a_seat_without_limits_has_no_bank() -> None:
    """Somebody may sit there, or the replay was exported when they were not yet in it."""
    document = msgspec.structs.replace(matches.exported("birth-2"), limits=(None, documents.Allowed(1.0, 10.0)))
    assert {tuple(step.bank_ms) for step in match_replay(document).steps} == {(None, 10_000.0)}
    assert {tuple(step.bank_ms) for step in match_replay(matches.exported("birth-2")).steps} == {(None, None)}


def test_a_time_that_was_not_the_bots_fault_leaves_its_bank_alone() -> None:
    """What was charged counts, not what the clock on the wall said."""
    document = matches.exported("birth-2")
    times = ((5000.0, *document.times_ms[0][1:]), document.times_ms[1])
    limits = (documents.Allowed(0.1, 10.0),) * 2
    slow = msgspec.structs.replace(document, times_ms=times, limits=limits)
    assert match_replay(slow).steps[-1].bank_ms[0] == 6000.0
    forgiven = msgspec.structs.replace(slow, charged_ms=({0: 1.0}, {}))
    assert match_replay(forgiven).steps[-1].bank_ms[0] == 10_000.0
    assert json.loads(msgspec.json.encode(forgiven))["charged_ms"] == [{"0": 1.0}, {}]
