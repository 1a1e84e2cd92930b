"""The one-file clients: their examples work as written, notes are cut to what is allowed, nothing of arena is used."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

GAME = {"game": 1, "seat": 0, "seats": 2, "board": {"spaces": []}, "bot_seed": 1}
REQUEST = {"kind": "turn", "legal": {"plays": [{"tile": ["ship1", "ship2"], "space": [4, 9]}]}}
LONG_NOTE = {
    "python": """
        from arena_bot import Bot, run
        class Talker(Bot):
            def decide(self, request):
                return {"plays": []}, "€" * 2000
        run(Talker())
        """,
    "javascript": """
        const { Bot, run } = require("./arena_bot.js");
        class Talker extends Bot {
            decide() { return { action: { plays: [] }, note: "€".repeat(2000) }; }
        }
        run(new Talker());
        """,
}
SOURCES = {".py", ".js", ".c", ".h"}
COMMANDS = {"python": [sys.executable, "bot.py"], "javascript": ["node", "bot.js"]}


@pytest.fixture
def seat_source(root, tmp_path, seat_command):
    """Starts the source of a bot that lies beside a copy of its language's client."""

    def launch(language, source):
        home = root / "bots" / language
        if language == "javascript":
            if shutil.which("node") is None or not (home / "node_modules").is_dir():
                pytest.skip("node or the packages of the JavaScript bots are missing: make bots")
            (tmp_path / "node_modules").symlink_to(home / "node_modules")
        (client,) = home.glob("arena_bot.*")
        shutil.copy(client, tmp_path)
        (tmp_path / COMMANDS[language][-1]).write_text(textwrap.dedent(source), encoding="utf-8")
        return seat_command(COMMANDS[language], tmp_path)

    return launch


def example(text):
    """The indented lines, out of a client's opening comment, from the first import to the call of `run`."""
    lines = text.replace("//     ", "    ").splitlines()
    first = next(i for i, line in enumerate(lines) if re.match("    .*arena_bot", line))
    last = next(i for i, line in enumerate(lines) if line.startswith("    run("))
    return "\n".join(line.removeprefix("//") for line in lines[first : last + 1])


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_example_plays(root, seat_source, language):
    (client,) = (root / "bots" / language).glob("arena_bot.*")
    table = seat_source(language, example(client.read_text(encoding="utf-8")))
    table.begin()
    table.start(GAME)
    hand = {"kind": "hand", "legal": {"choose": 2, "hand": ["rice2", "rice3", "rice4"]}}
    assert table.ask(hand)["action"] == {"hand": ["rice2", "rice3"]}
    setup = {"kind": "setup", "legal": {"setup": [{"caste": ["rice", "castle"], "space": [3, 7]}]}}
    assert table.ask(setup)["action"] == {"caste": "rice", "space": 3}
    assert table.ask(REQUEST)["action"] == {"plays": [{"tile": "ship1", "space": 4}]}
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_long_note_is_cut_between_characters(seat_source, language):
    table = seat_source(language, LONG_NOTE[language])
    table.begin(max_note=100)
    table.start(GAME)
    assert table.ask(REQUEST)["note"] == "€" * 33


def test_manifests_are_complete(root):
    names = set()
    for path in (root / "bots").glob("*/*/bot.toml"):
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        names.add(manifest["name"])
        assert manifest.keys() >= {"name", "version", "author", "language", "command", "rules", "include"}
        assert manifest["language"] == path.parent.parent.name
        for name in manifest["include"]:
            assert (path.parent / name).is_file()
    assert names == {"random", "greedy", "banzai", "random-js", "greedy-js", "greedy-c"}


@pytest.mark.parametrize("language", ["python", "javascript", "c"])
def test_manifests_include_what_the_bots_share(root, language):
    home = root / "bots" / language
    shared = [path for path in home.iterdir() if path.suffix in SOURCES]
    assert shared
    for path in home.glob("*/bot.toml"):
        included = tomllib.loads(path.read_text(encoding="utf-8"))["include"]
        sources = [source for source in path.parent.iterdir() if source.suffix in SOURCES]
        lines = re.findall("(?m)^(?:from|import|const|#include) .*", "\n".join(map(Path.read_text, sources)))
        used = {f"../{file.name}" for file in shared if any(re.search(rf"\b{file.stem}\b", line) for line in lines)}
        assert used == {name for name in included if Path(name).suffix in SOURCES}, path


def test_python_bots_import_only_the_client_and_what_it_needs(root):
    allowed = {"os", "sys", "math", "random", "functools", "zmq", "msgpack"}
    allowed |= {"arena_bot", "samurai", "gardener", "samurai_player", "gardener_player"}
    sources = list((root / "bots/python").rglob("*.py"))
    assert len(sources) == 8
    for path in sources:
        found = re.findall(r"(?m)^(?:import|from) (\w+)", path.read_text(encoding="utf-8"))
        assert set(found) <= allowed, path


def test_make_says_what_it_leaves_out_and_why(root, needs, tmp_path):
    needs("make")
    for tool in ("make", "sh", "echo"):
        (tmp_path / tool).symlink_to(shutil.which(tool))

    def make(*arguments):
        command = ["make", "-C", str(root / "bots"), *arguments]
        return subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)

    lenient = make()
    assert lenient.returncode == 0
    assert "left out greedy-c: no C compiler (cc) on the path" in lenient.stderr
    assert "left out random-js and greedy-js: node is not on the path" in lenient.stderr
    assert make("STRICT=1").returncode != 0
