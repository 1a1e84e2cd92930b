"""Logs whose time is over go, those of every season and of everybody; the others and all results stay."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from arena.league.folder import Folder
from arena.league.housekeeping import Tidy
from arena.league.retention import Retention
from arena.store.league import LeagueStore
from tests import league_kit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league_kit.league(tmp_path, "anna") as store:
        yield store


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (Retention(days=10**6, forfeit_days=10**6), 8),
        (Retention(days=0, last_games=0), 2),
        (Retention(days=0, last_games=2), 6),
        (Retention(days=0, forfeit_days=0), 0),
    ],
)
def test_what_the_rule_does_not_keep_is_removed(
    store: LeagueStore, tmp_path: Path, rule: Retention, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four games, each with a log and a published one. In the first, somebody forfeits."""
    folder = Folder(tmp_path)
    folder.make()
    random, greedy = store.versions.active()
    assert random.entrant is not None
    season = league_kit.season(store)
    logs = folder.logs / season.tournament
    logs.mkdir()
    (folder.published / "logs").mkdir()
    league_kit.plan(store, random, greedy)
    league_kit.plan(store, random, greedy)
    times = count()
    monkeypatch.setattr("arena.store.store.now", lambda: f"2026-01-01T12:00:{next(times):02d}+00:00")
    for forfeits in ((random.entrant,), (), (), ()):
        [claimed] = league_kit.claim(store)
        league_kit.record(store, claimed, forfeits)
        (logs / f"{claimed.game}.jsonl.zst").write_text("log")
        (folder.published / "logs" / f"{claimed.game}.jsonl.zst").write_text("log")
    said: list[str] = []
    tidy = Tidy(store, folder, rule, said.append)
    tidy.look()
    assert len([*logs.iterdir(), *(folder.published / "logs").iterdir()]) == left
    assert bool(said) == (left < 8)
    assert store.games.done(season.tournament) == 4
    tidy.look()
    assert len(said) <= 1
