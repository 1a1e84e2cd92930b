"""Judges: which there are, and whose fault it is when one fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.core.catalogue import make_settings, rules_of
from arena.core.errors import ConfigError
from arena.core.types import Payload
from arena.learn.analysis import judges
from arena.learn.analysis.judges import Judge, Mind, judge_of


@pytest.mark.parametrize(
    ("game", "name", "found"),
    [
        ("samurai", None, "shogun"),
        ("samurai", "daimyo", "daimyo"),
        ("gardener", None, "planner"),
        ("gardener", "greedy", "greedy"),
        ("samurai", "random", "random"),
        ("unheard", None, "random"),
    ],
)
def test_a_game_has_judges(game: str, name: str | None, found: str) -> None:
    assert judge_of(game, name).name == found


def test_who_does_not_play_a_game_does_not_judge_it() -> None:
    with pytest.raises(ConfigError, match="a judge of gardener, one of planner, greedy, random, got: 'daimio'"):
        judge_of("gardener", "daimio")


@pytest.mark.parametrize(("game", "name"), [("samurai", "greedy"), ("samurai", "shogun"), ("gardener", "planner")])
def test_a_bundled_judge_decides_by_the_request_alone(game: str, name: str) -> None:
    settings = make_settings(game, 2)
    rules = rules_of(settings)
    adviser = judge_of(game, name).adviser
    assert adviser is not None
    state = rules.start()
    while rules.draw_wanted(state) is not None:
        state = rules.draw(state, 0)
    decision = rules.pending(state)[0]
    first = Mind(rules, settings, adviser, name)
    said = first.decide(state, decision)
    assert said == first.decide(state, decision) == Mind(rules, settings, adviser, name).decide(state, decision)


class Wrong:
    """Fails."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def start(self, game: Payload) -> None:
        """Begins a game."""

    def decide(self, request: Payload) -> Any:
        """Returns what is no action, or raises."""
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "reason"),
    [({"plays": 1}, "plays"), (None, "TypeError|AttributeError"), (ValueError("no idea"), "ValueError: no idea")],
)
def test_a_judge_that_fails_is_named(answer: Any, reason: str) -> None:
    settings = make_settings("samurai", 2)
    rules = rules_of(settings)
    mind = Mind(rules, settings, lambda: Wrong(answer), "of a package")
    state = rules.draw(rules.start(), 0) if rules.draw_wanted(rules.start()) else rules.start()
    told = rf"expected the judge of a package to decide, got: .*({reason}).*--judge random"
    with pytest.raises(ConfigError, match=told):
        mind.decide(state, rules.pending(state)[0])


def test_a_package_brings_a_judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "chess_judge.py").write_text(
        "from arena.learn.analysis.judges import Judge\nGOOD = Judge(name='sage')\nBAD = 'sage'\n", encoding="utf-8"
    )
    dist = tmp_path / "chess-1.0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: chess\nVersion: 1.0\n", encoding="utf-8")
    (dist / "entry_points.txt").write_text(
        f"[{judges.GROUP}]\nchess = chess_judge:GOOD\ncheckers = chess_judge:BAD\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert judge_of("chess") == Judge(name="sage")
    with pytest.raises(
        ConfigError, match=r"of arena\.judges to name an arena\.learn\.analysis\.judges\.Judge, got: chess_judge:BAD"
    ):
        judge_of("checkers")
