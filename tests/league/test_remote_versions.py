"""Versions that play from their author's machine: what their steps are, and when games of theirs are planned."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from arena.core.errors import MachineFault
from arena.core.types import Level
from arena.league.door.relay import PRESENCE, SEAT, SOCKET, STALE_S, served
from arena.league.folder import Folder
from arena.league.matches.planning import Planner
from arena.league.matches.supply import Jobs
from arena.league.settings import Matchmaking, Settings
from arena.league.store import LeagueStore, open_league
from arena.league.store.records import Version
from arena.league.store.states import Actor, State
from arena.league.submissions.steps import Verdict, qualify
from arena.league.submissions.tools import LeagueTools, absent, nothing_to_do


def remote_version(store: LeagueStore) -> Version:
    store.authors.add("anna")
    received = store.versions.receive(
        "anna", "fox", "ab" * 32, {"name": "fox"}, 0, "2026-01-01T12:00:00+00:00", level=Level.REMOTE, by=Actor.AUTHOR
    )
    return received.version


@pytest.fixture(autouse=True)
def door(folder: Folder) -> Iterator[socket.socket]:
    """What an open door listens on for seats."""
    path = folder.path / SEAT
    path.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path / SOCKET))
        listener.listen(64)
        yield listener


def serve(folder: Folder, *names: str, age_s: float = 0) -> None:
    """What the door says of who is there."""
    path = folder.path / PRESENCE
    path.write_text(json.dumps({name: {} for name in names}))
    then = path.stat().st_mtime - age_s
    os.utime(path, (then, then))


def test_only_the_first_games_of_a_remote_version_are_a_step_here(folder: Folder) -> None:
    tools = LeagueTools(folder, Settings(name="cup"))
    with open_league(folder.database) as store:
        version = remote_version(store)
    for kind in ("build", "check"):
        do, arguments = tools.work(version, kind)
        assert do is nothing_to_do
        assert do(*arguments).verdict is Verdict.PASSED
    with pytest.raises(MachineFault, match="start `arena bot serve`"):
        tools.work(version, "qualify")
    serve(folder, "fox/1")
    do, arguments = tools.work(version, "qualify")
    assert do is qualify
    assert arguments[0].command[-1] == "fox/1"
    assert Path(arguments[0].folder).is_relative_to(folder.door)


def test_a_remote_version_that_nobody_serves_is_absent(folder: Folder, door: socket.socket) -> None:
    with open_league(folder.database) as store:
        version = remote_version(store)
        assert absent(store, folder) == frozenset(), "it is not active"
        for state in (State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE):
            store.versions.change(version.id, state, Actor.SERVICE, "test")
        assert absent(store, folder) == {"fox/1"}
        serve(folder, "fox/1", "other/1")
        assert absent(store, folder) == frozenset()
        serve(folder, "fox/1", age_s=STALE_S + 5)
        assert absent(store, folder) == {"fox/1"}, "the door hangs"
        serve(folder, "fox/1")
        assert absent(store, folder) == frozenset()
        door.close()
        assert absent(store, folder) == {"fox/1"}, "the door was killed"


def test_games_of_a_bot_that_has_gone_are_taken_back_before_it_forfeits_them(folder: Folder) -> None:
    with open_league(folder.database) as store:
        version = remote_version(store)
        for state in (State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE):
            store.versions.change(version.id, state, Actor.SERVICE, "test")
        planner = Planner(store, Settings(name="cup").rule, bytes(32), absent=partial(absent, store, folder))
        serve(folder, "fox/1")
        entrant = store.versions.get(version.id).entrant
        planned = planner.plan(2)
        assert any(entrant in match.entrants for match in planned)
        serve(folder)
        planner.plan(2)
        assert not any(entrant in match.entrants for match in store.matches.running())


def test_a_remote_bot_starts_anew_for_each_game_and_others_serve_a_block(folder: Folder) -> None:
    settings = Settings(name="cup", matchmaking=Matchmaking(deals=2))
    with open_league(folder.database) as store:
        version = remote_version(store)
        for state in (State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE):
            store.versions.change(version.id, state, Actor.SERVICE, "test")
        fox = store.versions.get(version.id).entrant or 0
        season = store.games.tournament()
        store.matches.plan([[(0, 1)], [(0, 1)]], "", rated=True)
        store.matches.plan([[(0, fox)], [(0, fox)]], "", rated=True)
        jobs = Jobs(store, LeagueTools(folder, settings).bot, settings, season, folder.feed)
        blocks = [
            jobs(claim, game).block
            for number in range(4)
            for game in [store.matches.game(number)]
            for claim in store.games.claim(season.id, store.matches.game, 1)
        ]
    assert blocks[0] == blocks[1]
    assert len({*blocks}) == 3


@pytest.mark.parametrize("text", ["", "[]", "{", "\0"])
def test_a_list_that_cannot_be_read_names_nobody(folder: Folder, text: str) -> None:
    (folder.path / PRESENCE).write_text(text)
    assert served(folder.path) == frozenset()
