"""`arena rules` as a person and a program call it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.cli.output import console
from arena.core.catalogue import names
from tests import forking
from tests.command_kit import array, record

TEXT = {"type": "string", "minLength": 1}
WORDS = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 1}
LIST = record(
    rules=array(record(rules={"enum": list(names())}, about=TEXT, players=array(NUMBER), rulesets=array(TEXT))),
    families=array(record(family=TEXT, about=TEXT, games=NUMBER)),
    broken=array(record(rules=TEXT, fault=TEXT)),
)
FAULT = record(law=TEXT, expected=TEXT, got=TEXT, place=TEXT, remedy=TEXT)
MAYBE_FAULT = {"oneOf": [{"type": "null"}, FAULT]}
CHECK = record(
    rules=TEXT,
    games=NUMBER,
    seed={"type": "integer", "minimum": 0},
    fault=MAYBE_FAULT,
    tables=array(record(ruleset=TEXT, players=NUMBER, steps={"oneOf": [{"type": "null"}, NUMBER]}, fault=MAYBE_FAULT)),
)
PAGE = record(
    rules={"enum": list(names())},
    version=NUMBER,
    about=TEXT,
    players=array(NUMBER),
    board={"oneOf": [{"type": "null"}, TEXT]},
    rulesets=array(
        record(
            ruleset=TEXT, about=TEXT, default={"type": "boolean"},
            options={"type": "object", "additionalProperties": TEXT},
        )
    ),
    options=array(
        record(
            option=TEXT,
            help=TEXT,
            values=array(record(value=TEXT, meaning=WORDS, rulesets=array(TEXT))),
            numbers={"oneOf": [{"type": "null"}, record(least=NUMBER, most=NUMBER)]},
        )
    ),
    contradictions=array({"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    console.cache_clear()


def run(*args: str) -> Result:
    console.cache_clear()
    return CliRunner().invoke(cli, ["rules", *args])


def test_the_list_names_every_game() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines() if line[0] != " "] == list(names())


def test_the_list_as_a_document() -> None:
    document = json.loads(run("list", "--json").output)
    jsonschema.validate(document, LIST)
    assert [row["rules"] for row in document["rules"]] == list(names())


@pytest.mark.parametrize("name", names())
def test_a_game_as_a_document(name: str) -> None:
    document = json.loads(run("show", name, "--json").output)
    jsonschema.validate(document, PAGE)
    assert [row["default"] for row in document["rulesets"]].index(True) == 0
    options = [option["option"] for option in document["options"]]
    assert all(list(row["options"]) == options for row in document["rulesets"])


@pytest.mark.parametrize("columns", ["60", "200"])
def test_a_game_for_people_is_wrapped_to_the_width(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = run("show", "samurai").output.splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert "Rulesets (--ruleset NAME)" in lines
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("show", "samurei"), "did you mean 'samurai'?"),
        (("show", "gardener", "--ruleset", "standard"), "expected a ruleset of gardener, one of draft, race, young"),
        (("shaw", "samurai"), "Did you mean 'show'?"),
        (("show",), "Missing argument"),
        (("check", "samurei"), "did you mean 'samurai'?"),
        (("check", "samurai", "--ruleset", "texas"), "expected a ruleset of samurai, one of standard"),
        (("check", "samurai", "--players", "7"), "expected 2 or 3 or 4 players for samurai, got: 7"),
        (("check", "samurai", "--games", "0"), "--games"),
        (("check", "samurai", "--rule", "luck=7"), "expected an option of samurai"),
    ],
)
def test_an_unknown_name_is_a_usage_error(args: tuple[str, ...], message: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


# Games of other packages


def install(folder: Path, name: str, module: str, value: str) -> None:
    """Puts a module with a game where entry points are found."""
    (folder / f"{name}.py").write_text(module, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[arena.games]\n{name} = {value}\n", encoding="utf-8")


MINE = """
from kuhn_poker import KuhnPoker

class Mine(KuhnPoker):
    name = "mine"
"""
LEAKS = """
from arena.core.rules.base import Event
from kuhn_poker import KuhnPoker

class Leaks(KuhnPoker):
    name = "leaks"

    def apply(self, state, seat, play, events=None):
        after = super().apply(state, seat, play, events)
        if events is not None:
            events.append(Event({"event": "smile", "card": state.cards[seat]}))
        return after

    def fold(self, view, event):
        return view if event["event"] == "smile" else super().fold(view, event)
"""


def arena(*args: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs `arena rules` or another command in a process of its own, beside the games of a folder."""
    paths = os.pathsep.join([str(path), str(Path(__file__).parents[3] / "examples" / "kuhn_poker")])
    return forking.run([*forking.ARENA, *args], env={**os.environ, "PYTHONPATH": paths})


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder with a game that works and has no board, one that leaks, and one whose package is broken."""
    install(tmp_path, "mine", MINE, "mine:Mine")
    install(tmp_path, "leaks", LEAKS, "leaks:Leaks")
    install(tmp_path, "broken", "import not_there\n", "broken:Broken")
    return tmp_path


def test_a_broken_package_is_one_entry_of_the_list(games: Path) -> None:
    listed = arena("rules", "list", path=games)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "broken" in listed.stdout
    assert "No module named 'not_there'" in " ".join(listed.stdout.split())
    document = json.loads(arena("rules", "list", "--json", path=games).stdout)
    assert {row["rules"] for row in document["rules"]} >= {"samurai", "gardener", "mine", "leaks"}
    ((name, fault),) = [(row["rules"], row["fault"]) for row in document["broken"]]
    assert name == "broken"
    assert "uninstall broken" in fault


def test_a_game_without_boards_keeps_nobody_from_their_boards(games: Path) -> None:
    listed = arena("board", "list", path=games)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert [line.split()[0] for line in listed.stdout.splitlines() if line[0] != " "] == ["garden", "japan"]
    assert arena("board", "draw", "japan", path=games).returncode == 0
    assert arena("rules", "show", "mine", path=games).stdout.splitlines()[1] == "2 players, without a board"


def test_a_game_that_keeps_the_laws_is_ok(games: Path) -> None:
    done = arena("rules", "check", "mine", "--games", "3", path=games)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"standard, 2 players: ok, 3 games, \d+ steps\n", done.stdout)


def test_a_game_that_leaks_is_told_with_the_seat_and_the_bytes(games: Path) -> None:
    done = arena("rules", "check", "leaks", path=games)
    assert (done.returncode, done.stderr) == (3, "")
    words = " ".join(done.stdout.split())
    assert words.startswith("standard, 2 players: breaks the law of secrecy law secrecy expected the events of seat ")
    card = r'"card":"[JQK]"}\]'
    assert re.search(f"got .*{card} and .*{card} place leaks standard, 2 players", words)
    document = json.loads(arena("rules", "check", "leaks", "--json", path=games).stdout)
    jsonschema.validate(document, CHECK)
    assert document["tables"][0]["fault"]["place"].startswith("leaks standard, 2 players, seed 0, step ")


def test_a_check_with_an_option_that_no_ruleset_has() -> None:
    words = ("check", "samurai", "--ruleset", "basic", "--players", "2", "--games", "1", "--json")
    steps = [json.loads(run(*words, *more).stdout)["tables"][0]["steps"] for more in ((), ("--rule", "setup=draft"))]
    assert steps[0] != steps[1]


def test_a_check_of_single_tables() -> None:
    result = run("check", "gardener", "--ruleset", "draft", "--players", "2", "--games", "1", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    jsonschema.validate(document, CHECK)
    assert [(row["ruleset"], row["players"], row["fault"]) for row in document["tables"]] == [("draft", 2, None)]
