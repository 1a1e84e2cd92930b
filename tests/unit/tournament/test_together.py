"""Matches stay on one worker of a cluster, as long as it lives, and no game is left over."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from arena.store.store import Store, open_store
from arena.tournament.planner import schedule_of
from arena.tournament.runner import Scheduled
from arena.tournament.together import Homes, of_schedule
from tests import instant, service_kit

SETTINGS = instant.settings(("ann", "bob", "cid"), deals=7)
SCHEDULE = SETTINGS.schedule()


def supply(store: Store, folder: Path) -> Scheduled:
    begun = instant.start(store, SETTINGS, folder / "logs")
    schedule = schedule_of(store, begun.tournament, SETTINGS)
    make_job = lambda game: instant.job(begun.tournament, SETTINGS, game)  # noqa: E731
    return Scheduled(store, begun.tournament.id, schedule, make_job, "block", "rate", None, same_worker=True)


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


@given(st.lists(st.tuples(st.integers(0, SCHEDULE.total - 1), st.sampled_from("abc")), max_size=60))
def test_somebody_may_always_claim_a_game(claims: list[tuple[int, str]]) -> None:
    homes = Homes(of_schedule(SCHEDULE))
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
