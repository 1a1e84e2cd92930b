"""Measures what the largest league that arena is made for costs: 300,000 games, 200 versions that play, 1,000 authors.

It makes a season by writing rows, without a game being played: matches of two games in which the better one mostly
wins. Then each thing that the service does at once is done on it and timed, and the memory and the disk that it takes
are measured. The rows that it prints are those of the table in docs/league-running.md, in seconds of CPU, so that
whatever else runs on the machine has little part in them. systemd waits for 60 s
(`WatchdogSec` in docs/arena-league.service).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does

import argparse
import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from arena.core.store.database import copy_database
from arena.core.store.rated import rate_prefix
from arena.core.store.records import canonical, game_id
from arena.core.types import SeatResult
from arena.league.folder import Folder
from arena.league.matches.planning import Planner
from arena.league.public import documents
from arena.league.public.publishing import Publishing
from arena.league.public.ranking import ranking_of
from arena.league.season.closing import close_season
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Game, MatchRule, Settings, load
from arena.league.store import LeagueStore, open_league
from arena.league.store.controls import Closing

VERSIONS = 200
"""Versions that play; the house has the first two."""
AUTHORS = 1_000
"""Each has a bot: an older version of it was rejected, and of the first 198 authors the second one plays."""
AT = "2026-01-01T12:00:00+00:00"
_DIGEST = "0" * 64
_SEATS = [canonical(SeatResult(rank=rank, decisions=30, total_ms=600.0, max_ms=40.0, forfeit=None)) for rank in (2, 1)]
"""What the loser's seat did, and the winner's."""


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
    """Writes the rows of authors, bots and versions."""
    db = store._db
    for bot in range(2, AUTHORS + 2):
        author = store.authors.add(f"author{bot}")
        (id,) = db.execute("SELECT id FROM authors WHERE name = ?", (author.name,)).fetchone()
        db.execute("INSERT INTO bots (id, author, name) VALUES (?, ?, ?)", (1000 + bot, id, f"bot{bot}"))
        for number in (1, 2) if bot < VERSIONS else (1,):
            cursor = db.execute(
                "INSERT INTO versions (bot, number, digest, manifest, size, level, received, state, since, entrant)"
                " VALUES (?, ?, ?, '{}', 1, 'trusted', ?, ?, ?, ?)",
                (
                    *(1000 + bot, number, hashlib.sha256(b"%d/%d" % (bot, number)).hexdigest(), AT),
                    *("active" if number == 2 else "rejected", AT, bot if number == 2 else None),
                ),
            )
            store.notices.add(author.name, "note", "it is received", cursor.lastrowid)
        if bot < VERSIONS:
            db.execute(
                "INSERT INTO entrants (tournament, number, name, version, digest, spec, mu0, sigma0)"
                " VALUES (?, ?, ?, '', '', '{}', 25, 8.333)",
                (tournament, bot, f"bot{bot}/2"),
            )


def _fill(store: LeagueStore, tournament: str, matches: int) -> None:
    """Writes the rows of all matches but for ratings, and the sums; then it rates the games."""
    db, dice = store._db, Random(1)
    met = dict.fromkeys(range(VERSIONS), 0)
    won = dict.fromkeys(range(VERSIONS), 0)
    for match in range(matches):
        one, other = sorted(dice.sample(range(VERSIONS), 2))
        first = dice.random() < 0.5 + (other - one) / 2 / VERSIONS
        db.execute(
            "INSERT INTO matches (tournament, number, players, deal, together, why, rated, state, planned, settled,"
            " published) VALUES (?, ?, 2, ?, ?, 'who waits longest', 1, 'over', ?, ?, ?)",
            (tournament, match, match, match, AT, AT, AT),
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
                "INSERT INTO seats (game, seat, entrant, figures) VALUES (?, ?, ?, ?)",
                [(game, seat, entrant, _SEATS[(entrant == one) == first]) for seat, entrant in enumerate(seating)],
            )
        db.execute(
            "INSERT INTO pairs (tournament, deal, one, other, better, equal, worse) VALUES (?, ?, ?, ?, ?, 0, ?)",
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


def row(what: str, value: str) -> None:
    """Prints a row of the table."""
    print(f"| {what} | {value} |", flush=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints what the block takes, in seconds of CPU."""
    began = time.process_time()
    yield
    row(what, f"{time.process_time() - began:.2f} s")


def measure(cup: Folder) -> None:
    """Does everything that the service does at once, and prints what it costs."""
    settings = load(cup)
    with timed("starting: the database is opened"), open_league(cup.database) as store:
        season = store.seasons.current()
    assert season is not None
    with open_league(cup.database) as store:
        with timed("starting: claims of a killed service are given back"):
            store.games.resume(season.tournament)
        publishing = Publishing(store, cup, settings, season, lambda sentence: None)
        with timed("starting: what a kill left out is published"):
            publishing.catch_up()
        planner = Planner(store, MatchRule(players=(2,)), b"")
        with timed("planning: matches for eight workers"):
            planner.plan(8)
        with timed("planning: matches that are being played, as in each turn of the loop"):
            store.matches.running()
        with timed("standings: the refit, with all intervals"):
            ranking_of(store)
        with timed("publishing: everything for the first time"):
            publishing.publish()
        with timed("publishing: a turn of the loop in which everything is due and a game was rated"):
            publishing._due = publishing._ranking_due = 0.0
            store.set_control("paused", False)
            publishing.look()
        with timed("publishing: a turn of the loop in which nothing has changed"):
            publishing._due = 0.0
            publishing.look()
        with timed("`arena league status`"):
            documents.status(store, settings, cup)
        with timed("`arena league standings`"):
            documents.standings(store)
        with timed("a match of the end is struck"), store.transaction():
            store.matches.strike([store.matches.count() - 200], "the machine was short of memory")
        with timed("a match of the beginning is struck, and all games are rated again"), store.transaction():
            store.matches.strike([1], "the machine was short of memory")
        with timed("games are looked through for logs that are too old"):
            for _ in store.played.ended():
                pass
    with timed("a copy of the database for a backup, by a process of its own"):
        copy_database(cup.database, cup.path.parent / "copy.db")
    with open_league(cup.database) as store:
        with store.transaction():
            store.set_control("closing", Closing(season.name, "spring", final=False))
        with timed("the season is closed"):
            close_season(store, cup, lambda sentence: None)
    row("memory of the process, at most", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")
    row("disk: the database", f"{cup.database.stat().st_size >> 20} MiB")
    published = sum(path.stat().st_size for path in cup.published.rglob("*") if path.is_file())
    row("disk: what is published, without logs", f"{published >> 20} MiB")


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
