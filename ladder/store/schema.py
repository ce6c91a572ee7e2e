"""The tables, as numbered changes: append to them, never edit. Times are seconds since 1970; JSON is canonical text.

The comments are what the reference says of tables and columns: `scripts/reference`.
"""

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
        CREATE TABLE versions (         -- versions of bots; a version never changes
            label TEXT PRIMARY KEY CHECK (label = name || '@' || number),  -- name and number, such as `greedy@2`
            name TEXT NOT NULL,         -- of the bot
            number INTEGER NOT NULL CHECK (number >= 1),  -- of the version, from 1
            digest TEXT NOT NULL,       -- SHA-256 of its program, and the name of the folder in `bots`
            games TEXT NOT NULL,        -- JSON: names of the games that it plays
            run TEXT NOT NULL,          -- JSON: the command that starts it, in words
            origin TEXT NOT NULL CHECK (origin IN ('built-in', 'submitted')),  -- `built-in` or `submitted`
            created REAL NOT NULL,      -- when it was entered
            retired REAL,               -- when it was taken out of ladders
            UNIQUE (name, number)
        ) STRICT;

        CREATE TABLE ladders (          -- rated competitions
            -- follows from the game, the seats, the options, the limits and the version of the rules
            id TEXT PRIMARY KEY,
            game TEXT NOT NULL,         -- name of the game
            seats INTEGER NOT NULL CHECK (seats >= 2),  -- number of players
            options TEXT NOT NULL,      -- JSON: options of the game with their values
            limits TEXT NOT NULL,       -- JSON: seconds, by name
            rules_version INTEGER NOT NULL,  -- version of the rules of the game
            draw_probability REAL NOT NULL,  -- how likely the ratings take a tie of two equal bots to be
            -- 32 bytes from which the seeds of all groups follow
            event_seed BLOB NOT NULL CHECK (length(event_seed) = 32),
            seed_text TEXT,             -- what the event seed is the hash of, if somebody chose it
            created REAL NOT NULL,      -- when it was begun
            last_played REAL,           -- when a run last stored something
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
            voids TEXT NOT NULL DEFAULT '[]',  -- JSON: why each attempt was void
            finished REAL,
            choices_digest BLOB,
            replay_digest BLOB,
            UNIQUE (ladder, seq)
        ) STRICT;
        CREATE INDEX matches_by_status ON matches (ladder, status, seq);
        CREATE INDEX matches_by_group ON matches (group_id);

        CREATE TABLE seats (            -- seats of finished matches
            match TEXT NOT NULL REFERENCES matches,
            seat INTEGER NOT NULL,      -- from 0
            version TEXT NOT NULL REFERENCES versions,
            rank INTEGER NOT NULL,      -- 0 is the best; equal ranks tie
            score TEXT NOT NULL,        -- a whole number; some games know no largest one
            forfeit TEXT,               -- the reason, if it forfeited
            evidence TEXT,              -- JSON: what is kept of the forfeit for the bot's author
            decisions INTEGER NOT NULL,  -- how often it answered
            think_total REAL NOT NULL,  -- seconds that all its answers took
            think_max REAL NOT NULL,    -- seconds that the longest answer took
            PRIMARY KEY (match, seat)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX seats_by_version ON seats (version);

        CREATE TABLE replays (          -- records of finished matches
            match TEXT PRIMARY KEY REFERENCES matches,
            -- gzipped JSON: `format` (2; 1 had no forfeits), `conditions` (the sandbox, how busy the machine was), and
            -- `choices`, `forfeits`, `times_ms` and `charged_ms` as in the document of `arena replay --json`
            replay BLOB NOT NULL
        ) STRICT;

        CREATE TABLE ratings (          -- ratings of versions
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            mu REAL NOT NULL,           -- estimated skill
            sigma REAL NOT NULL,        -- uncertainty of mu
            matches INTEGER NOT NULL,   -- rated matches
            wins INTEGER NOT NULL,      -- first places alone
            ties INTEGER NOT NULL,      -- shared first places
            losses INTEGER NOT NULL,    -- all other places
            rank_sum INTEGER NOT NULL,  -- sum of the ranks, which count from 0
            forfeits INTEGER NOT NULL,  -- rated matches that it forfeited
            PRIMARY KEY (ladder, version)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE history (          -- ratings after each match that was rated
            ladder TEXT NOT NULL REFERENCES ladders,
            seq INTEGER NOT NULL,       -- of the match that was folded
            ratings TEXT NOT NULL,      -- JSON: label to [mu, sigma] after it, its seats only
            PRIMARY KEY (ladder, seq)
        ) STRICT, WITHOUT ROWID;
        """
    )


def _2_builds(db: Database) -> None:
    db.execute("ALTER TABLE versions ADD COLUMN built TEXT")  # SHA-256 of what a build made of it


def _3_more_to_check(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE legs (  -- lists of groups that a run found missing; legs of the oldest arenas have no row
            ladder TEXT NOT NULL REFERENCES ladders,
            leg INTEGER NOT NULL,       -- number, from 0
            field TEXT NOT NULL,        -- JSON: labels of the bots
            rounds INTEGER NOT NULL,    -- how many rounds the run wanted
            PRIMARY KEY (ladder, leg)
        ) STRICT, WITHOUT ROWID;

        -- SHA-256 over all else that is stored of the match once it was tried, see results.digest
        ALTER TABLE matches ADD COLUMN digest BLOB;

        -- JSON: the versions of Python, the C library and TrueSkill that computed the ratings, and beta; several after
        -- an update
        ALTER TABLE ladders ADD COLUMN rated_by TEXT NOT NULL DEFAULT '[]';
        """
    )


def _4_settled_ratings(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE settled (          -- ratings that no order of matches can change
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            mu REAL NOT NULL,           -- above the mean of all
            sigma REAL NOT NULL,        -- uncertainty of mu
            PRIMARY KEY (ladder, version)
        ) STRICT, WITHOUT ROWID;

        -- how many matches the settled ratings cover
        ALTER TABLE ladders ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
        """
    )


def _5_kept_hash(db: Database) -> None:
    # the ladder hash, as long as nothing was recorded or rated since: of 100,000 matches it takes a second to compute
    db.execute("ALTER TABLE ladders ADD COLUMN hash TEXT")


def _6_packed(db: Database) -> None:
    # 1 if it came as an archive, as programs of strangers do, and never as a folder
    db.execute("ALTER TABLE versions ADD COLUMN packed INTEGER NOT NULL DEFAULT 0")


def _7_phases_and_chances(db: Database) -> None:
    db.executescript(
        """
        CREATE TABLE blocks (           -- groups whose phases were played in turn; the last block may not be there yet
            ladder TEXT NOT NULL REFERENCES ladders,
            begin INTEGER NOT NULL,     -- the seq of its first match
            end INTEGER NOT NULL,       -- the seq of the first match after it
            PRIMARY KEY (ladder, begin)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE legs ADD COLUMN phased INTEGER NOT NULL DEFAULT 0;  -- 1 if all of it was played in phases

        -- second chances that versions used: a process failed with several matches in play, or was killed
        CREATE TABLE chances (
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            used REAL NOT NULL,         -- when it failed
            evidence TEXT NOT NULL,     -- JSON: what it did
            forgiven REAL,              -- when somebody gave it back
            PRIMARY KEY (ladder, version, used)
        ) STRICT, WITHOUT ROWID;
        """
    )


def _8_dropped(db: Database) -> None:
    # A constraint can only be changed in a new table; nothing refers to the old ones while a migration runs.
    db.executescript(
        """
        CREATE TABLE new_groups (       -- line-ups on one seed, each played in all rotations
            id INTEGER PRIMARY KEY,     -- number that its matches name
            ladder TEXT NOT NULL REFERENCES ladders,
            leg INTEGER NOT NULL,       -- number of the leg that planned it, from 0
            position INTEGER NOT NULL,  -- its place in the leg, from 0
            round INTEGER NOT NULL,     -- number of its round, from 0
            bots TEXT NOT NULL,         -- JSON: labels in canonical cyclic order
            again INTEGER NOT NULL DEFAULT 0,  -- how many groups of these bots in this round were dropped before
            seed BLOB NOT NULL CHECK (length(seed) = 32),  -- 32 bytes from which the dice of its matches follow
            dropped REAL,               -- when what was not played yet was taken out
            absent INTEGER,             -- the first leg that counts it as not there
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
            voids TEXT NOT NULL DEFAULT '[]',  -- JSON: why each attempt was void
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
        -- 1 if all bots have played about equally often wherever a round ends; 0 for legs of older arenas
        ALTER TABLE legs ADD COLUMN even INTEGER NOT NULL DEFAULT 0;
        -- how many groups it has, if a run with --for, --until or --matches planned no more or ended it
        ALTER TABLE legs ADD COLUMN most INTEGER;
        """
    )


def _10_sums(db: Database) -> None:
    # Sums that ladder/store/sums.py computes of every match that is rated, and times.py of every match that is done.
    db.executescript(
        """
        CREATE TABLE seat_sums (        -- rated matches of a version in a seat
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            seat INTEGER NOT NULL,      -- from 0
            matches INTEGER NOT NULL,   -- rated matches
            wins INTEGER NOT NULL,      -- first places alone
            ties INTEGER NOT NULL,      -- shared first places
            losses INTEGER NOT NULL,    -- all other places
            rank_sum INTEGER NOT NULL,  -- sum of the ranks, which count from 0
            halves INTEGER NOT NULL,    -- half points: 2 for each seat that it finished before, 1 for a tie with one
            PRIMARY KEY (ladder, version, seat)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE pair_sums (        -- groups of two versions of which every match is rated; the first is the lesser
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            opponent TEXT NOT NULL REFERENCES versions,
            groups INTEGER NOT NULL,    -- how many
            halves INTEGER NOT NULL,    -- half points that the first took from the second, summed over the groups
            squares INTEGER NOT NULL,   -- sum of the squares of these half points, group by group
            PRIMARY KEY (ladder, version, opponent)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE triple_sums (      -- groups in which a version met two others; none with two players
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            opponent TEXT NOT NULL REFERENCES versions,
            other TEXT NOT NULL REFERENCES versions,
            groups INTEGER NOT NULL,    -- how many
            halves INTEGER NOT NULL,    -- half points that the lesser of version and opponent took from the greater
            other_halves INTEGER NOT NULL,  -- half points that the lesser of version and other took from the greater
            products INTEGER NOT NULL,  -- sum of the products of both, group by group
            PRIMARY KEY (ladder, version, opponent, other)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notable (          -- the few rated matches of a version that are worth looking at first
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            kind TEXT NOT NULL,         -- `forfeit`, `lost`, `won` or `narrow`
            seq INTEGER NOT NULL,       -- of the match
            value REAL NOT NULL,        -- the larger, the more notable
            other TEXT REFERENCES versions,  -- to whom it lost, or against whom it won
            PRIMARY KEY (ladder, version, kind, seq)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE time_sums (        -- times of all decisions of a version, as replays have them
            ladder TEXT NOT NULL REFERENCES ladders,
            version TEXT NOT NULL REFERENCES versions,
            -- JSON: [bucket, number of decisions] for each bucket that has any; bucket n ends at 0.01 · 2^(n/4) ms
            counts TEXT NOT NULL,
            longest_ms REAL NOT NULL,   -- the longest decision
            PRIMARY KEY (ladder, version)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE times_known (      -- one row: how far `time_sums` goes
            replay INTEGER PRIMARY KEY  -- the rowid of the last replay that is in `time_sums`
        ) STRICT;
        INSERT INTO times_known VALUES (0);

        -- the seq of the first match in none of the sums
        ALTER TABLE ladders ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;

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
            id INTEGER PRIMARY KEY,     -- from 1
            at REAL NOT NULL,           -- when it was made
            who TEXT,                   -- user of the operating system, unknown for what is older than this table
            what TEXT NOT NULL,  -- `submit`, `retire`, `reinstate`, `forgive`, `annul`, `ban`, `unban` or `rename`
            subject TEXT NOT NULL,      -- a match, a label or the name of a bot
            ladder TEXT REFERENCES ladders,
            since REAL,                 -- matches finished earlier were not annulled
            title TEXT,                 -- the new name of a bot
            why TEXT,                   -- the reason that was given
            digest BLOB NOT NULL        -- SHA-256 over the row, the matches that it annulled and the row before
        ) STRICT;

        CREATE TABLE new_matches (      -- matches, each one rotation of a group
            id TEXT PRIMARY KEY,        -- what `arena show` takes
            ladder TEXT NOT NULL REFERENCES ladders,
            group_id INTEGER NOT NULL REFERENCES groups,
            rotation INTEGER NOT NULL,  -- by how many seats the line-up of the group is turned
            seq INTEGER NOT NULL,       -- schedule order, over all legs of the ladder
            status TEXT NOT NULL DEFAULT 'scheduled'  -- `scheduled`, `done`, `unplayable`, `dropped` or `annulled`
                CHECK (status IN ('scheduled', 'done', 'unplayable', 'dropped', 'annulled')),
            voids TEXT NOT NULL DEFAULT '[]',  -- JSON: why each attempt was void
            finished REAL,              -- when it ended
            choices_digest BLOB,        -- SHA-256 of all choices
            replay_digest BLOB,         -- SHA-256 of the record in `replays`
            digest BLOB,                -- SHA-256 over all else that is stored of it once it was tried
            -- the correction that let it no longer count
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
            id INTEGER PRIMARY KEY,     -- in the order in which they came
            bot TEXT NOT NULL,          -- name
            match TEXT REFERENCES matches,  -- NULL: a piece that belongs to no match by itself
            seat INTEGER,               -- from 0; NULL for a piece that belongs to no match
            process TEXT NOT NULL,      -- which of all processes of bots printed it
            since INTEGER NOT NULL,     -- of a piece its number; else the number of the first piece that came meanwhile
            until INTEGER NOT NULL,     -- number of the first piece that came later
            lines BLOB NOT NULL         -- gzipped JSON: [number of the decision or null, text] for each line
        ) STRICT;
        CREATE INDEX logs_by_match ON logs (match, seat) WHERE match IS NOT NULL;
        CREATE INDEX logs_by_process ON logs (process, since) WHERE match IS NULL;
        CREATE INDEX logs_by_bot ON logs (bot, id);

        CREATE TABLE log_sizes (        -- how much of each bot is in logs
            bot TEXT PRIMARY KEY,       -- name
            bytes INTEGER NOT NULL      -- in `logs`, with 200 for each row
        ) STRICT, WITHOUT ROWID;
        """
    )


def _13_zero(db: Database) -> None:
    db.execute(
        # whose mean mu is 0 in tables: the `founders`, which are the field of the first leg, or the `field` as it is at
        # a time, in ladders that an older arena began
        "ALTER TABLE ladders ADD COLUMN zero TEXT NOT NULL DEFAULT 'field' CHECK (zero IN ('field', 'founders'))"
    )


def _14_beta(db: Database) -> None:
    # What ratings were computed by names beta, too; until now it was the same in every arena, as was this version.
    db.execute(
        "UPDATE ladders SET rated_by = replace(rated_by, 'trueskill 0.4.5', 'trueskill 0.4.5, beta 4.16667')"
        " WHERE rated_by NOT LIKE '%, beta %'"
    )


def _15_pairing(db: Database) -> None:
    # What decides who meets whom: round robins in all ladders until now.
    db.execute("ALTER TABLE ladders ADD COLUMN pairing TEXT NOT NULL DEFAULT 'round-robin'")


def _16_legs_in_pieces(db: Database) -> None:
    db.executescript(
        """
        -- by which rule its groups were made, where the pairing has had several: 1 for all legs of older arenas
        ALTER TABLE legs ADD COLUMN rule INTEGER NOT NULL DEFAULT 1;
        -- 1 while more of its groups are to be stored, as they are reached; only the last leg can be
        ALTER TABLE legs ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
        """
    )


def _17_newcomers(db: Database) -> None:
    # JSON: in a leg in which new bots play their first matches, those of its field who are new; NULL in any other
    db.execute("ALTER TABLE legs ADD COLUMN newcomers TEXT")


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
    _15_pairing,
    _16_legs_in_pieces,
    _17_newcomers,
]
"""The steps from an empty database on; the n-th one leads to version n of the schema."""
