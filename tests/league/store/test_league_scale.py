"""A large league stays fast: what the matchmaker asks for does not grow with the versions, nor with the season."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.league.store import LeagueStore
from arena.league.store.matches import settle
from tests import league_kit as kit

VERSIONS = 200


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    """A league of many versions that play, of which each has met the one after it in each of some rounds."""
    with kit.league(tmp_path, "anna") as store:
        (anna,) = store._db.execute("SELECT id FROM authors WHERE name = 'anna'").fetchone()
        with store.transaction():
            first = 2  # after those of the house
            for entrant in range(first, first + VERSIONS):
                store._db.execute(
                    "INSERT INTO bots (id, author, name) VALUES (?, ?, ?)", (1000 + entrant, anna, f"b{entrant}")
                )
                store._db.execute(
                    "INSERT INTO versions (bot, number, digest, manifest, size, level, received, state, since, entrant)"
                    " VALUES (?, 1, '00', '{}', 1, 'isolated', '', 'active', '', ?)",
                    (1000 + entrant, entrant),
                )
                store._db.execute(
                    "INSERT INTO entrants (tournament, number, name, version, digest, spec, mu0, sigma0)"
                    " VALUES ('cup-1', ?, ?, '', '', '{}', 25, 8)",
                    (entrant, f"b{entrant}/1"),
                )
        yield store


def add_rounds(store: LeagueStore, rounds: int) -> None:
    """Plans matches of neighbours, which are over."""
    with store.transaction():
        (first,) = store._db.execute("SELECT coalesce(max(number) + 1, 0) FROM matches").fetchone()
        for number in range(first, first + rounds * VERSIONS // 2):
            store._db.execute(
                "INSERT INTO matches (tournament, number, players, deal, why, rated, state, planned, settled, together)"
                " VALUES ('cup-1', ?, 2, ?, '', 1, 'over', '', '', ?)",
                (number, number, number),
            )
            place = 2 + 2 * number % VERSIONS
            store.matches._add_meetings("cup-1", range(number, number + 1), (place, place + 1))


def asked(store: LeagueStore, question: Callable[[], object]) -> tuple[int, int]:
    """How many statements a question takes, and how many hundred steps of SQLite's programs."""
    statements, steps = 0, 0

    def statement(text: str) -> None:
        nonlocal statements
        statements += 1

    def step() -> None:
        nonlocal steps
        steps += 1

    store._db.set_trace_callback(statement)
    store._db.set_progress_handler(step, 100)
    question()
    store._db.set_trace_callback(None)
    store._db.set_progress_handler(None, 100)
    return statements, steps


def test_what_is_asked_of_everybody_does_not_grow_with_the_versions_or_the_season(store: LeagueStore) -> None:
    add_rounds(store, 12)
    statements, steps = asked(store, store.facts.standing)
    assert statements <= 5
    assert steps <= 20 * VERSIONS, "two thousand steps for each version"
    found = store.facts.standing()
    assert len(found) == VERSIONS + 2
    assert (found[-1].matches, len(found[-1].met)) == (12, 10)
    add_rounds(store, 12)
    later, more = asked(store, store.facts.standing)
    assert later == statements
    assert more <= 1.1 * steps, "the last matches are found without reading those before them"


def test_what_is_asked_in_each_turn_of_the_loop_reads_no_match_that_is_over(store: LeagueStore) -> None:
    add_rounds(store, 1)
    with store.transaction():
        store._db.execute("UPDATE matches SET published = ''")
        store._db.execute(
            "INSERT INTO games (id, tournament, number, deal, rotation, seating, status, match)"
            " SELECT 'cup-1-' || number, tournament, number, deal, 0, '[]', 'void', number FROM matches"
        )
        store._db.execute("UPDATE tournaments SET games = ?, rated = ?", (VERSIONS // 2, VERSIONS // 2))
    kit.plan(store, *store.versions.active()[:2])
    tournament = kit.season(store).tournament
    for question in (
        store.matches.running,
        store.matches.over,
        store.matches.count,
        store.matches.games_waiting,
        lambda: settle(store._db, tournament),
        lambda: [store.games.release(claimed) for claimed in kit.claim(store)],
    ):
        _, steps = asked(store, question)
        assert steps <= 10, question
    assert len(store.matches.running()) == 1
