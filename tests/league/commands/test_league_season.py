"""`arena league season` without a service: it says what happens next, or closes the season at once."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from arena.cli import cli
from arena.core.referee.chance import deal_secret
from arena.league.commands.season import _doing
from arena.league.folder import Folder
from arena.league.season.ending import Ending
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Game, Settings, load
from arena.league.store import open_league
from arena.league.store.controls import Closing
from tests import league_kit


def arena(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["league", *words])
    assert result.exit_code == code, (result.output, result.stderr)
    return result


def close(cup: Folder, *words: str, code: int = 0) -> Result:
    return arena("season", "close", "first", "--league", str(cup.path), *words, code=code)


def play(cup: Folder) -> None:
    """Plays the final to its end, as a service does."""
    with open_league(cup.database) as store:
        end = Ending(store, load(cup))
        while not end.look(quiet=True):
            end.plan(8)
            for claimed in league_kit.claim(store, 1):
                league_kit.record(store, claimed)
            league_kit.publish(store)


def test_the_final_is_played_by_the_service_and_shown(cup: Folder) -> None:
    said = close(cup).stderr
    assert "The final between 2 versions is played first. The service plays it: arena league run " in said
    status = arena("status", str(cup.path)).stdout
    assert "the season ends: submissions wait for the next one" in status
    assert "Final of 2 versions, being played (0 of at most 2,000 deals)" in status
    assert "final being played" in arena("season", "list", str(cup.path)).stdout
    assert _doing(cup)[1] == "The final: 0 of at most 2,000 deals."
    play(cup)
    assert _doing(cup)[1] == ""
    assert close(cup).stdout.startswith("Season first is closed; digest ")
    shown = arena("standings", str(cup.path), "--season", "first").stdout
    assert "Final of 2 versions, settled: the winner is settled (" in shown
    assert "  1  random/1  100.0% of the points  rating " in shown
    assert "(rank 1 of all)" in shown
    [first, second] = json.loads(arena("season", "list", str(cup.path), "--json").stdout)
    assert (first["first"], first["final"], second["final"]) == (["random/1"], "settled", None)
    assert f"won by random/1, digest {first['digest']}, final settled" in arena("season", "list", str(cup.path)).stdout
    document = json.loads(arena("standings", str(cup.path), "--season", "first", "--json").stdout)
    assert [item["rank"] for item in document["items"]] == [1, 2]
    assert document["final"]["finalists"] == ["random/1", "greedy/1"]


def test_without_a_final_it_is_closed_at_once(cup: Folder) -> None:
    assert close(cup, "--no-final", "--next", "spring").stdout.startswith("Season first is closed; digest ")
    cup.settings.write_text(cup.settings.read_text().replace("final = 8", "final = 0"))
    assert arena("season", "close", "spring", "--league", str(cup.path)).stdout.startswith("Season spring is closed")
    said = arena("season", "list", str(cup.path)).stdout
    assert "spring" in said.splitlines()[1]
    assert "  shared by " in said.splitlines()[1], "nobody has played in it: all are level"
    shown = arena("standings", str(cup.path), "--season", "spring").stdout
    assert "Final" not in shown


def test_a_final_that_takes_too_long_can_be_ended(cup: Folder) -> None:
    close(cup)
    close(cup, "--no-final")
    shown = arena("standings", str(cup.path), "--season", "first").stdout
    assert "Final of 2 versions, not settled: the operator ended it (0 of at most 2,000 deals)" in shown


def test_a_league_with_one_version_has_no_final(tmp_path: Path) -> None:
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    bots = Bots(level="trusted", house=("random",))
    cup = make_league(tmp_path / "cup", Settings(name="cup", game=game, bots=bots))
    close(cup)
    shown = arena("standings", str(cup.path), "--season", "first").stdout
    assert "No final was played: expected at least 2 finalists of different authors, got: 1" in shown


def test_what_the_next_season_plays_waits_until_the_final_is_over(cup: Folder) -> None:
    cup.settings.write_text(cup.settings.read_text().replace('time = "5/move"', 'time = "6/move"'))
    said = close(cup, code=1).stderr
    assert "expected time as when the season 'first' began, 5/move, got: 6/move - at " in said
    assert "set it back until the final is over, or end the season without: arena league season close first" in said
    assert close(cup, "--no-final").stdout.startswith("Season first is closed")


def test_the_last_matches_are_published_though_the_command_closes_the_season(cup: Folder) -> None:
    with open_league(cup.database) as store:
        random, greedy = store.versions.active()
        league_kit.plan(store, random, greedy)
        [claimed] = league_kit.claim(store)
        league_kit.record(store, claimed)  # of two games; the service is stopped here
        season = league_kit.season(store)
        with store.transaction():
            store.set_control("closing", Closing(season.name, "spring", final=False))
    close(cup, "--no-final")
    with open_league(cup.database) as store:
        found = store._db.execute("SELECT state, published IS NOT NULL FROM matches ORDER BY number").fetchall()
        secret = deal_secret(store.games.tournament(season.tournament).secret, 0)
    assert found == [("over", 1)]
    lines = (cup.published / "seasons" / season.tournament / "rounds-0.jsonl").read_text().splitlines()
    [over] = [line for line in map(json.loads, lines) if line["kind"] == "over"]
    assert over["secret"] == secret.hex()
