"""Publishing leaves the loop its time, shows authors their real limits, and names no folder of the operator."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from arena.league.door.published import Published
from arena.league.folder import Folder
from arena.league.public import documents, publishing
from arena.league.public.publishing import Publishing
from arena.league.public.ranking import Ranking
from arena.league.settings import Limits, Settings
from arena.league.store import LeagueReader
from arena.league.store.records import StepReport, Verdict
from arena.league.store.states import Actor, State
from tests import league_kit

REFIT_S = 6.0  # what the refit takes in a league of ten million games
REST_S = 1.0  # what else publishing takes there


def test_the_refit_takes_a_tenth_of_the_time_and_all_of_publishing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, refits, tables = 0.0, 0.0, 0.0

    def refit(*_: object) -> object:
        nonlocal now, refits
        now += REFIT_S
        refits += REFIT_S
        return object()

    def standings(*_: object) -> dict[str, object]:
        nonlocal now, tables
        now += REST_S
        tables += REST_S
        return {}

    monkeypatch.setattr(publishing.time, "monotonic", lambda: now)
    monkeypatch.setattr(publishing, "ranking_of", refit)
    monkeypatch.setattr(documents, "standings", standings)
    folder = Folder(tmp_path)
    folder.make()
    with league_kit.league(tmp_path) as store:
        season = league_kit.season(store)
        pace = Publishing(store, folder, Settings(name="cup"), season, lambda sentence: None)
        while now < 2_000:
            store.set_control("paused", False)  # something changes before each look
            pace.hurry()  # an order in each turn of the loop
            pace.look()
            now += 0.5
        assert 2_000 * 0.08 < refits < 2_000 * 0.11
        assert 2_000 * 0.3 < refits + tables < 2_000 * 0.6
        before = tables
        while now < 3_000:
            pace.look()
            now += 0.5
        assert tables - before <= 100, "without orders it keeps to a tenth, too"


def test_what_has_not_changed_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, made, refits = 0.0, list[str](), 0
    status, rank = documents.author_status, publishing.ranking_of

    def author_status(reader: LeagueReader, author: str, ranking: Ranking | None = None) -> dict[str, object]:
        nonlocal now
        now += 0.03
        made.append(author)
        return status(reader, author, ranking)

    def refit(reader: LeagueReader) -> Ranking | None:
        nonlocal refits
        refits += 1
        return rank(reader)

    monkeypatch.setattr(publishing.time, "monotonic", lambda: now)
    monkeypatch.setattr(publishing, "ranking_of", refit)
    monkeypatch.setattr(documents, "author_status", author_status)
    folder = Folder(tmp_path)
    folder.make()
    authors = [f"author{number}" for number in range(20)]
    with league_kit.league(tmp_path, *authors) as store:
        fox = league_kit.active(store, "fox", author=authors[7])
        pace = Publishing(store, folder, Settings(name="cup"), league_kit.season(store), lambda sentence: None)
        pace.look()
        assert sorted(made) == sorted(authors)
        made.clear()
        for _ in range(100):
            pace.look()
            now += 1.0
        assert (made, refits) == ([], 1)
        store.versions.change(fox.id, State.SUSPENDED, Actor.OPERATOR, "a test")
        store.notices.add(authors[3], "news", "something for one of them")
        for _ in range(30):
            pace.look()
            now += 1.0
        assert sorted(made) == [authors[3], authors[7]]
        assert refits == 2
        document = json.loads((folder.published / "authors" / authors[7] / "status.json").read_bytes())
        assert [version["state"] for version in document["versions"]] == ["suspended"]


SECRET = "secret-place"


def test_reports_notices_and_answers_name_no_folder_of_the_operator(tmp_path: Path) -> None:
    folder = Folder(tmp_path / SECRET / "cup")
    folder.make()
    words = f"{folder.built('ab12')}/main.go:3: no such file; {sys.prefix}/lib/x.py; {tmp_path / SECRET}/other"
    with league_kit.league(folder.path, "anna") as store:
        fox = league_kit.active(store, "fox")
        found = StepReport(kind="build", attempt=1, verdict=Verdict.FAILED, finding=words, detail={"of": [words]},
                       output=words.encode(), at=league_kit.AT)  # fmt: skip
        store.reports.add(fox.id, found)
        store.notices.add("anna", "suspended", words)
        season = league_kit.season(store)
        Publishing(store, folder, Settings(name="cup"), season, lambda sentence: None).publish()
    documents = [path.read_text() for path in folder.published.rglob("*.json")]
    told = [document for document in documents if "main.go:3" in document]
    assert len(told) == 2, "the report and the status"
    assert not [document for document in documents if SECRET in document or sys.prefix in document]
    assert all("…/bots/ab12/main.go:3" in document for document in told)


def test_the_limits_of_an_author_are_published_with_their_quotas(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    settings = Settings(name="cup", limits=Limits(submissions=20, bots=5))
    with league_kit.league(tmp_path) as store:
        season = league_kit.season(store)
        store.authors.add("zoe", {"submissions": 50})
        store.authors.add("yan", {})
        Publishing(store, folder, settings, season, lambda sentence: None).publish()
    published = Published(folder.published)
    everybodys = msgspec.structs.asdict(settings.limits)
    assert published.limits("yan") == everybodys
    assert published.limits("zoe") == {**everybodys, "submissions": 50}
