"""What the author of a remote bot is told."""

from __future__ import annotations

import pytest

from arena.league.door.serve import EACH_S, WAITS, ServeLog
from arena.league.store.states import State


@pytest.fixture
def said() -> list[str]:
    return []


def test_sums_come_once_a_minute_and_losses_at_once(said: list[str]) -> None:
    serve_log = ServeLog(said.append, _said_at=0)
    serve_log.sum_up(EACH_S)
    assert said == [], "nothing has happened"
    for journey in (1_000, 3_000, None):
        serve_log.over(journey)
    serve_log.sum_up(EACH_S - 1)
    assert said == []
    serve_log.sum_up(EACH_S)
    assert said.pop() == "3 games so far; the network takes 2.0 ms of each decision"
    serve_log.loses("fox exited with status 1")
    assert said.pop() == "fox exited with status 1; a game is lost"
    serve_log.over(5_000)
    serve_log.sum_up(2 * EACH_S)
    assert said.pop() == "5 games so far, 1 of them lost on the way; the network takes 5.0 ms of each decision"
    serve_log.sum_up(3 * EACH_S)
    serve_log.sum_up(3 * EACH_S, at_once=True)
    assert said == [], "nothing is new"


def test_each_change_of_the_version_is_told_once_with_what_is_waited_for(said: list[str]) -> None:
    serve_log = ServeLog(said.append, _said_at=0)
    for state in ("received", "received", "qualifying", "active", "active"):
        serve_log.stands("fox/1", state)
    assert said == [
        "fox/1 is served, and received: waiting until the league tries it",
        "fox/1 is served, and qualifying: the league tries it in a few games",
        "fox/1 is served, and active: waiting for games",
    ]


def test_every_state_has_its_words() -> None:
    assert set(WAITS) == {str(state) for state in State}
