"""The core plays frames as Python would, and leaves all that is unusual alone."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from arena.core.compilation import core
from arena.games.dice import ScriptedDice
from arena.games.rules import Seat
from arena.referee.limits import Bank, Limits
from arena.referee.match import Match
from arena.referee.seat import BotSeat
from arena.referee.table import Table
from arena.v1.referee_pb2 import Choice, Hello, PlayRequest
from tests.core.fuzz import built, check
from tests.core.loopback import SECONDS, Lent, Loopback
from tests.core.side_by_side import VIEWS, table
from tests.core.side_by_side import Table as RandomTable

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.needs("core")


def tables(count: int, first: int = 0) -> list[RandomTable]:
    """Random tables of all games in turn."""
    return [table(name, number) for number in range(first, first + count) for name in VIEWS]


def raw(*choices: Choice) -> bytes:
    return PlayRequest(choices=choices).SerializeToString()


def check_matches(seed: int) -> None:
    """Play sixty matches of the core and of Python side by side, with random answers in random pieces."""
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


@pytest.mark.parametrize("seed", range(3))
def test_every_question_and_every_result_is_that_of_python(seed: int) -> None:
    """Whatever pieces frames come in, all seats are asked the same, byte for byte, and matches end alike."""
    check_matches(seed)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_so_it_is_for_seconds_of_matches_that_nobody_has_seen() -> None:
    """Every run has other seeds; the one that fails is printed, and `check_matches` repeats it."""
    first, end, done = random.SystemRandom().randrange(1000, 2**20), time.monotonic() + 15, 0
    while time.monotonic() < end:
        print("seed", first + done)  # noqa: T201 - pytest shows it if the test fails
        check_matches(first + done)
        done += 1
    assert done > 3


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


FORGOTTEN = """
import gc
from tests.core.loopback import Lent
from arena.core.compilation import core
from tests.core.side_by_side import table

gc.disable()
stream = core().Stream(None)
held = [Lent(table("birth", number), [stream] * 3, [number + 1] * 3, b"") for number in range(200)]
held = [each.lent for each in held]
stream.cut(1000, 1000)
for each in held:
    cycle = [each]
    cycle.append(cycle)
del held, each, cycle
gc.set_threshold(1)
gc.enable()
owing = stream.owing()
gc.disable()
print(len(owing), len(stream.owing()))
"""


def test_what_is_owed_is_told_although_python_forgets_the_matches_meanwhile() -> None:
    """Making the list may set off its garbage collector; in debug mode what it frees can no longer be read."""
    ran = subprocess.run(
        [sys.executable, "-c", FORGOTTEN],
        cwd=ROOT,
        env={**os.environ, "PYTHONMALLOC": "debug"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    before, after = map(int, ran.stdout.split())
    assert before == 200
    assert after in (0, before)


@pytest.mark.parametrize("frames", [0, 40])
def test_what_is_unusual_changes_nothing(frames: int) -> None:
    """A frame with one choice that cannot be played is not played at all."""
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
        "a tag of six bytes": b"\x92\x80\x80\x80\x80\x00" + raw(first)[1:],
        "a length of six bytes": b"\x12" + bytes([raw(first)[1] | 128]) + b"\x80\x80\x80\x80\x00" + raw(first)[2:],
    }
    for what, frame in bad.items():
        assert stream.look(frame) == 0, what
        ended, touched = stream.commit(SECONDS)
        assert (ended, touched, stream.owed) == ([], [], owed), what
    assert stream.lent([first.match, 10_000, first.match, second.match]) == [
        bots.at(first.match),
        bots.at(second.match),
    ]
    bots.say(0, [first, second])
    assert stream.look(raw(first)) == 0, "answered before"


def test_a_frame_is_read_as_protobuf_reads_it() -> None:
    """What the core plays, protobuf reads in the same way; both refuse what it refuses."""
    luck = random.Random(5)
    bots = Loopback(tables(10), luck)
    choices = [bots.chosen(each) for each in bots.ask(0)]
    met = Counter[str]()
    for _ in range(30_000):
        frame = built(luck, choices)
        count = bots.streams[0].look(frame)
        if count:
            check(bots.streams[0], frame, count)
            assert all(choice in choices for choice in PlayRequest.FromString(frame).choices)
            met["played"] += 1
        else:
            try:
                PlayRequest.FromString(frame)
                met["left to Python"] += 1
            except DecodeError:
                met["refused"] += 1
    assert min(met["played"], met["left to Python"], met["refused"]) > 1000, met


def test_a_match_is_taken_back_in_the_middle_of_a_step() -> None:
    """With its choices, the answers that wait for others, who owes one, and starts that were not sent."""
    bots = Loopback([table("buttons", 7)._replace(seats=3)], random.Random(1), opening=b"\x12\x00")
    (match,) = bots.matches
    bots.say(0, [bots.chosen(each) for each in bots.ask(0)])
    bots.ask(1)
    choices, seats = match.lent.take_back()
    assert (choices, match.lent.steps) == ((), 0)
    (answered, owes, to_be_asked) = seats
    assert answered[:3] == ([SECONDS], False, b"")
    assert answered[3] in (39, 40)
    assert owes == ([], True, b"", None)
    assert to_be_asked == ([], False, b"\x12\x00", None)
    assert [(stream.queued, stream.owed, stream.firsts) for stream in bots.streams[:3]] == [(0, 0, 0)] * 3
    assert [stream.held for stream in bots.streams[:3]] == [0, 0, 0]
    assert bots.streams[1].lent([1]) == []
    assert match.lent.take_back()[0] == ()


@pytest.mark.parametrize("frames", [0, 7, 60])
def test_python_goes_on_where_the_core_is(frames: int) -> None:
    """With the same state, questions, choices and answers, and without playing again what was played."""
    bots = Loopback(tables(20), random.Random(frames))
    bots.go_on(frames)
    for seat in range(3):  # and some matches wait in the middle of a step
        bots.say(seat, [bots.chosen(each) for each in bots.ask(seat, 5)][:3])
    for each in [each for each in bots.matches if each not in bots.ended]:
        options = each.table.options
        rolls_nothing = ScriptedDice([])
        table = Table(Match(each.table.game, each.table.seats, options, rolls_nothing))
        table.sit({seat: bot_seat(each, seat) for seat in range(each.table.seats)})
        steps, view = each.lent.steps, each.lent.view
        choices, seats = each.lent.take_back()
        chosen = {seat: action for seat, (*_, action) in enumerate(seats) if action is not None}
        table.resume(steps, view, choices, chosen)
        for name in ("state", "pending", "choices", "steps", "_chosen", "_decisions"):
            assert getattr(table.match, name) == getattr(each.match, name), name
        assert [at.answers for at in table.at.values()] == each.answers
        for seat in table.match.pending:
            assert table.at[seat].question == each.question(seat)


def bot_seat(lent: Lent, seat: Seat) -> BotSeat:
    """A seat as the stream makes it."""
    bank = Bank.full(Limits(bank=10.0))
    return BotSeat(lent.numbers[seat], seat, lent.table.seats, bank, updates=False, evidence=dict)


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
    kinds = (module.Stream, module.Match)  # those that Python's collector knows
    assert [each for each in gc.get_objects() if isinstance(each, kinds)] == []


def test_nothing_is_left_behind_by_any_call() -> None:
    """However often a bot has it called; the blocks of memory are counted that Python has given."""

    module: Any = core()

    def round_of_calls(number: int) -> None:
        luck = random.Random(number)
        bots = Loopback(tables(3, 3 * number), luck, opening=b"\x12\x00")
        bots.go_on(20)
        stream = bots.streams[0]
        choices = [bots.chosen(each) for each in bots.ask(0)]
        for _ in range(50):
            frame = built(luck, choices) if choices else b"\x12"
            if stream.look(frame):
                stream.commit(SECONDS)
            wrong: Any
            for wrong in ([], [1, 2, 99], ["no number"], 7):
                with suppress(TypeError):
                    stream.lent(wrong)
            stream.owing()
        for each in bots.matches:
            assert len(each.lent.view) > 0
            each.lent.asked(0), each.lent.scores, each.lent.ranks, each.lent.steps
            each.lent.take_back()
            game = each.table.compiled
            state = game.read(game.wire_view(game.start(each.table.seats, each.table.dice)))
            game.pending(state), game.ranks(state), game.scores(state)
            seats = each.table.seats
            module.playouts(game, state, 20, number, True, 2**30, {})
            with suppress(ValueError):
                module.playouts(game, state, 1, number, False, 0, {0: 250})
            batch = module.Batch(game, 2, (None, *[(True, 5)] * (seats - 1)))
            with suppress(ValueError):
                batch.reset(number, bytearray(1), bytearray(1))
            with suppress(ValueError):
                batch.step(*[bytearray(1)] * 5)

    def blocks() -> int:
        gc.collect()
        return sys.getallocatedblocks()

    for number in range(3):
        round_of_calls(number)
    before = blocks()
    for number in range(10):
        round_of_calls(number % 3)
    assert blocks() - before < 200, "in ten rounds, each with hundreds of calls"
