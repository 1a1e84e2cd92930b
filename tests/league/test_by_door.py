"""Authors elsewhere and a real league: what the door leaves is obeyed, what is answered is passed on."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from arena.author import archives
from arena.core import files
from arena.core.errors import DoorError
from arena.league.door.app import Door
from arena.league.door.messages import Serve, Serving
from arena.league.door.remote_client import RemoteClient
from arena.league.door.tokens import hash_of, new_token
from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.service.inbox import Inbox, give, new_order
from arena.league.settings import Bots, Settings
from arena.league.store import open_league, read_league
from tests.door_kit import OpenDoor, client, serving

SETTINGS = Settings(name="cup", bots=Bots(remote=True))


class Served:
    """A league whose orders are obeyed in a thread, and a door that is open on it."""

    def __init__(self, path: Path) -> None:
        self.folder: Folder = make_league(path, SETTINGS)
        self.keys: dict[str, str] = {}
        self.publish("league.json", {"name": "cup", "rules": "samurai", "remote": True})
        self.obeys = threading.Event()
        self.stopped = threading.Event()
        self.failed: list[BaseException] = []

    def publish(self, name: str, document: object) -> None:
        files.write(self.folder.published / name, msgspec.json.encode(document))

    def author(self, name: str) -> str:
        token = new_token()
        self.keys[hash_of(token)] = name
        self.publish("keys.json", self.keys)
        with open_league(self.folder.database) as store:
            store.authors.add(name)
        return token

    def _obey(self) -> None:
        try:
            with open_league(self.folder.database) as store:
                inbox = Inbox(store, self.folder, SETTINGS, lambda sentence: None)
                self.obeys.set()
                while not self.stopped.wait(0.02):
                    inbox.look()
        except BaseException as error:
            self.failed.append(error)

    def order(self, verb: str, **arguments: object) -> None:
        """Gives an order, as the operator's command does."""
        give(self.folder, SETTINGS, new_order(verb, arguments))

    @contextmanager
    def running(self, *, service: bool = True) -> Iterator[OpenDoor]:
        thread = threading.Thread(target=self._obey)
        if service:
            thread.start()
            assert self.obeys.wait(60)
        with serving(Door(self.folder.path, room=lambda folder: True)) as door:
            yield door
        self.stopped.set()
        if service:
            thread.join()
        assert not self.failed


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path / "cup")


def packed_bot(folder: Path, name: str, text: str = "") -> archives.PackedBot:
    path = folder / f"{name}{text}"
    path.mkdir(exist_ok=True)
    (path / "bot.toml").write_text(f'name = "{name}"\ncommand = ["{{python}}", "bot.py"]\n')
    (path / "bot.py").write_text(f"# {text}\n")
    return archives.pack(path)


def ignore(count: int) -> None:
    pass


def test_a_submission_over_the_network_becomes_a_version_once(served: Served, tmp_path: Path) -> None:
    """§D5-2, §D5-3."""
    token, packed = served.author("anna"), packed_bot(tmp_path, "fox")
    with served.running() as door, client(door, token) as connection:
        first = connection.submit(packed.data, "fox", packed.digest, ignore)
        again = connection.submit(packed.data, "fox", packed.digest, ignore)
    assert first is not None
    assert again is not None
    assert (first.version, first.same) == ("fox/1", False)
    assert (again.version, again.same) == ("fox/1", True)
    with read_league(served.folder.database) as league:
        versions = [version for version in league.versions.all() if not version.is_of_house]
    assert [(version.name, version.author, version.digest) for version in versions] == [
        ("fox/1", "anna", packed.digest)
    ]
    assert served.folder.archive(packed.digest).read_bytes() == packed.data
    assert list(served.folder.incoming.glob("*.*")) == []


def test_an_archive_that_is_sent_as_one_bot_does_not_become_another(served: Served, tmp_path: Path) -> None:
    token, packed = served.author("anna"), packed_bot(tmp_path, "wolf")
    with served.running() as door, client(door, token) as connection:
        with pytest.raises(
            DoorError, match="expected an archive of the bot 'fox', got: one whose manifest names 'wolf'"
        ):
            connection.submit(packed.data, "fox", packed.digest, ignore)
        submitted = connection.submit(packed.data, "wolf", packed.digest, ignore)
    assert submitted is not None
    assert submitted.version == "wolf/1"


def test_an_author_cannot_touch_anothers_bot(served: Served, tmp_path: Path) -> None:
    """Neither by its name, nor by retiring it; nor is an order of the operator obeyed."""
    anna, ben = served.author("anna"), served.author("ben")
    packed, evil = packed_bot(tmp_path, "fox"), packed_bot(tmp_path, "fox", "evil")
    with served.running() as door, client(door, anna) as hers, client(door, ben) as his:
        hers.submit(packed.data, "fox", packed.digest, ignore)
        with pytest.raises(DoorError):
            his.submit(evil.data, "fox", evil.digest, ignore)
        with pytest.raises(DoorError):
            his.ordered("retire", bot="fox")
        with pytest.raises(DoorError):
            his.ordered("retire", bot="random")
        with pytest.raises(DoorError, match="expected a bot of yours that plays"):
            his.ordered("match", bot="fox", against="random")
        with pytest.raises(DoorError, match="expected a bot of yours that plays, or a version"):
            hers.ordered("match", bot="fox", against="random")  # which is not tried yet
        with pytest.raises(DoorError, match="expected your own name"):
            his.ordered("author_remove", name="anna")
        retired = hers.ordered("retire", bot="fox")
        assert retired is not None
        assert retired.retired == ("fox/1",)
        assert hers.ordered("author_remove", name="anna") is not None
        with pytest.raises(DoorError) as caught:
            hers.hello()
        assert caught.value.refusal == "unknown_token"


def test_a_remote_bot_becomes_a_version_of_its_level(served: Served) -> None:
    """§D7-1."""
    token = served.author("anna")
    with served.running() as door, RemoteClient(door.address, token) as remote:
        remote.send(Serve(id=1, bot="fox", digest="ab" * 32))
        assert select.select([remote.socket], [], [], 20)[0]
        heard = remote.heard()
    assert [(type(each), each.version, each.state) for each in heard] == [(Serving, "fox/1", "received")]
    with read_league(served.folder.database) as league:
        assert league.versions.named("fox/1").level == "remote"


@pytest.mark.parametrize("service", [True, False])
@pytest.mark.parametrize("verb", ["key_revoke", "author_remove"])
def test_a_revoked_token_opens_nothing_once_the_command_has_said_so(served: Served, verb: str, service: bool) -> None:
    """§D4-1: at its next request, whether a service runs or not; and a new token is valid at once."""
    hers, his = new_token(), new_token()
    with served.running(service=service) as door:
        served.order("author_add", name="anna", key=hash_of(hers), label="")
        served.order("author_add", name="ben", key=hash_of(his), label="")
        with client(door, hers) as anna, client(door, his) as ben:
            assert (anna.hello().author, ben.hello().author) == ("anna", "ben")
            served.order(verb, **({"key": hash_of(hers)} if verb == "key_revoke" else {"name": "anna"}))
            with pytest.raises(DoorError) as caught:
                anna.status()
            assert caught.value.refusal == "unknown_token"
            assert ben.hello().author == "ben"
