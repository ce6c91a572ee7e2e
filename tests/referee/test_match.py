"""Matches by the rules alone: steps, forfeits and ranks, without clocks, sockets or processes."""

from __future__ import annotations

from typing import Any

from arena.games import ScriptedDice
from arena.referee.match import Asked, Forfeit, Match, MatchOutcome
from tests.referee.toy import Toy

CRASH, ILLEGAL = Forfeit.CRASH, Forfeit.ILLEGAL


def match(seats: int, rolls: tuple[int, ...] = (6, 6, 6, 6), **options: Any) -> Match:
    """A match of the toy game with given rolls."""
    toy = Toy()
    return Match(toy, seats, toy.options(options), ScriptedDice(rolls))


def answer_all(played: Match, action: int) -> None:
    """Answer with the same action for every seat that owes a decision."""
    for seat in list(played.pending):
        played.answer(seat, action)


def finished(played: Match) -> MatchOutcome:
    """The outcome of a match; fails if the match is not over."""
    assert played.outcome is not None
    return played.outcome


def test_everybody_is_asked_before_anything_is_applied() -> None:
    """A simultaneous step waits for the last answer, so nobody learns what a faster seat chose."""
    played = match(3)
    assert [asked.seat for asked in played.begin()] == [0, 1, 2]
    assert played.answer(2, 6) == ()
    assert played.answer(0, 1) == ()
    assert played.state.rolls == ()
    assert [asked.number for asked in played.answer(1, 1)] == [4, 5, 6]
    assert played.state.rolls == (6,)


def test_choices_are_recorded_in_seat_order() -> None:
    """So neither the record nor its hash depends on which seat answered first."""
    played = match(3, steps=1)
    played.begin()
    for seat in (2, 0, 1):
        played.answer(seat, seat + 1)
    assert played.choices == [(0, 1), (1, 2), (2, 3)]


def test_a_forfeit_ends_a_match_of_two() -> None:
    """The other seat wins, whatever the scores are."""
    played = match(2)
    played.begin()
    answer_all(played, 6)
    played.answer(0, 1)
    played.forfeit(1, ILLEGAL, "chose 9")
    assert finished(played).ranks == (0, 1)
    assert finished(played).forfeits == ((1, ILLEGAL, "chose 9", 1),)


def test_a_step_is_awaited_before_a_forfeit_in_it_ends_the_match() -> None:
    """Otherwise, of two seats that forfeit in the same step, the one whose fault is noticed later would win."""
    played = match(2)
    played.begin()
    assert played.forfeit(0, CRASH, "") == ()
    assert played.outcome is None
    played.forfeit(1, CRASH, "")
    assert finished(played).ranks == (0, 0)


def test_others_play_on_and_the_default_is_played_for_who_forfeited() -> None:
    """In a match of three the other two play on; the default actions of the third are recorded."""
    played = match(3, steps=2)
    played.begin()
    played.forfeit(1, CRASH, "")
    played.answer(0, 1)
    played.answer(2, 6)
    assert sorted(played.pending) == [0, 2]
    answer_all(played, 5)
    assert played.choices == [(0, 1), (1, 2), (2, 6), (0, 5), (1, 2), (2, 5)]
    assert finished(played).ranks == (1, 2, 0)


def test_a_match_ends_when_one_seat_is_left() -> None:
    """The match ends since nobody is left to play against. Seats that forfeited later rank higher."""
    played = match(4)
    played.begin()
    played.forfeit(2, CRASH, "")
    answer_all(played, 1)
    played.forfeit(0, CRASH, "")
    played.forfeit(3, CRASH, "")
    answer_all(played, 1)
    assert finished(played).ranks == (1, 0, 3, 1)
    assert [forfeit.seat for forfeit in finished(played).forfeits] == [2, 0, 3]


def test_a_seat_that_forfeited_ranks_below_all_others() -> None:
    """It ranks below the others even if its score is higher."""
    played = match(3, steps=2)
    played.begin()
    played.answer(0, 6)
    played.answer(1, 1)
    played.answer(2, 2)
    played.forfeit(0, CRASH, "")
    answer_all(played, 1)
    assert finished(played).scores[0] == max(finished(played).scores)
    assert finished(played).ranks == (2, 0, 1)


def test_turns_of_a_seat_that_forfeited_pass_without_anybody_being_asked() -> None:
    """The referee plays the default action for it and asks the next seat at once."""
    played = match(3, turns=True)
    assert [asked.seat for asked in played.begin()] == [0]
    assert [asked.seat for asked in played.forfeit(0, CRASH, "")] == [1]
    assert [asked.seat for asked in played.answer(1, 1)] == [2]
    played.answer(2, 1)
    assert played.choices == [(0, 2), (1, 1), (2, 1), (0, 2)]
    assert finished(played).ranks == (2, 0, 0)


def test_who_never_joined_forfeits_before_the_first_step() -> None:
    """It therefore ranks below a seat that forfeits later."""
    played = match(3)
    asked = played.begin([(1, "did not join")])
    assert [ask.seat for ask in asked] == [0, 2]
    played.forfeit(0, CRASH, "")
    played.answer(2, 1)
    assert finished(played).ranks == (1, 2, 0)
    assert finished(played).forfeits[0] == (1, Forfeit.START, "did not join", -1)


def test_a_match_is_over_before_it_began_if_one_seat_joined() -> None:
    """No dice are rolled for such a match: the script of its dice is empty."""
    played = match(3, rolls=())
    assert played.begin([(0, ""), (2, "")]) == ()
    assert finished(played).ranks == (1, 0, 1)


def test_decisions_are_numbered_through_the_match() -> None:
    """Each decision of a match has its own number, so a late answer to an old one cannot count for a new one."""
    played = match(2, steps=2)
    assert played.begin() == [Asked(0, 1, (1, 2, 3, 4, 5, 6)), Asked(1, 2, (1, 2, 3, 4, 5, 6))]
    played.answer(1, 1)
    assert played.answer(0, 1) == [Asked(0, 3, range(1, 7)), Asked(1, 4, range(1, 7))]
