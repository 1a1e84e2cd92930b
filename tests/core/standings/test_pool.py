"""Ratings over the tournaments of a pool: who is the same bot, and which deals are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.errors import ConfigError
from arena.core.ratings.pairs import PairResult
from arena.core.standings.pool import PoolReport, pool_report
from arena.core.standings.report import report
from arena.core.store.records import Entrant, Tally, Tournament
from arena.core.store.store import Store
from arena.core.tournament.settings import Settings
from tests import instant


def play(store: Store, logs: Path, settings: Settings) -> str:
    begun = instant.start(store, settings, logs, new=True)
    list(instant.runner(store, begun, settings).run())
    return begun.tournament.id


def test_the_tournaments_of_a_pool_are_rated_together(store: Store, tmp_path: Path) -> None:
    ids = [
        play(store, tmp_path, instant.settings(("ann", "bob"), deals=12)),
        play(store, tmp_path, instant.settings(("bob", "cid", "bob"), deals=12, seed="other", players=3)),
    ]
    basic = replace(instant.settings().game, ruleset="basic")
    play(store, tmp_path, replace(instant.settings(("ann", "dan"), deals=1), game=basic))
    pool = pool_report(store, rules="samurai", ruleset="standard")
    rows = {row.bot: row for row in pool.standings}
    assert (list(pool.tournaments), pool.players, pool.pool.ruleset) == (ids, (2, 3), "standard")
    assert pool.games == 24 + 36
    assert {name: (row.games, row.tournaments) for name, row in rows.items()} == {
        "ann": (24, 1),
        "bob": (24 + 36, 2),
        "cid": (36, 1),
        "bob#2": (36, 1),
    }
    assert all(row.rating is not None and row.mu is None for row in pool.standings)
    assert sum(row.rating or 0 for row in pool.standings) == pytest.approx(4 * 25, abs=0.01)
    assert pool.crosstable is not None
    met = {row.bot: {score.bot: score.games for score in row.against} for row in pool.crosstable}
    assert met["ann"] == {"bob": 24}
    assert met["cid"] == {"bob": 36, "bob#2": 36}
    assert pool_report(store, ids[0]) == pool, "any of its tournaments names a pool"


def test_a_pool_of_one_tournament_has_its_ratings(store: Store, tmp_path: Path) -> None:
    id = play(store, tmp_path, instant.settings(deals=12))
    pool, (single, _) = pool_report(store), report(store, id)
    same = ("rank", "bot", "rating", "half_width", "ahead_of_next", "points", "games", "wins", "forfeits", "max_ms")
    assert [[getattr(row, key) for key in same] for row in pool.standings] == [
        [getattr(row, key) for key in same] for row in single.standings
    ]
    assert (pool.order, pool.crosstable) == (single.order, single.crosstable)


def test_an_anchor_moves_the_scale(store: Store, tmp_path: Path) -> None:
    play(store, tmp_path, instant.settings(deals=12))
    free, fixed = pool_report(store), pool_report(store, anchors={"bob": 40.0})
    bob = next(row for row in fixed.standings if row.bot == "bob")
    assert (bob.rating, bob.half_width) == (40.0, 0.0)
    assert [row.bot for row in fixed.standings] == [row.bot for row in free.standings]
    for one in (pool_report, report):
        with pytest.raises(ConfigError, match=r"got: 'bib' - at --anchor \(did you mean 'bob'\?\)"):
            one(store, anchors={"bib": 40.0})


class Shelf:
    """A database by hand: of each tournament the entrants, as name, version and digest, and the pairs."""

    def __init__(
        self, entrants: Sequence[Sequence[tuple[str, str, str]]], pairs: Sequence[Any], secrets: bytes
    ) -> None:
        self._entrants, self._pairs, self._secrets = entrants, pairs, secrets
        settings = instant.settings().document()
        self._rows = [
            Tournament(
                id=str(number), created="", settings=settings, digest="", seed=None, commitment="", logs="", games=1,
                secret=secrets[number : number + 1],
            )
            for number in range(len(entrants))
        ]  # fmt: skip

    def snapshot(self) -> Any:
        return nullcontext()

    def tournament(self, id: str | None, **wanted: object) -> Tournament:
        return self._rows[-1]

    def pool(self, id: str) -> list[Tournament]:
        return self._rows

    def entrants(self, id: str) -> list[Entrant]:
        return [
            Entrant(number=number, name=name, version=version, digest=digest, spec={})
            for number, (name, version, digest) in enumerate(self._entrants[int(id)])
        ]

    def tallies(self, id: str) -> list[Tally]:
        return [Tally(n, games=10, wins=n, max_ms=int(id) + n) for n in range(len(self._entrants[int(id)]))]

    def pairs(self, id: str) -> list[PairResult]:
        return list(self._pairs[int(id)])

    def done(self, id: str) -> int:
        return 10


def pool_of(entrants: Any, pairs: Any, secrets: bytes = b"abc") -> PoolReport:
    return pool_report(Shelf(entrants, pairs, secrets))  # type: ignore[arg-type]


def deals(one: int, other: int, wins: Sequence[int]) -> list[PairResult]:
    return [PairResult(deal, one, other, won, 0, 2 - won) for deal, won in enumerate(wins)]


ALL = deals(0, 1, [2] * 12)


def crosstable(report: PoolReport) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    return {
        row.bot: {score.bot: (score.better, score.worse) for score in row.against} for row in report.crosstable or ()
    }


def test_a_bot_is_the_same_by_its_files_wherever_it_entered() -> None:
    report = pool_of([[("ann", "1", "A"), ("bob", "1", "B")], [("bob", "1", "B"), ("ann", "1", "A")]], [ALL, ALL])
    assert crosstable(report) == {"ann": {"bob": (24, 24)}, "bob": {"ann": (24, 24)}}
    rows = {row.bot: row for row in report.standings}
    assert (rows["ann"].games, rows["ann"].wins, rows["ann"].max_ms) == (20, 1, 2)
    assert rows["ann"].rating == pytest.approx(rows["bob"].rating)


def test_two_versions_are_two_bots_and_are_told_apart() -> None:
    report = pool_of(
        [
            [("ann", "1", "A"), ("bob", "1", "B")],
            [("ann", "2", "C"), ("bob", "1", "B")],
            [("ann", "2", "D"), ("eva", "", "E")],
        ],
        [ALL, ALL, ALL],
    )
    assert {row.bot: row.version for row in report.standings} == {
        "ann 1": "1",
        "ann 2 (C)": "2",
        "ann 2 (D)": "2",
        "bob": "1",
        "eva": "",
    }


def test_copies_are_counted_by_bot_and_not_by_name() -> None:
    """Two bots of one name swap their names when they are entered in the other order."""
    report = pool_of(
        [[("ann", "1", "A"), ("ann#2", "2", "B"), ("ann#3", "1", "A")], [("ann", "2", "B"), ("ann#2", "1", "A")]],
        [ALL, ALL],
    )
    assert {row.bot: row.tournaments for row in report.standings} == {"ann 1": 2, "ann 2": 2, "ann#2": 1}
    assert crosstable(report)["ann 1"] == {"ann 2": (24, 24)}


def test_tournaments_of_one_seed_have_the_same_deals_and_others_have_not() -> None:
    """The same games played twice say nothing new; others do."""
    bots = [("ann", "1", "A"), ("bob", "1", "B")]
    luck = deals(0, 1, [2, 0, 1, 2, 2, 0, 2, 1, 2, 0, 2, 2])
    once = pool_of([bots], [luck])
    again = pool_of([bots, bots], [luck, luck], b"aa")
    other = pool_of([bots, bots], [luck, luck], b"ab")
    assert (again.standings[0].half_width or 0) == pytest.approx(once.standings[0].half_width, rel=0.1)
    assert (other.standings[0].half_width or 0) < 0.8 * (again.standings[0].half_width or 0)
