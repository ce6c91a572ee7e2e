"""The core plays frames as Python would, and leaves all that is unusual alone."""

from __future__ import annotations

import gc
import random
from collections.abc import Sequence
from typing import Any

import pytest

from arena.core.build import core
from arena.v1.referee_pb2 import Choice, Hello, PlayRequest
from tests.core.loopback import SECONDS, Loopback
from tests.core.side_by_side import VIEWS, Table, table

pytestmark = pytest.mark.needs("core")


def tables(count: int, first: int = 0) -> list[Table]:
    """Random tables of all games in turn."""
    return [table(name, number) for number in range(first, first + count) for name in VIEWS]


def raw(*choices: Choice) -> bytes:
    return PlayRequest(choices=choices).SerializeToString()


@pytest.mark.parametrize("seed", range(3))
def test_every_question_and_every_result_is_that_of_python(seed: int) -> None:
    """Whatever pieces frames come in, all seats are asked the same, byte for byte, and matches end alike."""
    bots = Loopback(tables(20, 20 * seed), random.Random(seed))
    bots.go_on()
    assert set(bots.ended) == set(bots.matches)
    for each in bots.matches:
        outcome = each.match.outcome
        assert outcome is not None
        assert (each.lent.ranks, each.lent.scores) == (outcome.ranks, outcome.scores)
        choices, seats = each.lent.take_back()
        assert list(choices) == each.match.choices
        assert sum(len(times) for times, *_ in seats) == len(choices)
        assert {seconds for times, *_ in seats for seconds in times} == {SECONDS}


def test_a_frame_has_no_more_than_its_size_and_its_first_questions() -> None:
    """The starts of matches are sent with their first questions, once."""
    bots = Loopback(tables(10), random.Random(1), opening=b"\x12\x00")
    stream = bots.streams[0]
    assert stream.queued == stream.firsts > 20
    count, firsts, starts, _ = stream.cut(7, 3)
    assert (count, firsts, starts) == (3, 3, b"\x12\x00" * 3)
    assert (stream.owed, sorted(stream.owing())) == (3, [(1, True), (2, True), (3, True)])
    count, firsts, starts, _ = stream.cut(7, 30)
    assert (count, firsts, starts) == (7, 7, b"\x12\x00" * 7)


@pytest.mark.parametrize("frames", [0, 40])
def test_what_is_unusual_changes_nothing(frames: int) -> None:
    """A frame with one choice that cannot be played is not played at all, and names whom it concerns."""
    bots = Loopback(tables(10), random.Random(frames))
    bots.go_on(frames)
    stream = bots.streams[0]
    first, second, *_ = map(bots.chosen, bots.ask(0, 5))
    other = next(number for number in range(1, 31) if number not in dict(stream.owing()))
    owed = stream.owed
    bad: dict[str, bytes] = {
        "illegal": raw(first, Choice(match=second.match, decision=second.decision, action=255)),
        "far from legal": raw(first, Choice(match=second.match, decision=second.decision, action=2**32 - 1)),
        "of another decision": raw(first, Choice(match=second.match, decision=second.decision + 1)),
        "not owed": raw(first, Choice(match=other, decision=1)),
        "twice": raw(first, first),
        "of no match": raw(first, Choice(match=1000, decision=1)),
        "of a match in the same bucket": raw(first, Choice(match=second.match + 1024, decision=second.decision)),
        "a hello": PlayRequest(hello=Hello(protocol=1), choices=[first]).SerializeToString(),
        "an unknown field": raw(first) + b"\x38\x01",
        "an unknown field of a choice": b"\x12\x02\x28\x01" + raw(first),
        "beyond 32 bits": raw(first) + b"\x12\x08\x08\x81\x80\x80\x80\x80\x80\x01",
        "a number given twice": b"\x12\x04\x08\x01\x08\x01" + raw(first),
        "cut off": raw(first, second)[:-1],
        "nothing": b"",
        "an empty choice": b"\x12\x00",
        "a group": raw(first) + b"\x13\x14",
    }
    for what, frame in bad.items():
        assert stream.look(frame) == 0, what
        ended, touched = stream.commit(SECONDS)
        assert (ended, touched, stream.owed) == ([], [], owed), what
        named: Sequence[Any] = stream.named(frame)
        assert (bots.at(first.match) in named) == (first.SerializeToString() in frame), what
    bots.say(0, [first, second])
    assert stream.look(raw(first)) == 0, "answered before"


def test_a_match_is_taken_back_in_the_middle_of_a_step() -> None:
    """With its choices, the answers that wait for others, who owes one, and starts that were not sent."""
    bots = Loopback([table("buttons", 7)._replace(seats=3)], random.Random(1), opening=b"\x12\x00")
    (match,) = bots.matches
    bots.say(0, [bots.chosen(each) for each in bots.ask(0)])
    bots.ask(1)
    choices, seats = match.lent.take_back()
    assert choices == ()
    (answered, owes, to_be_asked) = seats
    assert answered[:3] == ([SECONDS], False, b"")
    assert answered[3] in (39, 40)
    assert owes == ([], True, b"", None)
    assert to_be_asked == ([], False, b"\x12\x00", None)
    assert [(stream.queued, stream.owed, stream.firsts) for stream in bots.streams[:3]] == [(0, 0, 0)] * 3
    assert bots.streams[1].named(raw(Choice(match=1))) == []
    assert match.lent.take_back()[0] == ()


def test_nobody_can_make_it_commit_what_is_no_longer_there() -> None:
    """A match that is taken back between the look and the commit is not played."""
    bots = Loopback(tables(3), random.Random(1))
    choices = [bots.chosen(each) for each in bots.ask(0)]
    assert bots.streams[0].look(raw(*choices)) == len(choices)
    bots.matches[0].lent.take_back()
    assert bots.streams[0].commit(SECONDS) == ([], [])


def test_matches_and_streams_are_freed() -> None:
    """Nothing is left of streams and matches that nobody holds, ended or not."""
    module: Any = core()
    for frames in (0, 10, None):
        bots = Loopback(tables(3), random.Random(1))
        bots.go_on(frames)
        del bots
    gc.collect()
    kinds = (module.Stream, module.Match, module.Game, module.State)
    assert [each for each in gc.get_objects() if isinstance(each, kinds)] == []
