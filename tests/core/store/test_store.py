"""What the store promises: claims, results that count once, ratings of the finished prefix."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest

from arena.core.errors import StoreError
from arena.core.ratings.running import Rating, rate
from arena.core.store.records import Claim, Tournament, canonical
from arena.core.store.store import Store, open_reader
from arena.core.types import GameResult, Termination
from tests import instant

SETTINGS = instant.settings()


@pytest.fixture
def tournament(store: Store, tmp_path: Path) -> Tournament:
    return instant.start(store, SETTINGS, tmp_path / "logs").tournament


def claim(store: Store, tournament: Tournament) -> Claim:
    [claimed] = store.claim(tournament.id, SETTINGS.schedule().game, 1)
    return claimed


def result(tournament: Tournament, claimed: Claim) -> tuple[GameResult, tuple[int, ...]]:
    game = SETTINGS.schedule().game(claimed.number)
    return instant.play(instant.job(tournament, SETTINGS, game)), game.entrants


def record(store: Store, tournament: Tournament, claimed: Claim) -> GameResult:
    played, entrants = result(tournament, claimed)
    store.record(claimed, played, entrants, 0.5)
    return played


def rows(store: Store, query: str, *parameters: object) -> list[tuple[object, ...]]:
    with sqlite3.connect(store.path) as connection:
        found = connection.execute(query, parameters).fetchall()
    connection.close()
    return found


def test_a_game_has_a_row_from_its_claim_on(store: Store, tournament: Tournament) -> None:
    assert tournament.games == SETTINGS.schedule().total == 12
    for number in range(tournament.games):
        assert rows(store, "SELECT count(*) FROM games") == [(number,)]
        claim(store, tournament)
    claimed = rows(store, "SELECT id, number, seating, deal, rotation, status, attempt FROM games ORDER BY number")
    assert claimed == [
        (
            f"{tournament.id}-{game.number:06d}",
            game.number,
            canonical(game.entrants),
            game.deal,
            game.rotation,
            "running",
            1,
        )
        for game in SETTINGS.schedule()
    ]
    assert [entrant.name for entrant in store.entrants(tournament.id)] == ["ann", "bob", "cid"]
    assert store.tournament() == store.tournament(tournament.id) == store.unfinished(SETTINGS.digest) == tournament


def test_games_are_claimed_in_schedule_order_and_only_once(store: Store, tournament: Tournament) -> None:
    claims = [claim(store, tournament) for _ in range(tournament.games)]
    assert [claimed.number for claimed in claims] == list(range(tournament.games))
    assert {claimed.attempt for claimed in claims} == {1}
    assert store.claim(tournament.id, SETTINGS.schedule().game, 1) == []
    assert rows(store, "SELECT count(*) FROM games") == [(12,)]


def test_a_released_game_is_claimed_again_as_another_attempt(store: Store, tournament: Tournament) -> None:
    first = claim(store, tournament)
    store.release(first)
    again = claim(store, tournament)
    assert (again.game, again.attempt) == (first.game, 2)
    with pytest.raises(StoreError, match=r"expected game .* to be running, attempt 1, got: running, attempt 2"):
        store.release(first)


def test_what_was_given_back_is_claimed_before_what_never_was(store: Store, tournament: Tournament) -> None:
    first, second, third = (claim(store, tournament) for _ in range(3))
    store.release(third)
    store.release(first)
    assert [claim(store, tournament).number for _ in range(3)] == [0, 2, 3]
    record(store, tournament, second)
    assert store.resume(tournament.id) == [f"{tournament.id}-{number:06d}" for number in (0, 2, 3)]
    assert [claim(store, tournament).number for _ in range(4)] == [0, 2, 3, 4]


def numbers(store: Store, tournament: Tournament, limit: int) -> list[int]:
    return [claimed.number for claimed in store.claim(tournament.id, BLOCKS.schedule().game, limit)]


BLOCKS = instant.settings(("ann", "bob"), deals=5)  # two blocks of five games


@pytest.fixture
def blocks(store: Store, tmp_path: Path) -> Tournament:
    return instant.start(store, BLOCKS, tmp_path / "logs").tournament


def test_several_games_of_one_block_are_claimed_at_a_time(store: Store, blocks: Tournament) -> None:
    assert numbers(store, blocks, 3) == [0, 1, 2]
    assert numbers(store, blocks, 3) == [3, 4], "a claim went beyond its block"
    assert numbers(store, blocks, 10) == [5, 6, 7, 8, 9]
    assert numbers(store, blocks, 10) == []
    assert rows(store, "SELECT number, attempt, status FROM games") == [(n, 1, "running") for n in range(10)]


def test_what_was_given_back_is_claimed_in_runs_of_one_block_and_one_attempt(store: Store, blocks: Tournament) -> None:
    schedule = BLOCKS.schedule().game
    first, second = (store.claim(blocks.id, schedule, 5) for _ in range(2))
    for claimed in (first[1], first[3], first[4], *second):
        store.release(claimed)
    assert numbers(store, blocks, 10) == [1], "it claimed games that do not follow each other"
    assert numbers(store, blocks, 10) == [3, 4], "it claimed beyond the block"
    [again] = store.claim(blocks.id, schedule, 1)
    assert (again.number, again.attempt) == (5, 2)
    store.release(again)
    assert numbers(store, blocks, 10) == [5]
    assert numbers(store, blocks, 2) == [6, 7]
    assert numbers(store, blocks, 10) == [8, 9]
    assert dict(rows(store, "SELECT number, attempt FROM games WHERE number >= 5")) == {5: 3, 6: 2, 7: 2, 8: 2, 9: 2}


def test_a_huge_tournament_begins_at_once(store: Store, tmp_path: Path) -> None:
    settings = instant.settings(tuple(f"bot{number}" for number in range(10_000)), deals=10)
    begun = instant.start(store, settings, tmp_path / "logs")
    assert begun.tournament.games == 999_900_000
    claims = [claim for _ in range(3) for claim in store.claim(begun.tournament.id, settings.schedule().game, 3)]
    assert [(claimed.number, claimed.deal, claimed.rotation) for claimed in claims] == [
        *((deal, deal, 0) for deal in range(3)),
        *((deal, deal, 0) for deal in range(3, 5)),  # the first stage has five deals
        *((5 + deal, deal, 1) for deal in range(3)),
    ]
    assert store.path.stat().st_size < 20_000_000
    assert store.ratings(begun.tournament.id) == [Rating()] * 10_000


def test_a_result_is_stored_with_its_seats(store: Store, tournament: Tournament) -> None:
    played = record(store, tournament, claim(store, tournament))
    [row] = rows(
        store, "SELECT status, termination, turns, actions, play_digest, log_sha256, log FROM games WHERE number = 0"
    )
    assert row == ("done", played.termination, 20, 30, played.play_digest, played.log_sha256, played.log)
    [(_, entrants, seats)] = store.results(tournament.id)
    assert (entrants, seats) == ((0, 1), played.seats)
    assert store.tournament().seconds == 0.5
    assert store.done(tournament.id) == 1


def test_scores_are_stored_and_read_back(store: Store, tournament: Tournament) -> None:
    for scores in ((26, -3), (0, None), (None, None)):
        claimed = claim(store, tournament)
        played, entrants = result(tournament, claimed)
        seats = tuple(
            msgspec.structs.replace(seat, score=score) for seat, score in zip(played.seats, scores, strict=True)
        )
        store.record(claimed, msgspec.structs.replace(played, seats=seats), entrants, 0)
    read = [tuple(seat.score for seat in seats) for *_, seats in store.results(tournament.id)]
    assert read == [(26, -3), (0, None), (None, None)]


def test_a_forfeit_is_stored_with_all_its_author_needs(store: Store, tournament: Tournament) -> None:
    claimed = claim(store, tournament)
    played, entrants = result(tournament, claimed)
    guilty = msgspec.structs.replace(played.seats[1], forfeit=instant.forfeit(1))
    store.record(claimed, msgspec.structs.replace(played, seats=(played.seats[0], guilty)), entrants, 0)
    assert (1, instant.forfeit(1)) in store.forfeits(tournament.id)


def test_a_second_delivery_is_refused_and_changes_nothing(store: Store, tournament: Tournament) -> None:
    claimed = claim(store, tournament)
    record(store, tournament, claimed)
    before = dump(store)
    with pytest.raises(StoreError, match="to be running, attempt 1, got: done, attempt 1"):
        record(store, tournament, claimed)
    assert dump(store) == before


def test_a_result_of_an_earlier_claim_is_refused(store: Store, tournament: Tournament) -> None:
    stale = claim(store, tournament)
    assert store.resume(tournament.id) == [stale.game]
    with pytest.raises(StoreError, match="got: planned, attempt 1"):
        record(store, tournament, stale)
    current = claim(store, tournament)
    with pytest.raises(StoreError, match="got: running, attempt 2"):
        record(store, tournament, stale)
    record(store, tournament, current)


def test_a_result_without_claim_is_refused(store: Store, tournament: Tournament) -> None:
    made_up = Claim(game=f"{tournament.id}-000003", tournament=tournament.id, number=3, deal=0, rotation=1, attempt=1)
    with pytest.raises(StoreError, match="got: no such game"):
        record(store, tournament, made_up)


def test_a_result_of_another_game_is_refused(store: Store, tournament: Tournament) -> None:
    one, other = claim(store, tournament), claim(store, tournament)
    played, entrants = result(tournament, other)
    with pytest.raises(StoreError, match="expected the result of game"):
        store.record(one, played, entrants, 0)


def test_an_interrupted_game_is_no_result(store: Store, tournament: Tournament) -> None:
    claimed = claim(store, tournament)
    played, entrants = result(tournament, claimed)
    with pytest.raises(StoreError, match="was interrupted, which is none"):
        store.record(claimed, msgspec.structs.replace(played, termination=Termination.INTERRUPTED), entrants, 0)
    assert store.done(tournament.id) == 0


def test_ratings_move_by_the_finished_prefix_alone(store: Store, tournament: Tournament) -> None:
    first, second, third = (claim(store, tournament) for _ in range(3))
    record(store, tournament, third)
    record(store, tournament, second)
    assert store.tournament().rated == 0
    assert store.ratings(tournament.id) == [Rating()] * 3
    record(store, tournament, first)
    assert store.tournament().rated == 3
    assert rows(store, "SELECT DISTINCT number FROM ratings ORDER BY number") == [(0,), (1,), (2,)]


def test_ratings_do_not_depend_on_the_order_of_finishing(store: Store, tournament: Tournament) -> None:
    claims = [claim(store, tournament) for _ in range(tournament.games)]
    expected = [Rating()] * 3
    for claimed in claims:
        played, entrants = result(tournament, claimed)
        for entrant, rating in zip(entrants, rate([expected[e] for e in entrants], played.ranks), strict=True):
            expected[entrant] = rating
    for claimed in claims[1::2] + claims[::2][::-1]:
        record(store, tournament, claimed)
    assert store.ratings(tournament.id) == expected


def test_a_tournament_is_finished_only_when_all_is_done(store: Store, tournament: Tournament) -> None:
    for _ in range(tournament.games - 1):
        record(store, tournament, claim(store, tournament))
    with pytest.raises(StoreError, match="expected every game of tournament"):
        store.finish(tournament.id)
    record(store, tournament, claim(store, tournament))
    store.finish(tournament.id)
    assert store.unfinished(SETTINGS.digest) is None
    assert store.tournament().status == "finished"
    assert store.tournament().finished is not None


def test_unknown_tournaments_are_refused_with_those_there_are(store: Store, tournament: Tournament) -> None:
    with pytest.raises(StoreError, match=f"expected a tournament 'nope', got none .* the latest are {tournament.id}"):
        store.tournament("nope")


def test_an_empty_database_has_no_tournament(store: Store) -> None:
    with pytest.raises(StoreError, match="expected a tournament, got none"):
        store.tournament()


def test_a_reader_sees_a_running_tournament(store: Store, tournament: Tournament) -> None:
    record(store, tournament, claim(store, tournament))
    with open_reader(store.path) as reader, reader.snapshot():
        assert reader.done(tournament.id) == 1
        record(store, tournament, claim(store, tournament))
        assert reader.done(tournament.id) == 1, "a snapshot moved"


def dump(store: Store) -> list[list[tuple[object, ...]]]:
    return [rows(store, f"SELECT * FROM {table}") for table in ("tournaments", "games", "seats", "ratings")]
