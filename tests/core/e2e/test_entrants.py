"""A folder of bots plays, says what it leaves out, and prints as much as is asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command_kit import Run


@pytest.fixture
def arena(arena: Run, tmp_path: Path) -> Run:
    """Runs `arena` in a folder with a folder `mine`: two bots that can play, two that cannot, and notes."""
    (tmp_path / "mine").mkdir()
    for name in ("zen", "bonsai"):
        arena("bot", "new", name)
        (tmp_path / name).rename(tmp_path / "mine" / name)
    for name, rest in (
        ("raw", 'command = ["./bot"]\nbuild = ["sh", "make"]'),
        ("lazy", 'command = ["no-such-program"]'),
    ):
        (tmp_path / "mine" / name).mkdir()
        (tmp_path / "mine" / name / "bot.toml").write_text(f'name = "{name}"\n{rest}\n')
    (tmp_path / "mine" / "notes.txt").write_text("notes\n")
    return arena


LEFT_OUT = [
    "Left out: mine/lazy: it needs 'no-such-program', which is not installed",
    "Left out: mine/raw: it is not built; run `arena bot build mine/raw`",
]
GAME = r"{}-\d{{6}}: 1\. \w+ \(seat [01]\), [12]\. \w+ \(seat [01]\): \d+ turns, \d+\.\d\d s, logs/\S+\.jsonl"


@pytest.mark.wing("author")
def test_a_folder_of_bots_plays_a_tournament(arena: Run) -> None:
    done = arena("tournament", "mine", "--ruleset", "basic", "--deals", "1", "--each-game", "--json")
    said = done.stderr.splitlines()
    assert said[:2] == LEFT_OUT
    document = json.loads(done.stdout)
    assert sorted(row["bot"] for row in document["standings"]) == ["bonsai", "zen"]
    assert said[2].endswith("2 games of bonsai, zen"), "by name"
    games = [line for line in said if re.fullmatch(GAME.format(document["tournament"]["id"]), line)]
    assert len(games) == 2


@pytest.mark.long
def test_the_quiet_get_results_and_errors_only(arena: Run) -> None:
    words = ("tournament", "mine", "--ruleset", "basic", "--deals", "1", "--quiet")
    done = arena(*words)
    assert done.stderr == ""
    assert "bonsai" in done.stdout
    assert len(arena(*words, "--each-game", "--new").stderr.splitlines()) == 2
    assert "expected at least 1 game at a time" in arena(*words, "--concurrency", "0", code=2).stderr


@pytest.mark.long
def test_a_folder_of_bots_sits_at_a_match(arena: Run) -> None:
    done = arena("match", "mine", "--ruleset", "basic", "--deals", "1")
    assert done.stderr.splitlines()[:2] == LEFT_OUT
    assert len(done.stdout.splitlines()) == 3
    quiet = arena("match", "mine", "--ruleset", "basic", "--quiet")
    assert quiet.stderr == ""
    assert re.fullmatch(r"2 games: bonsai won \d, zen won \d, drawn \d\n", quiet.stdout)
    assert len(arena("match", "mine", "--ruleset", "basic", "-q", "--each-game").stdout.splitlines()) == 3
    document = arena("match", "mine", "--ruleset", "basic", "--each-game", "--json")
    assert len(json.loads(document.stdout)["games"]) == 2
    assert len([line for line in document.stderr.splitlines() if line.startswith("1. ")]) == 2


@pytest.mark.long
def test_defaults_come_from_the_file_and_the_tournament_goes_on_with_it(arena: Run, tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text(
        '[defaults]\nruleset = "basic"\nlogs = "records"\ndb = "results.db"\n'
        '[tournament]\nbots = ["mine"]\ndeals = 1\nseed = "tea"\n'
    )
    (tmp_path / "swiss.toml").write_text('[tournament]\nformat = "swiss"\nrounds = 2\n')
    committed = arena("tournament", "--commit")
    assert committed.stderr.splitlines()[-1] == "  arena tournament"
    done = arena("tournament", "--json")
    assert "Continuing tournament" in done.stderr
    document = json.loads(done.stdout)
    assert document["settings"]["game"]["ruleset"] == "basic"
    assert document["logs"] == str(tmp_path / "records" / document["tournament"]["id"])
    assert document["tournament"]["id"] in arena("standings").stdout
    other = ("--config", "swiss.toml", "tournament", "mine", "--format", "knockout")
    assert "knockout" in json.dumps(json.loads(arena(*other, "--deals", "1", "--json").stdout)["settings"])
    assert "got: --rounds, which is for" in arena(*other, "--rounds", "3", code=2).stderr
