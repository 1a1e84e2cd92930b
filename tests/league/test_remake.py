"""The service makes ratings again a little at a time, and orders are obeyed in between."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.league.folder import Folder
from arena.league.keeping import housekeeping
from arena.league.keeping.housekeeping import Remake, remake_here
from arena.league.public import documents
from arena.league.service.inbox import OrderDuty, give, new_order
from arena.league.settings import Settings
from arena.league.store import remaking
from tests import league_kit as kit

SETTINGS = Settings(name="cup")


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "REMADE_S", 0.0)
    monkeypatch.setattr(remaking.Remaking.step, "__defaults__", (5,))


def test_orders_are_obeyed_and_games_rated_while_ratings_are_made_again(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    said: list[str] = []

    def order(verb: str, **arguments: Any) -> None:
        """Gives an order as another process does, to a service that has no time at this moment."""
        give(folder, SETTINGS, new_order(verb, arguments), wait_s=0, sleep=lambda seconds: None)

    with kit.league(tmp_path, "anna") as store, folder.running():
        random, greedy = store.versions.active()
        for _ in range(20):
            kit.play(store, random, greedy)
        order_duty, remake = OrderDuty(store, folder, SETTINGS, 1, said.append), Remake(store, said.append)
        order("replay_games", matches=[2])
        order_duty.look()
        left = []
        while state := store.remaking.state():
            left.append(state.left)
            document = documents.status(store, SETTINGS, folder)
            assert document["remaking"] == {"games": state.end - state.first, "left": state.left}
            assert documents.standings(store)["remaking"] == document["remaking"]
            if len(left) == 3:
                order("pause")
                kit.play(store, random, greedy)
            if len(left) == 4:
                order("replay_games", matches=[1])
            order_duty.look()
            assert order_duty.paused == (len(left) >= 3)
            remake.look()
        assert max(before - after for before, after in pairwise(left)) <= 5
        assert documents.status(store, SETTINGS, folder)["remaking"] is None
        expected = store.games.ratings("cup-1")
        store._db.execute("INSERT INTO remaking VALUES ('cup-1', 0, 0, '[0, 1]')")
        kit.remake(store)
        assert store.games.ratings("cup-1") == expected, "all at once"
    assert [sentence for sentence in said if "ratings" in sentence] == [
        "Running ratings are being made again: 36 games to go",
        "All running ratings are made again",
    ]


def test_without_a_service_the_command_makes_them_again(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    with kit.league(tmp_path, "anna") as store:
        for _ in range(20):
            kit.play(store, *store.versions.active())
    give(folder, SETTINGS, new_order("replay_games", {"matches": [2]}))
    with folder.running():
        remake_here(folder)
    with kit.opened(tmp_path) as store:
        assert store.remaking.state() is not None, "the service does it"
        remake_here(folder)
        assert store.remaking.state() is not None, "another command writes"
    remake_here(folder)
    with kit.opened(tmp_path) as store:
        assert store.remaking.state() is None
