"""When matches that cannot begin end a run, and when the others go on."""

from __future__ import annotations

import pytest

from arena.referee.match import MatchOutcome, Void, VoidReason
from arena.tournament import NothingStarts
from arena.tournament.failed_starts import MANY_STARTLESS, FailedStarts
from arena.worker.jobs import Entrant, Played
from tests.tournament.scripted_hosts import matches

ODD, ANN, BOB = (Entrant(f"{name}@1", name, (name,)) for name in ("odd", "ann", "bob"))


def fail(starts: FailedStarts, times: int, reason: VoidReason, *rivals: Entrant) -> None:
    """Note so many deliveries of a match between `ODD` and each of the rivals in turn, none of which began."""
    for number in range(times):
        (task,) = matches(1, lineup=(ODD, rivals[number % len(rivals)]))
        starts.note([task], [Played(task.id, None, Void(reason, "no space\nleft"))])


def test_one_match_that_begins_says_that_the_machine_is_well() -> None:
    """Only failures in a row count, by deliveries: a start that fails may be that of many matches."""
    starts = FailedStarts()
    fail(starts, MANY_STARTLESS - 1, VoidReason.NO_STARTS, ANN)
    tasks = matches(2, lineup=(ODD, ANN))
    void = Played("0", None, Void(VoidReason.NO_STARTS, "no"))
    starts.note(tasks, [void, Played("1", MatchOutcome((0, 0), (0, 0)))])
    fail(starts, MANY_STARTLESS - 1, VoidReason.NO_STARTS, ANN)
    starts.check()
    starts.note([], [])
    starts.check()
    fail(starts, 1, VoidReason.NO_STARTS, ANN)
    with pytest.raises(
        NothingStarts, match=rf"no space left \(nothing began {MANY_STARTLESS} times in a row\); run the"
    ):
        starts.check()


@pytest.mark.parametrize(
    ("reason", "rivals", "ends"),
    [
        (VoidReason.SANDBOX, (ANN, BOB), False),
        (VoidReason.NO_STARTS, (ANN, BOB), True),
        (VoidReason.OVERLOAD, (ANN, BOB), False),
    ],
)
def test_one_bot_in_all_matches_may_be_the_reason(reason: VoidReason, rivals: tuple[Entrant, ...], ends: bool) -> None:
    """Then the others go on; but not where even the arena's own bot does not start."""
    starts = FailedStarts()
    fail(starts, 3 * MANY_STARTLESS, reason, *rivals)
    if ends:
        with pytest.raises(NothingStarts):
            starts.check()
    else:
        starts.check()


def test_some_failures_in_a_row_are_a_bad_moment() -> None:
    """Every worker may have a delivery of it; a run that ended each time would have to be started anew all day."""
    starts = FailedStarts()
    fail(starts, 4, VoidReason.NO_STARTS, ANN)
    starts.check()


def test_where_no_sandbox_holds_any_bot_the_machine_is_the_reason() -> None:
    """No bot was in all of the matches."""
    starts = FailedStarts()
    fail(starts, MANY_STARTLESS, VoidReason.SANDBOX, ANN)
    starts.check()
    (task,) = matches(1, lineup=(ANN, BOB))
    starts.note([task], [Played(task.id, None, Void(VoidReason.SANDBOX, "no"))])
    starts.check()
    (task,) = matches(1, lineup=(BOB, BOB))
    starts.note([task], [Played(task.id, None, Void(VoidReason.SANDBOX, "no"))])
    with pytest.raises(NothingStarts):
        starts.check()
