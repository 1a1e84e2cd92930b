"""A slow start counts against a quota of its author's, and what was taken before is held to the caps of today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.author.archives.rules import LABEL, label_bytes
from arena.core.link.caps import BeyondCaps, set_caps
from arena.core.referee.job import Job
from arena.league.folder import Folder
from arena.league.matches.starts import Starts
from arena.league.settings import Limits, Settings
from arena.league.store import LeagueStore
from arena.league.store.states import State
from arena.league.submissions.tools import LeagueTools
from tests import league_kit
from tests.service_kit import Running, league, play


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league(tmp_path, "lazy", "fox") as store:
        yield store


def lazily(*names: str, start_ms: int = 10_000) -> Any:
    """Plays games that wait for these bots."""

    def played(job: Job) -> Any:
        starts = tuple(start_ms if bot.name.startswith(names) else 300 for bot in job.bots)
        return replace(play(job), starts_ms=starts)

    return played


def games_of(store: LeagueStore, bot: str) -> int:
    rows = store._db.execute(
        "SELECT count(*) FROM seats JOIN entrants ON entrants.number = entrant WHERE entrants.name = ?", (f"{bot}/1",)
    )
    (count,) = rows.fetchone()
    return int(count)


def test_a_start_beyond_a_second_is_taken_from_a_quota_that_fills_up_evenly(store: LeagueStore) -> None:
    clock = Clock()
    starts = Starts(store, Limits(start_s=360), clock)
    lazy, fox = (store.versions.of_bot(bot)[0] for bot in ("lazy", "fox"))
    assert lazy.entrant is not None
    assert fox.entrant is not None
    league_kit.plan(store, lazy, fox)
    claim = league_kit.claim(store)[0]
    game = store.matches.game(claim.number)
    slow = {lazy.entrant: 11_000, fox.entrant: 1_000}
    result = replace(league_kit.record(store, claim), starts_ms=tuple(slow[entrant] for entrant in game.entrants))
    assert starts.count(game, result) == []
    assert starts.left("of lazy") == pytest.approx(20)
    assert starts.count(game, result) == []
    assert starts.resting() == frozenset()
    starts.count(game, result)
    (sentence,) = starts.count(game, result)
    assert sentence.startswith("the bots of of lazy rest: expected games to wait 360 s in an hour")
    assert next(notice.text for notice in store.notices.of("of lazy")) == sentence
    assert starts.count(game, result) == [], "they are told once a day"
    assert (starts.left("of lazy"), starts.left("of fox")) == (pytest.approx(-20), pytest.approx(30))
    assert starts.resting() == {"of lazy"}
    clock.now += 199
    assert starts.resting() == {"of lazy"}
    clock.now += 2
    assert starts.resting() == frozenset()
    clock.now += 100_000
    assert starts.left("of lazy") == pytest.approx(30), "no more is kept than for five minutes"


def test_an_author_may_have_a_quota_of_their_own(store: LeagueStore) -> None:
    store.authors.add("bert", {"start_s": 3_600})
    starts = Starts(store, Limits(), Clock())
    assert (starts.left("bert"), starts.left("of lazy")) == (pytest.approx(300), pytest.approx(30))


def test_a_slow_starter_holds_up_few_of_a_leagues_games(tmp_path: Path) -> None:
    with league(tmp_path, "lazy", "fox", "owl", "elk") as store:
        running = Running(store, lazily("lazy"), workers=1)
        ended = running.run(200)
        assert ended.games >= 200
        # Three games use up the quota; those of two meetings may be planned by then.
        assert 3 <= games_of(store, "lazy") <= 8
        assert any("the bots of of lazy rest" in said for said in running.said)


def test_who_rests_plays_on_if_nobody_else_can(tmp_path: Path) -> None:
    with league(tmp_path, "lazy", "fox") as store:
        Running(store, lazily("lazy", "fox"), workers=2).run(40)
        assert games_of(store, "lazy") > 10  # the house plays too


def test_a_version_that_asks_for_more_than_it_may_now_is_suspended_and_so_is_the_one_before(tmp_path: Path) -> None:
    with league(tmp_path, "fox", "owl") as store:
        league_kit.active(store, "fox", "second", author="of fox")
        league_kit.active(store, "fox", "third", author="of fox")
        running = Running(store, play)
        running.unfit = {"fox/3": "it asks for too much", "fox/2": "it asks for too much"}
        running.supply.judge_all()
        states = [version.state for version in sorted(store.versions.of_bot("fox"), key=lambda one: one.number)]
        assert states == [State.ACTIVE, State.SUSPENDED, State.SUSPENDED]
        assert running.said == [
            "fox/3 is suspended: it asks for too much; fox/2 plays again",
            "fox/2 is suspended: it asks for too much; fox/1 plays again",
        ]
        assert [notice.text for notice in store.notices.of("of fox")][-1:] != []


def test_a_version_that_comes_back_beyond_the_caps_is_suspended_when_its_game_would_start(tmp_path: Path) -> None:
    with league(tmp_path, "fox", "owl", "elk") as store:
        running = Running(store, play)
        job = running.supply.make_job

        def beyond(claim: Any, game: Any) -> Job:
            made = job(claim, game)
            if any(bot.name == "fox/1" for bot in made.bots):
                running.unfit["fox/1"] = "it asks for too much"
                raise BeyondCaps("limits.start_ms: expected at most 10,000", 10_000)
            return made

        running.supply.make_job = beyond
        ended = running.run(20)
        assert ended.games >= 20
        assert store.versions.of_bot("fox")[0].state is State.SUSPENDED
        assert games_of(store, "fox") == 0
        assert running.supply.machine_faults == 0, "no fault of the machine"


@pytest.mark.parametrize(
    ("cap", "reason"), [(300, ""), (299, "limits.start_ms: expected at most 299, the cap of league.toml")]
)
def test_a_league_reads_again_what_a_version_asks_for(
    folder: Folder, store: LeagueStore, monkeypatch: pytest.MonkeyPatch, cap: int, reason: str
) -> None:
    monkeypatch.setenv("ARENA_CAPS", "{}")
    tools = LeagueTools(folder, Settings(name="cup"))
    fox = store.versions.of_bot("fox")[0]
    assert tools.unfit(fox) == "", "it is not built"
    place = folder.built(fox.digest)
    place.mkdir(parents=True)
    (place / LABEL).write_bytes(label_bytes("."))
    (place / "bot.toml").write_text('name = "fox"\ncommand = ["./fox"]\n[limits]\nstart_ms = 300\n')
    set_caps({"start_ms": cap}, "league.toml")
    assert reason in tools.unfit(fox)
    assert bool(tools.unfit(fox)) is bool(reason)
    assert str(folder.path) not in tools.unfit(fox)
