"""Who pays for the fault of a bot's process: the rulings of `FaultPolicy`, tested without processes."""

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
    """The ruling on a fault of the version with the digest "d"."""
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
    """A list with one seat, whose decision was answered."""
    wire = Wire()
    at = wire.sit()
    wire.play(at, [1])
    return [at]


def test_one_match_alone_pays(held: list[BotSeat]) -> None:
    """A process with only one match forfeits it, since nothing else can have caused the fault."""
    policy = FaultPolicy()
    assert rule(policy, held=held) is Ruling.FORFEIT
    assert policy.trouble == Trouble()


def test_a_fault_among_several_matches_is_forgiven_once(held: list[BotSeat]) -> None:
    """The evidence is recorded. From then on the version plays one match at a time, and pays for every fault."""
    policy = FaultPolicy()
    assert rule(policy, TIMEOUT, held, several=True) is Ruling.REPLAY_ALL_MATCHES
    known: dict[str, Any] = {"reason": "timeout", "detail": "no answer in 1.00 s", "exit": "exited with code 3"}
    assert policy.trouble.chances == {"d": known}
    assert policy.trouble.plays_singly("d")
    assert rule(policy, TIMEOUT, held, several=True) is Ruling.FORFEIT


def test_who_was_killed_alone_is_forgiven_once(held: list[BotSeat]) -> None:
    """The kill may have come from outside. A bot that was late is not forgiven, although it is killed afterwards."""
    policy = FaultPolicy()
    assert rule(policy, TIMEOUT, held, killed=True) is Ruling.FORFEIT
    assert rule(policy, CRASH, held, killed=True) is Ruling.REPLAY_ALL_MATCHES
    assert rule(policy, CRASH, held, killed=True) is Ruling.FORFEIT


def test_a_process_for_one_match_is_given_one(held: list[BotSeat]) -> None:
    """If it exits after a match and has answered nothing in the next one, that match is played again.

    Each process of the version is then used for a single match.
    """
    fresh = [Wire().sit()]
    policy = FaultPolicy()
    assert rule(policy, held=held, played=True) is Ruling.FORFEIT
    assert rule(policy, held=fresh) is Ruling.FORFEIT
    assert rule(policy, TIMEOUT, fresh, played=True) is Ruling.FORFEIT
    assert rule(policy, held=fresh, played=True) is Ruling.REPLAY_ITS_MATCHES
    assert policy.trouble.single_use == {"d"}


def test_who_holds_nothing_loses_nothing() -> None:
    """A process without matches costs its version nothing, not even its second chance."""
    policy = FaultPolicy()
    assert rule(policy, several=True, killed=True, played=True) is Ruling.FORFEIT
    assert policy.trouble == Trouble()


def test_starts_that_fail_in_a_row_disable_a_version() -> None:
    """A successful start between them sets the count back to zero."""
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
    """The same report is sent again and again, but matches are taken back only for what is new in it."""
    policy = FaultPolicy()
    policy.was_slow("s")
    report = Trouble(
        slow=frozenset("s"), chances={"c": {}}, single_use=frozenset("o"), disabled={"x": {}}, retired=frozenset("r")
    )
    assert policy.learn(report) == Learned(["c"], True, ["c", "o"])
    assert policy.learn(report) == Learned([], False, [])
    assert policy.trouble == report
