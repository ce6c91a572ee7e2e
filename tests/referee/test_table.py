"""A match with the streams of its seats: who is asked, who is told what, and who forfeits when, in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from arena.games import ScriptedDice
from arena.referee.match import Fault, Forfeit, Match, MatchOutcome
from arena.referee.table import brief
from tests.referee.fakes import Sitting
from tests.referee.toy import Toy

GONE = Fault(Forfeit.CRASH, "the process exited with code 3")


def toy_match(seats: int, *, updates: bool = False, rolls: Sequence[int] = (6,) * 9, **options: Any) -> Sitting:
    """A match of the toy game that has not begun yet."""
    toy = Toy()
    return Sitting(Match(toy, seats, toy.options(options), ScriptedDice(rolls)), updates=updates)


def asked(sitting: Sitting) -> list[int]:
    """The seats that owe a decision."""
    return sorted(sitting.table.match.pending)


def outcome(sitting: Sitting) -> MatchOutcome:
    """The outcome of the match; fails if the rules raised an error or the match is not over."""
    assert sitting.errors == []
    assert sitting.table.match.outcome is not None
    return sitting.table.match.outcome


def test_a_match_is_played_to_its_end() -> None:
    """A match without faults ends with the ranks and scores of the rules."""
    sitting = toy_match(2, steps=2)
    sitting.begin()
    for seat, action in ((1, 6), (0, 1), (0, 6), (1, 1)):
        sitting.choose(seat, action)
    assert outcome(sitting) == MatchOutcome((0, 0), (7, 7))


def test_an_illegal_choice_forfeits_at_once() -> None:
    """The evidence has the question, the answer, and the time that it took."""
    sitting = toy_match(2)
    sitting.begin()
    sitting.choose(0, 1)
    sitting.choose(1, 9, seconds=0.5)
    chose = "chose 9, legal: 1 (guess 1), 2 (guess 2), 3 (guess 3), 4 (guess 4), 5 (guess 5), 6 (guess 6)"
    assert outcome(sitting).forfeits == ((1, Forfeit.ILLEGAL, chose, 0),)
    evidence = sitting.table.evidence[1]
    assert (evidence["answer"], evidence["seconds"], evidence["request"]["decision"]) == (9, 0.5, 2)


def test_a_game_that_cannot_name_its_actions_blames_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """An illegal choice is the bot's fault even if the game fails to name the actions."""
    monkeypatch.setattr(Toy, "action_name", lambda *_: 1 // 0)
    sitting = toy_match(2)
    sitting.begin()
    sitting.choose(0, 0)
    sitting.choose(1, 1)
    assert outcome(sitting).forfeits == ((0, Forfeit.ILLEGAL, "chose 0, legal: 1, 2, 3, 4, 5, 6", 0),)


def test_an_answer_after_its_time_forfeits_and_does_not_count() -> None:
    """The evidence has the bank as it was sent with the question, before the time was charged."""
    sitting = toy_match(2)
    sitting.begin()
    sitting.choose(1, 1)
    sitting.wires[0].stream.flush()
    sitting.wires[0].time.now += 13.5  # the answer is there before the timer goes off
    sitting.choose(0, 6)
    assert outcome(sitting).forfeits == ((0, Forfeit.TIMEOUT, "took 13.50 s, 0.50 s more than its limit and bank", 0),)
    assert sitting.table.match.choices == []
    assert sitting.table.evidence[0]["request"]["bank_ms"] == 3000


def test_a_bot_that_vanishes_while_it_owes_a_decision_forfeits_then() -> None:
    """It forfeits in the step in which it vanished; the other answers of that step are still awaited."""
    sitting = toy_match(2)
    sitting.begin()
    sitting.go(1, GONE)
    assert asked(sitting) == [0]
    sitting.choose(0, 1)
    assert outcome(sitting).forfeits == ((1, Forfeit.CRASH, "the process exited with code 3", 0),)


def test_a_bot_that_vanishes_when_it_owes_nothing_forfeits_when_it_does() -> None:
    """It forfeits when it is next asked. The evidence describes its process as it was when it vanished."""
    sitting = toy_match(2, turns=True)
    sitting.begin()
    sitting.wires[1].condition = "exited with code 3"
    sitting.go(1, GONE)
    sitting.wires[1].condition = "was killed by SIGKILL"
    assert asked(sitting) == [0]
    sitting.choose(0, 1)
    assert outcome(sitting).forfeits == ((1, Forfeit.CRASH, "the process exited with code 3", 1),)
    assert sitting.table.evidence[1]["exit"] == "exited with code 3"


def test_a_bot_that_vanishes_after_its_last_decision_has_done_nothing_wrong() -> None:
    """Its match ends by the rules, without a forfeit."""
    sitting = toy_match(2, steps=1)
    sitting.begin()
    sitting.choose(0, 6)
    sitting.go(0, GONE)
    sitting.choose(1, 1)
    assert (outcome(sitting).ranks, outcome(sitting).forfeits) == ((0, 1), ())


def test_bots_that_vanish_in_one_step_tie() -> None:
    """They tie in whatever order their ends are noticed."""
    sitting = toy_match(3)
    sitting.begin()
    sitting.go(2, GONE)
    sitting.go(0, GONE)
    sitting.choose(1, 1)
    assert outcome(sitting).ranks == (1, 0, 1)


def test_turns_of_several_that_are_gone_pass_to_the_next() -> None:
    """Each of them forfeits when its turn comes, and a later forfeit ranks higher."""
    sitting = toy_match(4, turns=True)
    sitting.begin()
    for seat in (1, 2):
        sitting.go(seat, GONE)
    sitting.choose(0, 1)
    assert asked(sitting) == [3]
    sitting.choose(3, 1)
    assert outcome(sitting).ranks == (0, 3, 2, 0)


def test_a_seat_that_forfeited_is_neither_asked_nor_heard() -> None:
    """Its frames are dropped without a rejection, and the default action is played for it."""
    sitting = toy_match(3)
    sitting.begin()
    sitting.choose(0, 9)
    sitting.choose(1, 1)
    sitting.choose(0, 1, decision=1)
    sitting.choose(2, 1)
    assert asked(sitting) == [1, 2]
    assert sitting.table.match.choices == [(0, 2), (1, 1), (2, 1)]
    assert not any(frame.rejections for frame in sitting.wires[0].sent())


def test_nobody_sees_a_step_before_all_choices_are_in() -> None:
    """Updates are sent only when all choices of a step are in; then every bot sees all of them, in seat order."""
    sitting = toy_match(3, updates=True)
    sitting.begin()
    sitting.choose(2, 3)
    sitting.choose(0, 1)
    assert [update for wire in sitting.wires for frame in wire.sent() for update in frame.updates] == []
    sitting.choose(1, 2)
    for wire in sitting.wires:
        (update,) = wire.sent()[-1].updates
        assert [(action.seat, action.action) for action in update.actions] == [(0, 1), (1, 2), (2, 3)]
        assert list(update.other["rolls"]) == [6]  # type: ignore[arg-type]


def test_what_others_chose_changes_nothing_that_is_sent_before_all_are_in() -> None:
    """All frames are equal to the last byte, since even a length could give away a choice."""
    sent = []
    for choice in (1, 4):
        sitting = toy_match(3, updates=True)
        sitting.begin()
        sitting.choose(2, choice)
        sent.append([frame.SerializeToString(deterministic=True) for wire in sitting.wires for frame in wire.sent()])
    assert sent[0] == sent[1]
    assert len(sent[0]) == 3


def test_updates_show_the_defaults_of_seats_that_forfeited_and_are_not_for_them() -> None:
    """Bots that forfeited get no more updates; the others see the default actions played for them."""
    sitting = toy_match(3, updates=True, steps=2)
    sitting.begin()
    sitting.choose(0, 9)
    sitting.choose(1, 1)
    sitting.choose(2, 1)
    assert not any(frame.updates for frame in sitting.wires[0].sent())
    (update,) = sitting.wires[1].sent()[-1].updates
    assert (update.actions[0].seat, update.actions[0].action) == (0, 2)


def test_absent_seats_forfeit_and_others_play() -> None:
    """A seat that never joined is not waited for and ranks last."""
    sitting = toy_match(3, steps=1)
    sitting.begin(absent=[1])
    sitting.choose(0, 6)
    sitting.choose(2, 1)
    assert outcome(sitting).ranks == (0, 2, 1)


@pytest.mark.parametrize("where", ["start", "pending", "view"])
def test_rules_that_raise_at_the_beginning_break_their_own_table(where: str) -> None:
    """The error is reported for this match, and no seat forfeits."""
    sitting = toy_match(2, raises=where)
    sitting.begin()
    assert [str(error) for error in sitting.errors] == [f"the rules of toy in {where}"]
    assert sitting.table.match.outcome is None


@pytest.mark.parametrize("where", ["apply", "ranks"])
def test_rules_that_raise_later_break_their_own_table(where: str) -> None:
    """The error is reported for this match, and the bot whose answer led to it is not to blame."""
    sitting = toy_match(2, steps=1, raises=where)
    sitting.begin()
    sitting.choose(0, 1)
    sitting.choose(1, 1)
    assert [str(error) for error in sitting.errors] == [f"the rules of toy in {where}"]
    assert sitting.wires[1].faults == []


def test_legal_actions_are_named_in_a_line() -> None:
    """The line is short for a thousand actions, too, and has numbers for actions that the game does not name."""
    toy = Toy()
    assert brief(toy, range(1, 1000)) == "1 (guess 1) … 999"
    assert brief(toy, range(5, 7)) == "5 (guess 5), 6 (guess 6)"
    assert brief(toy, (1, 4)) == "1 (guess 1), 4 (guess 4)"
    assert brief(toy, (*range(7, 21),)) == "7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, … (14 in all)"
