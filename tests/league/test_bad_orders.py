"""Bad orders: whatever comes, it is answered or put aside, and the service goes on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.core import files
from arena.core.errors import MachineFault, Refused, StoreError
from arena.core.types import Payload
from arena.league.folder import Folder
from arena.league.keeping.housekeeping import Tidy
from arena.league.order_context import Order
from arena.league.service import orders
from arena.league.service.inbox import Inbox, give, new_order
from arena.league.settings import Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.records import Kind, Version
from arena.league.store.states import Actor, State
from tests import service_kit

SETTINGS = Settings(name="cup")
MADE_BEFORE = "1" * 32  # the name of an order that was given before any other


@pytest.fixture
def store(folder: Folder) -> Iterator[LeagueStore]:
    with open_league(folder.database) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        yield store


def leave(folder: Folder, verb: str, *, id: str = "", **arguments: Any) -> Path:
    """Leaves an order for the service, as a command does."""
    made = new_order(verb, arguments)
    order = msgspec.structs.replace(made, id=id or made.id)
    path = folder.inbox / f"{order.id}.json"
    files.write(path, msgspec.json.encode(order))
    return path


def answer_to(folder: Folder, path: Path) -> Payload:
    return msgspec.json.decode(folder.answer(path.stem).read_bytes(), type=Payload)


def looked(store: LeagueStore, folder: Folder) -> list[str]:
    """Has the orders obeyed that wait, and returns what is said of it."""
    said: list[str] = []
    Inbox(store, folder, SETTINGS, said.append).look()
    return said


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("author_add", {"name": "bad name!"}),
        ("author_add", {"name": "cora", "key": "no key"}),
        ("author_add", {"name": "cora", "quotas": {"bots": 2**63}}),
        ("key_add", {"author": "house", "key": "x" * 41}),
        ("replay_games", {"matches": [2**63]}),
        ("replay_games", {"matches": [10**40]}),
        ("replay_games", {"matches": [-1]}),
        ("replay_games", {"matches": list(range(5000))}),
        ("concurrency", {"workers": 10**40}),
        ("season_close", {"season": "first", "next": ""}),
        ("season_close", {"season": "first", "next": "a\nb"}),
        ("season_close", {"season": "first", "next": "x" * 500}),
        ("remote", {"author": "house", "bot": "../x", "digest": "ab" * 32}),
        ("remote", {"author": "house", "bot": "fox", "digest": "../../x"}),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(
    store: LeagueStore, folder: Folder, verb: str, arguments: Payload
) -> None:
    settings = msgspec.structs.replace(SETTINGS, bots=msgspec.structs.replace(SETTINGS.bots, remote=True))
    path = leave(folder, verb, **arguments)
    assert Inbox(store, folder, settings, lambda sentence: None).look() == 1
    answer = answer_to(folder, path)
    assert answer["code"] in ("argument", "unknown_match")
    assert answer["message"].startswith("expected ")
    assert store.commands.answer(path.stem) == answer, "it is a refusal like others"
    assert list(folder.inbox.iterdir()) == []
    assert store.notices.of(None) == []
    assert store.controls.closing is None


def break_pause(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Makes an order fail as no order should."""

    def fail(context: object) -> Payload:
        raise error

    monkeypatch.setattr(orders, "VERBS", {**orders.VERBS, "pause": fail})


@pytest.mark.parametrize(
    "error",
    [OverflowError("too large"), KeyError("x"), RecursionError(), AssertionError(), StoreError("it is odd"),
     sqlite3.IntegrityError("UNIQUE constraint failed"), sqlite3.InterfaceError("wrong type")],
)  # fmt: skip
def test_an_order_that_fails_is_put_aside_and_answered_and_the_others_are_obeyed(
    store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    break_pause(monkeypatch, error)
    bad = leave(folder, "pause")
    (folder.inbox / f"{bad.stem}.tar.zst").write_bytes(b"an archive")
    good = leave(folder, "concurrency", workers=3)
    inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
    assert inbox.look() == 2
    assert inbox.look() == 0
    assert inbox.obeyed == {"pause": 1, "concurrency": 1}
    assert answer_to(folder, good) == {"workers": 3}
    assert answer_to(folder, bad)["code"] == "failed"
    [notice] = store.notices.of(None)
    assert type(error).__name__ in notice.text
    assert f"{bad.name}.bad" in notice.text
    assert {path.name for path in folder.inbox.iterdir()} == {f"{bad.name}.bad", f"{bad.stem}.tar.zst.bad"}


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), MachineFault("no memory"), sqlite3.OperationalError("disk I/O")]
)
def test_an_order_that_the_machine_cannot_obey_stays(
    store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    path = leave(folder, "pause")
    inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
    with monkeypatch.context() as patch:
        break_pause(patch, error)
        with pytest.raises(type(error)):
            inbox.look()
    assert path.exists()
    assert store.notices.of(None) == []
    assert inbox.look() == 1
    assert store.controls.paused


def test_a_command_is_told_that_its_order_failed(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    break_pause(monkeypatch, OverflowError("too large"))
    with pytest.raises(Refused, match="expected an order that the league can obey"):
        give(folder, SETTINGS, new_order("pause", {}))


def test_a_bad_order_that_waits_stops_no_other_command(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    break_pause(monkeypatch, OverflowError("too large"))
    leave(folder, "pause", id=MADE_BEFORE)
    assert give(folder, SETTINGS, new_order("resume", {})) == {"paused": False}
    assert [path.name for path in folder.inbox.iterdir()] == [f"{MADE_BEFORE}.json.bad"]


def test_a_command_does_not_wait_for_an_answer_that_cannot_come(folder: Folder) -> None:
    """Whatever takes its order away, it ends."""

    def take(seconds: float) -> None:
        for path in folder.orders():
            path.unlink()

    with folder.running(), pytest.raises(StoreError, match="expected an answer"):
        give(folder, SETTINGS, new_order("pause", {}), sleep=take)


@pytest.mark.parametrize(
    "name", ["x" * 240, "ä" * 120, "a b", "\udcff", "-", "x" * 65], ids=["long", "bytes", "space", "raw", "-", "65"]
)
def test_an_order_whose_name_is_none_is_put_aside_once(store: LeagueStore, folder: Folder, name: str) -> None:
    (folder.inbox / f"{name}.json").write_bytes(b"{}")
    inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
    assert (inbox.look(), inbox.look()) == (1, 0)
    assert len(store.notices.of(None)) == 1
    assert folder.orders() == []
    assert list(folder.answers.iterdir()) == []


def test_an_order_that_is_nested_without_end_is_put_aside(store: LeagueStore, folder: Folder) -> None:
    order = msgspec.json.encode(Order(id="a", verb="pause", at=""))
    (folder.inbox / "a.json").write_bytes(order[:-1] + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    looked(store, folder)
    assert folder.orders() == []
    [notice] = store.notices.of(None)
    assert "it is put aside" in notice.text


def test_what_cannot_be_put_aside_is_told_once_and_stops_nothing(
    store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.inbox / "a.json").write_bytes(b"{")
    good = leave(folder, "pause")

    replace = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if target.suffix == ".bad":
            raise PermissionError(1, "Operation not permitted")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
    assert (inbox.look(), inbox.look()) == (2, 0)
    assert answer_to(folder, good) == {"paused": True}
    assert len(store.notices.of(None)) == 1


def test_a_season_that_is_kept_to_be_closed_is_closed_by_whichever_command_finds_it(folder: Folder) -> None:
    """It was given while a service ran, which was killed before it answered."""
    with folder.running():
        kept = new_order("season_close", {"season": "first", "next": "spring", "final": "no"})
        assert give(folder, SETTINGS, kept, wait_s=0) is None
    assert give(folder, SETTINGS, new_order("pause", {})) == {"paused": True}
    answer = answer_to(folder, folder.inbox / f"{kept.id}.json")
    assert answer == {"season": "first", "next": "spring"}
    with open_league(folder.database) as store:
        assert store.controls.closing is not None


def test_a_version_that_is_retired_while_it_is_built_again_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files were lost, and its archive cannot be built any more: it would be suspended."""
    with service_kit.league(tmp_path, "fox", "owl") as store:
        fox = store.versions.named("fox")

        def work(tools: service_kit.Tools, version: Version, kind: Kind) -> Any:
            store.versions.change(fox.id, State.RETIRED, Actor.AUTHOR, "its author wants it")
            return service_kit.outcome, (kind, "bad build")

        monkeypatch.setattr(service_kit.Tools, "is_built", lambda tools, version: version.id != fox.id)
        monkeypatch.setattr(service_kit.Tools, "work", work)
        running = service_kit.Running(store, service_kit.play)
        assert running.run(4).games >= 4
        assert store.versions.get(fox.id).state is State.RETIRED
        assert any(sentence.startswith("fox/1: it is not suspended") for sentence in running.said)


def test_what_was_put_aside_goes_after_some_days(store: LeagueStore, folder: Folder) -> None:
    names = ("old.json.bad", "old.tar.zst.bad", "new.json.bad", "old.tar.zst")
    for name in names:
        (folder.inbox / name).write_bytes(b"{")
        if name.startswith("old"):
            os.utime(folder.inbox / name, (0, 0))
    Tidy(store, folder, SETTINGS.logs, print).look()
    assert {path.name for path in folder.inbox.iterdir()} == {"new.json.bad", "old.tar.zst"}
