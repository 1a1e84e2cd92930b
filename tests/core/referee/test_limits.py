"""A limit of decisions or of a lead cuts a game: the log names it, and who plays it again finds the same standing."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.catalogue import make_settings, rules_of
from arena.core.errors import ConfigError, ReplayMismatch
from arena.core.record.log import Log, read_log, write_log
from arena.core.referee.verify import verify
from arena.core.rules.course import Course, Over
from tests.command_kit import arena


def cut(folder: Path, rules: str, *options: str) -> list[Log]:
    words = [word for option in options for word in ("--rule", option)]
    arena(folder, "match", "random", "greedy", "--rules", rules, *words, "--seed", "cut", "--quiet")
    return [read_log(path) for path in sorted((folder / "logs").glob("*/*.jsonl"))]


@pytest.mark.parametrize("rules", ["samurai", "gardener"])
def test_a_game_is_cut_after_so_many_decisions_and_the_one_who_has_more_wins(tmp_path: Path, rules: str) -> None:
    for log in cut(tmp_path, rules, "most_decisions=9", "most_lead=1000"):
        outcome = log.outcome
        assert (outcome.actions, outcome.limit, outcome.termination) == (9, "most_decisions", "finished")
        assert log.header.settings.options["most_decisions"] == "9"
        margins = verify(Path(log.source)).margins
        assert margins is not None
        assert outcome.ranks == [1 + (margin < 0) for margin in margins]
        for forged in (
            {"limit": None},
            {"limit": "most_lead"},
            {"ranks": outcome.ranks[::-1]} if any(margins) else {"actions": 8},
        ):
            write_log(Path(log.source), [log.header, *log.records[:-1], replace(outcome, **forged)])
            with pytest.raises(ReplayMismatch):
                verify(Path(log.source))
        for most, fault in (("3", "did not owe"), ("20", "goes on")):
            options = log.header.settings.options | {"most_decisions": most}
            header = replace(log.header, settings=replace(log.header.settings, options=options))
            write_log(Path(log.source), [header, *log.records])
            with pytest.raises(ReplayMismatch, match=fault):
                verify(Path(log.source))


def test_a_game_is_cut_at_a_lead(tmp_path: Path) -> None:
    for log in cut(tmp_path, "gardener", "most_lead=3"):
        assert log.outcome.limit == "most_lead"
        margins = verify(Path(log.source)).margins
        assert margins is not None
        assert max(margins) >= 3
        assert log.outcome.ranks == [1 + (margin < 0) for margin in margins]


def test_where_nothing_is_counted_all_are_level_and_a_limit_is_refused_that_means_nothing() -> None:
    with pytest.raises(ConfigError, match="1 to 10000000"):
        make_settings("samurai", 2, overrides=["most_decisions=0"])
    assert make_settings("samurai", 2, overrides=["most_decisions=none"]) == make_settings("samurai", 2)
    settings = make_settings("samurai", 2, overrides=["most_decisions=1"])
    assert settings.ruleset == "custom"


def test_every_number_of_decisions_cuts_between_two_decisions() -> None:
    for most in (1, 2, 7):
        course = Course(rules_of(make_settings("gardener", 3, overrides=[f"most_decisions={most}"])))
        while not isinstance(due := course.due, Over):
            if hasattr(due, "draw"):
                course.draw(0)
            elif hasattr(due, "decisions"):
                course.ask()
            else:
                seat = due.seats[0]
                play = next(iter(course.rules.legal(course.asked[seat].state, seat)))
                course.answer(seat, course.rules.write_action([play]))
        assert course.accepted >= most
        assert course.outcome == due.outcome
        assert not course.asked
