"""The door over real sockets: what authors ask, and what it leaves for the league."""

from __future__ import annotations

import hashlib
import io
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq

from arena.core.errors import ConfigError, DoorError
from arena.league.door.client import Client
from arena.league.door.health import HEALTH, Health, health
from arena.league.door.keys import Address, make_pair
from arena.league.door.limits import LIMITS
from arena.league.door.messages import Accepted, Chunk, Finish, Have, Retire, Status, Submit, Upload
from arena.league.door.relay import STALE_S
from arena.league.door.server import QUEUE, offer
from tests.door_kit import League, answering, client, opened

FOX = {"versions": [{"version": "fox/1", "bot": "fox", "state": "active"}]}
"""What the league publishes of an author with one bot."""


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path / "cup")


def ignore(count: int) -> None:
    pass


def test_an_author_is_known_by_the_key(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    with opened(league) as door:
        for pair, name in ((anna, "anna"), (ben, "ben")):
            with client(door, pair) as connection:
                welcome = connection.hello()
                assert (welcome.author, welcome.league["name"]) == (name, "cup")


def test_a_key_that_is_lost_is_not_replaced_without_a_word(league: League) -> None:
    with opened(league) as door:
        before = door.address.key
    with opened(league) as door:
        assert door.address.key == before
    own = league.folder / "door"
    (own / "server.key").unlink()
    with pytest.raises(ConfigError, match="expected the key of this league's door, by which"), opened(league):
        pass
    (own / "address").unlink()
    with opened(league) as door:
        assert door.address.key != before


def test_an_archive_comes_whole_with_its_order(league: League) -> None:
    anna = league.author("anna")
    data = bytes(range(256)) * 800
    digest = hashlib.sha256(data).hexdigest()
    counts: list[int] = []
    with opened(league) as door, client(door, anna) as connection, answering(league, "submit", {"version": "fox/1"}):
        accepted = connection.submit(io.BytesIO(data), "fox", digest, counts.append)
    assert accepted.answer == {"version": "fox/1"}
    assert counts[0] == 0
    assert counts[-1] == len(data)
    (order,) = league.orders()
    assert (order["verb"], order["author"]) == ("submit", "anna")
    assert order["arguments"] == {"bot": "fox", "digest": digest, "size": len(data)}
    assert (league.folder / "incoming" / f"{order['id']}.tar.zst").read_bytes() == data


def test_the_league_refuses_an_order_in_its_own_words(league: League) -> None:
    anna = league.author("anna")
    refusal = {"code": "name_taken", "message": "expected a free name, got: 'fox'", "remedy": "take another"}
    digest = hashlib.sha256(b"data").hexdigest()
    with (
        opened(league) as door,
        client(door, anna) as connection,
        answering(league, "submit", refusal),
        pytest.raises(DoorError, match="expected a free name, got: 'fox'; take another") as caught,
    ):
        connection.submit(io.BytesIO(b"data"), "fox", digest, ignore)
    assert caught.value.refusal == "name_taken"


def test_an_order_is_kept_when_the_league_does_not_answer(league: League) -> None:
    anna = league.author("anna")
    league.publish("authors/anna/status.json", FOX)
    now = [0.0]
    with opened(league, clock=lambda: now[0]) as door, client(door, anna) as connection:
        import threading

        def later() -> None:
            league.order("retire")
            now[0] += 11

        thread = threading.Thread(target=later)
        thread.start()
        accepted = connection.retire("fox")
        thread.join()
    assert accepted.answer is None
    assert accepted.order == league.orders()[0]["id"]


def test_an_upload_goes_on_after_the_door_was_closed(league: League) -> None:
    anna = league.author("anna")
    data = b"x" * 100_000
    digest = hashlib.sha256(data).hexdigest()
    with opened(league) as door, client(door, anna) as connection:
        begun = connection.ask(Submit(1, "fox", digest, len(data)), Upload)
        connection.ask(Chunk(2, begun.upload, 0, data[:40_000]), Have)
    with opened(league) as door, client(door, anna) as connection:
        assert connection.ask(Submit(1, "fox", digest, len(data)), Upload).have == 40_000
        with pytest.raises(DoorError) as caught:
            connection.ask(Chunk(2, begun.upload, 0, data[:40_000]), Have)
        assert caught.value.refusal == "bad_offset"
        with pytest.raises(DoorError) as caught:
            connection.ask(Finish(3, begun.upload), Have)
        assert caught.value.refusal == "bad_offset"


def test_an_archive_that_is_another_than_announced_is_refused_and_forgotten(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door, client(door, anna) as connection:
        for data, code in ((b"other", "digest"), (b"bad", "archive")):
            with pytest.raises(DoorError) as caught:
                connection.submit(io.BytesIO(data), "fox", "0" * 64, ignore)
            assert caught.value.refusal == code
    assert league.orders() == []
    assert [path for path in (league.folder / "incoming").rglob("*") if path.is_file()] == []


def test_what_is_there_already_is_not_sent_again(league: League) -> None:
    """§D5-7."""
    anna = league.author("anna")
    digest = hashlib.sha256(b"data").hexdigest()
    version = {"version": "fox/1", "bot": "fox", "digest": digest, "state": "active"}
    league.publish("authors/anna/status.json", {"versions": [version], "notices": []})
    with opened(league) as door, client(door, anna) as connection:
        accepted = connection.submit(io.BytesIO(b"data"), "fox", digest, ignore)
    assert accepted.answer == {**version, "same": True}
    assert league.orders() == []


def test_an_upload_of_another_author_is_unknown(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    digest = hashlib.sha256(b"data").hexdigest()
    with opened(league) as door, client(door, anna) as hers, client(door, ben) as his:
        begun = hers.ask(Submit(1, "fox", digest, 4), Upload)
        with pytest.raises(DoorError) as caught:
            his.ask(Chunk(1, begun.upload, 0, b"evil"), Have)
        assert caught.value.refusal == "expired"
        assert hers.ask(Chunk(2, begun.upload, 0, b"data"), Have).have == 4


def test_games_come_page_by_page_the_latest_first(league: League) -> None:
    anna = league.author("anna")
    league.publish("authors/anna/status.json", FOX)
    for page in range(12):
        games = [
            {"game": f"g{page}-{n}", "bot": "fox" if n % 2 else "owl", "lost": n % 5 == 0, "forfeit": n == 7}
            for n in range(25)
        ]
        league.publish(f"authors/anna/games-{page + 1}.json", {"games": games})
    with opened(league) as door, client(door, anna) as connection:
        games = list(connection.games(most=1_000))
        assert [game["game"] for game in games] == [f"g{p}-{n}" for p in range(11, -1, -1) for n in range(24, -1, -1)]
        assert {game["bot"] for game in connection.games(bot="fox", most=1_000)} == {"fox"}
        assert len(list(connection.games(only="lost", most=1_000))) == 60
        assert len(list(connection.games(only="forfeits", bot="fox", most=5))) == 5


def test_standings_of_any_length_come_whole(league: League) -> None:
    anna = league.author("anna")
    items = [{"rank": n, "name": f"b{n}/1", "mu": 25.5} for n in range(1, 1_203)]
    league.publish("standings.json", {"season": "spring", "digest": "ab", "items": items})
    with opened(league) as door, client(door, anna) as connection:
        assert connection.standings() == ("spring", items)


def test_a_log_is_its_authors_own_if_there_is_one_and_public_otherwise(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    public = b"public" * 100_000
    league.publish("logs/t-000001.jsonl.zst", public)
    league.publish("own/anna/t-000001.jsonl.zst", b"with notes")
    league.publish("reports/anna/fox/1/build.json", {"verdict": "failed"})
    with opened(league) as door, client(door, anna) as hers, client(door, ben) as his:
        assert hers.log("t-000001") == b"with notes"
        assert his.log("t-000001") == public
        assert json.loads(hers.report("fox/1", "build")) == {"verdict": "failed"}


STRANGE = ["t-000002", "../keys.json", "..", "a/b", "/etc/passwd", "t-000001\0", "", "x" * 128]


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_not_the_authors_or_not_there_is_unknown_in_the_same_words(league: League, name: str) -> None:
    """§D8-2."""
    ben = league.author("ben")
    league.publish("own/anna/t-000002.jsonl.zst", b"secret")
    league.publish("reports/anna/fox/1/build.json", {"verdict": "failed"})
    with opened(league) as door, client(door, ben) as connection:
        with pytest.raises(DoorError) as caught:
            connection.log(name)
        assert caught.value.refusal == "unknown"
        for version in ("fox/1", f"{name}/1", f"fox/{name}", "../anna/fox/1"):
            if len(version) > 80:
                continue
            with pytest.raises(DoorError) as caught:
                connection.report(version, "build")
            assert caught.value.refusal == "unknown"


# Keys


def test_a_key_that_is_not_known_is_told_so(league: League) -> None:
    league.author("anna")
    with (
        opened(league) as door,
        client(door, make_pair()) as connection,
        pytest.raises(DoorError, match="which is not known here"),
    ):
        connection.hello()


def test_a_key_that_is_refused_before_the_first_request_is_said(league: League) -> None:
    """On a busy machine the refusal comes first. Then there is no connection left that could take the request."""
    with opened(league) as door, client(door, make_pair()) as connection:
        assert connection.monitor.poll(60_000)
        while connection.socket.poll(20, zmq.POLLOUT):
            pass
        with pytest.raises(DoorError, match="which is not known here"):
            connection.hello()


def test_a_league_with_another_key_is_told_from_the_right_one(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door:
        wrong = Address(door.address.endpoint, make_pair().public)
        with Client(wrong, anna) as connection, pytest.raises(DoorError, match="not this league's server key"):
            connection.hello()


def test_a_door_that_hangs_up_because_it_is_busy_is_asked_again(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door, socket.create_server(("127.0.0.1", 0)) as busy:
        busy.settimeout(30)
        where = Address(f"tcp://127.0.0.1:{busy.getsockname()[1]}", door.address.key)

        def serve() -> None:
            for _ in range(2):
                busy.accept()[0].close()
            here, _ = busy.accept()
            with here, socket.create_connection(("127.0.0.1", int(door.address.endpoint.rsplit(":", 1)[1]))) as there:
                while ready := select.select([here, there], [], [], 30)[0]:
                    data = ready[0].recv(65_536)
                    if not data:
                        return
                    (there if ready[0] is here else here).sendall(data)

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        with Client(where, anna) as connection:
            assert connection.hello().author == "anna"
        serving.join(30)


def test_an_author_may_give_many_commands_a_minute(league: League) -> None:
    """Each command is a connection of its own: beyond the limit it takes longer, and comes through."""
    anna = league.author("anna")
    with opened(league) as door:
        for _ in range(int(LIMITS["handshakes"].burst) + 2):
            with client(door, anna) as connection:
                assert connection.hello().author == "anna"


def test_nobody_who_listens_is_said(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door:
        address = door.address
    with Client(address, anna, connect_s=0.6) as connection, pytest.raises(DoorError, match="nobody listens there"):
        connection.hello()


def test_a_key_that_is_revoked_while_connected_gets_nothing_more(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door, client(door, anna) as connection:
        connection.hello()
        league.revoke(anna)
        for call in (connection.hello, connection.status, connection.standings):
            with pytest.raises(DoorError) as caught:
                call()
            assert caught.value.refusal == "unknown_key"
    assert league.orders() == []


def test_requests_that_come_at_once_get_one_answer_each(league: League) -> None:
    """§D5-2: an order that waits holds up no other request."""
    anna = league.author("anna")
    league.publish("authors/anna/status.json", FOX)
    with opened(league) as door, client(door, anna) as connection:
        connection.send(Retire(1, "fox"))
        for number in range(2, 10):
            connection.send(Status(number))
        heard: list[Any] = []
        while len(heard) < 8:
            heard += connection.heard(1)
        assert [each.id for each in heard] == list(range(2, 10))
        league.answer(league.order("retire"), {"retired": ["fox/1"]})
        while len(heard) < 9:
            heard += connection.heard(1)
        assert heard[-1] == Accepted(1, league.orders()[0]["id"], {"retired": ["fox/1"]})
        assert connection.heard(0.2) == []


def test_whoever_reads_misses_no_answer_however_quickly_they_come() -> None:
    """§D5-2, §D4-7: libzmq notices about once a millisecond what a peer has read; here it would drop most of them."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router, context.socket(zmq.DEALER) as peer:
        router.set(zmq.ROUTER_MANDATORY, 1)
        router.set(zmq.SNDHWM, QUEUE)
        peer.connect(f"tcp://127.0.0.1:{router.bind_to_random_port('tcp://127.0.0.1')}")
        peer.send(b"I am here")
        routing_id, _ = router.recv_multipart()
        for _ in range(100):
            assert [offer(router, [routing_id, b"answer"]) for _ in range(QUEUE)] == [True] * QUEUE
            assert [peer.recv() for _ in range(QUEUE)] == [b"answer"] * QUEUE
        assert not offer(router, [b"nobody", b"answer"])


# Limits


def test_a_limit_says_when_to_come_again(league: League) -> None:
    anna = league.author("anna")
    now = [100.0]
    with opened(league, clock=lambda: now[0]) as door, client(door, anna) as connection:
        from arena.league.door.messages import Error

        answers: list[Any] = [connection._answer(Status(n)) for n in range(1, 23)]
        refused = [answer for answer in answers if isinstance(answer, Error)]
        assert [answer.id for answer in refused] == [21, 22]
        assert (refused[0].code, refused[0].limit, refused[0].retry_after_s) == ("too_many", "requests", 1)
        now[0] += 1
        assert connection.status().versions == ()


def test_no_upload_begins_on_a_full_disk(league: League) -> None:
    anna = league.author("anna")
    with (
        opened(league, room=lambda folder: False) as door,
        client(door, anna) as connection,
        pytest.raises(DoorError) as caught,
    ):
        connection.submit(io.BytesIO(b"data"), "fox", "0" * 64, ignore)
    assert caught.value.refusal == "no_room"


def test_no_upload_begins_on_a_disk_that_can_hold_no_more_files(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = league.author("anna")
    space = [16 * 2**30 // 4_096] * 3  # blocks: of all and free
    found = os.statvfs_result((4_096, 4_096, *space, 1_000, 20, 20, 0, 255))
    with opened(league, room=None) as door, client(door, anna) as connection:
        monkeypatch.setattr(os, "statvfs", lambda path: found)
        with pytest.raises(DoorError) as caught:
            connection.submit(io.BytesIO(b"data"), "fox", "0" * 64, ignore)
    assert caught.value.refusal == "no_room"


# How it is


def test_an_open_door_says_how_it_is_and_a_closed_one_nothing(league: League) -> None:
    anna = league.author("anna")
    now = [100.0]
    with opened(league, clock=lambda: now[0], falls=2) as door:
        with client(door, anna) as connection:
            connection.hello()
            with pytest.raises(DoorError):
                connection.log("t-000001")
            with client(door, make_pair()) as stranger, pytest.raises(DoorError):
                stranger.hello()
            now[0] += 20
            said = until(lambda: health(league.folder), lambda found: found.messages == 2)
        assert (said.falls, said.connections, said.turned_away, said.remote) == (2, 1, 1, 0)
        assert (said.refused, said.closed, said.pid) == ({"unknown": 1}, {}, os.getpid())
    assert health(league.folder) is None


def test_a_door_that_was_killed_is_not_called_open(league: League) -> None:
    with opened(league):
        said = until(lambda: health(league.folder), lambda found: True)
    path = league.folder / HEALTH
    path.write_bytes(msgspec.json.encode(said))
    assert health(league.folder) == said
    os.utime(path, (0, time.time() - STALE_S - 1))
    assert health(league.folder) is None
    path.write_text("no JSON")
    assert health(league.folder) is None


def until(look: Callable[[], Health | None], is_it: Callable[[Health], bool]) -> Health:
    """Looks until it is there."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = look()
        if found is not None and is_it(found):
            return found
        time.sleep(0.01)
    raise AssertionError("it does not come")
