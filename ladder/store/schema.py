"""The tables, as numbered changes: append to them, never edit. Times are seconds since 1970; JSON is canonical text."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

from ladder.schedule import canonical_json

if TYPE_CHECKING:
    from sqlite_utils import Database


def _1_everything(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE versions (
            label TEXT PRIMARY KEY CHECK (label = name || '@' || number),
            name TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 1),
            digest TEXT NOT NULL,
            games TEXT NOT NULL,        -- JSON: names
            run TEXT NOT NULL,          -- JSON: argv
            origin TEXT NOT NULL CHECK (origin IN ('built-in', 'submitted')),
            created REAL NOT NULL,
            retired REAL,
            UNIQUE (name, number)
        ) STRICT;

        CREATE TABLE ladders (
            id TEXT PRIMARY KEY,
            game TEXT NOT NULL,
            seats INTEGER NOT NULL CHECK (seats >= 2),
            options TEXT NOT NULL,      -- JSON
            limits TEXT NOT NULL,       -- JSON
            rules_version INTEGER NOT NULL,
            draw_probability REAL NOT NULL,
            event_seed BLOB NOT NULL CHECK (length(event_seed) = 32),
            seed_text TEXT,             -- what the event seed is the hash of, if somebody chose it
            created REAL NOT NULL,
            last_played REAL,
            folded INTEGER NOT NULL DEFAULT 0  -- the seq of the first match that the ratings do not know
        ) STRICT;

        CREATE TABLE groups (
            id INTEGER PRIMARY KEY,
            ladder TEXT NOT NULL REFERENCES ladders,
            leg INTEGER NOT NULL,
            position INTEGER NOT NULL,  -- in the leg
            round INTEGER NOT NULL,
            bots TEXT NOT NULL,         -- JSON: labels in canonical cyclic order
            seed BLOB NOT NULL CHECK (length(seed) = 32),
            UNIQUE (ladder, round, bots)
        ) STRICT;

        CREATE TABLE matches (
            id TEXT PRIMARY KEY,
            ladder TEXT NOT NULL REFERENCES ladders,
            group_id INTEGER NOT NULL REFERENCES groups,
            rotation INTEGER NOT NULL,
            seq INTEGER NOT NULL,       -- schedule order, over all legs of the ladder
            status TEXT NOT NULL DEFAULT 'scheduled' CHECK (status IN ('scheduled', 'done', 'unplayable')),
            voids TEXT NOT NULL DEFAULT '[]',  -- JSON: the reason of every void attempt
            finished REAL,
            choices_digest BLOB,
            replay_digest BLOB,
            UNIQUE (ladder, seq)
        ) STRICT;
        CREATE INDEX matches_by_status ON matches (ladder, status, seq);
        CREATE INDEX matches_by_group ON matches (group_id);

        CREATE TABLE seats (
            match TEXT NOT NULL REFERENCES matches,
            seat INTEGER NOT NULL,
            version TEXT NOT NULL REFERENCES versions,
            rank INTEGER NOT NULL,
            score TEXT NOT NULL,        -- a whole number; some games know no largest one
            forfeit TEXT,
            evidence TEXT,              -- JSON
            decisions INTEGER NOT NULL,
            think_total REAL NOT NULL,
            think_max REAL NOT NULL,
            PRIMARY KEY (match, seat)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX seats_by_version ON seats (version);

        CREATE TABLE replays (
            match TEXT PRIMARY KEY REFERENCES matches,
            replay BLOB NOT NULL
        ) STRICT;

        CREATE TABLE ratings (
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            mu REAL NOT NULL,
            sigma REAL NOT NULL,
            matches INTEGER NOT NULL,
            wins INTEGER NOT NULL,
            ties INTEGER NOT NULL,
            losses INTEGER NOT NULL,
            rank_sum INTEGER NOT NULL,
            forfeits INTEGER NOT NULL,
            PRIMARY KEY (ladder, version)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE history (
            ladder TEXT NOT NULL REFERENCES ladders,
            seq INTEGER NOT NULL,       -- of the match that was folded
            ratings TEXT NOT NULL,      -- JSON: label to [mu, sigma] after it, its seats only
            PRIMARY KEY (ladder, seq)
        ) STRICT, WITHOUT ROWID;
        """
    )


def _2_builds(db: Database) -> None:
    db.execute("ALTER TABLE versions ADD COLUMN built TEXT")  # digest of what a build made of it


def _3_more_to_check(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE legs (             -- none for legs planned before there was this table
            ladder TEXT NOT NULL REFERENCES ladders,
            leg INTEGER NOT NULL,
            field TEXT NOT NULL,        -- JSON: labels
            rounds INTEGER NOT NULL,
            PRIMARY KEY (ladder, leg)
        ) STRICT, WITHOUT ROWID;

        -- SHA-256 over all else that is stored of the match once it was tried, see results.digest
        ALTER TABLE matches ADD COLUMN digest BLOB;

        -- JSON: by what the ratings were computed, see ratings.arithmetic; several after an update
        ALTER TABLE ladders ADD COLUMN rated_by TEXT NOT NULL DEFAULT '[]';
        """
    )


def _4_settled_ratings(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE settled (
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            mu REAL NOT NULL,           -- above the mean of all
            sigma REAL NOT NULL,
            PRIMARY KEY (ladder, version)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE ladders ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;  -- how many matches those cover
        """
    )


def _5_kept_hash(db: Database) -> None:
    # The ladder hash, as long as nothing was recorded or rated since; it takes a second to compute of 100,000 matches.
    db.execute("ALTER TABLE ladders ADD COLUMN hash TEXT")


def _6_packed(db: Database) -> None:
    # Whether it came as an archive, as programs of strangers do.
    db.execute("ALTER TABLE versions ADD COLUMN packed INTEGER NOT NULL DEFAULT 0")


def _7_phases_and_chances(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE blocks (           -- groups whose phases were played in turn; the last block may not be there yet
            ladder TEXT NOT NULL REFERENCES ladders,
            begin INTEGER NOT NULL,     -- the seq of its first match
            end INTEGER NOT NULL,       -- and of the first match after it
            PRIMARY KEY (ladder, begin)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE legs ADD COLUMN phased INTEGER NOT NULL DEFAULT 0;  -- whether all of it was played in phases

        CREATE TABLE chances (          -- second chances after a fault of a process
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            used REAL NOT NULL,
            evidence TEXT NOT NULL,     -- JSON
            forgiven REAL,              -- when somebody gave it back
            PRIMARY KEY (ladder, version, used)
        ) STRICT, WITHOUT ROWID;
        """
    )


def _8_dropped(db: Database) -> None:
    # A constraint can only be changed in a new table; nothing refers to the old ones while a migration runs.
    db.executescript(
        """
        CREATE TABLE new_groups (
            id INTEGER PRIMARY KEY,
            ladder TEXT NOT NULL REFERENCES ladders,
            leg INTEGER NOT NULL,
            position INTEGER NOT NULL,  -- in the leg
            round INTEGER NOT NULL,
            bots TEXT NOT NULL,         -- JSON: labels in canonical cyclic order
            again INTEGER NOT NULL DEFAULT 0,  -- how many groups of these bots in this round were dropped before
            seed BLOB NOT NULL CHECK (length(seed) = 32),
            dropped REAL,               -- when what was not played yet was taken out
            absent INTEGER,             -- from which leg on it counts as not there
            UNIQUE (ladder, round, bots, again),
            CHECK ((dropped IS NULL) = (absent IS NULL))
        ) STRICT;
        INSERT INTO new_groups (id, ladder, leg, position, round, bots, seed)
            SELECT id, ladder, leg, position, round, bots, seed FROM groups ORDER BY id;

        CREATE TABLE new_matches (
            id TEXT PRIMARY KEY,
            ladder TEXT NOT NULL REFERENCES ladders,
            group_id INTEGER NOT NULL REFERENCES groups,
            rotation INTEGER NOT NULL,
            seq INTEGER NOT NULL,       -- schedule order, over all legs of the ladder
            status TEXT NOT NULL DEFAULT 'scheduled'
                CHECK (status IN ('scheduled', 'done', 'unplayable', 'dropped')),
            voids TEXT NOT NULL DEFAULT '[]',  -- JSON: the reason of every void attempt
            finished REAL,
            choices_digest BLOB,
            replay_digest BLOB,
            digest BLOB,                -- SHA-256 over all else that is stored of it once it was tried
            UNIQUE (ladder, seq)
        ) STRICT;
        INSERT INTO new_matches
            SELECT id, ladder, group_id, rotation, seq, status, voids, finished, choices_digest, replay_digest, digest
            FROM matches ORDER BY rowid;

        DROP TABLE matches;
        DROP TABLE groups;
        ALTER TABLE new_groups RENAME TO groups;
        ALTER TABLE new_matches RENAME TO matches;
        CREATE INDEX matches_by_status ON matches (ladder, status, seq);
        CREATE INDEX matches_by_group ON matches (group_id);

        -- what no match covers any more, once an unplayable one was played after all
        DELETE FROM settled WHERE ladder IN (SELECT id FROM ladders WHERE settled = 0);
        """
    )


def _9_even_legs(db: Database) -> None:
    db.executescript(
        """
        ALTER TABLE legs ADD COLUMN even INTEGER NOT NULL DEFAULT 0;  -- whether its order keeps all bots even
        ALTER TABLE legs ADD COLUMN most INTEGER;  -- how many groups it has, if it was ended before it had all
        """
    )


def _10_sums(db: Database) -> None:
    # Sums that ladder/store/sums.py computes of every match that is rated, and times.py of every match that is done.
    db.executescript(
        """
        CREATE TABLE seat_sums (        -- rated matches of a version in a seat
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            seat INTEGER NOT NULL,
            matches INTEGER NOT NULL,
            wins INTEGER NOT NULL,
            ties INTEGER NOT NULL,
            losses INTEGER NOT NULL,
            rank_sum INTEGER NOT NULL,
            halves INTEGER NOT NULL,    -- half points: 2 for each seat that it finished before, 1 for a tie with one
            PRIMARY KEY (ladder, version, seat)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE pair_sums (        -- groups of two versions of which every match is rated; the first is the lesser
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            opponent TEXT NOT NULL REFERENCES versions,
            groups INTEGER NOT NULL,
            halves INTEGER NOT NULL,    -- half points that the first took from the second, summed over the groups
            squares INTEGER NOT NULL,   -- and the sum of their squares
            PRIMARY KEY (ladder, version, opponent)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE triple_sums (      -- the same of groups in which a version met two others
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            opponent TEXT NOT NULL REFERENCES versions,
            other TEXT NOT NULL REFERENCES versions,
            groups INTEGER NOT NULL,
            halves INTEGER NOT NULL,    -- half points that the lesser of version and opponent took from the greater
            other_halves INTEGER NOT NULL,  -- the same of version and other
            products INTEGER NOT NULL,  -- the sum of the products of both
            PRIMARY KEY (ladder, version, opponent, other)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notable (          -- the few rated matches of a version that are worth looking at first
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            kind TEXT NOT NULL,
            seq INTEGER NOT NULL,
            value REAL NOT NULL,        -- the larger, the more notable
            other TEXT REFERENCES versions,  -- to whom it lost, or against whom it won
            PRIMARY KEY (ladder, version, kind, seq)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE time_sums (        -- times of all decisions of a version, as replays have them
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            counts TEXT NOT NULL,       -- JSON: [bucket, number of decisions] for each bucket that has any
            longest_ms REAL NOT NULL,
            PRIMARY KEY (ladder, version)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE times_known (      -- one row: the rowid of the last replay that is in time_sums
            replay INTEGER PRIMARY KEY
        ) STRICT;
        INSERT INTO times_known VALUES (0);

        ALTER TABLE ladders ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;  -- the seq of the first match in no sum

        -- If matches are rated anew, sums begin anew, too, whichever arena does it. Where the ratings only go back over
        -- matches that were never played, whose places are free again, the sums do the same.
        CREATE TRIGGER sums_follow_ratings AFTER UPDATE OF folded ON ladders WHEN new.folded < new.summed BEGIN
            UPDATE ladders SET summed = CASE WHEN EXISTS (
                SELECT 1 FROM history WHERE ladder = new.id AND seq >= new.folded
            ) THEN 0 ELSE new.folded END WHERE id = new.id;
            DELETE FROM seat_sums WHERE ladder = new.id AND (SELECT summed FROM ladders WHERE id = new.id) = 0;
            DELETE FROM pair_sums WHERE ladder = new.id AND (SELECT summed FROM ladders WHERE id = new.id) = 0;
            DELETE FROM triple_sums WHERE ladder = new.id AND (SELECT summed FROM ladders WHERE id = new.id) = 0;
            DELETE FROM notable WHERE ladder = new.id AND (SELECT summed FROM ladders WHERE id = new.id) = 0;
        END;

        CREATE INDEX seats_forfeited ON seats (version, forfeit) WHERE forfeit IS NOT NULL;
        CREATE INDEX matches_void ON matches (id) WHERE voids != '[]';
        """
    )


def _11_corrections(db: Database) -> None:
    # The table of matches is made anew for another status, as in step 8.
    db.executescript(
        """
        CREATE TABLE corrections (      -- what people changed by hand; rows are only added
            id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            who TEXT,                   -- user of the operating system, unknown for what is older than this table
            what TEXT NOT NULL,
            subject TEXT NOT NULL,      -- a match, a label or the name of a bot
            ladder TEXT REFERENCES ladders,
            since REAL,                 -- matches finished earlier were not annulled
            title TEXT,                 -- the new name of a bot
            why TEXT,
            digest BLOB NOT NULL        -- see corrections.link
        ) STRICT;

        CREATE TABLE new_matches (
            id TEXT PRIMARY KEY,
            ladder TEXT NOT NULL REFERENCES ladders,
            group_id INTEGER NOT NULL REFERENCES groups,
            rotation INTEGER NOT NULL,
            seq INTEGER NOT NULL,       -- schedule order, over all legs of the ladder
            status TEXT NOT NULL DEFAULT 'scheduled'
                CHECK (status IN ('scheduled', 'done', 'unplayable', 'dropped', 'annulled')),
            voids TEXT NOT NULL DEFAULT '[]',  -- JSON: the reason of every void attempt
            finished REAL,
            choices_digest BLOB,
            replay_digest BLOB,
            digest BLOB,                -- SHA-256 over all else that is stored of it once it was tried
            annulled INTEGER REFERENCES corrections CHECK ((status = 'annulled') = (annulled IS NOT NULL)),
            UNIQUE (ladder, seq)
        ) STRICT;
        INSERT INTO new_matches
            (id, ladder, group_id, rotation, seq, status, voids, finished, choices_digest, replay_digest, digest)
            SELECT id, ladder, group_id, rotation, seq, status, voids, finished, choices_digest, replay_digest, digest
            FROM matches ORDER BY rowid;
        DROP TABLE matches;
        ALTER TABLE new_matches RENAME TO matches;
        CREATE INDEX matches_by_status ON matches (ladder, status, seq);
        CREATE INDEX matches_by_group ON matches (group_id);
        CREATE INDEX matches_void ON matches (id) WHERE voids != '[]';
        CREATE INDEX matches_by_correction ON matches (annulled) WHERE annulled IS NOT NULL;
        """
    )
    known = db.execute(
        "SELECT created AS at, 'submit' AS what, label, NULL FROM versions WHERE origin = 'submitted'"
        " UNION ALL SELECT retired, 'retire', label, NULL FROM versions WHERE retired IS NOT NULL"
        " UNION ALL SELECT forgiven, 'forgive', version, ladder FROM chances WHERE forgiven IS NOT NULL"
        " ORDER BY at, what DESC, label"
    ).fetchall()
    before = b""
    for number, (at, what, label, ladder) in enumerate(known, 1):
        row = [number, at, None, what, label, ladder, None, None, None]
        before = sha256(canonical_json([before.hex(), *row, []]).encode()).digest()
        db.execute("INSERT INTO corrections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [*row, before])


def _12_logs(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE logs (             -- what bots printed; the oldest of a bot go first
            id INTEGER PRIMARY KEY,
            bot TEXT NOT NULL,          -- name
            match TEXT REFERENCES matches,  -- NULL: a piece that belongs to no match by itself
            seat INTEGER,
            process TEXT NOT NULL,      -- which of all processes of bots printed it
            since INTEGER NOT NULL,     -- of a piece its number; else that of the first piece that came meanwhile
            until INTEGER NOT NULL,     -- number of the first piece that came later
            lines BLOB NOT NULL         -- gzipped JSON: [number of the decision or null, text] for each line
        ) STRICT;
        CREATE INDEX logs_by_match ON logs (match, seat) WHERE match IS NOT NULL;
        CREATE INDEX logs_by_process ON logs (process, since) WHERE match IS NULL;
        CREATE INDEX logs_by_bot ON logs (bot, id);

        CREATE TABLE log_sizes (        -- how much of each bot is in logs
            bot TEXT PRIMARY KEY,
            bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
    )


def _13_zero(db: Database) -> None:
    # Whose mean mu is the zero of ratings. Ladders that were begun before keep theirs, the field as it is at a time.
    db.execute(
        "ALTER TABLE ladders ADD COLUMN zero TEXT NOT NULL DEFAULT 'field' CHECK (zero IN ('field', 'founders'))"
    )


def _14_beta(db: Database) -> None:
    # What ratings were computed by names beta, too; until now it was the same in every arena, as was this version.
    db.execute(
        "UPDATE ladders SET rated_by = replace(rated_by, 'trueskill 0.4.5', 'trueskill 0.4.5, beta 4.16667')"
        " WHERE rated_by NOT LIKE '%, beta %'"
    )


MIGRATIONS: list[Callable[[Database], None]] = [
    _1_everything,
    _2_builds,
    _3_more_to_check,
    _4_settled_ratings,
    _5_kept_hash,
    _6_packed,
    _7_phases_and_chances,
    _8_dropped,
    _9_even_legs,
    _10_sums,
    _11_corrections,
    _12_logs,
    _13_zero,
    _14_beta,
]
