-- The tables of a new database. Whoever changes them adds a step to `migrations.py`, which leads from what was there
-- before: a test holds both together. A column that came later stands where `ALTER TABLE` puts it.

CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);

CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
ON "_sqlite_migrations" ("migration_set", "name");

-- Steps of before the first release: arena 0.2.0 looks for them before it says that a later version wrote a file.
INSERT INTO _sqlite_migrations (migration_set, name, applied_at) SELECT 'arena', value, datetime('now') || '+00:00'
FROM json_each('[
    "0001_tournaments", "0002_pools", "0003_claimed_games", "0004_game_settings", "0005_contributions",
    "0006_formats", "0007_views", "0008_levels", "0009_off_turn", "0010_leagues", "0011_leases",
    "0012_finals", "0013_rating_marks", "0014_public_logs", "0015_remaking", "0016_together",
    "0017_margins", "0018_parameters"
]');

-- Who plays. One may begin with a rating of its own, and may leave while others play on.
CREATE TABLE entrants (
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    spec TEXT NOT NULL,
    mu0 REAL NOT NULL DEFAULT 25.0,
    sigma0 REAL NOT NULL DEFAULT 8.333333333333334,
    gone TEXT,
    PRIMARY KEY (tournament, number),
    UNIQUE (tournament, name)
);

-- What must be equal for ratings to be comparable; `digest` is over all of it.
CREATE TABLE pools (
    id INTEGER PRIMARY KEY,
    rules TEXT NOT NULL,
    rules_version INTEGER NOT NULL,
    ruleset TEXT NOT NULL,
    options TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE
);

-- The rating of an entrant after game `number`; the last row is the current rating. It belongs to its tournament's
-- pool: no row can say otherwise, and no tournament with ratings can change pools.
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

-- `digest` is over `settings`: the same settings mean the same tournament. `games` is the number of games planned so far,
-- and `open` says whether more may be planned. `rated` games, in schedule order, have moved the ratings. `seconds` is the
-- time spent playing, over all runs.
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

-- `number` is the place in the schedule. A `planned` game waits for a claim. `attempt` counts claims: a result is taken only
-- from the last one. `seating` is a JSON array of the entrants' numbers, by seat, from the last claim on. A `void` game has
-- no result and never will: ratings pass over it; it may have been played, and then has a log. A game may belong to a
-- `match`, and then may not count: one such moves no rating and is in no sum. `worker` is that of a cluster. `public_sha256`
-- is the digest of its log as everybody sees it. `struck` says by whom, when and why its result was taken back, as JSON.
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
    transcripts TEXT,
    finished TEXT,
    level TEXT NOT NULL DEFAULT 'trusted',
    match INTEGER,
    counts INTEGER NOT NULL DEFAULT 1 CHECK (counts IN (0, 1)),
    worker TEXT,
    lease_until REAL,
    public_sha256 TEXT,
    struck TEXT,
    UNIQUE (tournament, number),
    CHECK ((status = 'done') = (termination IS NOT NULL AND play_digest IS NOT NULL AND log_sha256 IS NOT NULL))
);

CREATE INDEX games_by_status ON games (tournament, status, number);

-- A round of a format whose rounds depend on results. `meetings` is a JSON array of [first deal, [entrants]], `first_game`
-- the number of its first game, and `parameters` has by entrant the values that its bot is sent.
CREATE TABLE rounds (
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    deals INTEGER NOT NULL,
    meetings TEXT NOT NULL,
    byes TEXT NOT NULL,
    first_game INTEGER NOT NULL,
    games INTEGER NOT NULL,
    parameters TEXT,
    PRIMARY KEY (tournament, number)
);

-- Sums over the games that are done, by entrant. `score` is over the `scored` games, those that have scores; `others_ms` is
-- the time that opponents thought in the `measured` games, those in which CPU time off turn was measured.
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
    scored INTEGER NOT NULL,
    measured INTEGER NOT NULL DEFAULT 0,
    off_turn_cpu_ms INTEGER NOT NULL DEFAULT 0,
    others_ms REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (tournament, entrant),
    FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
) WITHOUT ROWID;

-- Sums over the games that are done, by deal and by two entrants, the smaller number first: in how many `one` had the
-- better rank, an equal one, a worse one, and by how much it was ahead.
CREATE TABLE pairs (
    tournament TEXT NOT NULL REFERENCES tournaments (id),
    deal INTEGER NOT NULL,
    one INTEGER NOT NULL,
    other INTEGER NOT NULL CHECK (one < other),
    better INTEGER NOT NULL,
    equal INTEGER NOT NULL,
    worse INTEGER NOT NULL,
    margin INTEGER,
    PRIMARY KEY (tournament, deal, one, other)
) WITHOUT ROWID;

-- The ratings of the refit, stored when a tournament finishes.
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

-- What a seat did, as its log tells it. A column is computed for what is asked for in SQL.
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
