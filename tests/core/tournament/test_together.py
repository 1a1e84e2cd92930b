"""Matches stay on one worker of a cluster, as long as it lives, and no game is left over."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.core.store.records import Tournament
from arena.core.store.store import Store, open_store
from arena.core.tournament.lanes import Work
from arena.core.tournament.planner import schedule_of
from arena.core.tournament.runner import Scheduled
from arena.core.tournament.together import MatchWorkers, of_schedule
from tests import instant, service_kit

SETTINGS = instant.settings(("ann", "bob", "cid"), deals=7)
SCHEDULE = SETTINGS.schedule()


def supply(store: Store, folder: Path) -> Scheduled:
    return continued(store, instant.start(store, SETTINGS, folder / "logs").tournament)


def continued(store: Store, tournament: Tournament) -> Scheduled:
    schedule = schedule_of(store, tournament, SETTINGS)
    make_job = lambda game: instant.job(tournament, SETTINGS, game)  # noqa: E731
    return Scheduled(store, tournament.id, schedule, make_job, "block", "rate", None, same_worker=True, room=None)


def match(number: int) -> tuple[tuple[int, ...], int]:
    game = SCHEDULE.game(number)
    return tuple(sorted(game.entrants)), game.deal


def test_a_match_stays_with_the_worker_that_began_it(tmp_path: Path) -> None:
    played: dict[tuple[tuple[int, ...], int], set[str]] = {}
    with open_store(tmp_path / "arena.db") as store:
        games = supply(store, tmp_path)
        idle = 0
        while games.left and idle < 3:
            for worker, limit in (("w0", 3), ("w1", 1), ("w2", 2)):
                claimed = games.claim(limit, worker, [f"w{at}" for at in range(3) if f"w{at}" != worker])
                idle = 0 if claimed else idle + 1
                for work in claimed:
                    played.setdefault(match(work.claim.number), set()).add(worker)
    assert games.left == 0
    assert len(played) == 3 * 7
    assert all(len(workers) == 1 for workers in played.values())
    assert {worker for workers in played.values() for worker in workers} == {"w0", "w1", "w2"}


def test_what_a_worker_leaves_that_is_gone_goes_to_others(tmp_path: Path) -> None:
    with open_store(tmp_path / "arena.db") as store:
        games = supply(store, tmp_path)
        first = games.claim(100, "w0", ["w1"])
        assert len(first) == 7
        assert [work.claim.number for work in games.claim(100, "w1", ["w0"])] == list(range(14, 21))
        games.release(first[0].claim)
        assert [work.claim.number for work in games.claim(1, "w1", ["w0"])] == [21]
        assert games.claim(100, "w1", [])[0].claim.number == 0


OTHERS = {"w0": ["w1", "w2"], "w1": ["w0", "w2"], "w2": ["w0", "w1"]}


def claimed(games: Scheduled, rounds: int) -> list[Work]:
    """Has three workers claim games in turn."""
    works = []
    for _ in range(rounds):
        for worker, others in OTHERS.items():
            for work in games.claim(2, worker, others):
                works.append(replace(work, claim=replace(work.claim, worker=worker)))
    return works


def take(games: Scheduled, work: Work, homes: dict[object, set[str]]) -> None:
    """Brings a result, and notes who played a game of its match."""
    homes.setdefault(match(work.claim.number), set()).add(work.claim.worker)
    games.take(work.claim, instant.play(work.job))


def test_a_match_stays_at_home_when_games_are_given_back_and_when_the_tournament_goes_on(tmp_path: Path) -> None:
    homes: dict[object, set[str]] = {}
    with open_store(tmp_path / "arena.db") as store:
        games = supply(store, tmp_path)
        works = claimed(games, 6)
        for number, work in enumerate(works):
            if number % 3 == 0:
                take(games, work, homes)
            elif number % 3 == 1:
                games.release(work.claim)
        claimed(games, 2)
    with open_store(tmp_path / "arena.db") as store:
        (tournament,) = store.unfinished_ones()
        store.resume(tournament.id)
        again = continued(store, tournament)
        while again.left:
            works = claimed(again, 1)
            assert works
            for work in works:
                take(again, work, homes)
    assert len(homes) == 3 * 7
    assert all(len(workers) == 1 for workers in homes.values())
    assert again._homes is not None
    assert not again._homes._begun


@given(st.lists(st.tuples(st.integers(0, SCHEDULE.total - 1), st.sampled_from("abc")), max_size=60))
def test_somebody_may_always_claim_a_game(claims: list[tuple[int, str]]) -> None:
    homes = MatchWorkers(of_schedule(SCHEDULE))
    for number, worker in claims:
        if homes.fits(number, worker, {"a", "b", "c"} - {worker}):
            homes.claim(number, worker)
        able = [one for one in "abc" if homes.fits(number, one, {"a", "b", "c"} - {one})]
        assert len(able) in (1, 3)
        assert homes.fits(number, "d", ())


def test_a_league_keeps_its_matches_on_a_worker_too(tmp_path: Path) -> None:
    played: dict[int, set[str]] = {}
    with service_kit.league(tmp_path, "fox", "owl", "cat") as store:
        running = service_kit.Running(store, service_kit.play, same_worker=True)
        for _ in range(4):
            running.planner.plan(4)
        games = running.supply
        games.count()
        planned, idle = games.left, 0
        while games.left and idle < 3:
            for worker in ("w0", "w1", "w2"):
                claimed = games.claim(1, worker, [f"w{at}" for at in range(3) if f"w{at}" != worker])
                idle = 0 if claimed else idle + 1
                for work in claimed:
                    played.setdefault(store.matches.match_of(work.claim.number)[0], set()).add(worker)
    assert games.left == 0
    assert planned >= 8
    assert all(len(workers) == 1 for workers in played.values())
    assert {worker for workers in played.values() for worker in workers} == {"w0", "w1", "w2"}


def test_a_league_that_goes_on_keeps_its_matches_where_they_were(tmp_path: Path) -> None:
    played: dict[int, set[str]] = {}
    with service_kit.league(tmp_path, "fox", "owl", "cat") as store:
        running = service_kit.Running(store, service_kit.play, same_worker=True)
        for _ in range(4):
            running.planner.plan(4)
        first = list(OTHERS)
        for turn, workers in enumerate((first, first[::-1], first[1:] + first[:1], first)):
            running = service_kit.Running(store, service_kit.play, same_worker=True)
            games = running.supply
            games.count()
            for worker in workers:
                for work in games.claim(1, worker, OTHERS[worker]):
                    if turn % 2:
                        played.setdefault(store.matches.match_of(work.claim.number)[0], set()).add(worker)
                        games.take(replace(work.claim, worker=worker), service_kit.play(work.job))
                    else:
                        games.release(work.claim)
    assert len(played) >= 3
    assert all(len(workers) == 1 for workers in played.values())
