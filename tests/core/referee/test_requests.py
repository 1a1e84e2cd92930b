"""Requests put together from a log are those that were sent: with what was known, learnt and legal, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from referee_kit import first_legal, on_turn, referee

from arena.author.rerun import AskedRequest, requests_of
from arena.core.catalogue import game, names
from arena.core.record.log import LateRecord, read_log
from arena.core.wire.messages import Request
from tests.memory_link import MemoryBot, Reply, answer

Decide = Callable[[Request], Any]
WANTS = ("view", "events", "legal")


def play(folder: Path, deciders: list[Decide], **options: Any) -> list[tuple[list[Request], list[AskedRequest]]]:
    """A game; by seat what was sent, and what the log gives."""
    bots = [MemoryBot(decide, want=WANTS) for decide in deciders]
    result, _ = referee(folder, bots, **options)
    log = read_log(folder / result.log)
    return [
        ([message for message in bot.heard if isinstance(message, Request)], list(requests_of(log, seat)))
        for seat, bot in enumerate(bots)
    ]


def check(sent: list[Request], asked: list[AskedRequest]) -> None:
    """The requests are the same."""
    assert [one.request for one in asked] == sent


@pytest.mark.quick(4)
@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize(("rules", "ruleset"), [(name, ruleset) for name in names() for ruleset in game(name).rulesets])
def test_they_are_those_that_were_sent(tmp_path: Path, rules: str, ruleset: str, seats: int) -> None:
    def slower(request: Request) -> list[Reply]:
        return [answer(request, first_legal(request), after_ms=2.5 * (request.id % 3))]

    played = play(tmp_path, [first_legal, slower, slower][:seats], rules=rules, ruleset=ruleset)
    for sent, asked in played:
        check(sent, asked)
        assert all(one.answer is not None and one.forfeit is None for one in asked)


def test_who_was_late_in_a_race_was_asked_again(tmp_path: Path) -> None:
    """Equal answers at the same moment: the tied seats come in an order, and those behind are asked again."""
    played = play(tmp_path, [first_legal] * 4, rules="gardener", ruleset="race")
    for sent, asked in played:
        check(sent, asked)
    late = [one for _, asked in played for one in asked if isinstance(one.answer, LateRecord)]
    assert late


def test_the_request_that_was_lost_is_there_too(tmp_path: Path) -> None:
    def cheat(request: Request) -> Any:
        return {"plays": [{"tile": "rice4", "space": 0}]}

    (_, winner), (sent, asked) = play(tmp_path, [first_legal, on_turn(3, cheat)])
    check(sent, asked)
    assert asked[-1].answer is None
    assert asked[-1].forfeit is not None
    assert asked[-1].forfeit.code == "illegal_action"
    assert all(one.forfeit is None for one in winner)


def test_a_seat_that_did_not_start_was_asked_nothing(tmp_path: Path) -> None:
    class Silent(MemoryBot):
        def start(self, token: str) -> list[Reply]:
            return []

    result, _ = referee(tmp_path, [MemoryBot(first_legal), Silent(first_legal)])
    assert list(requests_of(read_log(tmp_path / result.log), 1)) == []
