"""The service's loop: it plays, takes submissions in, suspends, survives faults and kills, and stops when asked."""

from __future__ import annotations

import signal
import sqlite3
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.core.errors import MachineFault
from arena.core.link.unchanged import FilesChanged
from arena.core.ratings.running import rate
from arena.core.referee.job import Job
from arena.core.tournament.workers import local_worker
from arena.core.types import GameResult, Termination
from arena.league.matches import supply
from arena.league.service.stopping import Stopping
from arena.league.settings import MatchRule
from arena.league.store import LeagueStore, open_league
from arena.league.store.states import State
from tests import league_kit, service_kit
from tests.service_kit import Killed, Running, killed_at_commits


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with service_kit.league(tmp_path, "fox", "owl", "cat") as store:
        yield store


def test_it_plays_matches_of_one_deal_in_all_seatings_and_rates_them(store: LeagueStore) -> None:
    ended = Running(store, service_kit.play).run(40)
    assert ended.games >= 40
    assert (ended.dropped, ended.idle) == (0, "")
    tournament = store.games.tournament()
    assert store.games.done(tournament.id) == ended.games
    games = list(store.games.games(tournament.id))
    assert [len(set(game.entrants)) for game in games] == [2] * len(games)
    deals = Counter(tuple(sorted(game.entrants)) for game in games)
    assert len(deals) > 3, "everybody meets"
    for match in range(10):
        one, other = store.matches.get(match).games
        assert one.entrants == other.entrants[::-1]
    assert tournament.rated == ended.games


def test_the_line_of_a_match_is_published_before_its_games_begin(store: LeagueStore) -> None:
    def play(job: Job) -> GameResult:
        shown.append(job.deal < running.service.publisher.shown)
        return service_kit.play(job)

    shown: list[bool] = []
    running = Running(store, play)
    running.run(20)
    assert all(shown)


class Asked:
    """Matches that authors ask for."""

    waits = False

    def __init__(self) -> None:
        self.may: list[bool] = []
        self.ended: list[str] = []

    def resume(self, why: str) -> None:
        self.ended.append(why)

    def look(self, *, may_start: bool) -> None:
        self.may.append(may_start)


@pytest.mark.parametrize(("beside", "bots"), [(False, 3), (True, 3), (False, 0)])
def test_what_authors_ask_for_is_played_when_nothing_rated_is(tmp_path: Path, beside: bool, bots: int) -> None:
    with service_kit.league(tmp_path, *("fox", "owl", "cat")[:bots]) as store:
        running, asked = Running(store, service_kit.play, workers=2 if bots else 9), Asked()
        running.service.requested = ((asked, beside),)  # type: ignore[assignment]
        running.run(20 if bots else 500)
        assert {*asked.may} >= {beside if bots else True}
        assert bots == 0 or beside or not any(asked.may), "something rated waits for a worker in every turn"


def test_the_end_of_a_season_ends_games_of_seats_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with service_kit.league(tmp_path) as store:
        running, asked = Running(store, service_kit.play), Asked()
        running.orders.closing = True
        monkeypatch.setattr(type(running.service), "_can_be_closed", lambda service: True)
        running.service.requested = ((asked, True), (asked, True))  # type: ignore[assignment]
        assert running.run(None).closing
    assert asked.ended == ["the season has ended"]


def test_two_runs_play_what_one_would(tmp_path: Path) -> None:
    """Choices follow from the season and the results, whoever plays them: here one game at a time."""
    outcomes = []
    for name, runs in (("one", (30,)), ("two", (7, 23))):
        (tmp_path / name).mkdir()
        with service_kit.league(tmp_path / name, "fox", "owl", "cat") as store:
            for games in runs:
                Running(store, service_kit.play, workers=1).run(games)
            id = store.games.tournament().id
            rows = [(game.entrants, game.play_digest) for game in store.games.games(id)][:28]
            outcomes.append(rows)
    assert len(outcomes[0]) == 28
    assert outcomes[0] == outcomes[1]


def test_it_ends_after_so_many_games_once_what_was_there_is_tried(store: LeagueStore) -> None:
    league_kit.submit(store, "fox", "2", author="of fox")
    league_kit.submit(store, "owl", "dead build", author="of owl")
    ended = Running(store, service_kit.play).run(1)
    assert ended.games >= 1
    assert store.versions.named("fox/2").state is State.ACTIVE
    dead = store.versions.named("owl/2")
    assert (dead.state, dead.attempts) == (State.BUILDING, 1), "what the machine could not do is not waited for"


def test_a_submission_goes_through_its_steps_and_takes_over(store: LeagueStore) -> None:
    league_kit.submit(store, "fox", "2", author="of fox")
    league_kit.submit(store, "owl", "bad check", author="of owl")
    running = Running(store, service_kit.play)
    running.run(60)
    assert [step for name, step in running.tools.done if name == "fox/2"] == ["build", "check", "qualify"]
    assert [step for name, step in running.tools.done if name == "owl/2"] == ["build", "check"]
    states = {version.name: version.state for version in store.versions.all()}
    assert (states["fox/2"], states["fox/1"]) == (State.ACTIVE, State.SUPERSEDED)
    assert (states["owl/2"], states["owl/1"]) == (State.REJECTED, State.ACTIVE)
    [build, check] = store.reports.of(store.versions.named("owl/2").id)
    assert (build.verdict, check.verdict, check.finding) == ("passed", "failed", "check bad check")


def test_a_machine_that_fails_in_a_step_rejects_nobody(store: LeagueStore) -> None:
    version = league_kit.submit(store, "fox", "dead build", author="of fox")
    Running(store, service_kit.play).run(40)
    now = store.versions.get(version.id)
    assert now.state is State.BUILDING
    assert now.attempts >= 1
    assert store.versions.named("fox/1").state is State.ACTIVE


def test_who_always_forfeits_is_suspended_and_the_last_good_version_plays_again(tmp_path: Path) -> None:
    with service_kit.league(tmp_path, "crash", "owl", "cat") as store:
        first = store.versions.named("crash/1")
        store.versions.change(
            league_kit.play_on(store, league_kit.submit(store, "crash", "2", author="of crash")).id,
            State.SUSPENDED, league_kit.Actor.OPERATOR, "a test",
        )  # fmt: skip
        assert store.versions.get(first.id).state is State.ACTIVE, "the last good one is back"
        running = Running(store, service_kit.play)
        running.run(60)
        suspended = store.versions.get(first.id)
        assert suspended.state is State.SUSPENDED
        form = [notice.text for notice in store.notices.of("of crash") if notice.kind == "suspended"]
        assert "crash/1 is suspended: it forfeited its last" in form[0]
        assert "exceeded its time by 240 ms" in form[0]
        assert store.versions.named("owl/1").state is State.ACTIVE


def test_a_game_that_cannot_be_played_takes_its_match_out_and_nothing_else(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every game of match 2 is interrupted, however often it is tried; the machine fails in match 3."""
    monkeypatch.setattr(supply, "LONGEST_REST_S", 0.0)
    bad: Counter[int] = Counter()

    def play(job: Job) -> GameResult:
        if job.deal == 2:
            bad[2] += 1
            return replace(service_kit.play(job), termination=Termination.INTERRUPTED)
        if job.deal == 3:
            bad[3] += 1
            raise MachineFault("no room")
        return service_kit.play(job)

    running = Running(store, play)
    ended = running.run(20)
    assert ended.games >= 20
    assert all(3 <= count <= 6 for count in bad.values())
    assert [store.matches.get(number).state for number in (1, 2, 3, 4)] == ["over", "void", "void", "over"]
    assert {notice.kind for notice in store.notices.of(None)} == {"void"}
    tournament = store.games.tournament()
    assert tournament.rated >= 20


def test_a_version_whose_files_changed_is_suspended_and_the_others_play_on(store: LeagueStore) -> None:
    tried = 0

    def play(job: Job) -> GameResult:
        nonlocal tried
        if any(bot.name.startswith("fox") for bot in job.bots):
            tried += 1
            raise FilesChanged("expected its files to stay as they were", ("fox", "1"))
        return service_kit.play(job)

    running = Running(store, play)
    assert running.run(20).games >= 20
    fox = store.versions.named("fox/1")
    assert fox.state is State.SUSPENDED
    assert tried <= 2, "each worker had one game of it at most"
    assert running.supply.machine_faults == 0
    assert "its files in the league are not those that were checked" in store.notices.of(fox.author)[0].text
    assert "fox/1 is suspended: expected its files to stay as they were" in running.said


def test_what_was_claimed_when_it_was_killed_is_played_again_and_counted_once(store: LeagueStore) -> None:
    killed = 0

    def play(job: Job) -> GameResult:
        nonlocal killed
        if job.deal >= 5 and killed < 3:
            killed += 1
            raise Killed
        return service_kit.play(job)

    for _ in range(3):
        with pytest.raises(Killed):
            Running(store, play).run(30)
    Running(store, play).run(30)
    id = store.games.tournament().id
    games = list(store.games.games(id))
    assert len({game.game for game in games}) == len(games) == store.games.done(id)
    numbers = sorted(game.number for game in games)
    assert numbers == list(range(len(numbers))), "none is lost"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_at_any_commit_changes_nothing_in_the_end(tmp_path: Path, after: bool) -> None:
    """A run that is killed at one commit in six, before it or after it, ends as one that nobody disturbed."""
    dice = Random(7)
    outcomes = []
    for name, share in (("calm", 0.0), ("killed", 1 / 6)):
        (tmp_path / name).mkdir()
        with service_kit.league(tmp_path / name, "fox", "owl", "cat") as store:
            league_kit.submit(store, "fox", "2", author="of fox")
            steps = Running(store, service_kit.play, workers=1)
            while steps.step_runner.waits():
                steps.step_runner.look()
        kills = 0
        while True:
            try:
                with open_league(tmp_path / name / "league.db") as store:
                    if store.games.done(league_kit.season(store).tournament) >= 30:
                        break
                    with killed_at_commits(dice, share, after=after):
                        Running(store, service_kit.play, workers=1).run(3)
            except Killed:
                kills += 1
        assert (kills > 10) == (name == "killed")
        with open_league(tmp_path / name / "league.db") as store:
            outcomes.append(outcome(store))
    assert outcomes[0] == outcomes[1]


def test_a_kill_beside_a_suspension_leaves_one_suspension_and_every_game_once(tmp_path: Path) -> None:
    dice = Random(5)
    with service_kit.league(tmp_path, "fox", "crash", "cat"):
        pass
    while True:
        with suppress(Killed), open_league(tmp_path / "league.db") as store:
            if store.games.done(league_kit.season(store).tournament) >= 40:
                break
            with killed_at_commits(dice, 1 / 4):
                Running(store, service_kit.play).run(5)
    with open_league(tmp_path / "league.db") as store:
        crash = store.versions.named("crash/1")
        assert crash.state is State.SUSPENDED
        assert [change.new for change in store.versions.history(crash.id)].count(State.SUSPENDED) == 1
        assert [notice.kind for notice in store.notices.of("of crash")].count("suspended") == 1
        tournament = store.games.tournament()
        games = list(store.games.games(tournament.id))
        assert len({game.game for game in games}) == len(games)
        mine = [game for game in games if crash.entrant in game.entrants]
        assert 3 <= len(mine) <= 8, "it left when it was suspended, but for what ran"
        played = {game.number: game for game in games}
        ratings = {entrant.number: entrant.start for entrant in store.games.entrants(tournament.id)}
        for number in range(tournament.rated):
            if (game := played.get(number)) is not None:
                after = rate([ratings[entrant] for entrant in game.entrants], game.ranks)
                ratings.update(zip(game.entrants, after, strict=True))
        assert list(ratings.values()) == store.games.ratings(tournament.id), "as the results played again have it"


def outcome(store: LeagueStore) -> Any:
    """What a kill must not change: the first games with their results, ratings, and how versions stand."""
    id = store.games.tournament().id
    games = [(game.number, game.entrants, game.play_digest) for game in store.games.games(id)][:30]
    states = [(version.name, version.state) for version in store.versions.all()]
    ratings = [store.games.rating_after(id, entrant, 30) for entrant in range(len(store.games.entrants(id)))]
    notices = Counter(notice.kind for notice in store.notices.of("of fox"))
    return games, states, ratings, notices


def test_it_says_why_nothing_can_be_played(tmp_path: Path) -> None:
    with service_kit.league(tmp_path) as store:
        ended = Running(store, service_kit.play, settings=MatchRule(players=(2,), placement=3)).run(100)
        assert ended.games == 6
        assert ended.idle == "only bots of the house are active, and they have played their placement matches"


def test_a_signal_ends_it_and_a_second_one_drops_what_runs(store: LeagueStore) -> None:
    played = 0

    def play(job: Job) -> GameResult:
        nonlocal played
        played += 1
        if played == 9:
            signal.raise_signal(signal.SIGTERM)
        return service_kit.play(job)

    ended = Running(store, play).run(None)
    assert ended.dropped == 0
    assert ended.games >= 9
    running = [game.status for match in store.matches.running() for game in match.games]
    assert "running" not in running, "what it held is given back"


def test_a_second_signal_drops_what_runs_and_it_is_played_again(store: LeagueStore) -> None:
    running = Running(store, service_kit.endless, worker=local_worker, workers=1)

    class Impatient(service_kit.Orders):
        def look(self) -> None:
            if running.lanes.running:
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGTERM)

    running.service.orders = Impatient(1)
    ended = running.run(None)
    assert ended.games == 0
    assert ended.dropped >= 1
    assert {game.status for match in store.matches.running() for game in match.games} == {"planned"}
    assert Running(store, service_kit.play).run(4).games >= 4
    assert store.matches.get(0).state == "over"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), sqlite3.OperationalError("disk is full")])
def test_a_disk_that_is_full_ends_nothing(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """What cannot be done is said, and tried again; a result that cannot be stored is, when the reserve is given up."""
    monkeypatch.setattr(supply, "LONGEST_REST_S", 0.0)
    given_up: list[bool] = []

    def give_up() -> None:
        given_up.append(True)

    running = Running(store, service_kit.play, make_room=give_up)
    failures = iter([error, error])
    record = store.games.record

    def failing(*arguments: Any) -> None:
        if not given_up and isinstance(error, sqlite3.Error):
            raise error
        record(*arguments)

    def look() -> None:
        if (failure := next(failures, None)) is not None:
            raise failure

    monkeypatch.setattr(store.games, "record", failing)
    monkeypatch.setattr(running.orders, "look", look)
    assert running.run(10).games >= 10
    assert [said for said in running.said if said.startswith("The machine fails")]
    assert bool(given_up) == isinstance(error, sqlite3.Error)


def test_a_disk_that_stays_full_ends_nothing_and_loses_and_doubles_no_result(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the reserve helps: what is to be written is owed until there is room, for claims and releases too."""
    monkeypatch.setattr(supply, "LONGEST_REST_S", 0.0)
    running = Running(store, service_kit.play)
    told: list[int] = []
    running.supply.told = lambda played: told.append(played.game.number)
    tries = dict.fromkeys(("record", "claim", "release"), 0)

    def failing(name: str, write: Any) -> Any:
        def attempt(*arguments: Any) -> Any:
            tries[name] += 1
            if tries[name] % 8 > 2:
                raise sqlite3.OperationalError("database or disk is full")
            return write(*arguments)

        return attempt

    for name in tries:
        monkeypatch.setattr(store.games, name, failing(name, getattr(store.games, name)))
    assert running.run(20).games >= 20
    assert [said for said in running.said if "wait to be stored: database or disk is full" in said]
    games = [game for match in store.matches.settled(0, 100) for game in match.games if game.status == "done"]
    assert len(told) == len(set(told)) >= len(games) >= 20
    assert {game.number for game in games} <= set(told)


def test_memory_does_not_grow_with_games(store: LeagueStore) -> None:
    """Nothing that the parts hold has more entries after many games than after few."""
    running = Running(store, service_kit.play)
    running.run(20)
    before = held(running)
    with running.lanes, running.step_worker, Stopping() as stopping:
        running.service.run(stopping, 200)
    assert held(running) == before


def held(running: Running) -> dict[str, int]:
    """By part and attribute how many entries a container has."""
    parts = (running.supply, running.lanes, running.planner, running.step_runner, running.step_worker)
    return {
        f"{type(part).__name__}.{name}": len(value)
        for part in parts
        for name, value in (vars(part) if hasattr(part, "__dict__") else msgspec.structs.asdict(part)).items()
        if isinstance(value, (list, dict, set, deque))
    }
