"""What is built of an author's bots takes so much of the disk at most, and whoever is refused is told what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.errors import Refused
from arena.core.files import MIB
from arena.league.folder import Folder
from arena.league.order_context import Order, OrderContext
from arena.league.settings import Limits, Settings
from arena.league.store import LeagueStore
from arena.league.store.records import StepReport, Verdict, Version
from arena.league.store.states import Actor, State
from arena.league.submissions.submitting import Allowance, check_quotas, footprint
from tests import league_kit
from tests.service_kit import Running, play


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.make()
    (tmp_path / "logs").mkdir(exist_ok=True)
    return folder


@pytest.fixture
def store(folder: Folder) -> Iterator[LeagueStore]:
    with league_kit.league(folder.path, "anna", "bert") as store:
        yield store


def built(mib: float) -> StepReport:
    return StepReport(kind="build", verdict=Verdict.PASSED, seconds=0.1, detail={"bytes": int(mib * MIB)})


def active(store: LeagueStore, bot: str, text: str, mib: int, author: str = "anna") -> Version:
    version = league_kit.submit(store, bot, text, author=author)
    store.versions.change(version.id, State.BUILDING, Actor.SERVICE, "")
    report = StepReport(kind="build", attempt=1, verdict=Verdict.PASSED, detail={"bytes": mib * MIB})
    store.versions.change(version.id, State.CHECKING, Actor.SERVICE, "", report=report)
    for state in (State.QUALIFYING, State.ACTIVE):
        store.versions.change(version.id, state, Actor.SERVICE, "")
    return store.versions.get(version.id)


def allowance(store: LeagueStore, folder: Folder, mib: int = 100) -> Allowance:
    return Allowance(store, folder.bots, Limits(built_mib=mib))


def test_a_build_with_which_it_is_too_much_fails_and_the_report_says_what_to_do(
    store: LeagueStore, folder: Folder
) -> None:
    active(store, "fox", "1", 60)
    active(store, "fox", "2", 30)
    active(store, "owl", "1", 90, author="bert")
    version = league_kit.play_on(store, league_kit.submit(store, "fox", "3"), State.BUILDING)
    rule = allowance(store, folder)
    assert rule.judge(version, built(10)) == built(10)
    report = rule.judge(version, built(10.5))
    assert report.verdict is Verdict.FAILED
    assert report.finding == (
        "expected what is built of one author's bots to take at most 100 MiB, got: 101 MiB with 11 MiB of fox/3; let "
        "its build leave less, or retire a version: fox/1 has 60 MiB (`arena league retire fox/1`)"
    )
    store.versions.change(store.versions.named("fox/1").id, State.RETIRED, Actor.AUTHOR, "")
    assert rule.judge(version, built(10.5)) == built(10.5), "what it said helps"
    other = StepReport(kind="check", verdict=Verdict.PASSED, seconds=0.1)
    assert rule.judge(version, other) is other


def test_a_version_that_is_too_much_is_rejected_and_the_older_one_plays(store: LeagueStore) -> None:
    active(store, "fox", "1", 60)
    league_kit.submit(store, "fox", "2")
    running = Running(store, play)

    def judge(version: Version, report: StepReport) -> StepReport:
        sized = built(50) if report.kind == "build" else report
        return Allowance(store, Path(), Limits(built_mib=100)).judge(version, sized)

    running.step_runner.judge = judge
    while running.step_runner.waits():
        running.step_runner.look()
    assert store.versions.named("fox/2").state is State.REJECTED
    assert store.versions.named("fox/1").state is State.ACTIVE
    [report] = store.reports.of(store.versions.named("fox/2").id)
    assert "retire a version: fox/1 has 60 MiB" in report.finding
    assert "fox/2 is rejected: expected what is built" in " ".join(notice.text for notice in store.notices.of("anna"))


def test_an_author_may_have_another_limit(store: LeagueStore, folder: Folder) -> None:
    store._db.execute("UPDATE authors SET quotas = '{\"built_mib\": 7}' WHERE name = 'anna'")
    rule = allowance(store, folder)
    assert (rule.limit("anna"), rule.limit("bert")) == (7, 100)


def test_whoever_has_all_of_it_cannot_submit_more(store: LeagueStore, folder: Folder) -> None:
    active(store, "fox", "1", 60)

    def check(mib: int) -> None:
        settings = Settings(name="cup", limits=Limits(built_mib=mib))
        order = Order(id="x", verb="submit", author="anna", at=league_kit.AT)
        check_quotas(
            OrderContext(store=store, folder=folder, settings=settings, order=order, archive=None), "anna", "owl"
        )

    check(61)
    with pytest.raises(Refused) as refused:
        check(60)
    assert (refused.value.reason, refused.value.limit) == ("quota", 60)
    assert "less than 60 MiB" in str(refused.value)
    assert "arena league retire fox/1" in refused.value.remedy


def test_what_was_built_before_reports_said_how_much_is_measured(store: LeagueStore, folder: Folder) -> None:
    fox = league_kit.active(store, "fox")
    assert allowance(store, folder).taken("anna") == {"fox/1": 0}, "it is to be built again"
    place = folder.built(fox.digest)
    place.mkdir()
    (place / "bot").write_bytes(bytes(3 * MIB))
    assert 3 * MIB <= allowance(store, folder).taken("anna")["fox/1"] < 4 * MIB


def test_empty_files_and_holes_count_as_what_they_take(tmp_path: Path) -> None:
    for number in range(256):
        (tmp_path / str(number)).touch()
    assert footprint(tmp_path) == MIB
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(100 * MIB)
    assert footprint(tmp_path) < 2 * MIB
