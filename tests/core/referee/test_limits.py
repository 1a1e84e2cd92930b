"""A limit of decisions or of a lead cuts a game: the log names it, and who plays it again finds the same standing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.catalogue import game, make_settings, rules_of
from arena.core.errors import ConfigError, ReplayMismatch
from arena.core.record.log import read_log, write_log
from arena.core.referee.verify import verify
from arena.core.rules.base import Outcome
from arena.core.rules.course import Answers, Ask, Chance, Course, Forfeits, Over
from arena.core.types import Termination
from tests.command_kit import arena


@pytest.mark.parametrize(
    ("rules", "limit"), [("samurai", "most_decisions=9"), ("gardener", "most_decisions=9"), ("gardener", "most_lead=3")]
)
def test_a_game_is_cut_and_who_has_more_wins(tmp_path: Path, rules: str, limit: str) -> None:
    name, most = limit.split("=")
    words = ("match", "random", "greedy", "--rules", rules, "--rule", limit, "--seed", "cut", "--quiet")
    arena(tmp_path, *words)
    for path in (tmp_path / "logs").glob("*/*.jsonl"):
        log = read_log(path)
        outcome, settings = log.outcome, log.header.settings
        margins = verify(path).margins or ()
        assert (outcome.limit, outcome.termination, settings.options[name]) == (name, "finished", most)
        assert outcome.actions == 9 if name == "most_decisions" else max(margins) >= 3
        assert outcome.ranks == [1 + (margin < 0) for margin in margins]
        for forged in ({"limit": None}, {"limit": "most_turns"}, {"ranks": [3, 3]}):
            write_log(path, [log.header, *log.records[:-1], replace(outcome, **forged)])
            with pytest.raises(ReplayMismatch):
                verify(path)
        faults = [("200", "goes on"), ("1", "did not owe")]
        for other, fault in faults if name == "most_decisions" else faults[:1]:
            forged_settings = replace(settings, options=settings.options | {name: other})
            write_log(path, [replace(log.header, settings=forged_settings), *log.records])
            with pytest.raises(ReplayMismatch, match=fault):
                verify(path)


def test_a_limit_that_means_nothing_is_refused_and_where_nothing_is_counted_all_are_level(monkeypatch: Any) -> None:
    with pytest.raises(ConfigError, match="1 to 10000000"):
        make_settings("samurai", 2, overrides=["most_decisions=0"])
    assert make_settings("samurai", 2, overrides=["most_decisions=none"]) == make_settings("samurai", 2)
    monkeypatch.setattr(game("gardener"), "margin", classmethod(lambda *_: None))
    with pytest.raises(ConfigError, match="a game that counts leads"):
        make_settings("gardener", 2, overrides=["most_lead=5"])
    assert to_the_end("gardener", 2, "most_decisions=9").outcome == Outcome((1, 1))


def test_every_number_of_decisions_cuts_between_two_decisions_and_who_forfeited_is_last() -> None:
    for most in (4, 7, 9):
        course = to_the_end("gardener", 3, f"most_decisions={most}", gone=2)
        assert course.accepted >= most
        assert course.outcome is not None
        assert course.outcome.ranks[2] == 3
        assert not course.asked


def to_the_end(rules: str, players: int, limit: str, gone: int | None = None) -> Course:
    course = Course(rules_of(make_settings(rules, players, overrides=[limit])))
    while not isinstance(due := course.due, Over):
        match due:
            case Chance():
                course.draw(0)
            case Ask():
                course.ask()
            case Forfeits():
                course.forfeit()
            case Answers((seat, *_)) if seat == gone:
                course.fail(seat, Termination.CRASHED)
            case Answers((seat, *_)):
                play = next(iter(course.rules.legal(course.asked[seat].state, seat)))
                course.answer(seat, course.rules.write_action([play]))
    return course
