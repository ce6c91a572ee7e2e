"""Frames that the referee builds from bytes are equal to the messages of the protocol."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from arena import games
from arena.referee import frames
from arena.referee.match import Forfeit, MatchOutcome, SeatForfeit
from arena.v1 import referee_pb2 as pb
from tests.games.test_contract import every_game, luck


def frame(*parts: bytes) -> pb.PlayResponse:
    """The message that a bot reads from these parts of a frame."""
    return pb.PlayResponse.FromString(b"".join(parts))


@pytest.mark.parametrize("number", [1, 127, 128, 300, 16383, 16384, 2**31, 2**32 - 1])
@pytest.mark.parametrize("legal", [range(5, 300), range(1), range(0, 9, 2), (0, 200, 70000), [3, 9]])
@pytest.mark.parametrize("left", [0.0, 0.4567, 10.0, float("inf")])
def test_a_decision_says_what_was_asked(number: int, legal: Sequence[int], left: float) -> None:
    """Numbers of any size are encoded exactly as protobuf does it, and as short."""
    decision = pb.Decision(match=number, decision=number, bank_ms=int(min(left * 1000, frames.UNLIMITED_MS)))
    if isinstance(legal, range) and legal.step == 1:
        decision.legal_first, decision.legal_count = legal.start, len(legal)
    else:
        decision.legal.extend(legal)
    sent = frames.decision(frames.match_frame(number), number, legal, left, b"")
    assert frame(sent) == pb.PlayResponse(decisions=[decision])
    assert len(sent) == pb.PlayResponse(decisions=[decision]).ByteSize()


@every_game
def test_a_view_is_the_one_of_the_game(name: str) -> None:
    """The view is in the field that the game names, in decisions and in updates."""
    rules = games.game(name)
    state = rules.start(2, luck(), rules.options({}))
    shown = frames.view(rules.view_field, rules.wire_view(state, 0))
    got = frame(
        frames.decision(frames.match_frame(1), 1, (0,), 0.0, shown),
        frames.update(frames.match_frame(1), [(0, 3)], shown),
    )
    for message in (got.decisions[0], got.updates[0]):
        assert getattr(message, rules.view_field) == rules.view(state, 0)


def test_an_outcome_is_told_to_each_seat_with_its_own_number() -> None:
    """Only the number of the match differs, as each bot has its own; the rest is the same for all seats."""
    outcome = MatchOutcome((0, 1), (10**30, -1), (SeatForfeit(1, Forfeit.CRASH, "went", 3),))
    first, second = frame(frames.end(frames.match_frame(7), outcome), frames.end(frames.match_frame(800), outcome)).ends
    assert (first.match, second.match) == (7, 800)
    second.match = 7
    assert first == second
    assert (list(first.scores), first.forfeits[0].detail) == (["1" + "0" * 30, "-1"], "went")


def test_a_void_match_ends_without_an_outcome() -> None:
    """A void match has no ranks, so none are sent."""
    assert frame(frames.end(frames.match_frame(5), None)) == pb.PlayResponse(ends=[pb.MatchEnd(match=5, void=True)])
