"""Arbitrary orders: whatever comes, each is answered or put aside, and the league goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from arena.author import archives
from arena.core import files
from arena.core.types import Payload
from arena.league.door.tokens import is_hash
from arena.league.folder import Folder
from arena.league.public import documents
from arena.league.season.closing import close_season
from arena.league.season.opening import make_league
from arena.league.service.inbox import Inbox, new_order
from arena.league.service.orders import OF_AUTHORS, VERBS
from arena.league.settings import Bots, Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.states import State
from tests import league_kit

SETTINGS: Final = Settings(name="cup", bots=Bots(remote=True))
KEY: Final = "k" * 40
TEXTS: Final = st.text(max_size=40) | st.sampled_from(["", "../x", "a/b/c", "fox/" + "9" * 30, "x" * 5000, "\0", "-1"])
NUMBERS: Final = st.integers() | st.sampled_from([-1, 2**31, 2**63 - 1, 2**63, 2**64, 10**40])
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=6,
)
VERSIONS: Final = ("fox", "fox/1", "fox/2", "owl", "elk/1", "random", "FOX", "cat")
GOOD: Final[dict[str, tuple[Any, ...]]] = {
    "name": ("anna", "bert", "cora", "house"),
    "author": ("anna", "bert", "house"),
    "version": VERSIONS,
    "bot": VERSIONS,
    "against": VERSIONS,
    "display_name": ("Füchsin", ""),
    "key": (KEY, "m" * 40),
    "label": ("laptop",),
    "quotas": ({"bots": 3}, {}, {"pending": 0, "submissions": 0}),
    "reason": ("it cheats", "{name} {reason}"),
    "first": (0, 1),
    "last": (1, 99),
    "matches": ([0], [1, 0], [2], [99]),
    "workers": (0, 3),
    "season": ("first",),
    "next": ("spring", "autumn", "First"),
    "final": ("yes", "no"),
    "digest": ("ab" * 32, "cd" * 32),
    "manifest": ({}, {"version": "3"}, {"version": {"a": []}}, {"command": 3}),
}
"""By the name of an argument values that mean something."""
FINE: Final = st.fixed_dictionaries({name: st.sampled_from(good) for name, good in GOOD.items()})
ODD: Final = st.dictionaries(st.sampled_from(sorted(GOOD)), JSON, max_size=3)
ORDER: Final = st.tuples(
    st.sampled_from([*sorted(VERBS) * 2, "dance", "", "x" * 5000]),
    st.builds(
        lambda fine, odd, gone: {name: value for name, value in {**fine, **odd}.items() if name not in gone},
        FINE,
        ODD,
        st.sets(st.sampled_from(sorted(GOOD)), max_size=4),
    ),
    st.sampled_from([None, None, None, None, "anna", "bert", "nobody", ""]),
    st.sampled_from([None, None, None, b"fine", b"fine", b"broken", b"folder"]),
)


@cache
def template() -> tuple[TemporaryDirectory[str], bytes]:
    """A league with authors, versions in several states and matches, and an archive that it would take."""
    kept = TemporaryDirectory()
    folder = make_league(Path(kept.name) / "cup", SETTINGS)
    with open_league(folder.database) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        for author in ("anna", "bert"):
            store.authors.add(author)
        store.authors.add_key("anna", KEY)
        random = store.versions.named("random")
        for content in ("1", "2"):
            fox = league_kit.active(store, "fox", content)
        league_kit.play_on(store, league_kit.submit(store, "elk", author="bert"), State.CHECKING)
        league_kit.submit(store, "owl")
        league_kit.play(store, fox, random)
        league_kit.play(store, random, store.versions.named("greedy"))
        league_kit.plan(store, fox, random)
    bot = Path(kept.name) / "fox"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "fox"\ncommand = ["{python}", "bot.py"]\n')
    (bot / "bot.py").write_text("")
    return kept, archives.pack(bot).data


def leave(folder: Folder, verb: str, arguments: Payload, author: str | None, archive: bytes | None) -> Path:
    """Leaves an order as a command does, or the door for an author."""
    order = msgspec.structs.replace(new_order(verb, arguments), author=author)
    path = (folder.inbox if author is None else folder.incoming) / f"{order.id}.json"
    beside = path.with_name(f"{order.id}.tar.zst")
    if archive == b"folder":
        beside.mkdir()
    elif archive is not None:
        beside.write_bytes(template()[1][: None if archive == b"fine" else -9])
    path.write_bytes(msgspec.json.encode(order))
    return path


def check_all(store: LeagueStore, folder: Folder) -> None:
    """What the service does after orders is still possible."""
    msgspec.json.encode(documents.status(store, SETTINGS, folder))
    msgspec.json.encode(documents.standings(store))
    for author in store.authors.all():
        msgspec.json.encode(documents.author_status(store, author.name))
    assert all(map(is_hash, documents.keys(store)))
    assert store.controls.workers is None or store.controls.workers <= 1024
    if store.controls.closing is not None:
        for match in store.matches.running():
            store.matches.void(match.number, "a test")
        store.seasons.stop()
        for match in store.matches.over():
            store.matches.publish(match.number)
        close_season(store, folder, lambda sentence: None)
        assert store.controls.closing is None
    [random] = [version for version in store.versions.active() if version.bot == "random"]
    assert random.entrant is not None, "the house still plays"


@contextmanager
def opened() -> Iterator[tuple[Folder, LeagueStore]]:
    """A fresh copy of that league. Nobody pulls a plug here, so nothing is synced."""
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        folder = Folder(shutil.copytree(Path(template()[0].name) / "cup", Path(place) / "cup"))
        with open_league(folder.database) as store:
            store._db.execute("PRAGMA synchronous = OFF")
            yield folder, store


@given(st.lists(ORDER, min_size=1, max_size=8))
@settings(max_examples=60)
def test_whatever_is_ordered_is_answered_and_the_league_goes_on(orders: list[Any]) -> None:
    with opened() as (folder, store):
        inbox = Inbox(store, folder, SETTINGS, lambda sentence: None)
        left = [leave(folder, *order) for order in orders]
        assert inbox.look() == len(orders)
        assert folder.orders() == []
        for path, (verb, _, author, archive) in zip(left, orders, strict=True):
            answer = msgspec.json.decode(folder.answer(path.stem).read_bytes(), type=Payload)
            assert answer["message"] if "code" in answer else verb in VERBS
            assert "code" in answer or author is None or verb in OF_AUTHORS
            assert answer.get("code") != "failed", store.notices.of(None)[0].text
            assert answer.get("code") != "order" or archive == b"folder"
            event(f"{verb if verb in VERBS else 'none'}: {answer.get('code', 'done')}")
        check_all(store, folder)
        last = leave(folder, "pause", {}, None, None)
        assert inbox.look() == 1
        assert msgspec.json.decode(folder.answer(last.stem).read_bytes()) == {"paused": True}


@given(st.binary(max_size=300) | JSON.map(msgspec.json.encode) | st.dictionaries(
    st.sampled_from(["id", "verb", "author", "arguments", "at"]), JSON).map(msgspec.json.encode))  # fmt: skip
@settings(max_examples=25)
def test_whatever_lies_in_the_inbox_holds_nothing_up(data: bytes) -> None:
    with opened() as (folder, store):
        files.write(folder.inbox / "a.json", data)
        good = leave(folder, "pause", {}, None, None)
        assert Inbox(store, folder, SETTINGS, lambda sentence: None).look() == 2
        assert folder.orders() == []
        assert folder.answer(good.stem).exists()
        assert len(store.notices.of(None)) == 1
