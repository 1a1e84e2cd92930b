"""What `import arena` offers: the names, and the examples of docs/library.md."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import arena

PAGE = Path(__file__).parents[2] / "docs" / "library.md"


def test_the_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 10
    assert not result.failed


def test_the_page_names_all_names() -> None:
    table = PAGE.read_text().partition("## All names")[2]
    assert set(table.split("`")[1::2]) == set(arena.__all__)
    assert all(hasattr(arena, name) for name in arena.__all__)


def test_a_name_that_is_not_offered() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'play_turnament'"):
        arena.play_turnament  # noqa: B018


def test_importing_arena_loads_none_of_its_parts() -> None:
    script = "import sys, arena; print(sorted(name for name in sys.modules if name.startswith(('arena.', 'msgspec'))))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['arena.renamed']\n"


def test_a_script_that_plays_is_not_run_again_by_its_workers(tmp_path: Path) -> None:
    script = tmp_path / "play.py"
    script.write_text(
        "import arena\nfrom pathlib import Path\nprint('once')\n"
        "format = arena.FORMATS['round-robin'](deals=1)\n"
        "setup = arena.set_up(['random', 'greedy'], arena.make_settings('samurai', 2), format)\n"
        "with arena.open_store(Path('arena.db')) as store:\n"
        "    print([type(event).__name__ for event in arena.play_tournament(store, setup, Path('logs'))])\n"
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "once\n['Begun', 'Played', 'Played', 'Finished']\n"
