"""Ratings of different rules never mix: the pools, that the schema keeps them apart, and databases made before them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.errors import StoreError
from arena.core.store.store import Store
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.settings import Settings
from tests import instant

SETTINGS = instant.settings()


def other(*, deals: int = 2, seed: str | None = SETTINGS.seed, **game: Any) -> Settings:
    return replace(SETTINGS, format=RoundRobin(deals=deals), seed=seed, game=replace(SETTINGS.game, **game))


def pool_of(store: Store, tournament: str) -> int:
    [(pool,)] = store._db.execute("SELECT pool FROM tournaments WHERE id = ?", (tournament,)).fetchall()
    return int(pool)


def begin(store: Store, settings: Settings, logs: Path) -> str:
    return instant.start(store, settings, logs, new=True).tournament.id


def test_the_same_rules_are_one_pool_whatever_else_differs(store: Store, tmp_path: Path) -> None:
    alike = [SETTINGS, instant.settings(("bob", "dan"), seed=None, deals=1), instant.settings(players=3)]
    assert {pool_of(store, begin(store, settings, tmp_path)) for settings in alike} == {1}
    [row] = store._db.execute("SELECT rules, rules_version, ruleset, options FROM pools").fetchall()
    assert row == ("samurai", 1, "standard", '{"setup":"draft"}')


@pytest.mark.parametrize(
    "settings",
    [
        other(rules="gardener"),
        other(rules_version=2),
        other(ruleset="basic"),
        other(ruleset="custom", options={"setup": "random"}),
    ],
)
def test_other_rules_are_another_pool(store: Store, tmp_path: Path, settings: Settings) -> None:
    one, another = begin(store, SETTINGS, tmp_path), begin(store, settings, tmp_path)
    assert pool_of(store, one) != pool_of(store, another)


@pytest.fixture
def rated(store: Store, tmp_path: Path) -> str:
    """A tournament in which one game has moved ratings, beside a pool that is not its own."""
    begin(store, other(ruleset="basic"), tmp_path)
    begun = instant.start(store, SETTINGS, tmp_path)
    games = instant.runner(store, begun, SETTINGS, lanes=1).run()
    next(games)
    games.close()
    return begun.tournament.id


def test_a_rating_is_of_its_tournaments_pool(store: Store, rated: str) -> None:
    pools = store._db.execute("SELECT DISTINCT pool FROM ratings WHERE tournament = ?", (rated,)).fetchall()
    assert pools == [(pool_of(store, rated),)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ratings SET pool = 1",
        "INSERT INTO ratings SELECT 1, tournament, entrant, 1, mu, sigma FROM ratings",
        "UPDATE tournaments SET pool = 1",
        "UPDATE tournaments SET pool = 99 WHERE rated = 0",
        "UPDATE tournaments SET pool = NULL WHERE rated = 0",
        "UPDATE ratings SET pool = NULL",
        "DELETE FROM pools",
    ],
)
def test_the_schema_refuses_a_mixture(store: Store, rated: str, statement: str) -> None:
    assert pool_of(store, rated) == 2
    with pytest.raises(sqlite3.IntegrityError):
        store._db.execute(statement)


def test_the_latest_tournament_of_some_rules_is_found(store: Store, tmp_path: Path) -> None:
    settings = [SETTINGS, other(rules="gardener", ruleset="race"), other(ruleset="basic"), other(rules="gardener")]
    standard, race, basic, gardener = (begin(store, one, tmp_path) for one in settings)
    again = begin(store, other(rules="gardener", ruleset="race", seed="late"), tmp_path)
    found: Callable[..., str] = lambda *id, **wanted: store.tournament(*id, **wanted).id  # noqa: E731
    assert found() == found(rules="gardener") == found(rules="gardener", ruleset="race") == again
    assert found(rules="gardener", ruleset="standard") == gardener
    assert found(rules="samurai") == basic
    assert found(ruleset="standard") == gardener
    assert found(rules="samurai", ruleset="standard") == found(standard, rules="samurai") == standard
    assert found(race, ruleset="race") == race
    latest = rf"the latest are {again} \(gardener race\), {gardener} \(gardener standard\), {basic} \(samurai basic\)"
    with pytest.raises(StoreError, match=rf"expected a tournament of samurai race, got none - at .*; {latest}"):
        found(rules="samurai", ruleset="race")
    with pytest.raises(StoreError, match=f"expected a tournament '{race}' of samurai, got none"):
        found(race, rules="samurai")
