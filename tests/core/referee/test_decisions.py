"""One decision has one limit and one increment, however many requests it takes (§8.5-5, §9-2, §9-4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from referee_kit import first_legal, referee

from arena.author.rerun import requests_of
from arena.core.record.log import read_log
from arena.core.referee.clock import Clock
from arena.core.types import NS_PER_MS, TimeControl
from arena.core.wire.messages import GameStart, Request
from tests.memory_link import MemoryBot, Reply, answer

FAST = {"ship1", "ship2", "ronin1", "switch"}


def one_fast_play(request: Request, after_ms: float) -> list[Reply]:
    """A fast tile alone, after which `must_follow` asks again, if there is one; else anything."""
    if request.kind == "hand":
        return [answer(request, {"plays": [{"hand": ["ship1", "ship1", "ship2", "ronin1", "switch"]}]})]
    action = first_legal(request)
    for product in request.legal or []:
        if request.kind == "turn" and FAST & {*product["tile"]}:
            action = {"plays": [{key: values[0] for key, values in product.items()}]}
            action["plays"][0]["tile"] = next(tile for tile in product["tile"] if tile in FAST)
    return [answer(request, action, after_ms=after_ms)]


def decisions(bot: MemoryBot) -> Iterator[list[Request]]:
    """What a bot was asked, decision by decision: requests of one turn belong together."""
    last = None
    one: list[Request] = []
    for message in bot.heard:
        if isinstance(message, Request):
            assert message.view is not None
            this = (message.kind, message.view["turn"]) if message.kind == "turn" else message.id
            if one and this != last:
                yield one
                one = []
            one.append(message)
            last = this
    yield one


def play(folder: Path, time: str, after_ms: float) -> tuple[Any, list[list[Request]]]:
    """A game in which seat 0 plays fast tiles alone; the result, and its decisions."""
    bots = [MemoryBot(lambda request: one_fast_play(request, after_ms)), MemoryBot(first_legal)]
    result, _ = referee(folder, bots, time=time, fast="must_follow")
    made = list(decisions(bots[0]))
    assert any(len(requests) > 2 for requests in made), "the game shows nothing"
    return result, made


def test_the_increment_comes_once_a_decision(tmp_path: Path) -> None:
    _, made = play(tmp_path, "10+0.1", after_ms=30)
    for requests, following in pairwise(made[1:]):
        banks = [request.clock.bank_ms for request in requests]
        assert banks == [banks[0] - 30 * number for number in range(len(banks))]
        assert following[0].clock.bank_ms == banks[-1] - 30 + 100


def test_the_limit_runs_on_over_the_requests_of_a_decision(tmp_path: Path) -> None:
    _, made = play(tmp_path, "0.5/move", after_ms=30)
    for requests in made[1:]:
        assert [request.clock.limit_ms for request in requests] == [
            500 - 30 * number for number in range(len(requests))
        ]


def test_a_decision_that_uses_up_its_limit_request_by_request_is_late(tmp_path: Path) -> None:
    bots = [MemoryBot(lambda request: one_fast_play(request, 70)), MemoryBot(first_legal)]
    result, _ = referee(tmp_path, bots, time="0.1/move", fast="must_follow")
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert forfeit.code == "timeout"
    last = list(decisions(bots[0]))[-1]
    assert [request.clock.limit_ms for request in last] == [100, 30], "70 ms are more than 30 and the margin"


def test_requests_put_together_from_a_log_have_the_same_clocks(tmp_path: Path) -> None:
    bots = [
        MemoryBot(lambda request: one_fast_play(request, 30), want=("view", "events", "legal")),
        MemoryBot(first_legal),
    ]
    result, _ = referee(tmp_path, bots, time="10+0.1,0.5/move", fast="must_follow")
    sent = [message for message in bots[0].heard if isinstance(message, Request)]
    asked = list(requests_of(read_log(tmp_path / result.log), 0))
    assert [one.request for one in asked] == sent
    assert [one.goes_on for one in asked] == [not one.begins for one in asked[1:]] + [False]
    assert any(one.goes_on for one in asked)


def test_a_clock_never_falls_below_nothing() -> None:
    clock = Clock(TimeControl(bank_ms=1_000, increment_ms=10, limit_ms=300))
    clock.charge(320 * NS_PER_MS, goes_on=True)
    assert (clock.told().limit_ms, clock.told().bank_ms) == (0, 680)
    clock.charge(20 * NS_PER_MS)
    clock.begin()
    assert (clock.told().limit_ms, clock.told().bank_ms) == (300, 670)


@pytest.mark.parametrize(("rules", "ruleset", "window_us"), [("samurai", None, None), ("gardener", "race", 250)])
def test_bots_are_told_the_margin_and_the_window(
    tmp_path: Path, rules: str, ruleset: str | None, window_us: int | None
) -> None:
    """§8.3-5."""
    bots = [MemoryBot(first_legal), MemoryBot(first_legal)]
    referee(tmp_path, bots, rules=rules, ruleset=ruleset, race_window_ms=0.25, time="10+0.1,2/move")
    for bot in bots:
        (start,) = (message for message in bot.heard if isinstance(message, GameStart))
        time = start.time
        assert (time.bank_ms, time.increment_ms, time.limit_ms) == (10_000, 100, 2_000)
        assert (time.margin_ms, time.window_us) == (30, window_us)
