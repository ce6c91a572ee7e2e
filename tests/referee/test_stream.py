"""The stream of one bot: which frames it is sent, and what its answers cost, in virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

from arena.referee import frames
from arena.referee.choices import FRAME_BYTES, NOISE
from arena.referee.limits import NO_LIMITS, Limits
from arena.referee.match import Forfeit, MatchOutcome, SeatForfeit
from arena.referee.seat import BotSeat
from arena.referee.timekeeper import JUDGING_DELAY, PIECES
from arena.sandbox.cpu_usage import Usage
from arena.v1 import referee_pb2 as pb
from tests.referee.fakes import LIMITS, Wire


def decisions(frame: pb.PlayResponse) -> list[tuple[int, int]]:
    """The decisions that a frame asks, each as (match, decision)."""
    return [(decision.match, decision.decision) for decision in frame.decisions]


# --- Frames


def test_the_first_frame_welcomes() -> None:
    """It has the version of the protocol, and already starts a match if there is one."""
    wire = Wire()
    wire.ask(wire.sit(), 1)
    (frame,) = wire.sent()
    assert frame.welcome.protocol == 1
    assert [start.match for start in frame.starts] == [1]
    assert decisions(frame) == [(1, 1)]


def test_frames_fill_while_an_answer_is_owed() -> None:
    """Decisions that arise while an answer is owed are sent together, which is what makes ladders fast."""
    wire = Wire()
    first, second, third = wire.sit(), wire.sit(), wire.sit()
    wire.ask(first, 1)
    assert len(wire.sent()) == 1
    wire.ask(second, 1)
    wire.ask(third, 1)
    assert wire.sent() == []
    wire.say((first, 1, 0))
    (frame,) = wire.sent()
    assert decisions(frame) == [(2, 1), (3, 1)]


def test_a_frame_may_be_answered_piece_by_piece() -> None:
    """A bot may send its answers in several frames; the next decisions are sent after the last of them."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.ask(first, 1)
    wire.ask(second, 1)
    wire.sent()
    wire.say((second, 1, 2))
    wire.ask(second, 3)
    assert wire.sent() == []
    wire.say((first, 1, 1))
    assert [decisions(frame) for frame in wire.sent()] == [[(2, 3)]]
    assert wire.heard == [(2, 1, 2), (1, 1, 1)]
    assert wire.faults == []


def test_the_end_of_a_match_is_told_with_ranks_scores_and_forfeits() -> None:
    """A bot learns why it lost. Scores are text, since they may be larger than any integer of protobuf."""
    wire = Wire()
    at = wire.sit()
    forfeit = SeatForfeit(1, Forfeit.ILLEGAL, "chose 9", 3)
    wire.stream.end(at, MatchOutcome((0, 1), (10**30, -1), (forfeit,)))
    (frame,) = wire.sent()
    assert (list(frame.ends[0].ranks), list(frame.ends[0].scores)) == ([0, 1], ["1" + 30 * "0", "-1"])
    assert [(told.seat, told.reason) for told in frame.ends[0].forfeits] == [(1, pb.FORFEIT_ILLEGAL)]


def test_a_question_that_was_not_sent_yet_is_taken_back_with_its_match() -> None:
    """If a match ends before its queued decision is sent, the decision is dropped."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.ask(first, 1)
    wire.sent()
    wire.ask(second, 1)
    wire.end(second)
    wire.say((first, 1, 0))
    (frame,) = wire.sent()
    assert (decisions(frame), [end.match for end in frame.ends]) == ([], [2])


def test_a_match_that_ends_is_waited_for_no_longer() -> None:
    """The answer that it owes is no longer awaited: queued decisions are sent, and it cannot be late."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.ask(first, 1)
    wire.sent()
    wire.ask(second, 1)
    wire.end(first)
    assert [decisions(frame) for frame in wire.sent()] == [[(2, 1)]]
    wire.say((second, 1, 0))
    wire.time.pass_by(1000)
    assert wire.faults == []


def test_legal_actions_travel_as_a_range_where_they_are_one() -> None:
    """A range takes two numbers instead of up to 128."""
    wire = Wire()
    at, other = wire.sit(), wire.sit()
    wire.ask(at, 1, range(5, 9))
    wire.ask(other, 1, (2, 5))
    (frame,) = wire.sent()
    assert [(list(asked.legal), asked.legal_first, asked.legal_count) for asked in frame.decisions] == [
        ([], 5, 4),
        ([2, 5], 0, 0),
    ]


def test_a_bot_without_limits_is_told_the_largest_bank_there_is() -> None:
    """An empty field would mean that the bank is empty."""
    wire = Wire()
    wire.ask(wire.sit(NO_LIMITS), 1)
    assert wire.sent()[0].decisions[0].bank_ms == 2**32 - 1


def test_a_bot_without_limits_may_answer_piece_by_piece() -> None:
    """Infinite limits must not be subtracted from each other, which gives no number."""
    wire = Wire()
    first, second = wire.sit(NO_LIMITS), wire.sit(NO_LIMITS)
    wire.ask(first, 1)
    wire.ask(second, 1)
    wire.sent()
    wire.say((first, 1, 0))
    wire.time.pass_by(100_000)
    assert wire.faults == []


def test_updates_travel_before_the_question_that_follows_from_them() -> None:
    """Bots read a frame from beginning to end, so updates come before decisions."""
    wire = Wire(updates=True)
    at = wire.sit()
    wire.stream.update(at, frames.update(at.of, [(0, 5), (1, 6)], b""))
    wire.ask(at, 1)
    (frame,) = wire.sent()
    assert [(action.seat, action.action) for action in frame.updates[0].actions] == [(0, 5), (1, 6)]
    assert decisions(frame) == [(1, 1)]


def test_goodbye_brings_what_had_gathered_and_ends_the_hearing() -> None:
    """What is queued, such as the end of the last match, is sent with the goodbye; later frames are ignored."""
    wire = Wire()
    at = wire.sit()
    wire.sent()
    wire.end(at)
    wire.stream.goodbye("enough")
    (frame,) = wire.sent()
    assert ([end.match for end in frame.ends], frame.goodbye.reason) == ([1], "enough")
    wire.receive(b"\xff")
    assert wire.faults == []


# --- What was not asked


def test_a_choice_that_was_not_asked_is_rejected_in_words() -> None:
    """The rejection says what was wrong and how many more cost the match."""
    wire = Wire()
    at = wire.sit()
    wire.sent()
    wire.say((at, 7, 0))
    wire.say((99, 1, 0))
    reasons = [rejected.reason for frame in wire.sent() for rejected in frame.rejections]
    assert reasons == [
        "decision 7 was not asked; 2 more and the match is lost",
        "match 99 is none of yours; 1 more and the match is lost",
    ]
    assert wire.faults == []


def test_a_bot_that_is_ended_by_a_rejection_has_answered_nothing() -> None:
    """The bot does not read, and writing the rejection ends it. Its matches are then over, so no answer counts."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.ask(first, 1)
    wire.ask(second, 1)
    wire.sent()
    wire.reads_no_more = True
    wire.say((first, 1, 0), (second, 9, 0))
    assert wire.heard == []


def test_the_third_rejected_choice_is_a_fault() -> None:
    """Two rejected choices may be a mistake."""
    wire = Wire()
    at = wire.sit()
    wire.say((at, 7, 0), (at, 8, 0), (at, 9, 0), (at, 10, 0))
    assert wire.faults == [
        (Forfeit.PROTOCOL, "made 3 choices that were not asked for; the last: decision 9 was not asked")
    ]


def test_what_a_frame_answers_before_its_third_rejected_choice_counts() -> None:
    """Answers before the third rejected choice count as if they had come in an earlier frame; later ones do not."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.ask(first, 1)
    wire.ask(second, 1)
    wire.sent()
    wire.say((first, 1, 0), *[(first, number, 0) for number in (7, 8, 9)], (second, 1, 0))
    assert wire.heard == [(1, 1, 0)]
    assert wire.reasons == [Forfeit.PROTOCOL]


def test_rejections_of_matches_before_are_forgotten() -> None:
    """The count starts again with each match, so two in every match are allowed, however many a process plays."""
    wire = Wire()
    for _ in range(10):
        at = wire.sit()
        wire.say((at, 7, 0), (at, 8, 0))
        wire.end(at)
    assert wire.faults == []


def test_the_same_choice_again_is_ignored() -> None:
    """A bot may repeat a choice if it is not sure that the first arrived."""
    wire = Wire()
    at = wire.sit()
    wire.play(at, range(1, 100))
    for number in range(1, 100):
        wire.say((at, number, 0))
    assert len(wire.heard) == 99
    assert not any(frame.rejections for frame in wire.sent())


def test_a_different_choice_is_rejected_and_the_first_stands() -> None:
    """A choice cannot be taken back."""
    wire = Wire()
    at = wire.sit()
    wire.play(at, [1])
    wire.say((at, 1, 2))
    assert wire.heard == [(1, 1, 0)]
    assert [frame.rejections[0].reason for frame in wire.sent() if frame.rejections] == [
        "decision 1 was answered with 0 before; 2 more and the match is lost"
    ]


def test_a_question_cannot_be_answered_before_it_is_sent() -> None:
    """A bot can guess the number of a decision; such a choice is rejected, and the clock still runs as usual."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.ask(first, 1)
    wire.sent()
    wire.ask(second, 1)
    wire.say((second, 1, 0))
    assert wire.heard == []
    wire.say((first, 1, 0))
    assert [decisions(frame) for frame in wire.sent() if frame.decisions] == [[(2, 1)]]
    wire.time.pass_by(1000)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_a_late_answer_to_a_match_that_ended_is_dropped_and_not_counted() -> None:
    """The answer was on its way when the match ended; even a thousand of these are no flood."""
    wire = Wire()
    keeps_it_busy = wire.sit()
    for _ in range(1000):
        at = wire.sit()
        wire.ask(at, 1)
        wire.stream.flush()
        wire.end(at)
        wire.say((at, 1, 0))
    assert (wire.heard, wire.faults) == ([], [])
    assert not any(frame.rejections for frame in wire.sent())
    assert not keeps_it_busy.closed


def test_messages_that_answer_nothing_are_a_flood_at_some_point() -> None:
    """Such messages cost time that others need."""
    wire = Wire()
    wire.sit()
    for _ in range(NOISE):
        wire.say()
    assert wire.faults == []
    wire.say()
    assert wire.reasons == [Forfeit.FLOOD]


def test_talk_about_a_match_that_ended_is_a_flood_at_some_point() -> None:
    """Such choices are dropped, but they are counted."""
    wire = Wire()
    wire.end(wire.sit())
    wire.say(*[(1, number, 0) for number in range(NOISE + 1)])
    assert wire.reasons == [Forfeit.FLOOD]


def test_repetitions_are_a_flood_when_they_outnumber_the_answers_by_far() -> None:
    """Answering everything twice is harmless; answering five thousand times is an attack."""
    wire = Wire()
    at = wire.sit()
    wire.play(at, [1])
    wire.say(*[(at, 1, 0)] * (NOISE + 1))
    assert wire.faults == []
    wire.say(*[(at, 1, 0)] * 5000)
    assert wire.reasons == [Forfeit.FLOOD]


def test_bytes_that_are_no_message_are_a_fault() -> None:
    """The detail is one printable line, without the bytes themselves."""
    wire = Wire()
    wire.sit()
    wire.receive(b"\xff\xff\xff")
    ((reason, detail),) = wire.faults
    assert reason is Forfeit.PROTOCOL
    assert detail.startswith("sent a frame that is no PlayRequest")
    assert detail.isprintable()


def test_a_frame_that_is_too_long_is_not_even_read() -> None:
    """Reading it would cost time that others need. The longest frame of an honest bot is far shorter."""
    wire = Wire()
    at = wire.sit()
    wire.ask(at, 1)
    wire.sent()
    answer = pb.PlayRequest(choices=[pb.Choice(match=1, decision=1)], hello=pb.Hello(sdk="x" * FRAME_BYTES))
    wire.receive(answer.SerializeToString())
    assert (wire.heard, wire.reasons) == ([], [Forfeit.PROTOCOL])


def test_no_bytes_at_all_raise() -> None:
    """Any frame is an answer, is dropped, or is a fault of the bot; none raises an exception."""
    chance = random.Random(63)
    for _ in range(300):
        wire = Wire()
        seats = [wire.sit() for _ in range(3)]
        for number in range(1, 4):
            for at in seats:
                wire.ask(at, number)
            wire.stream.flush()
            for _ in range(20):
                wire.receive(any_frame(chance))
        assert len(wire.faults) <= 1
        assert {(match, number) for match, number, _ in wire.heard} <= {
            (m, n) for m in range(1, 4) for n in range(1, 4)
        }


def any_frame(chance: random.Random) -> bytes:
    """Random bytes, a message whose choices may match a decision, or such a message with one byte changed."""
    numbers = [0, 1, 2, 3, 4, 2**31, 2**32 - 1]
    frame = pb.PlayRequest()
    for _ in range(chance.randrange(4)):
        frame.choices.add(match=chance.choice(numbers), decision=chance.choice(numbers), action=chance.choice(numbers))
    raw = bytearray(frame.SerializeToString())
    if raw and chance.random() < 0.3:
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    return chance.randbytes(chance.randrange(40)) if chance.random() < 0.1 else bytes(raw)


# --- Time


def test_time_over_the_limit_is_drawn_from_the_bank_of_a_match_alone() -> None:
    """What is left of the bank is sent with the next decision."""
    wire = Wire()
    at = wire.sit()
    wire.play(at, [1, 2])
    wire.play(at, [3], seconds=2.5)
    wire.ask(at, 4)
    assert at.bank.left == 1.5
    assert wire.sent()[-1].decisions[0].bank_ms == 1500


def test_an_answer_is_awaited_for_its_limit_and_all_of_its_bank() -> None:
    """The referee waits for exactly that time and a moment, `JUDGING_DELAY`."""
    wire = Wire()
    wire.sit_thinking()
    wire.time.pass_by(4.0)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.faults == [(Forfeit.TIMEOUT, "no answer in 4.00 s: a limit of 1.00 s and 3.00 s left of the bank")]


def test_a_verdict_waits_for_some_hundredths_of_a_second_and_no_longer() -> None:
    """So long a busy referee may leave an answer unread that came in time; and whoever is blamed has had that time."""
    wire = Wire()
    wire.sit_thinking()
    wire.time.pass_by(4.03)
    assert wire.faults == []
    wire.time.pass_by(0.07)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_an_answer_a_moment_late_is_late() -> None:
    """A late answer overdraws the bank, so the seat loses even if the answer comes before the timer."""
    wire = Wire()
    at = wire.sit_thinking()
    wire.time.pass_by(4.01)
    wire.say((at, 2, 0))
    assert at.bank.left < 0
    wire.time.pass_by(1000)
    assert wire.faults == []


def test_the_first_decision_has_ten_limits() -> None:
    """The bank can be used in addition."""
    wire = Wire()
    wire.ask(wire.sit(), 1)
    wire.stream.flush()
    wire.time.pass_by(13.0)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_nothing_is_charged_for_the_time_of_others() -> None:
    """No time is charged while the bot owes no decision."""
    wire = Wire()
    at = wire.sit()
    for number in (1, 2, 3):
        wire.play(at, [number], seconds=0.5)
        wire.time.pass_by(100)
    assert (at.times, at.bank.left) == ([0.5, 0.5, 0.5], 3.0)


def test_time_is_shared_over_what_is_answered_together() -> None:
    """Answers in one frame share its time equally, since only the bot knows how long it thought about each."""
    wire = Wire()
    seats = [wire.sit() for _ in range(3)]
    for at in seats:
        wire.ask(at, 1)
    wire.stream.flush()
    wire.time.pass_by(0.75)
    wire.say((seats[0], 1, 0), (seats[1], 1, 0))
    wire.time.pass_by(0.25)
    wire.say((seats[2], 1, 0))
    assert [at.times for at in seats] == [[0.375], [0.375], [0.25]]


def test_a_slow_answer_among_several_matches_is_reported_and_not_charged() -> None:
    """The decision may have waited inside the bot. Playing one match at a time will show whether the bot is slow."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    for at in (first, second):
        wire.play(at, [1])
    for at in (first, second):
        wire.ask(at, 2)
    wire.stream.flush()
    wire.time.pass_by(1.1)
    wire.say((first, 2, 0))
    assert (wire.slow, wire.faults) == (1, [])
    assert (first.bank.left, second.bank.left) == (3.0, 3.0)


def in_a_frame(wire: Wire, count: int, limits: Limits = LIMITS) -> list[BotSeat]:
    """The seats of `count` matches, whose second decisions have just been sent in one frame."""
    seats = [wire.sit(limits) for _ in range(count)]
    for number in (1, 2):
        for at in seats:
            wire.ask(at, number)
        wire.stream.flush()
        wire.say(*[(at, 1, 0) for at in seats if number == 1])
    (asked,) = [decisions(frame) for frame in wire.sent() if (seats[0].number, 2) in decisions(frame)]
    assert len(asked) == count
    return seats


def a_second_and_a_first(wire: Wire) -> tuple[BotSeat, BotSeat]:
    """The seats of two matches: one frame has just asked the second decision of one and the first of the other."""
    old, new = wire.sit(), wire.sit()
    wire.play(old, [1])
    wire.ask(old, 2)
    wire.ask(new, 1)
    wire.stream.flush()
    return old, new


FOUND = LIMITS.decision + LIMITS.bank + LIMITS.decision / PIECES
"""Seconds of silence after which a bot with several matches is overdue."""


@pytest.mark.parametrize("count", [2, 8, 768])
def test_who_has_stopped_is_found_as_soon_however_much_it_owes(count: int) -> None:
    """A bot that hangs is found after the time of one decision, not of all that it owes."""
    wire = Wire(matches=768)
    in_a_frame(wire, count)
    wire.time.pass_by(FOUND)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    ((reason, detail),) = wire.faults
    assert reason is Forfeit.TIMEOUT
    allowed = "a limit of 1.00 s and 3.00 s left of the bank, and 0.25 s more while there are several matches"
    assert detail == f"no answer in 4.25 s: {allowed}"


def test_every_answer_is_a_sign_of_life() -> None:
    """A bot that sends its answers one by one may take the limit for each decision of a frame."""
    wire = Wire()
    for at in in_a_frame(wire, 8):
        wire.time.pass_by(LIMITS.decision)
        wire.say((at, 2, 0))
    assert (wire.slow, wire.faults) == (0, [])


def test_who_stops_within_a_frame_is_found_after_its_last_answer() -> None:
    """The answers that it sent before give it no additional time."""
    wire = Wire()
    seats = in_a_frame(wire, 8)
    wire.time.pass_by(0.9)
    wire.say(*[(at, 2, 0) for at in seats[:5]])
    wire.time.pass_by(FOUND)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_messages_without_an_answer_are_no_sign_of_life() -> None:
    """Otherwise a bot that hangs could gain time by sending messages."""
    wire = Wire()
    first, *_ = in_a_frame(wire, 2)
    for _ in range(3):
        wire.time.pass_by(FOUND / 3)
        wire.say((first, 1, 0))
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_where_first_decisions_are_owed_silence_may_last_for_ten_limits() -> None:
    """The bot may be building tables for any of its first decisions."""
    wire = Wire()
    a_second_and_a_first(wire)
    wire.time.pass_by(FOUND + 9 * LIMITS.decision)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


@pytest.mark.parametrize("patient", [0, 1])
def test_the_decision_that_may_take_longest_says_how_long_silence_may_last(patient: int) -> None:
    """The bot may be thinking about any decision that it owes, so the longest allowance counts."""
    limits = [Limits(decision=1.0, bank=3.0), Limits(decision=1.0, bank=3.0)]
    limits[patient] = Limits(decision=2.0, bank=5.0)
    wire = Wire()
    seats = [wire.sit(each) for each in limits]
    for number in (1, 2):
        for at in seats:
            wire.ask(at, number)
        wire.stream.flush()
        if number == 1:
            wire.say(*[(at, 1, 0) for at in seats])
    wire.time.pass_by(2.0 + 5.0 + 0.5)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_a_shorter_limit_may_come_while_nothing_is_owed() -> None:
    """Without an owed decision nothing is late; the decision asked afterwards has its own, shorter limit."""
    wire = Wire()
    wire.play(wire.sit(), [1])
    at = wire.sit(Limits(decision=0.1, bank=0.2))
    wire.time.pass_by(100)
    wire.ask(at, 1)
    wire.stream.flush()
    wire.time.pass_by(1.0 + 0.2 + 0.1 / PIECES)
    assert wire.faults == []
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_silence_in_which_the_machine_was_busy_is_not_charged() -> None:
    """This holds for several matches as for one."""
    wire = Wire()
    wire.used = Usage(0.0, {1: 0.0})
    in_a_frame(wire, 8)
    wire.time.pass_by(0.2)  # by now its processes have been sampled
    wire.used = Usage(0.5, {1: FOUND})
    wire.time.pass_by(1.9 * FOUND)
    assert wire.faults == []
    wire.time.pass_by(0.2 * FOUND)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_a_decision_that_empties_its_bank_is_in_time_whatever_else_is_owed() -> None:
    """Alone it would be in time. So a bot that sends its answers four times in a limit only counts as slow."""
    wire = Wire()
    seats = in_a_frame(wire, 8)
    wire.time.pass_by(LIMITS.decision / PIECES + LIMITS.decision + LIMITS.bank)
    wire.say(*[(at, 2, 0) for at in seats[:3]])
    assert (wire.slow, wire.faults) == (1, [])


def test_part_of_an_answer_moves_the_deadline_even_a_moment_late() -> None:
    """With several matches in play, a slow answer is no fault, even if it comes just after the deadline."""
    wire = Wire()
    first, _ = in_a_frame(wire, 2)
    wire.time.pass_by(FOUND + 0.01)
    wire.say((first, 2, 0))
    wire.time.pass_by(FOUND)
    assert (wire.slow, wire.faults) == (1, [])
    wire.time.pass_by(JUDGING_DELAY)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_a_long_first_decision_makes_the_others_of_its_frame_no_slower() -> None:
    """The time is compared with the mean limit of the frame, since the first decision may take ten limits."""
    wire = Wire()
    old, new = a_second_and_a_first(wire)
    wire.time.pass_by(8.0)
    wire.say((old, 2, 0), (new, 1, 0))
    assert (wire.slow, wire.faults) == (0, [])


def test_nothing_can_be_blamed_on_the_last_of_several_matches() -> None:
    """The other matches may have caused its slowness. A match is charged again once the bot held none in between."""
    wire = Wire()
    first, second = wire.sit(), wire.sit()
    wire.end(first)
    assert wire.stream.crowded
    wire.play(second, [1, 2], seconds=0.9)
    assert second.bank.left == 3.0
    wire.end(second)
    wire.sit()
    assert not wire.stream.crowded


def test_answers_that_lie_unread_after_a_long_sleep_are_heard() -> None:
    """After the machine was suspended, timers go off before the answers are read; the answers still count."""
    wire = Wire()
    at = wire.sit_thinking()
    wire.time.sleep_through(3600)
    assert wire.faults == []
    wire.say((at, 2, 0))
    assert wire.heard == [(1, 1, 0), (1, 2, 0)]


def test_a_bot_without_limits_is_never_late() -> None:
    """Its author may have stopped it in a debugger."""
    wire = Wire()
    at = wire.sit(NO_LIMITS)
    wire.ask(at, 1)
    wire.stream.flush()
    wire.time.pass_by(10 * 3600)
    wire.say((at, 1, 0))
    assert (wire.heard, wire.faults) == ([(1, 1, 0)], [])


# --- What the machine did


def late(wire: Wire, seconds: float, cpu: float, *, answer: bool = True) -> BotSeat:
    """A seat whose second decision takes `seconds`: for `cpu` of them the bot computed, for the rest it waited."""
    at = wire.sit()
    wire.used = Usage(0.0, {1: 0.0})
    wire.play(at, [1])
    wire.ask(at, 2)
    wire.stream.flush()
    wire.time.pass_by(0.2)  # by now its processes have been sampled
    wire.used = Usage(cpu, {1: max(0.0, seconds - 0.2 - cpu)})
    wire.time.pass_by(seconds - 0.2)
    if answer:
        wire.say((at, 2, 0))
    return at


def test_who_had_to_wait_for_a_processor_is_not_late() -> None:
    """A decision of three limits by the clock costs nothing if the bot could compute for less than one limit."""
    wire = Wire()
    at = late(wire, 3.0, 0.5)
    assert (wire.heard[-1], at.bank.left, wire.faults) == ((1, 2, 0), 3.0, [])
    assert at.times[1] == pytest.approx(3.0)
    assert 0.5 <= at.charged[1] <= 0.71


def test_work_on_several_processors_costs_more_than_the_time_by_the_wall() -> None:
    """Three processors busy for 0.9 s are charged as 2.1 s, more than the limit of one second."""
    wire = Wire()
    at = late(wire, 0.9, 2.1)
    assert at.times[1] == pytest.approx(0.9)
    assert 2.1 <= at.charged[1] <= 2.31
    assert at.bank.left == pytest.approx(3.0 + 1.0 - at.charged[1])


def test_who_starts_processes_meanwhile_waited_for_nothing() -> None:
    """The processor time of child processes that are gone cannot be seen, so waiting is not subtracted."""
    wire = Wire()
    at = wire.sit()
    wire.used = Usage(0.0, {1: 0.0}, uncounted=frozenset({1}))
    wire.play(at, [1])
    wire.ask(at, 2)
    wire.stream.flush()
    for processes in ({1}, {1, 2}, {1}):
        wire.used = Usage(0.0, {1: wire.time.now / 2}, uncounted=frozenset(processes))
        wire.time.pass_by(0.5)
    wire.say((at, 2, 0))
    assert at.times[1] == pytest.approx(1.5)
    assert at.charged == {}


def test_who_was_overdue_by_the_wall_only_has_what_is_left() -> None:
    """Time in which it waited is not charged; it forfeits when its limit and its bank are really used up."""
    wire = Wire()
    late(wire, 6.0, 3.5, answer=False)
    assert wire.faults == []
    wire.time.pass_by(2.0)
    assert wire.reasons == [Forfeit.TIMEOUT]


def test_where_the_machine_is_too_busy_nobody_loses() -> None:
    """After four times the allowance nobody can tell whether the bot is slow, so the match is void."""
    wire = Wire()
    late(wire, 17.0, 1.0, answer=False)
    assert (wire.faults, len(wire.overloads)) == ([], 1)


def test_a_referee_that_slept_judges_nobody() -> None:
    """If the referee's process or the whole machine was stopped, the match is void, answered or not."""
    for answer in (True, False):
        wire = Wire()
        at = wire.sit_thinking()
        wire.time.asleep = wire.time.now + 5.0
        wire.time.sleep_through(5.0)
        if answer:
            wire.say((at, 2, 0))
        wire.time.pass_by(1.0)
        assert (wire.heard, wire.faults, len(wire.overloads)) == ([(1, 1, 0)], [], 1)


def test_who_answers_at_once_is_never_looked_at() -> None:
    """The processes of a bot that needs a small part of its limit are not sampled: a sample costs as much as that."""

    class Watched(Wire):
        looks = 0

        def usage(self) -> Usage | None:
            self.looks += 1
            return super().usage()

    wire = Watched()
    wire.used = Usage(0.0, {1: 0.0})
    at = wire.sit()
    wire.play(at, range(1, 100), seconds=0.04)
    assert wire.looks == 0
    wire.play(at, [100], seconds=0.2)
    assert wire.looks > 0
    wire.play(at, [101], seconds=0.04)
    looks = wire.looks
    wire.play(at, range(102, 200), seconds=0.04)
    assert wire.looks == looks, "one slow answer is no reason to look at every one that follows"


# --- How many at once


def test_capacity_doubles_while_answers_are_far_inside_the_limit() -> None:
    """The capacity doubles up to the number of matches that the bot offered in its Hello."""
    wire = Wire(matches=6, new=True)
    at = wire.sit()
    seen = []
    for number in range(4):
        seen.append(wire.stream.window.size)
        wire.play(at, [number], seconds=0.001)
    assert seen == [1, 2, 4, 6]


def test_capacity_stays_small_for_a_bot_that_thinks() -> None:
    """Fuller frames would save nothing, and matches that have not begun can be played by another worker."""
    wire = Wire(new=True)
    wire.play(wire.sit(), range(1, 20), seconds=0.01)
    assert wire.stream.window.size == 4


def test_capacity_shrinks_when_a_full_frame_would_take_half_the_limit() -> None:
    """The capacity stays the same if a full frame would take more than an eighth of the limit."""
    wire = Wire(new=True)
    at = wire.sit()
    wire.play(at, [1, 2], seconds=0.01)
    assert wire.stream.window.size == 4
    wire.play(at, [3], seconds=0.1)
    assert wire.stream.window.size == 4
    wire.play(at, [4, 5, 6], seconds=0.3)
    assert wire.stream.window.size == 1


@pytest.mark.parametrize("seconds", [0.001, 0.03, 0.1, 0.6])
@pytest.mark.parametrize(("offered", "most"), [(0, 1), (1, 1), (3, 3)])
def test_a_bot_gets_no_more_matches_at_a_time_than_it_offered(offered: int, most: int, seconds: float) -> None:
    """However long it thinks. A simple bot leaves the field unset, and that is an offer of one."""
    wire = Wire(matches=offered, new=True)
    at = wire.sit(Limits())
    for number in range(1, 20):
        wire.play(at, [number], seconds=seconds)
        assert wire.stream.window.size <= most


@pytest.mark.parametrize("seconds", [0.001, 0.03, 0.1])
def test_a_bot_that_plays_one_match_at_a_time_from_now_on_is_never_given_more(seconds: float) -> None:
    """Else the fault of one match would cost another, after the second chance that its version has once."""
    wire = Wire(new=True)
    at = wire.sit(Limits())
    wire.play(at, range(1, 4), seconds=seconds)
    wire.stream.window.keep_to(1)
    for number in range(4, 20):
        wire.play(at, [number], seconds=seconds)
        assert wire.stream.window.size == 1


@pytest.mark.parametrize(("took", "capacity"), [(0.01, 16), (0.24, 8), (0.6, 4)])
def test_a_frame_answered_in_pieces_shows_what_it_took_as_a_whole(took: float, capacity: int) -> None:
    """The time of the whole frame counts, since a bot may decide everything before it sends its first answer."""
    wire = Wire()
    seats = in_a_frame(wire, 8)
    wire.stream.window.size = 8
    wire.time.pass_by(took)
    for at in seats:
        wire.say((at, 2, 0))
    assert wire.stream.window.size == capacity


def test_a_frame_has_no_more_than_the_bot_is_given_at_once() -> None:
    """If the bot has more matches than the window allows, the other decisions follow in later frames, in order."""
    wire = Wire()
    seats = in_a_frame(wire, 8)
    wire.say(*[(at, 2, 0) for at in seats])
    wire.stream.window.keep_to(3)
    for at in seats:
        wire.ask(at, 3)
    asked = []
    for part in (seats[:3], seats[3:6], seats[6:]):
        asked += [decisions(frame) for frame in wire.sent()]
        wire.say(*[(at, 3, 0) for at in part])
    assert asked == [[(at.number, 3) for at in part] for part in (seats[:3], seats[3:6], seats[6:])]


def test_first_decisions_come_few_at_a_time_at_first() -> None:
    """A bot that was quick in its first match may still take seconds for the first decision of others."""
    wire = Wire(new=True)
    wire.play(wire.sit(), range(1, 10))
    for at in [wire.sit() for _ in range(60)]:
        wire.ask(at, 1)
    asked = []
    while (frames := wire.sent()) and (due := [each for frame in frames for each in decisions(frame)]):
        starts = [start.match for frame in frames for start in frame.starts if start.match > 1]
        assert starts == [match for match, _ in due if match > 1]
        asked.append(len(starts))
        wire.time.pass_by(2.0 * len(starts))
        wire.say(*[(match, number, 0) for match, number in due])
    assert (max(asked), sum(asked)) == (2, 60)


def test_one_first_decision_at_a_time_does_not_show_that_many_are_as_quick() -> None:
    """Ten first decisions of 1.2 s, asked one by one, do not show that many in one frame are in time."""
    wire = Wire(new=True)
    held = wire.sit()
    wire.play(held, [1])
    for _ in range(10):
        wire.play(wire.sit(), [1], seconds=1.2)
    wire.play(held, range(2, 12))
    for at in [wire.sit() for _ in range(40)]:
        wire.ask(at, 1)
    wire.sent()
    assert wire.stream.window.size > 40
    assert len(wire.stream.questions.owed) == 2


def test_a_frame_that_has_all_it_may_have_is_full() -> None:
    """A frame with as many decisions as the window allows does not wait for more."""
    wire = Wire()
    seats = [wire.sit() for _ in range(9)]
    wire.stream.window.size = 2
    wire.ask(seats[0], 1)
    assert not wire.stream.full
    wire.ask(seats[1], 1)
    assert wire.stream.full


def test_a_match_among_several_starts_with_its_first_question() -> None:
    """Preparing for a match takes the bot time, so matches start one by one. Updates and ends come after the start."""
    wire = Wire(updates=True)
    wire.ask(wire.sit(), 1)
    asked, ended = wire.sit(), wire.sit()
    wire.stream.update(asked, frames.update(asked.of, [(0, 5)], b""))
    (frame,) = wire.sent()
    assert [start.match for start in frame.starts] == [1]
    wire.ask(asked, 3)
    wire.end(ended)
    wire.say((1, 1, 0))
    (frame,) = wire.sent()
    assert sorted(start.match for start in frame.starts) == [2, 3]
    assert ([update.match for update in frame.updates], [end.match for end in frame.ends]) == ([2], [3])


class Sitting(NamedTuple):
    """Result of a bot that answers a frame only when it has decided everything in it."""

    wire: Wire
    longest: float
    """Seconds that its longest frame took."""
    most: int
    """Decisions in its largest frame."""


def answers_at_the_end(cost: Callable[[int], float], limits: Limits = LIMITS, matches: int = 60) -> Sitting:
    """Let a new bot play matches of 40 decisions, as many at once as it is given.

    `cost` gives the seconds that a decision takes, by its number.
    """
    wire = Wire(matches=768, new=True)
    stream, longest, most = wire.stream, 0.0, 0
    while matches or stream.held:
        while matches and len(stream.held) < stream.window.size:
            matches -= 1
            wire.ask(wire.sit(limits), 1)
        asked = [each for frame in wire.sent() for each in decisions(frame)]
        took = sum(cost(number) for _, number in asked)
        longest, most = max(longest, took), max(most, len(asked))
        wire.time.pass_by(took)
        wire.say(*[(match, number, 0) for match, number in asked])
        if wire.faults:
            break
        for match, number in asked:
            at = stream.held[match]
            if number == 40:
                wire.end(at)
            else:
                wire.ask(at, number + 1)
    return Sitting(wire, longest, most)


PATIENT = [Limits(decision=1.0, bank=10.0), Limits(decision=1.0, bank=0.0)]


@pytest.mark.parametrize("limits", PATIENT, ids=["a bank", "no bank"])
@pytest.mark.parametrize(("seconds", "most"), [(0.2, 1), (0.03, 4), (0.002, 16)])
def test_frames_are_as_large_as_a_bot_has_shown_to_answer_in_time(seconds: float, most: int, limits: Limits) -> None:
    """The longer a bot thinks, the smaller its frames: it answers each in a fraction of its limit of one second."""
    played = answers_at_the_end(lambda _: seconds, limits)
    assert (played.wire.faults, played.wire.slow, played.most) == ([], 0, most)
    assert played.longest <= limits.decision / 2


@pytest.mark.parametrize("limits", PATIENT, ids=["a bank", "no bank"])
def test_a_bot_may_become_five_times_slower_in_mid_match(limits: Limits) -> None:
    """The frame in which it becomes slower is still answered in time, and later frames are smaller."""
    played = answers_at_the_end(lambda number: 0.03 if number < 20 else 0.15, limits)
    assert (played.wire.faults, played.wire.slow) == ([], 0)
    assert played.longest <= limits.decision * (1 + 1 / PIECES)


def test_a_bot_may_become_slower_from_decision_to_decision() -> None:
    """A bot that slows down from 1 ms to more than half a second is never asked more than it can answer in time."""
    played = answers_at_the_end(lambda number: 0.001 * 1.18**number)
    assert (played.wire.faults, played.wire.slow) == ([], 0)
    assert played.longest <= LIMITS.decision


@pytest.mark.parametrize("first", [0.03, 0.3, 2.0, 9.0])
def test_a_bot_may_take_its_time_for_first_decisions(first: float) -> None:
    """A frame has only as many first decisions as the bot can answer in time, however fast its others are."""
    played = answers_at_the_end(lambda number: first if number == 1 else 0.001)
    assert (played.wire.faults, played.wire.slow) == ([], 0)
    assert played.longest <= LIMITS.first
