"""Results that are taken back after a tournament: only the rest counts, the record says so, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.errors import ConfigError, LogError
from arena.core.record.published import CORRECTIONS_FILE, Correction, Corrections, publish, published
from arena.core.standings import closing
from arena.core.standings.closing import correct
from arena.core.standings.report import Report, report
from arena.core.store.store import Store, open_reader, open_store
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from tests.audit_kit import Folder, setup


def strike(played: Folder, *games: int, undo: bool = False, reason: str = "power") -> None:
    with open_store(played.db) as store:
        correct(store, played.tournament, games, counts=undo, reason=reason, by="Kim")


def standings(played: Folder) -> Report:
    with open_reader(played.db) as reader:
        return report(reader, played.tournament.id)[0]


def told(played: Folder) -> list[Correction]:
    document = published(played.logs, CORRECTIONS_FILE, Corrections)
    return [] if document is None else document.corrections


@pytest.mark.parametrize("format", [RoundRobin(deals=2), Swiss(rounds=2, deals=1)])
def test_a_result_that_is_taken_back_counts_no_more(
    tmp_path: Path, format: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Folder(tmp_path, setup(format, 4, 2))
    before, files = standings(played), {path.name for path in played.logs.iterdir()}
    strike(played, 1, 2)
    now = standings(played)
    assert sum(row.games for row in now.standings) == sum(row.games for row in before.standings) - 4
    assert {path.name for path in played.logs.iterdir()} == files | {CORRECTIONS_FILE}
    id = played.tournament.id
    assert now.struck.startswith(f"2 results were taken back: {id}-000001 (power; by Kim, ")
    audit = played.audit(complete=True, db=True)
    assert (audit.faults, audit.struck, audit.complete) == ((), 2, True)
    assert now.struck in audit.notes
    with monkeypatch.context() as patch:
        patch.setattr(closing, "now", lambda: "2001-01-01T00:00:00+00:00")
        strike(played, 1, 2, undo=True)
    assert [(one.game, one.counts) for one in told(played)] == [(1, False), (2, False), (1, True), (2, True)]
    assert replace(standings(played), seconds=0) == replace(before, seconds=0)
    assert played.audit(complete=True, db=True).faults == ()


def test_a_tournament_that_went_on_from_another_stays_as_it_was(tmp_path: Path) -> None:
    played = Folder(tmp_path, setup(RoundRobin(deals=1), 2, 2))
    strike(played, 1)
    with open_reader(played.db) as reader:
        starts = reader.ratings(played.tournament.id)
    more = Extension(deals=2, extends=played.tournament.id, unchanged=(0, 1), played=1)
    longer = Folder(tmp_path, setup(more, 2, 2), starts=starts)
    for undo in (True, False):
        strike(played, 1, undo=undo)
        assert longer.audit(complete=True, db=True).faults == ()


def test_what_cannot_be_taken_back_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    running, ladder = setup(RoundRobin(deals=2), 3, 2), Folder(tmp_path / "ko", setup(Knockout(deals=1), 4, 2))
    played, begun = Folder(tmp_path / "played", running), Folder(tmp_path / "begun", running, games=3)
    strike(played, 2)
    for folder, game, why in (
        *((begun, 1, "not over"), (ladder, 0, "whose winners went on")),
        *((played, 12, "with a result"), (played, 2, "a result that counts")),
    ):
        before = told(folder)
        with pytest.raises(ConfigError, match=why):
            strike(folder, game)
        assert told(folder) == before


@pytest.mark.parametrize("kill", ["strike", "finish"])
def test_a_command_cut_short_is_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kill: str) -> None:
    played = Folder(tmp_path, setup(RoundRobin(deals=2), 3, 2))
    before = standings(played)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, kill, die)
        with pytest.raises(KeyboardInterrupt):
            strike(played, 1)
    assert standings(played) == before
    assert played.audit(db=True).faults, "the record says more than the database"
    strike(played, 1)
    assert len(told(played)) == 1
    assert played.audit(complete=True, db=True).faults == ()
    tmp_path.rename(moved := tmp_path.with_name(f"{tmp_path.name}-moved"))
    with open_reader(moved / "arena.db") as reader:
        assert Path(reader.tournament(played.tournament.id).logs) == moved / "logs" / played.tournament.id


@pytest.mark.parametrize(
    "forge",
    [
        lambda one: [replace(one, reason="")],
        lambda one: [replace(one, by="")],
        lambda one: [replace(one, game=99)],
        lambda one: [replace(one, counts=True)],
        lambda one: [one, one],
        lambda one: [replace(one, at="2020-01-01T00:00:00+00:00")],
        lambda one: [replace(one, at="yesterday")],
    ],
)
def test_a_record_that_says_less_is_a_fault(tmp_path: Path, forge: Callable[[Correction], list[Correction]]) -> None:
    played = Folder(tmp_path, setup(RoundRobin(deals=1), 2, 2))
    strike(played, 1)
    assert played.audit().faults == ()
    (one,) = told(played)
    document = Corrections(tournament=played.tournament.id, corrections=forge(one))
    publish(played.logs, CORRECTIONS_FILE, document)
    assert [fault.check for fault in played.audit().faults] == ["schedule"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"tournament": "another"}, "those of another"),
        ({"corrections": []}, "nothing of it"),
        *(({"game": game}, f"game {game}, which has none") for game in (-1, 10**30)),
    ],
)
def test_a_record_that_was_changed_is_not_gone_on_with(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    played = Folder(tmp_path, setup(RoundRobin(deals=1), 2, 2))
    strike(played, 1)
    document = Corrections(tournament=played.tournament.id, corrections=told(played))
    if "game" in changes:
        changes = {"corrections": [*told(played), replace(told(played)[0], **changes)]}
    publish(played.logs, CORRECTIONS_FILE, replace(document, **changes))
    record, before = told(played), standings(played).struck
    with pytest.raises(LogError, match=why):
        strike(played, 0)
    assert (told(played), standings(played).struck) == (record, before)
