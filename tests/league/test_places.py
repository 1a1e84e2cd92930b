"""What is published of a league does not say where it lies on its machine."""

from __future__ import annotations

import sys
from pathlib import Path

from arena.league.folder import Folder
from arena.league.public.publishing import Publishing
from arena.league.settings import Settings
from arena.league.store.records import Report
from tests import league_kit

SECRET = "secret-place"


def test_reports_notices_and_answers_name_no_folder_of_the_operator(tmp_path: Path) -> None:
    folder = Folder(tmp_path / SECRET / "cup")
    folder.make()
    words = f"{folder.built('ab12')}/main.go:3: no such file; {sys.prefix}/lib/x.py; {tmp_path / SECRET}/other"
    with league_kit.league(folder.path, "anna") as store:
        fox = league_kit.active(store, "fox")
        found = Report(kind="build", attempt=1, verdict="failed", report={"finding": words, "detail": {"of": [words]}},
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
