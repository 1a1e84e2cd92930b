"""A league's folder as the door sees it, without a league; and a door that is open on it."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.core.files import write
from arena.league.door.checks import Check
from arena.league.door.client import Client
from arena.league.door.keys import Pair, make_pair
from arena.league.door.refusals import Refusal
from arena.league.door.server import Door

LOCAL = "tcp://127.0.0.1:*"  # a free port of this machine


def digest_of(path: Path) -> str:
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

    def author(self, name: str) -> Pair:
        """Adds an author with a new key."""
        pair = make_pair()
        self.keys[pair.public] = name
        self.publish("keys.json", self.keys)
        return pair

    def revoke(self, pair: Pair) -> None:
        """Revokes a key."""
        del self.keys[pair.public]
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


@contextmanager
def opened(league: League, *, check: Check = digest_of, **settings: Any) -> Iterator[Door]:
    """Yields a door that serves in a thread."""
    door = Door(league.folder, LOCAL, check, **({"room": lambda folder: True} | settings))
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            door.step(20)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield door
    finally:
        stopped.set()
        thread.join()
        door.close()


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


def client(door: Door, pair: Pair, **settings: Any) -> Client:
    """A client of the door."""
    return Client(door.address, pair, **settings)
