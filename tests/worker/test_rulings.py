"""Who pays for a fault of a process: the rulings alone, without processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from arena.referee.match import Fault, Forfeit
from arena.referee.seat import BotSeat
from arena.worker.faults import FAILED_STARTS, FaultPolicy, Learned, Ruling
from arena.worker.jobs import Trouble
from tests.referee.fakes import Wire

CRASH, TIMEOUT = Fault(Forfeit.CRASH, "exited with code 3"), Fault(Forfeit.TIMEOUT, "no answer in 1.00 s")


def rule(
    policy: FaultPolicy,
    fault: Fault = CRASH,
    held: Sequence[BotSeat] = (),
    *,
    several: bool = False,
    killed: bool = False,
    played: bool = False,
) -> Ruling:
    """The ruling on a fault of the version "d"."""
    return policy.rule(
        "d",
        fault,
        held,
        crowded=several,
        was_killed=killed,
        has_played=played,
        evidence=lambda: {"exit": "exited with code 3"},
    )


@pytest.fixture
def held() -> list[BotSeat]:
    """A seat whose decision was answered."""
    wire = Wire()
    at = wire.sit()
    wire.play(at, [1])
    return [at]


def test_one_match_alone_pays(held: list[BotSeat]) -> None:
    """Nothing else can have caused the fault."""
    policy = FaultPolicy()
    assert rule(policy, held=held) is Ruling.FORFEIT
    assert policy.trouble == Trouble()


def test_a_fault_among_several_matches_is_forgiven_once(held: list[BotSeat]) -> None:
    """With its evidence; from then on the version plays one match at a time, and every fault costs."""
    policy = FaultPolicy()
    assert rule(policy, TIMEOUT, held, several=True) is Ruling.REPLAY_ALL_MATCHES
    known: dict[str, Any] = {"reason": "timeout", "detail": "no answer in 1.00 s", "exit": "exited with code 3"}
    assert policy.trouble.chances == {"d": known}
    assert policy.trouble.plays_singly("d")
    assert rule(policy, TIMEOUT, held, several=True) is Ruling.FORFEIT


def test_who_was_killed_alone_is_forgiven_once(held: list[BotSeat]) -> None:
    """Somebody else may have killed it. A bot that was late is not forgiven for having been killed afterwards."""
    policy = FaultPolicy()
    assert rule(policy, TIMEOUT, held, killed=True) is Ruling.FORFEIT
    assert rule(policy, CRASH, held, killed=True) is Ruling.REPLAY_ALL_MATCHES
    assert rule(policy, CRASH, held, killed=True) is Ruling.FORFEIT


def test_a_process_for_one_match_is_given_one(held: list[BotSeat]) -> None:
    """It left after a match and has answered nothing in the next: that one is played again, by a new process."""
    fresh = [Wire().sit()]
    policy = FaultPolicy()
    assert rule(policy, held=held, played=True) is Ruling.FORFEIT
    assert rule(policy, held=fresh) is Ruling.FORFEIT
    assert rule(policy, TIMEOUT, fresh, played=True) is Ruling.FORFEIT
    assert rule(policy, held=fresh, played=True) is Ruling.REPLAY_ITS_MATCHES
    assert policy.trouble.single_use == {"d"}


def test_who_holds_nothing_loses_nothing() -> None:
    """Its second chance is still there."""
    policy = FaultPolicy()
    assert rule(policy, several=True, killed=True, played=True) is Ruling.FORFEIT
    assert policy.trouble == Trouble()


def test_starts_that_fail_in_a_row_disable_a_version() -> None:
    """One that succeeds between them makes them count anew."""
    policy = FaultPolicy()
    for _ in range(FAILED_STARTS - 1):
        policy.failed_start("d", {"detail": "one"})
    policy.started("d")
    for _ in range(FAILED_STARTS - 1):
        policy.failed_start("d", {"detail": "two"})
    assert policy.trouble.disabled == {}
    policy.failed_start("d", {"detail": "three"})
    assert policy.trouble.disabled == {"d": {"detail": "three"}}


def test_only_what_is_new_is_learnt() -> None:
    """A report is sent again and again; matches are taken back once."""
    policy = FaultPolicy()
    policy.was_slow("s")
    report = Trouble(
        slow=frozenset("s"), chances={"c": {}}, single_use=frozenset("o"), disabled={"x": {}}, retired=frozenset("r")
    )
    assert policy.learn(report) == Learned(["c"], True, ["c", "o"])
    assert policy.learn(report) == Learned([], False, [])
    assert policy.trouble == report
