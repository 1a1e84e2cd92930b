"""`arena compare` and the ladder as a user calls them: real referee, real bots, real processes."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.command_kit import Run, started, wait_for_games


def nameless(document: dict[str, Any]) -> dict[str, Any]:
    """What must be equal of two comparisons with one seed."""
    return {key: value for key, value in document.items() if key != "tournaments"}


@pytest.mark.long
def test_the_better_bot_is_found(arena: Run) -> None:
    better = json.loads(arena("compare", "greedy", "random", "--json").stdout)
    assert better["bots"] == ["greedy", "random"]
    assert better["verdict"] == "better"
    assert better["score"] > 0.8
    assert better["e_plus"] >= 40 > better["e_minus"]
    assert better["p"] <= 0.05
    assert 0.5 < better["interval"][0] <= better["score"] <= better["interval"][1] <= 1
    assert better["games"] == 2 * better["deals"] <= 60
    arena("verify", "logs", "--complete", "--db", "arena.db")


@pytest.mark.long
def test_by_margins_in_a_pipeline(arena: Run, tmp_path: Path) -> None:
    words = ("compare", "random", "greedy", "--by", "margin", "--seed", "m")
    done = arena(*words, "--ci", "--junit", "junit.xml", code=3)
    assert re.match(
        r"❌ `random` against `greedy`: \*\*worse\*\* after \d+ deals, -\d\.\d\d captured pieces", done.stdout
    )
    assert "greedy is better than random by captured pieces" in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    found = json.loads(arena(*words, "--json").stdout)
    assert found["lead"]["interval"][0] <= found["lead"]["mean"] < found["lead"]["interval"][1] < 0
    arena("verify", "logs", "--complete", "--db", "arena.db")


WORDS = ("compare", "banzai", "greedy", "--seed", "storm", "--concurrency", "2", "--json")


@pytest.mark.long(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_it_goes_on_to_the_same_answer(arena: Run, tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path, *WORDS) as process:
        wait_for_games(tmp_path, process, 5)
        os.killpg(process.pid, number)
        stdout, stderr = process.communicate()  # ends when nobody holds the pipes any more: neither worker nor bot
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL), stderr
    assert stdout == ""
    if number == signal.SIGINT:
        assert re.search(r"Interrupted: \d+ of \d+ games that are planned are kept", stderr)
        assert "arena compare banzai greedy --seed storm --concurrency 2 --json" in stderr
    resumed = arena(*WORDS)
    assert re.search(r"Continuing tournament \S+ after \d+ games", resumed.stderr)
    found = json.loads(resumed.stdout)
    assert found["verdict"] == "worse"
    assert nameless(found) == nameless(json.loads(arena(*WORDS, "--new", "--concurrency", "1").stdout))
    arena("verify", "logs", "--complete", "--db", "arena.db")


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("random", "greedy", "--others", "banzai"),
            "expected --others with games of 3 players or more, got: 2 players",
        ),
        (("random", "greedy", "--players", "4", "--others", "banzai"), "expected at least 2 --others for games of 4"),
        (
            ("random", "greedy", "--players", "3", "--sprt", "0", "50"),
            "expected --sprt with games of 2 players, got: 3",
        ),
        (("random", "greedy", "--sprt", "50", "0"), "expected the first number of Elo points to be the smaller"),
        (("random", "greedy", "--alpha", "0"), "expected alpha to be above 0 and below 1, got: 0"),
        (("random", "greedy", "--delta", "0.5"), "expected delta to be from 0 to below 0.5, got: 0.5"),
        (("random", "greedy", "--max-deals", "0"), "expected at least 1 deal, got: 0"),
        (("random", "gredy"), "did you mean 'greedy'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_starts(
    arena: Run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in arena("compare", *words, code=2).stderr
    assert not list(tmp_path.iterdir()), "something was made"
