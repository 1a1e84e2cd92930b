"""A site that grew is the site that one would make anew, whatever happened to the database in between."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.core.standings.closing import close
from arena.core.store.store import open_store
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.round_robin import Gauntlet, RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.league.store import LeagueStore
from arena.league.store.states import Actor, State
from arena.pages import plots
from arena.pages.site.build import Wish, build
from tests import instant, league_kit, site_kit


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is written as data: to draw it takes longer than all the rest."""
    monkeypatch.setattr(plots, "courses_svg", msgspec.json.encode)
    monkeypatch.setattr(plots, "darkened", bytes)


def grown(database: Path) -> None:
    """Brings a site up to date, and compares it with a new one."""
    folder = database.parent
    for name in ("site", "anew"):
        build(Wish(database=database, folder=folder / name, title="Cup", verify=False), site_kit.quiet)
    grew, anew = site_kit.content(folder / "site"), site_kit.content(folder / "anew")
    shutil.rmtree(folder / "anew")
    assert sorted(grew) == sorted(anew)
    assert [name for name in anew if grew[name] != anew[name]] == []


# A league


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league_kit.league(tmp_path, "anna") as store:
        yield store


def play(store: LeagueStore, *, rated: bool = True, forfeits: Sequence[int] = ()) -> None:
    one, other = store.versions.active()[:2]
    league_kit.play(store, one, other, rated=rated, forfeits=forfeits)


def publish(store: LeagueStore) -> None:
    for match in store.matches.over()[:1]:
        store.matches.publish(match.number)


def strike(store: LeagueStore) -> None:
    rated = [number for number in range(store.matches.count()) if store.matches.get(number).rated]
    over = [number for number in rated if store.matches.get(number).state == "over"]
    if over:
        store.matches.strike(over[:1], "a test")


def enter(store: LeagueStore) -> None:
    league_kit.active(store, "fox", str(len(store.versions.all())))


def suspend(store: LeagueStore) -> None:
    for version in store.versions.active()[2:3]:
        with store.transaction():
            store.versions.change(version.id, State.SUSPENDED, Actor.OPERATOR, "a test")


def void(store: LeagueStore) -> None:
    match = league_kit.plan(store, *store.versions.active()[:2])
    league_kit.record(store, league_kit.claim(store)[0])
    store.matches.void(match.number, "a test")


LEAGUE: dict[str, Callable[[LeagueStore], object]] = {
    "play": play,
    "play unrated": lambda store: play(store, rated=False),
    "forfeit": lambda store: play(store, forfeits=(0,)),
    "publish": publish,
    "strike": strike,
    "enter": enter,
    "suspend": suspend,
    "void": void,
}


@pytest.mark.parametrize("what", LEAGUE)
def test_each_change_of_a_league_reaches_every_page(what: str, store: LeagueStore) -> None:
    enter(store)
    for _ in range(3):
        play(store)
        publish(store)
    grown(store.path)
    LEAGUE[what](store)
    grown(store.path)


@pytest.mark.long
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(sorted(LEAGUE)), min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_league_s_site_grows_into_a_new_one(course: list[list[str]]) -> None:
    with TemporaryDirectory() as folder, league_kit.league(Path(folder), "anna") as store:
        for changes in course:
            for change in changes:
                LEAGUE[change](store)
            grown(store.path)


# Tournaments

FORMATS: dict[str, Format] = {
    "round-robin": RoundRobin(deals=2),
    "swiss": Swiss(rounds=2, deals=1),
    "knockout": Knockout(deals=1),
    "gauntlet": Gauntlet(deals=1, challengers=1),
}


class Hall:
    """A database of tournaments that begin, go on, end and are removed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "arena.db"
        self.ids: list[str] = []

    def play(self, number: int, games: int | None) -> None:
        """Plays some games of a tournament, which begins if it has not."""
        kind = list(FORMATS)[number % len(FORMATS)]
        self._play(instant.settings(format=FORMATS[kind], seed=f"{number}"), games)

    def extend(self) -> None:
        """Extends the first tournament, if it is finished."""
        with open_store(self.database) as store:
            finished = [id for id in self.ids if store.has(id) and store.tournament(id).finished]
            first = store.tournament(finished[0]) if finished else None
        if first is not None and first.settings["format"] == "round-robin":
            longer = Extension(deals=3, extends=first.id, unchanged=(0, 1, 2), played=2)
            self._play(instant.settings(format=longer, seed=f"on {first.id}"), None)

    def remove(self) -> None:
        """Removes the first tournament."""
        with open_store(self.database) as store:
            there = [id for id in self.ids if store.has(id)]
            store.remove(there[:1])

    def _play(self, setting: instant.Settings, games: int | None) -> None:
        with open_store(self.database) as store:
            store._db.execute("PRAGMA synchronous = OFF")
            begun = instant.start(store, setting, self.folder / "logs")
            id = begun.tournament.id
            self.ids += [] if id in self.ids else [id]
            runner = instant.runner(store, begun, setting).run()
            for _ in zip(range(10**9 if games is None else games), runner, strict=False):
                pass
            if games is None:
                close(store, begun.tournament)


CHANGES = st.one_of(
    st.tuples(st.just("play"), st.integers(0, 3), st.sampled_from([0, 1, 3, None])),
    st.just(("extend",)),
    st.just(("remove",)),
)


def change(hall: Hall, name: str, *values: int | None) -> None:
    getattr(hall, name)(*values)


@pytest.mark.thorough
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CHANGES, min_size=1, max_size=6))
def test_a_site_of_tournaments_grows_into_a_new_one(course: list[tuple[str]]) -> None:
    with TemporaryDirectory() as folder:
        hall = Hall(Path(folder))
        hall.play(0, 1)
        for one in course:
            change(hall, *one)
            grown(hall.database)


def test_what_a_gauntlet_is_anchored_to_may_go_on(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    hall.play(0, 3)
    hall.play(3, None)
    grown(hall.database)
    hall.play(0, None)
    grown(hall.database)


def test_a_tournament_that_is_removed_leaves_no_page(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    for number in (0, 1):
        hall.play(number, None)
    grown(hall.database)
    mine = tmp_path / "site" / "notes.html"
    mine.write_text("of the operator's own")
    hall.remove()
    with pytest.raises(AssertionError, match="notes"):
        grown(hall.database)
    assert mine.exists()
    assert not (tmp_path / "site" / hall.ids[0]).exists()
    mine.unlink()
    grown(hall.database)
