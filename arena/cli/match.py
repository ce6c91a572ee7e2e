"""arena match."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import (
    INTERRUPTED,
    check_options,
    check_players,
    console,
    game_option,
    home_option,
    json_option,
    limit_options,
    option_option,
    print_json,
    printable,
    say,
    stop_on_signals,
    table,
)
from arena.games.rules import Game

if TYPE_CHECKING:
    from arena.clock import Limits
    from arena.worker import Played, Task


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT…", required=True)
@game_option
@click.option("-n", "--matches", type=click.IntRange(1, 100_000), default=1, help="How many, in the same seats.")
@click.option("--seed", help="Text that decides the dice.  [default: the operating system's]")
@option_option
@limit_options
@home_option
@json_option
def match(
    bots: tuple[str, ...],
    game: Game[Any],
    matches: int,
    seed: str | None,
    options: tuple[str, ...],
    limits: Limits,
    home: Path,
    as_json: bool,
) -> None:
    """Play bots against each other, unrated, in the seats as named.

    A BOT is a built-in (see `arena bots`), a submitted name (greedy, mine@2), a path (./mine.py), or `attach:`,
    which prints an address and waits, without limits, for a bot that you start by hand.

    \b
    Example:
      arena match ./mine.py random --game buttons -n 20
    """
    from arena import casual, roster
    from ladder import store

    check_players(game, len(bots))
    checked = check_options(game, options)
    with store.open_read(home) as db:
        lineup = [roster.find(db, home, bot, game) for bot in bots]
    seed_bytes = sha256(seed.encode()).digest() if seed is not None else os.urandom(32)
    wanted = casual.tasks(game, lineup, options=checked, limits=limits, seed=seed_bytes, count=matches)
    with casual.table(waiting=_attach) as worker, stop_on_signals(lambda: None) as stopped:
        played = sorted(worker.play(wanted, stop=stopped), key=lambda result: int(result.id))
        interrupted = stopped()
    if as_json:
        print_json({"game": game.name, "bots": list(bots), "matches": [_plain(result) for result in played]})
    else:
        _show(game, bots, played, wanted)
    if interrupted:
        raise SystemExit(INTERRUPTED)


def _attach(label: str, address: str, token: str) -> None:  # noqa: ARG001 - every attached bot looks alike
    say("waiting for a bot; start it with")
    say(f"  ARENA_ADDR={address} ARENA_TOKEN={token} python mybot.py")


def _plain(played: Played) -> dict[str, Any]:
    if played.outcome is None:
        return {"void": played.void}
    ranks, scores, forfeits = played.outcome
    return {
        "ranks": list(ranks),
        "scores": list(scores),
        "forfeits": [
            {"seat": forfeit.seat, "reason": forfeit.reason.value, "detail": forfeit.detail} for forfeit in forfeits
        ],
        "evidence": {seat: record.evidence for seat, record in enumerate(played.seats) if record.evidence},
        "decisions": len(played.choices),
    }


def _show(game: Game[Any], bots: Sequence[str], played: Sequence[Played], wanted: Sequence[Task]) -> None:
    wins: Counter[int] = Counter()
    ties: Counter[int] = Counter()
    forfeits: Counter[int] = Counter()
    for result in played:
        if result.outcome is None:
            say(f"match {result.id} is void: {result.void}")
            continue
        first = [seat for seat, rank in enumerate(result.outcome.ranks) if rank == 0]
        (ties if len(first) > 1 else wins).update(first)
        forfeits.update(forfeit.seat for forfeit in result.outcome.forfeits)
        _explain(result, bots)
    rows = table(
        "seat", "bot", "wins", "ties", "forfeits", "score", right=["seat", "wins", "ties", "forfeits", "score"]
    )
    counted = [result.outcome for result in played if result.outcome is not None]
    for seat, bot in enumerate(bots):
        score = sum(outcome.scores[seat] for outcome in counted) / len(counted) if counted else 0
        tallies = [str(tally[seat]) for tally in (wins, ties, forfeits)]
        rows.add_row(str(seat), bot, *tallies, f"{score:g}" if len(counted) == 1 else f"{score:.1f}")
    click.echo(f"{game.title}: {len(counted)} of {len(wanted)} matches" + (", mean score" if len(counted) > 1 else ""))
    console().print(rows)


def _explain(played: Played, bots: Sequence[str]) -> None:
    """Why seats forfeited, for the author."""
    assert played.outcome is not None
    for forfeit in played.outcome.forfeits:
        where = f"match {played.id}, seat {forfeit.seat} ({bots[forfeit.seat]})"
        say(f"{where} forfeited: {forfeit.reason}: {printable(forfeit.detail)}")
        evidence = played.seats[forfeit.seat].evidence or {}
        for line in evidence.get("output", [])[-10:]:
            say(f"  | {printable(line)}")
