"""The list of bots, and `arena bot list` as a person and a program see it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from arena.author.build import list_bots
from arena.cli import cli

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "bots": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "bot": {"type": "string", "minLength": 1},
                    "name": TEXT,
                    "version": TEXT,
                    "author": TEXT,
                    "language": TEXT,
                    "rules": {"type": "array", "items": TEXT},
                    "folder": {"type": "string", "pattern": "^/"},
                    "bundled": {"type": "boolean"},
                    "state": {"enum": ["ready", "unbuilt", "missing", "broken"]},
                    "remedy": TEXT,
                },
                "required": [
                    "bot", "name", "version", "author", "language", "rules", "folder", "bundled", "state", "remedy",
                ],
                "additionalProperties": False,
            },
        }
    },
    "required": ["bots"],
    "additionalProperties": False,
}  # fmt: skip
STATES = {
    "ready": 'command = ["sh"]',
    "unbuilt": 'command = ["./bot"]\nbuild = ["sh", "-c", "make it"]',
    "no-tool": 'command = ["./bot"]\nbuild = ["no-such-tool"]',
    "no-program": 'command = ["sh"]\nneeds = ["no-such-program"]\nbuild = ["sh"]',
    "no-file": 'command = ["./bot"]',
    "broken": "command = 3",
    "random": 'command = ["sh"]',
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bot in each state, one of them called like a bundled bot."""
    for name, manifest in STATES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.toml").write_text(f'name = "my-{name}"\nversion = "2"\nrules = ["samurai"]\n{manifest}\n')
    (tmp_path / "no-bot").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_states_and_remedies(here: Path) -> None:
    rows = {row["bot"]: row for row in list_bots() if not row["bundled"]}
    found = {name: (row["state"], row["remedy"]) for name, row in rows.items() if name != "broken"}
    assert found == {
        "ready": ("ready", ""),
        "unbuilt": ("unbuilt", "sh -c 'make it'"),
        "no-tool": ("missing", "no-such-tool"),
        "no-program": ("missing", "no-such-program"),
        "no-file": ("missing", "./bot"),
        "./random": ("ready", ""),
    }
    assert rows["broken"]["state"] == "broken"
    assert rows["broken"]["remedy"] == "broken/bot.toml: command: expected array, got int"
    assert (rows["ready"]["name"], rows["ready"]["version"], rows["ready"]["rules"]) == ("my-ready", "2", ("samurai",))
    assert rows["ready"]["folder"] == str(here / "ready")


def test_the_bundled_bots_come_first_and_no_template_is_among_them() -> None:
    rows = list_bots()
    bundled = [row["bundled"] for row in rows]
    assert bundled == sorted(bundled, reverse=True)
    names = [row["bot"] for row in rows if row["bundled"]]
    assert {"random", "greedy", "random-perl"} <= set(names)
    assert "NAME" not in names
    assert all(row["bot"] == row["name"] for row in rows if row["bundled"])


def test_the_document() -> None:
    done = CliRunner().invoke(cli, ["bot", "list", "--json"])
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    assert {row["state"] for row in document["bots"] if not row["bundled"]} == {"ready", "unbuilt", "missing", "broken"}


def test_the_list_for_people() -> None:
    done = CliRunner().invoke(cli, ["bot", "list"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    (unbuilt,) = [line.split() for line in lines if line.startswith("unbuilt ")]
    assert unbuilt == ["unbuilt", "(my-unbuilt)", "2", "samurai", "not", "built", "unbuilt"]
    assert any("needs no-such-tool" in line for line in lines)
    assert any(line.startswith("broken is broken: broken/bot.toml: command: ") for line in lines)
    assert "unbuilt" in done.stderr.partition("To build: arena bot build ")[2].split()
    assert (
        max(len(line) for line in lines if " is broken: " not in line and not line.startswith(("In ", "Bundled"))) <= 80
    )
