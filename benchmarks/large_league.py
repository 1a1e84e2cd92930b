"""Measures what a league's service does between two signs of life, when the league is large: nothing may take long.

It makes a season of so many games by writing rows, without a game being played: 40 versions, matches of two games in
which the better one mostly wins. Then each thing that the service does at once is done on it and timed. systemd waits
for 60 s (`WatchdogSec` in docs/arena-league.service).
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from arena.core.store.database import copy_database
from arena.core.store.rated import rate_prefix
from arena.core.store.records import game_id
from arena.league.folder import Folder
from arena.league.matches.planning import Planner
from arena.league.public import documents
from arena.league.public.publishing import Publishing
from arena.league.season.closing import close_season
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Game, MatchRule, Settings, load
from arena.league.store import LeagueStore, open_league
from arena.league.store.controls import Closing

VERSIONS = 40
AT = "2026-01-01T12:00:00+00:00"
_DIGEST = "0" * 64


def make(folder: Path, games: int) -> Folder:
    """Makes a league with a season of so many games."""
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    cup = make_league(folder / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted")))
    with open_league(cup.database) as store:
        season = store.seasons.current()
        assert season is not None
        with store.transaction():
            _enter(store, season.tournament)
            _fill(store, season.tournament, games // 2)
    return cup


def _enter(store: LeagueStore, tournament: str) -> None:
    db = store._db
    author = store.authors.add("anna")
    (anna,) = db.execute("SELECT id FROM authors WHERE name = ?", (author.name,)).fetchone()
    for entrant in range(2, VERSIONS):
        db.execute("INSERT INTO bots (id, author, name) VALUES (?, ?, ?)", (1000 + entrant, anna, f"bot{entrant}"))
        db.execute(
            "INSERT INTO versions (bot, number, digest, manifest, size, level, received, state, since, entrant)"
            " VALUES (?, 1, ?, '{}', 1, 'trusted', ?, 'active', ?, ?)",
            (1000 + entrant, hashlib.sha256(b"%d" % entrant).hexdigest(), AT, AT, entrant),
        )
        db.execute(
            "INSERT INTO entrants (tournament, number, name, version, digest, spec, mu0, sigma0)"
            " VALUES (?, ?, ?, '', '', '{}', 25, 8.333)",
            (tournament, entrant, f"bot{entrant}/1"),
        )


def _fill(store: LeagueStore, tournament: str, matches: int) -> None:
    """Writes the rows of all matches but for ratings, and the sums; then it rates the games."""
    db, dice = store._db, Random(1)
    met = dict.fromkeys(range(VERSIONS), 0)
    won = dict.fromkeys(range(VERSIONS), 0)
    for match in range(matches):
        one, other = sorted(dice.sample(range(VERSIONS), 2))
        first = dice.random() < 0.5 + (other - one) / 100
        db.execute(
            "INSERT INTO matches (tournament, number, players, deal, why, rated, state, planned, settled, published)"
            " VALUES (?, ?, 2, ?, 'who waits longest', 1, 'over', ?, ?, ?)",
            (tournament, match, match, AT, AT, AT),
        )
        for entrant in (one, other):
            met[entrant] += 1
            db.execute("INSERT INTO meetings VALUES (?, ?, ?)", (tournament, entrant, match))
        for rotation, seating in enumerate(((one, other), (other, one))):
            number = 2 * match + rotation
            game = game_id(tournament, number)
            db.execute(
                "INSERT INTO games (id, tournament, number, deal, rotation, seating, status, attempt, termination,"
                " turns, actions, seconds, log, log_sha256, play_digest, transcripts, finished, match)"
                " VALUES (?, ?, ?, ?, ?, ?, 'done', 1, 'finished', 60, 120, 1.0, ?, ?, ?, '[]', ?, ?)",
                (
                    *(game, tournament, number, match, rotation, f"[{seating[0]},{seating[1]}]"),
                    *(f"{game}.jsonl", _DIGEST, _DIGEST, AT, match),
                ),
            )
            won[one if first else other] += 1
            db.executemany(
                "INSERT INTO seats (game, seat, entrant, rank, decisions, total_ms, max_ms)"
                " VALUES (?, ?, ?, ?, 30, 600, 40)",
                [(game, seat, entrant, 1 if (entrant == one) == first else 2) for seat, entrant in enumerate(seating)],
            )
        db.execute(
            "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, 0, ?)",
            (tournament, match, one, other, 2 * first, 2 * (not first)),
        )
    for entrant, count in met.items():
        db.execute("INSERT INTO seat_counts VALUES (?, ?, 2, ?)", (tournament, entrant, count))
        db.execute(
            "INSERT INTO tallies (tournament, entrant, games, wins, draws, forfeits, decisions, total_ms, max_ms,"
            " score, scored) VALUES (?, ?, ?, ?, 0, 0, ?, ?, 40, 0, 0)",
            (tournament, entrant, 2 * count, won[entrant], 60 * count, 1200.0 * count),
        )
    db.execute("UPDATE tournaments SET games = ? WHERE id = ?", (2 * matches, tournament))
    rate_prefix(db, tournament)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints how long the block takes."""
    began = time.perf_counter()
    yield
    print(f"{time.perf_counter() - began:9.3f} s  {what}", flush=True)


def measure(cup: Folder) -> None:
    """Does everything that the service does at once, and prints how long it takes."""
    settings = load(cup)
    with timed("the database is opened"), open_league(cup.database) as store:
        season = store.seasons.current()
    assert season is not None
    with open_league(cup.database) as store:
        secret = store.games.tournament(season.tournament).secret
        with timed("after a kill: claims are given back"):
            store.games.resume(season.tournament)
        publishing = Publishing(store, cup, settings, season, secret, lambda sentence: None)
        with timed("at the start: lists of games are written again"):
            publishing.catch_up()
        planner = Planner(store, MatchRule(players=(2,)), b"")
        with timed("matches are planned"):
            planner.plan(8)
        with timed("matches that are being played are looked at, as in each turn"):
            store.matches.running()
        with timed("everything is published, with the refit"):
            publishing.publish()
        with timed("the status that a command shows"):
            documents.status(store, settings, cup)
        with timed("a match is struck at the season's beginning"), store.transaction():
            store.matches.strike(1, "the machine was short of memory")
        _remake(store)
        _thin(store)
    with timed("a copy of the database for a backup, by a process of its own"):
        copy_database(cup.database, cup.path.parent / "copy.db")
    with open_league(cup.database) as store:
        with store.transaction():
            store.controls.set("closing", Closing(season.name, "spring", final=False))
        with timed("the season is closed"):
            close_season(store, cup, lambda sentence: None)


def _remake(store: LeagueStore) -> None:
    longest, steps, began, more = 0.0, 0, time.perf_counter(), True
    while more:
        at = time.perf_counter()
        more = store.remaking.step()
        steps += 1
        longest = max(longest, time.perf_counter() - at)
    print(f"{longest:9.3f} s  the longest of {steps:,} steps that rate again; all take "
          f"{time.perf_counter() - began:.0f} s")  # fmt: skip


def _thin(store: LeagueStore) -> None:
    store._db.execute("UPDATE seasons SET opened = '2026-01-01'")
    store.thinning.mark()
    longest, more = 0.0, True
    while more:
        at = time.perf_counter()
        more = store.thinning.step(500)
        longest = max(longest, time.perf_counter() - at)
    print(f"{longest:9.3f} s  the longest step that removes old ratings")


def main() -> None:
    """Measures a league of as many games as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="?", type=int, default=300_000)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    act: Callable[[Path], None] = lambda folder: measure(make(folder, arguments.games))  # noqa: E731
    if arguments.folder is not None:
        act(arguments.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        act(Path(folder))


if __name__ == "__main__":
    sys.exit(main())
