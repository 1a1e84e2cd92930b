"""`arena analyse` as a person calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.learn.analysis.analyse import BUDGET_S, CLOSELY, FIRST
from arena.learn.commands.analyse import analyse


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["analyse", *words])


@pytest.fixture(scope="module")
def game(play_log: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game that ends early: the seat to move forfeits in turn 4."""
    return play_log(tmp_path_factory.mktemp("logs") / "game.jsonl", forfeit_turn=4)


def test_a_report_a_document_and_a_page_say_the_same(game: Path, tmp_path: Path) -> None:
    page = tmp_path / "game.html"
    words = ("--seat", "0", "--judge", "random", "--budget", "0")
    done = run(str(game), *words, "--html", str(page))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("greedy (seat 0) in game g1: ")
    assert "judged by random games" in done.stdout
    assert "captured pieces" in done.stdout
    assert '"p":' in page.read_text(encoding="utf-8")
    document = json.loads(run(str(game), *words, "--json").stdout)
    assert document["seat"] == 0
    assert document["log"] == str(game)
    assert document["skipped"] + len(document["decisions"]) > len(document["decisions"]) == CLOSELY
    assert all(one["trials"] >= FIRST for one in document["decisions"])


def test_the_seat_that_lost_is_looked_at(game: Path) -> None:
    [loser] = [rank for rank in json.loads(game.read_text(encoding="utf-8").splitlines()[-1])["ranks"] if rank == 2]
    assert loser == 2
    ranks = json.loads(game.read_text(encoding="utf-8").splitlines()[-1])["ranks"]
    document = json.loads(run(str(game.parent), "--judge", "random", "--budget", "0", "--json").stdout)
    assert document["seat"] == ranks.index(2)
    told = run(str(game), "--judge", "random", "--budget", "0").stdout
    assert "It forfeited (illegal_action), which is none of these decisions;" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--seat", "2"), "expected a seat in 0..1, got: 2"),
        (("--judge", "greed"), "one of daimyo, shogun, greedy, random, got: 'greed' (did you mean 'greedy'?)"),
        (("--replay",), "expected a terminal of 80 columns or more for --replay, got: none; use --html"),
        (("--budget", "-1"), "--budget"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_at_once(game: Path, words: tuple[str, ...], told: str) -> None:
    done = run(str(game), *words)
    assert done.exit_code != 0
    assert told in done.output


def test_a_log_that_breaks_the_rules_is_not_analysed(game: Path, tmp_path: Path) -> None:
    lines = game.read_text(encoding="utf-8").splitlines()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join([lines[0], *lines[2:]]), encoding="utf-8")
    done = run(str(broken))
    assert done.exit_code != 0
    assert "broken.jsonl" in done.output


def test_the_usual_time_is_that_of_the_library() -> None:
    [budget] = [option for option in analyse.params if option.name == "budget"]
    assert budget.default == BUDGET_S
