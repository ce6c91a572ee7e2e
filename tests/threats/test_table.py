"""Every threat has a test that exists, or a reason why it has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.sandbox.attacks import ATTACKS
from tests.threats.table import THREATS

TESTS = Path(__file__).parent.parent


@pytest.mark.parametrize("threat", THREATS)
def test_a_threat_is_answered(threat: str) -> None:
    """A test that was renamed or deleted must not leave a hole."""
    assert THREATS[threat]
    for answer in THREATS[threat]:
        kind, _, rest = answer.partition(": ")
        if kind == "attack":
            assert rest in ATTACKS
        elif kind == "none":
            assert len(rest) > 20
        else:
            file, _, name = answer.partition("::")
            assert re.search(rf"def {name}\b", (TESTS / file).read_text()), answer


def test_every_attack_answers_a_threat() -> None:
    """What nobody fears need not be tried."""
    named = {answer.removeprefix("attack: ") for answers in THREATS.values() for answer in answers}
    assert set(ATTACKS) - named <= {"see_others"}
