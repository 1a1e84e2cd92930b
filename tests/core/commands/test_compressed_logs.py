"""Commands that take a log take a compressed one too, by its path, its folder or its game's id."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from referee_kit import first_legal, referee

from arena.cli import cli
from arena.cli.output import console
from arena.core.record.compressed import compress, expand
from tests.memory_link import MemoryBot


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The compressed log of a game, alone in its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    console.cache_clear()
    result, _ = referee(tmp_path, [MemoryBot(first_legal) for _ in range(2)])
    original = tmp_path / result.log
    (tmp_path / "logs").mkdir()
    packed = tmp_path / "logs" / f"{result.log}.zst"
    packed.write_bytes(compress(original.read_bytes()))
    original.unlink()
    for file in tmp_path.glob("*.seat*"):
        file.unlink()
    yield packed
    console.cache_clear()


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def test_replay_shows_it(log: Path) -> None:
    by_path = run("replay", str(log))
    assert by_path.exit_code == 0, by_path.output
    assert "Turn 1" in by_path.stdout
    assert run("replay", "logs").stdout == by_path.stdout


def test_verify_plays_it_again(log: Path) -> None:
    done = run("verify", str(log))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("ok")
    assert run("verify", "logs").exit_code == 0


def test_what_was_altered_before_it_was_compressed_is_found(log: Path) -> None:
    data = expand(log.read_bytes(), "log")
    place = data.index(b'"turn":3')
    log.write_bytes(compress(data[:place] + b'"turn":4' + data[place + 8 :]))
    assert run("verify", str(log)).exit_code == 4


def test_a_folder_without_logs_says_which_names_are_meant(tmp_path: Path) -> None:
    (tmp_path / "game.txt.zst").touch()
    assert "*.jsonl, *.jsonl.zst" in run("verify", os.fspath(tmp_path)).stderr
