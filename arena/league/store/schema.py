"""The tables of leagues, which are added to a database when a league opens it.

Laws that the schema keeps by itself:
1. A bot has at most one active version, one that is being prepared, and one that waits.
2. One content is one version of a bot, and numbers of versions are never used again.
3. The history of changes is only appended to.
4. At most one season is open.
"""

from __future__ import annotations

from typing import Any, Final

from arena.core.face import Payload, plugs
from arena.league.store import lines

STATES: Final = (
    "'received', 'building', 'checking', 'qualifying', 'active', 'superseded', 'suspended', 'rejected', 'retired'"
)
"""The names of the states, as `arena.league.store.states` has them."""

TABLES: Final = (
    # Names differ by more than upper and lower case. `quotas` is JSON: limits that differ from those of the league.
    """CREATE TABLE authors (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL COLLATE NOCASE UNIQUE,
        status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'removed')),
        quotas TEXT NOT NULL DEFAULT '{}',
        created TEXT NOT NULL
    )""",
    """CREATE TABLE keys (
        public_key TEXT PRIMARY KEY,
        author INTEGER NOT NULL REFERENCES authors (id),
        label TEXT NOT NULL,
        made TEXT NOT NULL,
        revoked TEXT
    )""",
    "CREATE INDEX keys_by_author ON keys (author)",
    """CREATE TABLE bots (
        id INTEGER PRIMARY KEY,
        author INTEGER NOT NULL REFERENCES authors (id),
        name TEXT NOT NULL COLLATE NOCASE UNIQUE
    )""",
    "CREATE INDEX bots_by_author ON bots (author)",
    # `since` is when it came into its state. `entrant` is its number in the season's tournament, once it was active in
    # it; `first_game` the first game since it is active, before which forfeits are forgiven. `attempts` counts faults
    # of the machine in its present state. `activated` and `suspended` are when it first was.
    f"""CREATE TABLE versions (
        id INTEGER PRIMARY KEY,
        bot INTEGER NOT NULL REFERENCES bots (id),
        number INTEGER NOT NULL CHECK (number >= 1),
        digest TEXT NOT NULL,
        manifest TEXT NOT NULL,
        size INTEGER NOT NULL CHECK (size >= 0),
        level TEXT NOT NULL,
        received TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ({STATES})),
        since TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        predecessor INTEGER REFERENCES versions (id),
        entrant INTEGER,
        first_game INTEGER NOT NULL DEFAULT 0,
        activated TEXT,
        suspended TEXT,
        UNIQUE (bot, number),
        UNIQUE (bot, digest)
    )""",
    "CREATE UNIQUE INDEX versions_active ON versions (bot) WHERE state = 'active'",
    "CREATE UNIQUE INDEX versions_prepared ON versions (bot) WHERE state IN ('building', 'checking', 'qualifying')",
    "CREATE UNIQUE INDEX versions_waiting ON versions (bot) WHERE state = 'received'",
    "CREATE INDEX versions_by_state ON versions (state, id)",
    "CREATE INDEX versions_by_entrant ON versions (entrant) WHERE entrant IS NOT NULL",
    f"""CREATE TABLE changes (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL REFERENCES versions (id),
        old TEXT CHECK (old IN ({STATES})),
        new TEXT NOT NULL CHECK (new IN ({STATES})),
        actor TEXT NOT NULL CHECK (actor IN ('author', 'operator', 'service')),
        reason TEXT NOT NULL,
        at TEXT NOT NULL
    )""",
    "CREATE INDEX changes_by_version ON changes (version, id)",
    *(
        f"CREATE TRIGGER changes_{verb.lower()} BEFORE {verb} ON changes"
        " BEGIN SELECT RAISE(ABORT, 'changes are only appended to'); END"
        for verb in ("UPDATE", "DELETE")
    ),
    # What came of a step. `report` is JSON, and `output` the last of what the step wrote.
    """CREATE TABLE reports (
        version INTEGER NOT NULL REFERENCES versions (id),
        kind TEXT NOT NULL CHECK (kind IN ('build', 'check', 'qualify')),
        attempt INTEGER NOT NULL CHECK (attempt >= 1),
        verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'machine')),
        report TEXT NOT NULL,
        output BLOB NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (version, kind, attempt)
    )""",
    # One deal in all its seatings. It is over when each of its games is done or void, and void if none is done.
    # `settled` is when that was noted, `published` when its logs and its deal's secret were out.
    """CREATE TABLE matches (
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        number INTEGER NOT NULL,
        players INTEGER NOT NULL CHECK (players >= 2),
        deal INTEGER NOT NULL,
        why TEXT NOT NULL,
        rated INTEGER NOT NULL CHECK (rated IN (0, 1)),
        state TEXT NOT NULL DEFAULT 'playing' CHECK (state IN ('playing', 'over', 'void')),
        reason TEXT,
        planned TEXT NOT NULL,
        settled TEXT,
        published TEXT,
        PRIMARY KEY (tournament, number),
        UNIQUE (tournament, deal),
        CHECK ((state = 'playing') = (settled IS NULL)),
        CHECK (published IS NULL OR settled IS NOT NULL)
    ) WITHOUT ROWID""",
    "CREATE INDEX matches_playing ON matches (tournament, number) WHERE state = 'playing'",
    "CREATE INDEX matches_unpublished ON matches (tournament, number) WHERE state <> 'playing' AND published IS NULL",
    # Who meets in a match that is not void.
    """CREATE TABLE meetings (
        tournament TEXT NOT NULL,
        entrant INTEGER NOT NULL,
        match INTEGER NOT NULL,
        PRIMARY KEY (tournament, entrant, match),
        FOREIGN KEY (tournament, match) REFERENCES matches (tournament, number),
        FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
    ) WITHOUT ROWID""",
    "CREATE INDEX meetings_by_match ON meetings (tournament, match)",
    # How many matches with so many seats an entrant has, those that are being played too.
    """CREATE TABLE seat_counts (
        tournament TEXT NOT NULL,
        entrant INTEGER NOT NULL,
        players INTEGER NOT NULL,
        matches INTEGER NOT NULL CHECK (matches >= 0),
        PRIMARY KEY (tournament, entrant, players),
        FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
    ) WITHOUT ROWID""",
    # `digest` is over the season's results and `digest_before`, that of the season before it.
    """CREATE TABLE seasons (
        number INTEGER PRIMARY KEY,
        tournament TEXT NOT NULL UNIQUE REFERENCES tournaments (id),
        name TEXT NOT NULL COLLATE NOCASE UNIQUE,
        opened TEXT NOT NULL,
        closed TEXT,
        standings TEXT,
        digest TEXT,
        digest_before TEXT NOT NULL DEFAULT '',
        CHECK ((closed IS NULL) = (digest IS NULL) AND (closed IS NULL) = (standings IS NULL))
    )""",
    "CREATE UNIQUE INDEX seasons_open ON seasons ((closed IS NULL)) WHERE closed IS NULL",
    # `author` is for whom; NULL is the operator.
    """CREATE TABLE notices (
        id INTEGER PRIMARY KEY,
        author INTEGER REFERENCES authors (id),
        version INTEGER REFERENCES versions (id),
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL,
        read TEXT
    )""",
    "CREATE INDEX notices_by_author ON notices (author, read, id)",
    # Orders that were obeyed, under the id that their giver chose: one that is delivered twice is obeyed once.
    """CREATE TABLE commands (
        id TEXT PRIMARY KEY,
        verb TEXT NOT NULL,
        author TEXT,
        arguments TEXT NOT NULL,
        at TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('done', 'refused')),
        answer TEXT NOT NULL
    )""",
    "CREATE INDEX commands_by_author ON commands (author, verb, at)",
    # What orders set for as long as nothing else is ordered, such as a pause. `value` is JSON.
    """CREATE TABLE controls (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID""",
)  # fmt: skip

MARKS: Final = (
    # The end of a day of which earlier versions kept one rating of each version: from game `first` up to `number`.
    # None is made any more.
    """CREATE TABLE rating_marks (
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        number INTEGER NOT NULL,
        first INTEGER NOT NULL CHECK (first < number),
        at TEXT NOT NULL,
        entrant INTEGER DEFAULT 0,
        PRIMARY KEY (tournament, number)
    ) WITHOUT ROWID""",
    "CREATE INDEX rating_marks_open ON rating_marks (tournament, number) WHERE entrant IS NOT NULL",
)

REMAKING: Final = (
    # Whose ratings an earlier version was making again: from game `first` on, up to game `number` so far.
    # `longest` is a list (JSON) of entrants whose longest decision is to be looked up again at the end.
    """CREATE TABLE remaking (
        tournament TEXT PRIMARY KEY REFERENCES tournaments (id),
        first INTEGER NOT NULL CHECK (first >= 0),
        number INTEGER NOT NULL CHECK (number >= first),
        longest TEXT NOT NULL
    ) WITHOUT ROWID""",
)

OF_LEAGUES: Final = plugs.Tables(
    steps={
        "0001_leagues": ("seasons.number", TABLES),
        # JSON (`arena.league.store.records.SeasonFinal`): who plays the final, from which match on, what came of it.
        "0002_finals": ("seasons.final", ("ALTER TABLE seasons ADD COLUMN final TEXT",)),
        "0003_rating_marks": ("rating_marks.number", MARKS),
        "0004_remaking": ("remaking.number", REMAKING),
        # The first of the matches that were planned together. Before that was noted each was by itself.
        "0005_together": (
            "matches.together",
            ("ALTER TABLE matches ADD COLUMN together INTEGER", "UPDATE matches SET together = number"),
        ),
        "0006_lines": ("season_lines.number", lines.TABLE),
    },
    documents={
        "authors.quotas": dict[str, int],
        "commands.answer": Any,
        "commands.arguments": Payload,
        "remaking.longest": tuple[int, ...],
        "reports.report": Payload,
        "season_lines.line": Any,
        "seasons.final": Any,
        "seasons.standings": Any,
        "versions.manifest": Payload,
    },
)
