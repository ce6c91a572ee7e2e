"""Check everything that is stored: replay each match by the rules, recompute schedule, seeds and ratings."""

from __future__ import annotations

import sqlite3
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from hashlib import sha256
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena import games, replay, roster, submission
from arena.tournament import WorkersDied
from arena.worker.progress import Progress
from arena.worker.worker_process import start_process
from ladder import store
from ladder.store import checks
from ladder.store.checks import Mismatch, Result

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from sqlite_utils import Database

    from ladder.store import Ladder

CHUNK = 250
"""Number of matches that a process replays at a time."""
UNREADABLE = (ValueError, LookupError, TypeError, sqlite3.DatabaseError)
"""Errors that reading data raises if somebody changed it."""


class Difference(NamedTuple):
    """Something stored that does not follow from the rest, with the ids of its ladder and match, if it has any."""

    ladder: str | None
    match: str | None
    what: str


class Verdict(NamedTuple):
    """Result of a check: how many matches were checked, up to the first difference."""

    matches: int = 0
    difference: Difference | None = None
    remarks: tuple[str, ...] = ()

    def merge(self, other: Verdict) -> Verdict:
        """Merge the results of two checks, of which the other came later."""
        return Verdict(self.matches + other.matches, other.difference, self.remarks + other.remarks)


def verify(home: Path, *, jobs: int, report: Progress) -> Verdict:
    """Check a data directory ("home") in up to `jobs` processes, up to the first difference. Raises StoreError."""
    try:
        with store.open_read(home, must_exist=True) as db:
            counts = [(ladder.id, store.counts(db, ladder)) for ladder in reversed(store.ladders(db))]
    except UNREADABLE as error:
        return Verdict(difference=Difference(None, None, f"cannot be read: {error}"))
    total = sum(each.done + each.annulled for _, each in counts)
    calls = [partial(_guarded, None, check, home) for check in (_file, _corrections)]
    calls += [partial(_guarded, None, _programs, home, home)]
    for ladder, each in counts:
        calls += [partial(_guarded, ladder, _schedule, home)]
        calls += [partial(_guarded, ladder, _results, home, begin) for begin in range(0, sum(each), CHUNK)]
        calls += [partial(_guarded, ladder, check, home) for check in LONG]
    verdict = Verdict()
    for part in _in_order(calls, min(jobs, total // CHUNK)):
        verdict = verdict.merge(part)
        if verdict.difference is not None:
            break
        report(verdict.matches, total)
    return verdict


def _in_order(calls: Sequence[partial[Verdict]], jobs: int) -> Iterator[Verdict]:
    """Make the calls, in several processes if `jobs` allows it, and yield their results in the order of the calls."""
    if jobs <= 1:
        yield from (call() for call in calls)
        return
    longest_first = deque(sorted(calls, key=lambda call: call.args[1] not in LONG))
    come: dict[partial[Verdict], Verdict] = {}
    with _helpers(jobs) as idle:
        busy: dict[Connection[Any, Any], partial[Verdict]] = {}
        for call in calls:
            while call not in come:
                while idle and longest_first:
                    link = idle.pop()
                    busy[link] = longest_first.popleft()
                    with suppress(OSError):  # a killed process is noticed when it is read from
                        link.send(busy[link])
                ready = wait(list(busy))
                for link in [link for link in busy if link in ready]:
                    come[busy.pop(link)] = _heard(link)
                    idle.append(link)
            yield come.pop(call)


@contextmanager
def _helpers(jobs: int) -> Iterator[list[Connection[Any, Any]]]:
    """Yield links to processes that make calls: send a call, and receive its result or what it raised."""
    with ExitStack() as on_exit:
        links = []
        for _ in range(jobs):
            process, link = start_process(_help)
            for end in (link.close, process.join, process.kill):
                on_exit.callback(end)
            links.append(link)
        yield links


def _help(link: Connection[Any, Any]) -> None:
    """Make calls until nobody is at the other end, or until killed, which does no harm as calls only read."""
    with suppress(EOFError, ConnectionError):
        while True:
            link.send(_made(link.recv()))


def _made(call: partial[Verdict]) -> Verdict | Exception:
    try:
        return call()
    except Exception as error:
        error.add_note(traceback.format_exc())
        return error


def _heard(link: Connection[Any, Any]) -> Verdict:
    """Receive the result of a call, or raise what the call raised. Raises WorkersDied if its process was killed."""
    try:
        said: Verdict | Exception = link.recv()
    except (EOFError, OSError):
        raise WorkersDied("a process that checks was killed, perhaps for want of memory: try a smaller -j") from None
    if isinstance(said, Exception):
        raise said
    return said


def _guarded(ladder: str | None, check: Callable[..., Verdict], home: Path, *arguments: object) -> Verdict:
    """Do a part of the work that one process can do alone; data that it cannot read is a difference, too."""
    try:
        with store.open_read(home) as db:
            db.execute("BEGIN")  # one state of the database, whoever writes meanwhile
            return check(db, *((_known(db, ladder),) if ladder else ()), *arguments)
    except Mismatch as error:
        return Verdict(difference=Difference(ladder, error.match, str(error)))
    except UNREADABLE as error:
        return Verdict(difference=Difference(ladder, None, f"cannot be read: {error}"))


def _known(db: Database, ladder_id: str) -> Ladder:
    ladder = store.find_ladder(db, ladder_id)
    assert ladder is not None, "a ladder that was there a moment ago"
    return ladder


def _file(db: Database) -> Verdict:
    checks.check_file(db)
    return Verdict()


def _corrections(db: Database) -> Verdict:
    checks.check_corrections(db)
    return Verdict()


def _programs(db: Database, home: Path) -> Verdict:
    """Check that the bots' programs match their digests.

    If there are none, as with a copied database, only a remark says so: results can be checked without them.
    """
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
    """Raise Mismatch unless the draw probability is that of the game: whoever could choose it could choose ratings."""
    if ladder.draw_probability != (of_the_game := games.game(ladder.key.game).draw_probability):
        raise Mismatch(f"its draw probability is {ladder.draw_probability}, that of its game {of_the_game}")


def _is_playable(ladder: Ladder) -> bool:
    """Return whether this arena has the version of the rules that the ladder's matches follow."""
    name = ladder.key.game
    return name in games.names() and games.game(name).rules_version == ladder.key.rules_version


def _ratings(db: Database, ladder: Ladder) -> Verdict:
    remarks = checks.check_ratings(db, ladder)
    checks.check_phases(db, ladder)
    return Verdict(remarks=tuple(remarks))


def _settled(db: Database, ladder: Ladder) -> Verdict:
    return Verdict(remarks=tuple(checks.check_settled(db, ladder)))


def _cards(db: Database, ladder: Ladder) -> Verdict:
    checks.check_sums(db, ladder)
    checks.check_times(db, ladder, replay.times_of)
    return Verdict()


def _results(db: Database, ladder: Ladder, begin: int) -> Verdict:
    """Replay a chunk of matches by the rules, if this arena has them, and compare the results."""
    playable = _is_playable(ladder)
    matches = 0
    for matches, result in enumerate(checks.results(db, ladder, begin, begin + CHUNK), 1):  # noqa: B007 - counted
        try:
            if playable:
                check_result(ladder, result)
        except ValueError as error:
            raise Mismatch(str(error), result.id) from error
    return Verdict(matches)


LONG = (_ratings, _settled, _cards)
"""Parts that a single process does for a whole ladder; they take longest, so they begin first."""


def check_result(ladder: Ladder, result: Result) -> None:
    """Play a match again from its record and compare the result with the stored one. Raises ValueError."""
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
