"""What `arena watch` watches: a league is one, by whatever path its database is named."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.core.errors import ConfigError
from arena.core.referee.feed import feed_folder
from arena.core.store.records import Claim, PlannedGame
from arena.league.folder import Folder
from arena.league.matches.supply import Jobs
from arena.league.season.opening import make_league
from arena.league.settings import Settings, load
from arena.pages.commands.watch import of_database


@pytest.fixture
def cup(tmp_path: Path) -> Folder:
    return make_league(tmp_path / "cup", Settings(name="cup"))


def make_remote(folder: Folder) -> None:
    text = folder.settings_text()
    assert "remote = false" in text
    folder.settings.write_text(text.replace("remote = false", "remote = true"), encoding="utf-8")


def names_of(cup: Folder, tmp_path: Path) -> dict[str, Path]:
    """Ways to name a league's database."""
    (tmp_path / "there").symlink_to(cup.path)
    (tmp_path / "mine.db").symlink_to(cup.database)
    return {
        "whole": cup.database,
        "relative": Path("cup/league.db"),
        "roundabout": cup.path / "logs" / ".." / "league.db",
        "linked folder": tmp_path / "there" / "league.db",
        "linked file": tmp_path / "mine.db",
    }


@pytest.mark.parametrize("begun", [False, True])
def test_a_leagues_database_is_watched_as_its_league(
    cup: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if begun:
        cup.database.write_bytes(b"")
    for name, path in names_of(cup, tmp_path).items():
        seen = of_database(path, hands=False)
        assert not seen.revealed, name
        assert seen.feed.parent.samefile(cup.path), name
        assert seen.feed.name == cup.feed.name, name


def test_hands_of_a_league_stay_shut_where_bots_play_from_elsewhere(
    cup: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    of_database(cup.database, hands=True)
    make_remote(cup)
    for path in names_of(cup, tmp_path).values():
        with pytest.raises(ConfigError, match="--hands"):
            of_database(path, hands=True)


def test_no_path_of_a_database_leads_to_what_a_leagues_games_send(cup: Folder) -> None:
    """So a watch that begins before its folder is a league sees nothing of it, either."""
    stub: Any = SimpleNamespace(
        versions=SimpleNamespace(of_entrant=lambda entrant: None),
        secret=bytes(32),
        logs=str(cup.logs),
        settings={"processes": "block"},
        awaits="",
        beacon="",
        entropy=None,
    )
    game = PlannedGame(number=0, block=0, deal=0, rotation=0, entrants=(0, 1))
    claim = Claim(game="cup-1-000000", tournament="cup-1", number=0, deal=0, rotation=0, attempt=1)
    job = Jobs(stub, stub, load(cup), stub, cup.feed)(claim, game)
    assert job.feed == str(cup.feed)
    assert cup.feed.suffix != feed_folder(cup.database).suffix


def test_a_database_of_tournaments_has_its_own_feed(tmp_path: Path) -> None:
    seen = of_database(tmp_path / "arena.db", hands=True)
    assert seen.revealed
    assert seen.feed == feed_folder(tmp_path / "arena.db")
    with pytest.raises(ConfigError, match="--db"):
        of_database(tmp_path / "none" / "arena.db", hands=False)
