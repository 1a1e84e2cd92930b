"""Makes the database's tables by migrations. Each runs once, in one transaction with the record that it ran.

Never change a migration that was released: add another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import msgspec
from sqlite_utils import Database, Migrations

from arena.core.ratings.running import MU, SIGMA
from arena.core.store import views
from arena.core.store.records import canonical
from arena.core.types import Payload, TimeControl

migrations = Migrations("arena")

_TABLES = (
    # `digest` is over `settings`: the same settings mean the same tournament. `rated` games, in schedule order, have
    # moved the ratings. `seconds` is the time spent playing, over all runs.
    """CREATE TABLE tournaments (
        id TEXT PRIMARY KEY,
        created TEXT NOT NULL,
        settings TEXT NOT NULL,
        digest TEXT NOT NULL,
        seed TEXT,
        secret TEXT NOT NULL,
        commitment TEXT NOT NULL,
        logs TEXT NOT NULL,
        games INTEGER NOT NULL CHECK (games > 0),
        rated INTEGER NOT NULL DEFAULT 0 CHECK (rated BETWEEN 0 AND games),
        seconds REAL NOT NULL DEFAULT 0,
        status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished')),
        finished TEXT,
        CHECK ((status = 'finished') = (finished IS NOT NULL)),
        CHECK (status = 'running' OR rated = games)
    )""",
    """CREATE TABLE entrants (
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        digest TEXT NOT NULL,
        spec TEXT NOT NULL,
        PRIMARY KEY (tournament, number),
        UNIQUE (tournament, name)
    )""",
    # `number` is the place in the schedule. A `planned` game waits for a claim. `attempt` counts claims: a result is
    # taken only from the last one.
    """CREATE TABLE games (
        id TEXT PRIMARY KEY,
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        number INTEGER NOT NULL,
        pairing INTEGER NOT NULL,
        deal INTEGER NOT NULL,
        rotation INTEGER NOT NULL,
        status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'running', 'done')),
        attempt INTEGER NOT NULL DEFAULT 0,
        termination TEXT CHECK (termination <> 'interrupted'),
        turns INTEGER,
        actions INTEGER,
        seconds REAL,
        log TEXT,
        log_sha256 TEXT,
        play_digest TEXT,
        transcripts TEXT,
        UNIQUE (tournament, number),
        CHECK ((status = 'done') = (termination IS NOT NULL AND play_digest IS NOT NULL AND log_sha256 IS NOT NULL))
    )""",
    "CREATE INDEX games_by_status ON games (tournament, status, number)",
    # `forfeit` is the code; `stderr` the last lines, as a JSON array.
    """CREATE TABLE seats (
        game TEXT NOT NULL REFERENCES games (id),
        seat INTEGER NOT NULL,
        entrant INTEGER NOT NULL,
        rank INTEGER NOT NULL CHECK (rank >= 1),
        decisions INTEGER NOT NULL,
        total_ms REAL NOT NULL,
        max_ms REAL NOT NULL,
        forfeit TEXT,
        sentence TEXT,
        turn INTEGER,
        stderr TEXT,
        overloaded INTEGER,
        PRIMARY KEY (game, seat),
        UNIQUE (game, entrant)
    )""",
    # The rating of an entrant after game `number`; the last row is the current rating.
    """CREATE TABLE ratings (
        tournament TEXT NOT NULL,
        entrant INTEGER NOT NULL,
        number INTEGER NOT NULL,
        mu REAL NOT NULL,
        sigma REAL NOT NULL,
        PRIMARY KEY (tournament, entrant, number),
        FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number),
        FOREIGN KEY (tournament, number) REFERENCES games (tournament, number)
    )""",
)


@migrations(name="0001_tournaments")
def tournaments(db: Database) -> None:
    """Makes the tables of tournaments, their entrants, the schedule, results and ratings."""
    for statement in _TABLES:
        db.execute(statement)


# What must be equal for ratings to be comparable; `digest` is over all of it.
_POOLS = """CREATE TABLE pools (
        id INTEGER PRIMARY KEY,
        rules TEXT NOT NULL,
        rules_version INTEGER NOT NULL,
        ruleset TEXT NOT NULL,
        options TEXT NOT NULL,
        digest TEXT NOT NULL UNIQUE
    )"""

# `games` is the number of games planned so far, and `open` says whether more may be planned.
_OPEN_TOURNAMENTS = """CREATE TABLE new_tournaments (
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
    )"""

# Before 0006 neither a beacon nor entropy was noted, and all games were planned at the start.
_TOURNAMENTS = (
    re.sub(r"        (beacon|entropy|open) .*\n", "", _OPEN_TOURNAMENTS)
    .replace("games >= 0", "games > 0")
    .replace("(rated = games AND NOT open)", "rated = games")
)

# A rating belongs to its tournament's pool: no row can say otherwise, and no tournament with ratings can change pools.
_RATINGS = """CREATE TABLE new_ratings (
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
    )"""

_KEPT = "created, seed, secret, commitment, logs, games, rated, seconds, status, finished"
"""Columns of a tournament that are copied unchanged."""


@migrations(name="0002_pools")
def pools(db: Database) -> None:
    """Separates the ratings of different rules, and adds the race window to the settings."""
    db.execute(_POOLS)
    db.execute(_TOURNAMENTS)
    for id, settings in db.execute("SELECT id, settings FROM tournaments ORDER BY rowid").fetchall():
        now = canonical({"race_window_ms": 1.0} | msgspec.json.decode(settings))
        db.execute(
            f"INSERT INTO new_tournaments (id, pool, settings, digest, {_KEPT})"
            f" SELECT id, ?, ?, ?, {_KEPT} FROM tournaments WHERE id = ?",
            (_pool(db, now), now, _sha256(now), id),
        )
    db.execute("DROP TABLE tournaments")
    db.execute("ALTER TABLE new_tournaments RENAME TO tournaments")
    db.execute(_RATINGS)
    db.execute(
        "INSERT INTO new_ratings (pool, tournament, entrant, number, mu, sigma)"
        " SELECT pool, tournament, entrant, number, mu, sigma"
        " FROM ratings JOIN tournaments ON tournaments.id = ratings.tournament ORDER BY ratings.rowid"
    )
    db.execute("DROP TABLE ratings")
    db.execute("ALTER TABLE new_ratings RENAME TO ratings")


@migrations(name="0003_claimed_games")
def claimed_games(db: Database) -> None:
    """Removes the rows of games that were never claimed: the schedule is computed. `planned` games were given back.

    Earlier versions claimed games in schedule order too, so the first games of the schedule remain.
    """
    db.execute("DELETE FROM games WHERE status = 'planned' AND attempt = 0")


@migrations(name="0004_game_settings")
def game_settings(db: Database) -> None:
    """Groups the game's settings within those of a tournament, and adds a score to seats."""
    db.execute("ALTER TABLE seats ADD COLUMN score INTEGER")
    for id, settings in db.execute("SELECT id, settings FROM tournaments ORDER BY rowid").fetchall():
        now = canonical(_with_game(msgspec.json.decode(settings)))
        db.execute("UPDATE tournaments SET settings = ?, digest = ? WHERE id = ?", (now, _sha256(now), id))


@migrations(name="0005_contributions")
def contributions(db: Database) -> None:
    """Adds what others than the organiser put into a tournament's chance: a beacon's value, and entropy by entrant."""
    db.execute("ALTER TABLE tournaments ADD COLUMN beacon TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE tournaments ADD COLUMN entropy TEXT")


# `seating` is a JSON array of the entrants' numbers, by seat, from the last claim on. A `void` game has no
# result and never will: ratings pass over it.
_SEATED_GAMES = """CREATE TABLE new_games (
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
        UNIQUE (tournament, number),
        CHECK ((status = 'done') = (termination IS NOT NULL AND play_digest IS NOT NULL AND log_sha256 IS NOT NULL))
    )"""

_SUMS = (
    # A round of a format whose rounds depend on results. `meetings` is a JSON array of [first deal, [entrants]], and
    # `first_game` the number of its first game.
    """CREATE TABLE rounds (
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        number INTEGER NOT NULL,
        title TEXT NOT NULL,
        deals INTEGER NOT NULL,
        meetings TEXT NOT NULL,
        byes TEXT NOT NULL,
        first_game INTEGER NOT NULL,
        games INTEGER NOT NULL,
        PRIMARY KEY (tournament, number)
    )""",
    # Sums over the games that are done, by entrant. `score` is over the `scored` games, those that have scores.
    """CREATE TABLE tallies (
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
        PRIMARY KEY (tournament, entrant),
        FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
    ) WITHOUT ROWID""",
    # Sums over the games that are done, by deal and by two entrants, the smaller number first: in how many `one` had
    # the better rank, an equal one, a worse one.
    """CREATE TABLE pairs (
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        deal INTEGER NOT NULL,
        one INTEGER NOT NULL,
        other INTEGER NOT NULL CHECK (one < other),
        better INTEGER NOT NULL,
        equal INTEGER NOT NULL,
        worse INTEGER NOT NULL,
        PRIMARY KEY (tournament, deal, one, other)
    ) WITHOUT ROWID""",
    # The ratings of the refit, stored when a tournament finishes.
    """CREATE TABLE fits (
        tournament TEXT NOT NULL,
        entrant INTEGER NOT NULL,
        rating REAL NOT NULL,
        half_width REAL,
        rank INTEGER NOT NULL,
        PRIMARY KEY (tournament, entrant),
        FOREIGN KEY (tournament, entrant) REFERENCES entrants (tournament, number)
    ) WITHOUT ROWID""",
    # An entrant may begin with a rating of its own, and may leave while others play on.
    f"ALTER TABLE entrants ADD COLUMN mu0 REAL NOT NULL DEFAULT {MU!r}",
    f"ALTER TABLE entrants ADD COLUMN sigma0 REAL NOT NULL DEFAULT {SIGMA!r}",
    "ALTER TABLE entrants ADD COLUMN gone TEXT",
)

_FILL_TALLIES = """INSERT INTO tallies
    SELECT tournament, entrant, count(*), sum(rank = 1 AND first = 1), sum(rank = 1 AND first > 1),
        sum(forfeit IS NOT NULL), sum(decisions), sum(total_ms), max(max_ms), coalesce(sum(score), 0), count(score)
    FROM (SELECT seats.*, tournament, sum(rank = 1) OVER (PARTITION BY game) AS first
        FROM seats JOIN games ON games.id = game WHERE status = 'done')
    GROUP BY tournament, entrant"""

_FILL_PAIRS = """INSERT INTO pairs
    SELECT tournament, deal, a.entrant, b.entrant, sum(a.rank < b.rank), sum(a.rank = b.rank), sum(a.rank > b.rank)
    FROM games JOIN seats a ON a.game = games.id JOIN seats b ON b.game = games.id AND a.entrant < b.entrant
    WHERE status = 'done' GROUP BY tournament, deal, a.entrant, b.entrant"""


@migrations(name="0006_formats")
def formats(db: Database) -> None:
    """Makes room for formats whose games follow from results, and for sums, so that no table has to read every game."""
    kept = (
        "id, pool, created, settings, digest, seed, secret, commitment, beacon, entropy, logs, games, rated, seconds,"
        " status, finished"
    )
    db.execute(_OPEN_TOURNAMENTS)
    db.execute(f"INSERT INTO new_tournaments ({kept}) SELECT {kept} FROM tournaments ORDER BY rowid")
    db.execute("DROP TABLE tournaments")
    db.execute("ALTER TABLE new_tournaments RENAME TO tournaments")
    kept = (
        "id, tournament, number, deal, rotation, status, attempt, termination, turns, actions, games.seconds, log,"
        " log_sha256, play_digest, transcripts"
    )
    db.execute(_SEATED_GAMES)
    db.execute(
        f"INSERT INTO new_games ({kept.replace('games.', '')}, seating) SELECT {kept},"
        " CASE status WHEN 'done' THEN"
        " (SELECT json_group_array(entrant) FROM (SELECT entrant FROM seats WHERE game = games.id ORDER BY seat)) END"
        " FROM games ORDER BY games.rowid"
    )
    db.execute("DROP TABLE games")
    db.execute("ALTER TABLE new_games RENAME TO games")
    db.execute("CREATE INDEX games_by_status ON games (tournament, status, number)")
    for statement in (*_SUMS, _FILL_TALLIES, _FILL_PAIRS):
        db.execute(statement)


@migrations(name="0007_views")
def found(db: Database) -> None:
    """Notes when each game ended, and makes the views for SQL.

    Of earlier games it is only known when their tournament began.
    """
    db.execute("ALTER TABLE games ADD COLUMN finished TEXT")
    db.execute(
        "UPDATE games SET finished = (SELECT created FROM tournaments WHERE id = tournament) WHERE status = 'done'"
    )
    db.execute("CREATE INDEX games_by_finish ON games (finished)")
    views.make(db.conn)


_ADDED = {
    # How far a game's bots were confined, and for how long a bot was denied a core in the decision that it lost. All
    # earlier games were played at the one level that there was. A void game may have been played: then it has a log.
    "0008_levels": ("games ADD level TEXT NOT NULL DEFAULT 'trusted'", "seats ADD denied_ms INTEGER"),
    # CPU time that bots used while others were to move: NULL where it was not measured, as in all earlier games.
    # `others_ms` is the time that its opponents thought in the `measured` games.
    "0009_off_turn": (
        "seats ADD off_turn_cpu_ms INTEGER",
        "tallies ADD measured INTEGER NOT NULL DEFAULT 0",
        "tallies ADD off_turn_cpu_ms INTEGER NOT NULL DEFAULT 0",
        "tallies ADD others_ms REAL NOT NULL DEFAULT 0",
    ),
    # A game may belong to a match, and then may not count: one such moves no rating and is in no sum.
    "0010_leagues": ("games ADD match INTEGER", "games ADD counts INTEGER NOT NULL DEFAULT 1 CHECK (counts IN (0, 1))"),
    # The worker of a cluster that has a game, and until when, in seconds since 1970. Both are NULL for games here.
    "0011_leases": ("games ADD worker TEXT", "games ADD lease_until REAL"),
    # Tables of a wing, which makes them itself since 0020.
    "0012_finals": (),
    "0013_rating_marks": (),
    # The digest of a game's log as everybody sees it. NULL for games that were published before, and in tournaments.
    "0014_public_logs": ("games ADD public_sha256 TEXT",),
    "0015_remaking": (),
    "0016_together": (),
    # By how much seats were ahead in the end, in games that count it. NULL for games before.
    "0017_margins": ("seats ADD margin INTEGER", "pairs ADD margin INTEGER"),
    # The values of parameters that bots are sent in a round, by entrant. NULL where the format chooses none.
    "0018_parameters": ("rounds ADD parameters TEXT",),
    # Which seats play together. NULL where each plays for itself.
    "0019_teams": ("seats ADD team INTEGER",),
    # Tables of wings are there only where a wing has opened the database: earlier versions read them.
    "0020_wings": (),
}
"""By migration the columns that it adds."""
_BY_MATCH = "CREATE INDEX games_by_match ON games (tournament, match) WHERE match IS NOT NULL"


def _adding(name: str) -> Callable[[Database], None]:
    """Returns what adds columns to tables that views read."""

    def add(db: Database) -> None:
        views.drop(db.conn)
        for column in _ADDED[name]:
            db.execute(f"ALTER TABLE {column}".replace(" ADD ", " ADD COLUMN "))
        if name == "0010_leagues":
            db.execute(_BY_MATCH)
        views.make(db.conn)

    return add


for _name in _ADDED:
    migrations(name=_name)(_adding(_name))


@migrations(name="0021_figures")
def figures(db: Database) -> None:
    """Keeps what a seat did in a game as one document, as the log tells it. Columns are computed from it."""
    views.drop(db.conn)
    db.execute(_SEATS)
    rows = db.execute(f"SELECT game, seat, entrant, {', '.join(_FIGURES)} FROM seats")
    db.conn.executemany(
        "INSERT INTO new_seats VALUES (?, ?, ?, ?)",
        (
            (game, seat, entrant, _figures(seat, dict(zip(_FIGURES, told, strict=True))))
            for game, seat, entrant, *told in rows
        ),
    )
    db.execute("DROP TABLE seats")
    db.execute("ALTER TABLE new_seats RENAME TO seats")
    views.make(db.conn)


# By whom, when and why the result of a game of a tournament was taken back, as JSON. NULL where it was not.
_ADDED |= {"0022_struck": ("games ADD struck TEXT",), "0023_costs": ()}
for _name in ("0022_struck", "0023_costs"):
    migrations(name=_name)(_adding(_name))


def _figures(seat: int, told: Payload) -> str:
    """Returns the document of a seat, from the columns that it had."""
    own = {name: told[name] for name, (_, path) in _FIGURES.items() if path == name and told[name] is not None}
    forfeit = {path.rpartition(".")[2]: told[name] for name, (_, path) in _FIGURES.items() if path != name}
    forfeit |= {"seat": seat, "overloaded": bool(told["overloaded"]), "denied_ms": told["denied_ms"] or 0}
    forfeit["stderr"] = msgspec.json.decode(told["stderr"] or "[]")
    return canonical(own if told["forfeit"] is None else own | {"forfeit": forfeit})


# A column is computed for what is asked for in SQL. A number that is only shown needs none.
_FIGURES = {
    "rank": ("INTEGER NOT NULL", "rank"),
    "decisions": ("INTEGER NOT NULL", "decisions"),
    "total_ms": ("REAL NOT NULL", "total_ms"),
    "max_ms": ("REAL NOT NULL", "max_ms"),
    **{name: ("INTEGER", name) for name in ("score", "margin", "team", "off_turn_cpu_ms")},
    "forfeit": ("TEXT", "forfeit.code"),
    "sentence": ("TEXT", "forfeit.sentence"),
    "turn": ("INTEGER", "forfeit.turn"),
    "stderr": ("TEXT", "forfeit.stderr"),
    "overloaded": ("INTEGER", "forfeit.overloaded"),
    "denied_ms": ("INTEGER", "forfeit.denied_ms"),
}
_COMPUTED = "\n".join(
    f"        {name} {kind} AS (json_extract(figures, '$.{path}'))," for name, (kind, path) in _FIGURES.items()
)
_SEATS = f"""CREATE TABLE new_seats (
        game TEXT NOT NULL REFERENCES games (id),
        seat INTEGER NOT NULL,
        entrant INTEGER NOT NULL,
        figures TEXT NOT NULL,
{_COMPUTED}
        PRIMARY KEY (game, seat),
        UNIQUE (game, entrant),
        CHECK (rank >= 1)
    )"""


_OF_THE_GAME = ("rules", "rules_version", "ruleset", "options", "players", "board", "race_window_ms")


def _with_game(settings: Payload) -> Payload:
    """Returns a tournament's settings in the form of migration 0004, from those before it."""
    game = {key: settings.pop(key) for key in _OF_THE_GAME}
    game["time"] = msgspec.to_builtins(TimeControl.parse(settings.pop("time")))
    return {**settings, "game": game}


def _pool(db: Database, settings: str) -> int:
    """Returns the pool of a tournament with such settings, and makes it if it does not exist."""
    told = msgspec.json.decode(settings)
    pool = {key: told[key] for key in ("rules", "rules_version", "ruleset", "options")}
    digest = _sha256(canonical(pool))
    db.execute(
        "INSERT INTO pools (rules, rules_version, ruleset, options, digest) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (digest) DO NOTHING",
        (pool["rules"], pool["rules_version"], pool["ruleset"], canonical(pool["options"]), digest),
    )
    (id,) = db.execute("SELECT id FROM pools WHERE digest = ?", (digest,)).fetchone()
    return int(id)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
