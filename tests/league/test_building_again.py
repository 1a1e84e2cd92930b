"""What was built and is gone is built again: that stalls nobody, and no game is planned that could not be played."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.errors import MachineFault
from arena.core.referee.job import Job
from arena.core.types import GameResult
from arena.league.keeping import clearing as lost
from arena.league.matches import supply
from arena.league.store import LeagueStore
from arena.league.store.states import Actor, State
from arena.league.submissions import step_runner
from tests import league_kit, service_kit
from tests.service_kit import Running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with service_kit.league(tmp_path, "fox", "owl", "cat") as store:
        yield store


@pytest.fixture(autouse=True)
def _without_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supply, "LONGEST_REST_S", 0.0)
    monkeypatch.setattr(step_runner, "_LOOK_S", 0.0)


class Playing:
    """Plays games whose bots are built, and remembers the names of who played."""

    def __init__(self) -> None:
        self.running: Running
        self.played: list[tuple[str, ...]] = []

    def __call__(self, job: Job) -> GameResult:
        names = tuple(bot.name for bot in job.bots)
        if lost := self.running.tools.unbuilt & {*names}:
            raise MachineFault(f"expected what was built of {lost}, got: it is gone")
        self.played.append(names)
        result: GameResult = service_kit.play(job)
        return result

    def count(self, name: str) -> int:
        return sum(name in names for names in self.played)


def service(store: LeagueStore, *unbuilt: str) -> tuple[Running, Playing]:
    play = Playing()
    play.running = Running(store, play, unbuilt=unbuilt)
    return play.running, play


def newer(store: LeagueStore, text: str = "2") -> None:
    """A newer version of fox plays; fox/1 rests and is the last good one."""
    league_kit.active(store, "fox", text, author="of fox")


def test_a_version_that_comes_back_is_built_before_its_games_are_planned(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer(store)
    running, play = service(store, "fox/1")
    assert not running.step_runner.lost.untried_at_first, "fox/1 is not needed"

    def look() -> None:
        fox = store.versions.named("fox/2")
        if running.supply.rated >= 6 and fox.state is State.ACTIVE:
            store.versions.change(fox.id, State.SUSPENDED, Actor.OPERATOR, "a test")

    monkeypatch.setattr(running.orders, "look", look)
    assert running.run(40).games >= 40
    assert play.count("fox/2") > 0
    assert store.versions.named("fox/1").state is State.ACTIVE, "the last good one is back"
    assert ("fox/1", "build") in running.tools.done
    assert play.count("fox/1") > 3
    assert running.supply.machine_faults == 0
    assert "void" not in {store.matches.get(number).state for number in range(store.matches.count())}


def test_while_it_cannot_be_built_the_others_play(store: LeagueStore) -> None:
    """The machine fails whenever it is tried: nobody waits for that, and no match of it is planned."""
    newer(store, "dead build")
    running, play = service(store, "fox/2")
    assert running.run(30).games >= 30
    assert (play.count("fox/2"), running.supply.machine_faults) == (0, 0)
    assert running.tools.done.count(("fox/2", "build")) >= 1
    assert {"owl/1", "cat/1"} <= {name for names in play.played for name in names}
    assert store.versions.named("fox/2").state is State.ACTIVE
    assert running.service.state()["machine_faults"] >= 1, "the operator sees it"


def test_one_that_cannot_be_built_does_not_hold_up_submissions(store: LeagueStore) -> None:
    newer(store, "dead build")
    league_kit.submit(store, "owl", "2", author="of owl")
    running, _ = service(store, "fox/2")
    running.run(30)
    assert store.versions.named("owl/2").state is State.ACTIVE


def test_games_wait_at_the_start_until_all_were_tried_once(store: LeagueStore) -> None:
    running, _ = service(store, "fox/1", "owl/1", "cat/1")
    assert running.step_runner.lost.untried_at_first
    assert running.service.state()["state"] == "building again"
    running.run(1)
    assert [step for step in running.tools.done if step[1] == "build"][:3] == [
        ("fox/1", "build"), ("owl/1", "build"), ("cat/1", "build"),
    ]  # fmt: skip
    assert not running.step_runner.lost.untried_at_first
    assert not running.step_runner.lost.names


def test_one_whose_predecessor_is_not_built_either_does_not_stall(store: LeagueStore) -> None:
    """fox/2 cannot be built any more and is suspended. fox/1 comes back, and its files are gone, too."""
    newer(store, "bad build")
    running, play = service(store, "fox/1", "fox/2")
    running.run(40)
    assert store.versions.named("fox/2").state is State.SUSPENDED
    assert store.versions.named("fox/1").state is State.ACTIVE
    assert play.count("fox/1") > 3
    assert running.supply.machine_faults == 0


def test_planned_games_of_one_whose_files_vanish_are_taken_back(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost, "_LOOK_S", 0.0)
    running, _ = service(store)
    running.planner.plan(8)
    fox = store.versions.named("fox/1").entrant
    assert any(fox in match.entrants for match in store.matches.running())
    running.tools.unbuilt.add("fox/1")
    running.planner.plan(8)
    assert not any(fox in match.entrants for match in store.matches.running())


@pytest.mark.parametrize("until", [State.CHECKING, State.QUALIFYING])
def test_one_that_is_being_tried_is_built_again_too(store: LeagueStore, until: State) -> None:
    """After a restore there is nothing to check: it was tried again for ever."""
    league_kit.play_on(store, league_kit.submit(store, "owl", "2", author="of owl"), until)
    running, _ = service(store, "owl/2")
    running.run(20)
    assert running.tools.done[0] == ("owl/2", "build")
    assert store.versions.named("owl/2").state is State.ACTIVE


def test_one_that_is_being_tried_and_cannot_be_built_any_more_is_rejected(store: LeagueStore) -> None:
    version = league_kit.submit(store, "owl", "bad build", author="of owl")
    league_kit.play_on(store, version, State.CHECKING)
    running, _ = service(store, "owl/2")
    running.run(20)
    assert store.versions.named("owl/2").state is State.REJECTED
    assert store.versions.named("owl/1").state is State.ACTIVE


def test_a_final_begins_once_all_were_tried_that_could_play_in_it(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, _ = service(store, "fox/1")
    asked: list[tuple[bool, bool]] = []

    class Ending:
        plays = False

        def look(self, *, quiet: bool) -> bool:
            asked.append((quiet, "fox/1" in running.tools.unbuilt))
            return quiet

        def plan(self, workers: int) -> None:
            """Plans nothing."""

    running.service.ending = Ending()
    monkeypatch.setattr(running.orders, "closing", True)
    assert running.run(None).closing
    assert (True, True) not in asked
    assert asked[-1] == (True, False)
