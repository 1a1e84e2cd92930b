"""`arena replay` as a person calls it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from referee_kit import referee

from arena.cli import cli
from arena.cli.output import console
from arena.core.record.log import read_log
from arena.core.show.replay import Replay
from arena.core.types import Payload
from arena.core.wire.messages import Request
from tests.memory_link import MemoryBot


@pytest.fixture(scope="module")
def game(play_log: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_log(tmp_path_factory.mktemp("logs") / "game.jsonl")


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("COLORTERM", raising=False)
    console.cache_clear()
    yield
    console.cache_clear()


@pytest.fixture(scope="module")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of Samurai Gardener in which every card is planted below all others."""

    def decide(request: Request) -> Payload:
        assert request.legal is not None
        product = request.legal[0]
        if request.kind == "plant":
            return {"plays": [{"at": max(product["at"], key=lambda at: at[1]), "turned": False}]}
        return {"plays": [] if request.kind == "score" else [{"card": product["card"][0]}]}

    folder = tmp_path_factory.mktemp("logs")
    result, _ = referee(folder, [MemoryBot(decide), MemoryBot(decide)], rules="gardener", ruleset="draft")
    return folder / result.log


def run(*args: object) -> Result:
    return CliRunner().invoke(cli, ["replay", *map(str, args)])


def test_every_frame_is_printed_where_there_is_no_terminal(game: Path) -> None:
    result = run(game)
    assert result.exit_code == 0
    frames = len(Replay(read_log(game)).frames)
    assert [line.split()[-2] for line in result.output.splitlines() if line.startswith("── ")] == [
        f"{index}/{frames}" for index in range(1, frames + 1)
    ]
    assert "\x1b" not in result.output
    assert all(line == line.rstrip() and len(line) <= 80 for line in result.output.splitlines())


def test_of_a_folder_the_game_that_was_over_last_is_shown(game: Path, tmp_path: Path) -> None:
    for number, (folder, name) in enumerate((("match-2", "b"), ("match-1", "d"), ("match-1", "c"), ("match-0", "d"))):
        log = tmp_path / folder / f"{name}.jsonl"
        log.parent.mkdir(exist_ok=True)
        log.write_text(f"game {number}\n")
        os.utime(log, ns=(0, min(number, 2)))
    assert f"{tmp_path}/match-1/c.jsonl" not in run(tmp_path).stderr
    assert f"{tmp_path}/match-0/d.jsonl" in run(tmp_path).stderr, "the last by name, of those of one moment"
    shutil.copy(game, tmp_path / "a.jsonl")
    assert run(tmp_path, "--turn", 2).output == run(game, "--turn", 2).output


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "expected a folder with game logs (*.jsonl, *.jsonl.zst), got: " in result.stderr


def test_one_turn_with_the_eyes_of_one_seat(game: Path) -> None:
    result = run(game, "--turn", 2, "--seat", 0)
    assert result.exit_code == 0
    headings = [line for line in result.output.splitlines() if line.startswith("── ")]
    assert len(headings) == 1
    assert headings[0].startswith("── Turn 2: ■ random (seat 1)")
    assert "note:" not in result.output
    assert "note: seat 1 thinks in turn 2" in run(game, "--turn", 2, "--seat", 1).output


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--turn", 999), 2, "expected a turn in 0.."),
        (("--seat", 2), 2, "expected a seat in 0..1, got: 2"),
        (("--seat", -1), 2, "-1 is not in the range"),
    ],
)
def test_a_seat_or_turn_that_there_is_not(game: Path, args: tuple[object, ...], code: int, message: str) -> None:
    result = run(game, *args)
    assert (result.exit_code, message in result.stderr) == (code, True)
    assert result.stdout == ""


def test_a_file_that_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("hello\n")
    result = run(path)
    assert result.exit_code == 1
    assert "expected a game log" in result.stderr
    assert str(path) in result.stderr


def test_a_log_that_was_cut_off(game: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(game.read_bytes()[:-300])
    result = run(path)
    assert result.exit_code == 4
    assert f"{path}:" in result.stderr


def test_colour_is_shown_on_a_terminal_and_not_with_no_color(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[38;5;" in run(game, "--turn", 1).output
    monkeypatch.setenv("NO_COLOR", "1")
    console.cache_clear()
    output = run(game, "--turn", 1).output
    assert "38;5" not in output
    assert "48;5" not in output


def test_a_round_of_the_other_game(tower: Path) -> None:
    result = run(tower, "--turn", 3)
    assert result.exit_code == 0
    headings = [line for line in result.output.splitlines() if line.startswith("── ")]
    steps = [record for record in read_log(tower).records if getattr(record, "turn", None) == 3]
    assert {heading.split(":")[0] for heading in headings} == {"── Round 3"}
    assert len(headings) >= len(steps) > 2
    assert all(len(line) <= 80 for line in result.output.splitlines())


def test_one_frame_is_drawn_as_a_picture(game: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from PIL import Image

    last, first = tmp_path / "last.png", tmp_path / "first.png"
    assert "is written" in run(game, "--png", last).stderr
    assert run(game, "--png", first, "--frame", 1, "--seat", 0).exit_code == 0
    pictures = [Image.open(path) for path in (last, first)]
    assert all(one.size[0] > 600 and len(one.getcolors(99_999) or ()) > 8 for one in pictures)
    assert pictures[0].tobytes() != pictures[1].tobytes()
    assert run(game, "--frame", 2).stdout == "\n".join(run(game).stdout.split("\n── ")[1:2]).join(("── ", "\n"))
    assert "expected a frame in 1.." in run(game, "--frame", 9999).output
    assert "expected a name that ends in .png" in run(game, "--png", first.with_suffix(".gif")).output
    assert "leave out --turn, --frame" in run(game, "--html", last, "--png", first).output
