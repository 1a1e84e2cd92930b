"""A league's folder as the door sees it, without a league; and a door that is open on it."""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from arena.core.files import write
from arena.league.door.addresses import Address, address
from arena.league.door.app import Door, room
from arena.league.door.checks import Check
from arena.league.door.client import Client
from arena.league.door.messages import API, MAX_AUTHOR_FRAME, Problem
from arena.league.door.refusals import Refusal
from arena.league.door.tokens import hash_of, new_token
from arena.pages.web import Server, listen


def digest_of(path: Path, mib: int) -> str:
    """Stands for the check of an archive: everything is one, but for what begins with `bad`."""
    data = path.read_bytes()
    if data.startswith(b"bad"):
        raise Refusal("archive", "expected an archive, got: bad", "pack it", rule="first entry", path="a/b")
    return hashlib.sha256(data).hexdigest()


class League:
    """A folder with what a league publishes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys: dict[str, str] = {}
        (folder / "published").mkdir(parents=True)
        self.publish("league.json", {"name": "cup", "rules": "samurai", "remote": True})

    def publish(self, name: str, document: Any) -> None:
        """Writes a published file, as the league does."""
        path = self.folder / "published" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, document if isinstance(document, bytes) else json.dumps(document).encode())

    def author(self, name: str) -> str:
        """Adds an author, and returns a new token of theirs."""
        token = new_token()
        self.keys[hash_of(token)] = name
        self.publish("keys.json", self.keys)
        return token

    def revoke(self, token: str) -> None:
        """Revokes a token."""
        del self.keys[hash_of(token)]
        self.publish("keys.json", self.keys)

    def orders(self) -> list[dict[str, Any]]:
        """What the door has left for the league, by time."""
        found = [json.loads(path.read_text()) for path in (self.folder / "incoming").glob("*.json")]
        return sorted(found, key=lambda order: str(order["at"]))

    def order(self, verb: str, *, seconds: float = 60) -> dict[str, Any]:
        """Waits for an order that has no answer yet."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for order in self.orders():
                if order["verb"] == verb and not (self.folder / f"published/answers/{order['id']}.json").exists():
                    return order
            time.sleep(0.01)
        raise AssertionError(f"no order: {verb}")

    def answer(self, order: dict[str, Any], document: dict[str, Any]) -> None:
        """Answers an order."""
        self.publish(f"answers/{order['id']}.json", document)


class OpenDoor(NamedTuple):
    """A door that serves."""

    door: Door
    server: Server
    address: Address


@contextmanager
def serving(door: Door) -> Iterator[OpenDoor]:
    """Yields a door that serves in a thread."""
    listening, ready = listen("127.0.0.1:0"), threading.Event()
    server = Server(door.app, listening, ready=ready.set, room=room, message_bytes=MAX_AUTHOR_FRAME)
    door.traffic = server.traffic
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert ready.wait(60)
        yield OpenDoor(door, server, address(f"http://127.0.0.1:{listening.port}"))
    finally:
        server.stop()
        thread.join()


@contextmanager
def opened(league: League, *, check: Check = digest_of, **settings: Any) -> Iterator[OpenDoor]:
    """Yields a door of a league that serves in a thread."""
    with serving(Door(league.folder, check, **({"room": lambda folder: True} | settings))) as door:
        yield door


@contextmanager
def answering(league: League, verb: str, document: dict[str, Any]) -> Iterator[None]:
    """Answers the next order of a verb, in a thread."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            league.answer(league.order(verb), document)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()
    assert not failed


def client(door: OpenDoor, token: str, **settings: Any) -> Client:
    """A client of the door."""
    return Client(door.address, token, **settings)


class Said(NamedTuple):
    """An answer over HTTP."""

    status: int
    headers: Message
    body: bytes

    @property
    def problem(self) -> Problem:
        """What is wrong."""
        assert self.headers["content-type"] == "application/problem+json"
        return msgspec.json.decode(self.body, type=Problem)


def asked(
    door: OpenDoor, token: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> Said:
    """Asks with a token, without the client. In the names of headers `_` stands for `-`."""
    connection = http.client.HTTPConnection(door.address.host, door.address.port, timeout=60)
    given = {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        connection.request(method, path if path.startswith("/") else f"{API}/{path}", body, given)
        answer = connection.getresponse()
        return Said(answer.status, answer.headers, answer.read())
    finally:
        connection.close()
