"""Authors and keys, orders that are obeyed once, notices, seasons."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from sqlite3 import Error

import pytest

from arena.core.errors import ArenaError, Refused
from arena.core.ratings.running import MU, SIGMA, Rating
from arena.core.types import Payload
from arena.league.public import documents
from arena.league.store import LeagueStore, notices
from arena.league.store.notices import MOST_OUTPUT
from arena.league.store.records import StepReport, Verdict
from arena.league.store.states import Actor, State
from tests import league_kit as kit


def test_an_author_is_known_by_their_keys_until_these_are_revoked(store: LeagueStore) -> None:
    store.authors.add_key("anna", "k1", "laptop")
    store.authors.add_key("anna", "k2")
    assert store.authors.add_key("anna", "k1").label == "laptop", "twice is once"
    assert [documents.keys(store).get(key) for key in ("k1", "k2", "k3")] == ["anna", "anna", None]
    store.authors.revoke_key("k1")
    assert "k1" not in documents.keys(store)
    for author, key in (("anna", "k1"), ("bert", "k2")):
        with pytest.raises(Refused, match="expected a new token, got: one"):
            store.authors.add_key(author, key)
    with pytest.raises(Refused, match="expected a key of the league"):
        store.authors.revoke_key("k9")
    assert [(key.public_key, key.revoked is None) for key in store.authors.keys_of("anna")] == [
        ("k1", False),
        ("k2", True),
    ]


def test_an_author_who_is_removed_has_no_keys_and_may_come_back(store: LeagueStore) -> None:
    store.authors.add_key("anna", "k1")
    store.authors.remove("anna")
    assert "k1" not in documents.keys(store)
    with pytest.raises(Refused, match="expected the name of an author"):
        kit.submit(store, "fox")
    assert store.authors.add("anna", {"pending": 9}).quotas == {"pending": 9}
    assert "k1" not in documents.keys(store)
    for taken in ("anna", "ANNA"):
        with pytest.raises(Refused, match="who is one already"):
            store.authors.add(taken)


def test_an_order_is_obeyed_once(store: LeagueStore) -> None:
    done: list[int] = []

    def act() -> Payload:
        done.append(1)
        store.authors.add("cora")
        return {"author": "cora"}

    assert store.commands.once("id-1", "author_add", {}, act) == {"author": "cora"}
    assert store.commands.once("id-1", "author_add", {}, act) == {"author": "cora"}
    assert done == [1]
    assert store.commands.answer("id-1") == {"author": "cora"}
    assert store.commands.answer("id-2") is None


def test_a_refusal_is_an_answer_and_nothing_else_remains(store: LeagueStore) -> None:
    def act() -> Payload:
        store.authors.add("cora")
        raise Refused("quota", "expected less, got: more", "wait", limit=3, retry_after_s=60)

    expected = {
        "code": "quota",
        "message": "expected less, got: more",
        "remedy": "wait",
        "limit": 3,
        "retry_after_s": 60,
    }
    assert store.commands.once("id-1", "submit", {}, act, author="anna") == expected
    assert store.commands.once("id-1", "submit", {}, dict, author="anna") == expected
    assert store.authors.get("cora") is None
    assert store.commands.times("submit", "anna") == []


def test_an_order_that_the_machine_broke_off_is_obeyed_when_it_comes_again(store: LeagueStore) -> None:
    def act() -> Payload:
        store.authors.add("cora")
        raise ArenaError("the disk is full")

    with pytest.raises(ArenaError):
        store.commands.once("id-1", "author_add", {}, act)
    assert store.authors.get("cora") is None
    assert store.commands.once("id-1", "author_add", {}, lambda: {"done": True}) == {"done": True}


def test_notices_are_for_one_reader_and_are_read_once(store: LeagueStore) -> None:
    fox = kit.submit(store, "fox")
    store.notices.add("anna", "note", "for her", fox.id)
    store.notices.add(None, "disk", "for the operator")
    assert [(notice.text, notice.version) for notice in store.notices.of("anna")] == [
        ("for her", "fox/1"),
        ("fox/1 is received; it is next", "fox/1"),
    ]
    assert [notice.text for notice in store.notices.of(None)] == ["for the operator"]
    assert store.notices.of("bert") == []
    store.notices.add(None, "disk", "for the operator, later")
    last, first = store.notices.of(None)
    assert store.notices.mark_read(first.id, first.id) == 1
    assert store.notices.mark_read(0, first.id) == 0
    assert store.notices.of(None, unread=True) == [last]
    assert all(notice.read is None for notice in store.notices.of("anna")), "they are not the operator's"


def test_notices_go_but_the_last_ones_of_each_reader_and_what_the_operator_has_not_read(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        for whom in ("anna", "bert", None):
            store.notices.add(whom, "note", str(number))
    store.notices.mark_read(0, store.notices.of(None)[-3].id)
    store._db.execute("UPDATE notices SET at = '2025-01-01T00:00:00+00:00'")
    for number in range(2):
        store.notices.add("anna", "note", f"new {number}")
    monkeypatch.setattr(notices, "NOTICES", 4)
    store.notices.forget("2025-02-01T00:00:00+00:00")
    assert [notice.text for notice in store.notices.of("anna")] == ["new 1", "new 0", "8", "7"]
    assert [notice.text for notice in store.notices.of("bert")] == ["8", "7", "6", "5"]
    assert [notice.text for notice in store.notices.of(None)] == ["8", "7", "6", "5", "4", "3"]
    assert all(notice.read is None for notice in store.notices.of(None))


def test_a_report_keeps_the_last_of_the_output_and_comes_once(store: LeagueStore) -> None:
    fox = kit.submit(store, "fox")
    long = StepReport(kind="build", attempt=1, verdict=Verdict.FAILED, finding="x", output=b"a" * MOST_OUTPUT + b"z")
    store.reports.add(fox.id, long)
    store.reports.add(fox.id, long)
    [found] = store.reports.of(fox.id)
    assert (len(found.output), found.output[-1:], found.finding) == (MOST_OUTPUT, b"z", "x")


def test_a_season_that_is_closed_keeps_its_standings_and_the_hash_of_its_last_line(
    store: LeagueStore, tmp_path: Path
) -> None:
    fox = kit.active(store, "fox")
    kit.play(store, fox, store.versions.named("random"))
    kit.plan(store, fox, store.versions.named("greedy"))
    store.seasons.stop()
    with pytest.raises(Refused, match="expected a season whose matches are published, got: 2 that are not"):
        store.seasons.close({"first": "fox/1"})
    kit.publish(store)
    closed = store.seasons.close({"first": "fox/1"})
    *_, last = store.seasons.lines(closed)
    assert (closed.standings, closed.digest) == ({"first": "fox/1"}, sha256(last).hexdigest())
    assert store.seasons.current() is None
    with pytest.raises(Refused, match="expected an open season"):
        kit.plan(store, fox, store.versions.named("greedy"))
    opened = store.seasons.open("second", kit.tournament(tmp_path, "cup-2"), starts={fox.id: Rating(30.0, 5.0)})
    assert opened.digest_before == closed.digest
    names = [entrant.name for entrant in store.games.entrants("cup-2")]
    assert names == ["random/1", "greedy/1", "fox/1"]
    assert store.games.ratings("cup-2") == [Rating(MU, SIGMA), Rating(MU, SIGMA), Rating(30.0, 5.0)]
    assert store.versions.get(fox.id).entrant == 2
    kit.play(store, *map(store.versions.named, ("fox", "greedy")))
    assert store.seasons.head(store.seasons.all()[0]).sha256 == closed.digest
    for statement in ("UPDATE season_lines SET line = '{}'", "DELETE FROM season_lines"):
        with pytest.raises(Error, match="lines of a season are only appended to"):
            store._db.execute(statement)


def test_a_season_is_not_closed_over_running_games(store: LeagueStore) -> None:
    kit.plan(store, *map(store.versions.named, ("random", "greedy")))
    [claimed] = kit.claim(store)
    with pytest.raises(Refused, match="expected a season without running games, got: 1"):
        store.seasons.close({})
    assert kit.season(store).closed is None
    store.seasons.stop()
    assert kit.claim(store) == []
    kit.record(store, claimed)
    kit.publish(store)
    assert store.seasons.close({}).closed is not None


def test_one_season_is_open_and_its_name_is_new(store: LeagueStore, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="expected no open season, got: first"):
        store.seasons.open("second", kit.tournament(tmp_path, "cup-2"))
    store.seasons.close({})
    with pytest.raises(Refused, match="expected a new name for a season"):
        store.seasons.open("First", kit.tournament(tmp_path, "cup-2"))


def test_between_seasons_nothing_becomes_active(store: LeagueStore, tmp_path: Path) -> None:
    one = kit.active(store, "fox", "1")
    fox = kit.play_on(store, kit.submit(store, "fox", "2"), State.QUALIFYING)
    store.seasons.close({})
    with pytest.raises(Refused, match="expected an open season"):
        store.versions.change(fox.id, State.ACTIVE, Actor.SERVICE, "")
    assert store.versions.get(one.id).state is State.ACTIVE
    store.seasons.open("second", kit.tournament(tmp_path, "cup-2"))
    assert store.versions.change(fox.id, State.ACTIVE, Actor.SERVICE, "").entrant == 3
