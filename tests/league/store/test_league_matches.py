"""Matches: games that are chosen one match at a time, what counts, and what the matchmaker is told."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from arena.core.errors import Refused, StoreError
from arena.league.store import LeagueStore, read_league
from arena.league.store.records import VersionStanding
from arena.league.store.states import Actor, State
from tests import league_kit as kit


def facts(store: LeagueStore, name: str) -> VersionStanding:
    [found] = [standing for standing in store.facts.standing() if standing.name == name]
    return found


def test_a_match_is_its_games_in_order(store: LeagueStore) -> None:
    random, greedy = map(store.versions.named, ("random", "greedy"))
    matches = [kit.plan(store, random, greedy), kit.plan(store, greedy, random)]
    assert [match.deal for match in matches] == [0, 1]
    assert [game.number for match in matches for game in match.games] == [0, 1, 2, 3]
    assert [game.entrants for game in matches[1].games] == [(1, 0), (0, 1)]
    assert store.games.tournament("cup-1").games == 4
    claims = kit.claim(store, 1) + kit.claim(store, 4)
    assert [(claimed.number, claimed.deal, claimed.rotation) for claimed in claims] == [(0, 0, 0), (1, 0, 1)]
    assert store.games.resume("cup-1") == [claimed.game for claimed in claims]


def test_matches_that_are_planned_together_are_played_in_blocks(store: LeagueStore) -> None:
    kit.plan(store, *map(store.versions.named, ("random", "greedy")))
    matches = store.matches.plan([[(0, 1), (1, 0)], [(1, 0), (0, 1)], [(0, 1), (1, 0)]], "", True)
    assert [(match.number, match.deal, match.together) for match in matches] == [(1, 1, 1), (2, 2, 1), (3, 3, 1)]
    assert [[game.number for game in match.games] for match in matches] == [[2, 5], [3, 6], [4, 7]]
    assert [[game.rotation for game in match.games] for match in matches] == [[0, 1]] * 3
    assert [[game.entrants for game in match.games] for match in matches][:2] == [[(0, 1), (1, 0)], [(1, 0), (0, 1)]]
    games = [store.matches.game(number) for number in range(8)]
    assert [game.block for game in games] == [0, 1, 2, 2, 2, 5, 5, 5]
    assert [game.deal for game in games[2:]] == [1, 2, 3] * 2, "no deal comes twice in a block"
    assert [[claimed.number for claimed in kit.claim(store, 5)] for _ in range(4)] == [[0], [1], [2, 3, 4], [5, 6, 7]]
    assert facts(store, "random/1").playing == 2
    assert facts(store, "random/1").met == ((1,), (1,)), "of each meeting once"


@pytest.mark.parametrize("matches", [[], [[]], [[(0, 1), (0, 2)]], [[(0, 0)]], [[(0, 1)], [(0, 1), (1, 0)]]])
def test_what_is_no_match_is_refused(store: LeagueStore, matches: list[list[tuple[int, ...]]]) -> None:
    kit.plan(store, *map(store.versions.named, ("random", "greedy")))
    with pytest.raises(StoreError):
        store.matches.plan(matches, "", True)
    assert len(store.matches.running()) == 1
    assert store.games.tournament("cup-1").games == 2


def test_only_active_versions_are_seated(store: LeagueStore) -> None:
    fox = kit.active(store, "fox")
    store.versions.change(fox.id, State.RETIRED, Actor.AUTHOR, "")
    with pytest.raises(Refused, match="expected active versions in all seats"):
        kit.plan(store, fox, store.versions.named("random"))


def test_what_does_not_count_moves_no_rating_and_adds_to_no_sum(store: LeagueStore) -> None:
    random, greedy = map(store.versions.named, ("random", "greedy"))
    start = store.games.ratings("cup-1")
    kit.play(store, random, greedy, rated=False)
    assert store.games.ratings("cup-1") == start
    assert store.games.tournament("cup-1").rated == 2, "it is passed over, and holds nothing up"
    assert [tally.games for tally in store.games.tallies("cup-1")] == [0, 0]
    assert list(store.games.pairs("cup-1")) == []
    kit.play(store, random, greedy)
    assert store.games.ratings("cup-1") != start
    assert [tally.games for tally in store.games.tallies("cup-1")] == [2, 2]
    assert [game["counts"] for game in store.finder.describe(f"cup-1-{number:06d}" for number in range(4))] == [
        *(0, 0, 1, 1)
    ]


def test_results_played_again_give_the_same_ratings_voids_included(tmp_path: Path) -> None:
    def play(folder: Path, *, disturbed: bool) -> list[object]:
        folder.mkdir()
        with kit.league(folder, "anna") as store, store.transaction():
            bots = [*map(store.versions.named, ("random", "greedy")), kit.active(store, "fox")]
            for one, other in [*permutations(bots, 2)] * 2:
                if disturbed:
                    void = kit.plan(store, one, other)
                    store.matches.void(void.number, "the machine")
                kit.play(store, one, other)
            return [store.games.ratings("cup-1"), store.games.tallies("cup-1")]

    assert play(tmp_path / "one", disturbed=False) == play(tmp_path / "other", disturbed=True)


def test_a_match_is_over_with_its_last_game_and_returned_until_it_is_published(store: LeagueStore) -> None:
    match = kit.plan(store, *map(store.versions.named, ("random", "greedy")))
    for claimed in [*kit.claim(store), *kit.claim(store)]:
        assert store.matches.over() == []
        kit.record(store, claimed)
    assert [found.number for found in store.matches.over()] == [match.number]
    assert [found.state for found in store.matches.over()] == ["over"]
    first, second = [game.game for game in match.games]
    store.matches.publish(match.number, {first: "5f"})
    assert store.matches.over() == store.matches.running() == []
    rows = store.played.of(match.tournament)
    assert {row["game"]: row["public_sha256"] for row in rows} == {first: "5f", second: None}
    with pytest.raises(Refused, match="expected a match of the season, got: number 99"):
        store.matches.publish(99)


def test_a_match_of_which_nothing_was_played_is_void_and_nobody_met(store: LeagueStore) -> None:
    random, greedy = map(store.versions.named, ("random", "greedy"))
    kit.play(store, random, greedy)
    before = facts(store, "random/1")
    match = kit.plan(store, random, greedy)
    assert facts(store, "random/1").matches == 2, "running matches count as played"
    store.matches.void(match.number, "interrupted 3 times")
    assert [(found.state, found.reason) for found in store.matches.over()][1:] == [("void", "interrupted 3 times")]
    assert facts(store, "random/1") == before


def test_a_match_that_is_void_in_part_keeps_its_results(store: LeagueStore) -> None:
    match = kit.plan(store, *map(store.versions.named, ("random", "greedy")))
    [claimed] = kit.claim(store)
    kit.record(store, claimed)
    store.matches.void(match.number, "interrupted 3 times")
    assert [found.state for found in store.matches.over()] == ["over"]
    assert store.games.tournament("cup-1").rated == 2
    assert facts(store, "random/1").matches == 1


def test_the_matchmaker_is_told_who_met_whom_and_where(store: LeagueStore) -> None:
    random, greedy = map(store.versions.named, ("random", "greedy"))
    fox, owl = kit.active(store, "fox"), kit.active(store, "owl", author="bert")
    kit.play(store, random, greedy)
    kit.play(store, fox, owl, random)
    kit.plan(store, fox, greedy)
    numbers = {version.name: version.entrant for version in (random, greedy, fox, owl)}
    found = facts(store, "fox/1")
    assert found.seats == {2: 1, 3: 1}
    assert (found.matches, found.last, found.playing, found.author) == (2, 2, 1, "anna")
    assert found.met == ((numbers["random/1"], numbers["owl/1"]), (numbers["greedy/1"],))
    assert found.mu == store.games.ratings("cup-1")[fox.entrant or 0].mu
    assert [standing.name for standing in store.facts.standing()] == ["random/1", "greedy/1", "fox/1", "owl/1"]
    new = kit.active(store, "elk")
    assert (facts(store, "elk/1").matches, facts(store, "elk/1").waits_since) == (0, 3)
    assert new.first_game == store.games.tournament("cup-1").games


def test_forfeits_are_counted_since_it_plays_and_never_those_of_an_overloaded_machine(store: LeagueStore) -> None:
    fox, random = kit.active(store, "fox"), store.versions.named("random")
    assert fox.entrant is not None

    def game(*, forfeits: bool, overloaded: bool = False) -> None:
        store.matches.plan([[(fox.entrant or 0, random.entrant or 0)]], "", True)
        [claimed] = kit.claim(store)
        kit.record(store, claimed, [fox.entrant or 0] if forfeits else [], overloaded=overloaded)

    for forfeits in (True, False, True, True):
        game(forfeits=forfeits)
    form = store.facts.form(fox)
    assert (len(form.forfeits), form.in_a_row) == (3, 2)
    name, latest = form.forfeits[0]
    assert (name, latest.seat, latest.turn, latest.code) == ("cup-1-000003", 0, 7, "crashed")
    assert latest.stderr == ("oh",)
    game(forfeits=True, overloaded=True)
    form, other = store.facts.form(fox), store.facts.form(random)
    assert (len(form.forfeits), form.in_a_row) == (3, 0)
    assert (len(other.forfeits), other.in_a_row) == (0, 0)
    store.versions.change(fox.id, State.SUSPENDED, Actor.SERVICE, "3 forfeits")
    fox = store.versions.change(fox.id, State.ACTIVE, Actor.OPERATOR, "repaired")
    assert store.facts.form(fox).games == 0, "what it was lifted from does not suspend it again"


def test_only_the_last_twenty_games_are_looked_at(store: LeagueStore) -> None:
    fox, random = kit.active(store, "fox"), store.versions.named("random")
    forfeits = []
    with store.transaction():
        for number in range(11):
            kit.play(store, fox, random, forfeits=[fox.entrant or 0] if number == 0 else [])
            forfeits.append(len(store.facts.form(fox).forfeits))
    assert forfeits == [2] * 10 + [0]
    assert store.facts.form(fox).games == 20


def test_readers_see_it_while_it_is_written_and_cannot_write(tmp_path: Path) -> None:
    with kit.league(tmp_path, "anna") as store:
        kit.plan(store, *map(store.versions.named, ("random", "greedy")))
        with read_league(tmp_path / "league.db") as reader, reader.snapshot():
            assert len(reader.matches.running()) == 1
            assert len(reader.facts.standing()) == 2
        with pytest.raises(StoreError, match="readonly"), read_league(tmp_path / "league.db") as reader:
            reader.authors.add("bert")


def test_a_match_and_its_games_come_together_or_not_at_all(store: LeagueStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("killed here")

    with monkeypatch.context() as patch:
        patch.setattr(type(store.matches), "_add_meetings", fail)
        with pytest.raises(RuntimeError):
            kit.plan(store, *map(store.versions.named, ("random", "greedy")))
    assert store.games.tournament("cup-1").games == 0
    assert store._db.execute("SELECT count(*) FROM games").fetchone() == (0,)


def test_it_is_all_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with kit.league(tmp_path, "anna") as store:
        kit.active(store, "fox")
        match = kit.play(store, *map(store.versions.named, ("fox", "greedy")))
        known = (store.facts.standing(), store.versions.all(), store.authors.all())
    with kit.opened(tmp_path) as store:
        assert (store.facts.standing(), store.versions.all(), store.authors.all()) == known
        assert [found.number for found in store.matches.over()] == [match.number]


def test_the_results_of_a_season_are_not_removed(store: LeagueStore) -> None:
    with pytest.raises(StoreError, match="expected a tournament that is no part of a league, got: cup-1"):
        store.games.remove(["cup-1"])
    assert store.games.has("cup-1")


def test_a_match_that_is_struck_is_as_if_it_had_never_counted(tmp_path: Path) -> None:
    def play(folder: Path, *, struck: bool) -> list[object]:
        folder.mkdir()
        with kit.league(folder, "anna") as store, store.transaction():
            random, greedy, fox = *map(store.versions.named, ("random", "greedy")), kit.active(store, "fox")
            kit.play(store, random, greedy)
            match = kit.play(store, fox, greedy, rated=struck, forfeits=[fox.entrant or 0])
            kit.play(store, random, fox)
            kit.play(store, fox, greedy)
            again = store.matches.strike([match.number], "the disk")[0] if struck else None
            if again is not None:
                assert not isinstance(again, str)
                assert (again.entrants, again.deal, again.rated) == (match.entrants, 4, True)
                assert [game.status for game in store.matches.get(match.number).games] == ["done", "done"]
                with pytest.raises(Refused, match="expected a match that counts"):
                    store.matches.strike([match.number], "twice")
                with pytest.raises(Refused, match="expected a match that is over"):
                    store.matches.strike([again.number], "too early")
                fox = store.versions.change(fox.id, State.RETIRED, Actor.OPERATOR, "")
                (why,) = store.matches.strike([3], "nobody to meet")
                assert why == "it is not played again, as somebody of it plays no more"
            else:
                store.matches.strike([3], "the same")
            ratings = [tuple(row) for row in store._db.execute("SELECT * FROM ratings ORDER BY number, entrant")]
            return [ratings, store.games.tallies("cup-1"), list(store.games.pairs("cup-1"))]

    assert play(tmp_path / "one", struck=True) == play(tmp_path / "other", struck=False)
