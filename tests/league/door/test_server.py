"""The door over real sockets: what authors ask, and what it leaves for the league."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import threading
import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from arena.author import archives
from arena.core.errors import DoorError
from arena.league.door import checks, orders
from arena.league.door.health import HEALTH, health
from arena.league.door.limits import LIMITS, MOST_OPEN
from arena.league.door.messages import API
from arena.league.door.relay import STALE_S
from arena.league.door.tokens import hash_of, new_token
from arena.pages.web import limits
from tests.door_kit import League, OpenDoor, answering, asked, client, opened

T = TypeVar("T")
FOX = {"versions": [{"version": "fox/1", "bot": "fox", "state": "active"}]}
"""What the league publishes of an author with one bot."""


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path / "cup")


def ignore(count: int) -> None:
    pass


def put(door: OpenDoor, token: str, size: int, *sent: bytes, path: str = "bots/fox") -> socket.socket:
    """Begins an upload, whose body may stay behind what was announced."""
    connection = socket.create_connection((door.address.host, door.address.port), timeout=60)
    head = f"PUT {API}/{path} HTTP/1.1\r\nhost: cup\r\nauthorization: Bearer {token}\r\ncontent-length: {size}\r\n\r\n"
    connection.sendall(head.encode())
    for piece in sent:
        connection.sendall(piece)
    return connection


def test_an_author_is_known_by_the_token(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    with opened(league) as door:
        for token, name in ((anna, "anna"), (ben, "ben")):
            with client(door, token) as connection:
                welcome = connection.hello()
                assert (welcome.author, welcome.league["name"]) == (name, "cup")


# Submissions


def test_an_archive_comes_whole_with_its_order(league: League) -> None:
    anna = league.author("anna")
    data = bytes(range(256)) * 800
    digest = hashlib.sha256(data).hexdigest()
    counts: list[int] = []
    with opened(league) as door, client(door, anna) as connection, answering(league, "submit", {"version": "fox/1"}):
        submitted = connection.submit(data, "fox", digest, counts.append)
    assert submitted is not None
    assert submitted.version == "fox/1"
    assert counts[-1] == len(data)
    (order,) = league.orders()
    assert (order["verb"], order["author"]) == ("submit", "anna")
    assert order["arguments"] == {"bot": "fox", "digest": digest, "size": len(data)}
    assert (league.folder / "incoming" / f"{order['id']}.tar.zst").read_bytes() == data


def test_a_zip_of_a_folder_is_the_bot_that_arena_packs(league: League, tmp_path: Path) -> None:
    anna, bot = league.author("anna"), tmp_path / "fox"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "fox"\ncommand = ["{python}", "bot.py"]\n')
    (bot / "bot.py").write_text("print()\n")
    (bot / ".hidden").write_text("not sent")
    zipped = BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        for path in bot.iterdir():
            file.write(path, f"fox/{path.name}")
    packed = archives.pack(bot)
    version = {"version": "fox/1", "state": "received", "digest": packed.digest}
    with opened(league, check=checks.check) as door, answering(league, "submit", version):
        said = asked(door, anna, "bots/fox", "PUT", zipped.getvalue())
    assert (said.status, json.loads(said.body)) == (201, {**version, "order": league.orders()[0]["id"]})
    assert (league.folder / "incoming" / f"{league.orders()[0]['id']}.tar.zst").read_bytes() == packed.data
    league.publish("authors/anna/status.json", {"versions": [{**version, "bot": "fox", "state": "active"}]})
    with opened(league, check=checks.check) as door:
        again = asked(door, anna, "bots/fox", "PUT", zipped.getvalue())
    assert (again.status, json.loads(again.body)) == (200, {**version, "state": "active", "same": True})


def test_an_archive_may_be_as_large_as_the_league_says(league: League) -> None:
    """What is larger is refused before it is read."""
    anna = league.author("anna")
    with opened(league) as door:
        said = asked(door, anna, "bots/fox", "PUT", content_length=str((16 << 20) + 1))
        assert (said.status, json.loads(said.body)["detail"]) == (413, "expected at most 16777216 bytes, got: 16777217")
        league.publish("authors/anna/status.json", {"versions": [], "limits": {"archive_mib": 24}})
        with answering(league, "submit", {"version": "fox/1", "state": "received"}):
            assert asked(door, anna, "bots/fox", "PUT", bytes(20 << 20)).status == 201


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
        connection.submit(b"data", "fox", digest, ignore)
    assert caught.value.refusal == "name_taken"


def test_an_order_is_kept_when_the_league_does_not_answer(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """§D5-3."""
    anna = league.author("anna")
    league.publish("authors/anna/status.json", FOX)
    monkeypatch.setattr(orders, "ANSWER_S", 0.1)
    with opened(league) as door:
        for method, body in (("DELETE", None), ("PUT", b"data")):
            said = asked(door, anna, "bots/fox", method, body)
            assert (said.status, json.loads(said.body)) == (202, {"order": league.orders()[-1]["id"]})
    assert [order["verb"] for order in league.orders()] == ["retire", "submit"]


def test_an_upload_goes_on_after_the_door_was_closed(league: League) -> None:
    """§D5-4."""
    anna = league.author("anna")
    data = bytes(range(250)) * 400
    digest = hashlib.sha256(data).hexdigest()
    path = f"bots/fox?digest={digest}"

    def have(door: OpenDoor) -> int:
        return int(asked(door, anna, f"bots/fox/uploads/{digest}", "HEAD").headers["upload-offset"] or 0)

    with opened(league) as door, put(door, anna, len(data), data[:40_000], path=path):
        until(lambda: have(door), lambda found: found == 40_000)
    with opened(league) as door, answering(league, "submit", {"version": "fox/1"}):
        assert have(door) == 40_000
        refused = asked(door, anna, path, "PUT", data)
        assert (refused.status, refused.headers["upload-offset"]) == (409, "40000")
        assert (refused.problem.code, refused.problem.have) == ("bad_offset", 40_000)
        assert asked(door, anna, path, "PUT", data[40_000:], Upload_Offset="40000").status == 201
    (archive,) = (league.folder / "incoming").glob("*.tar.zst")
    assert archive.read_bytes() == data


def test_an_archive_that_is_another_than_announced_is_refused_and_forgotten(league: League) -> None:
    """§D5-5."""
    anna = league.author("anna")
    with opened(league) as door, client(door, anna) as connection:
        for data, code in ((b"other", "digest"), (b"bad", "archive")):
            with pytest.raises(DoorError) as caught:
                connection.submit(data, "fox", "0" * 64, ignore)
            assert caught.value.refusal == code
    assert league.orders() == []
    assert [path for path in (league.folder / "incoming").rglob("*") if path.is_file()] == []


def test_what_is_there_already_is_not_sent_again(league: League) -> None:
    """§D5-6: it is answered before a byte of it came."""
    anna = league.author("anna")
    digest = hashlib.sha256(b"data").hexdigest()
    version = {"version": "fox/1", "bot": "fox", "digest": digest, "state": "active"}
    league.publish("authors/anna/status.json", {"versions": [version], "notices": []})
    with opened(league) as door:
        head = f"bots/fox?digest={digest} HTTP/1.1\r\nexpect: 100-continue\r\nx:"
        with put(door, anna, 4, path=head) as connection:
            assert b" 200 OK" in connection.recv(1_000)
        assert json.loads(asked(door, anna, f"bots/fox?digest={digest}", "PUT", b"data").body)["same"] is True
    assert league.orders() == []


def test_an_upload_of_another_author_is_unknown(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    digest = hashlib.sha256(b"data").hexdigest()
    with opened(league) as door, put(door, anna, 4, b"da", path=f"bots/fox?digest={digest}"):
        upload = f"bots/fox/uploads/{digest}"
        until(lambda: asked(door, anna, upload, "HEAD").headers["upload-offset"], lambda have: have == "2")
        assert asked(door, ben, upload, "HEAD").status == 404
        with answering(league, "submit", {"version": "fox/1"}):
            assert asked(door, ben, f"bots/fox?digest={digest}", "PUT", b"data").status == 201, "his own"


def test_an_upload_whose_line_was_cut_keeps_its_author_out_for_half_a_minute(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (limits.HEAD_S, limits.BODY_S) == (10, 30)
    monkeypatch.setattr(limits, "HEAD_S", 0.3)
    monkeypatch.setattr(limits, "BODY_S", 0.8)
    anna = league.author("anna")
    with opened(league) as door, put(door, anna, 400, b"da") as silent:
        wrong = f"bots/fox?digest={'f' * 64}"
        until(lambda: asked(door, anna, wrong, "PUT", b"data").problem.code, lambda code: code == "digest")
        assert silent.recv(1) == b""
        with put(door, anna, 400, path=wrong) as slow:
            for _ in range(4):
                slow.sendall(b"da")
                time.sleep(0.4)
            slow.sendall(bytes(392))
            assert b"422" in slow.recv(99)


@pytest.mark.parametrize(
    "sent", ["", "content-length: 2\r\nupload-offset: x\r\n\r\nxx", f"content-length: {2**40}\r\n\r\n"]
)
def test_a_submission_of_another_form_says_what_is_wrong(league: League, sent: str) -> None:
    anna = league.author("anna")
    with opened(league) as door:
        head = (
            f"PUT {API}/bots/fox HTTP/1.1\r\nhost: cup\r\nauthorization: Bearer {anna}\r\n{sent or chr(13) + chr(10)}"
        )
        with socket.create_connection((door.address.host, door.address.port), timeout=60) as connection:
            connection.sendall(head.encode())
            said = connection.recv(1_000)
            assert (b" 413 " if str(2**40) in sent else b" 400 ") in said, said
    assert list((league.folder / "incoming").glob("*.json")) == []


def test_an_author_sends_one_archive_at_a_time(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    with opened(league) as door:
        with put(door, anna, 100, b"x"):
            refused = until(lambda: asked(door, anna, "bots/owl", "PUT", b"data"), lambda said: said.status == 429)
            assert (refused.problem.limit, refused.headers["retry-after"]) == ("waiting", "1")
            with answering(league, "submit", {"version": "owl/1"}):
                assert asked(door, ben, "bots/owl", "PUT", b"data").status == 201
        with answering(league, "submit", {"version": "owl/1"}):
            until(lambda: asked(door, anna, "bots/owl", "PUT", b"data"), lambda said: said.status == 201)


def test_no_upload_begins_on_a_full_disk(league: League) -> None:
    anna = league.author("anna")
    with opened(league, room=lambda folder: False) as door:
        refused = asked(door, anna, "bots/fox", "PUT", b"data")
    assert (refused.status, refused.problem.code, refused.headers["retry-after"]) == (507, "no_room", "600")


def test_no_upload_begins_on_a_disk_that_can_hold_no_more_files(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = league.author("anna")
    space = [16 * 2**30 // 4_096] * 3  # blocks: of all and free
    found = os.statvfs_result((4_096, 4_096, *space, 1_000, 20, 20, 0, 255))
    with opened(league, room=None) as door:
        monkeypatch.setattr(os, "statvfs", lambda path: found)
        assert asked(door, anna, "bots/fox", "PUT", b"data").problem.code == "no_room"


# Looking


def test_a_version_is_waited_for_until_it_was_tried(league: League) -> None:
    anna = league.author("anna")
    states = ({"version": "fox/2", "bot": "fox", "state": state} for state in ("checking", "active"))
    league.publish("authors/anna/status.json", {"versions": [next(states)]})
    with opened(league) as door:
        began = time.monotonic()
        assert asked(door, anna, "versions?bot=fox&wait=1").body.count(b"checking") == 1
        assert time.monotonic() - began > 0.9
        threading.Timer(0.3, lambda: league.publish("authors/anna/status.json", {"versions": [next(states)]})).start()
        assert asked(door, anna, "versions?bot=fox&wait=60").body.count(b"active") == 1
        for bot, wait in (("fox", 60), ("owl", 60), ("fox", 0)):
            asked(door, anna, f"versions?bot={bot}&wait={wait}")
        assert time.monotonic() - began < 30


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


def test_the_game_is_described_and_a_model_finds_the_way(league: League) -> None:
    anna = league.author("anna")
    league.publish("game.json", {"rules": "samurai", "text": "# Samurai"})
    with opened(league) as door:
        assert json.loads(asked(door, anna, "games/samurai").body)["text"] == "# Samurai"
        assert asked(door, anna, "games/gardener").status == 404
        assert asked(door, "", "games/samurai").status == 401
        assert b"/api/v1/games/NAME" in asked(door, "", "/llms.txt").body


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
        assert hers.log("t-000001", public=True) == his.log("t-000001") == public
        assert hers.report("fox/1", "build") == {"verdict": "failed"}


def test_a_file_comes_in_the_part_that_is_asked_for_and_only_if_it_is_new(league: League) -> None:
    anna = league.author("anna")
    data = bytes(range(250)) * 4_000
    league.publish("logs/g.jsonl.zst", data)
    with opened(league) as door:

        def log(method: str = "GET", **headers: str) -> tuple[int, str | None, bytes]:
            said = asked(door, anna, "games/g/log", method, **headers)
            return said.status, said.headers["content-range"], said.body

        whole = asked(door, anna, "games/g/log")
        etag, digest = whole.headers["etag"], base64.b64encode(hashlib.sha256(data).digest()).decode()
        assert (whole.body, whole.headers["repr-digest"]) == (data, f"sha-256=:{digest}:")
        assert log(If_None_Match=f'"other", {etag}') == (304, None, b"")
        assert log(Range="bytes=300000-300009") == (206, "bytes 300000-300009/1000000", data[300_000:300_010])
        assert log(Range="bytes=-5", If_Range=etag) == (206, "bytes 999995-999999/1000000", data[-5:])
        assert log(Range="bytes=999990-") == (206, "bytes 999990-999999/1000000", data[-10:])
        assert log(Range="bytes=1000000-") == (416, "bytes */1000000", b"")
        for ignored in ("bytes=-", "bytes=0-1,5-6", "lines=1-2", "bytes=1"):
            assert log(Range=ignored) == (200, None, data)
        assert log(Range="bytes=0-1", If_Range='"older"') == (200, None, data)
        assert log("HEAD", Range="bytes=0-9") == (206, "bytes 0-9/1000000", b"")


def test_who_reads_more_than_they_may_is_read_to_more_slowly(league: League) -> None:
    """§D9-1."""
    anna, ben = league.author("anna"), league.author("ben")
    now = [0.0]
    league.publish("logs/g.jsonl.zst", bytes(int(LIMITS["logs"].burst)))
    with opened(league, clock=lambda: now[0]) as door:
        assert len(asked(door, anna, "games/g/log").body) == LIMITS["logs"].burst
        found: list[int] = []
        slow = threading.Thread(target=lambda: found.append(len(asked(door, anna, "games/g/log").body)))
        slow.start()
        slow.join(1.5)
        assert slow.is_alive()
        assert asked(door, ben, "games/g/log", Range="bytes=0-9").status == 206
        now[0] += 120
        slow.join(60)
        assert found == [LIMITS["logs"].burst]


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
            with pytest.raises(DoorError) as caught:
                connection.report(version, "build")
            assert caught.value.refusal == "unknown"


def test_a_request_that_is_none_says_where_they_are(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door:
        for path, method, status, words in (
            ("nothing", "GET", 404, "GET /api/v1/nothing"),
            ("versions", "POST", 405, "POST /api/v1/versions"),
            ("bots/a%2Fb", "DELETE", 404, "DELETE"),
            ("games?limit=101", "GET", 400, "<= 100 - at `$.limit`"),
            ("games?lim=1", "GET", 400, "unknown field `lim`"),
            ("bots/.x", "DELETE", 400, "matching regex"),
        ):
            refused = asked(door, anna, path, method)
            assert (refused.status, refused.problem.status) == (status, status), path
            assert words in refused.problem.detail


# Tokens


def test_only_one_header_with_one_token_that_the_league_knows_opens_anything(league: League) -> None:
    """§D4-1: and what was tried stands nowhere."""
    anna, other = league.author("anna"), new_token()
    told: list[str] = []
    with opened(league, tell=told.append) as door:
        for headers in (
            "",
            f"authorization: Bearer {other}\r\n",
            f"authorization: Basic {base64.b64encode(anna.encode()).decode()}\r\n",
            f"authorization: Bearer {anna[:-1]}\r\n",
            f"authorization: Bearer {hash_of(anna)}\r\n",
            f"authorization: Bearer {anna}\r\n" * 2,
            f"authorization: {anna}\r\n",
            f"cookie: token={anna}\r\n",
        ):
            for path in ("", f"?token={anna}", f"versions?access_token={anna}", "nothing", "remote"):
                with socket.create_connection((door.address.host, door.address.port), timeout=60) as connection:
                    head = f"GET {API}/{path} HTTP/1.1\r\nhost: cup\r\nconnection: close\r\n{headers}\r\n"
                    connection.sendall(head.encode())
                    said = connection.makefile("rb").read()
                assert said.startswith(b"HTTP/1.1 401 "), (path, headers)
                assert b"www-authenticate: Bearer" in said
                assert not any(token.encode() in said for token in (anna, other))
        assert asked(door, anna, "").status == 200
    left = b"".join(path.read_bytes() for path in league.folder.rglob("*") if path.is_file())
    assert anna.encode() not in left + "".join(told).encode()


def test_a_token_that_is_revoked_gets_nothing_more(league: League) -> None:
    anna = league.author("anna")
    with opened(league) as door, client(door, anna) as connection:
        connection.hello()
        league.revoke(anna)
        for call in (connection.hello, connection.status, connection.standings):
            with pytest.raises(DoorError) as caught:
                call()
            assert caught.value.refusal == "unknown_token"
        assert asked(door, anna, "bots/fox", "PUT", b"data").status == 401
    assert league.orders() == []


# Limits


def test_a_limit_says_when_to_come_again(league: League) -> None:
    anna, now = league.author("anna"), [100.0]
    with opened(league, clock=lambda: now[0]) as door:
        answers = [asked(door, anna, "versions") for _ in range(22)]
        assert [answer.status for answer in answers] == [200] * 20 + [429] * 2
        problem = answers[-1].problem
        assert (problem.code, problem.limit, problem.retry_after_s) == ("too_many", "requests", 1)
        assert answers[-1].headers["retry-after"] == "1"
        now[0] += 1
        assert asked(door, anna, "versions").status == 200


def test_an_author_has_so_many_requests_in_progress(league: League) -> None:
    anna, ben = league.author("anna"), league.author("ben")
    league.publish("authors/anna/status.json", {"versions": [{"version": "fox/1", "bot": "fox", "state": "received"}]})
    with opened(league) as door:
        waiting = [threading.Thread(target=asked, args=(door, anna, "versions?wait=60")) for _ in range(MOST_OPEN)]
        for thread in waiting:
            thread.start()
        refused = until(lambda: asked(door, anna, ""), lambda said: said.status == 429 and said.problem.limit == "open")
        assert refused.headers["retry-after"] == "1"
        assert asked(door, ben, "").status == 200
        league.publish("authors/anna/status.json", FOX)
        for thread in waiting:
            thread.join(60)
        until(lambda: asked(door, anna, ""), lambda said: said.status == 200)


# How it is


def test_an_open_door_says_how_it_is_and_a_closed_one_nothing(league: League) -> None:
    anna = league.author("anna")
    now = [100.0]
    with opened(league, clock=lambda: now[0], falls=2) as door:
        with client(door, anna) as connection:
            connection.hello()
            with pytest.raises(DoorError):
                connection.log("t-000001")
            assert asked(door, new_token(), "").status == 401
            now[0] += 20
            said = until(lambda: health(league.folder), lambda found: found.messages == 2)
        assert (said.falls, said.connections, said.turned_away, said.remote) == (2, 1, 1, 0)
        assert (said.refused, said.closed, said.pid) == ({"unknown": 1, "unknown_token": 1}, {}, os.getpid())
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


def until(look: Callable[[], T | None], is_it: Callable[[T], bool]) -> T:
    """Looks until it is there."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = look()
        if found is not None and is_it(found):
            return found
        time.sleep(0.05)
    raise AssertionError("it does not come")
