"""What `arena league status` says of the door."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import cli
from arena.core.errors import DoorError
from arena.league.commands.look import door_lines
from arena.league.commands.tables import face_lines, show_games
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Settings
from arena.pages.commands.site import _name_of

QUIET = {
    "since": "2026-01-01T12:00:00+00:00", "falls": 0, "connections": 1, "messages": 20, "remote": 0, "refused": {},
    "closed": {}, "turned_away": 0,
}  # fmt: skip


def test_a_quiet_door_is_one_line_and_a_closed_one_none() -> None:
    assert list(door_lines(None)) == []
    assert list(door_lines(QUIET)) == [
        "door: open since 2026-01-01T12:00:00+00:00, 1 connection, 20 messages, 0 remote bots"
    ]


def test_what_is_not_as_it_should_be_is_said() -> None:
    door = QUIET | {"falls": 2, "refused": {"too_many": 3, "archive": 1}, "closed": {"endless": 1}, "turned_away": 5}
    assert list(door_lines(door)) == [
        "door: open since 2026-01-01T12:00:00+00:00, 1 connection, 20 messages, 0 remote bots; it fell over 2 times",
        "  refused requests: 1 archive, 3 too_many",
        "  closed connections: 1 endless",
        "  turned away: 5 requests without a token that is known",
    ]


def test_a_wrong_value_does_not_keep_anybody_from_looking(tmp_path: Path) -> None:
    make_league(tmp_path / "cup", Settings(name="cup", bots=Bots(level="trusted")))
    settings = tmp_path / "cup" / "league.toml"
    settings.write_text(settings.read_text().replace("sample = 64", "sample = 1"))
    done = CliRunner().invoke(cli, ["league", "status", str(tmp_path / "cup")])
    assert done.exit_code == 0, done.output
    assert "sample: expected `int` >= 2" in done.stderr
    for words in ("what is played: samurai standard, 2 players", "now tried: nothing", "to enter: arena league submit"):
        assert words in done.stdout
    settings.write_text(settings.read_text().replace("sample = 1", "sample = 64").replace('"greedy"]', '"gredy"]'))
    run = CliRunner().invoke(cli, ["league", "run", str(tmp_path / "cup"), "--games", "1"])
    assert "got: 'gredy' (did you mean 'greedy'?) - at house in [bots]" in run.stderr


def test_a_forfeit_is_told_with_the_commands_that_ask_the_bot_again(capsys: pytest.CaptureFixture[str]) -> None:
    again = "arena bot rerun cup-7.jsonl fox --seat 0"
    game = {"game": "cup-7", "version": "fox/1", "forfeit": "timeout", "rerun": again}
    show_games([game], "--at X --token T")
    *_, first, second = capsys.readouterr().out.splitlines()
    assert first == "  ask it again: arena league log cup-7 --at X --token T"
    assert second.strip() == again


def test_what_a_league_elsewhere_says_of_itself_is_read_before_it_is_shown() -> None:
    assert list(face_lines({}, "", is_here=False)) == []  # of an earlier version
    assert next(face_lines({"told": [["time", "5s"]]}, "--at X", is_here=False)) == "  time: 5s"
    with pytest.raises(DoorError, match="expected what a league is"):
        list(face_lines({"told": [["time", 7]]}, "", is_here=False))


def test_a_league_s_folder_is_no_season(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_league(Path("cup"), Settings(name="Cup", bots=Bots(level="trusted")))
    Path("cup/door").mkdir(exist_ok=True)
    Path("cup/door/authors").write_text("https://192.0.2.7:8780#sha256=00")
    assert _name_of(Path("cup")) == ("Cup", "https://192.0.2.7:8780"), "which `arena league open` has left"
    (at := Path("cup/league.toml")).write_text(at.read_text().replace('url = ""', 'url = "https://cup.example"'))
    ended = CliRunner().invoke(cli, ["league", "season", "close", "cup"])
    assert "expected NAME first, got the folder of a league; give it as NAME --league cup" in ended.output
    assert _name_of(Path("cup")) == ("Cup", "https://cup.example")
    Path("cup/league.db").unlink()
    for words in (["status", "cup"], ["pause", "cup"], ["run", "cup"], ["backup", "cup", "cup.tar"]):
        assert "`arena league restore` makes" in CliRunner().invoke(cli, ["league", *words]).output
    assert not [*Path().rglob("*.db"), *Path().rglob("*.tar")], "no empty one is made in its place"
