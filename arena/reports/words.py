"""Numbers and settings in words, the same wherever people read them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena import games
from arena.base.suggest import printable

if TYPE_CHECKING:
    from arena.games.rules import Game
    from arena.reports.bot_card import BotInLadder, NotableMatch
    from arena.reports.front_report import LadderProgress
    from arena.reports.leaderboard_report import EstimateColumns, HeadToHead, Leaderboard, MatchCounts

_PLAYABLE = 1_000_000
"""Number of groups of one pair of bots up to which it makes sense to say that they would settle something."""
_NAMED = 10
"""Number of bots that are named where there may be hundreds."""
_LINE_CHARACTERS = 300
"""Number of characters shown of a line that a bot printed, where it is quoted to explain a fault."""


def percent(estimate: EstimateColumns | HeadToHead | None) -> str:
    """Return a share of points with its interval, in percent: "53.1±1.4", or "98.2 (93–100)" if it is not symmetric.

    Return "–" if nothing is known.
    """
    if estimate is None or (estimate.low, estimate.high) == (0.0, 1.0):
        return "–"
    mean, low, high = (100 * value for value in (estimate.mean, estimate.low, estimate.high))
    if math.isclose(high - mean, mean - low, abs_tol=0.05):
        return f"{mean:z.1f}±{high - mean:.1f}"
    digits = 0 if high - low > 1 else 1  # with none, 99.8 would seem to lie between 100 and 100
    return f"{mean:z.1f} ({low:z.{digits}f}–{high:.{digits}f})"  # z: an end just below 0 is 0, not -0


RATING_IS = "what a bot is almost certainly worth, mu − 3 sigma"
"""What the rating of a leaderboard is, in words for people."""
PLACES_ARE = "#3–15: where a bot may stand by its rating, as its points tell nothing yet"
"""What places instead of points mean, in words for people."""
UNSURE = "not certainly worse than the bot above it: more rounds may tell"
"""What `~` before a rank means, in words for people."""


def zero_bots(zero: Collection[str]) -> str:
    """Return whose mean mu is 0 in tables and plots: `zero` of a leaderboard."""
    return "the bots that the ladder began with" if zero else "the field"


def called(label: str, title: str | None) -> str:
    """Return a bot as people see it: by its label, behind the name that it was given for people, if any."""
    return printable(label if title is None else f"{title} ({label})")


def title(game: Game[Any], seats: int) -> str:
    """Return the name of a ladder for people: "Buttons, 2 players"."""
    return f"{game.title}, {seats} players"


def game_title(name: str) -> str:
    """Return the title of a game; its name if this arena does not have it any more."""
    return games.game(name).title if name in games.names() else name


def heading(board: Leaderboard) -> str:
    """Return which ladder a leaderboard is of, with what is unusual about it: "Buttons, 2 players (ladder mw6vrh)"."""
    game = games.game(board.game)
    settings = "".join(f", {setting}" for setting in unusual(game, board.limits, board.options))
    return f"{title(game, board.players)}{settings} (ladder {board.ladder})"


def unusual(game: Game[Any], limits: Mapping[str, float], options: Mapping[str, Any]) -> list[str]:
    """Return limits and options with unusual values, as text: they tell ladders of one game apart."""
    from arena.referee.limits import Limits  # imported here, since few know it before

    usual = Limits().plain()
    normal = json.loads(json.dumps(game.options({})))
    return [f"{name} {value:g} s" for name, value in limits.items() if value != usual.get(name)] + [
        f"own {name}" for name, value in options.items() if value != normal.get(name)
    ]


def state(matches: MatchCounts) -> str:
    """Return how many matches of a ladder there are of each kind."""
    text = f"{matches.done:,} matches"
    if matches.rated < matches.done:  # they are rated in the order of the schedule; an earlier one may still be played
        text += f", {matches.rated:,} rated"
    if matches.to_play:
        text += f", {matches.to_play:,} to play"
    if matches.unplayable:
        text += f", {matches.unplayable:,} unplayable"
    if matches.dropped:
        text += f", {matches.dropped:,} dropped"
    if matches.annulled:
        text += f", {matches.annulled:,} annulled"
    return text


def waiting_text(count: int, bots: Sequence[str], *, more: bool) -> str:
    """Return how many bots have no rated match, and which, as far as they are given and few enough to be read.

    `more` says that others have.
    """
    who = f"{count:,} {'more ' * more}bot{'s have' if count > 1 else ' has'} no rated match yet"
    if not bots:
        return who
    return f"{who}: {', '.join(bots[:_NAMED])}" + (f" and {len(bots) - _NAMED:,} others" if len(bots) > _NAMED else "")


def pace_text(progress: LadderProgress) -> str:
    """Return how fast a ladder goes now and how long it still does: "12.3/s, about 97 s left"; empty if unknown."""
    if progress.rate is None or progress.seconds_left is None:
        return ""
    return f"{progress.rate:,.1f}/s, about {span(progress.seconds_left)} left"


def more_groups(number: int | None) -> str:
    """Return how many more groups would tell which of two bots is better, in a sentence."""
    if number is None or number > _PLAYABLE:
        return "They are so close that no number of groups that can be played would tell."
    if number == 0:
        return "That is settled: the interval of the lead is on one side of 0."
    groups = "1 more group" if number == 1 else f"{number:,} more groups"
    return f"About {groups} with either of them would settle it, if the lead is what it seems to be."


def limits(card: BotInLadder) -> str:
    """Return the limits of decisions as text; whoever takes longer takes it from the bank."""
    decision, bank, cpu = card.limits["decision"], card.limits["bank"], card.limits.get("cpu")
    more = "" if cpu is None else f", cpu {cpu:g} s"
    return f"limit {decision:g} s, ten times that at first, bank {bank:g} s{more}"


def milliseconds_text(time: float) -> str:
    """Return a time in milliseconds as text, in the unit that suits it."""
    if time >= 1000:
        return f"{time / 1000:.2f} s"
    return f"{time:.{1 if time >= 10 else 2}f} ms"


def why(match: NotableMatch) -> str:
    """Return why a match is worth a look."""
    if match.why == "forfeit":
        return f"forfeit: {match.forfeit}"
    if match.expected is not None:
        result = "lost to" if match.why == "lost" else "won against"
        return f"{100 * match.expected:.0f} % likely to win, yet {result} {match.other}"
    return f"lost to {match.other} " + (f"by {match.margin:,}" if match.margin else "with the same score")


def quoted(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that a bot printed as they are quoted: each behind a bar, cut if it is long, and printable."""
    for line in lines:
        left_out = len(line) - _LINE_CHARACTERS
        more = f" … {left_out:,} characters more" if left_out > 0 else ""
        yield f"  | {printable(line[:_LINE_CHARACTERS])}{more}"


def span(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
