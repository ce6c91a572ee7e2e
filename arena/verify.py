"""Everything stored, checked anew: each match re-played by the rules, schedule, seeds and ratings recomputed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from arena import games, replay, roster, submission
from arena.launch import die_with_parent
from ladder import store
from ladder.store import checks
from ladder.store.checks import Mismatch, Result

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.store import Ladder

Report: TypeAlias = Callable[[int, int], None]
"""Told how many matches are done, and of how many."""

CHUNK = 250
"""Matches that a process re-plays at a time."""
UNREADABLE = (ValueError, LookupError, TypeError, sqlite3.DatabaseError)
"""What reading something raises that was changed."""


class Difference(NamedTuple):
    """Something stored that does not follow from the rest."""

    ladder: str | None
    match: str | None
    what: str


class Verdict(NamedTuple):
    """What a check came to: how much was checked, up to the first difference."""

    matches: int = 0
    difference: Difference | None = None
    remarks: tuple[str, ...] = ()

    def and_also(self, other: Verdict) -> Verdict:
        """What two checks came to, one after the other."""
        return Verdict(self.matches + other.matches, other.difference, self.remarks + other.remarks)


def verify(home: Path, *, jobs: int, report: Report) -> Verdict:
    """Check a home, in so many processes, up to the first difference. Raises StoreError."""
    try:
        with store.open_read(home, must_exist=True) as db:
            counts = [(ladder.id, store.counts(db, ladder)) for ladder in reversed(store.ladders(db))]
    except UNREADABLE as error:
        return Verdict(difference=Difference(None, None, f"cannot be read: {error}"))
    total = sum(each.done for _, each in counts)
    calls = [partial(_guarded, None, _file, home), partial(_guarded, None, _programs, home, home)]
    for ladder, each in counts:
        calls += [partial(_guarded, ladder, _schedule, home)]
        calls += [partial(_guarded, ladder, _results, home, begin) for begin in range(0, sum(each), CHUNK)]
        calls += [partial(_guarded, ladder, check, home) for check in LONG]
    verdict = Verdict()
    for part in _in_order(calls, min(jobs, total // CHUNK)):
        verdict = verdict.and_also(part)
        if verdict.difference is not None:
            break
        report(verdict.matches, total)
    return verdict


def _in_order(calls: Sequence[partial[Verdict]], jobs: int) -> Iterator[Verdict]:
    """What the calls come to, in several processes if that pays."""
    if jobs <= 1:
        yield from (call() for call in calls)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(os.getpid(),)) as pool:
        try:
            longest_first = sorted(calls, key=lambda call: call.args[1] not in LONG)
            futures = {call: pool.submit(call) for call in longest_first}
            yield from (futures[call].result() for call in calls)
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(parent: int) -> None:
    """A process of ours hears no Ctrl-C, which the parent answers, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)


def _guarded(ladder: str | None, check: Callable[..., Verdict], home: Path, *arguments: object) -> Verdict:
    """A part of the work that a process can do alone. Whatever it stumbles over is a difference."""
    try:
        with store.open_read(home) as db:
            db.execute("BEGIN")  # one state of things, whoever writes meanwhile
            return check(db, *((_known(db, ladder),) if ladder else ()), *arguments)
    except Mismatch as error:
        return Verdict(difference=Difference(ladder, error.match, str(error)))
    except UNREADABLE as error:
        return Verdict(difference=Difference(ladder, None, f"cannot be read: {error}"))


def _known(db: Database, id: str) -> Ladder:
    ladder = store.find_ladder(db, id)
    assert ladder is not None, "a ladder that was there a moment ago"
    return ladder


def _file(db: Database) -> Verdict:
    checks.check_file(db)
    return Verdict()


def _programs(db: Database, home: Path) -> Verdict:
    """Whether the bots are those of the digests. Results can be checked without: of a copied database, say."""
    versions = store.versions(db)
    if versions and not roster.folder(home).is_dir():
        return Verdict(remarks=(f"there are no programs in {roster.folder(home)}: they are not checked",))
    for version in versions:
        program = roster.program_of(home, version)
        if not program.root.is_dir() or not submission.intact(program):
            raise Mismatch(f"the program of {version.label} in {program.root} is not what was entered")
    return Verdict()


def _schedule(db: Database, ladder: Ladder) -> Verdict:
    checks.check_schedule(db, ladder)
    if _is_playable(ladder):
        _check_draws(ladder)
        return Verdict()
    rules = f"version {ladder.key.rules_version} of the rules of {ladder.key.game}"
    what = f"the matches of ladder {ladder.id} are not played again, nor is its draw probability checked"
    return Verdict(remarks=(f"{what}: this arena has no {rules}",))


def _check_draws(ladder: Ladder) -> None:
    """Who may choose the draw probability chooses the ratings."""
    if ladder.draw_probability != (of_the_game := games.game(ladder.key.game).draw_probability):
        raise Mismatch(f"its draw probability is {ladder.draw_probability}, that of its game {of_the_game}")


def _is_playable(ladder: Ladder) -> bool:
    """Whether this arena has the rules that the matches follow."""
    name = ladder.key.game
    return name in games.names() and games.game(name).rules_version == ladder.key.rules_version


def _ratings(db: Database, ladder: Ladder) -> Verdict:
    remarks = checks.check_ratings(db, ladder)
    checks.check_phases(db, ladder)
    return Verdict(remarks=tuple(remarks))


def _settled(db: Database, ladder: Ladder) -> Verdict:
    return Verdict(remarks=tuple(checks.check_settled(db, ladder)))


def _results(db: Database, ladder: Ladder, begin: int) -> Verdict:
    """Re-play a chunk."""
    playable = _is_playable(ladder)
    matches = 0
    for matches, result in enumerate(checks.results(db, ladder, begin, begin + CHUNK), 1):  # noqa: B007 - counted
        try:
            if playable:
                check_result(ladder, result)
        except ValueError as error:
            raise Mismatch(str(error), result.id) from error
    return Verdict(matches)


LONG = (_ratings, _settled)
"""Parts that a single process does for a whole ladder."""


def check_result(ladder: Ladder, result: Result) -> None:
    """Play a match again and compare. Raises ValueError."""
    record = replay.unpack(result.replay)
    if sha256(replay.plain(record.choices)).digest() != result.choices_digest:
        raise ValueError("its choices are not those of their digest")
    key = ladder.key
    match = replay.replayed(games.game(key.game), key.seats, key.options, games.KeyedDice(result.seed), record)
    assert match.outcome is not None
    reasons = {forfeit.seat: forfeit.reason.value for forfeit in match.outcome.forfeits}
    by_the_rules = {
        "ranks": match.outcome.ranks,
        "scores": tuple(map(str, match.outcome.scores)),
        "forfeits": tuple(map(reasons.get, range(key.seats))),
        "decisions": tuple(map(len, record.times_ms)),
    }
    for name, computed in by_the_rules.items():
        if (stored := getattr(result, name)) != computed:
            raise ValueError(f"its {name} are {stored}, by the rules {computed}")
