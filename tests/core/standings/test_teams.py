"""Games in which seats win and lose together: what is stored of them, how their bots are rated, what refuses them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from arena.core.catalogue import game
from arena.core.errors import ConfigError
from arena.core.ratings.running import Rating, rate
from arena.core.show.standings import order_text, standings_table
from arena.core.standings.pool import pool_report
from arena.core.standings.report import report
from arena.core.store.store import Store
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.settings import set_up
from arena.core.types import Payload
from arena.league.season.template import text
from arena.league.settings import Settings, parse
from tests import instant

FOUR = ("ann", "bob", "cid", "dan")
PARTNERS = (0, 1, 0, 1)


def played(store: Store, logs: Path, teams: tuple[int, ...], deals: int) -> str:
    settings = instant.settings(FOUR, players=len(teams), deals=deals, teams=teams)
    begun = instant.start(store, settings, logs)
    list(instant.runner(store, begun, settings).run())
    return begun.tournament.id


def rows_of(document: object) -> list[Payload]:
    return list(msgspec.to_builtins(document)["standings"])


def test_a_win_of_a_team_is_a_win_of_each_and_partners_are_not_compared(store: Store, tmp_path: Path) -> None:
    id = played(store, tmp_path, PARTNERS, deals=6)
    document, _ = report(store, id)
    assert document.crosstable is not None
    # In six deals everybody is against everybody else, and beside them, equally often.
    assert {met.games for row in document.crosstable for met in row.against} == {16}
    with closing(sqlite3.connect(tmp_path / "arena.db")) as database:
        outcomes = database.execute("SELECT game, rank, outcome FROM v_seats").fetchall()
    games = {game: sorted(row[1:] for row in outcomes if row[0] == game) for game in {row[0] for row in outcomes}}
    won_and_lost, drawn = [(1, "won")] * 2 + [(3, "lost")] * 2, [(1, "drawn")] * 4
    assert {repr(seats) for seats in games.values()} == {repr(won_and_lost), repr(drawn)}
    assert sum(row.wins for row in document.standings) == 2 * sum(seats == won_and_lost for seats in games.values())
    assert sum(row.draws for row in document.standings) == 4 * sum(seats == drawn for seats in games.values())


def test_a_team_is_rated_and_not_its_seats(store: Store, tmp_path: Path) -> None:
    id = played(store, tmp_path, PARTNERS, deals=2)
    ratings = [Rating()] * 4
    for _, entrants, seats in store.results(id):
        after = rate([ratings[entrant] for entrant in entrants], tuple(seat.rank for seat in seats), PARTNERS)
        for entrant, rating in zip(entrants, after, strict=True):
            ratings[entrant] = rating
    assert store.ratings(id) == ratings


def test_a_cooperative_game_has_scores_and_no_ratings(store: Store, tmp_path: Path) -> None:
    id = played(store, tmp_path, (0, 0), deals=12)
    document, _ = report(store, id)
    rows = rows_of(document)
    assert rows == [
        {key: value for key, value in row.items() if key not in ("digest", "tournaments")}
        for row in rows_of(pool_report(store))
    ]
    assert rows[0]["bot"] == "ann", "which scores two more in all its games"
    assert rows[0]["mean_score"] > rows[1]["mean_score"] >= rows[2]["mean_score"] >= rows[3]["mean_score"]
    assert all(row["score_half_width"] > 0 for row in rows)
    assert {row[key] for row in rows for key in ("rating", "half_width", "points", "mu", "sigma")} == {None}
    assert (document.order, document.crosstable) == (None, None)
    assert store.ratings(id) == [Rating()] * 4
    table = standings_table(rows, 80, verbose=True).plain
    assert "score" in table.splitlines()[1].split()
    assert not {"rating", "points", "W", "D", "L"} & set(table.split())
    assert order_text(None, rows).startswith("All seats win or lose together")


def test_what_compares_bots_with_each_other_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = instant.settings(FOUR, teams=(0, 0)).game
    with pytest.raises(ConfigError, match=r"expected a round-robin for samurai, .* got: compare"):
        set_up(["random", "greedy"], settings, Compare())
    monkeypatch.setattr(game("samurai"), "teams", classmethod(lambda cls, seats, options: (0,) * seats))
    with pytest.raises(ConfigError, match="expected a game in which bots are against each other, got: samurai"):
        parse(text(Settings(name="cup")))
