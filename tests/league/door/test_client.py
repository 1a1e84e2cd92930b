"""An author's program and what it may meet between itself and a league: certificates, proxies, cuts, other servers."""

from __future__ import annotations

import http.server
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_sockets

from arena.core.errors import ConfigError, DoorError
from arena.league.commands import leagues
from arena.league.commands.here import Elsewhere
from arena.league.door import addresses
from arena.league.door.addresses import Address, address
from arena.league.door.certificates import context, own, pin, url
from arena.league.door.client import TRIES, Client
from arena.league.door.codec import encode
from arena.league.door.messages import MAX_DOOR_FRAME, SUBPROTOCOL, FromDoor, Offer, Ping, Pong
from arena.league.door.remote_client import RemoteClient
from arena.league.door.tokens import new_token, write_token

TOKEN = new_token()
PROBLEM = {"title": "", "status": 401, "code": "unknown_token", "detail": "expected more", "remedy": "give it"}
WELCOME = json.dumps({"protocol": "1.0", "author": "anna", "league": {"name": "cup"}, "limits": {}})
Answer = Callable[["Handler"], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Notes each request, and answers as the test says."""

    protocol_version = "HTTP/1.1"
    answers: list[Answer]
    heard: list[tuple[str, str, dict[str, str]]]

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # the client has refused our certificate, or we have closed
            self.close_connection = True

    def do_GET(self) -> None:
        self.heard.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}))
        (self.answers.pop(0) if self.answers else say(WELCOME))(self)

    do_PUT = do_HEAD = do_DELETE = do_CONNECT = do_GET

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def say(body: str, status: int = 200, **headers: str) -> Answer:
    """Answers a request."""

    def answer(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(b"" if handler.command == "HEAD" else body.encode())

    return answer


def cut(bytes_: int = 0) -> Answer:
    """Reads so much of a body, and closes the connection."""

    def answer(handler: Handler) -> None:
        handler.rfile.read(bytes_)
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    return answer


def slow(handler: Handler) -> None:
    """Answers after longer than a connection may take to be made."""
    time.sleep(1)
    say(WELCOME)(handler)


def taken(handler: Handler) -> None:
    """Reads a body, and says that it is a version."""
    handler.rfile.read(int(handler.headers["content-length"]))
    say('{"version": "fox/1", "state": "received"}', 201)(handler)


class League:
    """A server that is no league."""

    def __init__(self, port: int, scheme: str, pin: str = "") -> None:
        self.address = Address(scheme, "localhost", port, pin)
        self.answers: list[Answer] = []
        self.heard: list[tuple[str, str, dict[str, str]]] = []

    def client(self, **more: Any) -> Client:
        return Client(self.address, TOKEN, **more)


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[League]:
    handler = type("Here", (Handler,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that goes is no fault
    if certificate is not None:
        secure = context(certificate, certificate.with_suffix(".key"))
        server.socket = secure.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    league = League(server.server_port, "https" if certificate else "http")
    handler.answers, handler.heard = league.answers, league.heard  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    try:
        yield league
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost that nobody vouches for, as a door makes it."""
    return Path(own(tmp_path_factory.mktemp("tls"))[0])


def test_a_door_at_all_addresses_is_told_with_one_by_which_others_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.getfqdn", lambda: "box")  # without a network
    assert re.fullmatch(r"https://(box|\d+\.\d+\.\d+\.\d+):8780", url("0.0.0.0", 8780, secure=True))


@pytest.fixture(autouse=True)
def without_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def league() -> Iterator[League]:
    with serving() as league:
        yield league


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("https://cup.example", "https://cup.example"),
        ("HTTPS://Cup.example:443/", "https://cup.example"),
        ("https://cup.example:8443#sha256=" + 64 * "Aa"[:1], "https://cup.example:8443#sha256=" + 64 * "a"),
        ("http://127.0.0.1:8780", "http://127.0.0.1:8780"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_an_address_is_read_and_written(text: str, same: str) -> None:
    assert str(address(text)) == same
    assert address(same) == address(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tcp://cup.example:5599/5f", "got: an address of ZeroMQ"),
        ("http://cup.example", "expected https:// for a league on another machine"),
        ("http://127.0.0.1.evil.example", "expected https:// for a league on another machine"),
        ("https://cup.example/api/v1", "expected the address of a league"),
        ("https://anna:secret@cup.example", "expected the address of a league"),
        ("cup.example", "expected the address of a league"),
        ("https://cup.example:many", "expected the address of a league"),
        ("https://cup.example#sha256=ab", "64 hexadecimal digits"),
        ("https://cup.example#md5=" + 64 * "a", "64 hexadecimal digits"),
    ],
)
def test_what_is_no_address_is_refused_with_what_to_do(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        address(text)
    assert "; " in str(caught.value)


def test_a_certificate_is_trusted_or_pinned_before_anything_is_said(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§D4-2: whoever stands between is sent no token."""
    with serving(certificate) as league:
        for wrong, sentence in (("", "expected a certificate that this machine trusts"), (64 * "0", "got: another")):
            league.address = Address("https", "localhost", league.address.port, wrong)
            with league.client() as client, pytest.raises(DoorError, match=sentence) as caught:
                client.hello()
            assert caught.value.refusal == "certificate"
            with pytest.raises(DoorError, match=sentence):
                RemoteClient(league.address, TOKEN)
        assert league.heard == []
        league.address = Address("https", "localhost", league.address.port, pin(certificate))
        with league.client() as client:
            assert client.hello().author == "anna"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        league.address = Address("https", "localhost", league.address.port)
        with league.client() as client:
            assert client.hello().author == "anna"
        assert {heard["authorization"] for *_, heard in league.heard} == {f"Bearer {TOKEN}"}


def test_a_proxy_of_the_machine_is_used_and_hears_no_token(
    league: League, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets CONNECT, and then bytes of TLS: here it sends them to a league with a pinned certificate."""

    def tunnel(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        with socket.create_connection(("127.0.0.1", secured.address.port)) as inner:
            ways = [(handler.connection, inner), (inner, handler.connection)]
            threads = [threading.Thread(target=_copy, args=way) for way in ways]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        handler.close_connection = True

    with serving(certificate) as secured:
        league.answers.append(tunnel)
        monkeypatch.setenv("https_proxy", f"http://anna:se%20cret@127.0.0.1:{league.address.port}")
        with Client(Address("https", "cup.example", 443, pin(certificate)), TOKEN) as client:
            assert client.hello().author == "anna"
        ((method, path, heard),) = league.heard
        assert (method, path) == ("CONNECT", "cup.example:443")
        assert heard["proxy-authorization"] == "Basic YW5uYTpzZSBjcmV0"
        assert "authorization" not in heard
        assert secured.heard[0][2]["host"] == "cup.example"


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # it was closed
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(
    ("answer", "sentence", "refusal"),
    [
        (say(json.dumps(PROBLEM | {"rule": "r", "path": "p"}), 401), r"more \(r - at p\); give it", "unknown_token"),
        (
            say("<html>", 404),
            "404 Not Found - at localhost:.*: this is no league of arena; check the address",
            "nobody",
        ),
        (say("<html>", 502), "502 Bad Gateway .*: its door is not open now", "nobody"),
        (say("<html>", 413), "413 .*, of the proxy before it", "too_large"),
        (say("", 301, location="https://new.example/"), "try 'https://new.example/'", "moved"),
        (say("<html>", 403), "403 Forbidden .*; check the address, and ask its operator", "strange"),
        (say("<html>"), "expected an answer as leagues give it, got: JSON is malformed", "internal"),
        (say('{"author": 7}'), "expected an answer as leagues give it", "internal"),
        (cut(), "expected the connection to the league at localhost:.* to last", "no_answer"),
        (lambda handler: handler.wfile.write(b"220 mail\r\n\r\n"), "got: 220 mail", "no_answer"),
    ],
)
def test_what_is_no_league_is_said_by_its_cause(league: League, answer: Answer, sentence: str, refusal: str) -> None:
    league.answers += [answer] * 4
    with league.client() as client, pytest.raises(DoorError, match=sentence) as caught:
        client.hello()
    assert caught.value.refusal == refusal


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        (Address("http", "127.0.0.1", 1), "nobody listens there"),
        (Address("https", "no-such-host.invalid", 443), "expected the name of a machine, got: 'no-such-host.invalid'"),
    ],
)
def test_where_nobody_is_that_is_said(there: Address, sentence: str) -> None:
    with Client(there, TOKEN) as client, pytest.raises(DoorError, match=sentence) as caught:
        client.hello()
    assert caught.value.refusal == "nobody"


def test_a_server_without_tls_is_told_from_one_that_is_not_trusted(league: League) -> None:
    league.address = Address("https", "localhost", league.address.port)
    with league.client() as client, pytest.raises(DoorError, match="expected TLS at localhost"):
        client.hello()


def test_a_connection_that_was_closed_meanwhile_is_made_again(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "CONNECT_S", 0.5)
    with league.client() as client:
        client.hello()
        league.answers += [cut(), cut(), say(WELCOME, connection="close"), slow]
        assert [client.hello().author for _ in range(2)] == ["anna", "anna"]
    assert len(league.heard) == 5


def test_an_upload_goes_on_where_it_was_cut(league: League) -> None:
    """As often as it gets further; what the last command has sent is not sent again."""
    unknown, archive, have, said = say("", 404), bytes(1_000_000), [], []
    lasts = [answer for n in range(TRIES + 2) for answer in (cut(100_000), say("", 204, upload_offset=f"{n + 1}00000"))]
    league.answers += [unknown, *lasts, taken]
    with league.client(tell=said.append) as client:
        found = client.submit(archive, "fox", "d" * 64, have.append)
    assert found is not None
    assert found.version == "fox/1"
    assert (have[-1], len(said)) == (1_000_000, TRIES + 2)
    puts = [heard for method, _, heard in league.heard if method == "PUT"]
    assert [heard["upload-offset"] for heard in puts] == [str(100_000 * n) for n in range(TRIES + 3)]
    assert puts[-1]["content-length"] == str(1_000_000 - 100_000 * (TRIES + 2))


def test_an_upload_that_gets_no_further_ends(league: League) -> None:
    league.answers += [say("", 404), *[cut(), say("", 404)] * 2 * TRIES]
    with league.client() as client, pytest.raises(DoorError, match="to last"):
        client.submit(b"x", "fox", "d" * 64, lambda have: None)
    assert sum(method == "PUT" for method, *_ in league.heard) == TRIES


def test_bytes_that_are_not_those_of_their_digest_are_refused(league: League) -> None:
    good = "sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:"  # of "hello world"
    league.answers += [say("hello world", repr_digest=good), say("hello xorld", repr_digest=good)]
    with league.client() as client:
        assert client.season("cup-1", "rounds-0.jsonl") == b"hello world"
        with pytest.raises(DoorError, match="it changed meanwhile"):
            client.season("cup-1", "rounds-0.jsonl")


def test_names_stay_names_in_a_path(league: League) -> None:
    league.answers += [say("{}", 404)] * 3
    with league.client() as client:
        for ask in (
            lambda: client.log("../x?a#b"),
            lambda: client.season("..", "a/b"),
            lambda: client.report("fox/1", "a b"),
        ):
            with pytest.raises(DoorError):
                ask()
    assert [path for _, path, _ in league.heard] == [
        "/api/v1/games/..%2Fx%3Fa%23b/log", "/api/v1/seasons/../a%2Fb", "/api/v1/versions/fox/1/reports/a%20b"
    ]  # fmt: skip


# The WebSocket


@contextmanager
def sockets(handler: Callable[[ServerConnection], None], certificate: Path | None = None) -> Iterator[Address]:
    """A WebSocket's other end, with or without TLS."""
    secure = context(certificate, certificate.with_suffix(".key")) if certificate else None
    with serve_sockets(handler, "127.0.0.1", 0, ssl=secure, subprotocols=[SUBPROTOCOL], ping_interval=None) as server:  # type: ignore[list-item]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.socket.getsockname()[1]
        yield (
            Address("https", "localhost", port, pin(certificate)) if certificate else Address("http", "127.0.0.1", port)
        )
        server.shutdown()
        thread.join()


def heard(remote: RemoteClient, number: int) -> list[FromDoor]:
    found = remote.heard()
    until = time.monotonic() + 20
    while len(found) < number and time.monotonic() < until and remote.connected:
        time.sleep(0.001)
        found += remote.heard()
    return found


@pytest.mark.parametrize("is_secure", [False, True])
def test_messages_come_whole_however_they_are_cut(is_secure: bool, certificate: Path) -> None:
    """In fragments, many at once, and large ones; both ways, while the other end is slow to read."""
    offer = Offer("f" * 32, "x" * 60_000)
    answers: list[bytes] = []

    def league(socket: ServerConnection) -> None:
        assert socket.request is not None
        assert socket.request.headers["Authorization"] == f"Bearer {TOKEN}"
        data = encode(offer)
        socket.send(data[n : n + 1_000] for n in range(0, len(data), 1_000))
        for number in range(100):
            socket.send(encode(Ping(number + 1)))
        socket.ping()
        time.sleep(0.2)
        answers.extend(data for _ in range(3_000) if isinstance(data := socket.recv(), bytes))
        socket.send(encode(offer))

    with sockets(league, certificate if is_secure else None) as there, RemoteClient(there, TOKEN) as remote:
        assert heard(remote, 101) == [offer, *[Ping(number + 1) for number in range(100)]]
        for number in range(3_000):
            remote.send(Pong(number + 1))
        assert heard(remote, 1) == [offer]
    assert answers == [encode(Pong(number + 1)) for number in range(3_000)]


def test_a_connection_that_ends_is_noticed_with_what_was_said_before(certificate: Path) -> None:
    def league(socket: ServerConnection) -> None:
        socket.send(encode(Ping(1)))

    with sockets(league) as there, RemoteClient(there, TOKEN) as remote:
        assert heard(remote, 2) == [Ping(1)]
        assert not remote.connected
        remote.send(Pong(1))  # it is lost, and nothing more


@pytest.mark.parametrize("hostile", [b"\x81\xa4type\xa4ping", b"\xc1", bytes(MAX_DOOR_FRAME + 1)])
def test_a_league_that_does_not_keep_to_the_protocol_is_left(hostile: bytes) -> None:
    def league(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            socket.send(hostile)
            socket.recv()

    with sockets(league) as there, RemoteClient(there, TOKEN) as remote:
        if len(hostile) > MAX_DOOR_FRAME:
            assert heard(remote, 1) == []
            assert not remote.connected
            return
        with pytest.raises(DoorError, match="expected a message as leagues send it"):
            heard(remote, 1)


@pytest.mark.parametrize(
    ("answer", "sentence", "refusal"),
    [
        (say(json.dumps(PROBLEM), 401), "expected more; give it", "unknown_token"),
        (say("<html>"), "200 OK - at localhost", "strange"),
        (cut(), "to last, got: it ended before an answer of HTTP", "no_answer"),
    ],
)
def test_a_websocket_that_is_denied_says_why(league: League, answer: Answer, sentence: str, refusal: str) -> None:
    league.answers.append(answer)
    with pytest.raises(DoorError, match=sentence) as caught:
        RemoteClient(league.address, TOKEN)
    assert caught.value.refusal == refusal


def test_who_follows_a_version_asks_a_door_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(leagues, "_AGAIN_S", 0)
    write_token(tmp_path / "anna.token", TOKEN)
    versions = json.dumps({"versions": [{"version": "fox/1", "state": "active"}], "notices": [], "kept": {}})
    with serving() as league, league.client() as client:
        there = leagues.There(Elsewhere(str(league.address), tmp_path / "anna.token"), client)
        league.answers += [say("", 502), cut(), cut(), say(versions), say("", 502)]
        assert there.state("fox/1", 3) == "active"
        with pytest.raises(DoorError, match="got: 502 Bad Gateway"):
            there.state("fox/1")
