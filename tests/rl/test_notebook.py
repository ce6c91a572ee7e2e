"""Matches for notebooks: results and replays that show themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena import games
from arena.replay import document
from arena.rl import BadOpponent, matches
from arena_bot import Turn
from tests.tournament import programs

PAGE = (Path(__file__).parents[2] / "docs/learning.md").read_text()


def first(turn: Turn) -> int:
    """Choose the first legal action."""
    return turn.legal[0]


def test_everybody_sits_everywhere_on_the_same_dice() -> None:
    """In groups, and the number of matches is rounded up to whole ones."""
    played = matches("birth", [first, "greedy", "random"], n=10, seed=1)
    documents = [played.replay(number).document for number in range(len(played))]
    assert len(documents) == 12
    for seed in {each.seed for each in documents}:
        seats = [each.bots.index("first") for each in documents if each.seed == seed]
        assert sorted(seats) == [0, 1, 2]


def test_results_are_those_of_the_matches() -> None:
    """Counted by hand here; and a seed, as a text or a number, repeats them."""
    played = matches("buttons", [first, "greedy"], n=12, seed="x")
    documents = [played.replay(number).document for number in range(12)]
    for each in played.results:
        ranks = [shown.ranks[shown.bots.index(each.player)] for shown in documents]
        scores = [int(shown.scores[shown.bots.index(each.player)]) for shown in documents]
        ties = sum(shown.ranks == (0, 0) for shown in documents)
        assert (each.matches, each.wins, each.ties, each.losses) == (12, ranks.count(0) - ties, ties, ranks.count(1))
        assert each.points == pytest.approx((each.wins + each.ties / 2) / 12)
        assert each.low <= each.points <= each.high
        assert each.score == pytest.approx(sum(scores) / 12)
    assert repr(matches("buttons", [first, "greedy"], n=12, seed="x")) == repr(played)
    assert repr(matches("birth", [first, "greedy"], n=2, seed=3)) == repr(
        matches("birth", [first, "greedy"], 2, seed="3")
    )


def test_one_player_may_sit_in_several_seats() -> None:
    """Each has a name of its own in the table."""
    played = matches("birth", ["random", "random"], n=2)
    assert [each.player for each in played.results] == ["random", "random (2)"]


@pytest.mark.long
def test_a_program_meets_no_dice_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended between two matches on the same dice, as in a ladder: else it could play by what it saw."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    counts = """
count = 0
def choose(self, turn):
    if turn.number <= self.seats:
        type(self).count += 1
    return turn.legal[-1] if self.count > 2 else turn.legal[0]
"""
    programs.write(tmp_path, mine=programs.program(counts))
    played = matches("birth", ["./mine.py", "greedy"], n=4, seed=1)  # each process plays two matches
    like = matches("birth", [first, "greedy"], n=4, seed=1)
    assert [each[1:] for each in played.results] == [each[1:] for each in like.results]


def test_a_replay_is_that_of_the_arena() -> None:
    """Written to a file, it can be opened by `arena replay`; step by step it is the same text."""
    shown = matches("birth", [first, "greedy"], n=2, seed=1).replay(-1)
    opened = document.opened(msgspec.json.encode(shown.document))
    document.check_document(opened)
    assert repr(shown) == "\n\n".join(shown)
    assert shown[0].startswith("BIRTH, match 1\n  seat 0: ")
    assert re.search(r"\n1\. seat [01] \((first|greedy)\), score \d+\n2\. ", shown[-1])


def test_nothing_that_is_shown_is_taken_for_html() -> None:
    """A name may be anything; in a notebook as on a terminal it is only text."""

    def hostile(turn: Turn) -> int:
        return turn.legal[0]

    hostile.__name__ = "<script>alert('&')</script>\x1b[31m"
    played: Any = matches("birth", [hostile, "greedy"], n=2, seed="<b>\n")
    for shown in (played, played.replay(0)):
        html = shown._repr_html_()
        assert "<script" not in html
        assert "<b>" not in html
        assert "&lt;script&gt;" in html
        assert "\x1b" not in html + repr(shown)


def test_a_slider_leads_through_a_replay() -> None:
    """One text for each step, of which the first is shown."""
    shown = matches("birth", [first, "greedy"], n=1, seed=1).replay()
    html = shown._repr_html_()
    assert html.count("<pre>") == 1
    assert html.count('<pre style="display: none">') == len(shown) - 1
    assert f'max="{len(shown) - 1}"' in html


def test_mistakes_are_named() -> None:
    """And what a function raises is its author's to see."""
    with pytest.raises(ValueError, match=r"^birth needs a list of 2 … 3 players, not 'greedy'$"):
        matches("birth", "greedy")
    with pytest.raises(ValueError, match=r"^n is the number of matches, at least 1, not 0$"):
        matches("birth", [first, "greedy"], n=0)
    for n in 2.5, "a":
        with pytest.raises(ValueError, match=rf"^n is the number of matches, at least 1, not {n!r}$"):
            matches("birth", [first, "greedy"], n=n)  # type: ignore[arg-type]
    with pytest.raises(games.UnknownGame, match=r"^unknown game 'go': "):
        matches("go", [first, "greedy"])
    with pytest.raises(BadOpponent, match=r"^<lambda> chose -1, legal: "):
        matches("birth", [lambda _: -1, "greedy"])
    with pytest.raises(ZeroDivisionError):
        matches("birth", [lambda _: 1 // 0, "greedy"])


def test_the_example_of_the_page_gives_its_table() -> None:
    """With the seed that it names."""
    (text,) = re.findall(r"^```python matches\n((?s:.*?))^```$", PAGE, re.MULTILINE)
    (table,) = re.findall(r"^```text\n((?s:.*?))^```$", PAGE, re.MULTILINE)
    page: dict[str, Any] = {}
    exec(text, page)
    assert f"{page['played']}\n" == table
