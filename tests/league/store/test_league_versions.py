"""The life of a version: the table of states, and the laws that hold whatever happens."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import Refused
from arena.core.ratings.running import MU, SIGMA, Rating, inherit
from arena.core.store.database import immediate
from arena.league.store import LeagueStore, rows
from arena.league.store.records import HOUSE, StepReport, Verdict
from arena.league.store.states import CHANGES, Actor, State, find, table
from tests import league_kit as kit

REPORT = StepReport(kind="build", attempt=1, verdict=Verdict.FAILED, finding="no rule", output=b"make: ***")


def state(store: LeagueStore, name: str) -> State:
    return store.versions.named(name).state


def test_only_changes_of_the_table_are_made_and_only_by_whom_it_names() -> None:
    known = {(change.old, change.new): change.actors for change in CHANGES}
    assert len(known) == len(CHANGES)
    for old, new, actor in product((None, *State), State, Actor):
        if actor in known.get((old, new), ()):
            assert find(old, new, actor, "fox/1").new is new
        else:
            with pytest.raises(Refused) as refused:
                find(old, new, actor, "fox/1")
            assert refused.value.reason == "state"


def test_every_state_is_reached_and_only_rejected_and_retired_are_left_by_nothing() -> None:
    assert {change.new for change in CHANGES} == set(State)
    assert set(State) - {change.old for change in CHANGES} == {State.REJECTED, State.RETIRED}


def test_the_table_has_a_row_for_every_change() -> None:
    rows = table().splitlines()[2:]
    pairs = {
        (old, None if new == "the same" else new)
        for row in rows
        for olds, new in [[cell.strip() for cell in row.split("|")[1:3]]]
        for old in olds.split(", ")
    }
    assert pairs == {
        (str(change.old or "-"), None if change.new is change.old else str(change.new)) for change in CHANGES
    }


def test_a_refused_change_changes_nothing(store: LeagueStore) -> None:
    fox = kit.submit(store, "fox")
    before = store.notices.of("anna")
    with pytest.raises(Refused, match="expected a version that can become active, got: fox/1, which is received"):
        store.versions.change(fox.id, State.ACTIVE, Actor.SERVICE, "")
    assert store.versions.get(fox.id) == fox
    assert store.notices.of("anna") == before


def test_one_content_is_one_version(store: LeagueStore) -> None:
    first = store.versions.receive("anna", "fox", "aa", {}, 10, kit.AT)
    again = store.versions.receive("anna", "fox", "aa", {}, 10, kit.AT)
    assert (first.same, again.same) == (False, True)
    assert again.version == first.version
    kit.play_on(store, first.version)
    assert store.versions.receive("anna", "fox", "aa", {}, 10, kit.AT).version.state is State.ACTIVE
    assert len(store.versions.of_author("anna")) == 1


def test_a_bots_name_is_its_authors(store: LeagueStore) -> None:
    kit.submit(store, "fox")
    for name in ("fox", "FOX", "random"):
        with pytest.raises(Refused, match="another author's") as refused:
            kit.submit(store, name, author="bert")
        assert refused.value.reason == "name_taken"
    with pytest.raises(
        Refused, match=r"expected the name of an author of the league, got: 'ana' \(did you mean 'anna'"
    ):
        kit.submit(store, "owl", author="ana")


def test_a_newer_submission_supersedes_one_that_waits_and_not_one_that_is_being_tried(store: LeagueStore) -> None:
    one = kit.play_on(store, kit.submit(store, "fox", "1"), State.CHECKING)
    two, three = kit.submit(store, "fox", "2"), kit.submit(store, "fox", "3")
    assert state(store, "fox/1") is State.CHECKING
    assert state(store, "fox/2") is State.SUPERSEDED
    assert "fox/3 came before its turn" in store.notices.of("anna")[1].text
    assert [version.id for version in store.versions.pending()] == [one.id]
    with pytest.raises(Refused, match="expected one version of fox at a time, got: fox/1 is being tried"):
        store.versions.change(three.id, State.BUILDING, Actor.SERVICE, "")
    store.versions.change(one.id, State.REJECTED, Actor.SERVICE, "no")
    assert [version.id for version in store.versions.pending()] == [three.id]
    assert two.id != three.id


def test_law_1_is_kept_by_the_schema_itself(store: LeagueStore) -> None:
    kit.active(store, "fox", "1")
    kit.play_on(store, kit.submit(store, "fox", "2"), State.BUILDING)
    kit.submit(store, "fox", "3")
    for forbidden in ("active", "checking", "received"):
        with pytest.raises(sqlite3.IntegrityError), immediate(store._db):
            store._db.execute(
                "INSERT INTO versions (bot, number, digest, manifest, size, level, received, state, since)"
                " SELECT bot, 9, 'x', '{}', 0, 'isolated', '', ?, '' FROM versions WHERE state = 'building'",
                (forbidden,),
            )


def test_a_predecessor_plays_until_its_successor_is_active(store: LeagueStore) -> None:
    one = kit.active(store, "fox", "1")
    two = kit.submit(store, "fox", "2")
    for step in (State.BUILDING, State.CHECKING, State.QUALIFYING):
        store.versions.change(two.id, step, Actor.SERVICE, "")
        assert state(store, "fox/1") is State.ACTIVE
        kit.plan(store, store.versions.get(one.id), store.versions.named("random"))
    store.versions.change(two.id, State.ACTIVE, Actor.SERVICE, "")
    assert (state(store, "fox/1"), state(store, "fox/2")) == (State.SUPERSEDED, State.ACTIVE)
    old, new = (store.versions.named(name).entrant for name in ("fox/1", "fox/2"))
    assert store.finder.predecessors(kit.season(store).tournament) == {new: old}
    assert not store.matches.running(), "its games that were not begun are void"
    assert [change.new for change in store.versions.history(one.id)] == [
        *(State.RECEIVED, State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE, State.SUPERSEDED)
    ]


def test_a_new_version_begins_from_the_mean_of_the_one_before_with_a_wider_sigma(store: LeagueStore) -> None:
    one = kit.active(store, "fox", "1")
    assert store.games.entrants("cup-1")[one.entrant or 0].start == Rating(MU, SIGMA)
    for _ in range(3):
        kit.play(store, store.versions.get(one.id), store.versions.named("greedy"))
    reached = store.games.ratings("cup-1")[one.entrant or 0]
    two = kit.active(store, "fox", "2")
    entrant = store.games.entrants("cup-1")[two.entrant or 0]
    assert (entrant.name, entrant.start) == ("fox/2", inherit(reached))
    assert reached.sigma < entrant.start.sigma <= SIGMA


def test_a_wider_sigma_is_never_wider_than_that_of_a_new_bot() -> None:
    assert inherit(Rating(30.0, 4.0)) == Rating(30.0, 5.0)
    assert inherit(Rating(30.0, SIGMA)).sigma == SIGMA


def test_the_last_good_version_comes_back_with_its_rating(store: LeagueStore) -> None:
    one, never = kit.active(store, "fox", "1"), kit.submit(store, "fox", "2")
    three = kit.submit(store, "fox", "3")
    kit.play(store, store.versions.get(one.id), store.versions.named("random"))
    rating = store.games.ratings("cup-1")[one.entrant or 0]
    kit.play_on(store, three)
    assert state(store, never.name) is State.SUPERSEDED, "it was never active, and so is not good"
    store.versions.change(three.id, State.SUSPENDED, Actor.SERVICE, "3 crashes in a row")
    assert (state(store, "fox/1"), state(store, "fox/3")) == (State.ACTIVE, State.SUSPENDED)
    assert store.versions.get(one.id).entrant == one.entrant
    assert store.games.ratings("cup-1")[one.entrant or 0] == rating
    kit.plan(store, store.versions.get(one.id), store.versions.named("random"))
    assert len(kit.claim(store)) == 1, "its games are not void any more"
    texts = [notice.text for notice in store.notices.of("anna", unread=True)]
    assert texts[:2] == ["fox/1 plays again: fox/3 is suspended", "fox/3 is suspended: 3 crashes in a row"]


def test_a_version_that_was_suspended_does_not_come_back_by_itself(store: LeagueStore) -> None:
    one, two = kit.active(store, "fox", "1"), kit.active(store, "fox", "2")
    store.versions.change(two.id, State.SUSPENDED, Actor.SERVICE, "bad")
    store.versions.change(two.id, State.ACTIVE, Actor.OPERATOR, "it was a mistake")
    assert (state(store, "fox/1"), state(store, "fox/2")) == (State.SUPERSEDED, State.ACTIVE)
    store.versions.change(two.id, State.SUSPENDED, Actor.OPERATOR, "no, it was not")
    three = kit.active(store, "fox", "3")
    store.versions.change(three.id, State.SUSPENDED, Actor.SERVICE, "bad")
    assert state(store, "fox/1") is State.ACTIVE
    store.versions.change(one.id, State.SUSPENDED, Actor.SERVICE, "bad")
    assert not rows.last_good(store._db, "fox")
    assert {version.bot for version in store.versions.active()} == {"random", "greedy"}


def test_only_the_last_good_version_can_come_back(store: LeagueStore) -> None:
    one = kit.active(store, "fox", "1")
    kit.active(store, "fox", "2")
    kit.active(store, "fox", "3")
    with pytest.raises(Refused, match="expected the last good version of fox, got: fox/1; that is fox/2"):
        store.versions.change(one.id, State.ACTIVE, Actor.SERVICE, "")


def test_what_leaves_active_loses_the_games_not_begun_and_keeps_the_running_ones(store: LeagueStore) -> None:
    fox, random = kit.active(store, "fox"), store.versions.named("random")
    match = kit.plan(store, fox, random)
    [running] = kit.claim(store)
    store.versions.change(fox.id, State.RETIRED, Actor.AUTHOR, "its author")
    assert [game.status for game in store.matches.get(match.number).games] == ["running", "void"]
    assert kit.claim(store) == []
    before = store.games.ratings("cup-1")
    kit.record(store, running)
    assert store.games.ratings("cup-1") != before
    assert [match.state for match in store.matches.over()] == ["over"]


def test_suspension_moves_no_other_rating(store: LeagueStore) -> None:
    fox, random, greedy = kit.active(store, "fox"), *map(store.versions.named, ("random", "greedy"))
    kit.play(store, fox, random)
    kit.plan(store, fox, greedy)
    before = store.games.ratings("cup-1")
    store.versions.change(fox.id, State.SUSPENDED, Actor.OPERATOR, "a test")
    assert store.games.ratings("cup-1") == before


def test_the_machines_faults_never_reject_and_after_three_the_operator_knows(store: LeagueStore) -> None:
    fox = kit.play_on(store, kit.submit(store, "fox"), State.BUILDING)
    for attempt in (1, 2, 3):
        assert not store.notices.of(None)
        report = StepReport(kind="build", attempt=attempt, verdict=Verdict.MACHINE)
        fox = store.versions.change(fox.id, State.BUILDING, Actor.SERVICE, "no disk", report=report)
        assert (fox.state, fox.attempts) == (State.BUILDING, attempt)
        assert "That is not your fault" in store.notices.of("anna")[0].text
    assert "fox/1 met 3 faults of the machine in the step building" in store.notices.of(None)[0].text
    fox = store.versions.change(fox.id, State.CHECKING, Actor.SERVICE, "")
    assert fox.attempts == 0
    assert [report.attempt for report in store.reports.of(fox.id)] == [1, 2, 3]


def test_a_change_its_report_and_its_notice_are_one_transaction(
    store: LeagueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fox = kit.play_on(store, kit.submit(store, "fox"), State.BUILDING)
    told = len(store.notices.of("anna"))

    def fail(*_: object) -> None:
        raise RuntimeError("killed here")

    with monkeypatch.context() as patch:
        patch.setattr(type(store.versions._notices), "add", fail)
        with pytest.raises(RuntimeError):
            store.versions.change(fox.id, State.REJECTED, Actor.SERVICE, "no", report=REPORT)
    assert store.versions.get(fox.id) == fox
    assert not store.reports.of(fox.id)
    assert len(store.notices.of("anna")) == told
    assert len(store.versions.history(fox.id)) == 2


def test_wherever_a_change_is_broken_off_nothing_of_it_remains(store: LeagueStore) -> None:
    """The suspension with the return of the last good version, which writes most."""
    kit.active(store, "fox", "1")
    two = kit.active(store, "fox", "2")
    kit.plan(store, two, store.versions.named("random"))

    def suspend(last: int) -> int:
        """Suspends it with a database that allows so many accesses and then none. Returns how many there were."""
        seen = 0

        def authorize(action: int, *_: object) -> int:
            nonlocal seen
            if action in (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT):
                return sqlite3.SQLITE_OK
            seen += 1
            return sqlite3.SQLITE_OK if seen <= last else sqlite3.SQLITE_DENY

        store._db.set_authorizer(authorize)
        try:
            store.versions.change(two.id, State.SUSPENDED, Actor.SERVICE, "bad", report=REPORT)
        finally:
            store._db.set_authorizer(None)
        return seen

    with store.transaction():
        before = content(store)
        for last in range(1, 1500, 40):
            try:
                needed = suspend(last)
            except sqlite3.DatabaseError:
                assert content(store) == before, f"after {last} accesses"
            else:
                break
        assert 100 < needed <= last
    assert (state(store, "fox/1"), state(store, "fox/2")) == (State.ACTIVE, State.SUSPENDED)


def content(store: LeagueStore) -> list[str]:
    """Every row of every table."""
    return list(store._db.iterdump())


class Enough(Exception):
    """Takes back what a transaction did."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeagueStore]:
    with kit.league(tmp_path_factory.mktemp("any"), "anna") as store:
        yield store


@given(steps=st.lists(st.integers(0, 10**6), max_size=60))
def test_whatever_is_tried_the_laws_hold(shared: LeagueStore, steps: list[int]) -> None:
    """Random submissions and changes: the laws of the states hold after each, and refusals change nothing."""
    with suppress(Enough), shared.transaction():
        for step in steps:
            act_at_random(shared, random.Random(step))
            check_laws(shared)
        raise Enough


def act_at_random(store: LeagueStore, dice: random.Random) -> None:
    versions = store.versions.of_author("anna")
    with suppress(Refused):
        if not versions or dice.random() < 0.2:
            kit.submit(store, dice.choice(("fox", "owl")), str(dice.randrange(20)))
        else:
            version, to, by = dice.choice(versions), dice.choice(list(State)), dice.choice(list(Actor))
            store.versions.change(version.id, to, by, "at random")


def check_laws(store: LeagueStore) -> None:
    known = {(change.old, change.new) for change in CHANGES}
    for bot in ("fox", "owl"):
        versions = store.versions.of_bot(bot)
        states = [version.state for version in versions]
        assert states.count(State.ACTIVE) <= 1
        assert states.count(State.RECEIVED) <= 1
        assert sum(state in (State.BUILDING, State.CHECKING, State.QUALIFYING) for state in states) <= 1
        assert [version.number for version in versions] == list(range(len(versions), 0, -1))
        for version in versions:
            history = store.versions.history(version.id)
            assert history[-1].new is version.state
            assert all(one.new is other.old for one, other in pairwise(history))
            assert all((change.old, change.new) in known for change in history)
            playing = store._db.execute(
                "SELECT gone IS NULL FROM entrants WHERE tournament = 'cup-1' AND number = ?", (version.entrant,)
            ).fetchone()
            assert (playing == (1,)) is (version.state is State.ACTIVE)


def test_twenty_submissions_are_twenty_versions_of_which_one_waits(store: LeagueStore) -> None:
    for number in range(20):
        kit.submit(store, "fox", str(number))
    versions = store.versions.of_bot("fox")
    assert [version.number for version in versions] == list(range(20, 0, -1))
    assert [version.state for version in versions].count(State.RECEIVED) == 1
    assert store.versions.pending() == [versions[0]]


def test_history_is_only_appended_to(store: LeagueStore) -> None:
    kit.submit(store, "fox")
    for statement in ("UPDATE changes SET reason = 'x'", "DELETE FROM changes"):
        with pytest.raises(sqlite3.IntegrityError, match="only appended to"):
            store._db.execute(statement)


def test_versions_are_found_by_name_author_and_entrant(store: LeagueStore) -> None:
    fox = kit.active(store, "fox", "1")
    newer = kit.submit(store, "fox", "2")
    assert store.versions.named("fox") == newer
    assert store.versions.named("fox/1") == fox == store.versions.of_entrant(fox.entrant or 0)
    assert [version.name for version in store.versions.of_author("anna")] == ["fox/2", "fox/1"]
    assert [version.name for version in store.versions.of_author(HOUSE)] == ["greedy/1", "random/1"]
    for wrong in ("fox/3", "foxx", "fox/x", ""):
        with pytest.raises(Refused, match="expected a bot of the league"):
            store.versions.named(wrong)
