"""Explanation of a forfeit, for the author of the bot."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arena import games
from arena.base.suggest import printable
from arena.games.rules import named
from arena.reports.words import quoted

if TYPE_CHECKING:
    from ladder.store import Match

_LEGAL = 12
"""Number of legal actions that are named; if there are more, their total is shown."""


def fault_card(
    match: Match, seat: int, *, is_own: bool = True, printed: bool = True, program: str = "arena"
) -> Iterator[str]:
    """Yield the lines that explain a seat's forfeit.

    They say which decision it was, the question and the answer, the times, how the process ended, what it printed and
    how to reproduce it, where the arena is called `program`. Text from the bot is escaped. Others than the owner of the
    home do not see how the process was started; and what it printed, unless `printed`, which may tell dice of other
    matches that are still to be played.
    """
    outcome, bot = match.seats[seat], match.line_up[seat]
    evidence = outcome.evidence or {}
    request: Mapping[str, Any] = evidence.get("request", {})
    at = fault_decision(evidence)
    detail = f": {printable(str(evidence.get('detail', '')))}" if printed else ""
    yield f"seat {seat} ({bot}) forfeited{at}: {outcome.forfeit}{detail}"
    if request:
        yield f"  it was asked: {printable(json.dumps(request, ensure_ascii=False))}"
        if "match" in request:
            yield f"  match {request['match']}: a process counts the matches that it plays, and this was its number"
        yield f"  legal were: {_names(match.ladder.key.game, request)}"
        yield f"  it answered: {_answer(match.ladder.key.game, evidence)}"
        yield f"  it had: {_time(match, request)}"
    if evidence.get("exit") is not None:
        yield f"  the process: {printable(str(evidence['exit']))}"
    if is_own and evidence.get("command"):
        yield f"  started as: {printable(shlex.join(evidence['command']))}"
    if printed and evidence.get("output"):
        yield "  it printed last:"
        yield from quoted(evidence["output"])
    if request and match.seed is not None:
        yield f"  again: {program} debug {match.id} --seat {seat} --at {request.get('decision')} {bot}"


def fault_decision(evidence: Mapping[str, Any]) -> str:
    """Return where in a match a seat forfeited, as " at decision 4"; empty if the seat was asked nothing."""
    number = evidence.get("request", {}).get("decision")
    return "" if number is None else f" at decision {number}"


def _names(game: str, request: Mapping[str, Any]) -> str:
    first, count = request.get("legal_first", 0), request.get("legal_count", 0)
    legal = range(first, first + count) if count else request.get("legal", [])
    more = f", … ({len(legal)} in all)" if len(legal) > _LEGAL else ""
    return ", ".join(_name(game, action) for action in legal[:_LEGAL]) + more


def _name(game: str, action: int) -> str:
    """Return an action in words, or its number if this arena has no such game or the game no such action."""
    if game not in games.names() or action >= games.game(game).actions:
        return str(action)
    return games.game(game).action_name(action)


def _answer(game: str, evidence: Mapping[str, Any]) -> str:
    answer, seconds = evidence.get("answer"), evidence.get("seconds")
    if answer is None:
        return "nothing"
    after = "" if seconds is None else f" after {seconds:.3f} s{_charged(seconds, evidence.get('charged'))}"
    return f"{named(games.game(game), answer) if game in games.names() else answer}{after}"


def _charged(seconds: float, charged: float | None) -> str:
    """Return the time charged and why, as text; empty if it is the elapsed time, to a millisecond."""
    if charged is None or abs(charged - seconds) < 0.001:
        return ""
    more = "it worked on several processors at once" if charged > seconds else "the machine was busy elsewhere"
    return f", charged {charged:.3f} s: {more}"


def _time(match: Match, request: Mapping[str, Any]) -> str:
    limit = match.ladder.key.limits["decision"]
    bank = request.get("bank_ms", 0) / 1000
    return f"{limit:g} s, ten times that for its first decision, and {bank:g} s in the bank"
