"""The steps of the ladder, the command that plays one, and its line of the table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.core.catalogue import game


@pytest.fixture
def ladder(benchmark_module: Callable[[str], Any]) -> Any:
    return benchmark_module("ladder")


def test_every_neighbours_meet_at_tables_of_every_size(ladder: Any) -> None:
    steps = list(ladder.steps())
    for rules, ruleset, bots in ladder.LADDERS:
        for players in game(rules).seat_counts:
            for upper, lower in pairwise(bots):
                step = ladder.Step(rules=rules, ruleset=ruleset, players=players, upper=upper, lower=lower)
                assert step in steps
    assert len(steps) == len(set(steps)) == 4 * 3 + 3 * 2 * 4


def test_a_ladder_of_ones_own(ladder: Any) -> None:
    found = [(step.ruleset, step.players, step.upper, step.lower) for step in ladder.steps("abc", "gardener", None, 3)]
    assert found == [("draft", 3, "a", "b"), ("draft", 3, "b", "c")]
    assert {step.players for step in ladder.steps("ab")} == set(game("samurai").seat_counts)


def test_a_step_is_a_comparison(ladder: Any, root: Path, tmp_path: Path) -> None:
    step = ladder.Step(rules="samurai", ruleset="basic", players=3, upper="shogun", lower="shogun@0.05")
    command = step.command("0.2/move", 50, tmp_path, None)
    assert command[:5] == [sys.executable, "-m", "arena", "compare", "shogun"]
    program, bot, share = shlex.split(command[5].removeprefix("cmd:"))
    assert (program, Path(bot), share) == ("{python}", root / "bots/python/shogun/bot.py", "0.05")
    told = dict(pairwise(command[6:]))
    assert told["--players"] == "3"
    assert told["--ruleset"] == "basic"
    assert told["--max-deals"] == "50"
    assert told["--time"] == "0.2/move"
    assert told["--db"] == str(tmp_path / "arena.db")
    assert "--seed" not in command
    assert step.command("0.2/move", 50, tmp_path, "mine")[-2:] == ["--seed", "mine"]


def test_a_line_of_the_table(ladder: Any) -> None:
    step = ladder.Step(rules="samurai", ruleset="standard", players=2, upper="shogun", lower="daimyo")
    found = ladder.Found(score=0.605, interval=(0.507, 0.698), deals=167, verdict="better", forfeits=(9, 0))
    row = ladder.row(step, found)
    assert row == (
        "| samurai standard | 2 | `shogun` > `daimyo` | 60.5 % | 50.7 to 69.8 % | 167 | better, shogun forfeited 9 |"
    )
    assert {line.count("|") for line in (*ladder.HEAD, row)} == {8}
    assert "99 % interval" in ladder.HEAD[0]


@pytest.mark.parametrize("code", [1, 130])
def test_a_step_that_fails_ends_the_ladder_with_its_exit_code(ladder: Any, code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        ladder.climb([sys.executable, "-c", f"raise SystemExit({code})"])
    assert ended.value.code == code


@pytest.mark.parametrize(("verdict", "code"), [("better", None), ("open", "a step was not shown")])
def test_a_step_that_is_not_shown_is_an_error_after_all_are_played(
    ladder: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, verdict: str,
    code: str | None,
) -> None:  # fmt: skip
    verdicts = iter([verdict, "better"])

    def climb(command: list[str]) -> Any:
        return ladder.Found(score=0.6, interval=(0.5, 0.7), deals=9, verdict=next(verdicts), forfeits=(0, 0))

    monkeypatch.setattr(ladder, "climb", climb)
    words = ["ladder.py", "daimyo", "greedy", "random", "--players", "2", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        ladder.main()
    assert ended.value.code == code
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 4
    assert f"| {verdict} |" in table[2]
