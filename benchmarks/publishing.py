"""Measures what publishing takes of the loop of a league's service when it has many authors and versions.

It writes the rows of so many authors, each with one bot of five versions, of which the last plays and is rated. The
figures are seconds: the first time, of one call when nothing is new, and the longest call while one version changes.
Then what `arena league status` takes when the season has so many games.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from pathlib import Path

from large_league import AT, make

from arena.league.public import documents
from arena.league.public.publishing import Publishing
from arena.league.settings import load
from arena.league.store import LeagueStore, open_league
from arena.league.store.states import Actor, State

VERSIONS = 5


def enter(store: LeagueStore, tournament: str, authors: int) -> None:
    """Writes the rows of authors, bots and versions."""
    db = store._db
    (first,) = db.execute("SELECT count(*) FROM entrants WHERE tournament = ?", (tournament,)).fetchone()
    for number in range(authors):
        author = store.authors.add(f"author{number}")
        (id,) = db.execute("SELECT id FROM authors WHERE name = ?", (author.name,)).fetchone()
        bot = 10_000 + number
        db.execute("INSERT INTO bots (id, author, name) VALUES (?, ?, ?)", (bot, id, f"fox{number}"))
        for version in range(1, VERSIONS + 1):
            plays = version == VERSIONS
            digest = hashlib.sha256(b"%d/%d" % (number, version)).hexdigest()
            cursor = db.execute(
                "INSERT INTO versions (bot, number, digest, manifest, size, level, received, state, since, entrant)"
                " VALUES (?, ?, ?, '{}', 1, 'trusted', ?, ?, ?, ?)",
                (bot, version, digest, AT, "active" if plays else "superseded", AT, first + number if plays else None),
            )
            store.notices.add(author.name, "active", "it plays", cursor.lastrowid)
        db.execute(
            "INSERT INTO entrants (tournament, number, name, version, digest, spec, mu0, sigma0)"
            " VALUES (?, ?, ?, '', '', '{}', 25, 8.333)",
            (tournament, first + number, f"fox{number}/{VERSIONS}"),
        )


def longest(publishing: Publishing, calls: int) -> float:
    """Returns the seconds of the longest of so many calls, each of which may do everything."""
    most = 0.0
    for _ in range(calls):
        publishing.hurry()
        publishing._due = 0.0
        began = time.perf_counter()
        publishing.look()
        most = max(most, time.perf_counter() - began)
    return most


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--authors", type=int, default=1_000)
    parser.add_argument("--games", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = make(Path(place), arguments.games)
        with open_league(folder.database) as store:
            season = store.seasons.current()
            assert season is not None
            with store.transaction():
                enter(store, season.tournament, arguments.authors)
            settings = load(folder)
            secret = store.games.tournament(season.tournament).secret
            publishing = Publishing(store, folder, settings, season, secret, print)
            began = time.perf_counter()
            publishing.publish()
            print(f"everything for the first time   {time.perf_counter() - began:6.2f} s", flush=True)
            print(f"a call when nothing is new      {longest(publishing, 5):6.2f} s", flush=True)
            version = store.versions.named("fox1")
            store.versions.change(version.id, State.SUSPENDED, Actor.OPERATOR, "a test")
            print(f"the longest when one changes    {longest(publishing, 20):6.2f} s", flush=True)
            began = time.perf_counter()
            documents.status(store, settings, folder)
            print(f"status                          {time.perf_counter() - began:6.2f} s", flush=True)
            began = time.perf_counter()
            store.played.counts(season.tournament)
            print(f"  of it counts of games         {time.perf_counter() - began:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
