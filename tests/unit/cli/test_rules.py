"""`arena rules` as a person and a program call it."""

from __future__ import annotations

import json

import jsonschema
import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.cli.output import console
from arena.rules import NAMES


def record(**properties: object) -> dict[str, object]:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


TEXT = {"type": "string", "minLength": 1}
WORDS = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 1}
LIST = record(rules=array(record(rules={"enum": list(NAMES)}, about=TEXT, players=array(NUMBER), rulesets=array(TEXT))))
PAGE = record(
    rules={"enum": list(NAMES)},
    version=NUMBER,
    about=TEXT,
    players=array(NUMBER),
    board=TEXT,
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
    assert [line.split()[0] for line in result.output.splitlines() if line[0] != " "] == list(NAMES)


def test_the_list_as_a_document() -> None:
    document = json.loads(run("list", "--json").output)
    jsonschema.validate(document, LIST)
    assert [row["rules"] for row in document["rules"]] == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_game_as_a_document(name: str) -> None:
    document = json.loads(run("show", name, "--json").output)
    jsonschema.validate(document, PAGE)
    assert [row["default"] for row in document["rulesets"]].index(True) == 0
    names = [option["option"] for option in document["options"]]
    assert all(list(row["options"]) == names for row in document["rulesets"])


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
    ],
)
def test_an_unknown_name_is_a_usage_error(args: tuple[str, ...], message: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
