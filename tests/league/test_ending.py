"""A season's final, from the order to the frozen standings: who plays, who leaves, and that no kill changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from arena.core.referee.job import Job
from arena.core.standings.report import report
from arena.core.types import GameResult
from arena.league.public import documents
from arena.league.season import ending
from arena.league.season.ending import Ending, finalists
from arena.league.service.loop import Ended
from arena.league.settings import MatchRule, Season, Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.controls import Closing
from arena.league.store.records import SeasonFinal
from arena.league.store.states import Actor, State
from arena.pages.exhibits import open_exhibits
from arena.pages.site.build import Wish, build
from tests import instant, league_kit, service_kit
from tests.service_kit import Killed, Running, killed_at_commits
from tests.site_kit import quiet


def settings(final: int = 8, deals: int = 300) -> Settings:
    return Settings(name="cup", season=Season(final=final, final_deals=deals))


def by_name(job: Job) -> GameResult:
    """A game that whoever is first in the alphabet wins."""
    result = instant.play(job)
    order = sorted(range(len(job.bots)), key=lambda seat: job.bots[seat].name)
    seats = tuple(replace(seat, rank=1 + order.index(place), forfeit=None) for place, seat in enumerate(result.seats))
    return replace(result, seats=seats)


def of_sizes(store: LeagueStore, *sizes: int) -> None:
    """Lets the season have games of these numbers of players."""
    games = msgspec.json.encode([{"players": size} for size in sizes]).decode()
    store._db.execute("UPDATE tournaments SET settings = json_set(settings, '$.games', json(?))", (games,))


@contextmanager
def league(folder: Path, *bots: str) -> Iterator[LeagueStore]:
    """A league of games of two."""
    with service_kit.league(folder, *bots) as store:
        of_sizes(store, 2)
        yield store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league(tmp_path, "ant", "bee", "cat") as store:
        yield store


class Ran(NamedTuple):
    """How a run ended, and what it said."""

    ended: Ended
    said: list[str]


def close(store: LeagueStore, *, final: bool = True) -> None:
    store.set_control("closing", Closing("first", "second", final))


def run(
    store: LeagueStore,
    play: Callable[[Job], GameResult] = by_name,
    games: int | None = None,
    *,
    workers: int = 2,
    chosen: Settings | None = None,
    players: tuple[int, ...] = (2,),
) -> Ran:
    """Runs the service; of a season that is to end until it can be closed."""
    running = Running(store, play, workers=workers, settings=MatchRule(players=players))
    running.orders.closing = store.controls.closing is not None
    running.service.ending = Ending(store, chosen or settings(), running.said.append)
    return Ran(running.run(games), running.said)


def final_of(store: LeagueStore) -> SeasonFinal:
    final = league_kit.season(store).final
    assert final is not None
    return final


def names(store: LeagueStore, entrants: tuple[int, ...]) -> list[str]:
    return [store.games.name("cup-1", entrant) for entrant in entrants]


@pytest.mark.long
@pytest.mark.parametrize(
    ("sizes", "bots"), [((2,), ("ant", "bee", "cat")), ((4,), ("ant", "bee", "cat")), ((2, 3), ("ant", "bee"))]
)
def test_the_best_play_until_it_is_settled_who_has_won(
    tmp_path: Path, sizes: tuple[int, ...], bots: tuple[str, ...]
) -> None:
    with league(tmp_path, *bots) as store:
        of_sizes(store, *sizes)
        run(store, games=20, players=sizes)
        close(store)
        running = run(store, players=sizes)
        assert running.ended.closing
        final = final_of(store)
        assert final.outcome == "settled"
        assert sorted(names(store, final.entrants)) == sorted(f"{bot}/1" for bot in (*bots, "greedy", "random"))
        met = Counter[tuple[int, ...]]()
        for match in store.seasons.final_matches(league_kit.season(store)):
            assert match.whole
            met.update(combinations(match.table, 2))
        assert len(set(met.values())) == 1, "every pair equally often"
        standings = documents.standings(store)
        assert [item["name"] for item in standings["items"]][:2] == ["ant/1", "bee/1"]
        assert standings["final"]["items"][0] == standings["final"]["items"][0] | {
            "rank": 1,
            "name": "ant/1",
            "points": 1.0,
        }
        finals = {game.game for game in store.played.ended() if game.final}
        games = [game for game in store.games.games("cup-1") if game.game in finals]
        seats = Counter(seat for game in games for seat in enumerate(game.entrants))
        assert all(count >= len(games) / 50 for count in seats.values()), "all seatings"
        assert {game.game for game in games} == {
            game.game for match in store.matches.settled(final.first_match, 10**6) for game in match.games
        }
        assert not any(game.final for game in store.played.ended() if int(game.game[-6:]) < final.first_game)
        league_kit.publish(store)
        closed = store.seasons.close(standings)
        assert closed.digest == store.seasons.head(store.seasons.all()[0]).sha256
        assert closed.final == final
        shown, _ = report(store.finder, "cup-1")
        assert [(row.bot, row.rank) for row in shown.standings] == [(x["name"], x["rank"]) for x in standings["items"]]
        build(Wish(database=store.path, folder=tmp_path / "site", title="Cup"), quiet)
        page = (tmp_path / "site" / "cup-1" / "index.html").read_text()
        assert f"Won by ant/1 of of ant, in a final of {len(final.entrants)} versions" in page
        assert page.index(">ant/1<") < page.index(">bee/1<") < page.index(">random/1<")


def test_only_the_best_play_and_one_of_each_author(store: LeagueStore) -> None:
    for number in range(2):
        league_kit.active(store, f"dog{number}", author="of ant")
    run(store, games=60)
    close(store)
    run(store, chosen=settings(final=3))
    chosen = names(store, final_of(store).entrants)
    assert len(chosen) == 3
    assert len([name for name in chosen if name[:3] in ("ant", "dog")]) == 1
    standings = documents.standings(store)
    assert {item["name"] for item in standings["items"][:3]} == set(chosen)
    ranks = [item["rank"] for item in standings["items"]]
    assert ranks == sorted(ranks)
    assert ranks[3] == 4


def test_it_ends_unsettled_at_its_bound(store: LeagueStore) -> None:
    close(store)
    running = run(store, service_kit.play, chosen=settings(deals=20))
    final = final_of(store)
    assert (final.outcome, final.reason) == ("not settled", "another round would need more than 20 deals")
    assert len(store.seasons.final_matches(league_kit.season(store))) == 20
    assert f"The final is over, not settled: {final.reason}" in running.said


@pytest.mark.parametrize("left", [0, 1])
def test_without_two_versions_there_is_no_final(tmp_path: Path, left: int) -> None:
    with league(tmp_path) as store:
        for version in store.versions.active()[left:]:
            store._db.execute("UPDATE versions SET state = 'retired' WHERE id = ?", (version.id,))
        close(store)
        assert run(store).ended.closing
        final = final_of(store)
        assert (final.outcome, final.entrants) == ("not played", ())
        assert final.reason == f"expected at least 2 finalists of different authors, got: {left}"
        standings = documents.standings(store)
        assert len(standings["items"]) == left
        league_kit.publish(store)
        store.seasons.close(standings)


def test_a_season_without_a_final_is_closed_as_soon_as_its_games_are_over(store: LeagueStore) -> None:
    run(store, games=4)
    close(store)
    assert run(store, chosen=settings(final=0)).ended.closing
    assert league_kit.season(store).final is None
    close(store, final=False)
    assert run(store).ended.closing
    assert league_kit.season(store).final is None


def test_who_is_suspended_amid_the_final_is_out_even_if_they_are_lifted(store: LeagueStore) -> None:
    cat = store.versions.named("cat")
    close(store)
    run(store, games=12)
    assert cat.entrant in final_of(store).playing
    store.versions.change(cat.id, State.SUSPENDED, Actor.OPERATOR, "it fills the disk")
    run(store, games=2)
    assert final_of(store).left == (cat.entrant,)
    store.versions.change(cat.id, State.ACTIVE, Actor.OPERATOR, "it does not")
    played = len(store.seasons.final_matches(league_kit.season(store)))
    run(store)
    assert final_of(store).outcome == "settled"
    later = store.seasons.final_matches(league_kit.season(store))[played:]
    assert later
    assert not any(cat.entrant in match.table for match in later)
    standings = documents.standings(store)
    assert standings["final"]["left"] == ["cat/1"]
    names = [item["name"] for item in standings["items"]]
    assert names[-2:] == ["cat/1", "random/1"], "it was not in the final to its end, and random is shown to be worse"


def test_a_version_that_forfeits_too_often_is_suspended_in_the_final_as_ever(tmp_path: Path) -> None:
    with league(tmp_path, "crash", "owl") as store:
        close(store)
        run(store, service_kit.play, chosen=settings(deals=60))
        [left] = final_of(store).left
        assert names(store, (left,)) == ["crash/1"]
        assert store.versions.named("crash").state is State.SUSPENDED
        assert final_of(store).outcome is not None


def test_nobody_new_plays_while_the_season_ends(store: LeagueStore) -> None:
    league_kit.submit(store, "ant", "2", author="of ant")
    close(store)
    run(store, chosen=settings(deals=10))
    assert store.versions.named("ant").state is State.RECEIVED
    assert "ant/1" in names(store, final_of(store).entrants)


def test_the_operator_can_end_it(store: LeagueStore) -> None:
    close(store)
    run(store, service_kit.play, games=6)
    assert final_of(store).outcome is None
    close(store, final=False)
    assert run(store, service_kit.play).ended.closing
    assert (final_of(store).outcome, final_of(store).reason) == ("not settled", "the operator ended it")


def test_a_finalist_that_nobody_serves_is_waited_for_and_then_out(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, gone = 0.0, frozenset[str]()
    monkeypatch.setattr(ending.time, "monotonic", lambda: now)
    close(store)
    end = Ending(store, settings(), absent=lambda: gone)
    assert not end.look(quiet=True)
    gone = frozenset({"cat/1"})
    planned = end.plan(20)
    assert planned
    cat = store.versions.named("cat").entrant
    assert not any(cat in match.entrants for match in planned), "the others play on"
    for match in planned:
        for _ in match.games:
            [claimed] = league_kit.claim(store)
            league_kit.record(store, claimed)
    assert end.plan(20) == []
    now += ending.ABSENT_S - 1
    gone = frozenset()
    assert end.plan(20), "it is back"
    gone = frozenset({"cat/1"})
    while end.plan(20) or league_kit.season(store).final is None:
        for claimed in league_kit.claim(store, 100):
            league_kit.record(store, claimed)
    league_kit.publish(store)
    assert end.plan(20) == []
    assert final_of(store).left == ()
    now += ending.ABSENT_S
    end.plan(20)
    assert final_of(store).left == (cat,)


def test_a_match_that_is_struck_is_played_again_within_the_final(store: LeagueStore) -> None:
    run(store, games=4)
    close(store)
    run(store, games=8, chosen=settings(deals=21))
    final = final_of(store)
    assert store.matches.strike([0], "no match of the ladder is planned any more") == [
        "it is not played again, as the final of the season has begun"
    ]
    first = store.matches.get(final.first_match)
    [again] = store.matches.strike([first.number], "the machine was short of memory")
    assert not isinstance(again, str)
    run(store, chosen=settings(deals=21))
    matches = store.seasons.final_matches(league_kit.season(store))
    assert first.deal not in {match.deal for match in matches}
    assert again.deal in {match.deal for match in matches}
    assert len(set(Counter(match.table for match in matches).values())) == 1


@pytest.mark.quick(1)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_at_any_commit_of_a_final_changes_nothing_in_the_end(tmp_path: Path, after: bool) -> None:
    """A final that is killed at one commit in six, before it or after it, ends as one that nobody disturbed."""
    dice = Random(7)
    outcomes = []
    for name, share in (("calm", 0.0), ("killed", 1 / 6)):
        (tmp_path / name).mkdir()
        with league(tmp_path / name, "ant", "bee") as store:
            run(store, games=10, workers=1)
            close(store)
        kills = 0
        while True:
            try:
                with open_league(tmp_path / name / "league.db") as store, killed_at_commits(dice, share, after=after):
                    if run(store, workers=1, chosen=settings(deals=24)).ended.closing:
                        break
            except Killed:
                kills += 1
        assert (kills > 8) == (name == "killed")
        with open_league(tmp_path / name / "league.db") as store:
            season = league_kit.season(store)
            final = final_of(store)
            games = [(game.number, game.entrants, game.ranks) for game in store.games.games("cup-1")]
            assert store.games.done("cup-1") == len(games)
            outcomes.append(
                (
                    replace(final, began=""),
                    store.seasons.final_matches(season),
                    games[final.first_game :],
                    store.games.ratings("cup-1"),
                    [{**item, "since": ""} for item in documents.standings(store)["items"]],
                )
            )
    assert outcomes[0] == outcomes[1]


def test_who_has_had_few_matches_plays_the_final_only_if_a_place_is_left(store: LeagueStore) -> None:
    run(store, games=60)
    rows = documents.standings(store)["items"]
    least = min(row["matches"] for row in rows) + 1
    store.set_control("final_matches", least)
    known = [row["name"] for row in documents.standings(store)["items"] if not row["provisional"]]
    new = [row["name"] for row in rows if row["matches"] < least]
    assert known
    assert new
    assert [one.name for one in finalists(store, 8)] == known + new
    assert [one.name for one in finalists(store, len(known))] == known


def test_finalists_are_those_of_the_standings(store: LeagueStore) -> None:
    run(store, games=40)
    expected = [item["name"] for item in documents.standings(store)["items"]]
    assert [one.name for one in finalists(store, 8)] == expected
    assert [one.name for one in finalists(store, 2)] == expected[:2]
    assert expected[0] not in [one.name for one in finalists(store, 8, frozenset(expected[:1]))]


def test_a_bot_of_the_house_takes_no_place_of_a_version_that_is_better(store: LeagueStore) -> None:
    with store.transaction():
        for bot in ("ape", "auk"):  # of the author of ant
            league_kit.active(store, bot, author="of ant")
    run(store, games=200)
    assert [one.author for one in finalists(store, 8)].count(None) == 2
    rated = [item["name"] for item in documents.standings(store)["items"]]
    most = 1 + max(rated.index("ape/1"), rated.index("auk/1"))
    house = {"greedy/1", "random/1"} & set(rated[:most])
    assert {one.name for one in finalists(store, most) if one.author == "house"} == house


def test_no_finalist_but_the_winner_stands_before_who_is_shown_to_be_better() -> None:
    items = [{"name": name, "rank": rank} for name, rank in zip("abcdef", (1, 2, 2, 2, 5, 6), strict=True)]
    finalists = [{"name": name, "rank": rank} for name, rank in zip("cae", (1, 2, 3), strict=True)]
    better = {("a", "c"), ("a", "b"), *((one, "e") for one in "abcd"), *((one, "f") for one in "abcde")}
    found = documents.finalists_first(finalists, items, better)
    assert [(row["name"], row["rank"]) for row in found] == [
        ("c", 1), ("a", 2), ("b", 3), ("d", 3), ("e", 5), ("f", 6),
    ]  # fmt: skip
    shared = documents.finalists_first([{"name": "a", "rank": 1}, {"name": "e", "rank": 1}], items, better)
    assert [row["name"] for row in shared] == list("aebcdf"), "who has won a final, alone or not, is first"
    level = [{"name": name, "rank": rank} for name, rank in zip("afe", (1, 2, 2), strict=True)]
    assert [(row["name"], row["rank"]) for row in documents.finalists_first(level, items, {("b", "e")})] == [
        ("a", 1), ("f", 2), ("b", 3), ("e", 4), ("c", 5), ("d", 5),
    ]  # fmt: skip


def test_pages_mark_the_same_ratings_as_provisional(store: LeagueStore) -> None:
    run(store, games=60)
    with open_exhibits(store.path) as exhibits:
        for least in (0, 5, 20):
            store.set_control("final_matches", least)
            rows = {row["name"]: row["provisional"] for row in documents.standings(store)["items"]}
            entrants = {entrant.number: entrant.name for entrant in store.finder.entrants("cup-1")}
            page = exhibits.page("cup-1")
            assert page is not None
            assert {entrants[number]: one["provisional"] for number, one in page.members().items()} == rows
        assert any(rows.values())
