"""The terminal's screen of what runs now: it fits, the board stays, keys work, and nothing hidden is on it."""

from __future__ import annotations

import re

import pytest
from live_kit import SAMURAI, parts
from msgspec.structs import replace

from arena.core.standings.table import Standing
from arena.pages.live.games import Games
from arena.pages.live.scores import NOTHING, Scores
from arena.pages.live.screen import NEEDED, Screen

ROWS = [
    Standing(
        **dict.fromkeys(Standing.__struct_fields__)
        | {"rank": place, "bot": f"bot{place}" * place, "rating": None if place > 8 else 30.0 - place}
        | {"half_width": None if place > 8 else 1.5, "games": 10, "wins": 5, "draws": 1, "losses": 4, "forfeits": 0}
    )
    for place in range(1, 12)
]
RANKS = [str(row.rank) for row in ROWS]
SCORES = replace(NOTHING, title="samurai standard", id="t", done=5, games=20, running=True, ranks=RANKS, rows=ROWS)


@pytest.fixture
def games() -> Games:
    games = Games()
    for part in list(parts(SAMURAI))[:40]:
        games.take(part)
    return games


def text(screen: Screen, scores: Scores = SCORES, width: int = 80, height: int = 24) -> list[str]:
    lines = screen.draw(scores, "", width, height)
    assert len(lines) <= height
    assert all(line.cell_len <= width for line in lines)
    return [line.plain for line in lines]


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("height", [NEEDED, 24, 50])
def test_standings_and_a_board_fit(games: Games, width: int, height: int) -> None:
    lines = text(Screen(games), width=width, height=height)
    assert len(lines) == height
    assert lines[0].startswith("samurai standard  5 of 20 games, running")
    assert "bot1" in lines[2]
    assert any("1 running" in line for line in lines)


def test_the_board_stays_where_it_is() -> None:
    games, screen, rows = Games(), None, set()
    for part in parts(SAMURAI):
        games.take(part)
        screen = screen or Screen(games)
        lines = text(screen)
        rows.update(number for number, line in enumerate(lines) if re.search(r"[~_]87\b", line))
    assert len(rows) == 1


def test_a_hand_is_shown_only_if_the_operator_asks(games: Games) -> None:
    shut, openly = ("\n".join(text(Screen(games, hands=hands))) for hands in (False, True))
    assert len(re.findall(r"\b\d tiles\b", shut)) == 2
    assert not re.findall(r"\b\d tiles\b", openly)


def test_keys_show_pages_and_lead_back(games: Games) -> None:
    screen = Screen(games)
    board = text(screen)
    for key, found in (("s", "bot11"), ("f", "Last finished"), ("?", "all standings")):
        assert screen.press(key)
        assert any(found in line for line in text(screen))
        assert screen.press(key)
        assert text(screen) == board
    assert not screen.press("q")
    assert not screen.press("")


def test_it_stays_with_a_game_to_its_end_and_goes_on() -> None:
    games = Games()
    screen = Screen(games)
    for name in ("one", "two"):
        log = replace(SAMURAI, header=replace(SAMURAI.header, game=name))
        for part in list(parts(log))[:10]:
            games.take(part)
        text(screen)
    assert screen._game is games.running["one"]
    screen.press("n")
    assert screen._game is games.running["two"]
    screen.press("p")
    assert screen._game is games.running["one"]
    for part in list(parts(replace(SAMURAI, header=replace(SAMURAI.header, game="one"))))[10:]:
        games.take(part)
    text(screen)
    assert screen._game is games.running["two"]
    assert any("last: " in line for line in text(screen))


def test_before_anything_is_played_it_says_so() -> None:
    lines = text(Screen(Games()), NOTHING)
    assert "Nothing has been played" in lines[0]
    assert any("No game is running" in line for line in lines)


@pytest.mark.parametrize(("width", "height"), [(79, 24), (80, NEEDED - 1), (10, 3)])
def test_a_terminal_that_is_too_small_is_told(width: int, height: int) -> None:
    lines = [line.plain for line in Screen(Games()).draw(SCORES, "", width, height)]
    assert ("80 columns" in " ".join(lines), max(map(len, lines)) <= width) == (True, True)
