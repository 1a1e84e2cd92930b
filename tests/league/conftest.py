"""A league in a folder, as `arena league init` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Game, Settings
from arena.league.store import LeagueStore
from arena.league.store.opening import open_league


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_league(tmp_path / "cup", Settings(name="cup"))


@pytest.fixture
def cup(tmp_path: Path) -> Folder:
    """A league of quick games whose bots are not confined."""
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    return make_league(tmp_path / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted")))


@pytest.fixture
def store(folder: Folder) -> Iterator[LeagueStore]:
    with open_league(folder.database) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        store.authors.add("anna")
        yield store
