"""What a service removes at its start: what one that was killed has left half done."""

from __future__ import annotations

from pathlib import Path

from arena.league.folder import Folder
from arena.league.keeping.clearing import clean_up
from arena.league.settings import Settings
from tests import league_kit


def test_what_was_half_written_is_removed_wherever_it_is_published(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    part = f"{'0' * 16}.part"
    places = ("submissions", "published", "published/answers", "published/authors/anna", "published/own/anna")
    for place in places:
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / f"status.json.{part}").write_bytes(b"{")
        (tmp_path / place / "status.json").write_bytes(b"{}")
    with league_kit.league(tmp_path) as store:
        clean_up(store, folder, Settings(name="cup"), league_kit.season(store))
    assert list(tmp_path.rglob("*.part")) == []
    assert len(list(tmp_path.rglob("status.json"))) == len(places)
