"""Tournaments that grow: rounds that are planned, entrants that come and leave, games that are void, and their sums."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.core.errors import StoreError
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.running import Rating, rate
from arena.core.standings.closing import close
from arena.core.store import database
from arena.core.store.records import Claim, Entrant, StoredRound, Tally, Tournament
from arena.core.store.store import Store, open_store
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.planner import plan_further, schedule_of
from arena.core.types import GameResult, SeatResult, Termination
from tests import instant

SWISS = instant.settings(("ann", "bob", "cid", "dan"), format=Swiss(rounds=2, deals=1))
PLAIN = instant.settings()


@pytest.fixture
def swiss(store: Store, tmp_path: Path) -> Tournament:
    return instant.start(store, SWISS, tmp_path / "logs").tournament


@pytest.fixture
def plain(store: Store, tmp_path: Path) -> Tournament:
    return instant.start(store, PLAIN, tmp_path / "logs").tournament


def planned(number: int, first_game: int) -> StoredRound:
    return StoredRound(
        number=number,
        title=f"round {number + 1}",
        deals=1,
        meetings=((number, (0, 1)), (number, (2, 3))),
        byes=(),
        first_game=first_game,
        games=4,
    )


def claim(store: Store, tournament: Tournament) -> Claim:
    [claimed] = store.claim(tournament.id, PLAIN.schedule().game, 1)
    return claimed


def record(store: Store, tournament: Tournament, claimed: Claim) -> None:
    game = PLAIN.schedule().game(claimed.number)
    store.record(claimed, instant.play(instant.job(tournament, PLAIN, game)), game.entrants, 0)


def statuses(store: Store, tournament: Tournament) -> list[str]:
    rows = store._db.execute("SELECT status FROM games WHERE tournament = ? ORDER BY number", (tournament.id,))
    return [status for (status,) in rows]


# Rounds


def test_a_round_that_is_planned_adds_its_games(store: Store, swiss: Tournament) -> None:
    assert (swiss.games, swiss.open) == (0, True)
    for number in range(2):
        store.plan(swiss.id, planned(number, 4 * number))
    assert store.rounds(swiss.id) == [planned(0, 0), planned(1, 4)]
    assert store.tournament(swiss.id).games == 8
    store.plan_no_more(swiss.id)
    assert not store.tournament(swiss.id).open


@pytest.mark.parametrize(("number", "first_game"), [(0, 0), (1, 8), (2, 8), (1, 0)])
def test_a_round_that_does_not_follow_is_refused(store: Store, swiss: Tournament, number: int, first_game: int) -> None:
    store.plan(swiss.id, planned(0, 0))
    with pytest.raises(StoreError, match=f"expected round {number} of tournament {swiss.id} to follow its games"):
        store.plan(swiss.id, planned(number, first_game))
    assert store.rounds(swiss.id) == [planned(0, 0)]
    assert store.tournament(swiss.id).games == 4


def test_a_tournament_that_is_closed_gets_no_round_and_no_entrant(store: Store, swiss: Tournament) -> None:
    store.plan(swiss.id, planned(0, 0))
    store.plan_no_more(swiss.id)
    for refused in (
        lambda: store.plan(swiss.id, planned(1, 4)),
        lambda: store.enter(swiss.id, replace(store.entrants(swiss.id)[0], number=4, name="eve")),
    ):
        with pytest.raises(StoreError, match="to be open, got: all its games are planned"):
            refused()
    assert store.rounds(swiss.id) == [planned(0, 0)]
    assert len(store.entrants(swiss.id)) == 4


def test_a_tournament_is_not_finished_while_more_may_be_planned(store: Store, swiss: Tournament) -> None:
    with pytest.raises(StoreError, match="expected every game of tournament"):
        store.finish(swiss.id)


def test_the_same_results_plan_the_same_rounds_again(store: Store, swiss: Tournament) -> None:
    schedule = schedule_of(store, swiss, SWISS)
    assert plan_further(store, swiss.id, schedule) is not None
    assert plan_further(store, swiss.id, schedule) is None, "round 2 needs the results of round 1"
    assert store.tournament(swiss.id).open
    [first] = store.rounds(swiss.id)
    assert schedule_of(store, store.tournament(swiss.id), SWISS).rounds[0].stored() == first


# Entrants


def test_somebody_enters_with_a_rating_of_its_own(store: Store, swiss: Tournament) -> None:
    eve = Entrant(number=4, name="eve", version="1", digest="e" * 64, spec={}, start=Rating(31.0, 2.5))
    store.enter(swiss.id, eve)
    assert store.entrants(swiss.id)[4] == eve
    assert store.ratings(swiss.id)[4] == Rating(31.0, 2.5)
    assert store.rating_after(swiss.id, 4, 0) == Rating(31.0, 2.5)
    assert store.tallies(swiss.id)[4] == Tally(4)
    with pytest.raises(sqlite3.IntegrityError):
        store.enter(swiss.id, replace(eve, number=5))


def test_who_leaves_plays_no_game_that_was_not_begun(store: Store, plain: Tournament, tmp_path: Path) -> None:
    first, second, third = (claim(store, plain) for _ in range(3))
    record(store, plain, second)
    store.release(first)
    gone = PLAIN.schedule().game(first.number).entrants[0]
    store.leave(plain.id, gone)
    assert statuses(store, plain)[0] == "void", "it was given back"
    record(store, plain, third)  # it was running
    store.leave(plain.id, gone)
    runner = instant.runner(store, instant.Begun(plain, 0, True, None), PLAIN)  # type: ignore[arg-type]
    others = [game.number for game in PLAIN.schedule() if gone not in game.entrants]
    assert {played.game.number for played in runner.run()} == set(others) - {second.number, third.number}
    expected = dict.fromkeys([*others, second.number, third.number], "done")
    assert statuses(store, plain) == [expected.get(number, "void") for number in range(plain.games)]
    assert store.rated(plain.id) == plain.games
    close(store, plain)


# Void games


def test_ratings_pass_over_a_void_game(store: Store, plain: Tournament) -> None:
    claims = [claim(store, plain) for _ in range(4)]
    record(store, plain, claims[2])
    record(store, plain, claims[0])
    assert store.rated(plain.id) == 1
    store.void(claims[1], "a bot left")
    assert store.rated(plain.id) == 3
    store.void(claims[3], "a bot left")
    assert store.rated(plain.id) == 4
    again = [Rating()] * 3
    for _, entrants, seats in store.results(plain.id):
        after = rate([again[entrant] for entrant in entrants], tuple(seat.rank for seat in seats))
        for entrant, rating in zip(entrants, after, strict=True):
            again[entrant] = rating
    assert store.ratings(plain.id) == again
    assert statuses(store, plain) == ["done", "void", "done", "void"]


def test_a_void_game_has_no_result_and_is_claimed_no_more(store: Store, plain: Tournament) -> None:
    first = claim(store, plain)
    store.void(first, "a bot left")
    for refused in (
        lambda: record(store, plain, first),
        lambda: store.release(first),
        lambda: store.void(first, "again"),
    ):
        with pytest.raises(StoreError, match="to be running, attempt 1, got: void, attempt 1"):
            refused()
    assert store.resume(plain.id) == []
    assert claim(store, plain).number == 1
    assert list(store.results(plain.id)) == []
    assert (store.tallies(plain.id), list(store.pairs(plain.id))) == ([Tally(0), Tally(1), Tally(2)], [])
    assert store._db.execute("SELECT reason FROM games WHERE id = ?", (first.game,)).fetchone() == ("a bot left",)


def test_only_the_last_claim_makes_a_game_void_and_no_result_is_taken_back(store: Store, plain: Tournament) -> None:
    first = claim(store, plain)
    store.release(first)
    with pytest.raises(StoreError, match="to be running, attempt 1, got: planned"):
        store.void(first, "too early")
    again = claim(store, plain)
    with pytest.raises(StoreError, match="to be running, attempt 1, got: running, attempt 2"):
        store.void(first, "too late")
    record(store, plain, again)
    with pytest.raises(StoreError, match="to be running, attempt 2, got: done"):
        store.void(again, "it lost")


def test_a_tournament_with_void_games_is_finished(store: Store, plain: Tournament) -> None:
    store.void(claim(store, plain), "a bot left")
    runner = instant.runner(store, instant.Begun(plain, 0, True, None), PLAIN)  # type: ignore[arg-type]
    assert len(list(runner.run())) == plain.games - 1
    close(store, plain)
    assert store.tournament(plain.id).status == "finished"


def test_rounds_are_planned_after_one_with_a_void_game(store: Store, swiss: Tournament) -> None:
    schedule = schedule_of(store, swiss, SWISS)
    plan_further(store, swiss.id, schedule)
    store.void(store.claim(swiss.id, schedule.game, 1)[0], "the table broke")
    runner = instant.runner(store, instant.Begun(store.tournament(swiss.id), 0, True, None), SWISS)  # type: ignore[arg-type]
    assert len(list(runner.run())) == 7
    assert len(store.rounds(swiss.id)) == 2
    close(store, swiss)


# Sums


def tallies_of(games: list[tuple[int, tuple[int, ...], GameResult]], entrants: int) -> list[Tally]:
    """The sums of each entrant, from the games: number of the deal, entrants by seat, result."""
    found = []
    for entrant in range(entrants):
        seats = [
            (seat, [other.rank for other in result.seats].count(1))
            for _, seated, result in games
            for seat, who in zip(result.seats, seated, strict=True)
            if who == entrant
        ]
        scores = [seat.score for seat, _ in seats if seat.score is not None]
        off_turn = [seat.off_turn_cpu_ms for seat, _ in seats if seat.off_turn_cpu_ms is not None]
        found.append(
            Tally(
                entrant,
                games=len(seats),
                wins=sum(seat.rank == 1 and first == 1 for seat, first in seats),
                draws=sum(seat.rank == 1 and first > 1 for seat, first in seats),
                forfeits=sum(seat.forfeit is not None for seat, _ in seats),
                decisions=sum(seat.decisions for seat, _ in seats),
                total_ms=sum(seat.total_ms for seat, _ in seats),
                max_ms=max((seat.max_ms for seat, _ in seats), default=0.0),
                score=sum(scores),
                scored=len(scores),
                measured=len(off_turn),
                off_turn_cpu_ms=sum(off_turn),
                others_ms=sum(
                    other.total_ms
                    for _, seated, result in games
                    if entrant in seated and result.seats[0].off_turn_cpu_ms is not None
                    for other, who in zip(result.seats, seated, strict=True)
                    if who != entrant
                ),
            )
        )
    return found


def pairs_of(games: list[tuple[int, tuple[int, ...], GameResult]]) -> set[PairResult]:
    """The sums of each pair by deal, counted in another way than the store does."""
    counts: Counter[tuple[int, int, int, str]] = Counter()
    for deal, seated, result in games:
        for (one, mine), (other, theirs) in combinations(zip(seated, result.ranks, strict=True), 2):
            if one > other:
                one, other, mine, theirs = other, one, theirs, mine
            how = "better" if mine < theirs else "worse" if mine > theirs else "equal"
            counts[deal, one, other, how] += 1
    return {
        PairResult(*key, *(counts[*key, how] for how in ("better", "equal", "worse")))
        for key in {key[:3] for key in counts}
    }


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), players=st.integers(2, 5))
def test_sums_are_those_of_the_seats_whatever_comes_in_whatever_order(
    tmp_path_factory: pytest.TempPathFactory, seed: int, players: int
) -> None:
    dice = random.Random(seed)
    folder = tmp_path_factory.mktemp("sums")
    setting = instant.settings(("ann", "bob", "cid", "dan", "eve"), players=players, deals=dice.choice([1, 2]))
    with pytest.MonkeyPatch.context() as patch, open_store(folder / "arena.db") as store:
        patch.setattr(database, "_WRITER_SETTINGS", ())
        begun = instant.start(store, setting, folder)
        schedule = setting.schedule()
        claims: list[Claim] = []
        while more := store.claim(begun.tournament.id, schedule.game, 10):
            claims += more
        dice.shuffle(claims)
        games = []
        for claimed in claims[: dice.randrange(len(claims))]:
            game = schedule.game(claimed.number)
            result = drawn(dice, claimed, players)
            store.record(claimed, result, game.entrants, 0)
            games.append((game.deal, game.entrants, result))
        assert store.tallies(begun.tournament.id) == tallies_of(games, 5)
        found = list(store.pairs(begun.tournament.id))
        assert len(found) == len(set(found))
        assert set(found) == pairs_of(games)
        only = [pair for pair in found if pair.deal == 1]
        assert list(store.pairs(begun.tournament.id, range(1, 2))) == only


def drawn(dice: random.Random, claimed: Claim, players: int) -> GameResult:
    points = [dice.randrange(3) for _ in range(players)]
    is_measured = dice.random() < 0.7
    return GameResult(
        game=claimed.game,
        termination=Termination.FINISHED,
        seats=tuple(
            SeatResult(
                rank=1 + sum(other > mine for other in points),
                decisions=dice.randrange(100),
                total_ms=float(dice.randrange(10_000)),
                max_ms=float(dice.randrange(1_000)),
                forfeit=instant.forfeit(seat) if dice.random() < 0.2 else None,
                score=dice.choice([None, dice.randrange(-5, 50)]),
                off_turn_cpu_ms=dice.randrange(5_000) if is_measured else None,
            )
            for seat, mine in enumerate(points)
        ),
        turns=1,
        actions=1,
        seconds=0.5,
        play_digest="d",
        log="l",
        log_sha256="s",
    )


SUMMED = {
    "finished": instant.settings(("ann", "bob", "cid", "dan"), players=3, deals=3),
    "half-way": instant.settings(("ann", "bob", "ann"), deals=4),
    "not begun": instant.settings(("ann", "bob"), deals=1),
}


def test_a_level_final_is_played_again_in_a_round_of_its_own(store: Store, tmp_path: Path) -> None:
    """Rounds that nobody could plan before: the store holds as many as the results demand."""
    setting = instant.settings(("bob", "cid"), format=Knockout(deals=1))
    counted: set[int] = set()
    for seed in range(20):
        if {1, 2} <= counted:
            break
        seeded = replace(setting, seed=str(seed))
        begun = instant.start(store, seeded, tmp_path)
        list(instant.runner(store, begun, seeded).run())
        close(store, begun.tournament)
        counted.add(len(store.rounds(begun.tournament.id)))
    assert {1, 2} <= counted


def test_an_extension_is_finished_even_if_what_it_extends_was_removed(store: Store, tmp_path: Path) -> None:
    extension = Extension(deals=2, extends="removed", unchanged=(0, 1), played=1)
    setting = instant.settings(("ann", "bob", "cid"), format=extension)
    begun = instant.start(store, setting, tmp_path)
    games = len(list(instant.runner(store, begun, setting).run()))
    close(store, begun.tournament)
    assert games == setting.games
    assert store.tournament(begun.tournament.id).status == "finished"
