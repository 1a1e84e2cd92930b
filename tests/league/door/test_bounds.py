"""No request holds up the door: what one may cost is bounded, whatever the league has grown to."""

from __future__ import annotations

import hashlib
import select
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.core import files
from arena.core.errors import DoorError
from arena.league.door.limits import LIMITS, MOST_BOTS, MOST_OPEN, MOST_WAITING, Usage, orders_of
from arena.league.door.messages import Serve, Serving
from arena.league.door.published import LOOKED_AT, PART, File, Published
from arena.league.door.refusals import Refusal
from arena.league.door.remote_client import RemoteClient
from arena.league.door.tokens import hash_of
from tests.door_kit import League, answering, asked, client, digest_of, opened


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path / "cup")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The sizes of all documents that are read."""
    sizes: list[int] = []
    original = files.read

    def counted(*arguments: Any, **options: Any) -> bytes:
        data = original(*arguments, **options)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(files, "read", counted)
    return sizes


def pages(league: League, count: int, rows: int = 20, bot: str = "fox", **more: Any) -> None:
    """Publishes games of the author anna, who has the bots fox and owl."""
    league.publish("authors/anna/status.json", {"versions": [{"version": f"{b}/1", "bot": b} for b in ("fox", "owl")]})
    for page in range(count):
        games = [{"game": f"g{page}-{n}", "bot": bot, "lost": False, **more} for n in range(rows)]
        league.publish(f"authors/anna/games-{100_000 + page}.json", {"games": games})


# Lists of games


def test_a_search_that_finds_nothing_looks_at_some_pages_and_says_where_to_go_on(
    league: League, read: list[int]
) -> None:
    pages(league, 300, rows=50, padding="x" * 200)
    published = Published(league.folder / "published")
    after, requests = "", 0
    while True:
        read.clear()
        answer = published.games("anna", bot="owl", after=after)
        assert answer.games == ()
        assert sum(read) <= LOOKED_AT + max(read, default=0)
        requests += 1
        if not answer.next:
            break
        assert answer.next != after
        after = answer.next
    assert requests > 3, "it was partial"


def test_small_pages_are_counted_too(league: League, read: list[int]) -> None:
    pages(league, 500, rows=1)
    answer = Published(league.folder / "published").games("anna", only="lost")
    assert answer.next
    assert len(read) <= 100


def test_partial_answers_have_every_game_once(league: League) -> None:
    pages(league, 60, rows=30, padding="x" * 500)
    published = Published(league.folder / "published")
    for limit in (1, 7, 100):
        after, found = "", []
        while len(found) < 500:
            answer = published.games("anna", after=after, limit=limit)
            assert len(answer.games) <= limit
            found += [game["game"] for game in answer.games]
            after = answer.next
        everything = [f"g{page}-{n}" for page in range(59, -1, -1) for n in range(29, -1, -1)]
        assert found == everything[: len(found)]


def test_the_client_follows_partial_answers_to_its_limit(league: League) -> None:
    """What stands on the oldest page only is found, and nobody has to ask again."""
    anna = league.author("anna")
    pages(league, 120, rows=50, padding="x" * 200)
    rare = [{"game": f"rare-{n}", "bot": "owl", "lost": True} for n in range(3)]
    league.publish("authors/anna/games-99999.json", {"games": rare})
    with opened(league) as door, client(door, anna) as connection:
        assert [game["game"] for game in connection.games(bot="owl", most=20)] == ["rare-2", "rare-1", "rare-0"]
        assert [game["game"] for game in connection.games(only="lost", most=2)] == ["rare-2", "rare-1"]


def test_a_long_search_tells_once_that_it_has_to_wait(league: League) -> None:
    anna = league.author("anna")
    pages(league, 120, rows=50, padding="x" * 200)
    told: list[str] = []
    with opened(league) as door, client(door, anna, tell=told.append) as connection:
        for _ in range(3):
            with suppress(Refusal):
                while True:
                    door.door._usage.take(hash_of(anna), "requests", 1, time.monotonic())
            assert list(connection.games(only="lost")) == []
    assert told == ["expected at most 5 requests a second, 20 at once, got: more; waiting 1 s"]


def test_a_bot_that_the_author_does_not_have_costs_no_search(league: League, read: list[int]) -> None:
    pages(league, 30)
    answer = Published(league.folder / "published").games("anna", bot="nobody")
    assert (answer.games, answer.next) == ((), "")
    assert len(read) == 1


def test_an_answer_is_bounded_whatever_bots_have_printed(league: League) -> None:
    pages(league, 3, rows=60, last_words=["é" * 400] * 20)
    published = Published(league.folder / "published")
    after, count = "", 0
    while True:
        answer = published.games("anna", after=after)
        assert len(msgspec.json.encode(answer)) <= 2**20
        count += len(answer.games)
        assert answer.next != after
        after = answer.next
        if not after:
            break
    assert count == 180


def test_what_is_asked_often_stays_while_others_look_through_their_games(league: League, read: list[int]) -> None:
    token = league.author("anna")
    pages(league, 100, rows=50, padding="x" * 2_000)
    published = Published(league.folder / "published")
    assert published.author_of(hash_of(token)) == "anna"
    after = ""
    for _ in range(40):
        after = published.games("anna", only="lost", after=after).next
        read.clear()
        assert published.author_of(hash_of(token)) == "anna"
        assert read == []


# Logs and reports


def test_a_log_is_read_whole_once_and_then_only_the_part_that_is_asked_for(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(range(256)) * 8_000
    league.publish("logs/t-1.jsonl.zst", data)
    published = Published(league.folder / "published")
    log = published.log("anna", "t-1")
    assert (log.size, log.digest) == (len(data), hashlib.sha256(data).hexdigest())
    with monkeypatch.context() as patch:
        patch.setattr(files.Limited, "chunks", None)
        for begin in (0, PART, len(data) - 10, len(data)):
            assert published.part(log, begin) == data[begin : begin + PART]
            assert published.log("anna", "t-1") == log
    league.publish("logs/t-1.jsonl.zst", b"new")
    assert published.log("anna", "t-1").digest == hashlib.sha256(b"new").hexdigest()
    for gone in (log, File(log.path.with_name("t-2"), 3, log.digest)):
        with pytest.raises(ConnectionError):
            published.part(gone, 0)


# Archives


def test_a_check_of_an_archive_holds_up_nobody(league: League) -> None:
    """An archive of 4 KB may hold 128 MiB. While it is read, the door answers others, and its author too."""
    anna, ben = league.author("anna"), league.author("ben")
    reading, go_on = threading.Event(), threading.Event()

    def check(path: Path, mib: int) -> str:
        reading.set()
        assert go_on.wait(60)
        return digest_of(path, mib)

    with opened(league, check=check) as door, ThreadPoolExecutor(1) as pool:
        sending = pool.submit(asked, door, anna, "bots/fox", "PUT", b"data")
        assert reading.wait(60)
        try:
            assert asked(door, ben, "").status == asked(door, anna, "versions").status == 200
            refused = asked(door, anna, "bots/owl", "PUT", b"x")
            assert (refused.problem.code, refused.problem.limit) == ("too_many", "waiting")
            assert league.orders() == []
        finally:
            go_on.set()
        league.answer(league.order("submit"), {"version": "fox/1"})
        assert sending.result(60).status == 201


# Orders


def test_a_token_that_is_revoked_while_an_archive_is_checked_submits_nothing(league: League) -> None:
    anna = league.author("anna")

    def check(path: Path, mib: int) -> str:
        league.revoke(anna)
        return digest_of(path, mib)

    with opened(league, check=check) as door:
        assert asked(door, anna, "bots/fox", "PUT", b"an archive").problem.code == "unknown_token"
    assert league.orders() == []


def test_an_author_who_goes_in_the_midst_of_a_request_is_no_fault_of_the_door(league: League) -> None:
    head = f"POST /api/v1/seat HTTP/1.1\r\nAuthorization: Bearer {league.author('anna')}\r\nHost: cup\r\n"
    with opened(league) as door:
        with socket.create_connection((door.address.host, door.address.port)) as half:
            half.sendall(f"{head}Content-Length: 9\r\n\r\nhalf".encode())
        assert asked(door, "", "").status == 401
    assert door.door._telling.refused == {"unknown_token": 1}


def test_an_order_that_cannot_succeed_leaves_nothing_for_the_league(league: League) -> None:
    anna = league.author("anna")
    versions = [
        {"version": "fox/1", "bot": "fox", "state": "active"},
        {"version": "owl/2", "bot": "owl", "state": "rejected"},
        {"version": "owl/1", "bot": "owl", "state": "retired"},
    ]
    league.publish("authors/anna/status.json", {"versions": versions})
    with opened(league) as door, client(door, anna) as connection:
        with pytest.raises(DoorError, match="a bot of yours that is not retired") as caught:
            connection.ordered("retire", bot="nobody")
        assert caught.value.refusal == "unknown"
        again = connection.ordered("retire", bot="owl")
        assert again is not None
        assert again.retired == ("owl/1",), "who asks once more, since the answer was lost, has it"
        assert league.orders() == []
        with answering(league, "retire", {"retired": ["fox/1"]}):
            retired = connection.ordered("retire", bot="fox")
    assert retired is not None
    assert retired.retired == ("fox/1",)


@pytest.mark.parametrize("state", ["active", "rejected", "retired"])
def test_a_remote_bot_that_is_a_version_already_needs_no_order(league: League, state: str) -> None:
    anna = league.author("anna")
    version = {"version": "fox/1", "bot": "fox", "state": state, "digest": "a" * 64, "level": "remote"}
    league.publish("authors/anna/status.json", {"versions": [version]})
    with opened(league) as door, RemoteClient(door.address, anna) as remote:
        remote.send(Serve(id=1, bot="fox", digest="a" * 64))
        assert select.select([remote.socket], [], [], 60)[0]
        assert remote.heard() == [Serving(id=1, version="fox/1", state=state)]
    assert league.orders() == []


def test_orders_have_a_limit_of_their_own(league: League) -> None:
    anna = league.author("anna")
    league.publish("authors/anna/status.json", {"versions": [{"version": "fox/1", "bot": "fox", "state": "active"}]})
    now = [0.0]
    with opened(league, clock=lambda: now[0]) as door:
        door.door._usage.take(hash_of(anna), "orders", LIMITS["orders"].burst - 2, 0)
        for _ in range(2):
            with answering(league, "retire", {"retired": []}):
                assert asked(door, anna, "bots/fox", "DELETE").status == 200
        refused = asked(door, anna, "bots/fox", "DELETE").problem
        assert (refused.code, refused.limit) == ("too_many", "orders")
        assert len(league.orders()) == 2
        now[0] += refused.retry_after_s or 0
        with answering(league, "retire", {"retired": []}):
            assert asked(door, anna, "bots/fox", "DELETE").status == 200


# Quotas


def test_how_many_submissions_there_may_be_is_the_leagues_to_say(league: League) -> None:
    """The door refuses none of those that the league would take, nor are broken archives counted as submissions."""
    usage = Usage()
    for quota in (0, 10, 500, 100_000):
        limit = orders_of(quota)
        for each in range(quota + 1):
            usage.take(f"key {quota}", "orders", 1, each / 1e9, limit)
    with pytest.raises(Refusal, match="60 orders an hour, and 10 a day"):
        usage.take("key 10", "orders", 60, 0, orders_of(10))


def test_what_is_missing_stays_missing_when_a_quota_changes() -> None:
    usage = Usage()
    for _ in range(60):
        usage.take("key", "orders", 1, 0, orders_of(0))
    for _ in range(5):
        usage.take("key", "orders", 1, 0, orders_of(5))
    with pytest.raises(Refusal):
        usage.take("key", "orders", 1, 0, orders_of(5))


def test_welcome_shows_the_limits_that_hold(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    defaults = {"bots": 3, "pending": 3, "submissions": 10}
    league.publish("league.json", {"name": "cup", "limits": defaults})
    league.publish("authors/anna/status.json", {"versions": [], "limits": {**defaults, "submissions": 50}})
    with opened(league) as door:
        for token, submissions in ((anna, 50), (ben, 10)):
            with client(door, token) as connection:
                limits = connection.hello().limits
            assert limits == {
                **{name: int(limit.burst) for name, limit in LIMITS.items()},
                **defaults,
                "submissions": submissions,
                "orders": 60 + submissions,
                "waiting": MOST_WAITING,
                "remote": MOST_BOTS,
                "open": MOST_OPEN,
            }
