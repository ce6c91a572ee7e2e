"""What a run says of the machine that it ran on."""

from __future__ import annotations

import pytest

from arena.referee.match import MatchOutcome, Void, VoidReason
from arena.tournament.run_result import Health
from arena.worker.jobs import Played, SeatRecord

FINE = Played("m", MatchOutcome((0, 1), (1, 0)), conditions={"pressure": 30.0}, seats=(SeatRecord((0.1,)),) * 2)
RELIEVED = FINE._replace(seats=(SeatRecord((0.1,), charged={0: 0.05}), SeatRecord((0.1,))), conditions={})
TOO_BUSY = Played("m", None, Void(VoidReason.OVERLOAD, "too busy"))


def test_a_run_says_how_busy_the_machine_was_and_whom_that_concerned() -> None:
    """Where no pressure was measured, as in a void match, it counts as none."""
    health = Health().merge([FINE, RELIEVED]).merge([TOO_BUSY])
    assert health == Health(matches=3, pressure=30.0, relieved=1, overloads=1)
    assert health.line == (
        "the machine was busy 10 % of the time (something waited for a processor);"
        " bots were not charged for waiting in 1 matches; too busy to judge 1 attempts:"
        " use fewer --jobs, or a quieter machine"
    )


@pytest.mark.parametrize(("concerned", "advises"), [(5, False), (20, True)])
def test_fewer_jobs_are_advised_where_the_load_concerns_many_matches(concerned: int, advises: bool) -> None:
    """A moment's load is no reason: five matches of a thousand are normal, twenty are not."""
    health = Health().merge([FINE] * (1000 - concerned) + [RELIEVED] * concerned)
    assert ("use fewer --jobs" in health.line) is advises
