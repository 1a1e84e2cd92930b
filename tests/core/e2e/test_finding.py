"""From a lost game to its replay in two commands: real bots, one of which crashes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.core.record.log import read_log
from tests.command_kit import FAULTY, arena, environment

CRASHES = "ok," * 12 + "words,crash"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a bot has played a tournament and crashed in each game."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "ronin").mkdir()
    command = json.dumps(["{python}", str(FAULTY), CRASHES])
    (folder / "ronin" / "bot.toml").write_text(f'name = "ronin"\nversion = "2"\ncommand = {command}\n')
    arena(folder, "tournament", "./ronin", "random", "--deals", "1", "--seed", "tea")
    return folder


@pytest.mark.long
def test_a_lost_game_is_found_and_replayed_in_two_commands(played: Path) -> None:
    found = arena(played, "games", "--bot", "ronin", "--lost", "--since", "yesterday", "--json")
    assert found.stderr == ""
    games = json.loads(found.stdout)["games"]
    assert [game["number"] for game in games] == [1, 0]
    for game in games:
        [lost] = [seat for seat in game["seats"] if seat["bot"] == "ronin"]
        assert (lost["outcome"], lost["forfeit"], lost["sentence"]) == ("lost", "crashed", lost["sentence"])
        assert read_log(Path(game["log"])).outcome.ranks[lost["seat"]] == 2
        shown = arena(played, *shlex.split(game["replay"])[1:], "--seat", str(lost["seat"]))
        assert f"game {game['game']}" in shown.stdout
        assert shown.stdout == arena(played, "replay", game["log"], "--seat", str(lost["seat"])).stdout


@pytest.mark.long
def test_the_command_under_a_forfeit_asks_the_bot_again(played: Path) -> None:
    shown = arena(played, "games", "--forfeited", "crashed").stdout
    [first, _] = [line for line in shown.splitlines() if line.startswith("  ask it again: ")]
    words = shlex.split(first.partition(": ")[2])
    assert words[:3] == ["arena", "bot", "rerun"]
    assert "./ronin" in words
    again = arena(played, *words[1:], code=3)
    assert "would forfeit: it exited with status 3" in again.stdout


def test_verify_takes_the_id_of_a_game_and_of_a_tournament(played: Path) -> None:
    assert "draws checked" in arena(played, "verify", "latest:1").stdout
    whole = arena(played, "verify", "latest", "--complete", "--db", "arena.db")
    assert "2 of 2 games" in whole.stdout


@pytest.mark.long
def test_logs_from_some_game_on_are_compressed_and_read_like_the_others(tmp_path: Path) -> None:
    words = ["tournament", "random", "greedy", "--deals", "1", "--seed", "tea", "--quiet"]
    arena(tmp_path, *words)  # plain logs, as before
    few = "from arena.core.tournament import settings; settings.PLAIN_LOGS = 3; from arena.cli import main; main()"
    more = [sys.executable, "-c", few, *words[:3], "banzai", "--extend", "latest", "--deals", "1", "--quiet"]
    subprocess.run(more, cwd=tmp_path, env=environment(), check=True, capture_output=True)
    [old, new] = sorted((tmp_path / "logs").iterdir(), key=lambda folder: folder.stat().st_ctime)
    assert {log.suffix for log in old.glob("*-0*")} == {".jsonl"}
    assert [log.suffix for log in sorted(new.glob("*-0*"))] == [".jsonl"] * 3 + [".zst"]
    last = json.loads(arena(tmp_path, "games", "--limit", "1", "--json").stdout)["games"][0]
    shown = arena(tmp_path, "replay", "latest:3").stdout
    assert shown == arena(tmp_path, "replay", last["log"]).stdout
    assert read_log(Path(last["log"])).sha256 == last["log_sha256"]
    (tmp_path / "logs").rename(tmp_path / "moved")
    for id in (old.name, new.name):
        whole = arena(tmp_path, "verify", id, "--complete", "--db", "arena.db", "--logs", "moved")
        assert "none failed" in whole.stderr


@pytest.mark.long
def test_another_database_is_named_in_the_commands(played: Path, tmp_path: Path) -> None:
    shown = arena(tmp_path, "games", "--limit", "1", "--db", str(played / "arena.db")).stdout
    codes = {}
    for line in shown.splitlines():
        what, _, command = line.strip().partition(": arena ")
        if command:
            codes[what] = arena(tmp_path, *shlex.split(command), code=None).returncode
    assert codes == {"ask it again": 3, "see it": 0}
