-- The tables of a new database. They are those of one that every step of `migrations.py` has brought up to date.

CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);

CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
ON "_sqlite_migrations" ("migration_set", "name");

CREATE TABLE entrants (
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    spec TEXT NOT NULL, mu0 REAL NOT NULL DEFAULT 25.0, sigma0 REAL NOT NULL DEFAULT 8.333333333333334, gone TEXT,
    PRIMARY KEY (tournament, number),
    UNIQUE (tournament, name)
);

CREATE TABLE pools (
    id INTEGER PRIMARY KEY,
    rules TEXT NOT NULL,
    rules_version INTEGER NOT NULL,
    ruleset TEXT NOT NULL,
    options TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE
);

CREATE TABLE "ratings" (
    pool INTEGER NOT NULL,
    tournament TEXT NOT NULL,
    entrant INTEGER NOT NULL,
    number INTEGER NOT NULL,
    mu REAL NOT NULL,
    sigma REAL NOT NULL,
    PRIMARY KEY (tournament, entrant, number),
    FOREIGN KEY (tournament, pool) REFERENCES tournaments (id, pool),
    FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number),
    FOREIGN KEY (tournament, number) REFERENCES games (tournament, number)
);

CREATE TABLE "tournaments" (
    id TEXT PRIMARY KEY,
    pool INTEGER NOT NULL REFERENCES pools (id),
    created TEXT NOT NULL,
    settings TEXT NOT NULL,
    digest TEXT NOT NULL,
    seed TEXT,
    secret TEXT NOT NULL,
    commitment TEXT NOT NULL,
    beacon TEXT NOT NULL DEFAULT '',
    entropy TEXT,
    logs TEXT NOT NULL,
    games INTEGER NOT NULL CHECK (games >= 0),
    open INTEGER NOT NULL DEFAULT 0 CHECK (open IN (0, 1)),
    rated INTEGER NOT NULL DEFAULT 0 CHECK (rated BETWEEN 0 AND games),
    seconds REAL NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished')),
    finished TEXT,
    UNIQUE (id, pool),
    CHECK ((status = 'finished') = (finished IS NOT NULL)),
    CHECK (status = 'running' OR (rated = games AND NOT open))
);

CREATE TABLE "games" (
    id TEXT PRIMARY KEY,
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    number INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    rotation INTEGER NOT NULL,
    seating TEXT,
    status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'running', 'done', 'void')),
    reason TEXT CHECK (reason IS NULL OR status = 'void'),
    attempt INTEGER NOT NULL DEFAULT 0,
    termination TEXT CHECK (termination <> 'interrupted'),
    turns INTEGER,
    actions INTEGER,
    seconds REAL,
    log TEXT,
    log_sha256 TEXT,
    play_digest TEXT,
    transcripts TEXT, finished TEXT, level TEXT NOT NULL DEFAULT 'trusted', match INTEGER, counts INTEGER NOT NULL DEFAULT 1 CHECK (counts IN (0, 1)), worker TEXT, lease_until REAL, public_sha256 TEXT, struck TEXT,
    UNIQUE (tournament, number),
    CHECK ((status = 'done') = (termination IS NOT NULL AND play_digest IS NOT NULL AND log_sha256 IS NOT NULL))
);

CREATE INDEX games_by_status ON games (tournament, status, number);

CREATE TABLE rounds (
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    deals INTEGER NOT NULL,
    meetings TEXT NOT NULL,
    byes TEXT NOT NULL,
    first_game INTEGER NOT NULL,
    games INTEGER NOT NULL, parameters TEXT,
    PRIMARY KEY (tournament, number)
);

CREATE TABLE tallies (
    tournament TEXT NOT NULL,
    entrant INTEGER NOT NULL,
    games INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    forfeits INTEGER NOT NULL,
    decisions INTEGER NOT NULL,
    total_ms REAL NOT NULL,
    max_ms REAL NOT NULL,
    score INTEGER NOT NULL,
    scored INTEGER NOT NULL, measured INTEGER NOT NULL DEFAULT 0, off_turn_cpu_ms INTEGER NOT NULL DEFAULT 0, others_ms REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (tournament, entrant),
    FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
) WITHOUT ROWID;

CREATE TABLE pairs (
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    deal INTEGER NOT NULL,
    one INTEGER NOT NULL,
    other INTEGER NOT NULL CHECK (one < other),
    better INTEGER NOT NULL,
    equal INTEGER NOT NULL,
    worse INTEGER NOT NULL, margin INTEGER,
    PRIMARY KEY (tournament, deal, one, other)
) WITHOUT ROWID;

CREATE TABLE fits (
    tournament TEXT NOT NULL,
    entrant INTEGER NOT NULL,
    rating REAL NOT NULL,
    half_width REAL,
    rank INTEGER NOT NULL,
    PRIMARY KEY (tournament, entrant),
    FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
) WITHOUT ROWID;

CREATE INDEX games_by_finish ON games (finished);

CREATE INDEX games_by_match ON games (tournament, match) WHERE match IS NOT NULL;

CREATE TABLE "seats" (
    game TEXT NOT NULL REFERENCES games (id),
    seat INTEGER NOT NULL,
    entrant INTEGER NOT NULL,
    figures TEXT NOT NULL,
    rank INTEGER NOT NULL AS (json_extract(figures, '$.rank')),
    decisions INTEGER NOT NULL AS (json_extract(figures, '$.decisions')),
    total_ms REAL NOT NULL AS (json_extract(figures, '$.total_ms')),
    max_ms REAL NOT NULL AS (json_extract(figures, '$.max_ms')),
    score INTEGER AS (json_extract(figures, '$.score')),
    margin INTEGER AS (json_extract(figures, '$.margin')),
    team INTEGER AS (json_extract(figures, '$.team')),
    off_turn_cpu_ms INTEGER AS (json_extract(figures, '$.off_turn_cpu_ms')),
    forfeit TEXT AS (json_extract(figures, '$.forfeit.code')),
    sentence TEXT AS (json_extract(figures, '$.forfeit.sentence')),
    turn INTEGER AS (json_extract(figures, '$.forfeit.turn')),
    stderr TEXT AS (json_extract(figures, '$.forfeit.stderr')),
    overloaded INTEGER AS (json_extract(figures, '$.forfeit.overloaded')),
    denied_ms INTEGER AS (json_extract(figures, '$.forfeit.denied_ms')),
    PRIMARY KEY (game, seat),
    UNIQUE (game, entrant),
    CHECK (rank >= 1)
);
