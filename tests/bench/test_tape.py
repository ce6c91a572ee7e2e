"""The frames that are played back."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena import games
from arena.bench import real_ladders, tape
from arena.bench.cases import BenchSetting, Case
from arena.bench.recorder import Uniform
from arena.bench.tape import Tape
from arena.games import KeyedDice, commitment
from arena.referee.limits import Limits
from arena.referee.match import Match, MatchOutcome
from arena.v1 import referee_pb2 as pb
from arena_bot.table import Table
from ladder import store

RECORDED = "bench 2"
"""The seed of the third ladder; those before start the bots and warm them up."""
BIRTH = games.game("birth")


SeatOf = tuple[bytes, int]
"""The commitment to a match's dice, and a seat."""


def seeds(rounds: int) -> list[bytes]:
    """Those of the groups that the recorded ladder's schedule has."""
    with store.database.in_memory() as db:
        for name in ("random0", "random1"):
            store.bots.add(db, store.bots.NewBot(name, name, games=["birth"], run=["x"], origin="submitted"))
        key = store.records.LadderKey("birth", 2, BIRTH.options({}), Limits().plain(), BIRTH.rules_version)
        ladder = store.ladders.find_or_make(db, key, draw_probability=0.0, seed=RECORDED)
        store.ladders.plan(db, ladder, ["random0", "random1"], rounds)
        return [match.seed for match in store.ladders.scheduled(db, ladder) if match.rotation == 0]


def heard(own: Tape) -> tuple[dict[SeatOf, list[int]], dict[SeatOf, pb.MatchEnd]]:
    """What the bot of a tape chose, and the ends it was told, by seat."""
    table, seats = Table(Uniform), dict[int, SeatOf]()
    choices, ends = dict[SeatOf, list[int]](), dict[SeatOf, pb.MatchEnd]()
    for frame in own.frames:
        message = pb.PlayResponse.FromString(frame.data)
        seats |= {start.match: (start.dice_commitment, start.seat) for start in message.starts}
        for choice in pb.PlayRequest.FromString(b"".join(table.answer(message))).choices:
            choices.setdefault(seats[choice.match], []).append(choice.action)
        ends |= {seats[end.match]: end for end in message.ends}
    return choices, ends


def replayed(seed: bytes, choices: Mapping[SeatOf, Sequence[int]]) -> MatchOutcome:
    """How a match ends by the rules."""
    match = Match(BIRTH, 2, BIRTH.options({}), KeyedDice(seed))
    left = [iter(choices[commitment(seed), seat]) for seat in range(2)]
    asked = match.begin()
    while match.outcome is None:
        asked = [question for each in asked for question in match.answer(each.seat, next(left[each.seat]))]
    return match.outcome


@pytest.mark.long
def test_a_tape_is_what_a_ladder_sent(setting: BenchSetting, tmp_path: Path) -> None:
    """Answers to it, given by the same bot, are matches of the schedule and end as the tape says they ended."""
    since = real_ladders.record_ladder(setting, Case("birth", 2), 64, tmp_path)
    choices, ends, seats = dict[SeatOf, list[int]](), dict[SeatOf, pb.MatchEnd](), 0
    (paths,) = tape.tapes(tmp_path).values()
    for path in paths:
        own_choices, own_ends = heard(tape.read_tape(path, since))
        choices, ends, seats = choices | own_choices, ends | own_ends, seats + len(own_ends)
    for seed in seeds(rounds=seats // 4):
        outcome = replayed(seed, choices)
        for seat in range(2):
            assert list(map(int, ends[commitment(seed), seat].scores)) == list(outcome.scores)


def entry(time: float, message: pb.PlayResponse) -> bytes:
    file = io.BytesIO()
    tape.add_frame(file, time, message.SerializeToString())
    return file.getvalue()


def frame(**fields: Any) -> pb.PlayResponse:
    return pb.PlayResponse(**fields)


BEGIN, ASK, END = (
    frame(starts=[pb.MatchStart(match=7)]),
    frame(decisions=[pb.Decision(match=7), pb.Decision(match=7)]),
    frame(ends=[pb.MatchEnd(match=7)]),
)


def test_a_tape_begins_with_a_match_and_ends_before_goodbye(tmp_path: Path) -> None:
    """A bot that plays it again and again must neither leave nor hear of matches it does not know."""
    goodbye = frame(goodbye=pb.Goodbye())
    kept = [entry(2.0, each) for each in (END, BEGIN, ASK, END, goodbye)]
    (tmp_path / "1-2").write_bytes(entry(1.0, BEGIN) + b"".join(kept))
    own = tape.read_tape(tmp_path / "1-2", since=1.5)
    assert [each.data for each in own.frames] == [each.SerializeToString() for each in (BEGIN, ASK, END)]
    assert (own.decisions, own.full_frames) == (2, 1)


def test_a_tape_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    """Played again, it would have matches begin that are still in play."""
    (tmp_path / "1-2").write_bytes(entry(1.0, BEGIN) + entry(1.0, ASK))
    with pytest.raises(ValueError, match="1 matches do not end"):
        tape.read_tape(tmp_path / "1-2", since=0.0)
