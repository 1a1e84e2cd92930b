"""When a running game is taken for dead: one rule, for terminal and web. A bot may think for as long as it likes."""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Iterator

import pytest
from live_kit import SAMURAI, parts
from msgspec.structs import replace

from arena.core.referee.feed import Part
from arena.pages.live.games import SILENT_S, Games
from arena.pages.live.scores import NOTHING
from arena.pages.live.screen import Screen

GAME = SAMURAI.header.game


@pytest.fixture
def player() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is said to play."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


def told(games: Games, sender: int = 0, game: str = GAME, records: slice = slice(0, 40)) -> None:
    """Records of a game come from a process."""
    log = replace(SAMURAI, header=replace(SAMURAI.header, game=game))
    for part in parts(log, records=records):
        games.take(Part(part.game, part.first, part.records, sender))


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, which its parent has not waited for."""
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def test_a_game_whose_process_lives_runs_however_long_a_bot_thinks() -> None:
    games = Games()
    told(games, os.getpid())
    games.rest(math.inf)
    assert list(games.running) == [GAME]


def test_a_game_whose_process_has_gone_runs_no_more(player: subprocess.Popen[bytes]) -> None:
    games = Games()
    told(games, player.pid)
    games.rest(time.monotonic())
    assert list(games.running) == [GAME]
    end(player)
    version = games.version
    games.rest(time.monotonic())
    assert not games.running
    assert games.version > version


def test_a_process_plays_one_game_at_a_time() -> None:
    games = Games()
    told(games, os.getpid(), "one")
    told(games, os.getpid() + 1, "other")
    told(games, os.getpid(), "two", slice(5, 10))  # its beginning was missed
    assert list(games.running) == ["other"]
    told(games, os.getpid(), "three")
    assert list(games.running) == ["other", "three"]


def test_a_game_of_an_unknown_process_is_listed_again_when_it_goes_on() -> None:
    games = Games()
    told(games)
    games.rest(time.monotonic() + SILENT_S - 1)
    assert list(games.running) == [GAME]
    games.rest(time.monotonic() + SILENT_S + 1)
    assert not games.running
    assert games.find(GAME) is not None, "somebody may be looking at it"
    told(games, records=slice(40, 50))
    assert games.running[GAME].is_whole
    games.rest(time.monotonic() + SILENT_S + 1)
    told(games, records=slice(50, None))
    assert not games.running
    assert [game.id for game in games.finished] == [GAME]
    assert games.finished[0].is_whole


def test_the_terminal_does_not_stay_with_a_dead_game(player: subprocess.Popen[bytes]) -> None:
    games = Games()
    screen = Screen(games)
    told(games, player.pid, "dead")
    screen.draw(NOTHING, "", 80, 24)
    told(games, os.getpid(), "new")
    screen.draw(NOTHING, "", 80, 24)
    assert screen._game is games.running["dead"], "it stays with a game to its end"
    end(player)
    games.rest(time.monotonic())
    lines = [line.plain for line in screen.draw(NOTHING, "", 80, 24)]
    assert screen._game is games.running["new"]
    assert any("1 running" in line for line in lines)


def test_a_key_goes_to_the_game_that_began_last() -> None:
    games = Games()
    screen = Screen(games)
    for number, name in enumerate(("one", "two", "three")):
        told(games, 0, name)
        if number == 0:
            screen.draw(NOTHING, "", 80, 24)
    assert screen._game is games.running["one"]
    screen.press("a")
    assert screen._game is games.running["three"]
    told(games, 0, "two")  # it is played once more
    screen.press("a")
    assert screen._game is games.running["two"]


def test_what_is_too_short_to_follow_is_told_and_what_is_not_heard_is_not_denied() -> None:
    games = Games()
    now = time.monotonic()
    assert games.none_running(now, played=False) == "No game is running."
    assert "other machines" in games.none_running(now, played=True)
    for game in ("one", "two", "long"):
        told(games, game=game, records=slice(None))
    games.finished[0].began -= 20
    assert games.none_running(now, played=True).startswith("2 games were played in the last 10 seconds")
    assert games.none_running(now + 20, played=False) == "No game is running."
