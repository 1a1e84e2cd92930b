"""Defines the views of the database: what people query. `docs/database.md` documents every column.

They are a contract. A column may be added, but none changes its meaning or its name. The tables below them may change
from version to version.

A migration that replaces a table calls `drop` first and `make` afterwards, because SQLite checks views when a table is
renamed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

_LOG = "tournaments.logs || '/' || games.log"
_REPLAY = "'arena replay ' || games.id"
_WHICH = """games.tournament,
            games.number,
            games.finished,
            rules,
            ruleset,
            deal"""
"""Columns that say which game it is, in each view of games."""
SHARED: Final = """EXISTS (SELECT 1 FROM seats AS others
                WHERE others.game = seats.game AND others.seat <> seats.seat AND others.rank = seats.rank
                AND (others.team IS NULL OR others.team <> seats.team))"""
"""Whether somebody who does not play with a seat has its rank."""
OUTCOME: Final = f"CASE WHEN rank > 1 THEN 'lost' WHEN {SHARED} THEN 'drawn' ELSE 'won' END"
"""The end of a game for a seat: only the first rank is won, and drawn if others share it."""
_FROM_GAMES = """FROM games
        JOIN tournaments ON tournaments.id = games.tournament
        JOIN pools ON pools.id = pool"""

VIEWS: Final[Mapping[str, str]] = {
    "v_tournaments": """
        SELECT tournaments.id AS tournament,
            created,
            finished,
            status,
            rules,
            ruleset,
            json_extract(settings, '$.game.players') AS players,
            json_extract(settings, '$.game.board.name') AS board,
            json_extract(settings, '$.format') AS format,
            (SELECT count(*) FROM entrants WHERE tournament = tournaments.id) AS entrants,
            (SELECT json_group_array(name) FROM (SELECT name FROM entrants
                WHERE tournament = tournaments.id ORDER BY number)) AS bots,
            games AS planned,
            (SELECT count(*) FROM games WHERE tournament = tournaments.id AND games.status = 'done') AS games,
            seconds,
            seed,
            commitment,
            logs,
            json_extract(settings, '$.level') AS level,
            (SELECT count(*) FROM games WHERE tournament = tournaments.id AND games.status = 'void') AS void
        FROM tournaments JOIN pools ON pools.id = pool""",
    "v_games": f"""
        SELECT games.id AS game,
            {_WHICH},
            (SELECT json_group_array(name) FROM (SELECT name FROM seats JOIN entrants
                ON entrants.tournament = games.tournament AND entrants.number = entrant
                WHERE seats.game = games.id ORDER BY seat)) AS bots,
            (SELECT json_group_array(rank) FROM (SELECT rank FROM seats
                WHERE seats.game = games.id ORDER BY seat)) AS ranks,
            termination AS ended,
            (SELECT count(forfeit) FROM seats WHERE seats.game = games.id) AS forfeits,
            turns,
            actions,
            games.seconds,
            (SELECT max(max_ms) FROM seats WHERE seats.game = games.id) AS slowest_ms,
            {_LOG} AS log,
            log_sha256,
            play_digest,
            {_REPLAY} AS replay,
            level,
            match,
            counts,
            public_sha256,
            struck
        {_FROM_GAMES}
        WHERE games.status = 'done'""",
    "v_void": f"""
        SELECT games.id AS game,
            {_WHICH},
            (SELECT json_group_array(name) FROM (SELECT name FROM json_each(seating) CROSS JOIN entrants
                ON entrants.tournament = games.tournament AND entrants.number = value
                ORDER BY json_each.key)) AS bots,
            reason,
            {_LOG} AS log,
            log_sha256,
            CASE WHEN log IS NOT NULL THEN {_REPLAY} END AS replay,
            level
        {_FROM_GAMES}
        WHERE games.status = 'void'""",
    "v_seats": f"""
        SELECT seats.game,
            {_WHICH},
            seat,
            name AS bot,
            entrants.version,
            (SELECT json_group_array(name) FROM (SELECT name FROM seats AS others JOIN entrants
                ON entrants.tournament = games.tournament AND entrants.number = others.entrant
                WHERE others.game = seats.game AND others.seat <> seats.seat ORDER BY others.seat)) AS opponents,
            rank,
            {OUTCOME} AS outcome,
            score,
            team,
            margin,
            decisions,
            total_ms,
            max_ms,
            forfeit,
            sentence,
            turn AS forfeit_turn,
            overloaded,
            stderr AS last_words,
            termination AS ended,
            turns,
            {_LOG} AS log,
            {_REPLAY} AS replay,
            denied_ms,
            level,
            off_turn_cpu_ms, json_extract(figures, '$.cost') AS cost
        FROM seats
        JOIN games ON games.id = seats.game AND games.status = 'done'
        JOIN entrants ON entrants.tournament = games.tournament AND entrants.number = entrant
        JOIN tournaments ON tournaments.id = games.tournament
        JOIN pools ON pools.id = pool""",
    "v_forfeits": f"""
        SELECT seats.game,
            games.tournament,
            games.finished,
            seat,
            name AS bot,
            entrants.version,
            forfeit,
            sentence,
            turn AS forfeit_turn,
            overloaded,
            stderr AS last_words,
            json_extract(spec, '$.folder') AS folder,
            {_LOG} AS log,
            {_REPLAY} AS replay,
            denied_ms,
            level
        FROM seats
        JOIN games ON games.id = seats.game AND games.status = 'done'
        JOIN entrants ON entrants.tournament = games.tournament AND entrants.number = entrant
        JOIN tournaments ON tournaments.id = games.tournament
        WHERE forfeit IS NOT NULL""",
    "v_standings": """
        SELECT entrants.tournament,
            name AS bot,
            entrants.version,
            fits.rank,
            fits.rating,
            fits.half_width,
            coalesce(latest.mu, mu0) AS mu,
            coalesce(latest.sigma, sigma0) AS sigma,
            coalesce(games, 0) AS games,
            coalesce(wins, 0) AS wins,
            coalesce(draws, 0) AS draws,
            coalesce(games - wins - draws, 0) AS losses,
            coalesce(forfeits, 0) AS forfeits,
            (SELECT sum(CASE entrants.number WHEN one THEN better ELSE worse END + equal / 2.0)
                / sum(better + equal + worse) FROM pairs
                WHERE pairs.tournament = entrants.tournament AND entrants.number IN (one, other)) AS points,
            total_ms / nullif(decisions, 0) AS mean_ms,
            max_ms,
            1.0 * score / nullif(scored, 0) AS mean_score,
            gone,
            1.0 * off_turn_cpu_ms / nullif(measured, 0) AS mean_off_turn_ms
        FROM entrants
        LEFT JOIN tallies ON tallies.tournament = entrants.tournament AND tallies.entrant = entrants.number
        LEFT JOIN fits ON fits.tournament = entrants.tournament AND fits.entrant = entrants.number
        LEFT JOIN ratings AS latest ON latest.tournament = entrants.tournament AND latest.entrant = entrants.number
            AND latest.number = (SELECT max(number) FROM ratings
                WHERE ratings.tournament = entrants.tournament AND ratings.entrant = entrants.number)""",
    "v_crosstable": """
        SELECT both.tournament,
            mine.name AS bot,
            theirs.name AS opponent,
            sum(better + equal + worse) AS games,
            sum(better) AS better,
            sum(equal) AS equal,
            sum(worse) AS worse,
            sum(better + equal / 2.0) / sum(better + equal + worse) AS share
        FROM (SELECT tournament, one, other, better, equal, worse FROM pairs
            UNION ALL SELECT tournament, other, one, worse, equal, better FROM pairs) AS both
        JOIN entrants AS mine ON mine.tournament = both.tournament AND mine.number = one
        JOIN entrants AS theirs ON theirs.tournament = both.tournament AND theirs.number = other
        GROUP BY both.tournament, one, other""",
}


def drop(connection: sqlite3.Connection) -> None:
    """Removes the views."""
    for name in VIEWS:
        connection.execute(f"DROP VIEW IF EXISTS {name}")


def make(connection: sqlite3.Connection) -> None:
    """Makes the views anew, within the caller's transaction."""
    drop(connection)
    for name, query in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS{query}")
