"""A finished round-robin is extended: what is valid is reused, the rest is played once."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.core.errors import ConfigError
from arena.core.ratings.running import Rating
from arena.core.standings.closing import close
from arena.core.store.store import Store
from arena.core.tournament.extend import LATEST, extend
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.schedule import Schedule
from arena.core.tournament.settings import Settings
from tests import instant

SETTINGS = instant.settings(deals=2, seed=None)


def finished(store: Store, settings: Settings, logs: Path) -> str:
    begun = instant.start(store, settings, logs)
    list(instant.runner(store, begun, settings).run())
    close(store, begun.tournament)
    return begun.tournament.id


def wanted(bots: tuple[str, ...], deals: int) -> Settings:
    return instant.settings(bots, deals=deals, seed=None)


@given(st.integers(2, 6), st.integers(2, 4), st.sets(st.integers(0, 5)), st.integers(1, 5), st.integers(0, 6))
def test_every_pairing_gets_the_deals_that_it_lacks(
    entrants: int, players: int, unchanged: set[int], deals: int, played: int
) -> None:
    if entrants < players:
        return
    old = tuple(sorted(number for number in unchanged if number < entrants))
    format = Extension(deals=deals, extends="x", unchanged=old, played=played)
    schedule = Schedule(format, entrants, players)
    lacks = {
        pairing: max(0, deals - played) if set(pairing) <= set(old) else deals
        for pairing in combinations(range(entrants), players)
    }
    counts = Counter((tuple(sorted(game.entrants)), game.deal) for game in schedule)
    assert counts == {(pairing, deal): players for pairing, count in lacks.items() for deal in range(count)}
    assert schedule.total == format.total(entrants, players)
    assert {game.deal for game in schedule} == set(range(format.deals_in_all(entrants, players))) or not schedule.total


def test_more_deals(store: Store, tmp_path: Path) -> None:
    base = finished(store, SETTINGS, tmp_path)
    extended = extend(store, wanted(instant.BOTS, 5), LATEST)
    assert extended.settings.format == Extension(deals=5, extends=base, unchanged=(0, 1, 2), played=2)
    assert extended.settings.games == 3 * 3 * 2
    assert list(extended.starts) == store.ratings(base)
    assert extended.told == (f"Reused from {base}: 2 deals of every pairing of ann, bob, cid.", "They play 3 more.")
    again = finished(store, extended.settings, tmp_path)
    assert extend(store, wanted(instant.BOTS, 6), LATEST).settings.format == Extension(
        deals=6, extends=again, unchanged=(0, 1, 2), played=5
    )


def test_a_new_bot_and_a_changed_one_play_all_their_games_and_say_why(store: Store, tmp_path: Path) -> None:
    base = finished(store, SETTINGS, tmp_path)
    settings = wanted(("cid", "dan", "ann", "bob"), 2)
    bots = tuple(replace(bot, digest="0" * 64) if bot.name == "bob" else bot for bot in settings.bots)
    extended = extend(store, replace(settings, bots=bots), base.partition("-")[2])
    assert extended.of == base
    assert extended.settings.games == 5 * 2 * 2
    assert extended.told == (
        f"Reused from {base}: 2 deals of every pairing of cid, ann.",
        "Played anew: all 2 deals of dan (new), bob (its files have changed).",
    )
    ratings = store.ratings(base)
    assert extended.starts == (ratings[2], Rating(), ratings[0], Rating())


def test_a_bot_that_left_is_named(store: Store, tmp_path: Path) -> None:
    finished(store, SETTINGS, tmp_path)
    extended = extend(store, wanted(("ann", "bob"), 2), LATEST)
    assert extended.settings.games == 0
    assert extended.told[-1] == "Left out: the games of cid."


def test_what_was_planned_in_the_order_of_before_can_be_extended(store: Store, tmp_path: Path) -> None:
    before = instant.settings(players=3, seed=None, format=RoundRobin(deals=2, planning=1))
    base = finished(store, before, tmp_path)
    extended = extend(store, instant.settings(players=3, deals=5, seed=None), base)
    assert extended.settings.games == 3 * 3


def test_what_cannot_be_extended_is_refused_with_the_reason(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a finished round-robin of samurai standard to extend, got none"):
        extend(store, SETTINGS, LATEST)
    begun = instant.start(store, SETTINGS, tmp_path)
    with pytest.raises(ConfigError, match=f"got: {begun.tournament.id} has 12 games left; finish it"):
        extend(store, SETTINGS, begun.tournament.id)
    list(instant.runner(store, begun, SETTINGS).run())
    close(store, begun.tournament)
    other = replace(SETTINGS, format=RoundRobin(deals=2, seatings="all"))
    with pytest.raises(ConfigError, match="got others: seatings cyclic there, all here"):
        extend(store, other, LATEST)
    with pytest.raises(ConfigError, match="got others: players 2 there, 3 here"):
        extend(store, instant.settings(players=3, seed=None), begun.tournament.id)
