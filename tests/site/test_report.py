"""What a viewer shows of a match is what the match was, in as many steps as it had."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from arena import games
from arena.replay import narration
from arena.replay.annotated import ANNOTATED_LINES
from arena.replay.document import Document
from arena.reports.replay_report import MatchReplay, match_replay
from arena.site.page_shell import match_page
from arena.site.patches import patch
from tests.site import matches

every_exported = pytest.mark.parametrize("name", matches.NAMES)


@every_exported
def test_the_last_step_is_the_outcome(name: str) -> None:
    """Nobody is to choose any more, and scores, ranks and forfeits are those of the document."""
    document = matches.exported(name)
    last = match_replay(document).steps[-1]
    assert (last.over, last.pending) == (True, [])
    assert (tuple(last.scores), tuple(last.ranks)) == (document.scores, document.ranks)
    forfeits = [(each.seat, each.reason, each.step - 1) for each in last.forfeits]
    assert forfeits == [tuple(each) for each in document.forfeits]


@every_exported
def test_every_choice_and_every_roll_is_in_one_step(name: str) -> None:
    """In their order, and the times add up to what each seat thought."""
    document = matches.exported(name)
    steps = match_replay(document).steps
    assert tuple((each.seat, each.action) for step in steps for each in step.choices) == document.choices
    assert [each.key for step in steps for each in step.rolls] == [roll.key for roll in document.dice]
    thought = [sum(times) for times in document.times_ms]
    assert steps[-1].thought_ms == pytest.approx(thought, abs=0.1)


@pytest.mark.parametrize(
    ("name", "ranks", "scores", "why"),
    [
        ("buttons-2", (0, 1), ("5", "7"), "five stars in a line beat any number of stars"),
        ("buttons-2", (1, 0), ("5", "5"), "five stars in a line beat any number of stars"),
        ("buttons-2", (0, 1), ("7", "5"), ""),
        ("buttons-2", (0, 0), ("5", "5"), ""),
        ("birth-2", (0, 1), ("30", "30"), "if scores are equal, the pawn that is farther along comes first"),
    ],
)
def test_an_order_that_scores_do_not_explain_is_explained(
    name: str, ranks: tuple[int, ...], scores: tuple[str, ...], why: str
) -> None:
    """On the page of the match, and where it is told as text; else nothing is said."""
    match = msgspec.structs.replace(matches.exported(name), ranks=ranks, scores=scores)
    assert match_replay(match).remark == why
    assert list(narration.final_lines(match))[3:] == [why] * bool(why)
    assert f"<p>{why}</p>" in match_page(match_replay(match)) or not why


def test_that_a_seat_is_last_because_it_forfeited_is_not_explained() -> None:
    """It is said to have forfeited, and nothing else decided the order."""
    match = matches.unplayed("buttons-2")
    assert (match.ranks, match.scores) == ((1, 0), ("0", "0"))
    assert match_replay(match).remark == ""


def events(document: Document) -> Mapping[int, list[str]]:
    """The events of a match by the number of their step."""
    return {number: list(step.events) for number, step in enumerate(match_replay(document).steps) if step.events}


def test_forfeits_busts_and_rounds_are_events_of_buttons() -> None:
    """They are what people jump to; a bust is one also if it ends the round."""
    found = events(matches.exported("buttons-3"))
    assert found[43] == ["seat 0 forfeits: crash"]
    assert found[44] == ["seat 2 busts"]
    assert found[45] == ["round 5 begins"]


def test_a_line_of_five_stars_is_an_event() -> None:
    """It wins, whoever has more stars."""
    rules = games.game("buttons")
    before = rules.start(2, games.KeyedDice(bytes(32)), rules.options({}))._replace(stars=(0b1111, 0))
    assert rules.events(before, {}, before._replace(stars=(0b11111, 0))) == ["seat 0 has five stars in a line"]


def test_births_breaks_and_a_new_leader_are_events_of_birth() -> None:
    """As the dice say: each has rolls of its own."""
    document = matches.exported("birth-2")
    found = [text for texts in events(document).values() for text in texts]
    keys = [roll.key for roll in document.dice]
    assert sum(text.startswith("Birth: ") for text in found) == sum(key.endswith("/birth") for key in keys)
    assert sum(text.startswith("Break: ") for text in found) == sum(key.endswith("/break") for key in keys)
    assert events(document)[18][-1] == "seat 1 takes the lead"


def test_the_final_round_and_lost_points_are_events_of_burning_desire() -> None:
    """A multiplier of 0 is what people will remember of a match."""
    found = [
        text for texts in events(matches.random_match("burning-desire", ["a", "b", "c"])).values() for text in texts
    ]
    assert sum(text.endswith("reaches the goal: the final round begins") for text in found) == 1
    assert any("multiplies by 0 and loses" in text for text in found)


def test_who_leads_is_the_same_for_all_who_ask() -> None:
    """Nobody while all are level; once the match is over or a seat has forfeited, whoever is first."""
    steps = match_replay(matches.exported("birth-2")).steps
    for step in steps[:-1]:
        level = len(set(step.scores)) == 1
        assert step.leaders == ([] if level else [seat for seat, rank in enumerate(step.ranks) if rank == 0])
    assert [steps[-1].ranks[seat] for seat in steps[-1].leaders] == [0]
    start, end = match_replay(matches.unplayed("birth-2", step=0)).steps
    assert (start.leaders, end.leaders) == ([], [1])


def decided() -> MatchReplay:
    """A match that ended because all seats but one had forfeited."""
    return match_replay(matches.exported("burning-desire-4"))


def test_a_match_that_forfeits_decided_has_a_step_for_them() -> None:
    """Nothing was applied in it, but it is why the match is over."""
    before, last = decided().steps[-2:]
    assert not before.over
    assert (last.choices, last.events) == ([], ["seat 2 forfeits: timeout"])
    assert last.view == before.view


def test_of_many_lines_the_first_are_shown_and_the_others_counted() -> None:
    """A page is no place for 64 KiB of a log; the document has all."""
    lines = tuple((None, f"line {number}") for number in range(ANNOTATED_LINES + 5))
    document = msgspec.structs.replace(matches.exported("birth-2"), logs=(lines, ()))
    (printed,) = match_replay(document).steps[0].printed
    assert (len(printed.lines), printed.lines[-1]) == (ANNOTATED_LINES + 1, "… 5 more lines")


def test_text_from_outside_cannot_move_a_cursor() -> None:
    """A report may be printed anywhere."""
    shown = match_replay(matches.hostile())
    assert tuple(shown.bots) == matches.HARMLESS
    assert tuple(shown.steps[0].printed[0].lines) == matches.HARMLESS


def patched(before: Any, change: Any) -> Any:
    """Apply a patch, as the viewer does."""
    if not isinstance(change, dict):
        return change
    if isinstance(before, list):
        return [patched(value, change.get(place, value)) for place, value in enumerate(before)]
    after = dict(before or {})
    for name, value in change.items():
        if value is None:
            del after[name]
        else:
            after[name] = patched(after.get(name), value)
    return after


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": None, "b": 3, "c": 4}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"c": None}}),
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}], {1: {"a": 3}}),
        ([1, 2], [1, 2, 3], [1, 2, 3]),
        ({"a": [1]}, {"a": []}, {"a": []}),
        ({"a": 0}, {"a": {"b": [{}]}}, {"a": {"b": [{}]}}),
        ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
        ({"a": {"b": 1}}, {"a": "b"}, {"a": "b"}),
        ([[1], "b"], ["a", [2]], {0: "a", 1: [2]}),
    ],
)
def test_a_patch_has_only_what_changes(before: Any, after: Any, change: Any) -> None:
    """And it makes the one of the other."""
    assert patch(before, after) == change
    assert patched(before, change) == after


@every_exported
def test_patches_give_back_every_step(name: str) -> None:
    """Real matches have all that a patch may have to say."""
    steps = msgspec.to_builtins(match_replay(matches.exported(name)).steps)
    for before, after in pairwise(steps):
        assert patched(before, patch(before, after)) == after
