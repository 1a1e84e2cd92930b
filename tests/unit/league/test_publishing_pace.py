"""Publishing leaves the loop its time, however large the league is and however many orders come."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.league import documents, publishing
from arena.league.folder import Folder
from arena.league.publishing import Publishing
from arena.league.settings import Settings
from tests import league_kit

REFIT_S = 6.0
"""What the refit takes in a league of ten million games."""
REST_S = 1.0
"""What else publishing takes there."""


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
        pace = Publishing(store, folder, Settings(name="cup"), season, b"", lambda sentence: None)
        while now < 2_000:
            pace.hurry()  # an order in each turn of the loop
            pace.look()
            now += 0.2
        assert 2_000 * 0.08 < refits < 2_000 * 0.11
        assert 2_000 * 0.3 < refits + tables < 2_000 * 0.6
        before = tables
        while now < 3_000:
            pace.look()
            now += 0.2
        assert tables - before <= 100, "without orders it keeps to a tenth, too"
