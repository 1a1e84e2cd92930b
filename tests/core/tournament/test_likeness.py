"""A command that is almost an unfinished tournament is told what differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.store.store import Store, open_store
from arena.core.tournament.extend import almost, differences
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.settings import Settings
from arena.core.types import TimeControl
from tests import instant

SETTINGS = instant.settings()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "arena.db") as store:
        instant.start(store, SETTINGS, tmp_path / "logs")
        yield store


def timed(text: str) -> Settings:
    return replace(SETTINGS, game=replace(SETTINGS.game, time=TimeControl.parse(text)))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (instant.settings(deals=3), ["deals 2 there, 3 here"]),
        (replace(SETTINGS, format=RoundRobin(deals=2, seatings="all")), ["seatings cyclic there, all here"]),
        (instant.settings(seed=None), ["seed spring there, none here"]),
        (timed("2/move"), ["time 10+0.1 there, 2/move here"]),
        (instant.settings(("ann", "bob")), ["cid only there"]),
        (instant.settings(("ann", "bob", "dan")), ["cid only there", "dan only here"]),
        (instant.settings(("bob", "ann", "cid")), ["the order of the bots"]),
        (replace(SETTINGS, processes="game"), ["processes block there, game here"]),
        (replace(SETTINGS, game=replace(SETTINGS.game, options={"setup": "random"})),
         ["rule setup draft there, random here"]),
    ],
)  # fmt: skip
def test_what_differs_is_told_in_the_words_of_the_command_line(store: Store, other: Settings, told: list[str]) -> None:
    near = almost(store, other)
    assert near is not None
    assert list(near.differences) == told
    assert near.tournament == store.unfinished(SETTINGS.digest)


def test_a_bot_whose_files_have_changed_is_named() -> None:
    bots = tuple(replace(bot, digest="0" * 64) if bot.name == "bob" else bot for bot in SETTINGS.bots)
    changed = replace(SETTINGS, bots=bots)
    assert list(differences(SETTINGS.document(), changed.document())) == ["the files of bob have changed since"]


def test_the_same_tournament_or_quite_another_is_not_almost_this_one(store: Store) -> None:
    assert almost(store, SETTINGS) is None
    assert almost(store, instant.settings(("x", "y", "z"), players=3, deals=9, seed=None)) is None
