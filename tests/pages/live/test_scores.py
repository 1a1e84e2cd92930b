"""Standings as they move, read from a database that another connection writes."""

from __future__ import annotations

import time
from pathlib import Path

import instant
import pytest

from arena.core.store.store import open_store
from arena.pages.live import scores
from arena.pages.live.games import Games
from arena.pages.live.scores import LEAST_S, LiveStandings
from arena.pages.live.screen import Screen


def test_without_a_database_there_is_nothing_and_a_reason(tmp_path: Path) -> None:
    board = LiveStandings(tmp_path / "arena.db")
    assert board.read()
    assert not board.scores.id
    assert "arena.db" in board.error
    assert not board.read()


def test_it_is_read_again_after_a_while(tmp_path: Path) -> None:
    board = LiveStandings(tmp_path / "arena.db")
    assert board.due(time.monotonic())
    board.read()
    assert not board.due(time.monotonic())
    assert board.due(time.monotonic() + LEAST_S + 0.1)


def test_standings_move_as_results_are_stored(tmp_path: Path) -> None:
    setting = instant.settings()
    board = LiveStandings(tmp_path / "arena.db")
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, setting, tmp_path / "logs")
        assert board.read()
        assert (board.scores.done, board.scores.running, board.scores.finished) == (0, True, False)
        assert {row.rating for row in board.scores.rows} == {None}
        played = instant.runner(store, begun, setting).run()
        for count in range(1, 4):
            next(played)
            assert board.read()
            assert board.scores.done >= count
        for _ in played:
            pass
    assert board.read()
    assert board.scores.done == board.scores.games == begun.committed.games
    assert not board.scores.running
    assert sorted(row.bot for row in board.scores.rows) == sorted(instant.BOTS)
    assert sum(row.wins + row.losses + row.draws for row in board.scores.rows) == 2 * board.scores.done
    assert not board.read()


def test_games_are_counted_at_once_however_long_standings_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = instant.settings()
    monkeypatch.setattr(scores, "SHARE", 1e9)
    board = LiveStandings(tmp_path / "arena.db")
    with open_store(tmp_path / "arena.db") as store:
        played = instant.runner(store, instant.start(store, setting, tmp_path / "logs"), setting).run()
        next(played)
        board.read()
        first = board.scores.done
        for _ in range(3):
            next(played)
        board.read()
        assert board.scores.done >= first + 3
        assert f", standings after {first}" in Screen(Games()).draw(board.scores, "", 100, 24)[0].plain
    board.read()
    assert board.scores.rated == board.scores.done, "when nobody plays any more"


def test_where_all_play_together_there_are_scores_and_nobody_wins(tmp_path: Path) -> None:
    setting = instant.settings(teams=(0, 0), deals=12)
    board = LiveStandings(tmp_path / "arena.db")
    with open_store(tmp_path / "arena.db") as store:
        list(instant.runner(store, instant.start(store, setting, tmp_path / "logs"), setting).run())
    assert board.read()
    means = [row.rating for row in board.scores.rows if row.rating is not None]
    assert means == sorted(means, reverse=True)
    assert len(means) == len(instant.BOTS)
    head, *rows = (line.plain.split() for line in Screen(Games()).draw(board.scores, "", 80, 24)[1:])
    assert head == ["#", "bot", "score", "±", "95", "%", "games", "forfeits"]
    assert len(rows[0]) == 6, "no wins, draws and losses"
