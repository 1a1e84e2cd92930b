"""From nothing to a playing bot, in every language that there is a template for: new, build, list, check, match."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from arena.author.new import new_bot, templates
from tests.command_kit import Run

LACKING = (
    "zmq.h: No such file", "msgpack.h: No such file",
    "EAI_AGAIN", "ENOTFOUND", "ETIMEDOUT", "ECONNREFUSED", "no such host", "dial tcp", "Could not resolve host",
    "failed to download", "Unknown host", "Could not transfer artifact", "Network is unreachable",
)  # fmt: skip
"""What a build says where a library is not installed, or packages cannot be fetched."""


def listed(arena: Run) -> dict[str, Any]:
    """What `arena bot list` says of the only bot here."""
    (row,) = (row for row in json.loads(arena("bot", "list", "--json").stdout)["bots"] if not row["bundled"])
    assert isinstance(row, dict)
    return row


@pytest.mark.long
def test_a_new_bot_plays(arena: Run, tmp_path: Path) -> None:
    """In Python. For each other language `test_bots_guide.py` follows the page, which builds one and plays with it."""
    steps = arena("bot", "new", "ronin", "--author", "Ann").stderr
    for command in ("arena bot check ronin\n", "arena match ronin greedy\n"):
        assert command in steps
    assert "arena bot build" not in steps
    row = listed(arena)
    assert (row["bot"], row["name"], row["author"], row["language"]) == ("ronin", "ronin", "Ann", "python")
    assert row["state"] == "ready"

    assert arena("bot", "build", "ronin").stderr.startswith("ok  ronin: ")
    arena("bot", "check", "ronin")
    for rules, opponent in (("samurai", "greedy"), ("gardener", "random")):
        arena("match", "ronin", opponent, "--rules", rules, "--seed", "new", "--logs", rules)
        logs = list((tmp_path / rules).rglob("*.jsonl"))
        outcomes = [json.loads(log.read_text().splitlines()[-1]) for log in logs]
        assert [outcome["termination"] for outcome in outcomes] == ["finished"] * 2
    arena("verify", "samurai", "gardener")


def test_the_templates_travel_in_the_wheel(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / "wheel")]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (wheel,) = (tmp_path / "wheel").iterdir()
    names = {name.removeprefix("arena/bundled/") for name in zipfile.ZipFile(wheel).namelist()}
    for language, template in templates().items():
        made = new_bot("ronin", language=language, author="", parent=tmp_path).folder
        files = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
        travelling = {
            file
            for file in files
            for place in (f"bots/{language}/template/", f"bots/{language}/", "bots/", "protocol/")
            if f"{place}{file}" in names
        }
        assert travelling == files, f"{template}: not in the wheel: {files - travelling}"
        shutil.rmtree(made)


@pytest.mark.long
def test_a_build_that_fails_shows_why(arena: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.toml").write_text(
        'name = "mine"\ncommand = ["./bot"]\nbuild = ["sh", "-c", "echo this is wrong; exit 3"]\n'
    )
    for words in (("mine",), (), ("--verbose",)):
        done = arena("bot", "build", *words, code=1)
        assert done.stdout == ""
        announced, *rest = done.stderr.splitlines()
        assert announced == "building mine: sh -c 'echo this is wrong; exit 3' ..."
        assert "\n".join(rest).startswith("this is wrong\nFAILED  mine: expected `sh -c ")


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new", "greedy"], "expected the name of a new bot, got: 'greedy'"),
        (["new", "x", "--language", "rost"], "(did you mean 'rust'?)"),
        (["new", "x", "--folder", "nowhere"], "--folder"),
        (["build"], "make one: arena bot new NAME"),
        (["build", "gredy"], "(did you mean 'greedy'?)"),
    ],
)
def test_what_the_author_can_mend_is_a_usage_error(arena: Run, words: list[str], message: str) -> None:
    done = arena("bot", *words, code=2)
    assert done.stdout == ""
    assert message in done.stderr


def test_a_new_bot_in_another_folder(arena: Run, tmp_path: Path) -> None:
    (tmp_path / "my bots").mkdir()
    steps = arena("bot", "new", "ronin", "--folder", "my bots").stderr
    assert "arena match 'my bots/ronin' greedy\n" in steps
    arena("match", "my bots/ronin", "random")
