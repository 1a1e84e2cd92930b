"""An author's program remembers the lines of seasons that it has seen, and a league that takes one back is found.

What a league must keep to: §D7-6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from arena.cli import cli
from arena.core.errors import ConfigError, DoorError
from arena.core.record.published import COMMITMENT_FILE, Commitment, publish, sha256_of
from arena.league.door.addresses import Address, address
from arena.league.door.client import Client
from arena.league.door.heads import heads_of, look_again, read_heads
from arena.league.door.tokens import read_token, write_token
from arena.league.record import rounds
from arena.league.record.rounds import Noted
from tests import door_kit

Look = Callable[[], None]


def silent(sentence: str) -> None:
    raise AssertionError(sentence)


def show(league: door_kit.League, *names: str) -> Noted:
    """Publishes a season as the league's service does, with a version for each line after the first."""
    before, data = rounds.FIRST, b""
    empty = sha256_of({})
    commitment = Commitment(
        tournament="cup-1", created="", commitment="00" * 32, settings_sha256=empty, schedule_sha256=empty, deals=None,
        games=None, bots=[], seeded=False, settings={}, schedule={},
    )  # fmt: skip
    opened = rounds.Opened(tournament="cup-1", season="first", commitment_sha256=sha256_of(commitment))
    entered = [rounds.Entered(name=name, digest="", archive="", level="isolated", mu=25.0, sigma=8.0) for name in names]
    for number, line in enumerate([opened, *entered]):
        encoded = rounds.encoded(msgspec.structs.replace(line, number=number, before=before))
        before, data = rounds.sha256(encoded), data + encoded + b"\n"
    folder = league.folder / "published" / "seasons" / "cup-1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rounds-0.jsonl").write_bytes(data)
    publish(folder, COMMITMENT_FILE, commitment)
    head = {"lines": len(names) + 1, "sha256": before}
    season = {"name": "first", "tournament": "cup-1", "closed": None, "digest": None, "head": head}
    league.publish("league.json", {"name": "cup", "rules": "samurai", "remote": False, "seasons": [season]})
    return Noted("cup-1", len(names) + 1, before)


@pytest.fixture
def league(tmp_path: Path) -> door_kit.League:
    return door_kit.League(tmp_path / "cup")


@pytest.fixture
def token(league: door_kit.League, tmp_path: Path) -> Path:
    path = tmp_path / "anna.token"
    write_token(path, league.author("anna"))
    return path


@pytest.fixture
def door(league: door_kit.League) -> Iterator[Address]:
    with door_kit.opened(league) as door:
        yield door.address


@pytest.fixture
def look(door: Address, token: Path) -> Iterator[Look]:
    """Looks at the league as every command of an author does."""
    with Client(door, read_token(token)) as client:
        yield lambda: look_again(client, heads_of(token, door), silent)


def test_each_head_that_is_new_is_kept(league: door_kit.League, door: Address, token: Path, look: Look) -> None:
    look()
    assert not heads_of(token, door).exists()
    seen = []
    for number in range(4):
        seen.append(show(league, *[f"fox/{place}" for place in range(number)]))
        look()
        look()
    assert read_heads(heads_of(token, door)) == seen
    names = {
        heads_of(token, address(at)).name for at in ("https://cup.example", "https://cup.example#sha256=" + 64 * "0")
    }
    assert names == {"anna.cup.example.heads.jsonl"}, "a league with a new certificate is the same"
    assert heads_of(token, address("http://[::1]:8780")).name == "anna.1_8780.heads.jsonl"


@pytest.mark.parametrize("names", [("fox/1",), ("fox/1", "cat/1")], ids=["shorter", "changed"])
def test_a_season_that_was_taken_back_is_refused_and_the_head_stays(
    league: door_kit.League, door: Address, token: Path, look: Look, names: tuple[str, ...]
) -> None:
    seen = show(league, "fox/1", "owl/1")
    look()
    show(league, *names)
    for _ in range(2):
        with pytest.raises(DoorError, match=r"expected season cup-1 as it was seen before, with 3 lines"):
            look()
    assert read_heads(heads_of(token, door)) == [seen]


def test_a_file_that_is_none_is_not_taken_for_nothing_seen(
    league: door_kit.League, door: Address, token: Path, look: Look
) -> None:
    show(league)
    heads_of(token, door).write_text("{}{")
    with pytest.raises(ConfigError, match="expected the heads of seasons that were seen"):
        look()


def test_two_authors_find_a_league_that_shows_each_another_history(
    league: door_kit.League, door: Address, tmp_path: Path
) -> None:
    """Each of the two histories goes on from what its author saw: only the comparison shows it."""
    tokens = {name: tmp_path / f"{name}.token" for name in ("anna", "bert")}
    for name, path in tokens.items():
        write_token(path, league.author(name))

    def run(name: str, *more: str) -> tuple[int, str]:
        options = ["--at", str(door), "--token", str(tokens[name]), "--out", str(tmp_path / name), *more]
        done = CliRunner().invoke(cli, ["league", "audit", *options])
        return done.exit_code, done.output

    for name in tokens:
        show(league, f"{name}/1", "owl/1")
        run(name)
        assert "ok      lines" in run(name)[1]
    code, output = run("bert", "--noted", str(heads_of(tokens["anna"], door)))
    assert code == 4
    assert "FAILED  lines" in output
    assert "expected the line that was noted" in output
