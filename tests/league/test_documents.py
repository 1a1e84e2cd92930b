"""What a league tells: documents with fixed fields, for programs and for the door."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import Refused
from arena.core.link import runtimes
from arena.core.tournament.workers import available_cores
from arena.core.types import Level
from arena.league.folder import Folder
from arena.league.public import documents
from arena.league.public.ranking import Ranking
from arena.league.settings import Settings
from arena.league.show import league_table
from arena.league.store import LeagueStore
from arena.league.store.records import StepReport, Verdict
from arena.league.store.states import Actor, State
from tests import league_kit as kit
from tests.archive_kit import make

SETTINGS = Settings(name="cup")
NULL = type(None)
RATING = dict.fromkeys(("rating", "half_width", "low", "high"), (float, NULL))
FIGURES = {**RATING, "mu": float, "sigma": float, "matches": int, "games": int, "forfeits": int}
"""The fields of a version that plays, as every document has them."""
STANDING: dict[str, Any] = {
    "rank": int, "name": str, "bot": str, "author": str, "level": str, "uncontrolled": bool, "since": str,
    "display_name": str,
    "ahead_of_next": (float, NULL), "points": (float, NULL), "wins": int, "draws": int, "losses": int,
    "mean_score": (float, NULL), "mean_ms": float, "max_ms": float, "provisional": bool, **FIGURES,
}  # fmt: skip
VERSION: dict[str, Any] = {
    "version": str, "bot": str, "author": str, "state": str, "since": str, "digest": str, "level": str,
    "uncontrolled": bool, "provisional": (bool, NULL),
    **RATING, **{name: (kind, NULL) for name, kind in FIGURES.items() if name not in RATING},
}  # fmt: skip
NOTICE: dict[str, Any] = {"at": str, "kind": str, "version": (str, NULL), "text": str}
GAME: dict[str, Any] = {
    "game": str, "match": int, "finished": str, "version": str, "seat": int, "opponents": list, "rank": int,
    "outcome": str, "score": (int, NULL), "forfeit": (str, NULL), "sentence": (str, NULL), "turn": (int, NULL),
    "overloaded": bool, "last_words": list, "turns": int, "max_ms": float, "rated": bool, "log": str,
    "public_sha256": (str, NULL), "published": bool, "bot": str, "lost": bool, "replay": (str, NULL),
    "rerun": (str, NULL),
}  # fmt: skip
STATUS: dict[str, Any] = {
    "name": str, "season": (str, NULL), "running": bool, "paused": bool, "workers": (int, NULL), "games": dict,
    "matches": int, "longest_wait": int, "authors": int, "states": dict, "versions": list, "notices": list,
    "orders_waiting": int, "ends": bool, "remaking": (dict, NULL), "final": (dict, NULL), "door": (dict, NULL),
    "longest_wait_rounds": float, "machine_faults": (int, NULL), "logs_bytes": (int, NULL), "league": dict,
}  # fmt: skip


def check(document: dict[str, Any], fields: dict[str, Any]) -> None:
    assert document.keys() == fields.keys()
    for name, kind in fields.items():
        assert isinstance(document[name], kind), f"{name}: {document[name]!r}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with kit.league(tmp_path, "anna", "bert") as store:
        yield store


@pytest.fixture
def played(store: LeagueStore) -> LeagueStore:
    with store.transaction():
        random = store.versions.named("random")
        fox = kit.active(store, "fox")
        owl = kit.active(store, "owl", author="bert")
        kit.play(store, random, fox)
        kit.play(store, fox, owl, forfeits=[fox.entrant or 0])
        for match in store.matches.over():
            store.matches.publish(match.number)
        kit.play(store, random, owl)
        kit.submit(store, "elk")
    return store


def test_the_standings_have_every_version_that_plays_with_its_interval(played: LeagueStore) -> None:
    found = documents.standings(played)
    assert found.keys() == {"season", "digest", "method", "remaking", "final_matches", "order", "items"}
    assert (found["season"], found["method"]) == ("first", documents.BY_RATING)
    for item in found["items"]:
        check(item, STANDING)
        if item["games"]:
            assert item["low"] < item["rating"] < item["high"]
            assert item["rating"] - item["half_width"] == pytest.approx(item["low"], abs=0.001)
        else:
            assert {item[name] for name in RATING} == {None}, "nothing is known of who has not played"
    names = [item["name"] for item in found["items"]]
    assert (names[0], names[-1]) == ("random/1", "greedy/1")
    assert sorted(names) == ["fox/1", "greedy/1", "owl/1", "random/1"]
    ranks = [item["rank"] for item in found["items"]]
    assert ranks == sorted(ranks)
    assert set(found["order"]["open"][0]) <= set(names)


def test_what_games_have_cost_is_shown_where_a_version_says_it_and_in_no_record(played: LeagueStore) -> None:
    item = documents.standings(played)["items"][0]
    assert "tokens" not in item
    cost = '{"tokens_in": 7, "tokens_out": 2, "microdollars": 1500000}'
    played._db.execute("UPDATE seats SET figures = json_set(figures, '$.cost', json(?)) WHERE seat = 0", (cost,))
    items = documents.standings(played)["items"]
    shown = {(one["tokens"], one["dollars"], one["retries"]) for one in items}
    assert {(18, 3.0, 0), (0, 0.0, 0)} <= shown
    for row in documents.standings(played, Ranking(played, kit.season(played), costs=False))["items"]:
        assert row.keys() == item.keys(), "nobody can check it"
    assert "tokens" in str(league_table(items, 200))
    assert played._db.execute("SELECT cost FROM v_seats WHERE cost IS NOT NULL").fetchone() is not None


def test_one_rating_is_shown_everywhere(played: LeagueStore, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    ratings = {item["name"]: [item[name] for name in RATING] for item in documents.standings(played)["items"]}
    for document in (documents.status(played, SETTINGS, folder), documents.author_status(played, "anna")):
        shown = {one["version"]: [one[name] for name in RATING] for one in document["versions"] if one["games"]}
        assert shown
        assert shown == {name: ratings[name] for name in shown}


def test_who_plays_no_more_has_no_rank_but_counts_for_the_ratings(played: LeagueStore) -> None:
    before = documents.standings(played)["items"]
    played.versions.change(played.versions.named("random").id, State.SUSPENDED, Actor.OPERATOR, "")
    after = documents.standings(played)["items"]
    assert [item["name"] for item in after] == [item["name"] for item in before if item["name"] != "random/1"]
    assert after[0]["rank"] == 1
    rated = {item["name"]: item["rating"] for item in before}
    assert all(item["rating"] == rated[item["name"]] for item in after)


def test_a_closed_season_keeps_its_standings(played: LeagueStore) -> None:
    final = documents.standings(played)
    kit.publish(played)
    played.seasons.close(final)
    assert documents.standings(played) == final


def test_a_remote_version_is_said_to_be_uncontrolled(store: LeagueStore) -> None:
    received = store.versions.receive("anna", "far", "aa", {}, 0, kit.AT, level=Level.REMOTE)
    kit.play_on(store, received.version)
    [item] = [each for each in documents.standings(store)["items"] if each["bot"] == "far"]
    assert (item["level"], item["uncontrolled"]) == ("remote", True)
    assert documents.author_status(store, "anna")["versions"][0]["uncontrolled"] is True


def test_the_status_of_an_author_is_theirs(played: LeagueStore) -> None:
    found = documents.author_status(played, "anna")
    assert found.keys() == {"author", "kept", "versions", "notices"}
    for version in found["versions"]:
        check(version, VERSION)
    assert [(version["version"], version["state"]) for version in found["versions"]] == [
        ("elk/1", "received"),
        ("fox/1", "active"),
    ]
    for notice in found["notices"]:
        check(notice, NOTICE)
    assert [notice["text"] for notice in found["notices"]][-1] == "elk/1 is received; it is next"
    assert "owl" not in str(found)


def test_the_status_of_a_league_is_for_its_operator(played: LeagueStore, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    (folder.inbox / "x.json").touch()
    played.notices.add(None, "disk", "little room")
    found = documents.status(played, SETTINGS, folder)
    check(found, STATUS)
    assert found["games"] == {"planned": 0, "running": 0, "done": 6, "void": 0}
    assert found["states"] == {**dict.fromkeys(map(str, State), 0), "active": 4, "received": 1}
    assert (found["running"], found["orders_waiting"], found["matches"]) == (False, 1, 3)
    assert found["longest_wait"] == 3, "greedy has not played at all"
    assert found["longest_wait_rounds"] == 1.5, "two matches of two give each of four a seat"
    assert (found["machine_faults"], found["logs_bytes"]) == (None, None), "no service has run"
    folder.service.write_text('{"machine_faults": 2, "logs_bytes": 7}')
    again = documents.status(played, SETTINGS, folder)
    assert (again["machine_faults"], again["logs_bytes"]) == (2, 7)
    for version in found["versions"]:
        check(version, VERSION)
    assert [notice["text"] for notice in found["notices"]] == ["little room"]


def test_games_are_found_by_author_bot_and_outcome(played: LeagueStore) -> None:
    everything = documents.games(played)
    assert len(everything) == 12
    for game in everything:
        check(game, GAME)
    mine = documents.games(played, author="anna")
    assert {game["version"] for game in mine} == {"fox/1"}
    assert documents.games(played, bot="fox") == documents.games(played, bot="fox/1") == mine
    assert documents.games(played, author="anna", bot="owl") == []
    lost = documents.games(played, bot="fox", only="lost")
    forfeits = documents.games(played, bot="fox", only="forfeits")
    assert (len(lost), len(forfeits)) == (4, 2)
    assert forfeits[0]["opponents"] == ["owl/1"]
    assert (forfeits[0]["forfeit"], forfeits[0]["turn"], forfeits[0]["last_words"]) == ("crashed", 7, ["oh"])
    assert forfeits[0]["rerun"] == f"arena bot rerun {forfeits[0]['game']}.jsonl fox --seat {forfeits[0]['seat']}"
    assert documents.games(played, matches=range(1), limit=3) == documents.games(played, matches=range(1))[:3]
    assert {game["match"] for game in documents.games(played, matches=range(1, 2))} == {1}
    unpublished = documents.games(played, matches=range(2, 3))
    assert all(game["replay"] is None and not game["published"] for game in unpublished)
    with pytest.raises(Refused):
        documents.games(played, bot="foxx")


def test_a_report_is_what_its_author_can_act_on(store: LeagueStore) -> None:
    fox = kit.play_on(store, kit.submit(store, "fox"), State.BUILDING)
    failed = StepReport(
        kind="build",
        attempt=1,
        verdict=Verdict.FAILED,
        finding="no rule",
        command_to_repeat="arena bot build fox",
        output=b"make: \xff***",
    )
    store.versions.change(fox.id, State.REJECTED, Actor.SERVICE, "no rule", report=failed)
    [found] = documents.reports(store, "fox", "build")
    assert (found["version"], found["state"], found["verdict"], found["attempt"]) == ("fox/1", "rejected", "failed", 1)
    assert (found["finding"], found["command_to_repeat"]) == ("no rule", "arena bot build fox")
    assert found["output"] == "make: \ufffd***"
    assert documents.reports(store, "fox", "check") == []


def test_everybody_may_know_the_rules_and_the_commitment(store: LeagueStore) -> None:
    found = documents.league(store, SETTINGS, Folder(Path()))
    assert (found["name"], found["rules"], found["remote"], found["players"]) == ("cup", "samurai", False, [2])
    assert found["commitment"] == store.games.tournament("cup-1").commitment
    assert store.games.tournament("cup-1").secret.hex() not in str(found)
    kit.active(store, "fox")
    told = documents.league(store, SETTINGS, Folder(Path()))["told"]
    assert ["in it", "3 versions of 1 author and the house"] in map(list, told), "bert has none"
    store.authors.add_key("anna", "k1")
    store.authors.add_key("bert", "k2")
    store.authors.revoke_key("k2")
    assert documents.keys(store) == {"k1": "anna"}


def test_what_runs_here_is_told_with_its_versions(
    store: LeagueStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(
        tmp_path / "bin",
        {
            "new": "#!/bin/sh\n[ $1 = --version ] && echo 'new v1.2.3 (release 4.5)'\n",
            "old": "#!/bin/sh\n[ $1 = -v ] && echo 'old 5.4'\n",
            "mute": "#!/bin/sh\nexit 2\n",
        },
        ["new", "old", "mute"],
    )
    names = ("new", "old", "mute")
    monkeypatch.setattr(runtimes, "names", lambda: ("{python}", *names))
    monkeypatch.setattr(runtimes, "find", {name: str(tmp_path / "bin" / name) for name in names}.get)
    found = documents.league(store, SETTINGS, Folder(Path()))
    assert {name: found["runtimes"][name] for name in names} == {"new": "1.2.3", "old": "5.4", "mute": ""}
    assert found["runtimes"]["{python}"] == platform.python_version()
    assert (found["caps"]["memory_mib"], found["cores"]) == (2048, available_cores())
    told = dict(found["told"])
    assert ", new 1.2.3, old 5.4, mute" in told["runs here"]
    assert told["a bot may have"] == "2,048 MiB of memory, 10 s to start"
