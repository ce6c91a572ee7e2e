"""Check everything that is stored: replay each match by the rules, recompute schedule, seeds and ratings."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import games, replay, roster, submission
from arena.worker.progress import ProgressReport
from ladder import store
from ladder.store import checks
from ladder.store.checks import Mismatch, Result

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.worker.hosts import Hosts
    from ladder.store import Ladder

CHUNK = 250
"""Number of matches that a process replays at a time; any number that takes a moment would do."""
WAIT = 0.02
"""Seconds between two looks at what the hosts of a cluster, and the processes here, have done; any moment would do."""
UNREADABLE = (ValueError, LookupError, TypeError, sqlite3.DatabaseError)
"""Errors that reading data raises if somebody changed it."""


class Difference(NamedTuple):
    """Something stored that does not follow from the rest, with the ids of its ladder and match, if it has any."""

    ladder: str | None
    match: str | None
    what: str


class MatchVerdict(NamedTuple):
    """Result of a check: how many matches were checked, up to the first difference."""

    matches: int = 0
    difference: Difference | None = None
    remarks: tuple[str, ...] = ()

    def merge(self, other: MatchVerdict) -> MatchVerdict:
        """Merge the results of two checks, of which the other came later."""
        return MatchVerdict(self.matches + other.matches, other.difference, self.remarks + other.remarks)


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of the work, which one process can do alone: a check of the home or, if there is one, of a ladder."""

    ladder: Ladder | None
    check: Callable[..., MatchVerdict]
    arguments: tuple[object, ...] = ()

    def call(self, home: Path) -> partial[MatchVerdict]:
        """Return what to call where the home is."""
        return partial(_guarded, self.ladder and self.ladder.id, self.check, home, *self.arguments)


def verify_home(home: Path, *, jobs: int, report: ProgressReport, hosts: Hosts | None = None) -> MatchVerdict:
    """Check a data directory ("home") in up to `jobs` processes, up to the first difference. Raises StoreError.

    With the hosts of a cluster these replay the matches, and only the rest is checked here.
    """
    try:
        with store.open_read(home, must_exist=True) as db:
            counts = [(ladder, store.ladders.counts(db, ladder)) for ladder in reversed(store.ladders.all(db))]
    except UNREADABLE as error:
        return MatchVerdict(difference=Difference(None, None, f"cannot be read: {error}"))
    total = sum(each.done + each.annulled for _, each in counts)
    parts = [_Part(None, check) for check in (_file, _corrections)]
    parts += [_Part(None, _programs, (home,))]
    for ladder, each in counts:
        parts += [_Part(ladder, _schedule)]
        parts += [_Part(ladder, _results, (begin,)) for begin in range(0, sum(each), CHUNK)]
        parts += [_Part(ladder, check) for check in LONG]
    verdict = MatchVerdict()
    with closing(_in_order(parts, home, min(jobs, total // CHUNK), hosts)) as made:
        for part in made:
            verdict = verdict.merge(part)
            if verdict.difference is not None:
                break
            report(verdict.matches, total)
    return verdict


def _in_order(parts: Sequence[_Part], home: Path, jobs: int, hosts: Hosts | None) -> Generator[MatchVerdict]:
    """Do all parts, in several processes if `jobs` allows it, and yield their results in the order of the parts."""
    if jobs <= 1 and hosts is None:
        yield from (part.call(home)() for part in parts)
        return
    from arena.tournament.callers import Callers
    from arena.worker.local_host import LocalHost

    longest_first = sorted(parts, key=lambda part: part.check not in LONG)
    here = longest_first if hosts is None else [part for part in longest_first if part.check is not _results]
    come: dict[_Part, MatchVerdict] = {}
    with ExitStack() as on_exit:
        callers = [on_exit.enter_context(Callers(LocalHost(max(1, jobs)), here, lambda part: part.call(home)))]
        if hosts is not None:
            there = [part for part in parts if part.check is _results]
            callers += [on_exit.enter_context(Callers(hosts, there, partial(_sent, home)))]
        for part in parts:
            while part not in come:
                for each in callers:
                    come.update(each.step(WAIT))
            yield come.pop(part)


def _sent(home: Path, part: _Part) -> partial[MatchVerdict]:
    """Return what to call where the home is not: replaying the results that are read here."""
    results: list[Result] = []
    assert part.ladder is not None
    read = _guarded(part.ladder.id, _read, home, *part.arguments, results)
    return partial(_checked, part.ladder, results, read)


def _read(db: Database, ladder: Ladder, begin: int, results: list[Result]) -> MatchVerdict:
    """Add a chunk of matches to the list, up to one that cannot be read."""
    for result in checks.results(db, ladder, begin, begin + CHUNK):
        results.append(result)  # one by one: what comes before an error is kept
    return MatchVerdict()


def _checked(ladder: Ladder, results: Sequence[Result], read: MatchVerdict) -> MatchVerdict:
    """Replay matches, of which `read` says how reading them ended."""
    verdict = _told(ladder.id, lambda: _replayed(ladder, results))
    return verdict if read.difference is None or verdict.difference is not None else read


def _guarded(ladder: str | None, check: Callable[..., MatchVerdict], home: Path, *arguments: object) -> MatchVerdict:
    """Do a part of the work that one process can do alone."""

    def checked() -> MatchVerdict:
        with store.open_read(home) as db:
            db.execute("BEGIN")  # one state of the database, whoever writes meanwhile
            return check(db, *((_known(db, ladder),) if ladder else ()), *arguments)

    return _told(ladder, checked)


def _told(ladder: str | None, check: Callable[[], MatchVerdict]) -> MatchVerdict:
    """Return the verdict of a check; data that it cannot read is a difference, too."""
    try:
        return check()
    except Mismatch as error:
        return MatchVerdict(difference=Difference(ladder, error.match, str(error)))
    except UNREADABLE as error:
        return MatchVerdict(difference=Difference(ladder, None, f"cannot be read: {error}"))


def _known(db: Database, ladder_id: str) -> Ladder:
    ladder = store.ladders.find(db, ladder_id)
    assert ladder is not None, "a ladder that was there a moment ago"
    return ladder


def _file(db: Database) -> MatchVerdict:
    checks.check_file(db)
    return MatchVerdict()


def _corrections(db: Database) -> MatchVerdict:
    checks.check_corrections(db)
    return MatchVerdict()


def _programs(db: Database, home: Path) -> MatchVerdict:
    """Check that the bots' programs match their digests.

    If there are none, as with a copied database, only a remark says so: results can be checked without them.
    """
    versions = store.bots.versions(db)
    if versions and not roster.folder(home).is_dir():
        return MatchVerdict(remarks=(f"there are no programs in {roster.folder(home)}: they are not checked",))
    for version in versions:
        program = roster.program_of(home, version)
        if not program.root.is_dir() or not submission.intact(program):
            raise Mismatch(f"the program of {version.label} in {program.root} is not what was entered")
    return MatchVerdict()


def _schedule(db: Database, ladder: Ladder) -> MatchVerdict:
    checks.check_schedule(db, ladder)
    if _is_playable(ladder):
        _check_draws(ladder)
        return MatchVerdict()
    rules = f"version {ladder.key.rules_version} of the rules of {ladder.key.game}"
    what = f"the matches of ladder {ladder.id} are not played again, nor is its draw probability checked"
    return MatchVerdict(remarks=(f"{what}: this arena has no {rules}",))


def _check_draws(ladder: Ladder) -> None:
    """Raise Mismatch unless the draw probability is that of the game: whoever could choose it could choose ratings."""
    if ladder.draw_probability != (of_the_game := games.game(ladder.key.game).draw_probability):
        raise Mismatch(f"its draw probability is {ladder.draw_probability}, that of its game {of_the_game}")


def _is_playable(ladder: Ladder) -> bool:
    """Return whether this arena has the version of the rules that the ladder's matches follow."""
    name = ladder.key.game
    return name in games.names() and games.game(name).rules_version == ladder.key.rules_version


def _ratings(db: Database, ladder: Ladder) -> MatchVerdict:
    remarks = checks.check_ratings(db, ladder)
    checks.check_phases(db, ladder)
    return MatchVerdict(remarks=tuple(remarks))


def _settled(db: Database, ladder: Ladder) -> MatchVerdict:
    return MatchVerdict(remarks=tuple(checks.check_settled(db, ladder)))


def _cards(db: Database, ladder: Ladder) -> MatchVerdict:
    checks.check_sums(db, ladder)
    checks.check_times(db, ladder, replay.times_of)
    return MatchVerdict()


def _results(db: Database, ladder: Ladder, begin: int) -> MatchVerdict:
    """Replay a chunk of matches by the rules, if this arena has them, and compare the results."""
    return _replayed(ladder, checks.results(db, ladder, begin, begin + CHUNK))


def _replayed(ladder: Ladder, results: Iterable[Result]) -> MatchVerdict:
    """Replay matches, and compare the results with the stored ones. Raises Mismatch."""
    playable = _is_playable(ladder)
    matches = 0
    for matches, result in enumerate(results, 1):  # noqa: B007 - counted
        try:
            if playable:
                check_result(ladder, result)
        except ValueError as error:
            raise Mismatch(str(error), result.id) from error
    return MatchVerdict(matches)


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
