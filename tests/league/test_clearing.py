"""What nobody needs is removed, in an order that a kill cannot spoil: built files, and what is half written."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from arena.core.errors import Refused
from arena.core.store.store import days_ago
from arena.league.folder import Folder
from arena.league.keeping import clearing
from arena.league.keeping.clearing import AT_ONCE, KEPT_DAYS, Clearing, clean_up
from arena.league.keeping.retention import DAY_S
from arena.league.settings import Settings
from arena.league.store import LeagueStore, rows
from arena.league.store.records import Version
from arena.league.store.rows import MOST_PLAYED
from arena.league.store.states import Actor, State
from tests import league_kit
from tests.service_kit import Killed

FILES = ("fox.sh", "data/a", "data/b", "data/deep/c")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.make()
    return folder


@pytest.fixture
def store(folder: Folder) -> Iterator[LeagueStore]:
    with league_kit.league(folder.path, "anna") as store:
        yield store


def build(folder: Folder, version: Version) -> Version:
    for name in FILES:
        path = folder.built(version.digest) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("built")
    return version


def change(store: LeagueStore, version: Version, to: State, by: Actor = Actor.OPERATOR) -> None:
    store.versions.change(version.id, to, by, "a test")


def built(store: LeagueStore, folder: Folder) -> set[str]:
    return {version.name for version in store.versions.all() if folder.built(version.digest).exists()}


def clear(store: LeagueStore, folder: Folder) -> list[str]:
    said: list[str] = []
    duty = Clearing(store, folder, said.append)
    for _ in range(9):
        duty.look()
    return said


def test_what_may_still_play_stays_and_all_else_goes(store: LeagueStore, folder: Folder) -> None:
    for text in ("1", "2", "3"):
        build(folder, league_kit.active(store, "fox", text))
    build(folder, league_kit.play_on(store, league_kit.submit(store, "fox", "4"), State.CHECKING))
    change(store, build(folder, league_kit.active(store, "owl")), State.SUSPENDED)
    change(store, build(folder, league_kit.active(store, "cat")), State.RETIRED)
    rejected = build(folder, league_kit.play_on(store, league_kit.submit(store, "dog"), State.QUALIFYING))
    change(store, rejected, State.REJECTED, Actor.SERVICE)
    (folder.bots / "by hand").mkdir()
    said = clear(store, folder)
    assert built(store, folder) == {"fox/2", "fox/3", "fox/4"}, "the last good, the active, the one that is tried"
    assert said == ["What was built of 4 versions is removed: no game needs it"]
    assert len(list(folder.bots.iterdir())) == 4, "nothing that is not ours goes, and nothing half removed is left"
    assert clear(store, folder) == []
    change(store, store.versions.named("fox/3"), State.SUSPENDED)
    assert store.versions.named("fox/2").state is State.ACTIVE
    assert folder.built(store.versions.named("fox/2").digest).is_dir(), "it plays again at once"


def keep(folder: Folder, version: Version, days: float = KEPT_DAYS + 1) -> Version:
    """Makes the archive of a version, which came so many days ago."""
    path = folder.archive(version.digest)
    path.write_bytes(b"archive")
    age(path, days)
    return version


def age(path: Path, days: float) -> None:
    os.utime(path, (time.time() - days * DAY_S,) * 2)


def kept(store: LeagueStore, folder: Folder) -> set[str]:
    return {version.name for version in store.versions.all() if folder.archive(version.digest).exists()}


def over_for_days(store: LeagueStore, days: float) -> None:
    """Makes all changes of states so many days old."""
    store._db.execute("UPDATE versions SET since = ?", (days_ago(days),))


def test_archives_stay_of_whoever_may_come_to_play(store: LeagueStore, folder: Folder) -> None:
    for text in ("1", "2", "3"):
        keep(folder, league_kit.active(store, "fox", text))
    keep(folder, league_kit.play_on(store, league_kit.submit(store, "fox", "4"), State.CHECKING))
    keep(folder, league_kit.submit(store, "fox", "5"))
    keep(folder, league_kit.submit(store, "fox", "6"))
    change(store, keep(folder, league_kit.active(store, "owl")), State.SUSPENDED)
    change(store, keep(folder, league_kit.active(store, "cat")), State.RETIRED)
    rejected = keep(folder, league_kit.play_on(store, league_kit.submit(store, "dog"), State.QUALIFYING))
    change(store, rejected, State.REJECTED, Actor.SERVICE)
    orphan, unknown = folder.archive("0" * 64), folder.submissions / "notes.txt"
    for path in (orphan, unknown):
        path.write_text("by hand")
        age(path, KEPT_DAYS + 1)

    every = kept(store, folder)
    clear(store, folder)
    assert kept(store, folder) == every, "those that were ended just now are there still"
    assert not orphan.exists(), "no version has it: its order was refused"
    assert unknown.exists(), "it is none of ours"

    over_for_days(store, KEPT_DAYS + 0.1)
    clear(store, folder)
    assert every - kept(store, folder) == {"cat/1", "dog/1", "fox/5"}, "retired, rejected, never tried"
    assert store.versions.archives() == sorted(
        version.digest for version in store.versions.all() if version.name in every & kept(store, folder)
    )


def test_an_archive_that_has_just_come_again_stays(store: LeagueStore, folder: Folder) -> None:
    change(store, keep(folder, league_kit.active(store, "cat"), days=KEPT_DAYS - 0.1), State.RETIRED)
    over_for_days(store, KEPT_DAYS + 1)
    clear(store, folder)
    assert kept(store, folder) == {"cat/1"}


def test_of_those_that_have_played_only_the_last_can_play_again(store: LeagueStore, folder: Folder) -> None:
    """Else an author could fill the disk with good versions: each archive would have to stay for ever."""
    first = keep(folder, league_kit.active(store, "fox", "0"))
    change(store, first, State.SUSPENDED)
    for number in range(1, MOST_PLAYED + 1):
        keep(folder, league_kit.active(store, "fox", str(number)))
        rejected = league_kit.play_on(store, league_kit.submit(store, "fox", f"bad {number}"), State.BUILDING)
        change(store, rejected, State.REJECTED, Actor.SERVICE)
    keep(folder, league_kit.active(store, "fox", "last"))
    over_for_days(store, KEPT_DAYS + 1)
    clear(store, folder)
    assert len(kept(store, folder)) == MOST_PLAYED
    assert "fox/1" not in kept(store, folder)
    with pytest.raises(Refused, match="one of the last 20 versions of fox that have played, got: fox/1"):
        change(store, first, State.ACTIVE)
    came_back = []
    while (good := rows.last_good(store._db, "fox")) is not None:
        [playing] = [version for version in store.versions.active() if version.bot == "fox"]
        change(store, playing, State.SUSPENDED)
        came_back.append(good.name)
    assert len(came_back) == MOST_PLAYED - 1, "the last good one is always one whose archive is there"
    assert set(came_back) <= kept(store, folder)


def test_the_last_good_one_of_every_bot_is_in_use(store: LeagueStore) -> None:
    for bot in ("fox", "owl"):
        for text in ("1", "2", "3"):
            league_kit.active(store, bot, text)
    change(store, store.versions.named("fox/2"), State.RETIRED)
    change(store, store.versions.named("owl/3"), State.SUSPENDED)
    named = {version.name for version in store.versions.in_use() if not version.is_of_house}
    assert named == {"fox/1", "fox/3", "owl/1", "owl/2"}
    for bot in ("fox", "owl"):
        good = rows.last_good(store._db, bot)
        assert good is not None
        assert good.name in named


def test_whoever_is_in_a_match_that_is_not_over_keeps_its_files(store: LeagueStore, folder: Folder) -> None:
    fox = build(folder, league_kit.active(store, "fox"))
    league_kit.plan(store, fox, store.versions.named("random"))
    [claimed] = league_kit.claim(store)
    change(store, fox, State.RETIRED)
    clear(store, folder)
    assert built(store, folder) == {"fox/1"}, "a game of it runs"
    league_kit.record(store, claimed)
    store.matches.over()
    clear(store, folder)
    assert built(store, folder) == set()


def test_a_few_files_are_removed_at_a_time(store: LeagueStore, folder: Folder) -> None:
    fox = build(folder, league_kit.active(store, "fox"))
    for number in range(2 * AT_ONCE):
        (folder.built(fox.digest) / str(number)).touch()
    change(store, fox, State.RETIRED)
    duty = Clearing(store, folder, lambda sentence: None)
    duty.look()
    assert built(store, folder) == set(), "it has another name before anything is removed"
    left = [sum(1 for _ in folder.bots.rglob("*"))]
    while left[-1]:
        duty.look()
        left.append(sum(1 for _ in folder.bots.rglob("*")))
    assert len(left) >= 3
    assert all(before - after <= AT_ONCE + 5 for before, after in pairwise(left))


def test_a_kill_at_any_step_leaves_folders_that_are_whole_or_not_there(
    store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed at the first, second, third ... change of the disk, and what is left is looked at each time."""
    versions = [league_kit.active(store, "fox", str(number)) for number in range(3)]
    calls = {name: getattr(os, name) for name in ("rename", "replace", "unlink", "rmdir", "fsync")}
    steps = 0
    while True:
        for version in versions:
            build(folder, version)
        left = steps

        def dying(name: str) -> object:
            def call(*arguments: object) -> object:
                nonlocal left
                if left == 0:
                    raise Killed
                left -= 1
                return calls[name](*arguments)

            return call

        with monkeypatch.context() as patch, suppress(Killed):
            for name in calls:
                patch.setattr(os, name, dying(name))
            clear(store, folder)
        for path in folder.bots.iterdir():
            if not path.name.endswith(".part"):
                assert {str(each.relative_to(path)) for each in path.rglob("*") if each.is_file()} == {*FILES}
        assert {"fox/2", "fox/3"} <= built(store, folder)
        ended = left > 0
        clean_up(store, folder, Settings(name="cup"), league_kit.season(store))
        assert not list(folder.bots.glob("*.part")), "the next start removes what was half removed"
        if ended:
            break
        steps += 1
    assert steps > 8, "it was killed within"


def test_what_cannot_be_put_aside_is_tried_again(
    store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clearing, "CLEAR_S", 0.0)
    fox = build(folder, league_kit.active(store, "fox"))
    change(store, fox, State.RETIRED)
    duty = Clearing(store, folder, lambda sentence: None)
    with monkeypatch.context() as patch:
        patch.setattr(clearing, "_aside", lambda path: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(OSError, match="Input"):
            duty.look()
    assert built(store, folder) == {"fox/1"}
    duty.look()
    assert built(store, folder) == set()


def test_what_was_half_written_is_removed_wherever_it_is_published(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    part = f"{'0' * 16}.part"
    places = ("submissions", "published", "published/answers", "published/authors/anna", "published/own/anna")
    for place in places:
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / f"status.json.{part}").write_bytes(b"{")
        (tmp_path / place / "status.json").write_bytes(b"{}")
    with league_kit.league(tmp_path) as store:
        clean_up(store, folder, Settings(name="cup"), season := league_kit.season(store))
        assert store.games.tournament(season.tournament).logs == str(folder.logs / season.tournament), "it was moved"
    assert list(tmp_path.rglob("*.part")) == []
    assert len(list(tmp_path.rglob("status.json"))) == len(places)
