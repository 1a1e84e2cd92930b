"""The end of a season: frozen with a digest, once, and the next one begins with everybody who plays."""

from __future__ import annotations

import json

import pytest

from arena.core.errors import ConfigError, Refused
from arena.core.ratings.running import Rating, inherit
from arena.league.folder import Folder
from arena.league.keeping.telling import Telling
from arena.league.public import publishing
from arena.league.season.closing import close_season, settings_now
from arena.league.service.inbox import give, new_order
from arena.league.settings import load
from arena.league.store import open_league
from tests import league_kit


def order(cup: Folder, season: str, **more: str) -> None:
    give(cup, load(cup), new_order("season_close", {"season": season, **more}))


def test_a_season_is_closed_once_and_the_next_begins_anew(cup: Folder) -> None:
    with open_league(cup.database) as store:
        random, greedy = store.versions.active()
        match = league_kit.play(store, random, greedy)
        waiting = league_kit.plan(store, random, greedy)
    order(cup, "first", next="spring")
    text = cup.settings.read_text()
    cup.settings.write_text(text.replace('command = ""', f'command = "cat >{cup.path}/told.json; exit 3"'))
    said: list[str] = []
    with open_league(cup.database) as store:
        assert store.matches.get(waiting.number).state == "void", "what was not begun is not played"
        closed = close_season(store, cup, said.append)
        assert closed.standings is not None
        Telling(store, cup, load(cup).notify, said.append).finish()
        told = json.loads((cup.path / "told.json").read_text())
        assert (told["event"], told["id"], told["result"]) == ("season", "first", closed.standings)
        assert "told of the season first: the command ended with 3" in said[-1], "and the season is closed"
        assert [item["name"] for item in closed.standings["items"]] == ["random/1", "greedy/1"]
        assert sum(item["games"] for item in closed.standings["items"]) == 2 * len(match.games)
        current = league_kit.season(store)
        assert (current.name, current.digest_before) == ("spring", closed.digest)
        assert store.games.ratings(current.tournament) == [Rating(), Rating()]
        with pytest.raises(Refused, match="expected a season that is to end, got: none"):
            close_season(store, cup, print)
    with pytest.raises(Refused, match="expected the name of the open season, got: 'first'; open is 'spring'"):
        order(cup, "first")
    with pytest.raises(Refused, match="expected a new name for the next season, got: 'First'"):
        order(cup, "spring", next="First")


def test_ratings_can_go_on_with_less_certainty(cup: Folder) -> None:
    text = cup.settings.read_text()
    cup.settings.write_text(text.replace('start = "anew"', 'start = "decayed"'))
    with open_league(cup.database) as store:
        random, greedy = store.versions.active()
        league_kit.play(store, random, greedy)
        before = store.games.ratings(league_kit.season(store).tournament)
    order(cup, "first")
    with open_league(cup.database) as store:
        close_season(store, cup, print)
        current = league_kit.season(store)
        assert current.name == "season-2"
        assert store.games.ratings(current.tournament) == [inherit(rating) for rating in before]


def test_a_final_is_played_with_what_the_season_was_played_with(cup: Folder) -> None:
    order(cup, "first")
    text = cup.settings.read_text()
    with open_league(cup.database) as store:
        assert settings_now(store, cup) == load(cup)
        cup.settings.write_text(text.replace('time = "5/move"', 'time = "6/move"'))
        with pytest.raises(ConfigError, match="or end the season without: arena league season close first"):
            settings_now(store, cup)
        store.seasons.begin_final((), 10, "too few")
        assert settings_now(store, cup).game.time == "6/move", "nothing of the season is left to play"


def test_a_season_does_not_end_while_a_game_runs(cup: Folder) -> None:
    with open_league(cup.database) as store:
        random, greedy = store.versions.active()
        league_kit.plan(store, random, greedy)
        [claimed] = league_kit.claim(store)
    order(cup, "first")
    with open_league(cup.database) as store:
        with pytest.raises(Refused, match="running games"):
            close_season(store, cup, print)
        assert league_kit.season(store).name == "first"
        league_kit.record(store, claimed)
        assert close_season(store, cup, print).name == "first"


def test_matches_are_published_with_signs_of_life_before_a_season_is_closed(
    cup: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs: list[str] = []
    monkeypatch.setattr(publishing, "AT_ONCE", 2)
    with open_league(cup.database) as store:
        random, greedy = store.versions.active()
        for _ in range(5):
            league_kit.play(store, random, greedy)
    order(cup, "first", final="no")
    with open_league(cup.database) as store:
        close_season(store, cup, signs.append, lambda: signs.append("alive"))
    assert signs.count("alive") == 2, "two batches of matches before the last one"
