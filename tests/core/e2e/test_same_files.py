"""What was committed to is what plays: who saves a bot's file while games are played ends them.

Both are played for real: `tests/core/link/test_same_files.py` has every kind of change.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import command_kit
from tests.command_kit import ROOT, Run, games_done, started, wait_for_games

SAID = "which changed meanwhile; undo that"


def make_fox(at: Path) -> Path:
    """Makes a bot that says in its notes which of its versions plays."""
    template = ROOT / "bots" / "python"
    at.mkdir()
    shutil.copy(template / "arena_bot.py", at)
    (at / "bot.toml").write_text('name = "fox"\ncommand = ["{python}", "bot.py"]\n')
    text = (template / "template" / "bot.py").read_text()
    (at / "bot.py").write_text(text.replace('"the first will do"', '"as committed"'))
    return at / "bot.py"


@pytest.mark.parametrize(
    "level", ["trusted", pytest.param("isolated", marks=[pytest.mark.wing("sandbox"), pytest.mark.long])]
)
def test_a_file_saved_amid_a_tournament_ends_it_and_no_game_of_the_other_code_counts(
    arena: Run, tmp_path: Path, level: str
) -> None:
    code = make_fox(tmp_path / "fox")
    committed = code.read_text()
    words = ("tournament", "./fox", "random", "--deals", "40", "--seed", "1", "--level", level, "--concurrency", "2")
    with started(tmp_path, *words) as process:
        wait_for_games(tmp_path, process, 4)
        code.write_text(committed.replace("as committed", "as it was saved"))
        _, errors = process.communicate()
    assert process.returncode == 2, errors
    assert "got: bot.py, " + SAID in errors
    assert 4 <= games_done(tmp_path) < 80

    code.write_text(committed)
    arena(*words)
    assert games_done(tmp_path) == 80
    logs = [log.read_text() for log in tmp_path.glob("logs/*/*.jsonl")]
    assert len(logs) == 80
    assert all("as committed" in log and "as it was saved" not in log for log in logs)


def test_a_trusted_bot_that_changes_itself_ends_a_match_and_is_told_what_it_may_write(
    arena: Run, tmp_path: Path
) -> None:
    code = make_fox(tmp_path / "fox")
    ordinary = code.read_text()
    code.write_text("open('.weights', 'w').write('1')\n" + ordinary)
    arena("match", "./fox", "random", "--deals", "2")
    code.write_text("open('weights', 'w').write('1')\n" + ordinary)
    said = arena("match", "./fox", "random", "--deals", "2", code=2).stderr
    assert "got: weights (new), " + SAID in said
    assert "names begin with a dot" in said
    assert sorted(len([*folder.glob("*.jsonl")]) for folder in (tmp_path / "logs").iterdir()) == [0, 4]


def test_arena_may_be_called_in_a_bots_own_folder(tmp_path: Path) -> None:
    make_fox(tmp_path / "fox")
    for word in ("match", "tournament", "tournament"):
        command_kit.arena(tmp_path / "fox", word, ".", "random", "--deals", "1")
