"""Matches for the tests of pages: exported ones, some that are played by the rules alone, and a hostile one."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from arena import games
from arena.referee.limits import Limits
from arena.referee.match import Forfeit
from arena.replay import document
from arena.replay.document import Document, Logs
from arena.replay.record import Forfeited
from arena.worker.jobs import Entrant, Task
from tests.tournament.playing import played

EXPORTED = Path(__file__).parent.parent / "replay/exported"
NAMES = sorted(path.stem for path in EXPORTED.glob("*.json"))
"""Of all exported matches."""
TABLES = [(name, seats) for name in games.names() for seats in games.game(name).seats]
HOSTILE = ("<b>bold</b> & \"quoted\" 'too'", "\u202eevil \x1b[31m", "</script><script>document.title='gone'</script>")
"""Names of bots, or lines of logs, that would do something on a careless page."""
HARMLESS = ("<b>bold</b> & \"quoted\" 'too'", "\\u202eevil \\x1b[31m", HOSTILE[2])
"""The same as it is shown."""


def exported(name: str) -> Document:
    """A match that was exported once."""
    return document.opened((EXPORTED / f"{name}.json").read_bytes())


def random_match(name: str, bots: Sequence[str], logs: Logs = (), **options: object) -> Document:
    """A match of choices at random, which is much longer than one of bots that mean to win."""
    entrants = tuple(Entrant(bot, "0" * 64, ("run",)) for bot in bots)
    seed = sha256(b"luck").digest()
    task = Task("unrated-1", name, games.game(name).options(options), seed, entrants, Limits())
    return document.unrated(task, bots, played(task, 0.0), logs)


def unplayed(name: str, step: int = -1) -> Document:
    """An exported match of two as if the bot in seat 0 had not started, or had not lived through the first step, 0."""
    match = exported(name)
    forfeit = Forfeited(0, Forfeit.START if step < 0 else Forfeit.CRASH, step)
    changed = msgspec.structs.replace(match, choices=(), forfeits=(forfeit,), times_ms=((), ()))
    (first,) = document.document_steps(changed)
    unplayed = msgspec.structs.replace(changed, dice=first.rolls, ranks=(1, 0), scores=("0", "0"))
    document.check_document(unplayed)
    return unplayed


def hostile() -> Document:
    """A match whose bots have names, and print lines, that are meant to do harm."""
    lines = tuple((None, text) for text in HOSTILE)
    return msgspec.structs.replace(exported("buttons-3"), bots=HOSTILE, logs=(lines, (), ()))
