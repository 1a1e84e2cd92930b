"""What a manifest says at its extremes, at each level: games with a result, or a refusal before they begin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from arena.core.link.caps import Caps
from arena.core.resources import bots_folder
from arena.core.types import Level
from tests.command_kit import Run
from tests.processes import level_of

WORDS: Final = ", ".join([r'"\u001b[2J\n"', r'"\u202e"', '""', '"-c"', '"{python}"', f'"{"é" * 30_000}"'])
LEVELS: Final = tuple(level for level in Level if level is not Level.REMOTE)
EXTREMES: Final = {
    "smallest": "limits = { memory_mib = 16, file_mib = 1, start_ms = 100 }",
    "largest": "limits = { memory_mib = 2048, file_mib = 16, start_ms = 10000 }\nentropy = true",
    "words": f'command = ["{{python}}", "bot.py", {WORDS}]',
    "texts": r'version = "\u001b[2J\u202e"' + f'\nauthor = "{"é" * 256}"\nlanguage = "\\n"',
    "lists": "rules = [" + '"samurai", ' * 1_000 + "]\ninclude = [" + '"bot.py",\n' * 1_000 + "]",
    "tune": "\n".join(
        f"tune.{chr(97 + number % 26)}{number} = {{ value = 1e308, low = -1e308, high = 1.1e308 }}"
        for number in range(64)
    ),
    "tcp": 'endpoint = "tcp"',
}


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Level:
    return level_of(request)


def bot(folder: Path, extreme: str) -> None:
    folder.mkdir()
    command = "" if extreme.startswith("command") else 'command = ["{python}", "bot.py"]\n'
    (folder / "bot.toml").write_text(f'name = "{"f" * 64}"\n{command}{extreme}\n')
    for name, source in (("bot.py", "random/bot.py"), ("arena_bot.py", "arena_bot.py")):
        (folder / name).write_bytes((bots_folder() / "python" / source).read_bytes())


@pytest.mark.quick(7)
@pytest.mark.parametrize("extreme", EXTREMES)
def test_a_manifest_at_its_extremes_plays_or_forfeits(tmp_path: Path, arena: Run, level: Level, extreme: str) -> None:
    bot(tmp_path / "fox", EXTREMES[extreme])
    done = arena("match", "./fox", "random", "--level", level, "--time", "5/move", "--json", code=None)
    if extreme == "tcp" and done.returncode:
        assert "tcp" in done.stderr
        return
    assert done.returncode == 0, done.stderr

    codes = {game["termination"] for game in json.loads(done.stdout)["games"]}
    assert codes <= ({"start_failed", "out_of_memory"} if extreme == "smallest" else set()) | {"finished"}


@pytest.mark.parametrize("key", Caps.__struct_fields__)
def test_beyond_a_cap_nothing_is_started_at_any_level(tmp_path: Path, arena: Run, key: str) -> None:
    bot(tmp_path / "fox", f"limits.{key} = {getattr(Caps(), key) + 1}")
    for level in LEVELS:
        done = arena("match", "./fox", "random", "--level", level, code=2)
        assert f"limits.{key}: expected at most" in done.stderr
        assert not (tmp_path / "logs").exists()
