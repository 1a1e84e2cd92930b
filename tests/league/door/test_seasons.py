"""The files of a season through the door, and what an author's program does with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.errors import ConfigError, DoorError
from arena.core.record.published import COMMITMENT_FILE
from arena.core.standings.examined import examine
from arena.league.checking.audit import SeasonAuditor, logs_of
from arena.league.door import fetching, published
from arena.league.door.client import Client
from arena.league.door.fetching import fetch_season
from tests import door_kit, season_kit


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return season_kit.closed(tmp_path_factory.mktemp("played")).published


@pytest.fixture
def league(shown: Path, tmp_path: Path) -> door_kit.League:
    """A league that has published a closed season."""
    league = door_kit.League(tmp_path / "cup")
    shutil.copytree(shown, league.folder / "published", dirs_exist_ok=True)
    seasons = [
        {"name": "first", "tournament": "cup-1", "closed": "2026-01-01T12:00:00+00:00", "digest": "00"},
        {"name": "autumn", "tournament": "cup-2", "closed": None, "digest": None},
        {"name": "strange", "tournament": "../../own", "closed": None, "digest": None},
    ]
    league.publish("league.json", {"name": "cup", "rules": "samurai", "remote": False, "seasons": seasons})
    return league


@pytest.fixture
def client(league: door_kit.League) -> Iterator[Client]:
    token = league.author("anna")
    with door_kit.opened(league) as door, door_kit.client(door, token) as client:
        yield client


def test_an_author_fetches_a_closed_season_and_checks_it_to_its_end(client: Client, tmp_path: Path) -> None:
    out = tmp_path / "first"
    assert fetch_season(client, "first", out) == "Season first, closed: 14 logs"
    folder = out / "seasons" / "cup-1"
    auditor = SeasonAuditor(folder)
    for log in logs_of(folder):
        auditor.add(examine(str(log), str(folder)))
    found = auditor.result(complete=True)
    assert (found.faults, found.complete, found.logs) == ((), True, 14)


def test_what_was_fetched_before_must_still_be_the_same(
    client: Client, league: door_kit.League, tmp_path: Path
) -> None:
    """§D7-2: a commitment that changed is not taken, nor lines of which one was left out; lines may come."""
    out, place = tmp_path / "first", league.folder / "published" / "seasons" / "cup-1"
    fetch_season(client, "cup-1", out)
    told, document = place / "rounds-0.jsonl", json.loads((place / COMMITMENT_FILE).read_text())
    lines = told.read_bytes().splitlines(keepends=True)
    told.write_bytes(b"".join([*lines, lines[-1]]))
    fetch_season(client, "first", out)
    told.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(DoorError, match=r"expected rounds-0.jsonl as it was when it was fetched before"):
        fetch_season(client, "first", out)
    told.write_bytes(b"".join([*lines, lines[-1]]))
    (place / COMMITMENT_FILE).write_text(json.dumps(document | {"commitment": "00" * 32}))
    with pytest.raises(DoorError, match=r"expected commitment.json as it was when it was fetched before"):
        fetch_season(client, "first", out)
    assert json.loads((out / "seasons" / "cup-1" / COMMITMENT_FILE).read_text()) == document


def test_of_an_open_season_there_is_the_commitment(client: Client, tmp_path: Path) -> None:
    assert fetch_season(client, "autumn", tmp_path / "autumn") == "Season autumn, open: 0 logs"
    there = {path.name for path in (tmp_path / "autumn" / "seasons" / "cup-2").iterdir()}
    assert there == {COMMITMENT_FILE, "rounds-0.jsonl"}


@pytest.mark.parametrize("name", ["spring", "../../own", "strange"])
def test_another_season_is_none(client: Client, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="expected the name of a season, got"):
        fetch_season(client, name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("tournament", "file"),
    [("cup-1", "results-7.jsonl"), ("cup-2", "secret.json"), ("..", "keys.json"), ("", "keys.json"), (".", "x.json")],
)
def test_what_is_not_published_is_unknown(client: Client, tournament: str, file: str) -> None:
    """§D8-2."""
    with pytest.raises(DoorError) as caught:
        client.season(tournament, file)
    assert caught.value.refusal == "unknown"


def test_logs_come_in_bundles_and_it_is_told_how_many(
    client: Client, league: door_kit.League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are there are not asked for again, also of a match that was planned in the file before."""
    asked: list[str] = []
    logs = client.logs
    monkeypatch.setattr(client, "logs", lambda name, games: asked.append(games) or logs(name, games))  # type: ignore[func-returns-value]
    monkeypatch.setattr(fetching, "BUNDLE", 6)
    place = league.folder / "published" / "seasons" / "cup-1"
    lines = (place / "rounds-0.jsonl").read_bytes().splitlines(keepends=True)
    over = next(number for number, line in enumerate(lines) if json.loads(line)["kind"] == "over")
    (place / "rounds-0.jsonl").write_bytes(b"".join(lines[:over]))
    (place / "rounds-1.jsonl").write_bytes(b"".join(lines[over:]))
    told: list[str] = []
    assert fetch_season(client, "first", tmp_path, tell=told.append) == "Season first, closed: 14 logs"
    assert told == ["6 of 14 logs", "12 of 14 logs", "14 of 14 logs"]
    for game in (3, 4, 9):
        (tmp_path / "logs" / f"cup-1-{game:06}.jsonl").unlink()
    fetch_season(client, "first", tmp_path)
    assert asked[len(told) :] == ["3-4,9-9"]


def test_a_bundle_ends_before_it_has_too_many_bytes(
    client: Client, league: door_kit.League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was left out is asked for again, and what nobody may see yet is not in it."""
    monkeypatch.setattr(published, "BUNDLE_BYTES", 1)
    assert list(client.logs("cup-1", "2-5")) == ["cup-1-000002.jsonl.zst"]
    monkeypatch.setattr(published, "BUNDLE_BYTES", 2**20)
    there = (league.folder / "published" / "logs" / "cup-1-000002.jsonl.zst").read_bytes()
    assert client.logs("cup-1", "2,900-999")["cup-1-000002.jsonl.zst"] == there
    assert client.logs("cup-1", "999") == {}
    with pytest.raises(DoorError, match="expected a season that is published"):
        client.logs("..", "2")


def test_a_log_that_the_league_has_no_more_is_counted(client: Client, league: door_kit.League, tmp_path: Path) -> None:
    (league.folder / "published" / "logs" / "cup-1-000003.jsonl.zst").unlink()
    assert fetch_season(client, "first", tmp_path) == "Season first, closed: 13 logs; 1 log the league has no more"


def test_the_public_log_is_that_of_everybody(client: Client, league: door_kit.League) -> None:
    own = league.folder / "published" / "own" / "anna" / "cup-1-000000.jsonl.zst"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_bytes(b"anna's")
    public = (league.folder / "published" / "logs" / own.name).read_bytes()
    assert (client.log("cup-1-000000"), client.log("cup-1-000000", public=True)) == (b"anna's", public)
