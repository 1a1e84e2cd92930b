"""Unrated matches on request: within a quota, of one's own versions, in no record, with logs for their author alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.core.catalogue import make_settings
from arena.core.errors import LogError, MachineFault
from arena.core.link.bots import BotSpec
from arena.core.referee.job import Job
from arena.core.types import GameResult, Level, Payload
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal
from arena.league.folder import Folder
from arena.league.keeping.housekeeping import all_logs
from arena.league.keeping.retention import QUALIFYING
from arena.league.service.inbox import new_order
from arena.league.service.orders import obey
from arena.league.settings import Bots, Limits, Service, Settings
from arena.league.store import LeagueStore
from arena.league.store.controls import Request
from arena.league.store.records import Version
from arena.league.store.states import Actor, State
from arena.league.submissions.requested import Requested
from arena.league.submissions.step_runner import StepWorker
from arena.league.submissions.steps import StepReport, meet
from tests import audit_kit, instant, league_kit

SETTINGS = Settings(name="cup", limits=Limits(matches=2))
RULES = make_settings("samurai", 2, ruleset="basic", time="5/move")


def ask(store: LeagueStore, folder: Folder, author: str, bot: str, against: str) -> Payload:
    order = msgspec.structs.replace(new_order("match", {"bot": bot, "against": against}), author=author)
    return obey(store, folder, SETTINGS, order)


def unreadable(path: Path) -> Any:
    raise LogError("somebody has changed it")


class Tools:
    def __init__(self, logs: Path) -> None:
        self.logs = logs

    def meeting(self, request: Request, *of: Version) -> tuple[Callable[..., StepReport], tuple[Any, ...]]:
        bots = [BotSpec(name=one.bot, version="1", command=("x",), folder="/", digest=one.digest) for one in of]
        bots[:0] = [replace(bots[0], name="guest")] * (request.seat is not None)
        secret = bytes.fromhex(request.secret)
        return meet, (tuple(bots), RULES, Level.TRUSTED, self.logs, request.order, secret, request.seat)


class Playing:
    """A league in which anna has `fox` and bert `owl`, and what plays the matches that are asked for."""

    def __init__(self, store: LeagueStore, folder: Folder) -> None:
        store.authors.add("bert")
        self.store, self.folder, self.absent = store, folder, frozenset[str]()
        self.fox: Version = league_kit.active(store, "fox")
        league_kit.active(store, "owl", author="bert")
        (folder.logs / QUALIFYING).mkdir()
        self.begin()

    def begin(self, *, seats: bool = False) -> None:
        """A service begins."""
        worker: Any = StepWorker(instant.inline)
        tools: Any = Tools(self.folder.logs / QUALIFYING)
        self.requested = Requested(self.store, self.folder, tools, worker, print, lambda: self.absent, seats=seats)

    def look(self, *, may_start: bool = True) -> None:
        for _ in range(2):
            self.requested._due = 0.0
            self.requested.look(may_start=may_start)

    def notices(self, author: str) -> list[str]:
        return [one.text for one in self.store.notices.of(author) if one.kind == "match"]


@pytest.fixture
def playing(store: LeagueStore, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Playing:
    monkeypatch.setattr(sys.modules["arena.league.submissions.steps.qualify"].game_worker, "play", audit_kit.play)
    return Playing(store, folder)


def test_its_logs_are_its_authors_alone_and_nothing_of_the_season_changes(playing: Playing) -> None:
    store, folder, tournament = playing.store, playing.folder, league_kit.season(playing.store).tournament
    asked, before = ask(store, folder, "anna", "fox", "owl"), store.seasons.head(league_kit.season(store))
    playing.look(may_start=False)
    assert store.controls.requests, "something rated is to be played"
    playing.look()
    [notice] = playing.notices("anna")
    assert (asked["version"], asked["against"], asked["before"]) == ("fox/1", "owl/1", 0)
    assert "fox/1 has met owl/1, unrated: rank" in notice
    games = [word for word in notice.replace(",", " ").replace(".", " ").split() if word.startswith("match-")]
    published = Published(folder.published)
    for game in games:
        assert published.log("anna", game).size
        for other in ("bert", ""):
            with pytest.raises(Refusal):
                published.log(other, game)
        assert len({*all_logs(store, folder).files(game, 2)}) >= 2, "it goes with the originals"
    assert len(games) == 2
    assert not playing.notices("bert")
    assert not store.controls.requests
    assert (store.matches.count(), store.finder.tournament(tournament).games) == (0, 0)
    assert store.seasons.head(league_kit.season(store)) == before
    assert store.facts.form(store.versions.named("owl")).games == 0


def test_it_is_within_a_quota_and_once_while_it_waits(playing: Playing) -> None:
    store, folder = playing.store, playing.folder
    for against in ("owl", "owl/1"):
        assert ask(store, folder, "anna", "FOX", against)["before"] == 0
    assert len(store.controls.requests) == 1
    assert ask(store, folder, "anna", "fox", "random")["before"] == 1, "what was asked for twice counts once"
    beyond = ask(store, folder, "anna", "fox", "greedy")
    assert (beyond["code"], beyond["limit"], 0 < beyond["retry_after_s"] <= 86_400) == ("quota", 2, True)
    store._db.execute("UPDATE commands SET at = '2020-01-01T00:00:00+00:00'")
    assert "that wait" in ask(store, folder, "anna", "fox", "greedy")["message"]


def test_only_ones_own_version_meets_one_that_plays_and_no_other_is_told_of(playing: Playing) -> None:
    store, folder = playing.store, playing.folder
    league_kit.submit(store, "secret", author="bert")
    said = {ask(store, folder, "anna", "fox", name)["message"] for name in ("secret", "nobody", "x" * 900)}
    assert {one.partition(", got")[0] for one in said} == {"expected a bot that plays, or a version such as fox/2"}
    for mine, against in (("owl", "fox"), ("fox", "fox"), ("", "owl"), ("random", "fox")):
        assert ask(store, folder, "anna", mine, against)["code"] in ("unknown_version", "argument")
    assert store.controls.requests == []


def test_a_kill_plays_the_rest_on_the_same_deal_and_the_machine_gives_up_once(
    playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    games: list[tuple[str, bytes]] = []
    fails = True

    def play(job: Job) -> GameResult:
        if fails and len(games) == 1:
            raise MachineFault("it is killed")
        games.append((job.game[-2:], job.secret))
        return audit_kit.play(job)

    monkeypatch.setattr(sys.modules["arena.league.submissions.steps.qualify"].game_worker, "play", play)
    ask(playing.store, playing.folder, "anna", "fox", "owl")
    playing.look()
    assert playing.notices("anna") == []
    playing.begin()
    fails = False
    playing.look()
    assert ([name for name, _ in games], len({secret for _, secret in games})) == (["-0", "-1"], 1)
    assert "has met" in playing.notices("anna")[0]
    playing.store._db.execute("UPDATE authors SET quotas = '{\"matches\":9}'")
    ask(playing.store, playing.folder, "anna", "fox", "greedy")
    monkeypatch.setattr(sys.modules["arena.league.submissions.requested"].log_records, "read_log", unreadable)
    playing.look()
    assert "greedy" not in playing.notices("anna")[0]
    assert len(playing.store.controls.requests) == 1, "it ends nothing but this try"
    playing.store.set_control("requests", [])
    fails = True
    ask(playing.store, playing.folder, "anna", "fox", "random")
    games[1:] = []
    for _ in range(3):
        playing.look()
    assert "could not be played" in playing.notices("anna")[0]
    assert playing.store.controls.requests == []


def test_who_cannot_play_now_is_waited_for_and_who_plays_no_more_is_not(playing: Playing) -> None:
    ask(playing.store, playing.folder, "anna", "fox", "owl")
    playing.absent = frozenset({"owl/1"})
    playing.look()
    assert not playing.requested.waits
    assert len(playing.store.controls.requests) == 1
    playing.store.versions.change(playing.fox.id, State.RETIRED, Actor.AUTHOR, "")
    playing.look()
    assert playing.store.controls.requests == []
    assert "one of them plays no more" in playing.notices("anna")[0]


def sit(playing: Playing, against: str = "owl", seat: object = 0, author: str = "anna", **service: Any) -> Payload:
    order = replace(new_order("seat", {"against": against, "seat": seat}), author=author)
    settings = replace(SETTINGS, bots=Bots(level="isolated"), service=Service(**service), limits=Limits(seats=1))
    return obey(playing.store, playing.folder, settings, order)


def test_an_author_has_one_seat_and_sees_a_deal_once(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["arena.league.submissions.requested"], "is_open", lambda folder: True)
    playing.begin(seats=True)
    store, began = playing.store, list[bool]()
    monkeypatch.setattr(
        sys.modules["arena.league.submissions.steps.qualify"].game_worker, "play",
        lambda job: (began.append(store.controls.requests[0].began), audit_kit.play(job))[1],
    )  # fmt: skip
    wrong: tuple[dict[str, Any], ...] = ({"seat": 2}, {"seat": "x"}, {"against": "nobody"}, {"seats": 0})
    codes = ["argument", "argument", "unknown_version", "not_accepted"]
    assert [sit(playing, **one)["code"] for one in wrong] == codes
    asked = sit(playing)
    assert (asked["against"], asked["before"], sit(playing)["game"]) == ("owl/1", 0, asked["game"])
    assert (sit(playing, seat=1)["game"], sit(playing)["game"]) == (f"{asked['game'][:-1]}1", asked["game"])
    playing.look()
    assert began == [True], "one game, from one seat, noted before anybody sees its deal"
    assert store.controls.seats == {}
    [notice] = playing.notices("anna")
    assert f"you have met owl/1, unrated: rank 1 in {asked['game']}" in notice or f"rank 2 in {asked['game']}" in notice
    assert Published(playing.folder.published).log("anna", asked["game"]).size
    with pytest.raises(Refusal):
        Published(playing.folder.published).log("bert", asked["game"])
    assert sit(playing)["code"] == "quota"
    store.authors.add("carl")
    waiting = [("bert", 1), ("carl", 1), ("carl", 2)]
    assert [sit(playing, author=author, seats=seats)["before"] for author, seats in waiting] == [0, 1, 0]
    playing.store.versions.change(store.versions.named("owl/1").id, State.RETIRED, Actor.AUTHOR, "")
    playing.look()
    assert "you and owl/1 do not meet" in playing.notices("bert")[0]
    assert sit(playing, "random", author="bert")["before"] == 0, "what was not played counts to no quota"


def test_a_seat_that_a_kill_cut_short_is_over_and_one_with_a_log_counts(
    playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§D10-10."""
    monkeypatch.setattr(sys.modules["arena.league.submissions.requested"], "is_open", lambda folder: True)
    store = playing.store
    for has_log in (False, False, True):
        game, [request] = sit(playing)["game"], store.controls.requests
        if has_log:
            playing.begin(seats=True)
            monkeypatch.setattr(type(playing.requested), "_over", lambda *of: None)
            playing.look()
            monkeypatch.undo()
            monkeypatch.setattr(sys.modules["arena.league.submissions.requested"], "is_open", lambda folder: True)
        else:
            store.set_control("requests", [replace(request, began=True)])
        assert sit(playing)["code"] == "state", "it is played"
        playing.begin(seats=True)
        playing.requested.resume()
        playing.look()
        assert store.controls.requests == []
        said = f"in {game}. `arena" if has_log else f"{game} was cut short: the league was stopped"
        assert said in playing.notices("anna")[0]
    monkeypatch.setattr(sys.modules["arena.league.submissions.requested"], "is_open", lambda folder: False)
    sit(playing, author="bert")
    playing.look()
    assert store.controls.seats, "nobody could sit down: it waits for the door"
    obey(store, playing.folder, SETTINGS, new_order("author_remove", {"name": "bert"}))
    assert store.controls.seats == {}
