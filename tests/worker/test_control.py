"""Who is to blame if bots do not start: a bot of the arena's own tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.referee.match import Forfeit, Void, VoidReason
from arena.sandbox import Grade, probe
from arena.worker import control
from arena.worker.faults import LACKING_STARTS, FaultPolicy
from arena.worker.jobs import Entrant, Trouble
from arena.worker.worker import Worker
from tests.needs import grades
from tests.worker.conftest import PATIENT, bot, task
from tests.worker.conftest import nothing_left_behind as nothing_left_behind

NO_SPACE = "OSError: [Errno 28] No space left on device"
STARTS_ONCE = f"""
import os, sys
from arena_bot import Bot, run
if os.path.exists("started"):
    sys.exit({NO_SPACE!r})
open("started", "w").close()
class First(Bot):
    def choose(self, turn):
        return turn.legal[0]
run(First)
"""


@pytest.fixture
def worker(scratch: Path) -> Iterator[Worker]:
    """A worker whose bots have only limits."""
    with closing(Worker(scratch)) as made:
        yield made


@pytest.mark.parametrize("grade", grades("ABCD"))
def test_the_control_joins_wherever_bots_do(grade: Grade, scratch: Path) -> None:
    """Or every broken bot would be excused."""
    with closing(Worker(scratch, sandbox=probe(grade))) as worker:
        before = set(scratch.iterdir())
        assert worker._runner.run(control.why_none_starts(scratch, worker)) is None
        assert set(scratch.iterdir()) == before


def test_where_the_control_does_not_start_no_bot_is_blamed(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match is void, says what was missing, and counts as no failed start of the bot."""
    monkeypatch.setattr(control, "PROGRAM", f"raise SystemExit({NO_SPACE!r})")
    (result,) = worker.play([task("none", bot("exit_at_start"), bot())])
    why = f"the process exited with code 1 before it joined; {NO_SPACE}"
    assert result.void == Void(VoidReason.NO_STARTS, why)
    assert worker.trouble == Trouble()


TAKES_ALL = """
import socket, sys, time
taken = socket.socket(socket.AF_UNIX)
taken.bind(sys.argv[1])
time.sleep(60)
"""


def test_who_keeps_the_control_from_starting_is_ended_first(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else a bot that takes all there is, and never joins, would be excused by what it did."""
    taken = f"\0arena-{tmp_path.name}-{id(worker)}"
    monkeypatch.setattr(control, "PROGRAM", f"import socket; socket.socket(1).bind({taken!r})\n{control.PROGRAM}")
    greedy = Entrant(
        "greedy", "greedy", (*bot().command[:1], "-c", TAKES_ALL.replace("sys.argv[1]", repr(taken))), "/tmp"
    )
    (result,) = worker.play([task("one", greedy, bot())._replace(limits=PATIENT._replace(start=10.0))])
    assert result.outcome is not None
    assert [each.reason for each in result.outcome.forfeits] == [Forfeit.START]


def test_who_has_started_before_is_believed_a_few_times(worker: Worker, tmp_path: Path) -> None:
    """A bot that says that the machine lacks something may be right; one that always says so pays in the end."""
    (tmp_path / "bot.py").write_text(STARTS_ONCE)
    once = Entrant("once", "once", (*bot().command[:1], "bot.py"), str(tmp_path), bot().env)
    results = [worker.play([task("same", once, bot())])[0] for _ in range(LACKING_STARTS + 2)]
    assert results[0].outcome is not None
    assert results[0].outcome.forfeits == ()
    assert {result.void for result in results[1:-1]} == {Void(VoidReason.LACK, NO_SPACE)}
    assert results[-1].outcome is not None
    assert [each.reason for each in results[-1].outcome.forfeits] == [Forfeit.START]


def test_who_never_started_is_not_believed() -> None:
    """Anybody can print a line; and one that starts again is believed again."""
    policy = FaultPolicy()
    assert policy.lacked("new", [NO_SPACE]) is None
    policy.started("new")
    assert policy.lacked("new", ["something else"]) is None
    for _ in range(2):
        assert [policy.lacked("new", [NO_SPACE]) for _ in range(LACKING_STARTS + 1)] == [NO_SPACE] * LACKING_STARTS + [
            None
        ]
        policy.started("new")
