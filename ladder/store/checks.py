"""Checks what is stored against what follows from it: schedule, seeds, digests, ratings.

The rules of games are not checked here: `results` returns what they decide.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby, islice, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ladder import settled
from ladder.newcomers import groups_of
from ladder.schedule import NEWEST_RULE, Basis, Group, Order, canonical_json, line_up, match_id, match_seed
from ladder.store import ratings, sums, times
from ladder.store.evidence import find_settled, rated_matches, settled_by
from ladder.store.journal import JOURNAL_COLUMNS, bans, link
from ladder.store.legs import points
from ladder.store.matches import record_digest
from ladder.store.phases import next_phase
from ladder.store.records import ATTEMPTS_UNTIL_UNPLAYABLE, Ladder
from ladder.trueskill_ratings import arithmetic

if TYPE_CHECKING:
    from sqlite_utils import Database

CLOSE = 1e-6
"""Largest difference of ratings that another Python or C library computed."""
CLOSE_SETTLED = 1e-3
"""Largest difference of settled ratings that another arithmetic computed; these are approached step by step."""
CLOSE_UNSETTLED = 0.1
"""Largest difference of settled ratings that an older arena stored while they still moved a little."""


class Mismatch(ValueError):
    """Error for something stored that does not follow from the rest.

    `match` is the id of the match it is about, if any.
    """

    def __init__(self, what: str, match: str | None = None) -> None:
        super().__init__(what)
        self.match = match


class Result(NamedTuple):
    """A finished match, by seat, as far as the rules of its game decide it."""

    id: str
    seed: bytes
    choices_digest: bytes
    replay: bytes
    ranks: tuple[int, ...]
    scores: tuple[str, ...]
    forfeits: tuple[str | None, ...]
    decisions: tuple[int, ...]


def check_file(db: Database) -> None:
    """Check every page, index and reference of the database. Raises Mismatch.

    Constraints on versions are checked here, too, because SQLite does not check them when it only reads.
    """
    verdict = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise Mismatch(f"the database is damaged: {verdict.splitlines()[-1]}")
    for table, row, other, _ in db.execute("PRAGMA foreign_key_check").fetchall():
        raise Mismatch(f"table {table}, row {row}: what it refers to in table {other} is not there")
    for label, name, number, origin in db.execute("SELECT label, name, number, origin FROM versions"):
        if label != f"{name}@{number}" or origin not in ("built-in", "submitted"):
            raise Mismatch(f"the version {label} is number {number} of {name!r}, {origin!r}")


def check_corrections(db: Database) -> None:
    """Check that no correction was changed or taken out of the middle, nor the matches that they annulled.

    Whether the last ones were taken out can only be told by who knows their digest. Raises Mismatch.
    """
    annulled: dict[int, list[str]] = {}
    for match, number in db.execute("SELECT id, annulled FROM matches WHERE annulled IS NOT NULL"):
        annulled.setdefault(number, []).append(match)
    before = b""
    rows = db.execute(f"SELECT {JOURNAL_COLUMNS} FROM corrections ORDER BY id")
    for expected, (*row, stored) in enumerate(rows, 1):
        if row[0] != expected:
            raise Mismatch(f"correction {expected} is gone")
        if link(before, row, annulled.pop(expected, [])) != stored:
            raise Mismatch(f"correction {expected} is not what its digest is of, or not with the matches it annulled")
        before = stored
    banned = canonical_json(sorted(bans(db)))
    for (label,) in db.execute(
        "SELECT label FROM versions WHERE retired IS NULL AND name IN (SELECT value FROM json_each(?))", [banned]
    ):
        raise Mismatch(f"{label} is in the field, and it is banned")
    for number, (match, *_) in annulled.items():
        raise Mismatch(f"it is annulled by correction {number}, which is gone", match)


def check_schedule(db: Database, ladder: Ladder) -> None:
    """Check the ladder's id and seed, every leg, group and match, and their order. Raises Mismatch."""
    if ladder.key.id != ladder.id:
        raise Mismatch("its id does not follow from its game, players, options, limits, rules and pairing")
    if ladder.seed_text is not None and sha256(ladder.seed_text.encode()).digest() != ladder.event_seed:
        raise Mismatch("its event seed is not that of its --seed")
    (zero,) = db.execute("SELECT zero FROM ladders WHERE id = ?", [ladder.id]).fetchone()
    if zero not in ("field", "founders"):
        raise Mismatch(f"the zero of its ratings is {zero!r}, which is none")
    rows = db.execute("SELECT seq, id, group_id, rotation FROM matches WHERE ladder = ? ORDER BY seq", [ladder.id])
    for stored, planned in zip_longest(rows, _planned(db, ladder)):
        if stored != planned:
            names = "(seq, match, group, rotation)"
            raise Mismatch(f"the schedule has {names} {stored or 'nothing'}, expected {planned or 'nothing'}")
    _check_dropped(db, ladder)


_TRIED = "(m.status IN ('done', 'annulled') OR m.voids != '[]')"
"""Whether a match was tried at least once, as SQL."""
_PHASED = "(SELECT phased FROM legs WHERE ladder = m.ladder AND leg = g.leg)"
"""Whether the leg of a match was played in phases, as SQL."""


def check_phases(db: Database, ladder: Ladder) -> None:
    """Check the order in which matches were tried. Raises Mismatch.

    No rotation of a block may begin before the previous one is over, and no block before the previous block is.
    """
    _check_legs(db, ladder)
    _check_blocks(db, ladder)
    outside = (
        f"m.rotation > 0 AND {_TRIED} AND {_PHASED}"
        " AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.ladder = m.ladder AND b.begin <= m.seq AND m.seq < b.end)"
    )
    _none_tried(db, ladder, outside, [], "of a block of which nothing is known")
    _check_arrival(db, ladder)
    phase = next_phase(db, ladder)
    if phase is None or phase.end is None:
        return
    ahead = f"{_PHASED} AND {_TRIED} AND (m.seq >= ? OR m.seq >= ? AND m.rotation > ?)"
    values = [phase.end, phase.begin, phase.rotation]
    _none_tried(db, ladder, ahead, values, "although a match is still to be played that comes before it")


def _check_arrival(db: Database, ladder: Ladder) -> None:
    """Check that results came rotation by rotation and block by block, except those of matches tried again later."""
    spans = db.execute(
        "SELECT b.begin, m.rotation, min(r.rowid), max(r.rowid) FROM blocks b"
        " JOIN matches m ON m.ladder = b.ladder AND m.seq >= b.begin AND m.seq < b.end"
        " JOIN groups g ON g.id = m.group_id JOIN replays r ON r.match = m.id"
        f" WHERE b.ladder = ? AND json_array_length(m.voids) < ? AND {_PHASED}"
        " GROUP BY b.begin, m.rotation ORDER BY b.begin, m.rotation",
        [ladder.id, ATTEMPTS_UNTIL_UNPLAYABLE],
    )
    before = 0
    for begin, rotation, first, last in spans:
        if first < before:
            raise Mismatch(
                f"of the block from seq {begin}, rotation {rotation} was begun before all that comes before it"
            )
        before = last


def _check_legs(db: Database, ladder: Ladder) -> None:
    """Check that legs played in phases, or even, follow all legs that were not: an arena never stops doing so."""
    for column, what, least, most in (
        ("phased", "played in phases", 0, 1),
        ("even", "even wherever they end", 0, 1),
        ("rule", "made by these rules", 1, NEWEST_RULE),
        ("open", "still to be planned", 0, 1),
    ):
        rows = db.execute(f"SELECT {column} FROM legs WHERE ladder = ? ORDER BY leg", [ladder.id])
        values = [value for (value,) in rows]
        if values != sorted(values) or not least <= min(values, default=least) <= max(values, default=least) <= most:
            raise Mismatch(f"of its legs these were {what}, which cannot be: {values}")


def _none_tried(db: Database, ladder: Ladder, where: str, values: Sequence[object], why: str) -> None:
    found = db.execute(
        f"SELECT m.id FROM matches m JOIN groups g ON g.id = m.group_id WHERE m.ladder = ? AND {where} LIMIT 1",
        [ladder.id, *values],
    ).fetchone()
    if found is not None:
        raise Mismatch(f"it was tried, {why}", found[0])


def _check_dropped(db: Database, ladder: Ladder) -> None:
    """Check that each dropped group lacks a match that counts, and that the next leg may already replace it."""
    for leg, position in db.execute(
        "SELECT leg, position FROM groups g WHERE ladder = ? AND dropped IS NOT NULL"
        " AND (NOT EXISTS (SELECT 1 FROM matches WHERE group_id = g.id AND status IN ('dropped', 'annulled'))"
        " OR absent > (SELECT max(leg) + 1 FROM groups WHERE ladder = g.ladder))",
        [ladder.id],
    ):
        raise Mismatch(f"leg {leg}, group {position}: it was dropped, and was complete or is there for the next leg")


def _check_blocks(db: Database, ladder: Ladder) -> None:
    leg = "(SELECT g.leg FROM matches m JOIN groups g ON g.id = m.group_id WHERE m.ladder = b.ladder AND m.seq = {})"
    before = 0
    for begin, end, *legs in db.execute(
        f"SELECT begin, end, {leg.format('begin')}, {leg.format('end - 1')} FROM blocks b WHERE ladder = ?"
        " ORDER BY begin",
        [ladder.id],
    ):
        whole = begin % ladder.key.seats == end % ladder.key.seats == 0
        if not (before <= begin < end and whole and legs[0] is not None and legs[0] == legs[1]):
            raise Mismatch(f"a block from seq {begin} to {end} is not some groups of one leg, or overlaps another")
        before = end


def results(db: Database, ladder: Ladder, begin: int, end: int) -> Iterator[Result]:
    """Yield the finished matches from seq `begin` to before `end`, annulled ones too, checked except for the rules.

    Raises Mismatch.
    """
    rows = db.execute(
        "SELECT m.id, m.status, m.voids, m.finished, m.choices_digest, m.replay_digest, m.digest,"
        " g.bots, m.rotation, g.seed, r.replay, EXISTS (SELECT 1 FROM legs WHERE ladder = m.ladder AND leg = g.leg),"
        " g.dropped IS NOT NULL, m.annulled,"
        " s.seat, s.version, s.rank, s.score, s.forfeit, s.evidence, s.decisions, s.think_total, s.think_max"
        " FROM matches m JOIN groups g ON g.id = m.group_id LEFT JOIN replays r ON r.match = m.id"
        " LEFT JOIN seats s ON s.match = m.id WHERE m.ladder = ? AND m.seq >= ? AND m.seq < ? ORDER BY m.seq, s.seat",
        [ladder.id, begin, end],
    )
    for _, of_match in groupby(rows, key=itemgetter(0)):
        lines = list(of_match)
        match = _Match(*lines[0][:14])
        seats = [line[14:] for line in lines if line[14] is not None]
        try:
            _check_match(match, seats)
            if match.is_finished:
                yield _result(match, [_Seat(*seat) for seat in seats])
        except ValueError as error:
            raise Mismatch(str(error), match.id) from error


def check_ratings(db: Database, ladder: Ladder) -> list[str]:
    """Compute history and ratings anew from the results and compare; return remarks. Raises Mismatch."""
    _check_set_back(db, ladder)
    rated, end = ratings.rateable_range(db, ladder)
    rated_by = [by for by in ratings.rated_by(db, ladder) if not by.endswith(settled.METHOD)]
    if rated == 0 and ratings.standings(db, ladder):
        _check_retried(db, ladder)
        return ["an unplayable match was played after all: the next run computes the ratings anew"]
    if not 0 <= rated <= end:
        raise Mismatch(f"{rated} matches are in the ratings, of {end} that can be")
    compare = _Comparison(rated_by == [arithmetic()], CLOSE)
    standings: dict[str, ratings.Standing] = {}
    history = db.execute("SELECT seq, ratings FROM history WHERE ladder = ? ORDER BY seq", [ladder.id])
    for stored, computed in zip_longest(history, ratings.stored_ratings(db, ladder, 0, rated, standings)):
        if stored is None or computed is None or stored[0] != computed[0]:
            seqs = [line and line[0] for line in (stored, computed)]
            raise Mismatch("the history of ratings has seq {}, expected {}".format(*seqs))
        _, match, after = computed
        compare.check("after it", json.loads(stored[1]), {label: each.rating for label, each in after.items()}, match)
    rows = ratings.standings(db, ladder)
    for label in sorted({*rows, *standings}):
        own, known = standings.get(label), rows.get(label)
        if own is None or known is None or own[1:] != known[1:]:
            raise Mismatch(f"the leaderboard has {label}: {_tallies(known)}; the results: {_tallies(own)}")
        compare.check("on the leaderboard", {label: known.rating}, {label: own.rating}, None)
    if ratings.kept_hash(db, ladder) not in (None, ratings.ladder_hash(db, ladder)):
        raise Mismatch("its hash is not that of its results and ratings")
    return compare.remarks(rated_by, arithmetic())


def check_sums(db: Database, ladder: Ladder) -> None:
    """Compute the sums of rated matches anew, as far as they reach, and compare. Raises Mismatch."""
    end, rated = sums.gap(db, ladder)
    if end > rated:
        raise Mismatch(f"the sums for cards reach to seq {end}, the ratings to {rated}")
    computed = sums.Sums()
    for match in sums.rated(db, ladder, 0, end):
        computed.add(*match)
    for table, rows in computed.rows():
        _compare_rows(table, sums.stored_rows(db, ladder.id, table), rows)


def check_times(db: Database, ladder: Ladder, times_of: times.TimesOf) -> None:
    """Compute the sums of times anew from the replays, which `times_of` reads, and compare. Raises Mismatch."""
    if times.unread(db) < 0:
        raise Mismatch("the times of more replays are known than there are")
    stored = db.execute("SELECT version, counts, longest_ms FROM time_sums WHERE ladder = ?", [ladder.id]).fetchall()
    _compare_rows("time_sums", sorted(stored), times.rows_of_replays(db, ladder, times_of))


def _compare_rows(table: str, known: Sequence[sums.SumRow], computed: Sequence[sums.SumRow]) -> None:
    for stored, own in zip_longest(known, computed):
        if stored != own:
            raise Mismatch(f"the table {table} has {stored or 'nothing'}, the matches give {own or 'nothing'}")


def _check_set_back(db: Database, ladder: Ladder) -> None:
    """Raise Mismatch if a match that is not done must have been done, by what is stored of later matches.

    Ratings may skip unplayable matches, and annulled ones must not be in them.
    """
    (begun,) = db.execute(
        "SELECT max(g.leg) FROM matches m JOIN groups g ON g.id = m.group_id"
        " WHERE m.ladder = ? AND m.status IN ('done', 'annulled')",
        [ladder.id],
    ).fetchone()
    rows = db.execute(
        "SELECT m.id, m.status, g.leg, m.seq < l.folded,"
        " EXISTS (SELECT 1 FROM history h WHERE h.ladder = m.ladder AND h.seq = m.seq)"
        " FROM matches m JOIN groups g ON g.id = m.group_id JOIN ladders l ON l.id = m.ladder"
        " WHERE m.ladder = ? AND m.status != 'done' ORDER BY m.seq",
        [ladder.id],
    )
    for match, status, leg, is_in_ratings, is_rated in rows:
        if is_rated:
            raise Mismatch(f"it is {status}, and was rated", match)
        if status == "scheduled" and is_in_ratings:
            raise Mismatch("it is scheduled, and matches after it are rated", match)
        if status == "scheduled" and begun is not None and leg < begun:
            raise Mismatch(
                f"it is scheduled in leg {leg}, and leg {begun} was begun, which waits for all before", match
            )


def _check_retried(db: Database, ladder: Ladder) -> None:
    """Raise Mismatch unless a match was done after it was unplayable, so that all ratings are to be computed anew."""
    retried = "SELECT 1 FROM matches WHERE ladder = ? AND status = 'done' AND json_array_length(voids) >= ?"
    if db.execute(retried, [ladder.id, ATTEMPTS_UNTIL_UNPLAYABLE]).fetchone() is None:
        raise Mismatch("no match is in the ratings, and there are some")


def check_settled(db: Database, ladder: Ladder) -> list[str]:
    """Fit the settled ratings anew to the matches that they cover and compare; return remarks. Raises Mismatch."""
    stored = find_settled(db, ladder)
    if stored.matches == 0:
        if stored.ratings:
            raise Mismatch(f"there are settled ratings of {', '.join(stored.ratings)}, and they cover no match")
        return []
    covered = list(islice(rated_matches(db, ladder), stored.matches))
    if len(covered) < stored.matches:
        raise Mismatch(f"the settled ratings cover {stored.matches} matches, of {len(covered)} that are rated")
    rated_by = ratings.rated_by(db, ladder)
    mixed = [by for by in rated_by if by.endswith(settled.METHOD)]
    compare = _Comparison(mixed == [settled_by()], CLOSE_SETTLED if mixed else CLOSE_UNSETTLED)
    outcomes = Counter(settled.outcome(bots, ranks) for _, bots, ranks in covered)
    compare.check("settled", stored.ratings, settled.fit(outcomes, ladder.draw_probability), None)
    return compare.remarks(mixed or rated_by, settled_by())


_Ratings: TypeAlias = Mapping[str, Sequence[float]]
"""mu and sigma by label."""


class _Comparison:
    """Comparison of ratings: to the last bit, unless another arithmetic computed them."""

    def __init__(self, strict: bool, close: float) -> None:
        self._strict, self._close = strict, close
        self._inexact = False

    def check(self, where: str, stored: _Ratings, computed: _Ratings, match: str | None) -> None:
        """Raise Mismatch if stored ratings differ from the computed ones."""
        if list(stored) != sorted(computed):
            raise Mismatch(f"ratings {where} are of {', '.join(stored)}, expected {', '.join(sorted(computed))}", match)
        for label, own in computed.items():
            if (known := tuple(stored[label])) == tuple(own):
                continue
            if self._strict or not all(abs(a - b) <= self._close for a, b in zip(known, own, strict=True)):
                raise Mismatch(f"the rating of {label} {where} is mu, sigma {known}, computed {tuple(own)}", match)
            self._inexact = True

    def remarks(self, rated_by: Sequence[str], here: str) -> list[str]:
        """Return a remark if ratings were close, but not all equal."""
        if not self._inexact:
            return []
        made = f"they were computed by {'; '.join(rated_by)}; this is {here}"
        return [f"ratings agree to {self._close:g}, not to the last bit: {made}"]


def _tallies(standing: ratings.Standing | None) -> str:
    if standing is None:
        return "nothing"
    return ", ".join(f"{name} {value}" for name, value in zip(standing._fields[1:], standing[1:], strict=True))


class _Match(NamedTuple):
    id: str
    status: str
    voids: str
    finished: float | None
    choices_digest: bytes | None
    replay_digest: bytes | None
    digest: bytes | None
    bots: str
    rotation: int
    seed: bytes
    replay: bytes | None
    is_signed: int
    """Whether its leg was planned when every match already got a digest."""
    is_dropped: int
    """Whether its group was dropped."""
    annulled: int | None
    """Id of the correction that annulled it."""

    @property
    def is_finished(self) -> bool:
        """Whether it has a result, whether or not that counts."""
        return self.status in ("done", "annulled")


class _Seat(NamedTuple):
    seat: int
    version: str
    rank: int
    score: str
    forfeit: str | None
    evidence: str | None
    decisions: int
    think_total: float
    think_max: float


def _check_match(match: _Match, seats: Sequence[tuple[Any, ...]]) -> None:
    """Raise ValueError unless what is stored of a match fits together."""
    voids = len(json.loads(match.voids))
    if (match.status == "annulled") != (match.annulled is not None):
        raise ValueError(f"it is {match.status}, annulled by the correction {match.annulled}")
    if match.annulled is not None and not match.is_dropped:
        raise ValueError("it is annulled, and its group is still there")
    if not match.is_finished:
        _check_not_done(match, voids, bool(seats))
    elif [seat[:2] for seat in seats] != list(enumerate(line_up(match.bots, match.rotation))):
        raise ValueError(f"its seats are {[seat[:2] for seat in seats]}, those of its group and rotation expected")
    elif match.replay is None or sha256(match.replay).digest() != match.replay_digest:
        raise ValueError("its replay is not the one of its digest")
    values = match.finished, match.choices_digest, match.replay_digest, [seat[1:] for seat in seats]
    whole = record_digest(match.id, match.voids, *values) if match.is_finished or voids else None
    if match.digest != whole and (match.digest is not None or match.is_signed):
        raise ValueError("what is stored of it (times, evidence, attempts, outcome) is not what its digest is of")


def _check_not_done(match: _Match, voids: int, has_seats: bool) -> None:
    if has_seats or (match.replay, match.finished, match.choices_digest, match.replay_digest) != (None,) * 4:
        raise ValueError(f"it is {match.status}, and there is a result")
    if match.is_dropped:
        if match.status != "dropped":
            raise ValueError(f"it is {match.status!r}, and its group was dropped")
    elif match.status != ("unplayable" if voids >= ATTEMPTS_UNTIL_UNPLAYABLE else "scheduled"):
        raise ValueError(f"it is {match.status!r}, and was void {voids} times")


def _result(match: _Match, seats: Sequence[_Seat]) -> Result:
    assert match.choices_digest is not None
    assert match.replay is not None
    columns = ([getattr(seat, name) for seat in seats] for name in ("rank", "score", "forfeit", "decisions"))
    return Result(match.id, match.seed, match.choices_digest, match.replay, *map(tuple, columns))


def _planned(db: Database, ladder: Ladder) -> Iterator[tuple[int, str, int, int]]:
    """Check each group and yield the matches that follow from it: (seq, match, group, rotation)."""
    rows = db.execute(
        "SELECT leg, position, id, round, bots, again, seed, absent FROM groups WHERE ladder = ?"
        " ORDER BY leg, position",
        [ladder.id],
    )
    fields = dict(_fields(db, ladder))
    known = _Known()
    seq = 0
    for number, (leg, of_leg) in enumerate(groupby(rows, key=itemgetter(0))):
        groups = [_Group(*row[1:]) for row in of_leg]
        if leg != number:
            raise Mismatch(f"leg {number} is missing")
        _check_leg(ladder, leg, groups)
        if (field := fields.pop(leg, None)) is not None:
            _check_due(leg, groups, _due(db, ladder, leg, field, known), known)
        for group in groups:
            known.add(group)
            for rotation in range(ladder.key.seats):
                yield seq, match_id(ladder.id, group.group, rotation), group.id, rotation
                seq += 1
    if fields:
        raise Mismatch(f"leg {min(fields)} has no groups")


class _Group(NamedTuple):
    position: int
    id: int
    round: int
    bots: str
    again: int
    seed: bytes
    absent: int | None

    @property
    def group(self) -> Group:
        return Group(self.round, tuple(json.loads(self.bots)), self.again)


class _Known:
    """Groups of earlier legs and, for dropped ones, the first leg that does not count them."""

    def __init__(self) -> None:
        self._of_round: dict[int, dict[Order, list[int | None]]] = {}

    def add(self, group: _Group) -> None:
        self._of_round.setdefault(group.round, {}).setdefault(group.group.order, []).append(group.absent)

    def there(self, round_number: int, leg: int) -> set[Order]:
        """Return the orders of a round that a leg does not have to play."""
        orders = self._of_round.get(round_number, {})
        return {order for order, absent in orders.items() if any(each is None or each > leg for each in absent)}

    def count(self, round_number: int, order: Order) -> int:
        """Count the groups of an order in a round."""
        return len(self._of_round.get(round_number, {}).get(order, ()))


class _Field(NamedTuple):
    """What a leg was planned for."""

    bots: list[str]
    rounds: int
    even: bool
    rule: int
    most: int | None
    newcomers: Sequence[str]


def _fields(db: Database, ladder: Ladder) -> Iterator[tuple[int, _Field]]:
    """Yield for each leg the bots and rounds that it was planned for; first legs of an old home have none."""
    before = None
    for leg, field, newcomers, rounds, even, rule, most in db.execute(
        "SELECT leg, field, newcomers, rounds, even, rule, most FROM legs WHERE ladder = ? ORDER BY leg", [ladder.id]
    ):
        if before not in (None, leg - 1):
            raise Mismatch(f"leg {leg - 1} has no field")
        before = leg
        yield leg, _Field(json.loads(field), rounds, even, rule, most, json.loads(newcomers or "[]"))


def _check_leg(ladder: Ladder, leg: int, groups: Sequence[_Group]) -> None:
    for position, group in enumerate(groups):
        if group.position != position:
            raise Mismatch(f"leg {leg} has no group at position {position}")
        if canonical_json(group.group.order) != group.bots:
            raise Mismatch(f"leg {leg}, group {position}: its bots are no canonical JSON")
        if group.seed != match_seed(ladder.event_seed, ladder.id, group.group):
            raise Mismatch(f"leg {leg}, group {position}: its seed does not follow from the event seed")
        if group.absent is not None and group.absent <= leg:
            raise Mismatch(f"leg {leg}, group {position}: it was dropped before leg {group.absent}")


def _due(db: Database, ladder: Ladder, leg: int, field: _Field, known: _Known) -> Iterator[Group]:
    """Ask the ladder's pairing once more for the groups of a leg."""
    basis = Basis(
        field.bots,
        ladder.key.seats,
        field.rounds,
        leg,
        ladder.event_seed,
        orders=partial(known.there, leg=leg),
        points=partial(points, db, ladder, leg),
        even=bool(field.even),
        rule=field.rule,
        newcomers=field.newcomers,
    )
    return islice(groups_of(ladder.pairing, basis), field.most)


def _check_due(leg: int, groups: Sequence[_Group], due: Iterator[Group], known: _Known) -> None:
    for position, (found, group) in enumerate(zip_longest(due, groups)):
        planned = found and found._replace(again=known.count(*found[:2]))
        if group is None or planned != group.group:
            found = group and group.group
            raise Mismatch(f"leg {leg}, group {position} is {found}, its field and rounds ask for {planned}")
