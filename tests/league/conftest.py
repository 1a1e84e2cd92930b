"""A league in a folder, as `arena league init` makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_league(tmp_path / "cup", Settings(name="cup"))
